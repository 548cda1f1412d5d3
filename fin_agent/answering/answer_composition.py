"""Compose an answer from a program's result: value, unit, sentence, citations, assumptions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from math import isclose
from operator import itemgetter

from fin_agent.answering.amounts import convert_to_unit, format_amount, rounded, supported_unit, unit_of_result
from fin_agent.answering.answer import AnswerValue, Citation
from fin_agent.answering.program import Program
from fin_agent.answering.sandbox import ProgramValue
from fin_agent.errors import SandboxError
from fin_agent.evidence.expressions import Operation, parse_formula, quantities_of, slots_assumed_zero, years_of
from fin_agent.evidence.intent import Claim, Comparison, Intent, Relation, Selection
from fin_agent.evidence.plan import Plan, Term, by_company, by_measure, selected_terms
from fin_agent.evidence.sign_conventions import LOSS_OF
from fin_agent.evidence.slot_ledger import Figure, Ledger
from fin_agent.lexicon.entry_loading import Formula
from fin_agent.lexicon.fiscal_periods import FiscalYears
from fin_agent.lexicon.words import finds, word_lists
from fin_agent.query.tree import Combination


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
    base = program.scale_of(computed)
    converted = [convert_to_unit(number, computed, base, intent.unit) for number in numbers]
    unit = converted[0][1]
    values = [rounded(value, intent.decimals) for value, _ in converted]
    if len(values) == 1:
        asks_a_share = finds(intent.core, "asking for a share", "question_words")
        if unit == "percent" and values[0] > _MOST_OF_A_WHOLE and asks_a_share:
            told = f"{format_amount(values[0], unit, intent.decimals)} is no share"
            raise SandboxError(f"{told}: the lines found are of different things", remedy="Name both as printed")
        if intent.expression.startswith(LOSS_OF) and any(level <= 0 for level in beside):
            text = _figures_side_by_side(intent, [str(plan.terms[place].period) for place in (0, -1)], list(beside), "")
            return AnswerValue(text=f"Not every figure is a loss. {text}")
        value = values[0]
        moved = _change_endpoints(intent, plan, program, numbers[0], beside)
        lead = _movement_verdict(intent, numbers[0], base) or _claim_verdict(intent.claim, numbers[0], base)
        if unit in ("percentage points", "percent") and finds(intent.core, "basis points"):
            moved = f", {format_amount(100 * value, 'basis points', 0)}{moved}"
        subject = _subject_of(intent, plan)
        written = format_amount(value, unit, intent.decimals)
        written = written if moved else _as_share(written, numbers[0], unit, intent)
        if program.worked and not moved:
            written = f"{program.worked.removeprefix('100 * ')} = {written}"
        text = f"{lead}{subject if lead else _capitalize_first(subject)}: {written}{moved}."
        return _valued(value, unit, text)
    counted = intent.relation is Relation.YEARS_COUNTED
    ranked = intent.comparison is Comparison.RANK
    if intent.losses and not counted and not ranked and (none := _missing_losses(intent, values)):
        return AnswerValue(text=f"{none} {_figures_side_by_side(intent, program.names, values, unit)}")
    if intent.selection is not None:
        return _answer_for_selected_company(intent, intent.selection, plan, program, numbers)
    names, of = _names_of_parts(intent, program.names)
    listed = [
        _ListedFigure(name, value, format_amount(value, unit, intent.decimals), number)
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
        change, _ = convert_to_unit(moved_by, computed, base, intent.unit)
        text = _trend(intent, plan, listed, change, unit)
        return _valued(values[-1], unit, text)
    # Several figures are listed: none of them is *the* value.
    return AnswerValue(text=_figures_side_by_side(intent, program.names, values, unit))


_MOST_OF_A_WHOLE = 300
"""In percent: more than a year's result may be paid out."""


def _valued(value: float, unit: str, text: str) -> AnswerValue:
    return AnswerValue(value=value, unit=supported_unit(unit), text=text)


def _as_share(written: str, number: float, unit: str, intent: Intent) -> str:
    """Return a quotient that is told in percent so as well: `37.8% (0.38)`."""
    if unit != "ratio" or not _is_rate(intent, [number]):
        return written
    return f"{format_amount(100 * number, 'percent', intent.decimals)} ({written})"


