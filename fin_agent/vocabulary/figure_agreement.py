"""Compare printed figures within their precision."""

from __future__ import annotations

from decimal import Decimal
from typing import Protocol


class PrintedFigure(Protocol):
    """A figure as printed: a fact, or an entry of a ledger."""

    @property
    def amount(self) -> Decimal:
        """The amount in units of `scale`."""

    @property
    def scale(self) -> int:
        """Factor from `amount` to base units."""

    @property
    def value(self) -> Decimal:
        """The amount in base units."""


def figures_agree(one: PrintedFigure, other: PrintedFigure) -> bool:
    """Return whether two figures are equal within the last printed place of the less precise one.

    Signs count; use `magnitudes_agree` where printed signs may differ by convention.
    """
    return abs(one.value - other.value) <= _rounding(one, other)


def magnitudes_agree(one: PrintedFigure, other: PrintedFigure) -> bool:
    """Return whether two figures agree without their signs."""
    return abs(abs(one.value) - abs(other.value)) <= _rounding(one, other)


def are_same_magnitude(one: PrintedFigure, other: PrintedFigure) -> bool:
    """Return whether two figures are one but for sign and rounding: not 0.45 and 0.46, though 16,988 and 16,989."""
    apart, rounding = abs(abs(one.value) - abs(other.value)), _rounding(one, other)
    return 2 * apart <= rounding or (apart <= rounding and apart <= _ROUNDED_APART * abs(one.value))


_ROUNDED_APART = Decimal("0.005")
"""Share of a figure by which two prints of it differ that were rounded on their own."""


def last_place(printed: PrintedFigure) -> Decimal:
    """Return the value of one unit in the last printed digit, in base units: 100 million for `$22.0 billion`."""
    exponent = printed.amount.as_tuple().exponent
    places = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    return printed.scale * Decimal(1).scaleb(-places)


def _rounding(one: PrintedFigure, other: PrintedFigure) -> Decimal:
    return max(last_place(one), last_place(other))
