"""Dates of a question as fiscal periods: `as of January 28, 2023` is the end of what its filer calls fiscal 2022."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from fin_agent.evidence.intent import Intent
from fin_agent.lexicon.fiscal import FiscalPeriod, is_annual
from fin_agent.lexicon.periods import parse_periods
from fin_agent.vocabulary.identity import Identity
from fin_agent.workspace import Workspace

_DAYS_NEAR = 7
_DAYS_A_YEAR = 365.25
_YEARS_OF_COLUMNS = 3
_WHOLE_PERIODS = (0, 3, 12)


def with_dated_periods(intent: Intent, workspace: Workspace) -> Intent:
    """`intent` with the periods that its dates end, where it asks for figures and names its periods by dates alone.

    A date that ends no period of the company's filings becomes the calendar quarter it lies in, which is then missing:
    a figure of another date would be a guess.
    """
    if not intent.numeric or not intent.companies:
        return intent
    parsed = parse_periods(intent.core)
    dates = [mention.date for mention in parsed.dates if mention.role in ("as of", "ended", "on")]
    by_name = any(mention.period_end is None or mention.months not in _WHOLE_PERIODS for mention in parsed.mentions)
    if not dates or by_name:
        return intent
    owned = [
        [workspace.index.filing(doc_id).identity for doc_id in company.doc_ids]
        for asked in intent.companies
        for company in workspace.directory.companies
        if company.key == asked.key
    ]
    found = [{_ended(day, identities) or _calendar_quarter(day) for day in dates} for identities in owned]
    if any(periods != found[0] for periods in found):
        return intent
    ordered = sorted(found[0], key=lambda period: (period.fiscal_year, period.quarter or 5))
    return intent.model_copy(update={"periods": tuple(ordered)})


def _ended(day: date, identities: Iterable[Identity]) -> FiscalPeriod | None:
    """The period that ends near `day` in the filings' own columns: annual ones first, then the nearest year's."""
    found: list[tuple[bool, int, FiscalPeriod]] = []
    for identity in identities:
        reported = identity.reported
        if reported is None or reported.end is None:
            continue
        apart = (reported.end - day).days
        ago = round(apart / _DAYS_A_YEAR)
        if 0 <= ago < _YEARS_OF_COLUMNS and abs(apart - ago * _DAYS_A_YEAR) <= _DAYS_NEAR:
            quarter = None if is_annual(identity) else reported.quarter
            period = FiscalPeriod(fiscal_year=reported.fiscal_year - ago, quarter=quarter)
            found.append((quarter is not None, ago, period))
    return min(found, key=lambda entry: entry[:2])[2] if found else None


def _calendar_quarter(day: date) -> FiscalPeriod:
    return FiscalPeriod(fiscal_year=day.year, quarter=(day.month + 2) // 3)
