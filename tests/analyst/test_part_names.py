"""Which parts of a company a question names, and the question without them."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.part_names import parts_named, without_kinds, without_part
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.workspace import Workspace


@pytest.mark.parametrize(
    ("text", "printed", "found"),
    [
        ("revenue in Greater China", ("China", "Greater China"), [("Greater China", False)]),
        (
            "sales of Europe, Middle East and Africa",
            ("Europe, Middle East & Africa", "Europe"),
            [("Europe, Middle East & Africa", False)],
        ),
        ("EMEA revenue", ("Europe and Africa (EMEA)",), [("EMEA", False)]),
        ("U.S. revenue", ("United States",), [("United States", False)]),
        ("Online stores revenue", ("Online stores (1)",), [("Online stores", False)]),
        ("hats and other income", ("Hats And Other", "Hats and other"), [("Hats and other", False)]),
        ("products revenue", ("Products",), [("Products", True)]),
        ("cost of services", ("Services",), [("Services", True)]),
        ("cost of revenue", ("Revenue", "Total other"), []),
        ("balance for June 30, 2023", ("June 30", "Balance"), []),
    ],
)
def test_names(text: str, printed: tuple[str, ...], found: list[tuple[str, bool]], workspace: Workspace) -> None:
    assert [(part.name, part.in_metric) for part in parts_named(text, printed, workspace)] == found


@pytest.mark.parametrize(
    ("text", "part", "left"),
    [
        ("sales in the Americas region in 2023", "Americas", "sales in 2023"),
        ("cost of Services in 2023", "Services", "cost of revenue in 2023"),
        ("Services cost of revenue", "Services", "cost of revenue"),
        ("income as a percentage of Marine revenue", "Marine", "income as a percentage of revenue"),
        ("the Marine segment's operating income", "Marine", "the operating income"),
        ("what was Bitcoin revenue in 2023", "Bitcoin revenue", "what was revenue in 2023"),
        ("cost of goods sold for Marine sales in 2023", "Marine sales", "cost of goods sold in 2023"),
    ],
)
def test_what_is_left_without_the_part(text: str, part: str, left: str) -> None:
    assert " ".join(without_part(text, part, load_lexicon()).split()) == left


def test_the_sort_of_parts_is_left_out() -> None:
    text = "Which of its segments sold more, the Marine segment or the Garden division?"
    assert " ".join(without_kinds(text, ("Marine", "Garden")).split()) == "Which sold more, the Marine or the Garden?"
