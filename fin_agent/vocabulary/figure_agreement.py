"""When two printed figures say the same."""

from __future__ import annotations

from decimal import Decimal
from typing import Protocol


class PrintedFigure(Protocol):
    """A figure as printed: a fact, or what a ledger holds of one."""

    @property
    def amount(self) -> Decimal:
        """In units of `scale`."""

    @property
    def scale(self) -> int:
        """What `amount` is multiplied with to get base units."""

    @property
    def value(self) -> Decimal:
        """In base units."""


def figures_agree(one: PrintedFigure, other: PrintedFigure) -> bool:
    """Whether the two are equal within the last place of the coarser print: $1.85 and $1.17 a share are not.

    Signs count; where prints may differ in sign by convention, `magnitudes_agree` leaves them out.
    """
    return abs(one.value - other.value) <= _rounding(one, other)


def magnitudes_agree(one: PrintedFigure, other: PrintedFigure) -> bool:
    """The same of the figures without their signs."""
    return abs(abs(one.value) - abs(other.value)) <= _rounding(one, other)


def last_place(printed: PrintedFigure) -> Decimal:
    """What one more in the last printed digit is worth, in base units: 100 million for `$22.0 billion`."""
    exponent = printed.amount.as_tuple().exponent
    places = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    return printed.scale * Decimal(1).scaleb(-places)


def _rounding(one: PrintedFigure, other: PrintedFigure) -> Decimal:
    return max(last_place(one), last_place(other))
