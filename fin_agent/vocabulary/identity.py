"""Who, what and when a filing is, and where each field was read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from fin_agent.vocabulary.fact import FactPeriod

_WEEK = timedelta(days=7)
"""How far the end of a 52/53-week year may drift into the next month."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who, what and when a filing is, from its content alone."""

    company: str
    """Registrant as printed on the cover, or as a release names itself."""
    form: Form
    fiscal_year: int | None = None
    """By the filer's own naming: a year ended January 28, 2023 that the filer calls fiscal 2022 is 2022."""
    quarter: int | None = None
    """1 to 4 for a quarterly report or a quarter's earnings release; None for a full year."""
    period_end: date | None = None
    """Last day of the reported period; for an 8-K, the date of the earliest event."""
    fiscal_year_end_month: int | None = None
    filed: date | None = None
    """Date of the report or release as printed, where there is one."""
    ticker: str | None = None
    cik: str | None = None
    file_number: str | None = None
    """SEC commission file number as `1-1183` (leading zeros dropped): it survives a change of name."""
    employer_id: str | None = None
    """IRS employer identification number, `80-0429876`."""
    other_names: tuple[str, ...] = ()
    """Former and short names that the filing itself gives."""
    amended: bool = False
    results: FactPeriod | None = None
    """For an 8-K that carries a release of results: the quarter or year that they are of."""
    sources: tuple[FieldSource, ...] = ()
    """Where each field was read, the reading that was taken first; other readings of the same field follow it."""

    @property
    def reported_period(self) -> FactPeriod | None:
        """The fiscal period whose figures the filing reports; None where it reports none or names no year."""
        if self.form is Form.EIGHT_K:
            return self.results
        if self.fiscal_year is None:
            return None
        return FactPeriod(self.fiscal_year, self.quarter, 3 if self.quarter else 12, self.period_end)

    @property
    def ending_year(self) -> int | None:
        """Calendar year in which the fiscal year ends: what those who do not know the filer's naming call the year."""
        if self.fiscal_year is None or self.period_end is None or self.fiscal_year_end_month is None:
            return self.fiscal_year
        nominal = self.period_end - _WEEK if self.period_end.day <= _WEEK.days else self.period_end
        return nominal.year + (nominal.month > self.fiscal_year_end_month)

    def conflicts(self) -> tuple[tuple[FieldSource, FieldSource], ...]:
        """(reading taken, reading that differs) pairs, in the order of `sources`; further names are no conflict."""
        taken: dict[str, FieldSource] = {}
        differing = []
        for source in self.sources:
            first = taken.setdefault(source.field, source)
            if source.value != first.value and source.field != "other_names":
                differing.append((first, source))
        return tuple(differing)


class Form(StrEnum):
    """Kinds of document that are told apart."""

    TEN_K = "10-K"
    TEN_Q = "10-Q"
    EIGHT_K = "8-K"
    TWENTY_F = "20-F"
    EARNINGS = "earnings"
    ANNUAL_REPORT = "annual-report"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class FieldSource:
    """One reading of one identity field."""

    field: str
    """Name of the field of Identity."""
    value: str
    """As it stands in that field, dates in ISO form."""
    origin: Origin
    printed: str
    """The words (or the tag) it was read from."""
    confidence: float
    """0 to 1: how far a reading of its kind is trusted. It ranks readings and is no measured rate."""
    page: int | None = None
    """0-based."""


class Origin(StrEnum):
    """Kinds of place an identity field is read from, surest first."""

    DEI = "dei"
    COVER = "cover"
    TITLE = "title"
    SIGNATURE = "signature"
    TEXT = "text"
    DERIVED = "derived"
