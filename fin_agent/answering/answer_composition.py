"""Compose an answer from a program's result: value, unit, sentence, citations, assumptions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import itemgetter

from fin_agent.answering.amounts import convert_to_unit, format_amount, rounded, supported_unit, unit_of_result
from fin_agent.answering.answer import AnswerValue, Citation
from fin_agent.answering.answer_wording import (
    ListedFigure,
    asks_for_increase,
    best_period,
    capitalize_first,
    change_endpoints,
    change_label,
    claim_verdict,
    count_matching_years,
    describe_extreme,
    every_year_verdict,
    listing,
    measure_in_sentence,
    missing_losses,
    subject_of,
    superlative,
    superlative_verdict,
    trend,
)
from fin_agent.answering.program import Program
from fin_agent.answering.sandbox import ProgramValue
from fin_agent.errors import SandboxError
from fin_agent.evidence.expressions import Operation, parse_formula, quantities_of, slots_assumed_zero
from fin_agent.evidence.intent import Comparison, Intent, Relation, Selection
from fin_agent.evidence.plan import Plan, Term, by_company, by_measure, selected_terms
from fin_agent.evidence.sign_conventions import LOSS_OF
from fin_agent.evidence.slot_ledger import Figure, Ledger
from fin_agent.lexicon.entry_loading import Formula
from fin_agent.lexicon.fiscal_periods import FiscalYears


def numeric_answer(intent: Intent, plan: Plan, program: Program, result: ProgramValue) -> AnswerValue:
    """Return the answer as text and as a value in its unit.

    Of several numbers, the value is the requested one: the extreme of a comparison, else the latest.

    Raises:
        SandboxError: The result is not a number, or too few numbers.
    """
    numbers = [_number(part) for part in (result if isinstance(result, list) else [result])]
    asked = len(numbers) - len(program.beside)
    if asked < 1:
        raise SandboxError(f"the program returned {result!r}, which is too few numbers", remedy="Return all of them")
    numbers, beside = numbers[:asked], numbers[asked:]
    if intent.further:
        if len(numbers) != len(program.names):
            raise SandboxError(f"the program returned {result!r}", remedy=f"Return {len(program.names)} numbers")
        return _answer_per_measure(intent, plan, program, numbers)
    if _are_shares(intent, [*numbers, *beside]):
        intent = intent.model_copy(update={"measure_unit": "percent"})
        numbers, beside = ([100 * each for each in some] for some in (numbers, beside))
    computed = unit_of_result(intent)
    converted = [convert_to_unit(number, computed, program.scale, intent.unit) for number in numbers]
    unit = converted[0][1]
    values = [rounded(value, intent.decimals) for value, _ in converted]
    base = program.scale if computed == "USD" else 1
    if len(values) == 1:
        if intent.expression.startswith(LOSS_OF) and any(level <= 0 for level in beside):
            text = _figures_side_by_side(intent, [str(plan.terms[place].period) for place in (0, -1)], list(beside), "")
            return AnswerValue(text=f"Not every figure is a loss. {text}")
        value = values[0]
        moved = change_endpoints(intent, plan, program, numbers[0], beside)
        lead = _movement_verdict(intent, numbers[0], base) or claim_verdict(intent.claim, numbers[0], base)
        if unit in ("percentage points", "percent") and _BASIS_POINTS.search(intent.core):
            moved = f", {format_amount(100 * value, 'basis points', 0)}{moved}"
        subject = subject_of(intent, plan)
        written = format_amount(value, unit, intent.decimals)
        written = written if moved else _as_share(written, numbers[0], unit, intent)
        if program.worked and not moved:
            written = f"{program.worked.removeprefix('100 * ')} = {written}"
        text = f"{lead}{subject if lead else capitalize_first(subject)}: {written}{moved}."
        return _valued(value, unit, text)
    counted = intent.relation is Relation.YEARS_COUNTED
    if intent.losses and not counted and (none := missing_losses(intent, values)):
        return AnswerValue(text=f"{none} {_figures_side_by_side(intent, program.names, values, unit)}")
    if intent.selection is not None:
        return _answer_for_selected_company(intent, intent.selection, plan, program, numbers)
    names, of = _names_of_parts(intent, program.names)
    listed = [
        ListedFigure(name, value, format_amount(value, unit, intent.decimals), number)
        for name, value, number in zip(names, values, numbers, strict=True)
    ]
    if len(by_company(plan.terms)) == 1 and (over := _compare_periods(intent, plan, listed, unit, base)):
        return over
    if intent.comparison in (Comparison.HIGHEST, Comparison.LOWEST):
        return _extreme(intent, listed, unit, of)
    if intent.comparison in (Comparison.RANK, Comparison.FILTER):
        return _ranked_answer(intent, listed, unit, base, of)
    if intent.relation is Relation.TREND:
        moved_by = beside[0] if beside else numbers[-1] - numbers[0]
        change, _ = convert_to_unit(moved_by, computed, program.scale, intent.unit)
        text = trend(intent, plan, listed, change, unit)
        return _valued(values[-1], unit, text)
    # Several figures are listed: none of them is *the* value.
    return AnswerValue(text=_figures_side_by_side(intent, program.names, values, unit))


def _valued(value: float, unit: str, text: str) -> AnswerValue:
    return AnswerValue(value=value, unit=supported_unit(unit), text=text)


def _as_share(written: str, number: float, unit: str, intent: Intent) -> str:
    """Return a quotient below one in percent as well: it is a share of something."""
    if unit != "ratio" or abs(number) >= 1 or not isinstance(parse_formula(intent.expression), Operation):
        return written
    return f"{format_amount(100 * number, 'percent', intent.decimals)} ({written})"


def _are_shares(intent: Intent, numbers: Sequence[float]) -> bool:
    """Return whether several numbers are quotients below one, which are told in percent: `capex / revenue`."""
    if len(numbers) < 2 or unit_of_result(intent) != "ratio" or intent.unit or (intent.claim and intent.claim.bound):
        return False
    quotient = intent.comparison is not Comparison.RATIO and isinstance(parse_formula(intent.expression), Operation)
    return quotient and all(abs(each) < 1 for each in numbers)


def _names_of_parts(intent: Intent, names: Sequence[str]) -> tuple[list[str], str]:
    """Return the names of one company's parts without its own, and ` of Acme`; other names as they are."""
    filers = {one.name.removeprefix(f"{one.part} of ") if one.part else "" for one in intent.companies}
    if len(filers) != 1 or not (filer := filers.pop()):
        return list(names), ""
    return [name.replace(f" of {filer}", "", 1) for name in names], f" of {filer}"


