"""Bind a Query to expressions over metrics and printed lines, for plans, ledger and programs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce

from fin_agent.analyst.rules.formula_units import unit_of_formula, with_rates_as_fractions
from fin_agent.analyst.rules.period_resolution import period_ending
from fin_agent.evidence.expressions import is_over_itself, parse_formula
from fin_agent.evidence.intent import Claim, Intent, OutputUnit, Relation, RequestedCompany, RequestedMeasure, Selection
from fin_agent.evidence.intent import Comparison as Between
from fin_agent.evidence.plan import Plan, metric_of_parts
from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.entry_loading import expression_inputs
from fin_agent.lexicon.fiscal_periods import FiscalPeriod, with_those_between
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.periods import parse_number, parse_periods
from fin_agent.lexicon.slots import Slot
from fin_agent.lexicon.words import patterns
from fin_agent.query.family_members import (
    NO_MEMBERS,
    FamilyMembers,
    UnboundError,
    members_of_one_page,
    resolve_members,
)
from fin_agent.query.lexer import is_stock
from fin_agent.query.tree import (
    Axis,
    Balance,
    Combination,
    Comparison,
    Function,
    HowMoved,
    Line,
    Measure,
    Move,
    NamedFormula,
    Number,
    Operation,
    Parts,
    Period,
    Query,
    lines_of,
    measure_text,
    operation,
    percentage,
    share_of,
    total_of,
    with_lines,
    without_move,
)
from fin_agent.retrieval.fact_terms import in_order
from fin_agent.retrieval.slot_figures import facts_for
from fin_agent.retrieval.slot_matching import fills_slot
from fin_agent.vocabulary.figure_agreement import magnitudes_agree
from fin_agent.vocabulary.identity import Identity
from fin_agent.workspace import Workspace


def bind_query(query: Query, intent: Intent, workspace: Workspace, searched: frozenset[str] = frozenset()) -> Intent:
    """Return `intent` with the figures that `query` asks for.

    Lines of the metrics `searched` are also searched for by the question's words.

    Raises:
        UnboundError: The query cannot be planned.
    """
    if not query.measures:
        raise UnboundError("a measure: the question names none")
    query = _with_one_part(_of_each_part(_with_periods_of_each(query, intent, workspace)))
    query = query.with_lines(lambda line: _with_own_period(line, intent, workspace)) or query
    measures, relation, between = _combination_of(query, workspace.lexicon)
    periods = _periods(query, intent, workspace)
    members = replace(
        _members(query, intent, periods, workspace, searched),
        searched=searched,
        in_formulas=query.only_part is not None
        or _are_annual_report_quarters(intent, periods, workspace)
        or any(workspace.lexicon.metrics[name].unit == "count" for name in searched),  # sentences count people
    )
    made = [_bound(measure, workspace.lexicon, query.only_part or "", members) for measure in measures]
    made = _with_owners(made, measures, query)
    _check_figures(query, made, relation, workspace.lexicon)
    _check_spans(query, relation, periods, workspace.lexicon)
    claim = _claim(query, made[0].measure_unit, relation)
    periods = _resolve_years(query, intent, periods, relation, between, claim, workspace)
    chosen = _selection(query, workspace.lexicon)
    if chosen is not None:
        between = Between.NONE
    units = [_unit(query.unit, one.measure_unit, relation, between) for one in made]
    if units[0] is None and made[0].measure_unit == "percent" and getattr(measures[0], "operator", "") == "-":
        units[0] = "percentage points"
    asked = [one.model_copy(update={"unit": unit}) for one, unit in zip(made, units, strict=True)]
    comparison = query.comparison or Comparison(axis=Axis.MEASURES)
    return intent.of_measure(asked[0]).model_copy(
        update={
            "relation": relation,
            "comparison": between,
            "further": tuple(asked[1:]),
            "unsupported": (),
            "unknown_companies": query.unknown_companies,
            "companies": _companies(query, intent, periods),
            "decimals": query.decimals,
            "periods": periods,
            "claim": claim,
            "selection": chosen,
            "apart": comparison.apart or (query.axis, query.combined) == (Axis.PERIODS, Combination.DIFFERENCE),
            "losses": not comparison.descending,
            "assumed": (*intent.assumed, *query.assumed),
            "place": comparison.nth or 1,
            "top": comparison.top if query.axis is Axis.PARTS else None,
            **_parts(query, intent, members),
        }
    )


def _of_each_part(query: Query) -> Query:
    """Return a comparison of parts by one line as one of theirs, although `total` says it: `lower total revenue`."""
    lines = list(query.lines())
    by_whole = query.axis is Axis.PARTS and len(lines) == 1 and getattr(lines[0], "whole", False)
    return (query.with_lines(lambda line: line.model_copy(update={"whole": False})) or query) if by_whole else query


def _with_periods_of_each(query: Query, intent: Intent, workspace: Workspace) -> Query:
    """Return the query with the period of each company that ends about its day: Q3 of one is Q2 of another.

    The day is the only one of the question, or that of the company: `Acme (year ended November 2024) vs Bolt (...)`.
    """
    several = len(query.companies) == len(intent.companies) > 1
    own = query.respectively and len(query.periods) == len(query.companies)
    days = query.periods if own else query.periods * len(query.companies) if len(query.periods) == 1 else ()
    if not several or not any(day.end is not None and (own or day.months) for day in days):
        return query
    pairs = zip(query.companies, days, strict=True)
    found: list[Period] = []
    for one, day in pairs:
        ended = fiscal_period_of(day, identities_of(one.key, workspace)) if day.end is not None else None
        if ended is None and day.end is not None:
            return query
        found.append(day if ended is None else Period.of(ended))
    differ = len(set(found)) > 1
    if not (own or differ):
        return query
    return query.model_copy(update={"periods": tuple(found if differ else found[:1]), "respectively": differ})


def fiscal_period_of(period: Period, identities: Sequence[Identity]) -> FiscalPeriod | None:
    """Return the period of a filer: the one that ends on a day, or as it is named; None if no report is of it."""
    if period.end is not None:
        return period_ending(period.end, identities, period.months)
    if period.fiscal_year is None or period.months == -1 or period.half == _SECOND:
        return None
    months = period.months if period.months in (6, 9) else None
    return FiscalPeriod(fiscal_year=period.fiscal_year, quarter=period.quarter, months=months)


_SECOND = 2


def identities_of(key: str, workspace: Workspace) -> list[Identity]:
    """Return what the filings of a company say of their company, form and period."""
    directory = workspace.directory
    return [directory.identities[doc_id] for doc_id in directory.by_key[key].doc_ids]


def _with_owners(made: list[RequestedMeasure], measures: Sequence[Measure], query: Query) -> list[RequestedMeasure]:
    """Return the measures with their companies in front of their words or of those of their lines, if they differ."""
    owners = [{line.company for line in lines_of(measure)} for measure in measures]
    names: dict[str | None, str] = {one.key: f"{one.name} " for one in query.companies}
    if len(measures) == 1 and len(owners[0]) > 1:
        named = with_lines(
            measures[0], lambda line: line.model_copy(update={"words": names.get(line.company, "") + line.words})
        )
        return [made[0].model_copy(update={"words": measure_text(named)})]
    if len(frozenset().union(*owners)) < 2 or any(len(one) != 1 for one in owners):
        return made
    pairs = zip(made, owners, strict=True)
    return [one.model_copy(update={"words": names.get(key, "") + one.words}) for one, (key,) in pairs]


def _are_annual_report_quarters(intent: Intent, periods: Sequence[FiscalPeriod], workspace: Workspace) -> bool:
    """Return whether all periods are quarters for which the companies filed no report."""
    filed = [workspace.years[one.key] for one in intent.companies if one.key in workspace.years]
    return bool(periods) and all(one.quarter and not years.covers(one) for one in periods for years in filed)


def _combination_of(query: Query, lexicon: Lexicon) -> tuple[list[Measure], Relation, Between]:
    """Return (measures, relation over time, comparison of companies, parts, periods or measures)."""
    moved = next((one.how for one in query.measures if isinstance(one, Move)), None)
    measures = [without_move(one) for one in query.measures]
    if moved is not None and _is_change_of_growth(query):
        measures, moved = list(query.measures), None
    first, how = measures[0], query.combined
    if moved == "growth" and isinstance(first, NamedFormula) and lexicon.formulas[first.formula].unit == "percent":
        moved = "change"  # `margin growth`: a rate in percent changes by points
    relation = _relation(query, moved)
    if isinstance(first, Function) and len(first.of) == 1 and first.name in ("sum", "mean"):
        measures, relation = [first.of[0]], Relation.TOTAL if first.name == "sum" else Relation.AVERAGE
    if how is None:
        return measures, relation, Between.NONE
    if query.axis is Axis.MEASURES:
        combined = _combined(measures, how)
        between = _BETWEEN[how] if how in (Combination.HIGHEST, Combination.LOWEST) else Between.NONE
        return [combined] if combined is not None else measures, relation, between
    if query.axis is Axis.PERIODS:
        between = _BETWEEN[how] if how in _RANKED else Between.NONE
        return _over_periods(query, measures, moved), _OVER_PERIODS.get(how, relation), between
    return measures, relation, _BETWEEN[how]


def _over_periods(query: Query, measures: list[Measure], moved: HowMoved | None) -> list[Measure]:
    """Return the measures of which periods are compared: the last over the first, or a movement that is ranked."""
    if query.combined is Combination.RATIO:
        earlier, later = (_in_period(measures[0], query.periods[place]) for place in (0, -1))
        return [operation("/", later, earlier)]
    if query.combined in _RANKED and query.combined is not Combination.FILTER and moved is not None:
        return [Move(of=measures[0], how=moved)]
    return measures


_MOVES = {"change": Relation.CHANGE, "growth": Relation.GROWTH, "cagr": Relation.ANNUAL_GROWTH}
_BETWEEN = {Combination(one.value): one for one in Between if one is not Between.NONE} | {
    Combination.EACH: Between.NONE,
    Combination.COUNT: Between.FILTER,
    Combination.EVERY: Between.FILTER,
}
_RANKED = (Combination.HIGHEST, Combination.LOWEST, Combination.FILTER, Combination.RANK)
_OVER_PERIODS = dict.fromkeys((*_RANKED, Combination.RATIO), Relation.EACH) | {
    Combination.TOTAL: Relation.TOTAL,
    Combination.AVERAGE: Relation.AVERAGE,
    Combination.EVERY: Relation.EVERY_YEAR,
    Combination.COUNT: Relation.YEARS_COUNTED,
}


def _relation(query: Query, moved: HowMoved | None) -> Relation:
    if moved is not None:
        return _MOVES[moved]
    if query.claim is not None and query.claim.way in ("rose", "fell"):
        return Relation.TREND
    if (query.axis, query.combined) == (Axis.PERIODS, Combination.EACH):
        return Relation.TREND if query.claim is not None or len(query.periods) != 2 else Relation.CHANGE
    return Relation.EACH


def _combined(measures: Sequence[Measure], how: Combination) -> Measure | None:
    """Return the measures combined into one; None if they are listed or ranked."""
    if how is Combination.AVERAGE:
        return Function(name="mean", of=tuple(measures))
    if how is Combination.TOTAL:
        return total_of(measures)
    if len(measures) != 2 or how not in _IN_ORDER:
        return None
    first, second = measures
    if how is Combination.RATIO:
        return operation("/", first, second)
    difference = operation("-", first, second)
    return percentage(difference, second) if how is Combination.EXCESS else difference


def _resolve_years(
    query: Query,
    intent: Intent,
    periods: tuple[FiscalPeriod, ...],
    relation: Relation,
    between: Between,
    claim: Claim | None,
    workspace: Workspace,
) -> tuple[FiscalPeriod, ...]:
    """Return the periods with the further years that a movement, a ranking or a count of years needs."""
    if relation in (*_MOVES.values(), Relation.TREND):
        if not periods and _movement_years(intent.core) is not None:
            latest = [workspace.years[one.key].latest() for one in intent.companies if one.key in workspace.years]
            if len({*latest}) != 1 or latest[0] is None:
                raise UnboundError("the year in which the span ends: name it")
            periods = (latest[0],)
        periods = _moving_years(intent.core, periods)
    if query.axis is Axis.PERIODS and between is not Between.NONE:
        periods = _ranked_years(intent.core, periods)
    if (query.axis, query.combined) == (Axis.PERIODS, Combination.RATIO):
        periods = periods[-1:]
    if relation in (Relation.YEARS_COUNTED, Relation.EVERY_YEAR):
        periods = _ranked_years(intent.core, periods, moving=claim is None)
    return periods


def _moving_years(asked: str, periods: tuple[FiscalPeriod, ...]) -> tuple[FiscalPeriod, ...]:
    """Return the endpoints of a counted movement: `the 5-year growth rate ending 2020` begins in 2015."""
    counted = _movement_years(asked)
    span = parse_periods(asked).span
    ends = (span is None and len(periods) == 1) or (span is not None and span.form == "last")
    if counted is None or not periods or not ends:
        return periods
    last = periods[-1]
    return (last.model_copy(update={"fiscal_year": last.fiscal_year - counted}), last)


def _movement_years(asked: str) -> int | None:
    """Return the years of a movement, 5 for `5-year growth` or `over the five years to`; None if not counted."""
    found = patterns("question_patterns")["years counted"].search(asked)
    counted = parse_number(found.group("n")) if found else 0
    return counted if counted > 1 else None


def _ranked_years(core: str, periods: Sequence[FiscalPeriod], *, moving: bool = False) -> tuple[FiscalPeriod, ...]:
    """Return all years or quarters to rank: `between 2018 and 2022` includes those in between.

    With `moving`, listed years need the year before the first as well.
    """
    periods = with_those_between(periods, core)
    years = [period.fiscal_year for period in periods]
    parsed = parse_periods(core)
    if not years or any(period.quarter for period in periods) or parsed.since is not None:
        return tuple(periods)
    span = parsed.span
    if span is not None and span.form != "list" and (span.first, span.last) == (years[0], years[-1]):
        years = list(range(years[0], years[-1] + 1))
    elif moving:
        years.insert(0, years[0] - 1)
    return tuple(FiscalPeriod(fiscal_year=year) for year in years)


def _is_change_of_growth(query: Query) -> bool:
    """Return whether growth itself is said to rise or fall, or is averaged, so that it is the measure."""
    if query.axis is Axis.PERIODS:
        return query.combined in (Combination.AVERAGE, Combination.EACH)
    return query.comparison is None and query.claim is not None and query.claim.way in ("rose", "fell")


def _check_figures(query: Query, made: Sequence[RequestedMeasure], relation: Relation, lexicon: Lexicon) -> None:
    """Raise UnboundError for a figure over itself, the average of a flow over a year, what nothing opens."""
    of_parts = query.parts is not None or any(line.part for line in query.lines())
    if any(is_over_itself(parse_formula(one.expression), of_parts=of_parts) for one in made):
        raise UnboundError("a figure over itself, which is always 1: name the part or the period that is compared")
    one_year = relation in _MOVES.values() or (relation is Relation.EACH and len(query.periods) < 2)
    averaged = any(line.balance == "average" for line in _flows(query, lexicon))
    if one_year and averaged and len(query.measures) == 1:
        raise UnboundError("the years to average over: name them")
    _check_opening_balances(query, lexicon)


def _check_opening_balances(query: Query, lexicon: Lexicon) -> None:
    """Raise UnboundError for the opening balance of a flow, or of a quarter after the first."""
    opening = [line for line in query.lines() if isinstance(line, Line) and line.balance == "opening"]
    if any(one.opening for one in query.periods) and not all(_is_at_a_day(line, lexicon) for line in query.lines()):
        raise UnboundError("the span of what is compared: name its first and last day", is_final=True)
    if any(line in opening for line in _flows(query, lexicon)):
        raise UnboundError(f"the period of {opening[0].words}, which has no opening balance: name one", is_final=True)
    if opening and any((one.quarter or 1) > 1 for one in query.periods):
        raise UnboundError("the day: name the end of the quarter before in place of its beginning", is_final=True)


def _is_at_a_day(line: Line | NamedFormula, lexicon: Lexicon) -> bool:
    """Return whether a line, or all lines of a formula, are stated at a day, as far as is known."""
    if isinstance(line, Line) and not line.metric:
        return is_stock(line.words)
    metrics = [line.metric] if isinstance(line, Line) else lexicon.metrics_of(line.formula)
    return all(lexicon.metrics[one].period != "duration" for one in metrics if one)


def _check_spans(query: Query, relation: Relation, periods: Sequence[FiscalPeriod], lexicon: Lexicon) -> None:
    """Raise UnboundError if a flow is compared over spans of different length, such as a half-year and a year."""
    spans = {one.months or (3 if one.quarter else 12) for one in periods}
    flow = next(_flows(query, lexicon), None)
    if relation in (Relation.CHANGE, Relation.GROWTH) and len(spans) > 1 and flow is not None:
        spoken = " and ".join(map(str, periods))
        raise UnboundError(f"one length of period for {flow.words}: {spoken} do not compare", is_final=True)


def _flows(query: Query, lexicon: Lexicon) -> Iterator[Line]:
    """Yield the lines of metrics that are stated for a span of time."""
    for line in query.lines():
        if isinstance(line, Line) and line.metric and lexicon.metrics[line.metric].period == "duration":
            yield line


def _with_one_part(query: Query) -> Query:
    """Return the query with the only part named by its lines applied to all of them."""
    lines = [line for line in query.lines() if not getattr(line, "whole", False)]
    parts = {line.part for line in lines}
    wholes = ((share_of(one) or (without_move(one),))[0] for one in query.measures)
    without = any(isinstance(one, Operation) and one.operator == "-" for one in wholes)
    some_are_whole = len(lines) < len(list(query.lines()))
    part = parts.pop() if len(parts) == 1 else None
    if query.parts is not None or part is None or (without and some_are_whole):
        return query  # `revenue - Converse revenue`: the part is said of one line alone
    of_all = query.with_lines(lambda line: line.model_copy(update={"part": None})) or query
    return of_all.model_copy(update={"parts": Parts(names=(part,))})


def _with_own_period(line: Line | NamedFormula, intent: Intent, workspace: Workspace) -> Measure:
    """Return a line whose period ends on a printed day with the filer's period."""
    if line.period is None or not (line.period.end or line.period.opening):
        return line
    period = _fiscal_period(line.period, intent, workspace)
    if period.months is not None:
        raise UnboundError("one period for all lines: a single line cannot have a six- or nine-month period of its own")
    return line.model_copy(update={"period": Period(fiscal_year=period.fiscal_year, quarter=period.quarter)})


