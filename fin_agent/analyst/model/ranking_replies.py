"""Replies on cards: who goes on from a group, and the order of a list."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, field_validator

from fin_agent.analyst.model.lenient import Number, Words, listed
from fin_agent.analyst.model.reply import Reply


class RankedCard(Reply):
    """A card by its number in the prompt, and the fields of the question that it meets."""

    card: Number
    fields: Words = ()


def _cards(written: object) -> object:
    """`[3, 1]` for `[{"card": 3}, {"card": 1}]`."""
    several = listed(written)
    if not isinstance(several, list):
        return several
    return [each if isinstance(each, dict) else {"card": each} for each in several]


Cards = Annotated[tuple[RankedCard, ...], BeforeValidator(_cards)]


class GroupReply(Reply):
    """The cards of a group that go on, best first (FinCards, Section 4)."""

    chosen: Cards


class ListwiseReply(Reply):
    """All cards of a list, best first (FinCards, Section 4: listwise judging)."""

    ranking: Cards

    @field_validator("ranking", mode="after")
    @classmethod
    def _each_once(cls, ranking: tuple[RankedCard, ...]) -> tuple[RankedCard, ...]:
        first = {place.card: place for place in reversed(ranking)}
        return tuple(place for at, place in enumerate(ranking) if ranking.index(first[place.card]) == at)
