"""The wording of an answer: its subject, its movement, yes or no, and the extreme period."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isclose

from fin_agent.answering.amounts import convert_to_unit, format_amount
from fin_agent.answering.program import Program
from fin_agent.evidence.expressions import parse_formula, years_of
from fin_agent.evidence.intent import Claim, Comparison, Intent, Relation
from fin_agent.evidence.plan import Plan


def subject_of(intent: Intent, plan: Plan) -> str:
    """Return the subject of a sentence, after the relation if there is one: `growth of revenue of Acme for FY2021`."""
    periods, (first, *others) = plan.periods, plan.companies
    span = _span(intent, plan, periods)
    measure, both = change_label(intent), " and ".join((first, *others))
    match intent.comparison:
        case Comparison.DIFFERENCE:
            subject = f"difference in {measure} between {first} and {others[0]}"
        case Comparison.EXCESS:
            subject = f"{measure} of {first} above that of {others[0]}, in percent of the latter"
        case Comparison.RATIO:
            subject = f"ratio of {measure} of {first} to that of {others[0]}"
        case Comparison.TOTAL:
            subject = f"combined {measure} of {both}"
        case Comparison.AVERAGE:
            subject = f"average {measure} of {both}"
        case _:
            subject = f"{measure} of {first}"
    own = {slot.period for slot in plan.slots()} if years_of(parse_formula(intent.expression)) else set(periods)
    return subject if own.isdisjoint(periods) else f"{subject} for {span}"  # the lines say their own periods


def _span(intent: Intent, plan: Plan, periods: Sequence[str]) -> str:
    """Return `FY2019` or `FY2017 to FY2019`; for a sum or mean of separate years, `FY2016 and FY2018`."""
    if len(periods) == 1:
        return periods[0]
    years = sorted({term.period.fiscal_year for term in plan.terms})
    gaps = intent.relation in (Relation.TOTAL, Relation.AVERAGE) and years != list(range(years[0], years[-1] + 1))
    return f"{', '.join(periods[:-1])} and {periods[-1]}" if gaps else f"{periods[0]} to {periods[-1]}"


def capitalize_first(text: str) -> str:
    """Return the text with a capital first letter, unless its first word has its own spelling: `iPhone revenue`."""
    return text if text[1:2].isupper() else text[:1].upper() + text[1:]


def change_label(intent: Intent) -> str:
    """Return the relation and the measure, without repetition: `growth of revenue`."""
    lead = {
        Relation.GROWTH: "growth of ",
        Relation.ANNUAL_GROWTH: "compound annual growth rate of ",
        Relation.CHANGE: "difference in " if intent.apart else "change in ",
        Relation.AVERAGE: "average ",
        Relation.TOTAL: "total ",
    }.get(intent.relation, "")
    ranked = intent.comparison in (Comparison.HIGHEST, Comparison.LOWEST)
    if intent.losses and ranked and intent.relation in (Relation.GROWTH, Relation.CHANGE):
        lead = "decline in "
    measure = measure_in_sentence(intent)
    if intent.relation in (Relation.GROWTH, Relation.ANNUAL_GROWTH, Relation.CHANGE):
        measure = re.sub(r"(?<=\w)\s+(?:growth|change|increase|decrease)(?: rates?)?$", "", measure, flags=re.I)
    return measure if lead and measure.lower().startswith(lead) else f"{lead}{measure}"


def measure_in_sentence(intent: Intent) -> str:
    """Return the measure for use inside a sentence: `inventory turnover`; `EBITDA`, `R&D` and names keep their case."""
    measure = intent.measure
    if measure.startswith(intent.parts or "\0"):
        return measure
    return measure[:1].lower() + measure[1:] if re.match(r"[A-Z][a-z]+\b", measure) else measure


def trend(intent: Intent, plan: Plan, listed: Sequence[ListedFigure], change: float, unit: str) -> str:
    """Describe how a figure moved.

    Example: `No: revenue of Acme fell by $24 million (23.8%), from $101 million in FY2018 to $77 million in FY2019.`
    `listed` are the figures of the plan's terms; `change` is the last minus the first, in `unit`.
    """
    first, last = plan.terms[0].period, plan.terms[-1].period
    subject = f"{measure_in_sentence(intent)} of {plan.terms[0].company.name}"
    lead = _matches_claimed_movement(intent, change)
    subject = subject if lead else capitalize_first(subject)
    if not change:
        return f"{lead}{subject} did not change from {first} to {last}: it stayed at {listed[-1].text}."
    by = format_amount(abs(change), "percentage points" if unit == "percent" else unit, _places(intent, unit))
    if unit not in ("percent", "ratio") and min(one.value for one in listed) > 0:
        by += f" ({format_amount(abs(100 * change / listed[0].value), 'percent')})"
    rose, fell = ("narrowed", "widened") if intent.losses else ("rose", "fell")
    moved = f"{rose if change > 0 else fell} by {by}"
    return f"{lead}{subject} {moved}, from {listed[0].text} in {first} to {listed[-1].text} in {last}."


def change_endpoints(intent: Intent, plan: Plan, program: Program, moved: float, ends: Sequence[float]) -> str:
    """Return both ends of a change with its other measure: ` (from $20 in FY2022 to $19 in FY2023, down 5.0%)`.

    `ends` are both if the program returns them; otherwise two printed figures that explain `moved` are used.
    """
    before, after = ends or _printed(intent, program, moved) or (None, None)
    if before is None or after is None:
        return ""
    levels = [convert_to_unit(level, intent.measure_unit, program.scale, intent.unit) for level in (before, after)]
    first, last = (format_amount(value, unit, _places(intent, unit)) for value, unit in levels)
    span = f"from {first} in {plan.terms[0].period} to {last} in {plan.terms[-1].period}"
    return f" ({span}{_other_measure(intent, levels)})"


def _other_measure(intent: Intent, levels: Sequence[tuple[float, str]]) -> str:
    """Return the growth in percent of a change in amounts, or the change of a growth: `, down 5.0%`."""
    (before, unit), (after, _) = levels
    moved = after - before
    if (
        unit in ("percent", "ratio")
        or not moved
        or min(before, after) <= 0
        or intent.relation is Relation.ANNUAL_GROWTH
    ):
        return ""
    grown = intent.relation is Relation.GROWTH
    other = format_amount(abs(moved), unit) if grown else format_amount(abs(100 * moved / before), "percent")
    return f", {'up' if moved > 0 else 'down'} {other}"


def _printed(intent: Intent, program: Program, moved: float) -> tuple[float, float] | None:
    if intent.relation not in (Relation.GROWTH, Relation.CHANGE) or len(program.variables) != 2:
        return None
    scale = program.scale if intent.measure_unit in ("USD", "shares") else 1
    before, after = (float(figure.value / scale) for figure in program.variables.values())
    change = after - before if intent.relation is Relation.CHANGE else 100 * (after - before) / (abs(before) or 1.0)
    if intent.apart or max(before, after) < 0:  # told by its size
        change, moved = abs(change), abs(moved)
    return (before, after) if isclose(change, moved, rel_tol=1e-9, abs_tol=1e-9) else None


def _places(intent: Intent, unit: str) -> int | None:
    """Return the decimals for the ends of a change: those requested for a growth in percent do not apply to dollars."""
    grown = intent.relation in (Relation.GROWTH, Relation.ANNUAL_GROWTH)
    return None if grown or unit == "percent" else intent.decimals


def _matches_claimed_movement(intent: Intent, change: float) -> str:
    if " or " in intent.core.lower() or _NO_CLAIM.match(intent.core):
        return ""
    above = intent.claim.above if intent.claim else None
    if intent.losses:
        rising = not asks_for_growing_loss(intent.core)
    else:
        rising = asks_for_increase(intent.core) if above is None else above
    return "Yes: " if change and rising == (change > 0) else "No: "


_NO_CLAIM = re.compile(r"^\W*(?:how|what|compare|describe|show|tell me how)\b", re.I)


@dataclass(frozen=True, slots=True)
class ListedFigure:
    """A figure of an answer."""

    name: str
    value: float
    text: str
    """The formatted value."""
    number: float = 0.0
    """The program's own result, before conversion to a unit."""


