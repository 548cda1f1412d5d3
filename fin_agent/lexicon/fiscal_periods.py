"""Map the years that questions name to the fiscal years of a company's filings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from pydantic import BaseModel

from fin_agent.vocabulary.identity import Form, Identity

ANNUAL_FORMS = (Form.TEN_K, Form.TWENTY_F, Form.ANNUAL_REPORT)
_REPORTS = (*ANNUAL_FORMS, Form.TEN_Q)
YEARS_IN_AN_ANNUAL_REPORT = 3
"""Income and cash flow statements of a 10-K cover three years; balance sheets cover two."""


_SPANS = {6: "six", 9: "nine"}


class FiscalPeriod(BaseModel, frozen=True):
    """A fiscal period as the filer names it; a full year where `quarter` is None."""

    fiscal_year: int
    quarter: int | None = None
    months: int | None = None
    """6 or 9 for the span from the year's first day to the end of `quarter`; None for a quarter or a year."""

    def __str__(self) -> str:
        period = f"Q{self.quarter} FY{self.fiscal_year}" if self.quarter else f"FY{self.fiscal_year}"
        return f"{_SPANS[self.months]} months to {period}" if self.months else period

    def through(self, last: FiscalPeriod) -> list[FiscalPeriod]:
        """Return the quarters or years from this one to `last`, both included.

        >>> last = FiscalPeriod(fiscal_year=2023, quarter=2)
        >>> ", ".join(map(str, FiscalPeriod(fiscal_year=2022, quarter=4).through(last)))
        'Q4 FY2022, Q1 FY2023, Q2 FY2023'
        """
        if self.months or last.months:
            return [self, last]  # spans of months overlap: none lies between
        if self.quarter is None or last.quarter is None:
            return [FiscalPeriod(fiscal_year=year) for year in range(self.fiscal_year, last.fiscal_year + 1)]
        first, end = (4 * one.fiscal_year + one.quarter - 1 for one in (self, last) if one.quarter)
        return [self.model_copy(update={"fiscal_year": n // 4, "quarter": n % 4 + 1}) for n in range(first, end + 1)]


def with_those_between(periods: Sequence[FiscalPeriod], text: str) -> Sequence[FiscalPeriod]:
    """Return the two periods of `between FY2017 and FY2019` with those between; any others as they are."""
    return periods[0].through(periods[1]) if len(periods) == 2 and _BETWEEN.search(text) else periods


_BETWEEN = re.compile(r"\bbetween\b", re.I)


@dataclass(frozen=True, slots=True)
class FiscalYears:
    """Periods reported by the indexed filings of one company."""

    company: str
    annual: tuple[int, ...]
    """Fiscal years with an annual report or a full-year release, ascending, as the filer names them."""
    quarters: tuple[tuple[int, int], ...]
    ends: tuple[tuple[int, int], ...]
    """(calendar year of its end, fiscal year) of each annual period, ascending."""
    closes: Mapping[FiscalPeriod, date] = field(default_factory=dict, hash=False)
    """The last day of each period with an annual or quarterly report."""

    @classmethod
    def of(cls, company: str, filings: Iterable[Identity]) -> FiscalYears:
        """Collect the periods of `filings`, all of one company."""
        known = [(one, reported) for one in filings if (reported := one.reported_period) is not None]
        full_years = [reported for one, reported in known if is_annual(one)]
        annual = {reported.fiscal_year for reported in full_years}
        ends = {(reported.end.year, reported.fiscal_year) for reported in full_years if reported.end}
        quarters = {(reported.fiscal_year, reported.quarter) for _, reported in known if reported.quarter}
        closes: dict[FiscalPeriod, date] = {}
        for identity, reported in known:
            if reported.end and identity.form in _REPORTS:
                quarter = None if identity.form in ANNUAL_FORMS else reported.quarter
                period = FiscalPeriod(fiscal_year=reported.fiscal_year, quarter=quarter)
                closes[period] = max(reported.end, closes.get(period, reported.end))
        return cls(company, tuple(sorted(annual)), tuple(sorted(quarters)), tuple(sorted(ends)), closes)

    def latest(self) -> FiscalPeriod | None:
        """Return the latest full year reported, if any."""
        return FiscalPeriod(fiscal_year=self.annual[-1]) if self.annual else None

    def latest_before(self, asked: FiscalPeriod) -> FiscalPeriod | None:
        """Return the latest full year reported before the one asked about: its report describes the years to come."""
        before = [year for year in self.annual if year < asked.fiscal_year]
        return FiscalPeriod(fiscal_year=before[-1]) if before else None

    def resolve(self, asked: FiscalPeriod) -> tuple[FiscalPeriod, str]:
        """Return the filer's own period for the one asked about, and a note where its name differs.

        A year that the filer does not report under that name is matched by the calendar year in which it ends.
        """
        if asked.quarter or self.covers(asked):
            return asked, ""
        for ended, fiscal_year in self.ends:
            if ended == asked.fiscal_year and fiscal_year != ended:
                read = f"FY{asked.fiscal_year} is read as the year that ended in {ended}"
                return FiscalPeriod(fiscal_year=fiscal_year), f"{read}, which {self.company} calls fiscal {fiscal_year}"
        return asked, ""

    def covers(self, asked: FiscalPeriod) -> bool:
        """Return whether a filing reports this period, as its own or as a column for an earlier year."""
        if asked.quarter:
            return any((asked.fiscal_year + later, asked.quarter) in self.quarters for later in (0, 1))
        return any(0 <= year - asked.fiscal_year < YEARS_IN_AN_ANNUAL_REPORT for year in self.annual)

    def description(self) -> str:
        """Return the available periods for a message: `FY2015, FY2016, FY2019; Q2 FY2023`."""
        parts = [f"FY{year}" for year in self.annual]
        quarters = [f"Q{quarter} FY{year}" for year, quarter in self.quarters]
        return "; ".join(part for part in (", ".join(parts), ", ".join(quarters)) if part) or "no periods"


def is_annual(identity: Identity) -> bool:
    """Return whether the filing reports a full year."""
    if identity.form in ANNUAL_FORMS:
        return True
    reported = identity.reported_period
    return identity.form in (Form.EARNINGS, Form.EIGHT_K) and reported is not None and reported.quarter in (None, 4)
