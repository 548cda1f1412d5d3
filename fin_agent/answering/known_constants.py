"""Numbers that need no source where they do what such a number does: percent, days, counts of terms and years."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from decimal import Decimal

from fin_agent.answering.literals import Literal, Role


def is_known_constant(
    literal: Literal,
    *,
    spans: Collection[Decimal],
    asked: Collection[Decimal],
    accumulators: Collection[str],
    rescaling: bool,
) -> bool:
    """Whether a number is trusted for what it does.

    `spans` are the lengths in years that an exponent may hold, `asked` the numbers of the question, `rescaling` whether
    a power of a thousand may multiply what is no single figure.
    """
    value = abs(literal.value)
    match literal.role:
        case Role.FIGURE:
            return _is_named(literal, accumulators) and (rescaling or value not in _POWERS)
        case Role.FACTOR if literal.terms is not None and value in _COUNTS_OF_TERMS:
            return value == literal.terms
        case Role.FACTOR:
            return value in _FACTORS or (value in _RARE_FACTORS and value in asked) or (rescaling and value in _POWERS)
        case Role.EXPONENT:
            return value in (0, 1) or value in spans or (value != 0 and 1 / value in spans)
        case role:
            return value in _CONSTANTS.get(role, frozenset())


_FACTORS = frozenset(map(Decimal, (1, 2, 3, 4, 12, 52, 100, 365)))
_RARE_FACTORS = frozenset(map(Decimal, (53, 360, 366)))
"""Trusted where the question says them: a year has 365 days unless it is said to have another number."""
_POWERS = frozenset(map(Decimal, (10**3, 10**6, 10**9)))
_COUNTS_OF_TERMS = frozenset(map(Decimal, range(1, 13)))
"""What divides a sum is how many terms it has."""
_CONSTANTS: Mapping[Role, frozenset[Decimal]] = {
    Role.ADDED: frozenset(map(Decimal, (0, 1))),
    Role.SUBTRACTED: frozenset(map(Decimal, (0, 1, 100))),
    Role.COMPARED: frozenset(map(Decimal, (0, 1))),
    Role.POSITION: frozenset(map(Decimal, range(13))),
}
_NAMED_CONSTANTS: Mapping[str, frozenset[Decimal]] = {
    **dict.fromkeys(("day", "days"), frozenset((Decimal(365),))),
    **dict.fromkeys(("week", "weeks"), frozenset((Decimal(52),))),
    **dict.fromkeys(("month", "months"), frozenset((Decimal(12),))),
    **dict.fromkeys(("quarter", "quarters"), frozenset((Decimal(4),))),
    **dict.fromkeys(("percent", "pct", "hundred"), frozenset((Decimal(100),))),
    **dict.fromkeys(("thousand", "thousands"), frozenset((Decimal(10**3),))),
    **dict.fromkeys(("million", "millions"), frozenset((Decimal(10**6),))),
    **dict.fromkeys(("billion", "billions"), frozenset((Decimal(10**9),))),
    **dict.fromkeys(("scale", "multiplier", "divisor"), frozenset(map(Decimal, (100, 10**3, 10**6, 10**9)))),
}
_FILLING_WORDS = frozenset(
    ("a", "an", "the", "in", "per", "of", "to", "one", "year", "years", "usd", "unit", "units", "factor", "number", "n")
)


def _is_named(literal: Literal, accumulators: Collection[str]) -> bool:
    """`days_in_year = 365`: every word of the name is about the constant; or a start of 0 or 1."""
    if literal.variable is None:
        return False
    if literal.variable in accumulators and literal.value in (0, 1):
        return True
    words = set(literal.variable.lower().split("_"))
    naming = words & _NAMED_CONSTANTS.keys()
    only_naming = naming and words <= _NAMED_CONSTANTS.keys() | _FILLING_WORDS
    return bool(only_naming) and any(literal.value in _NAMED_CONSTANTS[word] for word in sorted(naming))
