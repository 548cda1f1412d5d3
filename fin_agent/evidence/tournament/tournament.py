"""The tournament of cards (FinCards, Section 3.4), its settings, judges, and the ablations that the paper evaluates.

Words admit passages, groups select finalists, rounds settle the order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from math import ceil
from statistics import fmean
from typing import Protocol, TypeVar

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
    Use,
    Verifiability,
)
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.plan import Plan
from fin_agent.index.protocol import FilingIndex, StoredPassage
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.slots import slot_names
from fin_agent.retrieval.search_query import Query
from fin_agent.retrieval.search_terms import search_terms
from fin_agent.vocabulary.ranked_group import RankedGroup
from fin_agent.vocabulary.runs import grouped


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


CardKey = tuple[str, int]
"""(doc_id, ordinal of the passage)."""


class Judge(Protocol):
    """Ranks cards, by rules or with a chat model, without the text of their passages.

    It may also have a method `choose(brief, cards, most)`, which selects the finalists of a group instead of ranking
    it: it returns the cards, best first, of which at most `most` finalists score up to 100 and the others 0.
    """

    def rank(self, brief: Brief, cards: Sequence[Card]) -> Sequence[Verdict]:
        """Return the cards, best first.

        If it raises, the list is shuffled and ranked again, or ranked by the fallback.
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
    statements = [statement.value for statement in query.statements]
    named = {COMPANY: query.companies, METRICS: metrics, TIME: query.periods, SCOPE: parts, STATEMENT: statements}
    return tuple(dict.fromkeys(f"{field}: {value}" for field, values in named.items() for value in values))


def matched_fields(card: Card, required: tuple[str, ...], owners: Mapping[str, str]) -> tuple[str, ...]:
    """Return the required fields that the card has, in the order of `required`.

    `owners` has the company key of each filing.
    """
    company, statement = owners.get(card.identity.doc_id, ""), card.identity.statement
    of_card = {COMPANY: (company,), METRICS: card.metrics, TIME: card.time.periods, SCOPE: card.scope.parts}
    held = {f"{field}: {value}" for field, values in of_card.items() for value in values}
    held |= {f"{STATEMENT}: {statement.value}"} if statement is not None else set()
    return tuple(field for field in required if field in held)


@dataclass(frozen=True, slots=True)
class GroupStage:
    """The result of the group stage."""

    order: tuple[Entrant, ...]
    """All entrants by their group's scores, ties by words."""
    finalists: tuple[Entrant, ...]
    """The finalists, in that order."""
    verdicts: Mapping[CardKey, Verdict]
    groups: tuple[RankedGroup, ...]
    """Groups of every attempt, in order."""
    notes: tuple[str, ...] = ()


