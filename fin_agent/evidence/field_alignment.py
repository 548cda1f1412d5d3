"""Align fields of cards with those that a question requires (FinCards, Section 3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fin_agent.evidence.cards.card import Card
from fin_agent.retrieval.search_query import Query

COMPANY, METRICS, TIME, SCOPE, STATEMENT = "company", "metrics", "time", "scope", "statement"


def required_fields(query: Query, parts: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the fields that the evidence has to cover: `company: acme`, `metrics: revenue`, `time: FY2023`.

    `parts` are those to which the question is limited (`scope: Europe`).
    """
    metrics = tuple(dict.fromkeys(slot.metric for slot in query.slots if slot.metric)) or query.metrics
    return tuple(
        dict.fromkeys(
            [
                *(f"{COMPANY}: {company}" for company in query.companies),
                *(f"{METRICS}: {metric}" for metric in metrics),
                *(f"{TIME}: {period}" for period in query.periods),
                *(f"{SCOPE}: {part}" for part in parts),
                *(f"{STATEMENT}: {statement.value}" for statement in query.statements),
            ]
        )
    )


def matched_fields(card: Card, required: tuple[str, ...], owners: Mapping[str, str]) -> tuple[str, ...]:
    """Return the required fields that the card has, in the order of `required`.

    `owners` has the company key of each filing.
    """
    held = {
        f"{COMPANY}: {owners.get(card.identity.doc_id, '')}",
        *(f"{METRICS}: {metric}" for metric in card.metrics),
        *(f"{TIME}: {period}" for period in card.time.periods),
        *(f"{SCOPE}: {part}" for part in card.scope.parts),
    }
    if card.identity.statement is not None:
        held.add(f"{STATEMENT}: {card.identity.statement.value}")
    return tuple(field for field in required if field in held)