def metrics_to_search(plan: Plan, workspace: Workspace) -> frozenset[str]:
    """Return the metrics of required slots that no figure fills, though a printed line may.

    Fact search finds a metric of a primary statement in a note, or among the quarters that an annual report prints.
    """
    lacking = set()
    for slot in _required_metrics(plan):
        if slot.part is None and _is_computed(slot, workspace):
            continue
        of_part = metric_of_parts(slot.metric, workspace.lexicon) if slot.part is not None else None
        same = [slot] if of_part is None else [slot, slot.model_copy(update={"metric": of_part})]
        if not any(figures_of(one, workspace) for one in same):
            lacking.add(slot.metric)
    return frozenset(lacking)


def _is_computed(slot: Slot, workspace: Workspace) -> bool:
    """Return whether a metric is computed from stated figures: of a quarter, a balance from those at its end."""
    metric = workspace.lexicon.metrics[slot.metric]
    inputs = expression_inputs(metric.derive) if metric.derive else ()
    if slot.quarter is not None:
        balance = metric.period == "instant"
        return balance and any(figures_of(slot.model_copy(update={"metric": one}), workspace) for one in inputs)
    doc_ids = workspace.directory.by_key[slot.company].doc_ids
    return bool(inputs) and bool(workspace.index.facts(doc_ids, metrics=inputs, years=[slot.fiscal_year]))


