"""The figures that the annual reports of an index state, and the measures that questions ask for of them."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib import resources
from typing import TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from fin_agent.errors import LexiconError
from fin_agent.evidence.expressions import (
    Constant,
    Known,
    Magnitude,
    Mean,
    Node,
    Operation,
    Quantity,
    bind,
    parse_formula,
    slots_of,
)
from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.fiscal_periods import ANNUAL_FORMS
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.metrics import Formula, Metric, expression_inputs
from fin_agent.lexicon.slots import Slot
from fin_agent.vocabulary.fact import FactPeriod
from fin_agent.vocabulary.identity import Form
from fin_agent.workspace import Workspace

_QUARTERLY_FORMS = (Form.TEN_Q,)


@dataclass(frozen=True, slots=True)
class StatedFigure:
    """A figure of one company and period, and every filing that states it on the metric's statement."""

    company: str
    metric: str
    fiscal_year: int
    quarter: int | None
    value: Decimal
    """In base units, as people name it: outflows and costs are positive."""
    scale: int
    """The coarsest rounding it is printed in."""
    doc_ids: tuple[str, ...]
    """The filing whose own year is closest comes first."""

    @property
    def slot(self) -> SlotOfFigure:
        """What it is a figure of."""
        return self.company, self.metric, self.fiscal_year, self.quarter


SlotOfFigure = tuple[str, str, int, int | None]
"""Company, metric, fiscal year by the filer's own naming, quarter."""


class Figures:
    """Figures by company, metric and period, on each of which its sources agree."""

    def __init__(self, agreed: Mapping[SlotOfFigure, StatedFigure], named: Iterable[SlotOfFigure]) -> None:
        """`named` are the slots of which anything was stated, agreed on or not."""
        self._by_slot = agreed
        self._named = frozenset(named)
        self._periods: dict[tuple[str, str], list[tuple[int, int | None]]] = {}
        for company, metric, year, quarter in agreed:
            self._periods.setdefault((company, metric), []).append((year, quarter))

    def figure(self, company: str, metric: str, year: int, quarter: int | None = None) -> StatedFigure | None:
        """The figure agreed on; None where nothing states it."""
        return self._by_slot.get((company, metric, year, quarter))

    def years(self, company: str, metric: str) -> tuple[int, ...]:
        """Fiscal years with a figure, ascending."""
        return tuple(sorted(year for year, quarter in self._periods.get((company, metric), ()) if quarter is None))

    def quarters(self, company: str, metric: str) -> tuple[tuple[int, int], ...]:
        """(fiscal year, quarter) pairs with a figure, ascending."""
        periods = self._periods.get((company, metric), ())
        return tuple(sorted((year, quarter) for year, quarter in periods if quarter is not None))

    def is_named(self, company: str, metric: str, year: int, quarter: int | None = None) -> bool:
        """Whether anything states the metric and period, agreed on or not."""
        return (company, metric, year, quarter) in self._named

    def metrics(self, company: str) -> frozenset[str]:
        """Metrics of which anything is stated."""
        return frozenset(metric for owner, metric, _, _ in self._named if owner == company)


class StatedFigures(Figures):
    """What the annual and quarterly reports of an index state on their primary statements.

    A figure that filings disagree on, or that one filing states twice with different values, is left out: a question
    about it would have two answers.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._lexicon = workspace.lexicon
        self._owners = workspace.directory.owners
        self._own_year = {entry.doc_id: entry.identity.fiscal_year or 0 for entry in workspace.index.entries()}
        stated: dict[SlotOfFigure, list[SourcedFact]] = {}
        named: set[SlotOfFigure] = set()
        for entry in workspace.index.entries():
            form = entry.identity.form
            company = self._owners.get(entry.doc_id)
            if company is None:
                continue
            for sourced in workspace.index.facts([entry.doc_id]):
                name, period = sourced.fact.metric, sourced.fact.period
                if name is None or name not in self._lexicon.metrics:
                    continue
                key = (company, name, period.fiscal_year, period.quarter)
                named.add(key)
                annual = form in ANNUAL_FORMS and period.quarter is None
                quarterly = form in _QUARTERLY_FORMS and period.quarter is not None
                if (annual or quarterly) and _on_its_statement(sourced, self._lexicon.metrics[name]):
                    stated.setdefault(key, []).append(sourced)
        agreed = ((key, self._agreed(key, facts)) for key, facts in stated.items())
        super().__init__({key: figure for key, figure in agreed if figure is not None}, named)

    def _agreed(self, key: SlotOfFigure, facts: list[SourcedFact]) -> StatedFigure | None:
        company, name, year, quarter = key
        metric = self._lexicon.metrics[name]
        ordered = sorted(facts, key=lambda sourced: (abs(self._own_year[sourced.doc_id] - year), sourced.doc_id))
        values = [_as_named(sourced, metric) for sourced in ordered]
        scale = max(sourced.fact.scale for sourced in ordered)
        if metric.unit != "USD per share" and any(abs(value - values[0]) > scale for value in values):
            return None
        if metric.unit == "USD per share" and len(set(values)) > 1:
            return None
        doc_ids = tuple(dict.fromkeys(sourced.doc_id for sourced in ordered))
        return StatedFigure(company, name, year, quarter, values[0], scale, doc_ids)


def fewest_filings(figures: Iterable[StatedFigure]) -> tuple[str, ...]:
    """Filings that state all `figures` together, chosen greedily: each states as many of the rest as any."""
    left = list(figures)
    chosen: list[str] = []
    while left:
        counts = Counter(doc_id for figure in left for doc_id in figure.doc_ids)
        chosen.append(min(counts, key=lambda doc_id: (-counts[doc_id], doc_id)))
        left = [figure for figure in left if chosen[-1] not in figure.doc_ids]
    return tuple(chosen)


def _on_its_statement(sourced: SourcedFact, metric: Metric) -> bool:
    fact = sourced.fact
    at_home = metric.statement is not None and fact.statement is metric.statement
    return at_home and fact.tied and fact.scope is None and fact.unit == metric.unit and _whole(fact.period, metric)


def _whole(period: FactPeriod, metric: Metric) -> bool:
    if metric.period == "instant":
        return period.months == 0
    return period.months == (3 if period.quarter else 12)


def _as_named(sourced: SourcedFact, metric: Metric) -> Decimal:
    value = sourced.fact.value
    return abs(value) if metric.sign in ("outflow", "expense") else value


_Read = TypeVar("_Read", bound=BaseModel)


class AskedNames(BaseModel):
    """Names of a measure: those that take `was`, those that take `were`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    singular: tuple[str, ...] = ()
    plural: tuple[str, ...] = ()
    whole: str | None = None
    """A wider metric: where a filing states another figure for that, the names could mean either."""


