"""Stage 1: the passages whose words fit, as cards (FinCards, Section 4.1)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.tournament.judge import CardKey
from fin_agent.index.protocol import FilingIndex, StoredPassage
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.slots import names_of
from fin_agent.retrieval.query import Query
from fin_agent.retrieval.terms import search_terms

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


def by_words(
    query: Query, passages: Sequence[StoredPassage], index: FilingIndex, lexicon: Lexicon
) -> list[tuple[CardKey, float]]:
    """All `passages` with how well their words fit, best first.

    BM25 of the question's own words, of what filings write for them, and of the labels under which the figures looked
    for are printed; each search's best passage counts 1 (the lesser one a half). Passages that hold no word of them
    come last, in the order of their filings.
    """
    labels = (label for slot in query.slots for label in names_of(slot, lexicon.metrics)[:_LABELS_OF_A_METRIC])
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


def by_own_words(terms: Sequence[str], passages: Sequence[StoredPassage], index: FilingIndex) -> list[CardKey]:
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
