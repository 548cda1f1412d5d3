"""How a measure moved, in words: up or down, by how much, from where to where."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isclose

from fin_agent.answering.amounts import shown
from fin_agent.answering.program import Program, in_unit
from fin_agent.answering.subjects import capital, plain
from fin_agent.answering.verdicts import asked_to_rise, loss_asked_to_grow
from fin_agent.evidence.intent import Intent, Relation
from fin_agent.evidence.plan import Plan


def trend(intent: Intent, plan: Plan, written: Sequence[str], change: float, unit: str) -> str:
    """`No: revenue of Acme fell by $24 million, from $101 million in FY2018 to $77 million in FY2019.`

    `written` are the figures of the plan's terms as people write them; `change` is the last less the first, in `unit`.
    """
    first, last = plan.terms[0].period, plan.terms[-1].period
    subject = f"{plain(intent)} of {plan.terms[0].company.name}"
    lead = _verdict(intent, change)
    subject = subject if lead else capital(subject)
    if not change:
        return f"{lead}{subject} did not change from {first} to {last}: it stayed at {written[-1]}."
    by = shown(abs(change), "percentage points" if unit == "percent" else unit, _places(intent, unit))
    rose, fell = ("narrowed", "widened") if intent.losses else ("rose", "fell")
    moved = f"{rose if change > 0 else fell} by {by}"
    return f"{lead}{subject} {moved}, from {written[0]} in {first} to {written[-1]} in {last}."


def from_and_to(intent: Intent, plan: Plan, program: Program, moved: float, ends: Sequence[float]) -> str:
    """` (from $1,840 million in FY2022 to $1,720 million in FY2023)`: both ends of a change that is one number.

    `ends` are both where the program returns them; else two printed figures that account for `moved` alone.
    """
    before, after = ends or _printed(intent, program, moved) or (None, None)
    if before is None or after is None:
        return ""
    levels = [in_unit(level, intent.measure_unit, program.scale, intent.unit) for level in (before, after)]
    first, last = (shown(value, unit, _places(intent, unit)) for value, unit in levels)
    return f" (from {first} in {plan.terms[0].period} to {last} in {plan.terms[-1].period})"


def _printed(intent: Intent, program: Program, moved: float) -> tuple[float, float] | None:
    if intent.relation not in (Relation.GROWTH, Relation.CHANGE) or len(program.variables) != 2:
        return None
    scale = program.scale if intent.measure_unit in ("USD", "shares") else 1
    before, after = (float(figure.value / scale) for figure in program.variables.values())
    change = after - before if intent.relation is Relation.CHANGE else 100 * (after - before) / (abs(before) or 1.0)
    return (before, after) if isclose(change, moved, rel_tol=1e-9, abs_tol=1e-9) else None


def _places(intent: Intent, unit: str) -> int | None:
    """The rounding asked for is the answer's: the ends of a growth in percent are dollars, and not rounded by it."""
    grown = intent.relation in (Relation.GROWTH, Relation.ANNUAL_GROWTH)
    return None if grown or unit == "percent" else intent.decimals


def _verdict(intent: Intent, change: float) -> str:
    if " or " in intent.core.lower() or _NO_CLAIM.match(intent.core):
        return ""
    if intent.losses:
        rising = not (intent.claim.above if intent.claim else loss_asked_to_grow(intent.core))
    else:
        rising = intent.claim.above if intent.claim else asked_to_rise(intent.core)
    return "Yes: " if change and rising == (change > 0) else "No: "


_NO_CLAIM = re.compile(r"^\W*(?:how|what|compare|describe|show|tell me how)\b", re.I)
