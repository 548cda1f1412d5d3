"""What an answer is about, in words: the measure, what is asked of it over time, company and periods."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_agent.evidence.intent import Comparison, Intent, Relation
from fin_agent.evidence.plan import Plan


def subject_of(intent: Intent, plan: Plan) -> str:
    """`inventory turnover of NIKE, Inc. for FY2021`, with the relation in front where there is one."""
    periods = list(dict.fromkeys(str(term.period) for term in plan.terms))
    companies = list(dict.fromkeys(term.company.name for term in plan.terms))
    span = _span(intent, plan, periods)
    measure = moved_measure(intent)
    if intent.comparison is Comparison.DIFFERENCE:
        subject = f"difference in {measure} between {companies[0]} and {companies[1]}"
    elif intent.comparison is Comparison.EXCESS:
        subject = f"{measure} of {companies[0]} above that of {companies[1]}, in percent of the latter"
    elif intent.comparison is Comparison.RATIO:
        subject = f"ratio of {measure} of {companies[0]} to that of {companies[1]}"
    elif intent.comparison is Comparison.TOTAL:
        subject = f"combined {measure} of {' and '.join(companies)}"
    elif intent.comparison is Comparison.AVERAGE:
        subject = f"average {measure} of {' and '.join(companies)}"
    else:
        subject = f"{measure} of {companies[0]}"
    return f"{subject} for {span}"


def _span(intent: Intent, plan: Plan, periods: Sequence[str]) -> str:
    """`FY2019`, `FY2017 to FY2019`; of a sum or mean over years that do not follow each other, `FY2016 and FY2018`."""
    if len(periods) == 1:
        return periods[0]
    years = sorted({term.period.fiscal_year for term in plan.terms})
    gaps = intent.relation in (Relation.TOTAL, Relation.AVERAGE) and years != list(range(years[0], years[-1] + 1))
    return f"{', '.join(periods[:-1])} and {periods[-1]}" if gaps else f"{periods[0]} to {periods[-1]}"


def capital(text: str) -> str:
    """With a capital, unless its first word has its own: `iPhone revenue`."""
    return text if text[1:2].isupper() else text[:1].upper() + text[1:]


def moved_measure(intent: Intent) -> str:
    """`growth of revenue`: the relation before the measure, said once where the measure's own words say it too."""
    lead = _over_time(intent)
    measure = plain(intent)
    if intent.relation in (Relation.GROWTH, Relation.ANNUAL_GROWTH, Relation.CHANGE):
        measure = re.sub(r"(?<=\w)\s+(?:growth|change|increase|decrease)(?: rates?)?$", "", measure, flags=re.I)
    return measure if lead and measure.lower().startswith(lead) else f"{lead}{measure}"


def plain(intent: Intent) -> str:
    """`Inventory turnover` as it stands inside a sentence; `EBITDA`, `R&D` and names of parts stay as they are."""
    measure = intent.measure
    if measure.startswith(intent.parts or "\0"):
        return measure
    return measure[:1].lower() + measure[1:] if re.match(r"[A-Z][a-z]+\b", measure) else measure


def _over_time(intent: Intent) -> str:
    return {
        Relation.GROWTH: "growth of ",
        Relation.ANNUAL_GROWTH: "compound annual growth rate of ",
        Relation.CHANGE: "change in ",
        Relation.AVERAGE: "average ",
        Relation.TOTAL: "total ",
    }.get(intent.relation, "")
