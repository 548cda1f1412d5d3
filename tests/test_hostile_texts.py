"""What reads questions, labels, headings and names comes to an end soon, whatever it is given.

`python -m benchmarks.hostile.texts` has the figures: half a second at most. Here only what explodes is found.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

import pytest

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.rules.follow_ups import read_message
from fin_agent.answering.numerals import numerals_in, spelled_numbers
from fin_agent.answering.sentence_binding import strip_markup, unsupported_claims
from fin_agent.errors import QuestionError
from fin_agent.evidence.cards.rule_based_abstraction import _is_heading
from fin_agent.filings.identity.cover import same_company
from fin_agent.lexicon.company_names import normalize_name
from fin_agent.lexicon.lexicon import label_forms, load_lexicon, normal_form
from fin_agent.lexicon.statement_titles import built_in_statement_titles
from fin_agent.prompts import quoted_text, signs_of_injection
from fin_agent.vocabulary.page import Statement
from fin_agent.workspace import Workspace
from tests.hostile_texts import hostile_texts, woven_texts

MOST_SECONDS = 5.0
"""Ten times what is asked for: a busy machine must not fail the suite, and what explodes takes minutes."""
Reader = Callable[[str], object]


def readers(workspace: Workspace) -> Mapping[str, Reader]:
    """Every way in for a question, a label, a heading, a name, or a sentence of a model."""
    lexicon, titles, analyst = load_lexicon(), built_in_statement_titles(), RulesAnalyst(workspace)
    return {
        "question": analyst.intent,
        "message": lambda text: read_message(text, (), workspace),
        "label": label_forms,
        "label's form": normal_form,
        "label's metric": lambda text: lexicon.metric_of_label(text, Statement.INCOME, (text,)),
        "section": lambda text: lexicon.metric_of_label("Total", Statement.BALANCE_SHEET, (text, text)),
        "title": titles.match,
        "bare title": titles.match_bare,
        "title of a statement": lexicon.statement_of_title,
        "heading": lambda text: _is_heading(text, "Acme"),
        "name": normalize_name,
        "names": lambda text: same_company(text, "Acme Corp"),
        "numerals": lambda text: [*numerals_in(text), *spelled_numbers(text)],
        "sentence": lambda text: unsupported_claims(text, [text, "Net sales rose."]),
        "markup": strip_markup,
        "quoted": lambda text: (quoted_text(text), signs_of_injection(text)),
    }


def slow_readings(workspace: Workspace, texts: Iterable[str]) -> list[tuple[str, str, float]]:
    """(reader, beginning of the text, seconds) of each that took longer than it may."""
    slow = []
    for text in texts:
        for name, read in readers_of(workspace).items():
            begun = time.process_time()
            with suppress(QuestionError):
                read(text)
            taken = time.process_time() - begun
            if taken > MOST_SECONDS:
                slow.append((name, f"{len(text)} characters: {text[:40]!r} ... {text[-10:]!r}", round(taken, 2)))
    return slow


_READERS: dict[int, Mapping[str, Reader]] = {}


def readers_of(workspace: Workspace) -> Mapping[str, Reader]:
    return _READERS.setdefault(id(workspace), readers(workspace))


def test_no_text_takes_long_to_read(workspace: Workspace) -> None:
    assert slow_readings(workspace, hostile_texts(24, longest=2_000)) == []


def test_no_reader_trips_over_its_own_words(workspace: Workspace) -> None:
    assert slow_readings(workspace, woven_texts(40, seed=3, longest=1_500)) == []


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        ("message", "that's not right, the inventory was written down"),
        ("question", "who (continued) enphase and (continued) Lululemon richest Item"),
    ],
)
def test_what_a_reader_tripped_over(workspace: Workspace, reader: str, text: str) -> None:
    with suppress(QuestionError):
        readers_of(workspace)[reader](text)


@pytest.mark.skipif("not config.getoption('--nothing-skipped')", reason="takes minutes: `make test-extras`")
def test_a_thousand_texts(workspace: Workspace) -> None:
    assert slow_readings(workspace, (*hostile_texts(1_000), *woven_texts(1_000, seed=1))) == []
