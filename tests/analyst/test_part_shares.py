"""Whether a question asks for a part's share of the whole, and what is left of it without that."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.part_names import NamedPart
from fin_agent.analyst.rules.part_shares import (
    UnclearShareError,
    contribution_as_amount,
    share_asked,
    speaks_of_shares,
)
from fin_agent.lexicon.lexicon import load_lexicon


def part_of(text: str, name: str = "Marine") -> NamedPart:
    start = text.index(name)
    return NamedPart(name, start, start + len(name))


@pytest.mark.parametrize(
    "text",
    [
        "What percentage of revenue came from Marine in 2023?",
        "What share of total revenues was Marine revenues in 2023, in percent?",
        "How large a portion of revenue did Marine make up in 2023?",
        "How much of its revenue did Marine account for in 2023?",
        "Marine revenue as a percentage of total revenue, 2023?",
        "What was Marine's contribution to revenue in 2023?",
        "What was the Marine revenue mix in 2023?",
    ],
)
def test_a_share_of_the_same_measure(text: str) -> None:
    share = share_asked(text, part_of(text), load_lexicon())
    assert share is not None and share.of_whole is None
    assert "Marine" in share.question and not speaks_of_shares(share.question)
    assert {mention.id for mention in load_lexicon().mentions(share.question)} == {"revenue"}


def test_another_measure_is_over_the_wholes_only_where_it_is_called_so() -> None:
    text = "What percentage of total revenue was Marine operating income?"
    share = share_asked(text, part_of(text), load_lexicon())
    assert share is not None and share.of_whole is not None and share.of_whole.id == "revenue"
    assert "revenue" not in share.question
    text = "What was Marine operating income as a percentage of revenue?"
    assert share_asked(text, part_of(text), load_lexicon()) is None


@pytest.mark.parametrize(
    "text",
    ["What was Marine revenue in 2023?", "How much of its revenue came from Marine?", "What was the growth of Marine?"],
)
def test_no_share(text: str) -> None:
    assert share_asked(text, part_of(text), load_lexicon()) is None


def test_a_share_of_the_part_is_not_taken_for_its_share() -> None:
    text = "What share of Marine revenue came from sails?"
    with pytest.raises(UnclearShareError):
        share_asked(text, part_of(text), load_lexicon())


def test_what_a_part_contributed_is_an_amount() -> None:
    asked = contribution_as_amount("How much did Marine contribute to Acme's revenue?")
    assert " ".join(asked.split()) == "How much was Marine Acme's revenue?"
