"""A generated question, and the answer that it has to get."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Family(StrEnum):
    """What a generated question is meant to show."""

    MULTI_FILING = "multi-filing"
    """Its figures stand in no single filing."""
    UNANSWERABLE = "unanswerable"
    """The index does not hold it: it has to be refused, with what is missing."""
    LOOKUP = "lookup"
    """One printed figure: it must not be refused."""


class Wanted(StrEnum):
    """Which generated questions are asked."""

    MULTI_FILING = "multi-filing"
    UNANSWERABLE = "unanswerable"
    LOOKUP = "lookup"
    ALL = "all"

    @property
    def families(self) -> tuple[Family, ...]:
        """The families of questions it stands for."""
        return tuple(Family) if self is Wanted.ALL else (Family(self.value),)


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