def _is_rate(intent: Intent, numbers: Sequence[float]) -> bool:
    """Return whether quotients are told in percent: shares of something, below one, and a return or payout."""
    if not word_lists("measure_words")["told in percent"].isdisjoint(intent.expression.split("_")):
        return True
    return isinstance(parse_formula(intent.expression), Operation) and all(abs(each) < 1 for each in numbers)


def _are_shares(intent: Intent, numbers: Sequence[float]) -> bool:
    """Return whether several numbers are quotients that are told in percent: `capex / revenue`."""
    if len(numbers) < 2 or unit_of_result(intent) != "ratio" or intent.unit or (intent.claim and intent.claim.bound):
        return False
    return intent.comparison is not Comparison.RATIO and _is_rate(intent, numbers)


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
    return f"{_capitalize_first(intent.measure)}{of}: {'; '.join(figures)}."


def citations_of(figures: Sequence[Figure]) -> tuple[Citation, ...]:
    """Return a citation per figure, without duplicate places."""
    found = {(one.doc_id, one.page, one.box): one for one in figures}.values()
    texts = (f"{one.label} | {one.column}: {one.printed:,}" for one in found)
    cited = zip(found, texts, strict=True)
    return tuple(Citation(doc_id=one.doc_id, page=one.page, text=text, box=one.box) for one, text in cited)


def _compare_periods(
    intent: Intent, plan: Plan, listed: Sequence[_ListedFigure], unit: str, scale: float
) -> AnswerValue | None:
    """Compare the periods of one company; None if each is wanted as it is, or only the first and last."""
    subject = f"{_measure_in_sentence(intent)} of {plan.terms[0].company.name}"
    of_periods = [replace(one, name=str(term.period)) for term, one in zip(plan.terms, listed, strict=True)]
    if intent.relation is Relation.YEARS_COUNTED:
        counted, text = _count_matching_years(intent, subject, of_periods, scale)
        return _valued(counted, "count", text)
    if intent.relation is Relation.EVERY_YEAR:
        text = _every_year_verdict(intent, subject, of_periods)
        return _valued(of_periods[-1].value, unit, text)
    if intent.comparison is Comparison.FILTER:
        return _ranked_answer(intent, of_periods, unit, scale)
    if intent.comparison not in (Comparison.HIGHEST, Comparison.LOWEST):
        return None
    best, others, degree = _describe_extreme(intent, of_periods)
    others += _distance(intent, of_periods, best, unit)[2] if intent.apart and len(of_periods) == 2 else ""
    level = [one.name for one in of_periods if one.value == best.value]
    text = f"{best.name}: {best.text} ({others}). {subject[:1].upper()}{subject[1:]} was {degree} in {best.name}."
    if len(level) > 1:
        text = f"No period stands out: {subject} was {best.text} in {' and '.join(level)} ({others})."
    return _extreme_value(intent, of_periods, best, unit, text)


def _movement_verdict(intent: Intent, change: float, scale: float) -> str:
    """Return `Yes: ` or `No: ` for a change, if the question asks whether it moved and by how much."""
    core = intent.core.lower()
    if intent.relation not in (Relation.GROWTH, Relation.CHANGE) or " or " in core or not finds(core, "yes or no"):
        return ""
    if intent.claim is not None and finds(core, "growth"):
        return _claim_verdict(intent.claim, change, scale)
    as_asked = change != 0 and _asks_for_increase(core) == (change > 0)
    if as_asked and intent.claim is not None and intent.claim.bound is not None:
        return _claim_verdict(intent.claim, abs(change), scale)
    return _verdict(as_asked)


def _extreme(intent: Intent, listed: Sequence[_ListedFigure], unit: str, of: str = "") -> AnswerValue:
    """State which figure stands out; `of` names the company whose parts are compared, as in ` of Acme`."""
    best, others, degree = _describe_extreme(intent, listed)
    measure = _change_label(intent)
    if sum(one.value == best.value for one in listed) > 1:
        text = f"No company stands out: {measure} is {best.text} ({others})."
    else:
        claimed = intent.claim is not None and intent.claim.bound is None and bool(intent.companies)
        lead = _verdict(f"{best.name}{of}" == intent.companies[0].name) if claimed else ""
        beside = f"{others}{_distance(intent, listed, best, unit)[2]}"
        text = f"{lead}{best.name}{of} has the {degree} {measure}: {best.text} ({beside})."
    return _extreme_value(intent, listed, best, unit, text)


