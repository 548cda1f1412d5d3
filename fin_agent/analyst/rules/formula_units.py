"""The unit of a formula's value by its inputs: dollars over dollars are a ratio, days stay days."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from fin_agent.errors import LexiconError
from fin_agent.evidence.expressions import Constant, Function, Node, Operation, Quantity, leaves_of, parse_formula
from fin_agent.lexicon.lexicon import Lexicon


class IncompatibleUnitsError(ValueError):
    """Amounts of different units are added or subtracted, or the result has no unit of figures."""


def unit_of_formula(expression: str, lexicon: Lexicon) -> str:
    """Return the unit of an expression's value: `USD`, `percent`, `ratio`, `days`, `shares`, `USD per share`, `count`.

    Raises IncompatibleUnitsError, such as for dollars added to a ratio, or dollars squared.
    """
    try:
        root = parse_formula(expression)
    except LexiconError as error:
        raise IncompatibleUnitsError(str(error)) from error
    for plain in (False, True):  # `revenue / 365 + capex`: 365 may be a plain number as well
        with suppress(IncompatibleUnitsError):
            return _unit_of_tree(root, lexicon, plain)
    raise IncompatibleUnitsError(expression)


def _unit_of_tree(root: Node, lexicon: Lexicon, plain: bool) -> str:
    found = _dimension(root, lexicon, plain)
    named = (leaf.name for leaf in leaves_of(root) if not leaf.printed)
    rates = {lexicon.definition(name).unit for name in named} & {"percent", "days"}
    if found.dollars == 1 and not (found.shares or found.heads or rates):
        found = _UNITS["USD"]  # `revenue * 365`, `cash * 100`: a number in the question does not change the unit
    for unit, dimension in _UNITS.items():
        if found == dimension:
            return unit
    if not found.days and not found.hundreds and (found.heads or found.shares):
        return "USD" if found.dollars else "ratio"  # an amount per head
    raise IncompatibleUnitsError("no unit of figures")


def with_rates_as_fractions(expression: str, lexicon: Lexicon) -> str | None:
    """Return the expression, with percentages as fractions if only then it has a unit: `1 - effective tax rate`.

    None if it has no unit either way.
    """
    for one in (expression, _RATE.sub(lambda name: _as_fraction(name.group(), lexicon), expression)):
        try:
            unit_of_formula(one, lexicon)
        except IncompatibleUnitsError:
            continue
        return one
    return None


_RATE = re.compile(r'"[^"]*"|\b[a-z][a-z0-9_]*\b(?:\[\d+\])?(?!\s*\()')
"""A name, or a quoted printed line, which is kept."""


def _as_fraction(name: str, lexicon: Lexicon) -> str:
    plain = name.split("[")[0]
    if plain not in lexicon.metrics and plain not in lexicon.formulas:
        return name
    return f"({name} / 100)" if lexicon.definition(plain).unit == "percent" else name


class _Dimension(NamedTuple):
    """Powers of the kinds of unit; percentages are a hundred times the fraction."""

    dollars: int = 0
    shares: int = 0
    heads: int = 0
    days: int = 0
    hundreds: int = 0


_UNITS: Mapping[str, _Dimension] = {
    "USD": _Dimension(dollars=1),
    "percent": _Dimension(hundreds=1),
    "ratio": _Dimension(),
    "days": _Dimension(days=1),
    "shares": _Dimension(shares=1),
    "USD per share": _Dimension(dollars=1, shares=-1),
    "count": _Dimension(heads=1),
}
_DAYS_OF_A_YEAR = range(360, 367)
_HUNDRED = 100


def _dimension(node: Node, lexicon: Lexicon, plain: bool) -> _Dimension:
    """Return the dimension of an expression; `plain` constants are neither days nor a hundred percent."""
    match node:
        case Constant(unit="USD"):
            return _UNITS["USD"]
        case Constant(value, unit):
            if plain and not unit:
                return _Dimension()
            if value in _DAYS_OF_A_YEAR:
                return _UNITS["days"]
            return _UNITS["percent"] if value == _HUNDRED else _Dimension()
        case Quantity(printed=True):
            return _UNITS["USD"]  # the unit is known once the line is found
        case Quantity(name):
            try:
                return _UNITS[lexicon.definition(name).unit]
            except KeyError:
                raise IncompatibleUnitsError(name) from None
        case Operation(operator, left, right):
            return _combine_dimensions(
                operator, _dimension(left, lexicon, plain), _dimension(right, lexicon, plain), left
            )
        case Function(_, parts):
            found = {_dimension(part, lexicon, plain) for part in parts}
            if len(found) > 1:
                raise IncompatibleUnitsError("parts of unlike units")
            return found.pop()
        case _:
            raise IncompatibleUnitsError("no unit is known")


def _combine_dimensions(operator: str, first: _Dimension, second: _Dimension, left: Node) -> _Dimension:
    if operator in "*/":
        sign = 1 if operator == "*" else -1
        return _Dimension(*(one + sign * other for one, other in zip(first, second, strict=True)))
    if isinstance(left, Constant) and not left.value:
        return second  # a sign
    if first != second:
        raise IncompatibleUnitsError("a sum of unlike units")
    return first
