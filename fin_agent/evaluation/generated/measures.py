"""What generated questions ask for: metrics and formulas with the names that people give them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from fin_agent.errors import LexiconError
from fin_agent.evaluation.generated.figures import StatedFigure, StatedFigures
from fin_agent.evidence.expressions import (
    Choice,
    Constant,
    IfReported,
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
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.metrics import Formula, expression_inputs
from fin_agent.lexicon.slots import Slot

_Read = TypeVar("_Read", bound=BaseModel)


class AskedNames(BaseModel):
    """Names of a measure: those that take `was`, those that take `were`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    singular: tuple[str, ...] = ()
    plural: tuple[str, ...] = ()
    whole: str | None = None
    """A wider metric: where a filing states another figure for that, the names could mean either."""


class _Measures(BaseModel):
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


def asked_measures(lexicon: Lexicon) -> tuple[AskedMeasure, ...]:
    """The measures of measures.yaml, in its order."""
    listed = read_yaml("measures", _Measures)
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


def compute(
    measure: AskedMeasure, company: str, year: int, figures: StatedFigures, lexicon: Lexicon
) -> Computed | None:
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


def read_yaml(name: str, kind: type[_Read]) -> _Read:
    """`name`.yaml of this package, checked. Raises LexiconError that names the file and the field."""
    text = resources.files(__package__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
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
        case Choice() | IfReported():
            return None
        case _:
            return None
