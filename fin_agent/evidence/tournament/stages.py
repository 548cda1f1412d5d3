"""Stage 2: groups of cards meet, and the finalists of each go on; stage 3: rounds of lists (FinCards, 3.4.3, 3.4.4)."""

from __future__ import annotations

import random
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import fmean
from typing import TypeVar

from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.tournament.judge import (
    Aggregation,
    Brief,
    CardKey,
    GroupJudge,
    HiddenField,
    Judge,
    TournamentSettings,
    Verdict,
    mask_card,
    repair_ranking,
)
from fin_agent.evidence.trace import RankedGroup
from fin_agent.index.protocol import FilingIndex, StoredPassage
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.slots import slot_names
from fin_agent.retrieval.search_query import Query
from fin_agent.retrieval.search_terms import search_terms


@dataclass(frozen=True, slots=True)
class GroupStage:
    """What came of the groups."""

    order: tuple[Entrant, ...]
    """All entrants by the score their group's judge gave them; equals by their words."""
    finalists: tuple[Entrant, ...]
    """Those who go on, in that order."""
    verdicts: Mapping[CardKey, Verdict]
    groups: tuple[RankedGroup, ...]
    """Of every attempt, in the order they met."""
    notes: tuple[str, ...] = ()


def run_group_stage(
    entrants: Sequence[Entrant], fields: Mapping[CardKey, tuple[str, ...]], panel: JudgePanel
) -> GroupStage:
    """Groups of about equal size, dealt in turn, each ranked by the judge; `entrants` come best words first.

    `fields` are the required fields each card has: none may lose all who have it (quotas). Where a judge fails or a
    quota cannot be met, all are shuffled anew with the next seed; after the last attempt the one who stands in ranks
    what the judge cannot, and quotas are met as far as they can.
    """
    settings = panel.settings
    told: list[RankedGroup] = []
    for attempt in range(1, settings.attempts + 1):
        last = attempt == settings.attempts
        met = [
            _rank_list(number, attempt, group, fields, panel, last)
            for number, group in enumerate(
                _deal_into_lists(
                    entrants, settings.group_size, f"groups {settings.seed + attempt}" if attempt > 1 else ""
                ),
                start=1,
            )
        ]
        told += [group.told for group in met]
        if last or not any(group.failed for group in met):
            break
    return _stage(met, entrants, fields, told)


@dataclass(frozen=True, slots=True)
class _RankedList:
    ranked: Ranked
    through: tuple[int, ...]
    told: RankedGroup
    failed: bool


def _deal_into_lists(entrants: Sequence[Entrant], size: int, seed: str) -> Iterator[list[Entrant]]:
    """Deal one by one to as many lists of at most `size` as are needed: no two differ by more than one card.

    Shuffled where there is a `seed`; else each list holds good, middling and poor ones.
    """
    dealt = list(entrants)
    if seed:
        random.Random(seed).shuffle(dealt)
    lists = ceil(len(dealt) / size)
    return (dealt[first::lists] for first in range(lists))


def _rank_list(
    number: int,
    attempt: int,
    group: Sequence[Entrant],
    fields: Mapping[CardKey, tuple[str, ...]],
    panel: JudgePanel,
    last: bool,
) -> _RankedList:
    note, failed = "", False
    try:
        ranked = panel.rank_group(group)
    except Exception as failure:  # a judge may fail in any way: the group meets again, shuffled
        ranked, decided = panel.rank_with_fallback(group)
        note, failed = f"the judge failed ({reason_of(failure)})", True
        note += f"; {decided}" if last else "; shuffled anew"
    selection = select_finalists(
        [verdict.score for verdict in ranked.verdicts],
        [fields.get(entrant.key, ()) for entrant in ranked.entrants],
        panel.settings,
    )
    if selection.lost and not failed:
        failed = True
        note = f"no finalist for {', '.join(selection.lost)}" + ("" if last else "; shuffled anew")
    told = RankedGroup(
        stage="group",
        number=number,
        attempt=attempt,
        ranked=ranked.keys,
        finalists=len(selection.places),
        note=note,
    )
    return _RankedList(ranked, selection.places, told, failed)


