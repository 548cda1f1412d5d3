"""What the result of a model's program measures, read off its code: dollars, shares, a percentage, and the scale."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import NamedTuple

from fin_agent.answering.program_numbers import SCALES, number_of, power_of_ten, scaling_of
from fin_agent.answering.program_syntax import ProgramError, program_tree
from fin_agent.answering.provenance import Binding, Provenance, Source


class Measure(NamedTuple):
    """Dollars to a power, shares to a power, and what a number of it is multiplied with to get base units."""

    dollars: int = 0
    shares: int = 0
    hundreds: int = 0
    """With which power of 100 it is multiplied: 1 for a percentage."""
    stretches: int = 0
    """With which power of a number of days, weeks or months in a year it is multiplied."""
    scale: Fraction = Fraction(1)
    loose: bool = False
    """A number of the question, or zero: it may be compared with, added to and taken from anything."""

    @property
    def dimension(self) -> tuple[int, int]:
        """(1, 0) for an amount, (1, -1) for one per share, (0, 0) for neither dollars nor shares."""
        return self.dollars, self.shares

    def to_the(self, power: int) -> Measure:
        """The measure of a number of this one, to a power."""
        one, two, three, four = (each * power for each in self[:4])
        return Measure(one, two, three, four, self.scale**power, self.loose)

    def times(self, other: Measure) -> Measure:
        """The measure of a product."""
        one, two, three, four = (own + its for own, its in zip(self[:4], other[:4], strict=True))
        return Measure(one, two, three, four, self.scale * other.scale, self.loose or other.loose)


def measure_of(code: str, provenance: Provenance) -> Measure | None:
    """Of what a program returns; None for truth values and texts.

    Raises ProgramError where unlike is added or compared, as dollars with shares, or a percentage with a ratio; and for
    a power of a thousand that brings no printed figure to the scale of the others.
    """
    reading = _Reading(code, provenance)
    for statement in program_tree(code).body:
        reading.statement(statement)
    return reading.returned()


_PURE = Measure()
_PERCENT = Measure(hundreds=1)
_LOOSE = Measure(loose=True)
_STRETCH = Measure(stretches=1)
_OF_A_YEAR = frozenset(map(Decimal, (12, 52, 53, 360, 365, 366)))
_OF_UNITS: Mapping[str, Measure] = {
    "USD": Measure(dollars=1), "shares": Measure(shares=1), "USD per share": Measure(1, -1), "percent": _PERCENT,
    "percentage points": _PERCENT,
}  # fmt: skip
_HUNDREDTH = Fraction(1, 100)
_MOST_POWER = 12


class _Reading:
    def __init__(self, code: str, provenance: Provenance) -> None:
        self._code = code
        self._bound: dict[tuple[int, str], Binding] = {}
        for binding in provenance.bindings:
            self._bound.setdefault((binding.line, binding.literal.lstrip("-")), binding)
        self._held: dict[str, Measure | None] = {}
        self._returned: list[Measure] = []

    def returned(self) -> Measure | None:
        return _alike(self._returned, None) if self._returned else None

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef(body=body):
                self._block(body)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._held[name] = self._measure(value)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                left, right = self._held.get(name) or _LOOSE, self._measure(value) or _LOOSE
                self._held[name] = self._computed(left, op, right, value, target)
            case ast.If(test=test, body=body, orelse=orelse):
                self._measure(test)
                before = dict(self._held)
                self._block(body)
                after, self._held = self._held, before
                self._block(orelse)
                for name, measure in after.items():
                    mine = self._held.get(name)
                    self._held[name] = _alike([mine, measure], node) if mine and measure else mine or measure
            case ast.Return(value=value) if value is not None:
                measure = self._measure(value)
                self._returned += [measure] if measure is not None else []

    def _block(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def _measure(self, node: ast.expr) -> Measure | None:
        match node:
            case ast.Constant(value=bool() | str()):
                return None
            case ast.Constant():
                return self._literal(node)
            case ast.Name(id=name):
                return self._held.get(name)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self._measure(operand)
                return None
            case ast.UnaryOp(operand=operand):
                return self._measure(operand)
            case ast.BinOp(left=left, op=op, right=right):
                scaling = scaling_of(node)
                if scaling is not None and number_of(scaling[0]) not in SCALES:
                    return self._literal(scaling[0])
                if power_of_ten(node) in SCALES:
                    raise _scale_elsewhere(node.lineno)
                if isinstance(op, ast.Pow) and number_of(left) is not None:
                    raise _unlike(node, "a bare number and a power of it")
                one, other = self._measure(left) or _LOOSE, self._measure(right) or _LOOSE
                return self._computed(one, op, other, right, node)
            case ast.Compare(left=left, comparators=others):
                self._of_all((left, *others), node)
                return None
            case ast.BoolOp(values=values):
                for value in values:
                    self._measure(value)
                return None
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self._measure(test)
                return self._of_all((body, orelse), node)
            case ast.List(elts=members) | ast.Tuple(elts=members):
                return self._of_all(members, node)
            case ast.Subscript(value=value):
                return self._measure(value)
            case ast.Call(func=ast.Name(id="round"), args=[value, *_]):
                return self._measure(value)
            case ast.Call(args=arguments):
                return self._of_all(arguments, node)
            case _:
                return None

    def _of_all(self, nodes: Iterable[ast.expr], at: ast.AST) -> Measure | None:
        measures = [measure for node in nodes if (measure := self._measure(node)) is not None]
        return _alike(measures, at) if measures else None

    def _computed(self, left: Measure, op: ast.operator, right: Measure, exponent: ast.expr, at: ast.AST) -> Measure:
        if isinstance(op, ast.Mult):
            return left.times(right)
        if isinstance(op, ast.Div):
            return left.times(right.to_the(-1))
        if isinstance(op, ast.Pow):
            return self._power(left, right, exponent, at)
        return _alike([left, right], at)

    def _power(self, base: Measure, exponent: Measure, written: ast.expr, at: ast.AST) -> Measure:
        if exponent.dimension != (0, 0) or exponent.hundreds or exponent.scale != 1:
            raise _unlike(at, "a figure stands in an exponent")
        if base._replace(loose=False) == _PURE:
            return base
        power = number_of(written)
        if power == 0:
            raise _unlike(at, "a figure to the power of 0, which is 1 whatever the figure,", "Leave it out.")
        if power is None or power != int(power) or abs(power) > _MOST_POWER:
            raise _unlike(at, "a root of dollars, shares or percentages")
        return base.to_the(int(power))

    def _literal(self, node: ast.expr) -> Measure:
        bare = node.operand if isinstance(node, ast.UnaryOp) else node
        value = number_of(bare)
        source = (ast.get_source_segment(self._code, bare) or "").lstrip("-")
        binding = self._bound.get((bare.lineno, source))
        if value is None or binding is None or not value:
            return _LOOSE
        if binding.fact is not None:
            return _of_figure(binding)
        if binding.source is Source.QUESTION:
            return _LOOSE
        if value in SCALES:
            raise _scale_elsewhere(bare.lineno)
        return _PERCENT if value == Decimal(100) else _STRETCH if value in _OF_A_YEAR else _PURE


def _scale_elsewhere(line: int) -> ProgramError:
    return ProgramError(
        f"line {line}: a power of a thousand stands elsewhere than behind a printed figure",
        remedy="Leave scaling to the unit: return the result in the scale of the figures, and bring figures of another "
        "scale to it where they are assigned (`debt = 1.2 * 1000`).",
        line=line,
    )


def _of_figure(binding: Binding) -> Measure:
    assert binding.fact is not None
    unit = _OF_UNITS.get(binding.fact.unit, _PURE)
    scale = Fraction(binding.scale) if binding.scale is not None else Fraction(binding.fact.scale)
    if unit is _PERCENT and scale == _HUNDREDTH:
        return _PURE
    return unit._replace(scale=scale)


def _alike(measures: Iterable[Measure], at: ast.AST | None) -> Measure:
    """The one measure that all are of, those aside that go with anything."""
    return reduce(lambda one, other: _both(one, other, at), measures)


def _both(one: Measure, other: Measure, at: ast.AST | None) -> Measure:
    if one.loose and one.dimension == (0, 0):
        return other
    if other.loose and other.dimension == (0, 0):
        return one
    if one.dimension != other.dimension:
        raise _unlike(at, f"{_told(one)} and {_told(other)}")
    if one.scale != other.scale:
        what = f"figures in units of {_printed(one.scale)} and in units of {_printed(other.scale)}"
        raise _unlike(at, what, "Bring both to one scale where the figure is assigned, as in `debt = 1.2 * 1000`.")
    if one.hundreds != other.hundreds and not (one.loose or other.loose):
        raise _unlike(at, "a percentage and a ratio", "Multiply the ratio by 100, or divide the percentage by it.")
    if one.stretches != other.stretches and not (one.loose or other.loose):
        raise _unlike(at, "a number of days, weeks or months and something else")
    return one._replace(loose=one.loose and other.loose)


def _told(measure: Measure) -> str:
    named = {(1, 0): "dollars", (0, 1): "shares", (1, -1): "dollars per share", (0, 0): "a number of neither"}
    return named.get(measure.dimension, "something else")


def _printed(scale: Fraction) -> str:
    return f"{int(scale):,}" if scale.denominator == 1 else str(scale)


def _unlike(at: ast.AST | None, what: str, remedy: str = "Look at what is added to what.") -> ProgramError:
    line = getattr(at, "lineno", None)
    where = f"line {line}: " if line else "the results: "
    return ProgramError(f"{where}{what} do not go together", remedy=remedy, line=line)