def _figures_side_by_side(intent: Intent, names: Sequence[str], values: Sequence[float], unit: str) -> str:
    names, of = _names_of_parts(intent, names)
    figures = (
        f"{name}: {format_amount(value, unit, intent.decimals)}" for name, value in zip(names, values, strict=True)
    )
    return f"{capitalize_first(intent.measure)}{of}: {'; '.join(figures)}."


_BASIS_POINTS = re.compile(r"\bbasis points?\b|\bbps?\b", re.I)


def citations_of(figures: Sequence[Figure]) -> tuple[Citation, ...]:
    """Return a citation per figure, without duplicate places."""
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


def _compare_periods(
    intent: Intent, plan: Plan, listed: Sequence[ListedFigure], unit: str, scale: float
) -> AnswerValue | None:
    """Compare the periods of one company; None if each is wanted as it is, or only the first and last."""
    subject = f"{measure_in_sentence(intent)} of {plan.terms[0].company.name}"
    of_periods = [replace(one, name=str(term.period)) for term, one in zip(plan.terms, listed, strict=True)]
    if intent.relation is Relation.YEARS_COUNTED:
        counted, text = count_matching_years(intent, subject, of_periods, scale)
        return _valued(counted, "count", text)
    if intent.relation is Relation.EVERY_YEAR:
        text = every_year_verdict(intent.core, subject, of_periods, losses=intent.losses)
        return _valued(of_periods[-1].value, unit, text)
    if intent.comparison is Comparison.FILTER:
        return _ranked_answer(intent, of_periods, unit, scale)
    if intent.comparison not in (Comparison.HIGHEST, Comparison.LOWEST):
        return None
    best, text = best_period(intent.comparison, subject, of_periods, losses=intent.losses, place=intent.place)
    return _valued(best.value, unit, text)