def metrics_of_several_rows(plan: Plan, query: Query, workspace: Workspace) -> frozenset[str]:
    """Return the metrics of required slots that several rows of one page state with different figures.

    For example `Trade accounts receivable` and `Total accounts receivable, net`: the question's words decide. In a
    statement they do only where one of the rows has exactly these words.
    """
    called = {in_order(line.words) for line in query.lines()}
    return frozenset(
        slot.metric for slot in _required_metrics(plan) if _is_of_several_rows(figures_of(slot, workspace), called)
    )


def _is_of_several_rows(filling: Sequence[SourcedFact], called: Collection[tuple[str, ...]]) -> bool:
    if any(each.fact.statement is not None for each in filling) and all(
        in_order(each.fact.label) not in called for each in filling
    ):
        return False
    return any(
        one.key == other.key and one.fact.label != other.fact.label and not magnitudes_agree(one.fact, other.fact)
        for one, other in itertools.combinations(filling, 2)
    )


def _required_metrics(plan: Plan) -> Iterator[Slot]:
    return (slot for slot, required in plan.slots().items() if required and not slot.is_searched)


def figures_of(slot: Slot, workspace: Workspace) -> list[SourcedFact]:
    """Return the figures of the company's filings that fill a slot of a metric."""
    metrics, directory = workspace.lexicon.metrics, workspace.directory
    doc_ids = directory.by_key[slot.company].doc_ids
    stated = workspace.index.facts(doc_ids, metrics=[slot.metric], years=[slot.fiscal_year])
    return [each for each in stated if fills_slot(each, slot, metrics, directory.owners)]