class Measures(BaseModel):
    """What may be asked for, by the ids of the lexicon, and what it is called."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    metrics: dict[str, AskedNames]
    formulas: dict[str, AskedNames]


@dataclass(frozen=True, slots=True)
class AskedMeasure:
    """A metric or formula that questions are made for."""

    id: str
    names: AskedNames
    unit: str
    """Of its value: `USD`, `USD per share`, `percent`, `ratio`."""
    is_formula: bool
    is_balance: bool
    """A figure of a day, which adds up over no years."""


@dataclass(frozen=True, slots=True)
class Computed:
    """A measure of one company and year, with the stated figures it was computed from."""

    value: float
    figures: tuple[StatedFigure, ...]

    @property
    def rounding(self) -> float:
        """How far the figures' rounding may move a sum of them."""
        return float(sum(figure.scale for figure in self.figures))


def asked_measures(lexicon: Lexicon, listed: Measures | None = None) -> tuple[AskedMeasure, ...]:
    """The measures listed, those of measures.yaml where none are given, in their order."""
    listed = listed or read_yaml("measures", Measures)
    metrics = (
        AskedMeasure(name, names, lexicon.metrics[name].unit, False, lexicon.metrics[name].period == "instant")
        for name, names in listed.metrics.items()
    )
    formulas = (
        AskedMeasure(name, names, lexicon.formulas[name].unit, True, _of_balances(lexicon.formulas[name], lexicon))
        for name, names in listed.formulas.items()
    )
    return (*metrics, *formulas)


def _of_balances(formula: Formula, lexicon: Lexicon) -> bool:
    inputs = [lexicon.metrics[name] for name in expression_inputs(formula.expression) if name in lexicon.metrics]
    return bool(inputs) and all(metric.period == "instant" for metric in inputs)


def compute(measure: AskedMeasure, company: str, year: int, figures: Figures, lexicon: Lexicon) -> Computed | None:
    """The measure from figures stated; None where one is not, or where its name could mean another figure."""

    def slot_of(asked: Quantity) -> Slot:
        named = asked.name
        return Slot(
            company=company, company_name="", metric=named, label=named, fiscal_year=asked.year or year + asked.shift
        )

    def formula_of(name: str) -> Node | None:
        return parse_formula(lexicon.formulas[name].expression) if name in lexicon.formulas else None

    tree = bind(parse_formula(measure.id), slot_of=slot_of, formula_of=formula_of, derive_of=lambda asked: None)
    used: dict[Slot, StatedFigure] = {}
    for slot, _ in slots_of(tree):
        figure = figures.figure(company, slot.metric, slot.fiscal_year)
        if figure is None:
            return None
        used[slot] = figure
    whole = figures.figure(company, measure.names.whole, year) if measure.names.whole else None
    if whole is not None and any(whole.value != figure.value for figure in used.values()):
        return None
    try:
        value = _value(tree, lambda slot: float(used[slot].value))
    except ZeroDivisionError:
        return None
    return None if value is None else Computed(value, tuple(used.values()))


def read_yaml(name: str, kind: type[_Read], package: str = __package__) -> _Read:
    """`name`.yaml of a package, checked. Raises LexiconError that names the file and the field."""
    text = resources.files(package).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    loaded: Mapping[str, object] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    try:
        return kind.model_validate(loaded)
    except ValidationError as failure:
        raise LexiconError(str(failure), subject=f"{name}.yaml", remedy="Correct that field") from failure


_APPLIED: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def _value(node: Node, known: Callable[[Slot], float]) -> float | None:
    """None for what a formula leaves open: alternatives and optional parts have no one right value here."""
    match node:
        case Constant(value):
            return float(value)
        case Known(slot):
            return known(slot)
        case Operation(sign, left, right):
            first, second = _value(left, known), _value(right, known)
            if first is None or second is None:
                return None
            return _APPLIED[sign](first, second)
        case Mean(parts):
            values = [value for value in (_value(part, known) for part in parts) if value is not None]
            return sum(values) / len(values) if len(values) == len(parts) else None
        case Magnitude(of):
            inner = _value(of, known)
            return None if inner is None else abs(inner)
        case _:
            return None