def _stage(
    met: Sequence[_RankedList],
    entrants: Sequence[Entrant],
    fields: Mapping[CardKey, tuple[str, ...]],
    told: Sequence[RankedGroup],
) -> GroupStage:
    words = {entrant.key: place for place, entrant in enumerate(entrants)}
    scores = {key: score for group in met for key, score in group.ranked.scores.items()}
    order = sorted(entrants, key=lambda entrant: (-round(scores[entrant.key], 9), words[entrant.key]))
    through = {group.ranked.entrants[place].key for group in met for place in group.through}
    notes: list[str] = []
    held = {field for key in through for field in fields.get(key, ())}
    for entrant in order:
        # A field lost in its own group may still be had: no quota is given up that anyone can meet.
        gained = [field for field in fields.get(entrant.key, ()) if field not in held]
        if gained:
            through.add(entrant.key)
            held.update(gained)
            notes.append(f"{entrant.key[0]}, passage {entrant.key[1]} goes on for {', '.join(gained)}")
    verdicts = {
        entrant.key: verdict
        for group in met
        for entrant, verdict in zip(group.ranked.entrants, group.ranked.verdicts, strict=True)
    }
    finalists = tuple(entrant for entrant in order if entrant.key in through)
    return GroupStage(tuple(order), finalists, verdicts, tuple(told), tuple(notes))


@dataclass(frozen=True, slots=True)
class Selection:
    """The finalists of a group."""

    places: tuple[int, ...]
    """Places in the group's ranking, ascending."""
    lost: tuple[str, ...] = ()
    """Fields that some card of the group has and no finalist: more are asked for than `k_max` cards can hold."""


def select_finalists(
    scores: Sequence[float | None], fields: Sequence[Sequence[str]], settings: TournamentSettings
) -> Selection:
    """The finalists of a group whose cards, best first, were given `scores` and have these required `fields`.

    Those that score nearly as well as the best, at least `k_min` and at most `k_max`; the last of them give way to
    cards with fields that no other finalist has. Where there are no scores, `k_max`.
    """
    chosen = list(range(min(_near_best(scores, settings), len(scores))))
    wanted = dict.fromkeys(field for of_card in fields for field in of_card)
    while missing := [field for field in wanted if not any(field in fields[place] for place in chosen)]:
        outside = [place for place in range(len(scores)) if place not in chosen]
        joining = max(outside, key=lambda place: (sum(field in fields[place] for field in missing), -place))
        if len(chosen) >= settings.k_max:
            leaving = _lowest_removable(chosen, joining, fields)
            if leaving is None:
                return Selection(tuple(sorted(chosen)), tuple(missing))
            chosen.remove(leaving)
        chosen.append(joining)
    return Selection(tuple(sorted(chosen)))


def _near_best(scores: Sequence[float | None], settings: TournamentSettings) -> int:
    known = [score for score in scores if score is not None]
    if not known:
        return settings.k_max
    enough = sum(score > 0 and score >= settings.near_best * max(known) for score in known)
    return max(settings.k_min, min(settings.k_max, enough))


def _lowest_removable(chosen: Sequence[int], joining: int, fields: Sequence[Sequence[str]]) -> int | None:
    """The lowest of the chosen without whom, once `joining` is in, no field is lost."""
    for place in sorted(chosen, reverse=True):
        kept = {field for other in (*chosen, joining) if other != place for field in fields[other]}
        if kept.issuperset(fields[place]):
            return place
    return None


@dataclass(frozen=True, slots=True)
class RoundStage:
    """What came of the rounds."""

    order: tuple[CardKey, ...]
    """The finalists, best first."""
    scores: Mapping[CardKey, float]
    """0 to 1."""
    verdicts: Mapping[CardKey, Verdict]
    """Of the last round."""
    rounds: int
    groups: tuple[RankedGroup, ...]


def run_round_stage(finalists: Sequence[Entrant], panel: JudgePanel) -> RoundStage:
    """Rank the finalists up to `rounds` times; rounds end early once their first `top_k` hardly change.

    A round's lists are shuffled with its own seed; where the judge fails, with further ones, and after the last attempt
    the one who stands in ranks.
    """
    settings = panel.settings
    before = [entrant.key for entrant in finalists]
    size = settings.list_size(len(finalists))
    held: list[list[tuple[CardKey, ...]]] = []
    told: list[RankedGroup] = []
    verdicts: dict[CardKey, Verdict] = {}
    scores: dict[CardKey, float] = {}
    order: list[CardKey] = list(before)
    for number in range(1, settings.rounds + 1):
        lists, notes, attempt = _round(finalists, panel, number, size)
        held.append([ranked.keys for ranked in lists])
        for ranked in lists:
            verdicts |= zip(ranked.keys, ranked.verdicts, strict=True)
        scores = aggregate_rounds(held, settings.aggregation, settings.top_k)
        earlier, order = order, in_order(scores, before)
        agreed = jaccard(earlier[: settings.top_k], order[: settings.top_k])
        ends = settings.early_stop and number > 1 and agreed >= settings.jaccard
        notes = [*notes, f"top {settings.top_k} agree ({agreed:.2f})"] if ends else notes
        told += [
            RankedGroup(
                stage="round",
                number=number,
                attempt=attempt,
                ranked=ranked.keys,
                finalists=len(ranked.keys),
                note="; ".join(notes),
            )
            for ranked in lists
        ]
        if ends:
            break
    return RoundStage(tuple(order), scores, verdicts, len(held), tuple(told))


