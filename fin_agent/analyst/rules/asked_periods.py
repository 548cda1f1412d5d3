"""The periods that a question names, and how many it asks about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.periods import PeriodMention, QuestionPeriods, parse_periods
from fin_agent.vocabulary.fiscal_calendar import fiscal_quarter_of


def periods_asked(core: str, question: str) -> tuple[FiscalPeriod, ...]:
    """Periods of the part that asks; of the whole question where that part names none."""
    for text in (core, question):
        parsed = parse_periods(text)
        asked = {
            FiscalPeriod(fiscal_year=mention.fiscal_year, quarter=_last_quarter(mention)) for mention in parsed.mentions
        }
        asked |= {FiscalPeriod(fiscal_year=year) for year in parsed.years if year not in _years_with_quarter(parsed)}
        if parsed.as_of is not None and _OUTLOOK.search(text):
            # What lies after that date is looked for in the filings of that date.
            asked = {period for period in asked if period.fiscal_year <= parsed.as_of}
        if asked:
            return tuple(sorted(asked, key=lambda period: (period.fiscal_year, period.quarter or 5)))
    return ()


_OUTLOOK = re.compile(
    r"\b(?:matur\w+|due|expect\w*|will|schedul\w+|future|obligations?|expir\w+|commit\w+|estimat\w+|contractual|payments?|next)\b",
    re.I,
)


def looks_ahead(text: str) -> bool:
    """Whether a year after the date of what is known is asked about: `as of 2020, ... due in 2023`."""
    parsed = parse_periods(text)
    return (
        parsed.as_of is not None and _OUTLOOK.search(text) is not None and max(parsed.years, default=0) > parsed.as_of
    )


def _last_quarter(mention: PeriodMention) -> int | None:
    """The quarter, or the one that closes half a year or nine months: its report tells of them."""
    if mention.quarter or mention.months not in (6, 9) or mention.half == 2:
        return mention.quarter
    return fiscal_quarter_of(mention.period_end, 12) if mention.period_end else mention.months // 3


def how_many_periods(core: str, periods: Sequence[FiscalPeriod]) -> int:
    """At least how many periods are asked about; `since 2018` and `the last three years` name fewer than they ask."""
    if len(periods) > 1:
        return len(periods)
    parsed = parse_periods(core)
    if parsed.since is not None:
        return 2
    return len(periods) if periods else parsed.trailing_years or 0


def _years_with_quarter(parsed: QuestionPeriods) -> set[int]:
    return {mention.fiscal_year for mention in parsed.mentions if _last_quarter(mention)}


def quarters_without_year(question: str, periods: Sequence[FiscalPeriod]) -> tuple[str, ...]:
    """In words, quarters that `question` names without their year, where it names no other periods."""
    loose = () if periods else parse_periods(question).loose_quarters
    return tuple(f"quarter {quarter} of which year: name the year" for quarter in loose)


def dates_asked(question: str) -> tuple[date, ...]:
    """Dates that `question` names."""
    return tuple(mention.date for mention in parse_periods(question).dates)
