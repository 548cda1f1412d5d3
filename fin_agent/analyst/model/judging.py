"""The judge of a tournament that is a chat model: cards ranked in one list (FinCards, Section 4: listwise judging)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, model_validator

from fin_agent.analyst.model.asking import UnusableReplyError, asked
from fin_agent.analyst.model.showing import card_lines, card_place, wanted_lines
from fin_agent.evidence.alignment import COMPANY, matched_fields, required_fields
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.tournament.judge import Brief, Judge, Verdict
from fin_agent.prompts import Quoted, load_prompt
from fin_agent.retrieval.strategies.writing import Writer, WritingError

_ENOUGH_NAMED = 10
"""A ranking that names so many cards, or half of its list, can be used: what decides is who comes first."""
_NUMBER = re.compile(r"\D*(\d{1,6})\D*")
_WRAPPED = ("ranking", "cards", "order")


class ModelJudge:
    """See `Judge`. It is shown the cards' fields as quoted material, never the passages.

    Cards named twice count once, invented numbers not at all, and those left out come last (`repaired`).
    """

    def __init__(self, writer: Writer, folder: Path | None = None) -> None:
        """`folder` may hold a `judge.md` of the user's own. Raises PromptError."""
        self._writer = writer
        self._prompt = load_prompt("judge", folder=folder)

    def rank(self, brief: Brief, cards: Sequence[Card]) -> list[Verdict]:
        """See Judge.rank. Raises WritingError, and UnusableReplyError where a second reply cannot be used either."""
        required = required_fields(brief.query, brief.intent.parts)
        held = [matched_fields(card, required, brief.owners) for card in cards]
        if len(cards) < 2:
            return [Verdict(at, fields=fields) for at, fields in enumerate(held)]
        prompt = partial(self.prompt, brief, cards)
        places = asked(self._writer, prompt, partial(_read, cards=len(cards)))
        return [Verdict(place.card - 1, fields=_matching(place.fields, held[place.card - 1])) for place in places]

    def prompt(self, brief: Brief, cards: Sequence[Card], correction: str = "") -> str:
        """What the model is asked; the same input always gives the same text. `correction` is put at its end."""
        return self._prompt.filled(
            question=" ".join((brief.intent.question or brief.query.text).split()),
            wanted="\n".join(wanted_lines(brief)),
            cards=[Quoted("\n".join(card_lines(card)), card_place(card)) for card in cards],
            count=str(len(cards)),
            correction=correction,
        ).text


class PatientJudge:
    """A judge for one tournament that is not asked again once its model could not be had `patience` times in a row.

    Lists meet many times: a server that is down would be waited for at each of them.
    """

    def __init__(self, judge: Judge, patience: int = 2) -> None:
        self._judge = judge
        self._patience = patience
        self._failures: list[str] = []

    def rank(self, brief: Brief, cards: Sequence[Card]) -> Sequence[Verdict]:
        """See Judge.rank. Raises whatever the judge raises, and WritingError where it is not asked any more."""
        if len(self._failures) >= self._patience:
            raise WritingError(f"{self._failures[-1]}; it is not asked again for this question")
        try:
            verdicts = self._judge.rank(brief, cards)
        except WritingError as failure:
            self._failures.append(failure.what)
            raise
        self._failures.clear()
        return verdicts


class _Place(BaseModel):
    """A card of a ranking, by its number in the prompt."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    card: int = Field(strict=True)
    fields: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, written: object) -> object:
        """`3`, `"3"`, `"card 3"`, `{"number": "3"}` for `{"card": 3}`."""
        if not isinstance(written, dict):
            return {"card": _number(written)}
        number = next((written[name] for name in ("card", "number", "id") if name in written), None)
        said = written.get("fields")
        fields = [said] if isinstance(said, str) else said if isinstance(said, list) else []
        return {"card": _number(number), "fields": [field for field in fields if isinstance(field, str)]}


_PLACES = TypeAdapter(list[_Place])


def _number(written: object) -> object:
    found = _NUMBER.fullmatch(written) if isinstance(written, str) else None
    return written if found is None else int(found[1])


def _read(reply: JsonValue, cards: int) -> list[_Place]:
    """The cards of a ranking that exist, each once. Raises ValidationError, UnusableReplyError."""
    if isinstance(reply, dict):
        reply = next((reply[name] for name in _WRAPPED if name in reply), reply)
    named: dict[int, _Place] = {}
    invented: list[str] = []
    for place in _PLACES.validate_python(reply):
        if 1 <= place.card <= cards:
            named.setdefault(place.card, place)
        else:
            invented.append(str(place.card)[:9])
    if len(named) < min(_ENOUGH_NAMED, (cards + 1) // 2):
        missing = ", ".join(str(number) for number in range(1, cards + 1) if number not in named)
        unknown = f"; there are no cards {', '.join(invented[:_ENOUGH_NAMED])}" if invented else ""
        raise UnusableReplyError(f"it names {len(named)} of {cards} cards, and not {missing}{unknown}")
    return list(named.values())


def _matching(said: Sequence[str], held: tuple[str, ...]) -> tuple[str, ...]:
    """The fields a model says match, as far as the card has them; all the card has where it says none of those.

    Whether the company is the one asked about is settled by the index.
    """
    told = {" ".join(field.lower().split()) for field in said}
    told &= {field.lower() for field in held}
    if not told:
        return held
    return tuple(field for field in held if field.startswith(f"{COMPANY}: ") or field.lower() in told)
