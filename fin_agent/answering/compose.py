"""From a program's result to an answer for people: value, unit, one sentence, citations; or a refusal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from math import isclose
from typing import get_args

from fin_agent.answering.answer import AnswerValue, Citation
from fin_agent.answering.program import Program, in_unit
from fin_agent.answering.sandbox import ProgramValue
from fin_agent.answering.verdicts import (
    Listed,
    asked_to_rise,
    best_period,
    every_year,
    first_stands_out,
    years_counted,
    yes_or_no,
)
from fin_agent.errors import SandboxError
from fin_agent.evidence.intent import Comparison, Intent, OutputUnit, Relation, Selection
from fin_agent.evidence.ledger import Figure
from fin_agent.evidence.plan import Plan

_ANY_SIZE = Context(prec=400)
_DECIMALS: dict[str, int] = {
    "percent": 1,
    "percentage points": 1,
    "ratio": 2,
    "days": 2,
    "USD per share": 2,
    "years": 1,
}


def numeric_answer(intent: Intent, plan: Plan, program: Program, result: ProgramValue) -> AnswerValue:
    """The answer in words and as a value in its unit. Raises SandboxError where the result is no number.

    Of several numbers the value is the one asked for: the extreme of a comparison, else the latest.
    """
    numbers = [_number(part) for part in (result if isinstance(result, list) else [result])]
    computed = _unit_of_result(intent)
    converted = [in_unit(number, computed, program.scale, intent.unit) for number in numbers]
    unit = converted[0][1]
    values = [_rounded(value, intent.decimals) for value, _ in converted]
    base = program.scale if computed == "USD" else 1
    if len(values) == 1:
        value = values[0]
        moved = _from_and_to(intent, plan, program, numbers[0])
        lead = yes_or_no(intent.claim, numbers[0], base) or _moved_as_asked(intent, value)
        subject = _subject(intent, plan)
        text = f"{lead}{_plain(subject) if lead else subject}: {shown(value, unit, intent.decimals)}{moved}."
        return AnswerValue(value=value, unit=_known(unit), text=text)
    if intent.selection is not None:
        return _of_the_chosen(intent, intent.selection, plan, program, numbers)
    written = [shown(value, unit, intent.decimals) for value in values]
    listed = list(zip(program.names, values, written, strict=True))
    if len(plan.by_company()) == 1 and (over := _over_periods(intent, plan, listed, numbers, unit, base)):
        return over
    if intent.comparison in (Comparison.HIGHEST, Comparison.LOWEST):
        return _extreme(intent, listed, unit)
    if intent.relation is Relation.TREND:
        return _trend(intent, plan, listed, unit)
    text = "; ".join(f"{name}: {text}" for name, _, text in listed)
    # Several figures side by side: none of them is *the* value.
    return AnswerValue(text=f"{_capital(intent.measure)}: {text}.")


def citations_of(figures: Sequence[Figure]) -> tuple[Citation, ...]:
    """A citation per figure, each place once."""
    found = {
        (figure.doc_id, figure.page, figure.box): Citation(
            doc_id=figure.doc_id,
            page=figure.page,
            text=f"{figure.label} | {figure.column}: {figure.printed:,}",
            box=figure.box,
        )
        for figure in figures
    }
    return tuple(found.values())


def shown(value: float, unit: str, decimals: int | None = None) -> str:
    """A value as people write it: `$11,588 million`, `65.4%`, `24.26`, `93.86 days`."""
    if unit.startswith("USD"):
        places = decimals if decimals is not None else (2 if unit == "USD per share" else _places(value))
        amount = _fixed(abs(value), places)
        sign = "-" if _half_up(value, places) < 0 else ""
        scale = {"USD thousands": " thousand", "USD millions": " million", "USD billions": " billion"}.get(unit, "")
        return f"{sign}${amount}{scale}{' per share' if unit == 'USD per share' else ''}"
    places = decimals if decimals is not None else _DECIMALS.get(unit, _places(value))
    number = _fixed(value, places)
    return {"percent": f"{number}%", "ratio": number, "count": number}.get(unit, f"{number} {unit}")


def _trend(intent: Intent, plan: Plan, listed: Sequence[tuple[str, float, str]], unit: str) -> AnswerValue:
    (_, first, first_text), (_, last, last_text) = listed[0], listed[-1]
    moved = "rose" if last > first else "fell" if last < first else "did not change"
    span = f"from {first_text} in {plan.terms[0].period} to {last_text} in {plan.terms[-1].period}"
    if moved == "did not change":
        span = f"from {plan.terms[0].period} to {plan.terms[-1].period}: it stayed at {last_text}"
    name = plan.terms[0].company.name
    rising = intent.claim.above if intent.claim else asked_to_rise(intent.core)
    verdict = "Yes" if rising == (last > first) and first != last else "No"
    lead = "" if " or " in intent.core.lower() else f"{verdict}: "
    subject = f"{_plain(intent.measure)} of {name}"
    subject = subject if lead else _capital(subject)
    return AnswerValue(value=last, unit=_known(unit), text=f"{lead}{subject} {moved} {span}.")


def _over_periods(
    intent: Intent,
    plan: Plan,
    listed: Sequence[tuple[str, float, str]],
    numbers: Sequence[float],
    unit: str,
    scale: float,
) -> AnswerValue | None:
    """One company's periods set against each other; None where each is wanted as it is, or only first and last."""
    subject = f"{_plain(intent.measure)} of {plan.terms[0].company.name}"
    of_periods = [
        Listed(str(term.period), value, text, number)
        for term, (_, value, text), number in zip(plan.terms, listed, numbers, strict=True)
    ]
    if intent.relation is Relation.YEARS_COUNTED:
        counted, text = years_counted(intent, subject, of_periods, scale)
        return AnswerValue(value=float(counted), unit=_known("count"), text=text)
    if intent.relation is Relation.EVERY_YEAR:
        text = every_year(intent.core, subject, of_periods)
        return AnswerValue(value=of_periods[-1].value, unit=_known(unit), text=text)
    if intent.comparison not in (Comparison.HIGHEST, Comparison.LOWEST):
        return None
    best, text = best_period(intent.comparison, subject, of_periods)
    return AnswerValue(value=best.value, unit=_known(unit), text=text)