def _extreme_value(
    intent: Intent, listed: Sequence[_ListedFigure], best: _ListedFigure, unit: str, text: str
) -> AnswerValue:
    """Return an extreme as the answer's value; how far it is from the next if that is asked for."""
    value, unit = _distance(intent, listed, best, unit)[:2] if intent.apart else (best.value, unit)
    return _valued(value, unit, text)


def _distance(
    intent: Intent, listed: Sequence[_ListedFigure], best: _ListedFigure, unit: str
) -> tuple[float, str, str]:
    """Return how far a figure is from another, the unit, and both in words: `, 4.4 percentage points apart`.

    This is the distance of the first from the second, of any other from the first; a single figure itself.
    """
    others = [one for one in listed if one is not best]
    if not others or not unit:
        return best.value, unit, ""
    if intent.place > 1:
        highest = (intent.comparison is Comparison.HIGHEST) is not intent.losses
        other = (max if highest else min)(others, key=lambda one: one.value)
    else:
        other = min(others, key=lambda one: abs(one.value - best.value))
    between, unit = float(f"{abs(best.value - other.value):.10g}"), "percentage points" if unit == "percent" else unit
    written = f"{format_amount(between, unit, intent.decimals)} apart"
    return between, unit, f", {written}" if len(listed) == 2 else f"; {written} from {other.name}"


def _ranked_answer(
    intent: Intent, listed: Sequence[_ListedFigure], unit: str, scale: float, of: str = ""
) -> AnswerValue:
    """Return all members in descending order; of a claim (`which regions shrank`), the true first, periods in time."""
    measure = f"{_capitalize_first(_change_label(intent))}{of}"
    in_time = len(intent.periods) > 1 and not intent.parts and intent.comparison is not Comparison.RANK
    ordered = list(listed) if in_time else sorted(listed, key=lambda one: one.value, reverse=not intent.losses)
    if intent.comparison is Comparison.RANK:
        figures = "; ".join(f"{place}. {one.name}: {one.text}" for place, one in enumerate(ordered[: intent.top], 1))
        return AnswerValue(text=f"{measure}: {figures}.")
    held = [one for one in ordered if _claim_verdict(intent.claim, one.number, scale) == _verdict(True)]
    others, named = _listing(ordered, without=held) or "none", _listing(held) or "None of them"
    asked = intent.query.combined if intent.query is not None else None
    lead = f"{len(held)} of {len(ordered)}: " if asked is Combination.COUNT else ""
    if asked is Combination.EVERY:
        lead = _verdict(len(held) == len(ordered))
        if len(held) < len(ordered):  # `No: not Europe: -2.0% (...; the others: ...)`
            lead, others, named = f"{lead}not ", named, others
    text = f"{lead}{named} ({measure}; the others: {others})."
    if asked is Combination.COUNT:
        return _valued(len(held), "count", text)
    if len(held) != 1 or lead:
        return AnswerValue(text=text)
    return _valued(held[0].value, unit, text)


def _answer_for_selected_company(
    intent: Intent, selection: Selection, plan: Plan, program: Program, numbers: Sequence[float]
) -> AnswerValue:
    """State the figure of a company that another figure selected.

    Example: `Net income of Acme for FY2020: $5 million. Acme has the higher revenue: $90 million (Bolt: $70 million).`
    """
    computed = unit_of_result(intent)
    asked, unit = convert_to_unit(numbers[0], computed, program.scale_of(computed), intent.unit)
    chosen = program.names[0]
    ranked_by = selection.model_dump(include={"measure", "measure_unit", "relation"})
    ranked_by |= {"comparison": selection.extreme, "unit": None, "decimals": None}
    ranking = intent.model_copy(update=ranked_by)
    computed = unit_of_result(ranking)
    ranks = [convert_to_unit(number, computed, program.scale_of(computed), None) for number in numbers[1:]]
    listed = [
        _ListedFigure(name, value, format_amount(value, of, None))
        for name, (value, of) in zip(program.names[1:], ranks, strict=True)
    ]
    if selection.expression.startswith(LOSS_OF) and max(one.value for one in listed) <= 0:
        return AnswerValue(text=f"None of these is a loss: {_listing(listed)}.")
    value = rounded(asked, intent.decimals)
    own = Plan(tuple(term for term in plan.terms if term.company.name == chosen), plan.notes)
    said = f"{_capitalize_first(_subject_of(intent, own))}: {format_amount(value, unit, intent.decimals)}."
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
        text = " ".join(f"{_capitalize_first(_change_label(one.intent))}{one.span}: {one.listed}." for one in told)
    elif intent.relation is Relation.TREND:
        text = _describe_movements(intent, told)
    else:
        of_company = f"{_change_label(first.intent)} of {first.plan.companies[0]}"
        subject = _subject_of(first.intent, first.plan) if len(first.figures) == 1 else of_company
        others = (f"{_change_label(one.intent)}: {one.listed}" for one in told[1:])
        text = f"{_capitalize_first(subject)}: {'; '.join((first.listed, *others))}."
    return AnswerValue(text=text)


