"""Amounts as people write them, and rounded as people round."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

_ANY_SIZE = Context(prec=400)
_DECIMALS: dict[str, int] = {
    "percent": 1,
    "percentage points": 1,
    "ratio": 2,
    "days": 2,
    "USD per share": 2,
    "years": 1,
}


def shown(value: float, unit: str, decimals: int | None = None) -> str:
    """A value as people write it: `$11,588 million`, `65.4%`, `24.26`, `93.86 days`."""
    if unit.startswith("USD"):
        places = decimals if decimals is not None else (2 if unit == "USD per share" else _places(value))
        amount = _fixed(abs(value), places)
        sign = "-" if _half_up(value, places) < 0 else ""
        scale = {"USD thousands": " thousand", "USD millions": " million", "USD billions": " billion"}.get(unit, "")
        return f"{sign}${amount}{scale}{' per share' if unit == 'USD per share' else ''}"
    places = decimals if decimals is not None else _DECIMALS.get(unit, _places(value))
    number = _fixed(value, places)
    return {"percent": f"{number}%", "ratio": number, "count": number}.get(unit, f"{number} {unit}")


def rounded(value: float, decimals: int | None) -> float:
    """Half up, as people round; binary noise beyond ten significant digits is cut where no rounding was asked."""
    return float(f"{value:.10g}") if decimals is None else float(_half_up(value, decimals))


def _half_up(value: float, places: int) -> Decimal:
    rounded = Decimal(repr(value)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _ANY_SIZE)
    return rounded if rounded else abs(rounded)  # no -0.0


def _fixed(value: float, places: int) -> str:
    return f"{_half_up(value, places):,}"


def _places(value: float) -> int:
    return len(f"{_half_up(value, 3)}".rstrip("0").partition(".")[2])