def run_group_stage(
    entrants: Sequence[Entrant], fields: Mapping[CardKey, tuple[str, ...]], panel: JudgePanel
) -> GroupStage:
    """Rank entrants, ordered by words, in groups of about equal size, and select the finalists.

    Each of the required `fields` must keep a finalist (quotas). If a judge fails or a quota is not met, entrants are
    shuffled with the next seed; in the last attempt the fallback judge ranks what the judge cannot.
    """
    settings = panel.settings
    told: list[RankedGroup] = []
    for attempt in range(1, settings.attempts + 1):
        last = attempt == settings.attempts
        seed = f"groups {settings.seed + attempt}" if attempt > 1 else ""
        met: list[Ranked] = []
        through: set[CardKey] = set()
        for number, group in enumerate(_deal_into_lists(entrants, settings.group_size, seed), start=1):
            note = ""
            try:
                ranked = panel.rank(group, group=True)
            except Exception as failure:  # a judge may raise anything: the group is shuffled and ranked again
                ranked, decided = panel.rank_with_fallback(group)
                note = f"the judge failed ({describe_failure(failure)}); {decided if last else 'shuffled anew'}"
            of_cards = [fields.get(key, ()) for key in ranked]
            places, lost = select_finalists([verdict.score for verdict in ranked.values()], of_cards, settings)
            if lost and not note:
                note = f"no finalist for {', '.join(lost)}" + ("" if last else "; shuffled anew")
            met.append(ranked)
            through |= {key for place, key in enumerate(ranked) if place in places}
            of_group = partial(RankedGroup, stage="group", number=number, attempt=attempt, note=note)
            told.append(of_group(ranked=tuple(ranked), finalists=len(places)))
        if not any(group.note for group in told[-len(met) :]):
            break
    verdicts = {key: verdict for ranked in met for key, verdict in ranked.items()}
    # Without a score, the share of the other cards that rank lower counts.
    by_place = {key: borda(place, len(ranked)) for ranked in met for place, key in enumerate(ranked)}
    scores = {key: by_place[key] if (given := verdict.score) is None else given for key, verdict in verdicts.items()}
    order = sorted(entrants, key=lambda entrant: -round(scores[entrant.key], 9))
    notes: list[str] = []
    held = {field for key in through for field in fields.get(key, ())}
    for entrant in order:
        # A field lost in its own group may be found elsewhere: add an entrant that has it.
        gained = [field for field in fields.get(entrant.key, ()) if field not in held]
        if gained:
            through.add(entrant.key)
            held.update(gained)
            notes.append(f"{entrant.key[0]}, passage {entrant.key[1]} goes on for {', '.join(gained)}")
    finalists = tuple(entrant for entrant in order if entrant.key in through)
    return GroupStage(tuple(order), finalists, verdicts, tuple(told), tuple(notes))


def _deal_into_lists(entrants: Sequence[Entrant], size: int, seed: str) -> Iterator[list[Entrant]]:
    """Deal entrants one by one into lists of at most `size`, whose lengths differ by at most one.

    With a `seed` they are shuffled first; without one, each list spans the whole range of quality.
    """
    dealt = list(entrants)
    if seed:
        random.Random(seed).shuffle(dealt)
    lists = ceil(len(dealt) / size)
    return (dealt[first::lists] for first in range(lists))


