"""Cards joined to their figures: the index holds facts on their own, cards do not repeat them."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.evidence.cards.card import Card, CardFact
from fin_agent.evidence.cards.sources import facts_in_passages
from fin_agent.evidence.cards.time_anchors import period_name
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.vocabulary.fact import Fact


def with_facts(cards: Sequence[Card], index: FilingIndex) -> list[Card]:
    """The same cards in their order, each with the facts that stand in its passage, top to bottom.

    Cards whose passage is not in the index are left as they are.
    """
    keys = list(dict.fromkeys(PageKey(card.identity.doc_id, card.identity.page) for card in cards))
    if not keys:
        return []
    facts: dict[PageKey, list[Fact]] = {}
    for sourced in index.facts({key.doc_id for key in keys}, pages=keys):
        facts.setdefault(sourced.key, []).append(sourced.fact)
    passages = {key: [stored.passage for stored in index.passages([key])] for key in keys if key in facts}
    held = {
        (key.doc_id, passage.ordinal): own
        for key, of_page in passages.items()
        for passage, own in zip(of_page, facts_in_passages(of_page, facts[key]), strict=True)
    }
    return [
        card.model_copy(update={"facts": tuple(map(card_fact, held[place]))})
        if (place := (card.identity.doc_id, card.identity.ordinal)) in held
        else card
        for card in cards
    ]


def card_fact(fact: Fact) -> CardFact:
    """A fact as a card holds it."""
    return CardFact(
        label=fact.label,
        metric=fact.metric,
        amount=fact.amount,
        scale=fact.scale,
        unit=fact.unit,
        period=period_name(fact.period),
        scope=fact.scope,
        line=fact.line,
        box=fact.box,
    )
