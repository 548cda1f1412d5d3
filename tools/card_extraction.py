"""Card extraction: what passages are about, over the fields questions ask by."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.index.protocol import PageKey
from fin_agent.workspace import Workspace


def extract_cards(passages: Sequence[RetrievedPassage], workspace: Workspace) -> list[Card]:
    """The card of each passage, in their order, as made when its filing was ingested."""
    keys = list(dict.fromkeys(PageKey(passage.doc_id, passage.page) for passage in passages))
    cards = {(stored.doc_id, stored.passage.ordinal): stored.card for stored in workspace.index.passages(keys)}
    return [Card.model_validate_json(cards[passage.key]) for passage in passages]
