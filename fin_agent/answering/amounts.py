"""Amounts: the unit of a result, its conversion to the requested unit, rounding and formatting."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from math import isclose
from typing import get_args

from fin_agent.evidence.intent import Comparison, Intent, OutputUnit, Relation
from fin_agent.vocabulary.amount_formatting import SCALE_WORDS


def unit_of_result(intent: Intent) -> str:
    """Return the unit of the result computed for `intent`, before conversion."""
    if intent.comparison is Comparison.RATIO:
        return "ratio"
    if intent.comparison is Comparison.EXCESS:
        return "percent"
    if intent.relation in (Relation.GROWTH, Relation.ANNUAL_GROWTH):
        return "percentage points" if intent.comparison is Comparison.DIFFERENCE else "percent"
    moved = intent.relation is Relation.CHANGE or intent.comparison is Comparison.DIFFERENCE
    return "percentage points" if moved and intent.measure_unit == "percent" else intent.measure_unit


def supported_unit(unit: str) -> OutputUnit | None:
    """Return `unit` if it is a unit of answers, else None."""
    known: dict[str, OutputUnit] = {name: name for name in get_args(OutputUnit)}
    return known.get(unit)


def convert_to_unit(value: float, unit: str, scale: int, wanted: str | None) -> tuple[float, str]:
    """Convert a result to the requested unit, or to the scale in which its figures are printed.

    Dollar results, shares and counts are in `scale` base units; `wanted` is the requested unit.

    Returns:
        (value, unit).
    """
    if unit == "USD":
        scales = {"USD": 1, "USD thousands": 1_000, "USD millions": 1_000_000, "USD billions": 1_000_000_000}
        told = scale if abs(value) >= 1 or _places(value) < _CUT else 1  # an amount per member
        target = wanted if wanted in scales else next(name for name, size in scales.items() if size == told)
        exact = Decimal(repr(value)) * scale / scales[target]
        return float(exact), target
    if unit == "count" and scale > 1:
        return value, SCALE_WORDS[scale]
    if unit == "shares":
        return float(Decimal(repr(value)) * scale), "shares"
    if unit == "ratio" and wanted == "percent":
        return value * 100, "percent"
    if unit == "percent" and wanted == "ratio":
        return value / 100, "ratio"
    if unit == "percent" and wanted == "percentage points":
        return value, "percentage points"
    return value, unit


_CUT = 3
"""Decimals of amounts that are not printed."""
_UNSCALED = Context(prec=400)
_RATES = ("percent", "percentage points")
_DECIMALS: dict[str, int] = {"percent": 1, "percentage points": 1, "ratio": 2, "days": 2, "years": 1}


def format_amount(value: float, unit: str, decimals: int | None = None) -> str:
    """Format a value for people: `$11,588 million`, `65.4%`, `24.26`, `93.86 days`.

    A rate of two decimals is as printed (`5.25%`), so is an amount per share of three (`$0.125`). Others have one
    decimal and two.
    """
    if unit.startswith("USD"):
        usual = (3 if _has_just(3, value) else 2) if unit == "USD per share" else _places(value)
        usual += unit == "USD" and usual == 1  # cents
        places = decimals if decimals is not None else usual
        amount = _fixed(abs(value), places)
        sign = "-" if _half_up(value, places) < 0 else ""
        scale = {"USD thousands": " thousand", "USD millions": " million", "USD billions": " billion"}.get(unit, "")
        return f"{sign}${amount}{scale}{' per share' if unit == 'USD per share' else ''}"
    printed = unit in _RATES and _has_just(2, value)
    places = decimals if decimals is not None else 2 if printed else _DECIMALS.get(unit, _places(value))
    number = _fixed(value, places)
    return {"percent": f"{number}%", "ratio": number, "count": number}.get(unit, f"{number} {unit}")


def rounded(value: float, decimals: int | None) -> float:
    """Round half up; without `decimals`, only cut binary noise beyond ten significant digits."""
    return float(f"{value:.10g}") if decimals is None else float(_half_up(value, decimals))


def _half_up(value: float, places: int) -> Decimal:
    rounded = Decimal(repr(value)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _UNSCALED)
    return rounded if rounded else abs(rounded)  # no -0.0


def _fixed(value: float, places: int) -> str:
    return f"{_half_up(value, places):,}"


def _has_just(places: int, value: float) -> bool:
    return isclose(value, round(value, places), abs_tol=1e-9) and _places(value) == places


def _places(value: float) -> int:
    return len(f"{_half_up(value, _CUT)}".rstrip("0").partition(".")[2])