def listing(figures: Iterable[ListedFigure], *, without: Sequence[ListedFigure] = ()) -> str:
    """Return figures in a row, such as `Acme: $5 million; Bolt: $4 million`."""
    return "; ".join(f"{one.name}: {one.text}" for one in figures if one not in without)


def claim_verdict(claim: Claim | None, value: float, scale: float) -> str:
    """Return `Yes: ` or `No: ` for a claim about a bound; empty if there is none.

    Base units are `value * scale`.
    """
    if claim is None or claim.bound is None:
        return ""
    against = value * scale - claim.bound
    level = claim.equal and abs(against) <= claim.within + abs(claim.bound) * 1e-9
    return _verdict(level or (claim.above is not None and (against > 0 if claim.above else against < 0)))


def superlative_verdict(intent: Intent, best: str) -> str:
    """Return `Yes: ` or `No: ` for the claim that a company stands out; `best` is the name of the one that does."""
    if intent.claim is None or intent.claim.bound is not None or not intent.companies:
        return ""
    return _verdict(best == intent.companies[0].name)


def describe_extreme(
    comparison: Comparison, listed: Sequence[ListedFigure], *, losses: bool, place: int = 1
) -> tuple[ListedFigure, str, str]:
    """Return the extreme figure, the others as text, and the degree; the highest loss is the most negative.

    `place` is 2 for the second highest.
    """
    if 1 < place <= len(listed):
        ranked = sorted(listed, key=lambda one: one.value, reverse=(comparison is Comparison.HIGHEST) is not losses)
        best = ranked[place - 1]
        return best, listing(listed, without=[best]), f"{_ORDINALS.get(place, f'{place}th')} {comparison.value}"
    highest = (comparison is Comparison.HIGHEST) is not losses
    ranked = [one for one in listed if not losses or one.value < 0]
    best = (max if highest else min)(ranked, key=lambda one: one.value)
    return best, listing(listed, without=[best]), superlative(comparison, len(listed), losses=losses)