@dataclass(frozen=True, slots=True)
class _MeasureFigures:
    """One measure with its figures."""

    intent: Intent
    """The intent limited to this measure."""
    plan: Plan
    figures: tuple[_ListedFigure, ...]
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
            value, unit = convert_to_unit(number, computed, program.scale_of(computed), alone.unit)
            value = rounded(value, intent.decimals)
            written = _as_share(format_amount(value, unit, intent.decimals), number, unit, alone)
            figures.append(_ListedFigure(name, value, written))
        yield _MeasureFigures(alone, Plan(tuple(terms), ()), tuple(figures), unit)


def _describe_movements(intent: Intent, told: Sequence[_MeasureFigures]) -> str:
    """State how several measures moved: `No: revenue of Acme rose from $3 million in FY2018 to ...; net income ...`."""
    first, last = told[0].plan.periods[0], told[0].plan.periods[-1]
    parts = []
    for place, one in enumerate(told):
        before, after = one.figures[0], one.figures[-1]
        way = "rose" if after.value > before.value else "fell" if after.value < before.value else "did not change,"
        subject = f"{_measure_in_sentence(one.intent)}{'' if place else f' of {one.plan.companies[0]}'}"
        parts.append(f"{subject} {way} from {before.text} in {first} to {after.text} in {last}")
    said = "; ".join(parts)
    if not finds(intent.core, "yes or no") or finds(intent.core, "several ways"):
        return f"{_capitalize_first(said)}."
    rising = _asks_for_increase(intent.core)
    moves = (one.figures[-1].value - one.figures[0].value for one in told)
    held = all(move != 0 and (move > 0) == rising for move in moves)
    return f"{_verdict(held)}{said}."


def _describe_extreme_measure(intent: Intent, told: Sequence[_MeasureFigures]) -> AnswerValue:
    """State which of several measures stands out.

    Example: `Net income of Acme for FY2020: $5 million (dividends: $3 million). Of these it is the higher.`;
    whether the first of two does where that is claimed: `No: dividends of Acme for FY2020: $3 million (...)`.
    """
    listed = [replace(one.figures[0], name=_change_label(one.intent)) for one in told]
    if finds(intent.core, "by size") and any(one.value < 0 for one in listed):
        said = _capitalize_first(_listing(listed))
        return AnswerValue(text=f"Some are below zero, so none is called the larger. {said}.")
    pick = max if intent.comparison is Comparison.HIGHEST else min
    figure = pick(listed, key=lambda one: one.value)
    best, level = told[listed.index(figure)], sum(one.value == figure.value for one in listed) > 1
    if intent.claim is not None and len(told[1:]) == 1:
        lead, subject, said = _verdict(not level and best is told[0]), 0, ""
    else:
        lead, subject = "", listed.index(figure)
        said = " They are level." if level else f" Of these it is the {_superlative(intent.comparison, len(told))}."
    name = _subject_of(told[subject].intent, told[subject].plan)
    others = _listing(listed, without=[listed[subject]])
    text = f"{lead}{name if lead else _capitalize_first(name)}: {listed[subject].text} ({others}).{said}"
    return _valued(figure.value, best.unit, text)


def _subject_of(intent: Intent, plan: Plan) -> str:
    """Return the subject of a sentence, after the relation if there is one: `growth of revenue of Acme for FY2021`."""
    periods, (first, *others) = plan.periods, plan.companies
    span = _span(intent, plan, periods)
    measure, both = _change_label(intent), " and ".join((first, *others))
    match intent.comparison if others else None:
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
            subject = measure if _names_owners(intent) else f"{measure} of {first}"
    own = {slot.period for slot in plan.slots()} if years_of(parse_formula(intent.expression)) else set(periods)
    told = own.isdisjoint(periods) or subject.endswith(f" {span}")  # the lines say their own periods
    return subject if told else f"{subject} for {span}"


