"""Cards of passages: as their filings were ingested, or made anew for a question by whoever can make them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from fin_agent.analyst.events import record_warning
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.index.protocol import FilingIndex, PageKey

_PATIENCE = 2
"""Passages in a row for which a model may be out of reach before it is left alone."""


class CardMaker(Protocol):
    """Makes cards anew from those of the rules. Safe to share between threads."""

    def make(self, base: Card, text: str) -> CardWithAuthor:
        """The card of a passage with that text. Never raises for what a model says or fails to say."""


@dataclass(frozen=True, slots=True)
class CardWithAuthor:
    """A card, and who made it."""

    card: Card
    by_model: bool
    """False where the rules' card stays as it is."""
    notes: tuple[str, ...] = ()
    """Why it stays, or what of the model's reply was left out."""
    out_of_reach: bool = False
    """Whether it stays because the model could not be had: others would not be had either."""


def extract_cards(
    passages: Sequence[RetrievedPassage], index: FilingIndex, maker: CardMaker | None = None
) -> list[CardWithAuthor]:
    """The card of each passage, in their order and without facts: that of the index, or made by `maker` from that.

    That cards stay as the rules made them is noted in the journal.
    """
    keys = list(dict.fromkeys(PageKey(passage.doc_id, passage.page) for passage in passages))
    stored = {(entry.doc_id, entry.passage.ordinal): entry.card for entry in index.passages(keys)}
    bases = [Card.model_validate_json(stored[passage.key]) for passage in passages]
    if maker is None:
        return [CardWithAuthor(base, by_model=False) for base in bases]
    made: list[CardWithAuthor] = []
    for base, passage in zip(bases, passages, strict=True):
        if len(made) >= _PATIENCE and all(one.out_of_reach for one in made[-_PATIENCE:]):
            made.append(CardWithAuthor(base, by_model=False, notes=made[-1].notes, out_of_reach=True))
        else:
            made.append(maker.make(base, passage.text))
    stayed = [one for one in made if not one.by_model]
    if stayed:
        record_warning(f"{len(stayed)} of {len(made)} cards are those of the rules: {stayed[0].notes[0]}")
    return made