_ORDINALS = {2: "second", 3: "third"}


def superlative(comparison: Comparison, count: int, *, losses: bool = False) -> str:
    """Return the degree: `highest`, `higher` for two, `largest` for losses."""
    if losses:
        return {Comparison.HIGHEST: "largest", Comparison.LOWEST: "smallest"}[comparison]
    if count == 2:
        return {Comparison.HIGHEST: "higher", Comparison.LOWEST: "lower"}[comparison]
    return comparison.value


def missing_losses(intent: Intent, values: Sequence[float]) -> str:
    """Return why losses cannot be compared: none is negative or, for a trend, not all are; empty if they can."""
    below = sum(value < 0 for value in values)
    if intent.comparison in (Comparison.HIGHEST, Comparison.LOWEST):
        return "" if below else "None of these is below zero:"
    return "" if below == len(values) else f"{'Not all' if below else 'None'} of these are below zero:"


def best_period(
    comparison: Comparison, subject: str, listed: Sequence[ListedFigure], *, losses: bool = False, place: int = 1
) -> tuple[ListedFigure, str]:
    """Return the extreme period and a sentence; `subject` is the measure and its company."""
    best, others, degree = describe_extreme(comparison, listed, losses=losses, place=place)
    level = [one.name for one in listed if one.value == best.value]
    if len(level) > 1:
        return best, f"No period stands out: {subject} was {best.text} in {' and '.join(level)} ({others})."
    return best, f"{best.name}: {best.text} ({others}). {subject[:1].upper()}{subject[1:]} was {degree} in {best.name}."


def every_year_verdict(core: str, subject: str, listed: Sequence[ListedFigure], *, losses: bool = False) -> str:
    """Return a verdict such as `Yes: revenue of Acme rose every year (FY2020: ...)`."""
    moved = matches_direction(core, listed, losses=losses)
    against = [one.name for one, held in zip(listed[1:], moved, strict=True) if not held]
    infinitive, past = ("rise", "rose") if asks_for_increase(core) else ("fall", "fell")
    if against:
        return f"No: {subject} did not {infinitive} in {' and '.join(against)} ({listing(listed)})."
    return f"Yes: {subject} {past} every year ({listing(listed)})."


def count_matching_years(intent: Intent, subject: str, listed: Sequence[ListedFigure], scale: float) -> tuple[int, str]:
    """Return the number of years beyond the question's bound, or else with the requested movement, and a sentence."""
    claim = intent.claim
    if claim is not None and claim.bound is not None:
        held = [claim_verdict(claim, one.number, scale) == _verdict(True) for one in listed]
        beyond = "" if claim.above is None else "above " if claim.above else "below "
        years, way = listed, f"was {beyond}{'that' if claim.bound else 'zero'}"
    else:
        held = matches_direction(intent.core, listed, losses=intent.losses)
        years, way = listed[1:], "rose" if asks_for_increase(intent.core) else "fell"
    named = ", ".join(one.name for one, true in zip(years, held, strict=True) if true) or "none of them"
    return sum(held), f"In {sum(held)} of {len(held)} years: {subject} {way} in {named} ({listing(listed)})."


def matches_direction(core: str, listed: Sequence[ListedFigure], *, losses: bool = False) -> list[bool]:
    """Return whether each figure after the first moved in the requested direction."""
    rising = not asks_for_growing_loss(core) if losses else asks_for_increase(core)
    return [after.value > before.value if rising else after.value < before.value for before, after in pairwise(listed)]


def asks_for_increase(core: str) -> bool:
    """Return whether the question is about a rise; otherwise it is about a fall."""
    return _FALLING.search(core) is None


def asks_for_growing_loss(core: str) -> bool:
    """Return whether the question is about a growing loss: one that worsens grows, one that improves shrinks."""
    if _WORSENING.search(core):
        return True
    return asks_for_increase(core) and _IMPROVING.search(core) is None


_WORSENING = re.compile(r"worsen|deteriorat|deepen", re.I)
_IMPROVING = re.compile(r"\bimprov|\bsmaller\b|\bless\b|\bbetter\b", re.I)


def _verdict(holds: bool) -> str:
    return "Yes: " if holds else "No: "


_FALLING = re.compile(
    r"declin|decreas|fall|fell|drop|reduc|shr[iau]nk|worsen|deteriorat|lower|contract(?!s\b)|narrow| down|slow"
    r"|decelerat|weaken|moderat|cool",
    re.I,
)