def _moved_as_asked(intent: Intent, change: float) -> str:
    """`Yes: ` or `No: ` in front of a change, where the question asks whether it moved and by how much."""
    core = intent.core.lower()
    if intent.relation not in (Relation.GROWTH, Relation.CHANGE) or " or " in core or not _YES_OR_NO.match(core):
        return ""
    return "Yes: " if change and asked_to_rise(core) == (change > 0) else "No: "


_YES_OR_NO = re.compile(r"^\W*(?:so,?\s+|and\s+)?(?:is|are|was|were|did|does|do|has|have|had)\b")


def _extreme(intent: Intent, listed: Sequence[tuple[str, float, str]], unit: str) -> AnswerValue:
    pick = max if intent.comparison is Comparison.HIGHEST else min
    name, value, text = pick(listed, key=lambda entry: entry[1])
    others = "; ".join(f"{other}: {other_text}" for other, _, other_text in listed if other != name)
    degree = intent.comparison.value
    if len(listed) == 2:
        degree = {Comparison.HIGHEST: "higher", Comparison.LOWEST: "lower"}[intent.comparison]
    if sum(other == value for _, other, _ in listed) > 1:
        same = f"No company stands out: {_moved(intent)} is {text} ({others})."
        return AnswerValue(value=value, unit=_known(unit), text=same)
    return AnswerValue(
        value=value,
        unit=_known(unit),
        text=f"{first_stands_out(intent, name)}{name} has the {degree} {_moved(intent)}: {text} ({others}).",
    )


def _of_the_chosen(
    intent: Intent, selection: Selection, plan: Plan, program: Program, numbers: Sequence[float]
) -> AnswerValue:
    """`Net income of Acme for FY2020: $5 million. Acme has the higher revenue: $90 million (Bolt: $70 million).`"""
    asked, unit = in_unit(numbers[0], _unit_of_result(intent), program.scale, intent.unit)
    chosen = program.names[0]
    ranking = intent.model_copy(
        update={
            "measure": selection.measure,
            "measure_unit": selection.measure_unit,
            "relation": selection.relation,
            "comparison": selection.extreme,
            "unit": None,
            "decimals": None,
        }
    )
    ranks = [in_unit(number, _unit_of_result(ranking), program.scale, None) for number in numbers[1:]]
    listed = [(name, value, shown(value, of, None)) for name, (value, of) in zip(program.names[1:], ranks, strict=True)]
    value = _rounded(asked, intent.decimals)
    own = Plan(tuple(term for term in plan.terms if term.company.name == chosen), plan.notes)
    text = f"{_subject(intent, own)}: {shown(value, unit, intent.decimals)}. {_extreme(ranking, listed, '').text}"
    return AnswerValue(value=value, unit=_known(unit), text=text)


def _subject(intent: Intent, plan: Plan) -> str:
    """`Inventory turnover of NIKE, Inc. for FY2021`, with the relation in front where there is one."""
    periods = list(dict.fromkeys(str(term.period) for term in plan.terms))
    companies = list(dict.fromkeys(term.company.name for term in plan.terms))
    span = _span(intent, plan, periods)
    measure = _moved(intent)
    if intent.comparison is Comparison.DIFFERENCE:
        subject = f"difference in {measure} between {companies[0]} and {companies[1]}"
    elif intent.comparison is Comparison.EXCESS:
        subject = f"{measure} of {companies[0]} above that of {companies[1]}, in percent of the latter"
    elif intent.comparison is Comparison.RATIO:
        subject = f"ratio of {measure} of {companies[0]} to that of {companies[1]}"
    elif intent.comparison is Comparison.TOTAL:
        subject = f"combined {measure} of {' and '.join(companies)}"
    else:
        subject = f"{measure} of {companies[0]}"
    return f"{_capital(subject)} for {span}"


