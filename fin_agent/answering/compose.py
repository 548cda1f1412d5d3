"""From a program's result to an answer for people: value, unit, one sentence, citations; or a refusal."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_agent.answering.amounts import rounded, shown
from fin_agent.answering.answer import AnswerValue, Citation
from fin_agent.answering.movement import from_and_to, trend
from fin_agent.answering.program import Program, in_unit
from fin_agent.answering.result_units import known_unit, unit_of_result
from fin_agent.answering.sandbox import ProgramValue
from fin_agent.answering.several import of_each_measure
from fin_agent.answering.subjects import capital, moved_measure, plain, subject_of
from fin_agent.answering.verdicts import (
    Listed,
    asked_to_rise,
    best_period,
    every_year,
    extreme_of,
    first_stands_out,
    without_losses,
    years_counted,
    yes_or_no,
)
from fin_agent.errors import SandboxError
from fin_agent.evidence.intent import Comparison, Intent, Relation, Selection
from fin_agent.evidence.ledger import Figure
from fin_agent.evidence.plan import Plan
from fin_agent.evidence.signs import LOSS_OF


def numeric_answer(intent: Intent, plan: Plan, program: Program, result: ProgramValue) -> AnswerValue:
    """The answer in words and as a value in its unit. Raises SandboxError where the result is no number.

    Of several numbers the value is the one asked for: the extreme of a comparison, else the latest.
    """
    numbers = [_number(part) for part in (result if isinstance(result, list) else [result])]
    asked = len(numbers) - len(program.beside)
    if asked < 1:
        raise SandboxError(f"the program returned {result!r}, which is too few numbers", remedy="Return all of them")
    numbers, beside = numbers[:asked], numbers[asked:]
    if intent.further:
        if len(numbers) != len(program.names):
            raise SandboxError(f"the program returned {result!r}", remedy=f"Return {len(program.names)} numbers")
        return of_each_measure(intent, plan, program, numbers)
    computed = unit_of_result(intent)
    converted = [in_unit(number, computed, program.scale, intent.unit) for number in numbers]
    unit = converted[0][1]
    values = [rounded(value, intent.decimals) for value, _ in converted]
    base = program.scale if computed == "USD" else 1
    if len(values) == 1:
        if intent.expression.startswith(LOSS_OF) and any(level <= 0 for level in beside):
            text = _side_by_side(intent, [str(plan.terms[place].period) for place in (0, -1)], list(beside), "")
            return AnswerValue(text=f"Not every figure is a loss. {text}")
        value = values[0]
        moved = from_and_to(intent, plan, program, numbers[0], beside)
        lead = _moved_as_asked(intent, numbers[0], base) or yes_or_no(intent.claim, numbers[0], base)
        if unit == "percentage points" and _BASIS_POINTS.search(intent.core):
            moved = f", {shown(100 * value, 'basis points', 0)}{moved}"
        subject = subject_of(intent, plan)
        text = f"{lead}{subject if lead else capital(subject)}: {shown(value, unit, intent.decimals)}{moved}."
        return AnswerValue(value=value, unit=known_unit(unit), text=text)
    if intent.losses and (none := without_losses(intent, values)):
        return AnswerValue(text=f"{none} {_side_by_side(intent, program.names, values, unit)}")
    if intent.selection is not None:
        return _of_the_chosen(intent, intent.selection, plan, program, numbers)
    written = [shown(value, unit, intent.decimals) for value in values]
    listed = list(zip(program.names, values, written, strict=True))
    if len(plan.by_company()) == 1 and (over := _over_periods(intent, plan, listed, numbers, unit, base)):
        return over
    if intent.comparison in (Comparison.HIGHEST, Comparison.LOWEST):
        return _extreme(intent, listed, unit)
    if intent.relation is Relation.TREND:
        moved_by = beside[0] if beside else numbers[-1] - numbers[0]
        change, _ = in_unit(moved_by, computed, program.scale, intent.unit)
        text = trend(intent, plan, written, change, unit)
        return AnswerValue(value=values[-1], unit=known_unit(unit), text=text)
    # Several figures side by side: none of them is *the* value.
    return AnswerValue(text=_side_by_side(intent, program.names, values, unit))


def _side_by_side(intent: Intent, names: Sequence[str], values: Sequence[float], unit: str) -> str:
    figures = (f"{name}: {shown(value, unit, intent.decimals)}" for name, value in zip(names, values, strict=True))
    return f"{capital(intent.measure)}: {'; '.join(figures)}."


_BASIS_POINTS = re.compile(r"\bbasis points?\b|\bbps\b", re.I)


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


def _over_periods(
    intent: Intent,
    plan: Plan,
    listed: Sequence[tuple[str, float, str]],
    numbers: Sequence[float],
    unit: str,
    scale: float,
) -> AnswerValue | None:
    """One company's periods set against each other; None where each is wanted as it is, or only first and last."""
    subject = f"{plain(intent)} of {plan.terms[0].company.name}"
    of_periods = [
        Listed(str(term.period), value, text, number)
        for term, (_, value, text), number in zip(plan.terms, listed, numbers, strict=True)
    ]
    if intent.relation is Relation.YEARS_COUNTED:
        counted, text = years_counted(intent, subject, of_periods, scale)
        return AnswerValue(value=float(counted), unit=known_unit("count"), text=text)
    if intent.relation is Relation.EVERY_YEAR:
        text = every_year(intent.core, subject, of_periods, losses=intent.losses)
        return AnswerValue(value=of_periods[-1].value, unit=known_unit(unit), text=text)
    if intent.comparison not in (Comparison.HIGHEST, Comparison.LOWEST):
        return None
    best, text = best_period(intent.comparison, subject, of_periods, losses=intent.losses)
    return AnswerValue(value=best.value, unit=known_unit(unit), text=text)