def _movement_verdict(intent: Intent, change: float, scale: float) -> str:
    """Return `Yes: ` or `No: ` for a change, if the question asks whether it moved and by how much."""
    core = intent.core.lower()
    if intent.relation not in (Relation.GROWTH, Relation.CHANGE) or " or " in core or not _IS_OR_DID.match(core):
        return ""
    if intent.claim is not None and _GROWTH_RATE.search(core):
        return claim_verdict(intent.claim, change, scale)
    as_asked = change != 0 and asks_for_increase(core) == (change > 0)
    if as_asked and intent.claim is not None and intent.claim.bound is not None:
        return claim_verdict(intent.claim, abs(change), scale)
    return "Yes: " if as_asked else "No: "


_GROWTH_RATE = re.compile(r"\bgrowth\b")
_IS_OR_DID = re.compile(r"^\W*(?:so,?\s+|and\s+)?(?:is|are|was|were|did|does|do|has|have|had)\b")


def _extreme(intent: Intent, listed: Sequence[ListedFigure], unit: str, of: str = "") -> AnswerValue:
    """State which figure stands out; `of` names the company whose parts are compared, as in ` of Acme`."""
    best, others, degree = describe_extreme(intent.comparison, listed, losses=intent.losses, place=intent.place)
    measure = change_label(intent)
    if sum(one.value == best.value for one in listed) > 1:
        text = f"No company stands out: {measure} is {best.text} ({others})."
    else:
        lead = superlative_verdict(intent, f"{best.name}{of}")
        beside = f"{others}{_apart(intent, listed, best, unit)}"
        text = f"{lead}{best.name}{of} has the {degree} {measure}: {best.text} ({beside})."
    return _valued(best.value, unit, text)


def _apart(intent: Intent, listed: Sequence[ListedFigure], best: ListedFigure, unit: str) -> str:
    """Return the difference of two figures that are compared, or from the next: `, 4.4 percentage points apart`.

    The first of several is held against the second, and any other place against the first.
    """
    if len(listed) < 2 or not unit:
        return ""
    others = [one for one in listed if one is not best]
    if intent.place > 1:
        highest = (intent.comparison is Comparison.HIGHEST) is not intent.losses
        other = (max if highest else min)(others, key=lambda one: one.value)
    else:
        other = min(others, key=lambda one: abs(one.value - best.value))
    between = float(f"{abs(best.value - other.value):.10g}")
    unit = "percentage points" if unit == "percent" else unit
    written = f"{format_amount(between, unit, intent.decimals)} apart"
    return f", {written}" if len(listed) == 2 else f"; {written} from {other.name}"


def _ranked_answer(
    intent: Intent, listed: Sequence[ListedFigure], unit: str, scale: float, of: str = ""
) -> AnswerValue:
    """Return all members in descending order, periods in time; for a claim (`which regions shrank`), the true first."""
    measure = f"{capitalize_first(change_label(intent))}{of}"
    ordered = list(listed) if len(intent.periods) > 1 else sorted(listed, key=lambda one: -one.value)
    if intent.comparison is Comparison.RANK:
        figures = "; ".join(f"{place}. {one.name}: {one.text}" for place, one in enumerate(ordered, 1))
        return AnswerValue(text=f"{measure}: {figures}.")
    held = [one for one in ordered if claim_verdict(intent.claim, one.number, scale) == "Yes: "]
    others, named = listing(ordered, without=held) or "none", listing(held) or "None of them"
    text = f"{named} ({measure}; the others: {others})."
    if len(held) != 1:
        return AnswerValue(text=text)
    return _valued(held[0].value, unit, text)


def _answer_for_selected_company(
    intent: Intent, selection: Selection, plan: Plan, program: Program, numbers: Sequence[float]
) -> AnswerValue:
    """State the figure of a company that another figure selected.

    Example: `Net income of Acme for FY2020: $5 million. Acme has the higher revenue: $90 million (Bolt: $70 million).`
    """
    asked, unit = convert_to_unit(numbers[0], unit_of_result(intent), program.scale, intent.unit)
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
    ranks = [convert_to_unit(number, unit_of_result(ranking), program.scale, None) for number in numbers[1:]]
    listed = [
        ListedFigure(name, value, format_amount(value, of, None))
        for name, (value, of) in zip(program.names[1:], ranks, strict=True)
    ]
    if selection.expression.startswith(LOSS_OF) and max(one.value for one in listed) <= 0:
        return AnswerValue(text=f"None of these is a loss: {listing(listed)}.")
    value = rounded(asked, intent.decimals)
    own = Plan(tuple(term for term in plan.terms if term.company.name == chosen), plan.notes)
    said = f"{capitalize_first(subject_of(intent, own))}: {format_amount(value, unit, intent.decimals)}."
    text = f"{said} {_extreme(ranking, listed, '').text}"
    return _valued(value, unit, text)