def _round(
    finalists: Sequence[Entrant], panel: JudgePanel, number: int, size: int
) -> tuple[list[Ranked], list[str], int]:
    """The lists of one round as ranked, what went wrong, and the attempt that counted."""
    settings = panel.settings
    notes: list[str] = []
    for attempt in range(1, settings.attempts + 1):
        seed = f"round {settings.seed}.{number}.{attempt}" if settings.shuffled else ""
        drawn = list(_deal_into_lists(finalists, size, seed))
        try:
            return [panel.rank(listed) for listed in drawn], notes, attempt
        except Exception as failure:  # a judge may fail in any way: the round is held again, shuffled
            notes = [f"the judge failed {attempt} times ({reason_of(failure)})"]
    instead = [panel.rank_with_fallback(listed) for listed in drawn]
    return [ranked for ranked, _ in instead], [*notes, *dict.fromkeys(who for _, who in instead)], settings.attempts


Key = TypeVar("Key", bound=Hashable)


def aggregate_rounds(rounds: Sequence[Sequence[Sequence[Key]]], by: Aggregation, top_k: int) -> dict[Key, float]:
    """A score from 0 to 1 for each card, higher is better; every round ranks every card in one of its lists."""
    places: dict[Key, list[tuple[int, int]]] = {}
    for lists in rounds:
        for ranked in lists:
            for place, key in enumerate(ranked):
                places.setdefault(key, []).append((place, len(ranked)))
    if by is Aggregation.BORDA:
        return {key: fmean(borda(place, of) for place, of in held) for key, held in places.items()}
    if by is Aggregation.VOTES:
        return {key: fmean(place < top_k for place, _ in held) for key, held in places.items()}
    longest = max((of for held in places.values() for _, of in held), default=1)
    return {key: 1.0 - fmean(place for place, _ in held) / longest for key, held in places.items()}


def borda(place: int, of: int) -> float:
    """Share of a list's other cards that stand below this place, counted from 0.

    >>> [borda(place, 5) for place in range(5)]
    [1.0, 0.75, 0.5, 0.25, 0.0]
    """
    return (of - 1 - place) / (of - 1) if of > 1 else 1.0


def in_order(scores: Mapping[Key, float], before: Sequence[Key]) -> list[Key]:
    """The keys of `scores`, best first; equals in the order of `before`, which holds them all."""
    places = {key: place for place, key in enumerate(before)}
    return sorted(scores, key=lambda key: (-round(scores[key], 9), places[key]))


def jaccard(one: Sequence[Key], other: Sequence[Key]) -> float:
    """Share of all members that both have (Jaccard 1912); 1 where both are empty."""
    first, second = set(one), set(other)
    return len(first & second) / len(first | second) if first | second else 1.0


_LABELS_OF_A_METRIC = 3
_LESSER = 0.5
"""What words that filings use for the same count beside the question's own and a figure's printed labels."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A passage in a tournament."""

    card: Card
    words: float
    """How well its words fit, the best one's 1."""

    @property
    def key(self) -> CardKey:
        """The passage's place in the index."""
        return self.card.identity.doc_id, self.card.identity.ordinal


