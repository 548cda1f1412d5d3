"""Amounts formatted with scale and unit: `$6,489 million`."""

from __future__ import annotations

from decimal import Decimal

SCALE_WORDS = {1: "", 1_000: "thousand", 1_000_000: "million", 1_000_000_000: "billion"}


def amount_with_unit(amount: Decimal, scale: int, unit: str) -> str:
    """Return an amount, given in units of `scale`, with its scale and unit.

    >>> amount_with_unit(Decimal("6489"), 1_000_000, "USD"), amount_with_unit(Decimal("-1.25"), 1, "USD per share")
    ('$6,489 million', '-$1.25 per share')
    >>> amount_with_unit(Decimal("12.5"), 1, "percent"), amount_with_unit(Decimal(770), 1_000_000, "shares")
    ('12.5%', '770 million shares')
    """
    number, scaled = f"{abs(amount):,f}", SCALE_WORDS.get(scale, f"x {scale:,}")
    match unit:
        case "USD":
            words = [f"${number}", scaled]
        case "USD per share":
            words = [f"${number}", "per share"]
        case "percent":
            words = [f"{number}%"]
        case "ratio" | "count":
            words = [number, scaled]
        case _:
            words = [number, scaled, unit]
    return ("-" if amount < 0 else "") + " ".join(filter(None, words))