def _number(part: object) -> float:
    if isinstance(part, bool) or not isinstance(part, int | float):
        raise SandboxError(f"the program returned {part!r}, which is not a number", remedy="Return a number")
    return float(part)


def _answer_per_measure(intent: Intent, plan: Plan, program: Program, numbers: Sequence[float]) -> AnswerValue:
    """Return `Revenue of Acme for FY2020: $90 million; net income: $5 million.`, without a single value.

    If the question asks which measure stands out, that measure's figure is the value.
    """
    told = list(_figures_by_measure(intent, plan, program, numbers))
    if intent.comparison in (Comparison.HIGHEST, Comparison.LOWEST):
        return _describe_extreme_measure(intent, told)
    first = told[0]
    if len(first.plan.companies) > 1:
        text = " ".join(f"{capitalize_first(change_label(one.intent))}{one.span}: {one.listed}." for one in told)
    elif intent.relation is Relation.TREND:
        text = _describe_movements(intent, told)
    else:
        of_company = f"{change_label(first.intent)} of {first.plan.companies[0]}"
        subject = subject_of(first.intent, first.plan) if len(first.figures) == 1 else of_company
        others = (f"{change_label(one.intent)}: {one.listed}" for one in told[1:])
        text = f"{capitalize_first(subject)}: {'; '.join((first.listed, *others))}."
    return AnswerValue(text=text)


@dataclass(frozen=True, slots=True)
class _MeasureFigures:
    """One measure with its figures."""

    intent: Intent
    """The intent limited to this measure."""
    plan: Plan
    figures: tuple[ListedFigure, ...]
    """One per company if its periods are combined, else one per term; each with the name of its company."""
    unit: str

    @property
    def span(self) -> str:
        """` for FY2021` if the figures do not include their periods, else empty."""
        first, *later = self.plan.periods
        if self.intent.relation is Relation.EACH:
            return ""
        return f" for {first}" + (f" to {later[-1]}" if later else "")

    @property
    def listed(self) -> str:
        """The figures as text."""
        if len(self.plan.companies) > 1:
            return ", ".join(f"{figure.name}: {figure.text}" for figure in self.figures)
        if len(self.figures) == 1:
            return self.figures[0].text
        held = zip(self.figures, self.plan.periods, strict=True)
        return ", ".join(f"{figure.text} in {period}" for figure, period in held)


def _figures_by_measure(
    intent: Intent, plan: Plan, program: Program, numbers: Sequence[float]
) -> Iterator[_MeasureFigures]:
    held = iter(zip(program.names, numbers, strict=True))
    for measure, terms in zip(intent.measures, by_measure(plan.terms), strict=True):
        alone = intent.of_measure(measure)
        unit = computed = unit_of_result(alone)
        figures = []
        each_term = intent.relation in (Relation.EACH, Relation.TREND)
        for name, number in islice(held, len(terms) if each_term else len(by_company(terms))):
            value, unit = convert_to_unit(number, computed, program.scale, alone.unit)
            value = rounded(value, intent.decimals)
            written = _as_share(format_amount(value, unit, intent.decimals), number, unit, alone)
            figures.append(ListedFigure(name, value, written))
        yield _MeasureFigures(alone, Plan(tuple(terms), ()), tuple(figures), unit)


def _describe_movements(intent: Intent, told: Sequence[_MeasureFigures]) -> str:
    """State how several measures moved: `No: revenue of Acme rose from $3 million in FY2018 to ...; net income ...`."""
    first, last = told[0].plan.periods[0], told[0].plan.periods[-1]
    parts = []
    for place, one in enumerate(told):
        before, after = one.figures[0], one.figures[-1]
        way = "rose" if after.value > before.value else "fell" if after.value < before.value else "did not change,"
        subject = f"{measure_in_sentence(one.intent)}{'' if place else f' of {one.plan.companies[0]}'}"
        parts.append(f"{subject} {way} from {before.text} in {first} to {after.text} in {last}")
    said = "; ".join(parts)
    if not _YES_OR_NO.match(intent.core) or _OWN_WAYS.search(intent.core):
        return f"{capitalize_first(said)}."
    rising = asks_for_increase(intent.core)
    moves = (one.figures[-1].value - one.figures[0].value for one in told)
    held = all(move != 0 and (move > 0) == rising for move in moves)
    return f"{'Yes' if held else 'No'}: {said}."


