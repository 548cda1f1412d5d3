"""Replies on cards: who goes on from a group, and the order of a list."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from fin_agent.analyst.model.lenient import Number, listed
from fin_agent.analyst.model.reply import Reply

_NUMBERED = ("card", "number", "id")
_WRAPPED = ("ranking", "chosen", "cards", "order")


def _named(written: object) -> object:
    """Words of a list, whatever else a model put into it."""
    several = listed(written)
    return [each for each in several if isinstance(each, str)] if isinstance(several, list) else ()


class RankedCard(Reply):
    """A card by its number in the prompt, and the fields of the question that it meets."""

    card: Number
    fields: Annotated[tuple[str, ...], BeforeValidator(_named)] = Field(default=())

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, written: object) -> object:
        """`3`, `"card 3"`, `{"number": "3"}` for `{"card": 3}`."""
        if not isinstance(written, dict):
            return written if isinstance(written, RankedCard) else {"card": written}
        number = next((written[name] for name in _NUMBERED if name in written), None)
        return {**written, "card": number}


def _each_once(cards: tuple[RankedCard, ...]) -> tuple[RankedCard, ...]:
    first: dict[int, RankedCard] = {}
    for card in cards:
        first.setdefault(card.card, card)
    return tuple(first.values())


Cards = Annotated[tuple[RankedCard, ...], BeforeValidator(listed), AfterValidator(_each_once)]


def _wrapped(written: object, name: str) -> object:
    """A list alone, or under another of the names that models give it."""
    if isinstance(written, list):
        return {name: written}
    if isinstance(written, dict) and name not in written:
        return next(({**written, name: written[other]} for other in _WRAPPED if other in written), written)
    return written


class GroupReply(Reply):
    """The cards of a group that go on, best first (FinCards, Section 4)."""

    chosen: Cards

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, written: object) -> object:
        return _wrapped(written, "chosen")


class ListwiseReply(Reply):
    """All cards of a list, best first (FinCards, Section 4: listwise judging)."""

    ranking: Cards

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, written: object) -> object:
        return _wrapped(written, "ranking")
