"""The unit of a program's result."""

from __future__ import annotations

from typing import get_args

from fin_agent.evidence.intent import Comparison, Intent, OutputUnit, Relation


def unit_of_result(intent: Intent) -> str:
    """Unit of what is computed for `intent`, before it is converted."""
    if intent.comparison is Comparison.RATIO:
        return "ratio"
    if intent.comparison is Comparison.EXCESS:
        return "percent"
    if intent.relation in (Relation.GROWTH, Relation.ANNUAL_GROWTH):
        return "percentage points" if intent.comparison is Comparison.DIFFERENCE else "percent"
    moved = intent.relation is Relation.CHANGE or intent.comparison is Comparison.DIFFERENCE
    return "percentage points" if moved and intent.measure_unit == "percent" else intent.measure_unit


def known_unit(unit: str) -> OutputUnit | None:
    """`unit` as one of the units an answer has; None for none of them."""
    known: dict[str, OutputUnit] = {name: name for name in get_args(OutputUnit)}
    return known.get(unit)