def _selection(query: Query, lexicon: Lexicon) -> Selection | None:
    by, how = query.chosen_by, query.combined
    if by is None or how is None:
        return None
    pinned = {line.period for line in lines_of(by)}
    own = [period for period in pinned if period is not None]
    made = _bound(_in_period(without_move(by), None), lexicon)
    if len(pinned) > 1:
        raise UnboundError("a single period by which to choose the company: the question names several")
    return Selection(
        extreme=_BETWEEN[how],
        measure=made.words,
        expression=made.expression,
        measure_unit=made.measure_unit,
        relation=_MOVES[by.how] if isinstance(by, Move) else Relation.EACH,
        periods=tuple(FiscalPeriod(fiscal_year=one.fiscal_year or 0, quarter=one.quarter) for one in own),
    )


def _in_period(measure: Measure, period: Period | None) -> Measure:
    """Return the measure with the period applied to each of its lines."""
    return with_lines(measure, lambda line: line.model_copy(update={"period": period}))


def _periods(query: Query, intent: Intent, workspace: Workspace) -> tuple[FiscalPeriod, ...]:
    """Return the filer's periods in order: those of the question, else the last one that a line has of its own."""
    if any(period.half == _SECOND for period in query.periods):
        raise UnboundError(_SPANS)
    asked = query.periods or tuple(line.period for line in query.lines() if line.period is not None)
    dated = [one for one in asked if one.fiscal_year is not None or one.end is not None]
    found = sorted({_fiscal_period(one, intent, workspace) for one in dated}, key=_order)
    return tuple(found if query.periods else found[-1:])


