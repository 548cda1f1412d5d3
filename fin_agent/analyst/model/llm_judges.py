"""Rank cards with a chat model (FinCards, Sections 3.4.3 and 3.4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeVar

from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.analyst.model.prompt_context import card_lines, card_place, request_lines
from fin_agent.analyst.model.replies import GroupReply, ListwiseReply, RankedCard
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.tournament.tournament import COMPANY, Brief, Verdict, matched_fields, required_fields
from fin_agent.prompts import Quoted

_HIGHEST = 100.0
"""Score of a selected card without a score."""
_MIN_RANKED_CARDS = 10
"""A ranking is usable if it names this many cards, or half of its list, since only the first ones matter."""
RankedT = TypeVar("RankedT", bound=RankedCard)


class ModelJudge:
    """See `Judge`. The model sees the cards' fields as quoted material, never the passages.

    Repeated cards count once, invented numbers are ignored, and omitted cards come last (`repair_ranking`).
    """

    def __init__(self, client: ModelClient) -> None:
        """Load prompts and models. Raises PromptError and ModelSetupError."""
        client.require("judge", "group_selection")
        self._client = client

    def rank(self, brief: Brief, cards: Sequence[Card]) -> list[Verdict]:
        """See Judge.rank. Raises ModelError."""
        held = _matched_fields(brief, cards)
        if len(cards) < 2:
            return [Verdict(at, fields=fields) for at, fields in enumerate(held)]
        check = partial(ranking_fault, cards=len(cards))
        reply = self._client.value("judge", ListwiseReply, check, **judging_values(brief, cards), count=str(len(cards)))
        named = _first_named(reply.ranking, len(cards))
        return [Verdict(at, fields=_matching(place.fields, held[at])) for at, place in named.items()]

    def choose(self, brief: Brief, cards: Sequence[Card], most: int) -> list[Verdict]:
        """See Judge. Raises ModelError."""
        held = _matched_fields(brief, cards)
        if len(cards) < 2:
            return [Verdict(at, _HIGHEST, fields) for at, fields in enumerate(held)]
        check = partial(_choice_fault, cards=len(cards))
        values = judging_values(brief, cards)
        reply = self._client.value("group_selection", GroupReply, check, **values, most=str(most))
        chosen = {
            at: Verdict(at, _HIGHEST if place.score is None else place.score, _matching(place.fields, held[at]))
            for at, place in [*_first_named(reply.chosen, len(cards)).items()][:most]
        }
        return [*chosen.values(), *(Verdict(at, 0.0, held[at]) for at in range(len(cards)) if at not in chosen)]


def judging_values(brief: Brief, cards: Sequence[Card]) -> dict[str, Any]:
    """Return what a prompt shows of a question and of cards: their fields, with the source of each passage."""
    return {
        "question": " ".join((brief.intent.question or brief.query.text).split()),
        "wanted": "\n".join(request_lines(brief)),
        "cards": [Quoted("\n".join(card_lines(card)), card_place(card)) for card in cards],
    }


def _matched_fields(brief: Brief, cards: Sequence[Card]) -> list[tuple[str, ...]]:
    required = required_fields(brief.query, brief.intent.parts)
    return [matched_fields(card, required, brief.owners) for card in cards]


def _first_named(places: Sequence[RankedT], cards: int) -> dict[int, RankedT]:
    """Return the first place of each card that exists, by its index."""
    first = {place.card - 1: place for place in reversed(places)}
    named = dict.fromkeys(place.card - 1 for place in places)
    return {at: first[at] for at in named if 0 <= at < cards}


def ranking_fault(reply: ListwiseReply, cards: int) -> str | None:
    """Return why a ranking is unusable, or None: it names too few of the cards."""
    named = _first_named(reply.ranking, cards)
    if len(named) >= min(_MIN_RANKED_CARDS, (cards + 1) // 2):
        return None
    missing = ", ".join(str(at + 1) for at in range(cards) if at not in named)
    return f"it names {len(named)} of {cards} cards, and not {missing}{_unknown_cards(reply.ranking, cards)}"


def _choice_fault(reply: GroupReply, cards: int) -> str | None:
    """Return why a selection is unusable, or None: all its cards are unknown. An empty selection is valid."""
    if not reply.chosen or _first_named(reply.chosen, cards):
        return None
    return f"it chooses none of the {cards} cards{_unknown_cards(reply.chosen, cards)}"


def _unknown_cards(places: Sequence[RankedCard], cards: int) -> str:
    invented = [str(place.card) for place in places if not 1 <= place.card <= cards][:_MIN_RANKED_CARDS]
    return f"; there are no cards {', '.join(invented)}" if invented else ""


def _matching(said: Sequence[str], held: tuple[str, ...]) -> tuple[str, ...]:
    """Return the reported fields that the card has, and its company; all of its fields if none of those match."""
    told = {" ".join(field.lower().split()) for field in said} & {field.lower() for field in held}
    return tuple(field for field in held if not told or field.startswith(f"{COMPANY}: ") or field.lower() in told)