def _span(intent: Intent, plan: Plan, periods: Sequence[str]) -> str:
    """`FY2019`, `FY2017 to FY2019`; of a sum or mean over years that do not follow each other, `FY2016 and FY2018`."""
    if len(periods) == 1:
        return periods[0]
    years = sorted({term.period.fiscal_year for term in plan.terms})
    gaps = intent.relation in (Relation.TOTAL, Relation.AVERAGE) and years != list(range(years[0], years[-1] + 1))
    return f"{', '.join(periods[:-1])} and {periods[-1]}" if gaps else f"{periods[0]} to {periods[-1]}"


def _from_and_to(intent: Intent, plan: Plan, program: Program, moved: float) -> str:
    """` (from $1,840 million in FY2022 to $1,720 million in FY2023)` where two printed figures account for `moved`."""
    if intent.relation not in (Relation.GROWTH, Relation.CHANGE) or len(program.variables) != 2:
        return ""
    scale = program.scale if intent.measure_unit in ("USD", "shares") else 1
    before, after = (float(figure.value / scale) for figure in program.variables.values())
    change = after - before if intent.relation is Relation.CHANGE else 100 * (after - before) / (abs(before) or 1.0)
    if not isclose(change, moved, rel_tol=1e-9, abs_tol=1e-9):
        return ""
    levels = [in_unit(level, intent.measure_unit, program.scale, intent.unit) for level in (before, after)]
    first, last = (shown(value, unit, None if unit == "percent" else intent.decimals) for value, unit in levels)
    return f" (from {first} in {plan.terms[0].period} to {last} in {plan.terms[-1].period})"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _moved(intent: Intent) -> str:
    """`growth of revenue`: the relation before the measure, said once where the measure's own words say it too."""
    lead = _over_time(intent)
    measure = _plain(intent.measure)
    if intent.relation in (Relation.GROWTH, Relation.ANNUAL_GROWTH, Relation.CHANGE):
        measure = re.sub(r"(?<=\w)\s+(?:growth|change|increase|decrease)(?: rates?)?$", "", measure, flags=re.I)
    return measure if lead and measure.lower().startswith(lead) else f"{lead}{measure}"


def _plain(measure: str) -> str:
    """`Inventory turnover` as it stands inside a sentence; `EBITDA` and `R&D` stay as they are."""
    return measure[:1].lower() + measure[1:] if re.match(r"[A-Z][a-z]+\b", measure) else measure


def _over_time(intent: Intent) -> str:
    return {
        Relation.GROWTH: "growth of ",
        Relation.ANNUAL_GROWTH: "compound annual growth rate of ",
        Relation.CHANGE: "change in ",
        Relation.AVERAGE: "average ",
        Relation.TOTAL: "total ",
    }.get(intent.relation, "")


def _unit_of_result(intent: Intent) -> str:
    if intent.comparison is Comparison.RATIO:
        return "ratio"
    if intent.comparison is Comparison.EXCESS:
        return "percent"
    if intent.relation in (Relation.GROWTH, Relation.ANNUAL_GROWTH):
        return "percentage points" if intent.comparison is Comparison.DIFFERENCE else "percent"
    moved = intent.relation is Relation.CHANGE or intent.comparison is Comparison.DIFFERENCE
    return "percentage points" if moved and intent.measure_unit == "percent" else intent.measure_unit


def _number(part: object) -> float:
    if isinstance(part, bool) or not isinstance(part, int | float):
        raise SandboxError(f"the program returned {part!r}, which is no number", remedy="Return a number")
    return float(part)


def _rounded(value: float, decimals: int | None) -> float:
    """Half up, as people round; binary noise beyond ten significant digits is cut where no rounding was asked."""
    return float(f"{value:.10g}") if decimals is None else float(_half_up(value, decimals))


def _half_up(value: float, places: int) -> Decimal:
    rounded = Decimal(repr(value)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _ANY_SIZE)
    return rounded if rounded else abs(rounded)  # no -0.0


def _fixed(value: float, places: int) -> str:
    return f"{_half_up(value, places):,}"


def _places(value: float) -> int:
    return len(f"{_half_up(value, 3)}".rstrip("0").partition(".")[2])


def _known(unit: str) -> OutputUnit | None:
    known: dict[str, OutputUnit] = {name: name for name in get_args(OutputUnit)}
    return known.get(unit)