def select_finalists(
    scores: Sequence[float | None], fields: Sequence[Sequence[str]], settings: TournamentSettings
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the positions of a group's finalists, and the fields lost because `k_max` cards cannot cover all.

    Selected are the cards that score nearly as well as the best, at least `k_min` and at most `k_max`; without scores,
    `k_max`. The lowest ones give way to cards with fields that no other finalist has. Cards are given best first.
    """
    known = [score for score in scores if score is not None]
    enough = sum(score > 0 and score >= settings.near_best * max(known) for score in known)
    near_best = max(settings.k_min, min(settings.k_max, enough)) if known else settings.k_max
    chosen = list(range(min(near_best, len(scores))))
    wanted = dict.fromkeys(field for of_card in fields for field in of_card)
    while missing := [field for field in wanted if not any(field in fields[place] for place in chosen)]:
        outside = [place for place in range(len(scores)) if place not in chosen]
        joining = max(outside, key=lambda place: (sum(field in fields[place] for field in missing), -place))
        if len(chosen) >= settings.k_max:
            leaving = _lowest_removable(chosen, joining, fields)
            if leaving is None:
                return tuple(sorted(chosen)), tuple(missing)
            chosen.remove(leaving)
        chosen.append(joining)
    return tuple(sorted(chosen)), ()


def _lowest_removable(chosen: Sequence[int], joining: int, fields: Sequence[Sequence[str]]) -> int | None:
    """Return the lowest finalist whose removal loses no field once `joining` is added."""
    for place in sorted(chosen, reverse=True):
        kept = {field for other in (*chosen, joining) if other != place for field in fields[other]}
        if kept.issuperset(fields[place]):
            return place
    return None


@dataclass(frozen=True, slots=True)
class RoundStage:
    """The result of the rounds."""

    order: tuple[CardKey, ...]
    """The finalists, best first."""
    scores: Mapping[CardKey, float]
    """0 to 1."""
    verdicts: Mapping[CardKey, Verdict]
    """Verdicts of the last round."""
    rounds: int
    groups: tuple[RankedGroup, ...]


def run_round_stage(finalists: Sequence[Entrant], panel: JudgePanel) -> RoundStage:
    """Rank the finalists in up to `rounds` rounds; stop early once the first `top_k` hardly change.

    Each round's lists are shuffled with its own seed. If the judge fails, further seeds are tried; after the last
    attempt the fallback judge ranks.
    """
    settings = panel.settings
    before = order = [entrant.key for entrant in finalists]
    size = max(settings.list_fewest, min(settings.list_most, ceil(len(finalists) / 2)))
    held: list[list[tuple[CardKey, ...]]] = []
    told: list[RankedGroup] = []
    verdicts: dict[CardKey, Verdict] = {}
    scores: dict[CardKey, float] = {}
    for number in range(1, settings.rounds + 1):
        lists, notes, attempt = _round(finalists, panel, number, size)
        held.append([tuple(ranked) for ranked in lists])
        for ranked in lists:
            verdicts |= ranked
        scores = aggregate_rounds(held, settings.aggregation, settings.top_k)
        earlier, order = order, in_order(scores, before)
        agreed = jaccard(earlier[: settings.top_k], order[: settings.top_k])
        ends = settings.early_stop and number > 1 and agreed >= settings.jaccard
        notes = [*notes, f"top {settings.top_k} agree ({agreed:.2f})"] if ends else notes
        of_round = partial(RankedGroup, stage="round", number=number, attempt=attempt, note="; ".join(notes))
        told += (of_round(ranked=tuple(each), finalists=len(each)) for each in lists)
        if ends:
            break
    return RoundStage(tuple(order), scores, verdicts, len(held), tuple(told))


def _round(
    finalists: Sequence[Entrant], panel: JudgePanel, number: int, size: int
) -> tuple[list[Ranked], list[str], int]:
    """Return the ranked lists of a round, notes on failures, and the number of the last attempt."""
    settings = panel.settings
    notes: list[str] = []
    for attempt in range(1, settings.attempts + 1):
        seed = f"round {settings.seed}.{number}.{attempt}" if settings.shuffled else ""
        drawn = list(_deal_into_lists(finalists, size, seed))
        try:
            return [panel.rank(listed) for listed in drawn], notes, attempt
        except Exception as failure:  # a judge may raise anything: the round is shuffled and ranked again
            notes = [f"the judge failed {attempt} times ({describe_failure(failure)})"]
    instead = [panel.rank_with_fallback(listed) for listed in drawn]
    return [ranked for ranked, _ in instead], [*notes, *dict.fromkeys(who for _, who in instead)], settings.attempts


Key = TypeVar("Key", bound=Hashable)


def aggregate_rounds(rounds: Sequence[Sequence[Sequence[Key]]], by: Aggregation, top_k: int) -> dict[Key, float]:
    """Combine rounds into a score from 0 to 1 for each card, higher is better.

    Every round ranks every card in one of its lists.
    """
    lists = [ranked for of_round in rounds for ranked in of_round]
    places = grouped((key, (place, len(ranked))) for ranked in lists for place, key in enumerate(ranked))
    if by is Aggregation.BORDA:
        return {key: fmean(borda(place, of) for place, of in held) for key, held in places.items()}
    if by is Aggregation.VOTES:
        return {key: fmean(place < top_k for place, _ in held) for key, held in places.items()}
    longest = max(map(len, lists), default=1)
    return {key: 1.0 - fmean(place for place, _ in held) / longest for key, held in places.items()}


def borda(place: int, of: int) -> float:
    """Return the share of a list's other cards that rank below a place, counted from 0.

    >>> [borda(place, 5) for place in range(5)]
    [1.0, 0.75, 0.5, 0.25, 0.0]
    """
    return (of - 1 - place) / (of - 1) if of > 1 else 1.0


def in_order(scores: Mapping[Key, float], before: Sequence[Key]) -> list[Key]:
    """Return the keys of `scores`, best first; ties in the order of `before`, which contains all of them."""
    places = {key: place for place, key in enumerate(before)}
    return sorted(scores, key=lambda key: (-round(scores[key], 9), places[key]))


def jaccard(one: Sequence[Key], other: Sequence[Key]) -> float:
    """Return the Jaccard index of two sets (Jaccard 1912); 1 if both are empty."""
    first, second = set(one), set(other)
    return len(first & second) / len(first | second) if first | second else 1.0


_LABELS_OF_A_METRIC = 3
_LESSER = 0.5
"""Weight of the filings' words for the same concept, relative to the question's words and printed labels."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A passage in a tournament."""

    card: Card
    words: float
    """Word match, relative to the best passage's."""

    @property
    def key(self) -> CardKey:
        """The passage's key in the index."""
        return self.card.identity.doc_id, self.card.identity.ordinal


def rank_by_words(
    query: Query, passages: Sequence[StoredPassage], index: FilingIndex, lexicon: Lexicon
) -> list[tuple[CardKey, float]]:
    """Return (key, score) of every passage by its words, best first; those without a match come last.

    Adds the normalized BM25 scores of the question's words, of filings' words for the same concepts (half weight), and
    of the printed labels of the requested figures.
    """
    labels = (label for slot in query.slots for label in slot_names(slot, lexicon.metrics)[:_LABELS_OF_A_METRIC])
    searches = (
        (query.terms, 1.0),
        (query.expansions, _LESSER),
        (query.synonyms, _LESSER),
        (search_terms(label.rpartition(">")[2].strip() for label in labels), 1.0),
    )
    scores: dict[CardKey, float] = {(stored.doc_id, stored.passage.ordinal): 0.0 for stored in passages}
    doc_ids = {stored.doc_id for stored in passages}
    limit = sum(index.filing(doc_id).passage_count for doc_id in doc_ids)
    for terms, weight in searches:
        hits = index.search_passages(terms, doc_ids=doc_ids, limit=limit) if terms and doc_ids else []
        held = {key: hit.score for hit in hits if (key := (hit.doc_id, hit.ordinal)) in scores}
        top = max(held.values(), default=0.0) or 1.0
        for key, score in held.items():
            scores[key] += weight * score / top
    best = max(scores.values(), default=0.0) or 1.0
    return [(key, scores[key] / best) for key in in_order(scores, list(scores))]


BY_RULES = "the rules decided"
"""Note on a list that the fallback judge ranked."""


Ranked = dict[CardKey, Verdict]
"""A list as ranked by a judge, best first."""


@dataclass(frozen=True, slots=True)
class JudgePanel:
    """The judge of a tournament and the fallback judge."""

    brief: Brief
    judge: Judge
    fallback: Judge | None
    """Ranks what the judge cannot, by rules."""
    settings: TournamentSettings

    def rank(self, entrants: Sequence[Entrant], *, group: bool = False) -> Ranked:
        """Rank with the judge, or let it choose the finalists of a group if it can.

        Raises whatever the judge raises, and UnusableRankingError.
        """
        if group and (choose := getattr(self.judge, "choose", None)) is not None:
            return self._ranked_by(partial(choose, most=self.settings.k_max), entrants)
        return self._ranked_by(self.judge.rank, entrants)

    def rank_with_fallback(self, entrants: Sequence[Entrant]) -> tuple[Ranked, str]:
        """Rank with the fallback judge, else by words; also return who decided, for a note."""
        if self.fallback is not None:
            return self._ranked_by(self.fallback.rank, entrants), BY_RULES
        order = sorted(range(len(entrants)), key=lambda at: (-round(entrants[at].words, 9), entrants[at].key))
        return {entrants[at].key: Verdict(at) for at in order}, "the order of words decided"

    def _ranked_by(
        self, ask: Callable[[Brief, Sequence[Card]], Sequence[Verdict]], entrants: Sequence[Entrant]
    ) -> Ranked:
        cards = [mask_card(entrant.card, self.settings.hidden) for entrant in entrants]
        verdicts = repair_ranking(ask(self.brief, cards), len(entrants))
        return {entrants[verdict.at].key: verdict for verdict in verdicts}


def describe_failure(failure: Exception) -> str:
    """Return a judge's failure on one line."""
    return " ".join(f"{type(failure).__name__}: {failure}".split())


class Stage(StrEnum):
    """The stages whose orders are recorded."""

    WORDS = "words"
    GROUPS = "groups"
    ROUNDS = "rounds"


@dataclass(frozen=True, slots=True)
class RankedCard:
    """A passage with its result."""

    key: CardKey
    score: float
    """Score of the rounds, 0 to 1; 0 for passages that were no finalists."""
    fields: tuple[str, ...]
    """Fields of its card that match the question's."""
    stage: Stage
    """The last stage that it reached."""


@dataclass(frozen=True, slots=True)
class TournamentResult:
    """All passages in order, with the record of the stages."""

    ranked: tuple[RankedCard, ...]
    """All candidates, best first."""
    orders: Mapping[Stage, tuple[CardKey, ...]]
    """The order of all candidates after each stage."""
    groups: tuple[RankedGroup, ...]
    """Groups of stages 2 and 3, in order."""
    rounds: int
    notes: tuple[str, ...]


def run_tournament(
    brief: Brief,
    passages: Sequence[StoredPassage],
    index: FilingIndex,
    lexicon: Lexicon,
    judge: Judge,
    *,
    fallback: Judge | None = None,
    settings: TournamentSettings | None = None,
) -> TournamentResult:
    """Rank passages, each once, best first; deterministic for equal settings.

    `fallback` ranks what `judge` cannot after several attempts; without one, words decide.
    """
    settings = settings or TournamentSettings()
    unique = {(stored.doc_id, stored.passage.ordinal): stored for stored in passages}
    scored = rank_by_words(brief.query, list(unique.values()), index, lexicon)
    let_in = scored[: max(settings.fewest, min(settings.most, ceil(settings.share * len(scored))))]
    entrants = []
    for key, words in let_in:
        card = Card.model_validate_json(unique[key].card)
        entrants.append(Entrant(reduce_card(card, unique[key].passage.text, settings.shown), words))
    brief = replace(brief, words={} if settings.cards_only else dict(let_in))
    required = required_fields(brief.query, brief.intent.parts)
    fields = {}
    for entrant in entrants:
        card = mask_card(entrant.card, settings.hidden)
        fields[entrant.key] = *matched_fields(card, required, brief.owners), *_quota(card, brief.intent.use)
    panel = JudgePanel(brief, judge, fallback, settings)
    everyone = GroupStage(tuple(entrants), tuple(entrants), {}, ())
    groups = run_group_stage(entrants, fields, panel) if settings.screened else everyone
    rounds = run_round_stage(groups.finalists, panel) if entrants else RoundStage((), {}, {}, 0, ())
    by_words = tuple(key for key, _ in scored)
    after_groups = tuple(dict.fromkeys([*(entrant.key for entrant in groups.order), *by_words]))
    after_rounds = tuple(dict.fromkeys([*rounds.order, *after_groups]))
    verdicts = {**groups.verdicts, **rounds.verdicts}
    ranked = []
    for key in after_rounds:
        of_card = (verdicts[key].fields or fields[key]) if key in verdicts else ()
        stage = Stage.ROUNDS if key in rounds.scores else Stage.GROUPS if key in verdicts else Stage.WORDS
        ranked.append(RankedCard(key, rounds.scores.get(key, 0.0), of_card, stage))
    orders = {Stage.WORDS: by_words, Stage.GROUPS: after_groups, Stage.ROUNDS: after_rounds}
    return TournamentResult(tuple(ranked), orders, (*groups.groups, *rounds.groups), rounds.rounds, groups.notes)


def _quota(card: Card, use: Use) -> tuple[str, ...]:
    """Return the quota that a card meets for a use, as a required field (FinCards, Section 3.4.3)."""
    if use in (Use.TREND, Use.COMPARISON):
        return ("quota: dated table",) if card.verifiability.table is not None and card.time.periods else ()
    if use in (Use.DEFINITION, Use.POLICY):
        return ("quota: explanation",) if card.role in _EXPLANATORY else ()
    return ()


_EXPLANATORY = (ClaimRole.DEFINES, ClaimRole.SETS_POLICY, ClaimRole.EXPLAINS)
