"""Rank cards with a chat model (FinCards, Sections 3.4.3 and 3.4.4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

from fin_agent.analyst.model.model_client import prompt_to_call
from fin_agent.analyst.model.prompt_context import card_lines, card_place, request_lines
from fin_agent.analyst.model.replies import GroupReply, ListwiseReply, RankedCard
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.field_alignment import COMPANY, matched_fields, required_fields
from fin_agent.evidence.tournament.judge import Brief, GroupJudge, Judge, Verdict
from fin_agent.models.call import OutputT
from fin_agent.models.caller import Caller
from fin_agent.models.errors import ModelError, RefusedByModelError, UnusableReplyError
from fin_agent.prompts import FilledPrompt, Prompt, Quoted, load_prompt

_HIGHEST = 100.0
"""Score of a selected card without a score."""
_MIN_RANKED_CARDS = 10
"""A ranking is usable if it names this many cards, or half of its list, since only the first ones matter."""
_TOKENS_A_CARD = 60
_MAX_THOUGHTS = 2_000
"""Tokens for reasoning before the reply."""
_MOST_FAILURES = 4
P = ParamSpec("P")
RankedT = TypeVar("RankedT", bound=RankedCard)


class ModelJudge:
    """See `Judge` and `GroupJudge`. The model sees the cards' fields as quoted material, never the passages.

    Repeated cards count once, invented numbers are ignored, and omitted cards come last (`repair_ranking`).
    """

    def __init__(self, ranking: Caller, folder: Path | None = None, *, choosing: Caller | None = None) -> None:
        """Set who ranks finalists, and who chooses from groups (the same by default). Raises PromptError.

        `folder` may contain the user's `judge.md` and `group_selection.md`.
        """
        self._ranking = ranking
        self._choosing = choosing or ranking
        self._judge = load_prompt("judge", folder=folder)
        self._group = load_prompt("group_selection", folder=folder)

    def rank(self, brief: Brief, cards: Sequence[Card]) -> list[Verdict]:
        """See Judge.rank. Raises ModelError."""
        held = _matched_fields(brief, cards)
        if len(cards) < 2:
            return [Verdict(at, fields=fields) for at, fields in enumerate(held)]
        check = partial(ranking_fault, cards=len(cards))
        reply = _asked(self._ranking, self.prompt(brief, cards), ListwiseReply, len(cards), check)
        named = _first_named(reply.ranking, len(cards))
        return [Verdict(at, fields=_matching(place.fields, held[at])) for at, place in named.items()]

    def choose(self, brief: Brief, cards: Sequence[Card], most: int) -> list[Verdict]:
        """See GroupJudge.choose. Raises ModelError."""
        held = _matched_fields(brief, cards)
        if len(cards) < 2:
            return [Verdict(at, _HIGHEST, fields) for at, fields in enumerate(held)]
        filled = _filled(self._group, brief, cards, most=str(most))
        reply = _asked(self._choosing, filled, GroupReply, most, partial(_choice_fault, cards=len(cards)))
        chosen = {
            at: Verdict(at, _HIGHEST if place.score is None else place.score, _matching(place.fields, held[at]))
            for at, place in [*_first_named(reply.chosen, len(cards)).items()][:most]
        }
        return [*chosen.values(), *(Verdict(at, 0.0, held[at]) for at in range(len(cards)) if at not in chosen)]

    def prompt(self, brief: Brief, cards: Sequence[Card]) -> FilledPrompt:
        """Return the prompt for a ranking; deterministic."""
        return _filled(self._judge, brief, cards, count=str(len(cards)))


def _filled(prompt: Prompt, brief: Brief, cards: Sequence[Card], **values: str) -> FilledPrompt:
    question = " ".join((brief.intent.question or brief.query.text).split())
    wanted = "\n".join(request_lines(brief))
    return prompt.filled(question=question, wanted=wanted, cards=quoted_cards(cards), **values)


def _asked(
    caller: Caller, filled: FilledPrompt, output: type[OutputT], cards: int, check: Callable[[OutputT], str | None]
) -> OutputT:
    tokens = _MAX_THOUGHTS + _TOKENS_A_CARD * cards
    call = prompt_to_call(filled, output=output, max_output_tokens=tokens, check=check)
    return caller.value(replace(call, temperature=0.0))[0]


class FailFastJudge:
    """A judge for one tournament that is no longer called after two consecutive failures.

    Lists are ranked many times, and a server that is down would be waited for each time. Unusable replies are tolerated
    twice as often. `failures` has the reasons.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._in_a_row = 0
        self.failures: list[str] = []

    def rank(self, brief: Brief, cards: Sequence[Card]) -> Sequence[Verdict]:
        """See Judge.rank. Raises whatever the judge raises, and ModelError once it is no longer called."""
        return self._asked(self._judge.rank, brief, cards)

    def choose(self, brief: Brief, cards: Sequence[Card], most: int) -> Sequence[Verdict]:
        """See GroupJudge.choose; a judge that only ranks does that."""
        if isinstance(self._judge, GroupJudge):
            return self._asked(self._judge.choose, brief, cards, most)
        return self.rank(brief, cards)

    def _asked(self, ask: Callable[P, Sequence[Verdict]], *args: P.args, **kwargs: P.kwargs) -> Sequence[Verdict]:
        if self._in_a_row >= _MOST_FAILURES:
            raise ModelError(f"{self.failures[-1]}; it is not asked again for this question")
        try:
            verdicts = ask(*args, **kwargs)
        except ModelError as failure:
            self._in_a_row += 1 if isinstance(failure, UnusableReplyError | RefusedByModelError) else 2
            self.failures.append(failure.what)
            raise
        self._in_a_row = 0
        return verdicts


def _matched_fields(brief: Brief, cards: Sequence[Card]) -> list[tuple[str, ...]]:
    required = required_fields(brief.query, brief.intent.parts)
    return [matched_fields(card, required, brief.owners) for card in cards]


def quoted_cards(cards: Sequence[Card]) -> list[Quoted]:
    """Return the fields of each card with the source of its passage."""
    return [Quoted("\n".join(card_lines(card)), card_place(card)) for card in cards]


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
