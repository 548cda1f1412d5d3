"""The judge of a tournament: it sees a question's fields and a list of cards, and says which serve it best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from fin_agent.errors import FinAgentError
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.plan import Plan
from fin_agent.retrieval.query import Query

CardKey = tuple[str, int]
"""(doc_id, ordinal of the passage)."""


class Judge(Protocol):
    """One who ranks cards, whoever it is: rules, or a chat model. It never sees the passages' text."""

    def rank(self, brief: Brief, cards: Sequence[Card]) -> Sequence[Verdict]:
        """The cards best first. May raise anything: the list is shuffled and ranked again, or ranked by another."""


@runtime_checkable
class GroupJudge(Judge, Protocol):
    """A judge that says of a group who goes on, rather than who stands where."""

    def choose(self, brief: Brief, cards: Sequence[Card], most: int) -> Sequence[Verdict]:
        """The cards best first: those that go on, at most `most`, have the score 1, the others 0.

        May raise anything, as `rank` may.
        """


@dataclass(frozen=True, slots=True)
class Brief:
    """What is known of the question when cards are judged."""

    intent: Intent
    plan: Plan
    query: Query
    owners: Mapping[str, str] = field(default_factory=dict)
    """Company key of each filing (`CompanyDirectory.owners`)."""
    words: Mapping[CardKey, float] = field(default_factory=dict)
    """How well the words of each passage let in fit, 0 to 1 (stage 1)."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One card of a list and what a judge says of it."""

    at: int
    """Its place in the list as given, from 0."""
    score: float | None = None
    """Higher is better; compares within one list only."""
    fields: tuple[str, ...] = ()
    """Fields of its card that match: `metrics: revenue`, `time: FY2023`."""


class UnusableRankingError(FinAgentError):
    """A judge's ranking names none of the cards it was given."""


def repaired(verdicts: Sequence[Verdict], cards: int) -> list[Verdict]:
    """A ranking of exactly `cards` cards: repeated and invented ones left out, forgotten ones last in the order given.

    Raises UnusableRankingError where nothing of it can be used.
    """
    first: dict[int, Verdict] = {}
    for verdict in verdicts:
        if 0 <= verdict.at < cards:
            first.setdefault(verdict.at, verdict)
    if not first and cards:
        raise UnusableRankingError(
            f"none of the {cards} cards is named in a ranking of {len(verdicts)}",
            remedy="Shuffle the list and ask again, or let the rules judge",
        )
    return [*first.values(), *(Verdict(at) for at in range(cards) if at not in first)]
