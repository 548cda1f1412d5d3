"""What a model is told of a question beside its words: the fields that rules read, a line each."""

from __future__ import annotations

from collections.abc import Iterable

from fin_agent.evidence.intent import Comparison, Intent
from fin_agent.evidence.ledger import Ledger
from fin_agent.evidence.plan import Plan

_MOST = 16


def intent_lines(intent: Intent, plan: Plan, ledger: Ledger | None = None) -> str:
    """Companies, periods, measure, relation, unit and figures wanted; what is left open has no line."""
    asked: tuple[tuple[str, Iterable[str]], ...] = (
        ("companies", (company.name for company in intent.companies)),
        ("periods", map(str, intent.periods)),
        ("days", (day.isoformat() for day in intent.dates)),
        ("measure", [intent.measure] if intent.measure else []),
        ("formula", [intent.expression] if intent.expression and not intent.beyond_rules else []),
        ("relation", [intent.relation.value] if not intent.beyond_rules else []),
        ("comparison", [] if intent.comparison is Comparison.NONE else [intent.comparison.value]),
        ("of parts", intent.parts),
        ("documents", (form.value for form in intent.forms)),
        ("unit", [intent.unit] if intent.unit else []),
        ("decimals", [] if intent.decimals is None else [str(intent.decimals)]),
        ("to be minded", intent.beyond_rules),
        ("figures", (str(slot) for slot, required in plan.slots().items() if required)),
        ("found already", (str(slot) for slot in (ledger.figures if ledger is not None else ()))),
    )
    lines = [f"- {name}: {told}" for name, values in asked if (told := _listed(values))]
    return "\n".join(lines) or "- nothing beyond its words"


def _listed(values: Iterable[str]) -> str:
    return "; ".join(" ".join(value.split()) for value in list(values)[:_MOST])