_SPANS = "figures for this span: only fiscal years, quarters and year-to-date periods can be looked up"


def _companies(query: Query, intent: Intent, periods: Sequence[FiscalPeriod]) -> tuple[RequestedCompany, ...]:
    """Return the companies in the order of the query, each with its own period if they are named `respectively`."""
    known = {one.key: one for one in intent.companies}
    companies = [known[one.key] for one in query.companies if one.key in known] or list(intent.companies)
    ordered = any(sign in query.question.lower() for sign in _OPERATORS)
    if query.combined in _IN_ORDER and {one.key for one in companies} == known.keys() and not ordered:
        companies = list(intent.companies)  # `how far ahead of Bolt was Acme`
    one_figure = len(companies) < 2 and len(query.measures) < 2  # the figure in each period
    if not query.respectively or len(query.periods) < 2 or one_figure:
        return tuple(companies)
    named = [FiscalPeriod(fiscal_year=one.fiscal_year or 0, quarter=one.quarter) for one in query.periods]
    if len(named) != len(companies) or len(periods) > len(named):
        raise UnboundError("a period for each company: the question does not name as many periods as companies")
    pairs = zip(companies, named, strict=True)
    return tuple(company.model_copy(update={"period": period}) for company, period in pairs)


_OPERATORS = (" minus ", " less ", " / ", " - ", "divided by", "ratio of", "subtract")
"""To which the order of the companies matters: `Acme's revenue minus Bolt's`."""
_IN_ORDER = (Combination.RATIO, Combination.DIFFERENCE, Combination.EXCESS)


