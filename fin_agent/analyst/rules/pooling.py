"""The figures of the answer before, put together: `average?`, `in total?`."""

from __future__ import annotations

from typing import Literal

from fin_agent.analyst.rules.asked_before import AskedBefore, listed
from fin_agent.analyst.rules.phrasing import appended, in_periods, possessive
from fin_agent.analyst.rules.taken_over import answered_periods, subjects
from fin_agent.answering.answer import Answer
from fin_agent.evidence.intent import Comparison, Relation


def pooled(before: AskedBefore, answer: Answer | None, how: Literal["average", "total"]) -> str | None:
    """The average or total of the measure before, over its companies or its periods.

    None where it has one figure only, or several of several companies.
    """
    names, periods = before.names, before.asked or answered_periods(answer)
    intent = before.intent
    if not (before.measure and intent.numeric and intent.relation in (Relation.EACH, Relation.AVERAGE, Relation.TOTAL)):
        return None
    if intent.comparison not in (Comparison.NONE, Comparison.TOTAL, Comparison.AVERAGE):
        return None
    if len(names) > 1 and len(periods) == 1:
        asked = "combined" if how == "total" else how
        return appended(f"What was the {asked} {before.measure} of {listed(names)}?", in_periods(periods))
    one = subjects(before, answer)
    if len(one) == 1 and len(periods) > 1:
        return appended(f"What was {possessive(one)} {how} {before.measure}?", in_periods(periods))
    return None
