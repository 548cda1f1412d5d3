"""A generated question, the answer that it has to get, and an answer held against that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from fin_agent.answering.answer import Answer
from fin_agent.evaluation import Family
from fin_agent.lexicon.company_names import Company
from fin_agent.lexicon.slots import Slot


class Lack(StrEnum):
    """What an index can lack."""

    COMPANY = "company absent"
    YEAR = "year absent"
    METRIC = "metric not reported"
    PERIOD = "period not filed"


class SlotKey(NamedTuple):
    """A figure that an answer needs."""

    company: str
    """Key of the company in the directory of the index."""
    metric: str
    fiscal_year: int
    """By the filer's own naming."""
    quarter: int | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """The right answer."""

    value: float
    """In base units: dollars, shares, percent."""
    unit: str
    """`USD`, `USD per share`, `percent`, `percentage points`, `ratio`."""
    rounding: float = 0.0
    """How far the figures' own rounding may move it."""
    signed: bool = True
    """False where the question leaves open which way round: a difference, a fall."""
    company: str | None = None
    """Key of the company that has to be named."""


@dataclass(frozen=True, slots=True)
class GeneratedQuestion:
    """A question with what its answer has to show."""

    id: str
    family: Family
    kind: str
    text: str
    slots: tuple[SlotKey, ...] = ()
    """Figures it needs, sorted."""
    may_need: tuple[SlotKey, ...] = ()
    """Further figures that an answer may look up on its way."""
    filings: tuple[str, ...] = ()
    """Filings that hold the figures together, as few as were found."""
    expected: Expected | None = None
    """None for an unanswerable question."""
    lacking: Lack | None = None
    missing_names: tuple[tuple[str, ...], ...] = ()
    """What a refusal has to name: of each group of names at least one."""


TOLERANCE = 0.005
"""Relative."""
_MOST_ROUNDS = 3
_SCALES = {"USD": 1, "USD thousands": 1_000, "USD millions": 1_000_000, "USD billions": 1_000_000_000}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question, its answer, and what was right about it."""

    id: str
    family: str
    kind: str
    question: str
    expected: str
    got: str
    refused: bool
    missing: tuple[str, ...]
    full_ledger: bool | None
    """No required slot is empty after at most three rounds; None where the question has no answer."""
    slots_equal: bool | None
    """Its required slots are the ones expected, and a figure asked of whoever is chosen is there too."""
    right: bool | None
    """The value, and the company where one is asked for; None where the question has no answer."""
    missing_named: bool | None
    """The refusal says what is lacking; None where the question has an answer."""
    slots_lacking: tuple[str, ...]
    """Expected and not in the ledger, or there and empty."""
    slots_beside: tuple[str, ...]
    """Required by the ledger and not expected."""
    filings: tuple[str, ...]
    rounds: int
    seconds: float
    differing: int = 0
    """How many repeated runs gave another answer than the first."""

    @property
    def failed(self) -> bool:
        """Whether anything about it is not as it has to be; further slots alone are no failure."""
        if self.missing_named is not None:
            return not (self.refused and self.missing_named) or self.differing > 0
        return self.refused or not self.right or not self.full_ledger or self.differing > 0


def judge(
    question: GeneratedQuestion, answer: Answer, companies: Mapping[str, Company], *, differing: int = 0
) -> Outcome:
    """Score one answer; `companies` are those of the index, by key."""
    asked = question.expected is not None
    entries = {_key(entry.slot): entry for entry in answer.ledger}
    required = {key for key, entry in entries.items() if entry.required}
    needed = required | (set(question.slots) & set(question.may_need) & entries.keys())
    empty = {key for key in needed if entries[key].figure is None}
    lacking = sorted((set(question.slots) - needed) | empty, key=str)
    beside = sorted(required - set(question.slots) - set(question.may_need), key=str)
    return Outcome(
        id=question.id,
        family=question.family.value,
        kind=question.kind,
        question=question.text,
        expected=_expected_text(question, companies),
        got=answer.answer.text,
        refused=answer.refused,
        missing=answer.missing,
        full_ledger=bool(required) and not empty and answer.rounds <= _MOST_ROUNDS if asked else None,
        slots_equal=not beside and set(question.slots) <= needed if asked else None,
        right=not answer.refused and is_right(question.expected, answer, companies) if question.expected else None,
        missing_named=None if asked else names_missing(question, answer),
        slots_lacking=tuple(map(_shown, lacking)) if asked else (),
        slots_beside=tuple(map(_shown, beside)) if asked else (),
        filings=question.filings,
        rounds=answer.rounds,
        seconds=answer.seconds,
        differing=differing,
    )


def is_right(expected: Expected, answer: Answer, companies: Mapping[str, Company]) -> bool:
    """Whether the company asked for is the first one named, and whether the value, where one is given, is right."""
    value = answer.answer.value
    if expected.company is not None and _first_named(answer.answer.text, companies) != expected.company:
        return False
    if value is None:
        return expected.company is not None
    given = value * _SCALES.get(answer.answer.unit or "", 1)
    wanted = expected.value if expected.signed else abs(expected.value)
    given = given if expected.signed else abs(given)
    return abs(given - wanted) <= max(TOLERANCE * abs(wanted), expected.rounding, _last_digit(expected.unit))


def names_missing(question: GeneratedQuestion, answer: Answer) -> bool:
    """Whether the refusal names what is lacking, by one name of each group."""
    said = _plain(" ".join((*answer.missing, answer.answer.text)))
    return all(any(f" {_plain(name).strip()} " in said for name in names) for names in question.missing_names)


def canonical(answer: Answer) -> str:
    """The answer as one text, without what may differ between equal runs: its id and its seconds."""
    return answer.model_copy(update={"id": None, "seconds": 0.0}).model_dump_json()


def _key(slot: Slot) -> SlotKey:
    return SlotKey(slot.company, slot.metric, slot.fiscal_year, slot.quarter)


def _last_digit(unit: str) -> float:
    """Half of the last digit that is shown: shares and ratios have two decimals, percents one."""
    return {"USD per share": 0.005, "ratio": 0.005, "percent": 0.05, "percentage points": 0.05}.get(unit, 0.0)


def _first_named(text: str, companies: Mapping[str, Company]) -> str | None:
    places = [(text.find(name), key) for key, company in companies.items() for name in company.names if name in text]
    return min(places)[1] if places else None


def _plain(text: str) -> str:
    return (
        f" {' '.join(re.findall(r'[a-z0-9&]+', text.casefold().replace(chr(0x2019), chr(39)).replace(chr(39), '')))} "
    )


def _expected_text(question: GeneratedQuestion, companies: Mapping[str, Company]) -> str:
    if question.expected is None:
        named = "; ".join(names[0] for names in question.missing_names)
        return f"refused: {question.lacking.value if question.lacking else ''}, naming {named}"
    expected = question.expected
    value = f"{expected.value:,.4g}" if abs(expected.value) < 1_000 else f"{expected.value:,.0f}"
    named = f"{companies[expected.company].name}: " if expected.company else ""
    return f"{named}{value} {expected.unit}"


def _shown(key: SlotKey) -> str:
    quarter = f"Q{key.quarter} " if key.quarter else ""
    return f"{key.company} {key.metric} {quarter}FY{key.fiscal_year}"
