"""The cards of passages: those stored at ingest, or new ones made for a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from fin_agent.analyst.events import record_warning
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.index.protocol import FilingIndex, PageKey

_PATIENCE = 2
"""Consecutive passages for which a model may be unavailable before it is no longer called."""


class CardMaker(Protocol):
    """Makes new cards from those of the rules. Safe to share between threads."""

    def make(self, base: Card, text: str) -> CardWithAuthor:
        """Return the card of a passage with that text. Never raises because of a model's reply."""


@dataclass(frozen=True, slots=True)
class CardWithAuthor:
    """A card with its author."""

    card: Card
    by_model: bool
    """False if the rules' card is unchanged."""
    notes: tuple[str, ...] = ()
    """Why it is unchanged, or what was rejected of the model's reply."""
    model_unavailable: bool = False
    """Whether the model was unavailable, so that further calls would fail as well."""


def extract_cards(
    passages: Sequence[RetrievedPassage], index: FilingIndex, maker: CardMaker | None = None
) -> list[CardWithAuthor]:
    """Return the card of each passage, in order and without facts; fallbacks to the rules' cards go to the journal.

    Without a `maker`, the stored cards are returned.
    """
    keys = list(dict.fromkeys(PageKey(passage.doc_id, passage.page) for passage in passages))
    stored = {(entry.doc_id, entry.passage.ordinal): entry.card for entry in index.passages(keys)}
    bases = [Card.model_validate_json(stored[passage.key]) for passage in passages]
    if maker is None:
        return [CardWithAuthor(base, by_model=False) for base in bases]
    made: list[CardWithAuthor] = []
    for base, passage in zip(bases, passages, strict=True):
        if len(made) >= _PATIENCE and all(one.model_unavailable for one in made[-_PATIENCE:]):
            made.append(CardWithAuthor(base, by_model=False, notes=made[-1].notes, model_unavailable=True))
        else:
            made.append(maker.make(base, passage.text))
    stayed = [one for one in made if not one.by_model]
    if stayed:
        record_warning(f"{len(stayed)} of {len(made)} cards are those of the rules: {stayed[0].notes[0]}")
    return made
