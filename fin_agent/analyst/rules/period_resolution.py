"""Resolve the dates and relative periods of a question to fiscal periods of its companies.

`as of January 28, 2023` is the end of what its filer calls fiscal 2022; `the last quarter` is the last one filed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from fin_agent.analyst.rules.curation import asks_for_outlook
from fin_agent.evidence.intent import Intent
from fin_agent.lexicon.fiscal_periods import ANNUAL_FORMS, FiscalPeriod, FiscalYears, is_annual
from fin_agent.lexicon.periods import PeriodMention, QuestionPeriods, parse_periods
from fin_agent.lexicon.words import finds
from fin_agent.vocabulary.fiscal_calendar import fiscal_quarter_of, fiscal_year_of, nominal_month
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.workspace import Workspace

_DAYS_NEAR = 7
_DAYS_A_YEAR = 365.25
_DAYS_A_MONTH = 30
_DAYS_UNTIL_FILED = 90
_YEARS_OF_COLUMNS = 3


def with_dated_periods(intent: Intent, workspace: Workspace) -> Intent:
    """Return `intent` with the periods that its dates end, and those that are relative to the latest filing.

    Only if periods are named by dates alone. A date that ends no period of the company's filings becomes the quarter
    that it ends in the filer's calendar, else the calendar quarter that contains it, which is then missing, since a
    figure of another date would be a guess. A question for words keeps its periods in that case.
    """
    parsed = parse_periods(intent.core)
    if not parsed.dates:
        return _with_relative_periods(intent, parsed, workspace)
    dates = _dates_that_end(intent, parsed)
    if not dates:
        return intent
    directory, found = workspace.directory, set[frozenset[FiscalPeriod | None]]()
    for company in intent.companies:
        identities = [directory.identities[doc_id] for doc_id in directory.by_key[company.key].doc_ids]
        if not intent.numeric and any(_period_ending_near(day, identities) is None for day, _ in dates):
            told = {period_of_cover(day, identities) for day, _ in dates}
            return intent if None in told else intent.model_copy(update={"periods": _ordered(filter(None, told))})
        found.add(frozenset(period_ending(day, identities, length) for day, length in dates))
    if len(found) != 1:
        return intent
    known = found.pop()
    if None in known:
        what = "figures for this span of months: only quarters and year-to-date periods can be looked up"
        return intent.model_copy(update={"unsupported": (*intent.unsupported, what)})
    periods = _ordered(filter(None, known))
    if not intent.numeric:  # the report of its last quarter tells of a span of months
        periods = tuple(period.model_copy(update={"months": None}) for period in periods)
    return intent.model_copy(update={"periods": periods})


def _dates_that_end(intent: Intent, parsed: QuestionPeriods) -> list[tuple[date, int]]:
    """Return the dates that end a period, each with its months; none if a span beside them has no date."""
    roles = ("as of", "ended", "on") if intent.numeric else ("as of", "ended")
    months = {mention.period_end: mention.months for mention in parsed.mentions}
    if None in months:
        return []
    return [(mention.date, months.get(mention.date, 0)) for mention in parsed.dates if mention.role in roles]


def period_ending(day: date, identities: Iterable[Identity], months: int = 0) -> FiscalPeriod | None:
    """Return the period that ends near `day` in these filings, else the one that would in the filer's calendar.

    `months` is its length: 0 for a year or quarter that ends there, -1 for the fiscal year to date. None for a span
    that does not begin with the fiscal year and is no quarter.
    """
    filings = list(identities)
    period = _period_ending_near(day, filings) or _unfiled_period(day, filings)
    if months == 3:
        return period if period.quarter else period.model_copy(update={"quarter": 4})
    if months in (6, 9, -1) and period.quarter:
        whole = months == -1 or period.quarter * 3 == months
        span = 3 * period.quarter
        return period.model_copy(update={"months": span if span in (6, 9) else None}) if whole else None
    return None if (months == 12 and period.quarter) or months in (6, 9) else period


def _period_ending_near(day: date, identities: Iterable[Identity]) -> FiscalPeriod | None:
    """Return the period that ends near `day` in the filings' columns: annual ones first, then the nearest year's."""
    found: list[tuple[bool, int, FiscalPeriod]] = []
    for identity in identities:
        if (reported := identity.reported_period) is None or reported.end is None:
            continue
        apart = (reported.end - day).days
        ago = round(apart / _DAYS_A_YEAR)
        if 0 <= ago < _YEARS_OF_COLUMNS and abs(apart - ago * _DAYS_A_YEAR) <= _DAYS_NEAR:
            quarter = None if is_annual(identity) else reported.quarter
            period = FiscalPeriod(fiscal_year=reported.fiscal_year - ago, quarter=quarter)
            found.append((quarter is not None, ago, period))
    return min(found, key=lambda entry: entry[:2])[2] if found else None


def period_of_cover(day: date, identities: Iterable[Identity]) -> FiscalPeriod | None:
    """Return the period of the report whose cover may state figures of `day`, shortly after the period's end."""
    periods = [one.reported_period for one in identities if one.form in (*ANNUAL_FORMS, Form.TEN_Q)]
    ended = [one for one in periods if one and one.end and _DAYS_NEAR < (day - one.end).days < _DAYS_UNTIL_FILED]
    last = max(ended, key=lambda one: one.end or day, default=None)
    return FiscalPeriod(fiscal_year=last.fiscal_year, quarter=last.quarter) if last else None