def _order(period: FiscalPeriod) -> tuple[int, int]:
    return period.fiscal_year, period.quarter or 5


def _fiscal_period(period: Period, intent: Intent, workspace: Workspace) -> FiscalPeriod:
    """Return the filer's own period; for a date, the one that ends on it; for the beginning of one, the one before."""
    if period.opening:
        of = _fiscal_period(period.model_copy(update={"opening": False}), intent, workspace)
        if of.quarter and of.quarter > 1 and period.months == 3:
            return of.model_copy(update={"quarter": of.quarter - 1, "months": None})
        return FiscalPeriod(fiscal_year=of.fiscal_year - 1)
    if period.end is not None and intent.companies:
        ended = {fiscal_period_of(period, identities_of(one.key, workspace)) for one in intent.companies}
        found = ended.pop()
        if not ended and found is not None:
            return found
        raise UnboundError(f"a period of that length that ends on {period.end} for every company")
    named = fiscal_period_of(period.model_copy(update={"end": None}), ())
    if named is None:
        raise UnboundError(_SPANS)
    return named


def _claim(query: Query, unit: str, relation: Relation) -> Claim | None:
    """Return the claim about the figures, its bound in the unit of the measure."""
    claim = query.claim
    if claim is None:
        return None
    if claim.way not in _ABOVE_AND_EQUAL:
        of_parts = query.axis is Axis.PARTS and query.combined in (Combination.COUNT, Combination.EVERY)
        filtered = of_parts or query.combined is Combination.FILTER
        directed = claim.way in ("rose", "fell") and (filtered or relation is Relation.TREND)
        return Claim(above=claim.way == "rose", bound=0.0 if filtered else None) if directed else None
    above, equal = _ABOVE_AND_EQUAL[claim.way]
    if claim.bound is None:
        return None if above is None else Claim(above=above)
    unit = "percent" if relation in (Relation.GROWTH, Relation.ANNUAL_GROWTH) else unit
    stated = claim.bound.unit
    scaled = ("USD",) if "$" in query.question else ("USD", "count", "shares")  # `more than 300 million members`
    fitting = {"percent": unit in _RATES, "bps": unit == "percent", "USD": unit.startswith(scaled)}
    if not fitting.get(stated, True):
        given = "dollars" if stated == "USD" else stated
        raise UnboundError(f"a threshold in {unit or 'the unit of the measure'}: the question gives one in {given}")
    scale = 100 if stated == "bps" or (stated, unit) == ("percent", "ratio") else 1
    within = claim.bound.within / scale if above is None else 0.0
    return Claim(above=above, bound=claim.bound.value / scale, equal=equal, within=within)


_ABOVE_AND_EQUAL = {
    "above": (True, False),
    "below": (False, False),
    "at-least": (True, True),
    "at-most": (False, True),
    "equal": (None, True),
}


def _members(
    query: Query, intent: Intent, periods: Sequence[FiscalPeriod], workspace: Workspace, searched: Collection[str]
) -> FamilyMembers:
    """Return the members that several parts, or a word for their kind, refer to.

    A single named part is a member only where its metric has to be `searched`, and no line has a part of its own.
    """
    parts = query.parts
    alone = parts is not None and len(parts.names) < 2 and parts.kind is None
    if parts is not None and len(intent.companies) == 1 and not any(line.part for line in query.lines()):
        of_page = members_of_one_page(query, intent.companies[0].key, periods, workspace)
        if of_page.names:
            return of_page
    if parts is None or (alone and (not searched or any(line.part for line in query.lines()))):
        return FamilyMembers()
    if len(intent.companies) != 1:
        raise UnboundError("the one company whose parts are asked for")
    try:
        return resolve_members(query, intent.companies[0].key, periods, workspace)
    except UnboundError:
        if alone:
            return FamilyMembers()
        raise


def _parts(query: Query, intent: Intent, members: FamilyMembers) -> dict[str, object]:
    """Return the requested parts; several are compared like companies."""
    if query.parts is None:
        return {}
    names = members.names or query.parts.names
    if len(names) == 1 and query.parts.kind is None:
        return {"parts": names}
    (company,) = intent.companies
    return {
        "parts": names,
        "companies": tuple(
            company.model_copy(update={"name": f"{name} of {company.name}", "part": name}) for name in names
        ),
    }