_OWN_WAYS = re.compile(r"\b(?:or|though|although|while|whereas|but|despite)\b", re.I)
"""Words that join movements of which each has its own way: `did inventories rise though sales fell`."""
_YES_OR_NO = re.compile(r"^\W*(?:is|are|was|were|did|does|do|has|have|had)\b", re.I)


_BY_SIZE = re.compile(r"\b(?:larg|bigg|great|small)(?:er|est)\b", re.I)


def _describe_extreme_measure(intent: Intent, told: Sequence[_MeasureFigures]) -> AnswerValue:
    """State which of several measures stands out.

    Example: `Net income of Acme for FY2020: $5 million (dividends: $3 million). Of these it is the higher.`
    """
    listed = [replace(one.figures[0], name=change_label(one.intent)) for one in told]
    if _BY_SIZE.search(intent.core) and any(one.value < 0 for one in listed):
        said = capitalize_first(listing(listed))
        return AnswerValue(text=f"Some are below zero, so none is called the larger. {said}.")
    pick = max if intent.comparison is Comparison.HIGHEST else min
    figure = pick(listed, key=lambda one: one.value)
    best = told[listed.index(figure)]
    level = sum(one.value == figure.value for one in listed) > 1
    said = "They are level." if level else f"Of these it is the {superlative(intent.comparison, len(told))}."
    others = listing(listed, without=[figure])
    text = f"{capitalize_first(subject_of(best.intent, best.plan))}: {figure.text} ({others}). {said}"
    return _valued(figure.value, best.unit, text)


_DECEMBER = 12


def assumptions(
    plan: Plan, intent: Intent, ledger: Ledger, years: Mapping[str, FiscalYears], formulas: Mapping[str, Formula]
) -> tuple[str, ...]:
    """Return the assumptions of an answer: definitions, unreported items that count as zero, non-calendar years.

    Args:
        plan: The plan.
        intent: Its intent.
        ledger: The figures.
        years: Period ends of each filer, by company key.
        formulas: The lexicon's formulas by id.

    Returns:
        Sentences without a full stop.
    """
    terms = (*plan.ranked, *selected_terms(plan, intent, ledger))
    return (*_definitions(intent, formulas), *_assumed_zeros(terms, ledger), *_noncalendar_year_ends(terms, years))


def _definitions(intent: Intent, formulas: Mapping[str, Formula]) -> Iterator[str]:
    """Yield definitions such as `gross margin is gross profit as a percentage of revenue`."""
    chosen_by = (intent.selection.expression,) if intent.selection else ()
    expressions = (*(measure.expression for measure in intent.measures if measure.expression), *chosen_by)
    names = (name for expression in expressions for name in sorted(quantities_of(parse_formula(expression))))
    for name in dict.fromkeys(names):
        if name in formulas:
            yield f"{_formula_name(name, formulas[name])} is {formulas[name].meaning}"


def _formula_name(name: str, formula: Formula) -> str:
    """Return a formula's name: its id in words if the lexicon lists it, else its first name."""
    plain = name.replace("_", " ")
    return plain if plain in formula.words else formula.words[0]


def _assumed_zeros(terms: Sequence[Term], ledger: Ledger) -> list[str]:
    known = ledger.figures
    slots = [slot for term in terms for slot in slots_assumed_zero(term.tree, lambda slot: slot in known)]
    return [f"{slot} is not reported and counts as zero" for slot in dict.fromkeys(slots)]


def _noncalendar_year_ends(terms: Sequence[Term], years: Mapping[str, FiscalYears]) -> Iterator[str]:
    """Yield `FY2021 of NIKE, Inc. ended on May 31, 2021` for filers with non-calendar years."""
    for key, asked in by_company(terms).items():
        filed = years.get(key)
        periods = dict.fromkeys(term.period for term in asked)
        ends = {period: filed.closes[period] for period in periods if period in filed.closes} if filed else {}
        if any(end.month != _DECEMBER for period, end in ends.items() if not period.quarter):
            days = [
                (period, f"{end:%B} {end.day}, {end.year}") for period, end in sorted(ends.items(), key=itemgetter(1))
            ]
            said = [f"{period} on {day}" for period, day in days]
            first, day = days[0]
            yield ", ".join([f"{first} of {asked[0].company.name} ended on {day}", *said[1:]])