def _unfiled_period(day: date, identities: Iterable[Identity]) -> FiscalPeriod:
    """Return the quarter or year that would end on `day` in the filer's calendar, preferring annual reports."""
    annual = (each.reported_period for each in identities if each.form in ANNUAL_FORMS)
    closing = {nominal_month(period.end)[1] for period in annual if period and period.end}
    closing = closing or {each.fiscal_year_end_month for each in identities if each.fiscal_year_end_month}
    near_the_end = not _DAYS_NEAR < day.day <= _DAYS_A_MONTH - _DAYS_NEAR
    last = closing.pop() if len(closing) == 1 and near_the_end else None
    if last is None or (nominal_month(day)[1] - last) % 3:
        return FiscalPeriod(fiscal_year=day.year, quarter=(day.month + 2) // 3)
    quarter = fiscal_quarter_of(day, last)
    return FiscalPeriod(fiscal_year=fiscal_year_of(day, last), quarter=quarter if quarter < 4 else None)


def _with_relative_periods(intent: Intent, parsed: QuestionPeriods, workspace: Workspace) -> Intent:
    """Resolve `the most recent quarter`, `the last three years`, `since 2018` by what is filed.

    Periods stay as they are if the latest ones of the companies differ.
    """
    found = {_relative(intent, parsed, workspace.years[company.key]) for company in intent.companies}
    if len(found) != 1 or not (periods := found.pop()):
        return intent
    names = " and ".join(company.name for company in intent.companies)
    said = f"{periods[0]} to {periods[-1]}" if len(periods) > 1 else f"{periods[0]}"
    note = f"the newest filed by {names} is {periods[-1]}: {said} is taken"
    return intent.model_copy(update={"periods": periods, "assumed": (*intent.assumed, note)})


def _relative(intent: Intent, parsed: QuestionPeriods, filed: FiscalYears) -> tuple[FiscalPeriod, ...]:
    """Return the requested periods by a company's filed years; empty if they are not relative."""
    last = filed.annual[-1] if filed.annual else None
    if last is not None and parsed.since is not None and len(intent.periods) == 1:
        return _years(parsed.since, last)
    if intent.periods:
        return ()
    if parsed.latest == "quarter":
        return tuple(FiscalPeriod(fiscal_year=year, quarter=part) for year, part in filed.quarters[-1:])
    counted = parsed.trailing_years or (parsed.latest == "year" and not intent.numeric)
    return _years(last - counted + 1, last) if last is not None and counted else ()


def _years(first: int, last: int) -> tuple[FiscalPeriod, ...]:
    return tuple(FiscalPeriod(fiscal_year=year) for year in range(first, last + 1))


def _ordered(periods: Iterable[FiscalPeriod]) -> tuple[FiscalPeriod, ...]:
    return tuple(sorted(periods, key=lambda period: (period.fiscal_year, period.quarter or 5)))


def requested_periods(core: str, question: str) -> tuple[FiscalPeriod, ...]:
    """Return the periods of the request itself, else those of the whole question."""
    for text in (core, question):
        parsed = parse_periods(text)
        named = {(mention.fiscal_year, _last_quarter(mention)) for mention in parsed.mentions}
        named |= {(year, None) for year in set(parsed.years).difference(year for year, quarter in named if quarter)}
        # Later periods are searched for in the filings of that date.
        last = parsed.as_of if parsed.as_of is not None and finds(text, "due later") else 9999
        asked = {FiscalPeriod(fiscal_year=year, quarter=quarter) for year, quarter in named if year <= last}
        if asked:
            return _ordered(asked)
    return ()


def asks_about_future(text: str) -> bool:
    """Return whether a year after the reference date is requested: `as of 2020, ... due in 2023`."""
    parsed = parse_periods(text)
    return parsed.as_of is not None and finds(text, "due later") and max(parsed.years, default=0) > parsed.as_of


def _last_quarter(mention: PeriodMention) -> int | None:
    """Return the quarter, or the last one of a half-year or nine months, whose report covers them."""
    if mention.quarter or mention.months not in (6, 9) or mention.half == 2:
        return mention.quarter
    return fiscal_quarter_of(mention.period_end, 12) if mention.period_end else mention.months // 3


def min_period_count(core: str, periods: Sequence[FiscalPeriod]) -> int:
    """Return the least number of requested periods; `since 2018` and `the last three years` mean several."""
    if len(periods) > 1:
        return len(periods)
    parsed = parse_periods(core)
    return 2 if parsed.since is not None else len(periods) or parsed.trailing_years or 0


def with_fiscal_years_resolved(intent: Intent, workspace: Workspace) -> Intent:
    """Return `intent` with each fiscal year without a filing replaced by the one that ended in it, and a note.

    For one company and an answer in words; figures find their years in the plan (`FiscalYears.resolve`). A future year
    is kept, since expectations are stated before it.
    """
    if intent.numeric or len(intent.companies) != 1 or asks_for_outlook(intent):
        return intent
    filed = workspace.years[intent.companies[0].key]
    meant = [filed.resolve(period) for period in intent.periods]
    periods = tuple(dict.fromkeys(period for period, _ in meant))
    if periods == intent.periods or len(periods) < len(intent.periods):
        return intent
    notes = [note for _, note in meant if note]
    return intent.model_copy(update={"periods": periods, "assumed": (*intent.assumed, *notes)})