def unit_of_printed(intent: Intent, plan: Plan, workspace: Workspace) -> str | None:
    """Return the unit of a plan by the lines that fact search finds for it; None if they are not what is requested.

    A measure assumed to be in dollars gets the unit of its lines; any other keeps its own. Lines do not match the
    request if one is not found, if they are money where a count is requested, or if a quotient would divide a figure by
    itself or mix a printed percentage with an amount.
    """
    slots = plan.slots()
    searched = [slot for slot in slots if slot.is_searched]
    found = [facts_for(slot, workspace).matches for slot in searched]
    if not all(found):
        return None
    figures = [hits[0].sourced for hits in found]
    units = {each.fact.unit for each in figures}
    if _are_counted(intent) and units & {"USD", "percent", "USD per share"}:
        return None
    if " / " in intent.expression:
        rates_beside_amounts = units & _RATES and (units - _RATES or len(found) < len(slots))
        if len(set(figures)) < len(figures) or rates_beside_amounts:
            return None
        told = [slot for slot, each in zip(searched, figures, strict=True) if each.fact.source == "text"]
        if told and "count" in units and intent.measure_unit == "ratio":
            return _unit_per_count(told[0], intent, slots, workspace)
    return _shared_unit(units, intent, of_lines_alone=len(found) == len(slots))


def _are_counted(intent: Intent) -> bool:
    """Return whether a question is for a count, not of members of a family: `how many of its segments grew`."""
    computed = any(f" {sign} " in intent.expression for sign in "+-*/")
    asking = "how many " if computed else "number of "
    counts = any(
        not asked.startswith(_NOT_COUNTED)
        for each in {asking, "how many "}
        for asked in intent.core.lower().split(each)[1:]
    )
    return counts and intent.comparison not in (Between.FILTER, Between.RANK)


def _shared_unit(units: Collection[str], intent: Intent, *, of_lines_alone: bool) -> str:
    """Return the unit that all lines share, for a measure assumed to be in dollars; its own for any other."""
    alone = of_lines_alone and intent.measure_unit == "USD" and len(units) == 1
    return next(iter(units)) if alone else intent.measure_unit


def _unit_per_count(told: Slot, intent: Intent, slots: Iterable[Slot], workspace: Workspace) -> str | None:
    """Return the unit of a quotient by a count of a sentence: dollars if it is an amount over it; None if it is none.

    Whether a count of a table has the scale of the table is not known, so that it makes no amount.
    """
    others = [slot for slot in slots if slot.measure != told.measure]
    hits = [facts_for(slot, workspace).best for slot in others if slot.is_searched]
    units = {hit.sourced.fact.unit for hit in hits if hit is not None}
    units |= {workspace.lexicon.metrics[slot.metric].unit for slot in others if not slot.is_searched}
    amount, _, count = intent.expression.rpartition(" / ")
    return "USD" if units == {"USD"} and told.measure in count and " / " not in amount else None


_RATES = frozenset({"percent", "ratio"})
_NOT_COUNTED = ("percent", "$", "dollar", "million", "billion", "point", "basis point", "bps", "cents")
_UNITS = frozenset(OutputUnit.__args__)  # type: ignore[attr-defined]


def _unit(asked: str | None, unit: str, relation: Relation, between: Between) -> OutputUnit | None:
    """Return the requested unit if it fits the measure: `in millions` does not turn a ratio into dollars."""
    if asked == "basis points":  # shown in addition to a rate in percent
        return "percent" if unit == "ratio" or between is Between.RATIO else None
    if asked is None or asked not in _UNITS or (asked == "percentage points" and unit == "percent"):
        return None  # the change of a rate in percent is in points anyway
    if relation in (Relation.GROWTH, Relation.ANNUAL_GROWTH):
        return "percent"
    money = unit == "USD"
    if asked.startswith("USD"):
        return asked if money and between is not Between.RATIO else None  # type: ignore[return-value]
    return None if money and between is not Between.RATIO else asked  # type: ignore[return-value]


def unit_fits(asked: str, intent: Intent) -> bool:
    """Return whether an intent's answer can be given in a unit: amounts not in percent, rates not in dollars."""
    moved = intent.relation in (Relation.GROWTH, Relation.ANNUAL_GROWTH)
    is_rate = moved or intent.comparison in (Between.RATIO, Between.EXCESS) or intent.measure_unit in _RATES
    if asked in ("percent", "percentage points", "basis points"):
        return is_rate
    if asked == "days":
        return intent.measure_unit == "days"
    return not asked.startswith("USD") or (intent.measure_unit == "USD" and not is_rate)