def _span(intent: Intent, plan: Plan, periods: Sequence[str]) -> str:
    """Return `FY2019` or `FY2017 to FY2019`; for a sum or mean of separate years, `FY2016 and FY2018`."""
    if len(periods) == 1:
        return periods[0]
    years = sorted({term.period.fiscal_year for term in plan.terms})
    gaps = intent.relation in (Relation.TOTAL, Relation.AVERAGE) and years != list(range(years[0], years[-1] + 1))
    return f"{', '.join(periods[:-1])} and {periods[-1]}" if gaps else f"{periods[0]} to {periods[-1]}"


def _capitalize_first(text: str) -> str:
    """Return the text with a capital first letter, unless its first word has its own spelling: `iPhone revenue`."""
    return text if text[1:2].isupper() else text[:1].upper() + text[1:]


def _change_label(intent: Intent) -> str:
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
    measure = _measure_in_sentence(intent)
    if intent.relation in (Relation.GROWTH, Relation.ANNUAL_GROWTH, Relation.CHANGE):
        measure = re.sub(r"(?<=\w)\s+(?:growth|change|increase|decrease)(?: rates?)?$", "", measure, flags=re.I)
    return measure if lead and measure.lower().startswith(lead) else f"{lead}{measure}"


def _measure_in_sentence(intent: Intent) -> str:
    """Return the measure for use inside a sentence: `inventory turnover`; `EBITDA`, `R&D` and names keep their case."""
    measure = intent.measure
    if (
        _names_owners(intent)
        or measure.startswith(intent.parts or "\0")
        or measure.partition(" ")[0] in intent.core.split()[1:]
    ):
        return measure
    return measure[:1].lower() + measure[1:] if re.match(r"[A-Z][a-z]+\b", measure) else measure


def _names_owners(intent: Intent) -> bool:
    """Return whether a measure names the companies of its lines: `Acme revenue - Bolt revenue`."""
    owners = {line.company for line in intent.query.lines()} if intent.query is not None else set()
    return len(owners) > 1 and None not in owners


def _trend(intent: Intent, plan: Plan, listed: Sequence[_ListedFigure], change: float, unit: str) -> str:
    """Describe how a figure moved.

    Example: `No: revenue of Acme fell by $24 million (23.8%), from $101 million in FY2018 to $77 million in FY2019.`
    `listed` are the figures of the plan's terms; `change` is the last minus the first, in `unit`.
    """
    first, last = plan.terms[0].period, plan.terms[-1].period
    subject = f"{_measure_in_sentence(intent)} of {plan.terms[0].company.name}"
    lead = ""
    if " or " not in intent.core.lower() and not finds(intent.core, "no claim"):
        above = intent.claim.above if intent.claim else None
        rising = _is_rising(intent) if intent.losses or above is None else above
        lead = _verdict(change != 0 and rising == (change > 0))
    subject = subject if lead else _capitalize_first(subject)
    if not change:
        return f"{lead}{subject} did not change from {first} to {last}: it stayed at {listed[-1].text}."
    by = format_amount(abs(change), "percentage points" if unit == "percent" else unit, _places(intent, unit))
    if unit not in ("percent", "ratio") and min(one.value for one in listed) > 0:
        by += f" ({format_amount(abs(100 * change / listed[0].value), 'percent')})"
    rose, fell = ("narrowed", "widened") if intent.losses else ("rose", "fell")
    moved = f"{rose if change > 0 else fell} by {by}"
    return f"{lead}{subject} {moved}, from {listed[0].text} in {first} to {listed[-1].text} in {last}."


def _change_endpoints(intent: Intent, plan: Plan, program: Program, moved: float, ends: Sequence[float]) -> str:
    """Return both ends of a change with its other measure: ` (from $20 in FY2022 to $19 in FY2023, down 5.0%)`.

    `ends` are both if the program returns them; otherwise two printed figures that explain `moved` are used.
    """
    before, after = ends or _printed(intent, program, moved) or (None, None)
    if before is None or after is None:
        return ""
    scale = program.scale_of(intent.measure_unit)
    levels = [convert_to_unit(level, intent.measure_unit, scale, intent.unit) for level in (before, after)]
    first, last = (format_amount(value, unit, _places(intent, unit)) for value, unit in levels)
    span = f"from {first} in {plan.terms[0].period} to {last} in {plan.terms[-1].period}"
    (old, unit), (new, _) = levels
    change, told = new - old, intent.relation is Relation.ANNUAL_GROWTH or unit in ("percent", "ratio")
    if told or not change or min(old, new) <= 0:
        return f" ({span})"
    grown = intent.relation is Relation.GROWTH
    other = format_amount(abs(change), unit) if grown else format_amount(abs(100 * change / old), "percent")
    return f" ({span}, {'up' if change > 0 else 'down'} {other})"


