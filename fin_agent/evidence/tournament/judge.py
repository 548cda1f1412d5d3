"""Settings and judges of a tournament, and the ablations that FinCards evaluates."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil
from typing import Protocol, runtime_checkable

from pydantic import BaseModel, Field, model_validator

from fin_agent.errors import FinAgentError
from fin_agent.evidence.cards.card import (
    AnswerabilityProfile,
    Card,
    CardIdentity,
    ClaimRole,
    EvidenceType,
    MeasurementBasis,
    RiskSignal,
    ScopeSignature,
    TemporalAnchor,
    Verifiability,
)
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.plan import Plan
from fin_agent.retrieval.search_query import Query


class Aggregation(StrEnum):
    """How the ranks of several rounds are combined."""

    BORDA = "borda"
    """Mean over rounds of the share of a list's other cards that rank lower."""
    MEAN_RANK = "mean-rank"
    VOTES = "votes"
    """Share of rounds in which a card is among the first `top_k`."""


class HiddenField(StrEnum):
    """Fields of a card that are hidden from a judge."""

    TIME = "time"
    METRICS = "metrics"
    TABLES = "tables"
    SCOPE = "scope"


class CardDetail(StrEnum):
    """How much of a passage a judge sees."""

    CARD = "card"
    SKETCH = "sketch"
    """Only the one-line summary."""
    TEXT = "text"
    """The passage's text in place of the summary."""


class TournamentSettings(BaseModel, frozen=True, extra="forbid"):
    """Settings of a tournament (FinCards, Section 3.4; sizes that it omits are chosen by the recall of stage 2)."""

    share: float = Field(default=0.5, gt=0, le=1, description="share of the passages that words let in")
    fewest: int = Field(default=60, ge=1, description="passages let in at least")
    most: int = Field(default=150, ge=1, description="passages let in at most")
    group_size: int = Field(default=25, ge=2, description="cards that meet in one group, about")
    k_min: int = Field(default=3, ge=1, description="finalists of a group at least")
    k_max: int = Field(default=10, ge=1, description="finalists of a group at most")
    near_best: float = Field(
        default=0.5, ge=0, le=1, description="between the two: those scoring this share of the best"
    )
    attempts: int = Field(default=3, ge=1, le=10, description="shufflings tried where a group or a round fails")
    rounds: int = Field(default=5, ge=1, le=50, description="rounds of ranking the finalists at most")
    list_fewest: int = Field(default=15, ge=2, description="finalists ranked in one list, if there are as many")
    list_most: int = Field(default=25, ge=2, description="finalists ranked in one list at most; between: half of them")
    top_k: int = Field(default=10, ge=1, description="first places that have to agree before rounds end early")
    jaccard: float = Field(default=0.9, ge=0, le=1, description="how far they have to agree")
    early_stop: bool = Field(default=True, description="whether rounds end once the first places agree")
    shuffled: bool = Field(default=True, description="whether the lists of a round are drawn anew")
    screened: bool = Field(default=True, description="whether groups choose finalists; else all let in are ranked")
    cards_only: bool = Field(default=False, description="whether the judge does not know how well words fit")
    shown: CardDetail = CardDetail.CARD
    aggregation: Aggregation = Aggregation.BORDA
    hidden: frozenset[HiddenField] = frozenset()
    seed: int = Field(default=0, ge=0, description="of all shuffling")

    @model_validator(mode="after")
    def _bounds_in_order(self) -> TournamentSettings:
        for low, high in (("k_min", "k_max"), ("fewest", "most"), ("list_fewest", "list_most")):
            if getattr(self, low) > getattr(self, high):
                raise ValueError(f"{low} is greater than {high}")
        return self

    def admitted_count(self, passages: int) -> int:
        """Return how many passages stage 1 admits: clamp(ceil(share * passages), fewest, most).

        >>> [TournamentSettings().admitted_count(passages) for passages in (20, 80, 201, 900)]
        [20, 60, 101, 150]
        """
        return min(passages, max(self.fewest, min(self.most, ceil(self.share * passages))))

    def list_size(self, finalists: int) -> int:
        """Return how many finalists are ranked in one list at most: half of them, from 15 to 25.

        >>> [TournamentSettings().list_size(finalists) for finalists in (8, 40, 90)]
        [15, 20, 25]
        """
        return max(self.list_fewest, min(self.list_most, ceil(finalists / 2)))


CardKey = tuple[str, int]
"""(doc_id, ordinal of the passage)."""


class Judge(Protocol):
    """Ranks cards, by rules or with a chat model, without the text of their passages."""

    def rank(self, brief: Brief, cards: Sequence[Card]) -> Sequence[Verdict]:
        """Return the cards, best first.

        If it raises, the list is shuffled and ranked again, or ranked by the fallback.
        """