def _bound(measure: Measure, lexicon: Lexicon, part: str = "", members: FamilyMembers = NO_MEMBERS) -> RequestedMeasure:
    expression = measure_expression(measure, lexicon, members)
    if isinstance(measure, Move) and measure.how == "growth":
        words = _part_label(f"yearly growth of {measure_text(measure.of)}", part)
        return RequestedMeasure(words=words, expression=expression, measure_unit="percent")
    fitting = with_rates_as_fractions(expression, lexicon)
    if fitting is None:
        raise UnboundError(f"a unit for `{measure_text(measure)}`: it combines amounts that do not share one")
    expression, unit = fitting, unit_of_formula(fitting, lexicon)
    words = _part_label(measure_text(measure), part)
    match share_of(measure):
        case Line() as of, Line(whole=True) as whole if part and (of.metric or of.words) == (
            whole.metric or whole.words
        ):
            words = f"{part} share of {whole.words}"
    return RequestedMeasure(words=words, expression=expression, measure_unit=unit)


def _part_label(words: str, part: str) -> str:
    """Return the measure with its part, `iPhone revenue`; unchanged if its words name the part."""
    return words if part.casefold() in words.casefold() else f"{part} {words}"


def measure_expression(measure: Measure, lexicon: Lexicon, members: FamilyMembers = NO_MEMBERS) -> str:
    """Return the measure in the grammar of `evidence.expressions`. Raises UnboundError."""

    def written(one: Measure) -> str:
        return measure_expression(one, lexicon, members)

    match measure:
        case Number(value=value, unit=unit):
            text = str(int(value)) if float(value).is_integer() else repr(value)
            return f"amount({text})" if unit == "USD" else text
        case Operation(operator="^", left=left, right=right):
            if not isinstance(right, Number) or right.value not in (2, 3):
                raise UnboundError("a whole number as the exponent")
            return " * ".join([f"({written(left)})"] * int(right.value))
        case Operation(operator=operator, left=left, right=right):
            before = written(left)
            if operator in _SUMS and isinstance(left, Operation) and left.operator in _SUMS:
                before = before[1:-1]  # `(a + b - c)`: a long sum has no bracket for each of its terms
            return f"({before} {operator} {written(right)})"
        case Function(name=name, of=parts):
            if name not in _FUNCTIONS:
                raise UnboundError(f"a way to compute {name}")
            joint, called = _FUNCTIONS[name]
            return f"{called}({joint.join(map(written, parts))})"
        case Move(of=of, how="change"):
            return f"change({written(of)})"
        case Move(of=of, how="growth", start=Period() as start, end=Period() as end):
            first, last = (written(_in_period(of, one)) for one in (start, end))
            return f"(100 * ({last} - {first}) / abs({first}))"
        case Move(of=of, how="growth"):
            inner = written(of)
            return f"(100 * change({inner}) / abs(prior({inner})))"
        case Move():
            raise UnboundError("a formula without a compound growth rate: ask for the growth rate separately")
        case Line() | NamedFormula():
            return _line_expression(measure, lexicon, members)


_SUMS = ("+", "-")
_FUNCTIONS = {"mean": (", ", "mean"), "sum": (" + ", ""), "abs": (", ", "abs")}
_AVERAGED = re.compile(r"\bavg\((?P<of>\w+(?:\([^()]*\))?)\)")


def _line_expression(line: Line | NamedFormula, lexicon: Lexicon, members: FamilyMembers) -> str:
    """Return the name of a line, `at` its pins, earlier by its shift, and as the balance that is asked for."""
    if isinstance(line, Line):
        text, pins = line.metric or f'"{_plain_words(line)}"', list(_table_pins(line, members))
    elif members.tables or members.in_formulas or line.closing:
        text, pins = f"({members.formula_expression(line.formula, lexicon)})", []
        text = _AVERAGED.sub(r"\g<of>", text) if line.closing else text
    else:
        text, pins = line.formula, []
    pins += [f'{name}="{value}"' for name, value in (("part", line.part), ("company", line.company)) if value]
    if line.period is not None and line.period.fiscal_year is not None:
        pins.append(f"year={line.period.fiscal_year}")
        pins += [f"quarter={line.period.quarter}"] if line.period.quarter else []
    text = f"at({text}, {', '.join(pins)})" if pins else text
    around = ["prior"] * -line.shift
    if isinstance(line, Line):
        around += ["whole"] if line.whole else []
        around += _OF_BALANCE.get(line.balance, [])
    return reduce(lambda inner, name: f"{name}({inner})", around, text)


_OF_BALANCE: dict[Balance | None, list[str]] = {"opening": ["prior"], "average": ["avg"]}


def _table_pins(line: Line, members: FamilyMembers) -> Iterator[str]:
    """Yield the table that states a line for each member, or its place, and the words that it is searched for by."""
    name = line.metric or line.words
    stated = not (line.whole and line.metric) or name in members.totals
    table = (members.tables.get(name) if stated else None) or line.place
    if table:
        yield f'table="{table}"'
    if line.metric in members.searched:
        yield f'words="{_plain_words(line)}"'


def _plain_words(line: Line) -> str:
    return line.words.replace('"', "").replace("\\", "")
