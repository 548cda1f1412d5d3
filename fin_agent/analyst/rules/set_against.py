"""The figure of the question before, set against that of other companies or of another time."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.analyst.rules.asked_before import AskedBefore, period_names
from fin_agent.analyst.rules.phrasing import appended, in_periods, possessive
from fin_agent.analyst.rules.taken_over import answered_periods, shifted, shifted_years, subjects
from fin_agent.answering.answer import Answer
from fin_agent.lexicon.fiscal import FiscalPeriod


def set_against_companies(
    before: AskedBefore, others: Sequence[str], answer: Answer | None, periods: Sequence[FiscalPeriod] = ()
) -> str | None:
    """The figure before beside that of other companies, in `periods` where they are named.

    None where it is of no known measure.
    """
    names = subjects(before, answer)
    others = [name for name in others if name not in names]
    if not (names and others and before.measure and before.intent.numeric):
        return None
    told = in_periods(periods or before.asked or answered_periods(answer))
    first = appended(f"How does {possessive(names)} {before.measure}", told).rstrip("?")
    return f"{first} compare to {possessive(others)}?"


def set_against_time(before: AskedBefore, other: FiscalPeriod, answer: Answer | None) -> str | None:
    """By how much the measure before moved between its period and `other`.

    None where it is of no known measure, of several periods or of that one.
    """
    names, periods = subjects(before, answer), before.asked or answered_periods(answer)
    if not (names and before.measure and before.intent.numeric and len(periods) == 1):
        return None
    asked = periods[0]
    if asked == other or bool(asked.quarter) != bool(other.quarter):
        return None
    first, last = sorted((asked, other), key=lambda period: (period.fiscal_year, period.quarter or 0))
    span = f"from {period_names([first])} to {period_names([last])}"
    return f"By how much did {possessive(names)} {before.measure} change {span}?"


def about_movement(before: AskedBefore, answer: Answer | None, said: str) -> str | None:
    """By how much the measure before moved from the year before, or the quarter before where `said` names it."""
    names, measure = subjects(before, answer), before.measure
    if not (names and measure):
        return None
    periods = before.asked or answered_periods(answer)
    if len(periods) != 1:
        told = in_periods(periods)
        return appended(f"By how much did {possessive(names)} {measure} change?", told)
    earlier = shifted(periods, -1) if "quarter" in said.lower() else shifted_years(periods, -1)
    span = f"from {period_names(earlier)} to {period_names(periods)}"
    return f"By how much did {possessive(names)} {measure} change {span}?"
