"""What a judge that is a chat model is shown: a question's fields and a card's, in short lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from fin_agent.evidence.alignment import COMPANY, required_fields
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.intent import Comparison
from fin_agent.evidence.tournament.judge import Brief

_MOST_NAMES = 12
_MOST_CHARACTERS = 80


def wanted_lines(brief: Brief) -> list[str]:
    """What is asked, a line each; what the question leaves open has no line."""
    intent, query = brief.intent, brief.query
    fields = required_fields(query, intent.parts)
    asked = (
        ("companies", [company.name for company in intent.companies]),
        ("periods", map(str, query.periods or intent.periods)),
        ("days", (day.isoformat() for day in intent.dates)),
        ("measure", [intent.measure] if intent.measure else []),
        ("metrics", dict.fromkeys([*(slot.metric for slot in query.slots), *query.metrics])),
        ("figures", (str(slot) for slot, required in brief.plan.slots().items() if required)),
        ("of parts", intent.parts),
        ("statements", (statement.value for statement in intent.statements)),
        ("documents", (form.value for form in intent.forms)),
        ("topics", intent.topics),
        ("relation", [intent.relation.value]),
        ("comparison", [] if intent.comparison is Comparison.NONE else [intent.comparison.value]),
        ("wanted for", [intent.use.value]),
        ("fields to match", (field for field in fields if not field.startswith(f"{COMPANY}: "))),
    )
    return [f"- {name}: {told}" for name, values in asked if (told := _listed(values))]


def card_place(card: Card) -> str:
    """Whose passage it is: `Acme Corp., 10-Q, Q2 FY2023`."""
    identity = card.identity
    quarter = f"Q{identity.quarter} " if identity.quarter else ""
    period = f"{quarter}FY{identity.fiscal_year}" if identity.fiscal_year else ""
    return ", ".join(part for part in (_line(identity.company), identity.form.value, period) if part)


def card_lines(card: Card) -> Iterator[str]:
    """A card's fields, a line each; the text of its passage is not among them."""
    identity, table = card.identity, card.verifiability.table
    shown = (
        ("heading", [identity.heading]),
        ("statement", [identity.statement.value] if identity.statement else []),
        ("role", [card.role.value]),
        ("evidence", [card.evidence_type.value]),
        ("serves", (use.value for use in card.answers.uses)),
        ("metrics", card.metrics),
        ("periods", card.time.periods),
        ("scope", [*(["consolidated"] if card.scope.consolidated else []), *card.scope.parts]),
        ("units", card.basis.units),
        ("columns", table.columns if table else ()),
        ("care", (risk.value for risk in card.risks)),
    )
    yield from (f"{name}: {told}" for name, values in shown if (told := _listed(values)))
    # A string of JSON has no line of its own: a sketch cannot pass for another field.
    yield f"sketch: {json.dumps(' '.join(card.sketch.split()), ensure_ascii=False)}"


def _listed(values: Iterable[str]) -> str:
    return ", ".join([line for value in values if (line := _line(value))][:_MOST_NAMES])


def _line(text: str) -> str:
    return " ".join(text.split())[:_MOST_CHARACTERS]