def _printed(intent: Intent, program: Program, moved: float) -> tuple[float, float] | None:
    if intent.relation not in (Relation.GROWTH, Relation.CHANGE) or len(program.variables) != 2:
        return None
    scale = program.scale_of(intent.measure_unit)
    before, after = (float(figure.value / scale) for figure in program.variables.values())
    change = after - before if intent.relation is Relation.CHANGE else 100 * (after - before) / (abs(before) or 1.0)
    if intent.apart or max(before, after) < 0:  # told by its size
        change, moved = abs(change), abs(moved)
    return (before, after) if isclose(change, moved, rel_tol=1e-9, abs_tol=1e-9) else None


def _places(intent: Intent, unit: str) -> int | None:
    """Return the decimals for the ends of a change: those requested for a growth in percent do not apply to dollars."""
    grown = intent.relation in (Relation.GROWTH, Relation.ANNUAL_GROWTH)
    return None if grown or unit == "percent" else intent.decimals


@dataclass(frozen=True, slots=True)
class _ListedFigure:
    """A figure of an answer."""

    name: str
    value: float
    text: str
    """The formatted value."""
    number: float = 0.0
    """The program's own result, before conversion to a unit."""


def _listing(figures: Iterable[_ListedFigure], *, without: Sequence[_ListedFigure] = ()) -> str:
    """Return figures in a row, such as `Acme: $5 million; Bolt: $4 million`."""
    return "; ".join(f"{one.name}: {one.text}" for one in figures if one not in without)


def _claim_verdict(claim: Claim | None, value: float, scale: float) -> str:
    """Return `Yes: ` or `No: ` for a claim about a bound; empty if there is none.

    Base units are `value * scale`.
    """
    if claim is None or claim.bound is None:
        return ""
    against = value * scale - claim.bound
    level = claim.equal and abs(against) <= claim.within + abs(claim.bound) * 1e-9
    return _verdict(level or (claim.above is not None and (against > 0 if claim.above else against < 0)))


def _describe_extreme(intent: Intent, listed: Sequence[_ListedFigure]) -> tuple[_ListedFigure, str, str]:
    """Return the extreme figure, the others as text, and the degree; the highest loss is the most negative."""
    place = intent.place if intent.place <= len(listed) else 1
    eligible = [one for one in listed if place > 1 or not intent.losses or one.value < 0]
    highest = (intent.comparison is Comparison.HIGHEST) is not intent.losses
    best = sorted(eligible, key=lambda one: one.value, reverse=highest)[place - 1]
    degree = f"{_ORDINALS.get(place, f'{place}th')} {intent.comparison.value}"
    if place == 1:
        degree = _superlative(intent.comparison, len(listed), losses=intent.losses)
    return best, _listing(listed, without=[best]), degree


_ORDINALS = {2: "second", 3: "third"}


def _superlative(comparison: Comparison, count: int, *, losses: bool = False) -> str:
    """Return the degree: `highest`, `higher` for two, `largest` for losses."""
    high, low = ("largest", "smallest") if losses else ("higher", "lower") if count == 2 else ("highest", "lowest")
    return high if comparison is Comparison.HIGHEST else low


def _missing_losses(intent: Intent, values: Sequence[float]) -> str:
    """Return why losses cannot be compared: none is negative or, for a trend, not all are; empty if they can."""
    below = sum(value < 0 for value in values)
    if intent.comparison in (Comparison.HIGHEST, Comparison.LOWEST):
        return "" if below else "None of these is below zero:"
    return "" if below == len(values) else f"{'Not all' if below else 'None'} of these are below zero:"