def rank_by_words(
    query: Query, passages: Sequence[StoredPassage], index: FilingIndex, lexicon: Lexicon
) -> list[tuple[CardKey, float]]:
    """All `passages` with how well their words fit, best first.

    BM25 of the question's own words, of what filings write for them, and of the labels under which the figures looked
    for are printed; each search's best passage counts 1 (the lesser one a half). Passages that hold no word of them
    come last, in the order of their filings.
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
    for terms, weight in searches:
        for key, share in _bm25(terms, doc_ids, scores, index):
            scores[key] += weight * share
    best = max(scores.values(), default=0.0) or 1.0
    places = {key: place for place, key in enumerate(scores)}
    ranked = sorted(scores.items(), key=lambda scored: (-round(scored[1], 9), places[scored[0]]))
    return [(key, score / best) for key, score in ranked]


def rank_by_bm25(terms: Sequence[str], passages: Sequence[StoredPassage], index: FilingIndex) -> list[CardKey]:
    """All `passages` by BM25 of `terms` alone: what a tournament is measured against."""
    keys = [(stored.doc_id, stored.passage.ordinal) for stored in passages]
    found = [key for key, _ in _bm25(terms, {doc_id for doc_id, _ in keys}, set(keys), index)]
    return list(dict.fromkeys([*found, *keys]))


def _bm25(
    terms: Sequence[str], doc_ids: Collection[str], among: Collection[CardKey], index: FilingIndex
) -> list[tuple[CardKey, float]]:
    if not terms or not doc_ids:
        return []
    limit = sum(index.filing(doc_id).passage_count for doc_id in doc_ids)
    hits = index.search_passages(terms, doc_ids=doc_ids, limit=limit)
    held = [((hit.doc_id, hit.ordinal), hit.score) for hit in hits if (hit.doc_id, hit.ordinal) in among]
    best = max((score for _, score in held), default=0.0) or 1.0
    return [(key, score / best) for key, score in held]


BY_RULES = "the rules decided"
"""What the note of a list says that the judge could not rank, and one who stood in did."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A list as a judge ranked it, best first."""

    entrants: tuple[Entrant, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def keys(self) -> tuple[CardKey, ...]:
        """Its cards, best first."""
        return tuple(entrant.key for entrant in self.entrants)

    @property
    def scores(self) -> dict[CardKey, float]:
        """Those of the judge; of one that gives none, the share of the other cards that stand below."""
        given = [verdict.score for verdict in self.verdicts]
        by_place = [borda(place, len(given)) for place in range(len(given))]
        return {
            key: own if score is None else score for key, score, own in zip(self.keys, given, by_place, strict=True)
        }


@dataclass(frozen=True, slots=True)
class JudgePanel:
    """The judge of a tournament, and who stands in."""

    brief: Brief
    judge: Judge
    stand_in: Judge | None
    """Ranks what the judge cannot: the rules."""
    settings: TournamentSettings

    def rank(self, entrants: Sequence[Entrant]) -> Ranked:
        """As the judge ranks them. Raises whatever the judge raises, and UnusableRankingError."""
        return _ranked(self.judge, self.brief, entrants, self.settings.hidden)

    def rank_group(self, entrants: Sequence[Entrant]) -> Ranked:
        """A group as the judge ranks it, or chooses from it where it can. Raises as `rank` does."""
        if not isinstance(self.judge, GroupJudge):
            return self.rank(entrants)
        cards = [mask_card(entrant.card, self.settings.hidden) for entrant in entrants]
        return _in_order(self.judge.choose(self.brief, cards, self.settings.k_max), entrants)

    def rank_with_fallback(self, entrants: Sequence[Entrant]) -> tuple[Ranked, str]:
        """As the one who stands in ranks them, else as they are given; and who decided, in words."""
        if self.stand_in is not None:
            try:
                return _ranked(self.stand_in, self.brief, entrants, self.settings.hidden), BY_RULES
            except Exception as failure:  # whatever a judge raises, a ranking comes out
                reason = f"; the rules failed too: {reason_of(failure)}"
                return _in_given_order(entrants), f"the order of words decided{reason}"
        return _in_given_order(entrants), "the order of words decided"


def reason_of(failure: Exception) -> str:
    """A judge's failure on one line."""
    return " ".join(f"{type(failure).__name__}: {failure}".split())


def _ranked(judge: Judge, brief: Brief, entrants: Sequence[Entrant], hidden: frozenset[HiddenField]) -> Ranked:
    cards = [mask_card(entrant.card, hidden) for entrant in entrants]
    return _in_order(judge.rank(brief, cards), entrants)


def _in_order(said: Sequence[Verdict], entrants: Sequence[Entrant]) -> Ranked:
    verdicts = repair_ranking(said, len(entrants))
    return Ranked(tuple(entrants[verdict.at] for verdict in verdicts), tuple(verdicts))


def _in_given_order(entrants: Sequence[Entrant]) -> Ranked:
    by_words = sorted(range(len(entrants)), key=lambda at: (-round(entrants[at].words, 9), entrants[at].key))
    return Ranked(tuple(entrants[at] for at in by_words), tuple(Verdict(at) for at in by_words))