def _moved_as_asked(intent: Intent, change: float, scale: float) -> str:
    """`Yes: ` or `No: ` in front of a change, where the question asks whether it moved and by how much."""
    core = intent.core.lower()
    if intent.relation not in (Relation.GROWTH, Relation.CHANGE) or " or " in core or not _YES_OR_NO.match(core):
        return ""
    if intent.claim is not None and _GROWTH_RATE.search(core):
        return yes_or_no(intent.claim, change, scale)
    as_asked = change != 0 and asked_to_rise(core) == (change > 0)
    if as_asked and intent.claim is not None and intent.claim.bound is not None:
        return yes_or_no(intent.claim, abs(change), scale)
    return "Yes: " if as_asked else "No: "


_GROWTH_RATE = re.compile(r"\bgrowth\b")
_YES_OR_NO = re.compile(r"^\W*(?:so,?\s+|and\s+)?(?:is|are|was|were|did|does|do|has|have|had)\b")


def _extreme(intent: Intent, listed: Sequence[tuple[str, float, str]], unit: str) -> AnswerValue:
    ranked = [entry for entry in listed if not intent.losses or entry[1] < 0]
    name, value, text = extreme_of(intent.comparison, ranked, lambda entry: entry[1], losses=intent.losses)
    others = "; ".join(f"{other}: {other_text}" for other, _, other_text in listed if other != name)
    degree = intent.comparison.value
    if intent.losses:
        degree = {Comparison.HIGHEST: "largest", Comparison.LOWEST: "smallest"}[intent.comparison]
    elif len(listed) == 2:
        degree = {Comparison.HIGHEST: "higher", Comparison.LOWEST: "lower"}[intent.comparison]
    if sum(other == value for _, other, _ in listed) > 1:
        same = f"No company stands out: {moved_measure(intent)} is {text} ({others})."
        return AnswerValue(value=value, unit=known_unit(unit), text=same)
    return AnswerValue(
        value=value,
        unit=known_unit(unit),
        text=f"{first_stands_out(intent, name)}{name} has the {degree} {moved_measure(intent)}: {text} ({others}).",
    )


def _of_the_chosen(
    intent: Intent, selection: Selection, plan: Plan, program: Program, numbers: Sequence[float]
) -> AnswerValue:
    """`Net income of Acme for FY2020: $5 million. Acme has the higher revenue: $90 million (Bolt: $70 million).`"""
    asked, unit = in_unit(numbers[0], unit_of_result(intent), program.scale, intent.unit)
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
    ranks = [in_unit(number, unit_of_result(ranking), program.scale, None) for number in numbers[1:]]
    listed = [(name, value, shown(value, of, None)) for name, (value, of) in zip(program.names[1:], ranks, strict=True)]
    if selection.expression.startswith(LOSS_OF) and max(value for _, value, _ in listed) <= 0:
        return AnswerValue(text=f"None of these is a loss: {'; '.join(f'{name}: {text}' for name, _, text in listed)}.")
    value = rounded(asked, intent.decimals)
    own = Plan(tuple(term for term in plan.terms if term.company.name == chosen), plan.notes)
    said = f"{capital(subject_of(intent, own))}: {shown(value, unit, intent.decimals)}."
    text = f"{said} {_extreme(ranking, listed, '').text}"
    return AnswerValue(value=value, unit=known_unit(unit), text=text)


def _number(part: object) -> float:
    if isinstance(part, bool) or not isinstance(part, int | float):
        raise SandboxError(f"the program returned {part!r}, which is no number", remedy="Return a number")
    return float(part)