def _every_year_verdict(intent: Intent, subject: str, listed: Sequence[_ListedFigure]) -> str:
    """Return a verdict such as `Yes: revenue of Acme rose every year (FY2020: ...)`."""
    moved = _matches_direction(intent, listed)
    against = [one.name for one, held in zip(listed[1:], moved, strict=True) if not held]
    infinitive, past = ("rise", "rose") if _asks_for_increase(intent.core) else ("fall", "fell")
    if against:
        return f"No: {subject} did not {infinitive} in {' and '.join(against)} ({_listing(listed)})."
    return f"Yes: {subject} {past} every year ({_listing(listed)})."


def _count_matching_years(
    intent: Intent, subject: str, listed: Sequence[_ListedFigure], scale: float
) -> tuple[int, str]:
    """Return the number of years beyond the question's bound, or else with the requested movement, and a sentence."""
    claim = intent.claim
    if claim is not None and claim.bound is not None:
        held = [_claim_verdict(claim, one.number, scale) == _verdict(True) for one in listed]
        beyond = "" if claim.above is None else "above " if claim.above else "below "
        years, way = listed, f"was {beyond}{'that' if claim.bound else 'zero'}"
    else:
        held = _matches_direction(intent, listed)
        years, way = listed[1:], "rose" if _asks_for_increase(intent.core) else "fell"
    named = ", ".join(one.name for one, true in zip(years, held, strict=True) if true) or "none of them"
    return sum(held), f"In {sum(held)} of {len(held)} years: {subject} {way} in {named} ({_listing(listed)})."


def _matches_direction(intent: Intent, listed: Sequence[_ListedFigure]) -> list[bool]:
    """Return whether each figure after the first moved in the requested direction."""
    rising = _is_rising(intent)
    return [after.value > before.value if rising else after.value < before.value for before, after in pairwise(listed)]


def _is_rising(intent: Intent) -> bool:
    """Return whether the question is about amounts that rise: not those of a loss that grows or worsens."""
    rises = _asks_for_increase(intent.core)
    if not intent.losses:
        return rises
    return not (finds(intent.core, "worsening") or (rises and not finds(intent.core, "improving")))


def _asks_for_increase(core: str) -> bool:
    """Return whether the question is about a rise; otherwise it is about a fall."""
    return not finds(core, "falling")


def _verdict(holds: bool) -> str:
    return "Yes: " if holds else "No: "


_DECEMBER = 12


def assumptions(
    plan: Plan, intent: Intent, ledger: Ledger, years: Mapping[str, FiscalYears], formulas: Mapping[str, Formula]
) -> tuple[str, ...]:
    """Return the assumptions of an answer: definitions, unreported items that count as zero, non-calendar years."""
    terms = (*plan.ranked, *selected_terms(plan, intent, ledger))
    known = ledger.figures
    zeros = [slot for term in terms for slot in slots_assumed_zero(term.tree, lambda slot: slot in known)]
    unreported = (f"{slot} is not reported and counts as zero" for slot in dict.fromkeys(zeros))
    return (*_definitions(intent, formulas), *unreported, *_noncalendar_year_ends(terms, years))


def _definitions(intent: Intent, formulas: Mapping[str, Formula]) -> Iterator[str]:
    """Yield definitions such as `gross margin is gross profit as a percentage of revenue`."""
    chosen_by = (intent.selection.expression,) if intent.selection else ()
    expressions = (*(measure.expression for measure in intent.measures if measure.expression), *chosen_by)
    names = (name for expression in expressions for name in sorted(quantities_of(parse_formula(expression))))
    for name in dict.fromkeys(names):
        if name in formulas:
            formula, plain = formulas[name], name.replace("_", " ")
            yield f"{plain if plain in formula.words else formula.words[0]} is {formula.meaning}"


def _noncalendar_year_ends(terms: Sequence[Term], years: Mapping[str, FiscalYears]) -> Iterator[str]:
    """Yield `FY2021 of NIKE, Inc. ended on May 31, 2021` for filers with non-calendar years."""
    for key, asked in by_company(terms).items():
        filed = years.get(key)
        periods = dict.fromkeys(term.period for term in asked)
        ends = {period: filed.closes[period] for period in periods if period in filed.closes} if filed else {}
        if any(end.month != _DECEMBER for period, end in ends.items() if not period.quarter):
            in_time = sorted(ends.items(), key=itemgetter(1))
            first, *said = (f"{period} on {end:%B} {end.day}, {end.year}" for period, end in in_time)
            yield ", ".join([first.replace(" on ", f" of {asked[0].company.name} ended on ", 1), *said])
