"""The identity of a filing (company, form, period), with the source of each field."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from fin_agent.vocabulary.fact import FactPeriod
from fin_agent.vocabulary.fiscal_calendar import nominal_month


@dataclass(frozen=True, slots=True)
class Identity:
    """Company, form and period of a filing, from its content alone."""

    company: str
    """Registrant as printed on the cover, or the name that a release uses for its issuer."""
    form: Form
    fiscal_year: int | None = None
    """As the filer names it: a year ended January 28, 2023 that the filer calls fiscal 2022 is 2022."""
    quarter: int | None = None
    """1 to 4 for a quarterly report or a quarter's earnings release; None for a full year."""
    period_end: date | None = None
    """Last day of the reported period; for an 8-K, the date of the earliest event."""
    fiscal_year_end_month: int | None = None
    filed: date | None = None
    """Date of the report or release as printed, if any."""
    ticker: str | None = None
    cik: str | None = None
    file_number: str | None = None
    """SEC commission file number without leading zeros, such as `1-1183`; it does not change with the company's
    name."""
    employer_id: str | None = None
    """IRS employer identification number, `80-0429876`."""
    other_names: tuple[str, ...] = ()
    """Former and short names that the filing itself gives."""
    amended: bool = False
    results: FactPeriod | None = None
    """For an 8-K with a release of results: the quarter or year they cover."""
    sources: tuple[FieldSource, ...] = ()
    """The source of each field: the reading used comes first, followed by other readings of the same field."""

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
        """Calendar year in which the fiscal year ends: the year's usual name outside the filer's own naming."""
        if self.fiscal_year is None or self.period_end is None or self.fiscal_year_end_month is None:
            return self.fiscal_year
        year, month = nominal_month(self.period_end)
        return year + (month > self.fiscal_year_end_month)

    def conflicts(self) -> tuple[tuple[FieldSource, FieldSource], ...]:
        """Return (reading used, differing reading) pairs in the order of `sources`; further names are not conflicts."""
        used = {source.field: source for source in reversed(self.sources)}
        pairs = ((used[source.field], source) for source in self.sources if source.field != "other_names")
        return tuple((first, source) for first, source in pairs if source.value != first.value)


class Form(StrEnum):
    """Kinds of document."""

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
    """Name of a field of Identity."""
    value: str
    """The value in the form of that field, dates in ISO form."""
    origin: Origin
    printed: str
    """The printed words or the tag it was read from."""
    confidence: float
    """0 to 1: the trust in readings of its kind. It ranks readings and is not a measured rate."""
    page: int | None = None
    """0-based."""


class Origin(StrEnum):
    """Kinds of source of an identity field, most reliable first."""

    DEI = "dei"
    COVER = "cover"
    TITLE = "title"
    SIGNATURE = "signature"
    TEXT = "text"
    DERIVED = "derived"
