"""Cards of passages made anew for a question, by whoever can make them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fin_agent.evidence.cards.card import Card


class CardMaker(Protocol):
    """Makes cards anew from those of the rules. Safe to share between threads."""

    def made(self, base: Card, text: str) -> MadeCard:
        """The card of a passage with that text. Never raises for what a model says or fails to say."""


@dataclass(frozen=True, slots=True)
class MadeCard:
    """A card, and who made it."""

    card: Card
    by_model: bool
    """False where the rules' card stays as it is."""
    notes: tuple[str, ...] = ()
    """Why it stays, or what of the model's reply was left out."""
    out_of_reach: bool = False
    """Whether it stays because the model could not be had: others would not be had either."""
