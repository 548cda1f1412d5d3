"""A generated question with its expected answer, and the judging of an answer against it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fin_agent.answering.answer import Answer
from fin_agent.evaluation import Family, QuestionKind
from fin_agent.evaluation.answer_scoring import USD_SCALES
from fin_agent.evaluation.benchmark import Row, row_of
from fin_agent.evaluation.generated.truth import SlotKey
from fin_agent.lexicon.company_names import Company
from fin_agent.lexicon.slots import Slot


@dataclass(frozen=True, slots=True)
class ExpectedAnswer:
    """The right answer."""

    value: float
    """In base units: dollars, shares, percent."""
    unit: str
    """`USD`, `USD per share`, `percent`, `percentage points`, `ratio`."""
    rounding: float = 0.0
    """Tolerance from the rounding of the figures."""
    signed: bool = True
    """False if the question leaves the sign open, as for a difference or a fall."""
    company: str | None = None
    """Key of the company that the answer has to name, if any."""


@dataclass(frozen=True, slots=True)
class GeneratedQuestion:
    """A question and the requirements for its answer."""

    id: str
    family: Family | QuestionKind
    kind: str
    text: str
    slots: tuple[SlotKey, ...] = ()
    """The figures it needs, sorted."""
    filings: tuple[str, ...] = ()
    """A smallest found set of filings that contain the figures."""
    expected: ExpectedAnswer | None = None
    """None for an unanswerable question."""
    missing_names: tuple[tuple[str, ...], ...] = ()
    """What a refusal has to name: at least one name of each group."""
    exact: bool = False
    """Whether the answer is one tagged figure, which has to match to the last printed digit."""


TOLERANCE, EXACT_TOLERANCE = 0.005, 1e-6
"""Relative tolerances."""
_LAST_DIGITS = {"USD per share": 0.005, "ratio": 0.005, "percent": 0.05, "percentage points": 0.05}
"""Half of the last digit that is shown."""
_MAX_ROUNDS = 3


def judge(question: GeneratedQuestion, answer: Answer, companies: Mapping[str, Company]) -> Row:
    """Return the row of one answer; `companies` are those of the index, by key.

    `full_ledger` is whether no required slot is empty after at most three rounds; `right` whether the value, and the
    company if one is asked for, are right. Both are None for an unanswerable question. `missing_named`, whether the
    refusal names what is missing, is None for an answerable one.
    """
    required = {_key(entry.slot): entry.figure is not None for entry in answer.ledger if entry.required}
    asked = question.expected is not None
    full = bool(required) and all(required.values()) and answer.rounds <= _MAX_ROUNDS
    right = not answer.refused and question.expected is not None and is_right(question, answer, companies)
    figures = {
        "full_ledger": full if asked else None,
        "right": right if asked else None,
        "wrong": not right and not answer.refused if asked else None,
        "missing_named": None if asked else answer.refused and names_missing(question, answer),
        "slots_lacking": [_shown(slot) for slot in question.slots if not required.get(slot)] if asked else [],
        "filings": question.filings,
        "rounds": answer.rounds,
    }
    labels = {"family": question.family.value, "kind": question.kind}
    return row_of(question.id, question.text, _expected_text(question, companies), answer, labels, figures)


def has_failed(row: Row) -> bool:
    """Return whether an answer misses any of its requirements."""
    right = row.figures["right"]
    return not (row.figures["missing_named"] if right is None else right and row.figures["full_ledger"])


def is_right(question: GeneratedQuestion, answer: Answer, companies: Mapping[str, Company]) -> bool:
    """Return whether the requested company is the first one named, and the value, if given, is right."""
    expected, value = question.expected, answer.answer.value
    assert expected is not None
    if expected.company is not None and _first_named(answer.answer.text, companies) != expected.company:
        return False
    if value is None:
        return expected.company is not None
    given, wanted = value * USD_SCALES.get(answer.answer.unit or "", 1), expected.value
    if not expected.signed:
        given, wanted = abs(given), abs(wanted)
    relative, digit = (EXACT_TOLERANCE, 0.0) if question.exact else (TOLERANCE, _LAST_DIGITS.get(expected.unit, 0.0))
    return abs(given - wanted) <= max(relative * abs(wanted), expected.rounding, digit)


def names_missing(question: GeneratedQuestion, answer: Answer) -> bool:
    """Return whether the refusal names what is missing, by one name of each group."""
    said = _plain(" ".join((*answer.missing, answer.answer.text)))
    return all(any(f" {_plain(name).strip()} " in said for name in names) for names in question.missing_names)


def _key(slot: Slot) -> SlotKey:
    return SlotKey(slot.company, slot.metric, slot.fiscal_year, slot.quarter)


def _first_named(text: str, companies: Mapping[str, Company]) -> str | None:
    places = [(text.find(name), key) for key, company in companies.items() for name in company.names if name in text]
    return min(places)[1] if places else None


def _plain(text: str) -> str:
    words = re.findall(r"[a-z0-9&]+", re.sub("['\u2019]", "", text.casefold()))
    return f" {' '.join(words)} "


def _expected_text(question: GeneratedQuestion, companies: Mapping[str, Company]) -> str:
    if question.expected is None:
        named = "; ".join(names[0] for names in question.missing_names)
        return f"refused: {question.kind}, naming {named}"
    expected = question.expected
    value = f"{expected.value:,.4g}" if abs(expected.value) < 1_000 else f"{expected.value:,.0f}"
    named = f"{companies[expected.company].name}: " if expected.company else ""
    return f"{named}{value} {expected.unit}"


def _shown(key: SlotKey) -> str:
    quarter = f"Q{key.quarter} " if key.quarter else ""
    return f"{key.company} {key.metric} {quarter}FY{key.fiscal_year}"