@runtime_checkable
class GroupJudge(Judge, Protocol):
    """A judge that selects the finalists of a group instead of ranking it."""

    def choose(self, brief: Brief, cards: Sequence[Card], most: int) -> Sequence[Verdict]:
        """Return the cards, best first; of these, at most `most` finalists score up to 100 and the others 0.

        May raise anything, like `rank`.
        """


@dataclass(frozen=True, slots=True)
class Brief:
    """The question's context for judging cards."""

    intent: Intent
    plan: Plan
    query: Query
    owners: Mapping[str, str] = field(default_factory=dict)
    """Company key of each filing (`CompanyDirectory.owners`)."""
    words: Mapping[CardKey, float] = field(default_factory=dict)
    """Word match of each admitted passage, 0 to 1 (stage 1)."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's verdict on one card of a list."""

    at: int
    """Index in the list as given, from 0."""
    score: float | None = None
    """Higher is better; scores of different groups are comparable."""
    fields: tuple[str, ...] = ()
    """Matching fields of its card: `metrics: revenue`, `time: FY2023`."""


class UnusableRankingError(FinAgentError):
    """A ranking that names none of the given cards."""


def repair_ranking(verdicts: Sequence[Verdict], cards: int) -> list[Verdict]:
    """Return a ranking of exactly `cards` cards: duplicates and unknown ones are dropped, missing ones appended.

    Raises:
        UnusableRankingError: The ranking names none of the cards.
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


def reduce_card(card: Card, text: str, shown: CardDetail) -> Card:
    """Return the card as a judge sees it: unchanged, or only its location with its sketch or the passage's text."""
    if shown is CardDetail.CARD:
        return card
    identity = card.identity.model_dump(include={"doc_id", "page", "ordinal", "company", "form"})
    return Card(
        identity=CardIdentity.model_validate(identity),
        role=ClaimRole.DESCRIBES,
        evidence_type=EvidenceType.NARRATIVE,
        answers=AnswerabilityProfile(),
        time=TemporalAnchor(),
        scope=ScopeSignature(),
        basis=MeasurementBasis(),
        verifiability=Verifiability(),
        sketch=card.sketch if shown is CardDetail.SKETCH else text,
    )


def mask_card(card: Card, hidden: Collection[HiddenField]) -> Card:
    """Return the card without the hidden fields."""
    if not hidden:
        return card
    changes: dict[str, object] = {}
    of_identity: dict[str, object] = {}
    if HiddenField.TIME in hidden:
        changes["time"] = TemporalAnchor()
        of_identity |= {"fiscal_year": None, "quarter": None}
    if HiddenField.METRICS in hidden:
        changes["metrics"] = ()
    if HiddenField.TABLES in hidden:
        changes["evidence_type"] = EvidenceType.NARRATIVE
        changes["verifiability"] = card.verifiability.model_copy(update={"table": None})
        of_identity |= {"statement": None, "table_kind": None}
    if HiddenField.SCOPE in hidden:
        changes["scope"] = ScopeSignature()
        changes["risks"] = tuple(risk for risk in card.risks if risk not in _OF_SCOPE)
    changes["identity"] = card.identity.model_copy(update=of_identity)
    return card.model_copy(update=changes)


_OF_SCOPE = (RiskSignal.PART_ONLY, RiskSignal.PARENT_ONLY)


COMPANY, METRICS, TIME, SCOPE, STATEMENT = "company", "metrics", "time", "scope", "statement"


def required_fields(query: Query, parts: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the fields that the evidence has to cover: `company: acme`, `metrics: revenue`, `time: FY2023`.

    `parts` are those to which the question is limited (`scope: Europe`).
    """
    metrics = tuple(dict.fromkeys(slot.metric for slot in query.slots if slot.metric)) or query.metrics
    return tuple(
        dict.fromkeys(
            [
                *(f"{COMPANY}: {company}" for company in query.companies),
                *(f"{METRICS}: {metric}" for metric in metrics),
                *(f"{TIME}: {period}" for period in query.periods),
                *(f"{SCOPE}: {part}" for part in parts),
                *(f"{STATEMENT}: {statement.value}" for statement in query.statements),
            ]
        )
    )


def matched_fields(card: Card, required: tuple[str, ...], owners: Mapping[str, str]) -> tuple[str, ...]:
    """Return the required fields that the card has, in the order of `required`.

    `owners` has the company key of each filing.
    """
    held = {
        f"{COMPANY}: {owners.get(card.identity.doc_id, '')}",
        *(f"{METRICS}: {metric}" for metric in card.metrics),
        *(f"{TIME}: {period}" for period in card.time.periods),
        *(f"{SCOPE}: {part}" for part in card.scope.parts),
    }
    if card.identity.statement is not None:
        held.add(f"{STATEMENT}: {card.identity.statement.value}")
    return tuple(field for field in required if field in held)
