"""The judge that needs no model: rank cards by the alignment of their fields (FinCards, Section 3.3)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from fin_agent.evidence.cards.card import Card, ClaimRole, RiskSignal
from fin_agent.evidence.tournament.tournament import Brief, Verdict, matched_fields, required_fields
from fin_agent.index.protocol import PageKey
from fin_agent.lexicon.slots import Slot, slot_metric
from fin_agent.lexicon.words import load_yaml
from fin_agent.retrieval.page_ranking import Candidate, item_weights, slot_gain
from fin_agent.retrieval.search_query import Query
from fin_agent.retrieval.search_terms import overlap, stem_set, weights_of
from fin_agent.workspace import Workspace

WEIGHTS: Mapping[str, float] = load_yaml("card_weights", __package__)
"""What each field counts."""

_ELSEWHERE, _OTHER_PERIOD = 0.35, 0.5
"""Weights of a figure outside its primary statement, and of a metric for other periods."""
_FIRST_PAGES = 10
_PAGE_SHARE = 0.8
"""Weight of the best values among the cards of the same page, since a table and the text about it belong together."""


@dataclass(frozen=True, slots=True)
class RulesJudge:
    """See `Judge`. Deterministic, and independent of the order of the cards.

    Cards are selected one at a time, each the best in addition to those before it: a figure that a card of another page
    has adds nothing, so that the first pages together cover as many slots as possible.
    """

    workspace: Workspace

    def rank(self, brief: Brief, cards: Sequence[Card]) -> list[Verdict]:
        """See Judge.rank."""
        listed = sorted(range(len(cards)), key=lambda at: _key(cards[at]))
        found = _aligned([cards[at] for at in listed], brief, self.workspace)
        required = required_fields(brief.query, brief.intent.parts)
        return [
            Verdict(listed[at], round(score, 6), matched_fields(cards[listed[at]], required, brief.owners))
            for at, score in greedy_select(found, WEIGHTS)
        ]


def greedy_select(cards: Sequence[Candidate], weights: Mapping[str, float]) -> list[tuple[int, float]]:
    """Return (index, score) of each card, as a candidate of its page, in the order of selection.

    The cards of a page keep the scores from when the first of them was selected.
    """
    own = [sum(weights[name] * value for name, value in card.features.items()) for card in cards]
    best_held: dict[Slot, float] = {}
    met: set[PageKey] = set()
    scores: dict[int, float] = {}
    left = set(range(len(cards)))
    taken: list[tuple[int, float]] = []
    while left:
        for at in left:
            if at not in scores or (cards[at].slots and cards[at].key not in met):
                scores[at] = own[at] + weights["slots"] * slot_gain(cards[at].slots, best_held)
        chosen = min(left, key=lambda at: (-round(scores[at], 9), at))
        taken.append((chosen, scores[chosen]))
        left.remove(chosen)
        met.add(cards[chosen].key)
        for slot, worth in cards[chosen].slots.items():
            best_held[slot] = max(worth, best_held.get(slot, 0.0))
    return taken


def _aligned(cards: Sequence[Card], brief: Brief, workspace: Workspace) -> list[Candidate]:
    """Return the alignment of each card with the question, combined with the other cards of its page."""
    keys = [PageKey(card.identity.doc_id, card.identity.page) for card in cards]
    features, slots = _features(cards, brief, workspace), (_slots(card, brief, workspace) for card in cards)
    found = list(map(Candidate, keys, features, slots))
    return [_with_page(card, [one for one in found if one.key == card.key]) for card in found]


def _features(cards: Sequence[Card], brief: Brief, workspace: Workspace) -> Iterator[dict[str, float]]:
    """Yield the features of each card for one question; see WEIGHTS."""
    query = brief.query
    texts = [_stems_of_card(card) for card in cards]
    periods, years = frozenset(map(str, query.periods)), {period.fiscal_year for period in query.periods}
    metrics = dict.fromkeys((*query.metrics, *(slot.metric for slot in query.slots)))
    asked = _stems(" ".join(query.terms))
    more = _stems(" ".join((*query.expansions, *query.synonyms))) - asked
    words, expansions = _weights(asked, texts, workspace), _weights(more, texts, workspace)
    top = max((brief.words.get(_key(card), 0.0) for card in cards), default=0.0) or 1.0
    doc_ids = {card.identity.doc_id for card in cards}
    items = {doc_id: item_weights(query, workspace.index.filing(doc_id)) for doc_id in doc_ids}
    for card, text in zip(cards, texts, strict=True):
        identity = card.identity
        item, heading = items[identity.doc_id](identity.item), _stems(identity.heading)
        share = len(periods.intersection(card.time.periods)) / len(periods) if periods else 0.0
        held = sum(metric in card.metrics for metric in metrics) / max(1, len(metrics))
        owner = brief.owners.get(identity.doc_id)
        yield {
            "company": (owner in query.companies) * (0.5 if owner in query.unsure else 1.0),
            "filing year": float(identity.fiscal_year in years),
            "metrics": held * (_OTHER_PERIOD + (1 - _OTHER_PERIOD) * share if periods else 1.0),
            "time": share,
            "scope": _scope(card, brief.intent.parts),
            "parts": _parts(card, query),
            "statement": float(identity.statement in query.statements),
            "item": item,
            "tables": float(identity.table_kind in query.tables),
            "row": _row(card, asked) if query.slots or query.figures else 0.0,
            "words": brief.words.get(_key(card), 0.0) / top,
            "sketch": overlap(text, words),
            "expansions": overlap(text, expansions),
            "heading": len(heading & (asked | more)) / (len(heading) + 1),
            "use": float(brief.intent.use in card.answers.uses),
            "numeric": float(card.answers.numeric and bool(query.figures or query.slots)),
            "no warning": float(card.role is not ClaimRole.WARNS or item > 0),
            "not formal": float(card.role is not ClaimRole.FORMAL or item > 0),
            "early": 1.0 / (1.0 + identity.page / _FIRST_PAGES),
        }


def _with_page(card: Candidate, of_page: Sequence[Candidate]) -> Candidate:
    """Return the card with each value moved toward the best on its page."""

    def blended(own: float, best: float) -> float:
        return (1 - _PAGE_SHARE) * own + _PAGE_SHARE * best

    slots = dict.fromkeys(slot for one in of_page for slot in one.slots)
    return Candidate(
        card.key,
        {name: blended(value, max(one.features[name] for one in of_page)) for name, value in card.features.items()},
        {slot: blended(card.slots.get(slot, 0.0), max(one.slots.get(slot, 0.0) for one in of_page)) for slot in slots},
    )


def _weights(stems: Collection[str], cards: Sequence[frozenset[str]], workspace: Workspace) -> dict[str, float]:
    """Return word weights by rarity in the index and in the list: a word of every card does not distinguish them."""
    everywhere = weights_of(stems, workspace.index.document_frequencies(set(stems)), workspace.index.page_count())
    here = Counter(stem for of_card in cards for stem in of_card if stem in stems)
    return {stem: weight * math.log(1 + len(cards) / (1 + here[stem])) for stem, weight in everywhere.items()}


def _scope(card: Card, parts: Sequence[str]) -> float:
    wanted = {_stems(part) for part in parts}
    if not wanted:
        return float(card.scope.consolidated)
    return len(wanted & {_stems(part) for part in card.scope.parts}) / len(wanted)


def _parts(card: Card, query: Query) -> float:
    """Return a value nearer to 1 for more parts; 0 for a statement, whose columns are no parts."""
    asked = query.tables or query.figures
    if not asked or card.identity.statement is not None or not set(query.metrics) & set(card.metrics):
        return 0.0
    return len(card.scope.parts) / (1 + len(card.scope.parts))


def _row(card: Card, asked: frozenset[str]) -> float:
    """Return the Dice coefficient of the question's words and the row label most like them."""
    labels = {fact.label for fact in card.facts}
    if card.verifiability.table is not None:
        labels.update(card.verifiability.table.labels)
    stems = (_stems(label) for label in labels)
    return max((2 * len(asked & one) / (len(asked) + len(one)) for one in stems if one and asked), default=0.0)


def _slots(card: Card, brief: Brief, workspace: Workspace) -> dict[Slot, float]:
    """Return the slots whose company, metric and period the card has, with most worth on the metric's own statement."""
    owner = brief.owners.get(card.identity.doc_id)
    held: dict[Slot, float] = {}
    for slot in brief.query.slots:
        if slot.company == owner and slot.metric in card.metrics and slot.period in card.time.periods:
            home = slot_metric(slot, workspace.lexicon.metrics).statement
            at_home = card.identity.statement is home if home else card.scope.consolidated
            held[slot] = 1.0 if at_home and RiskSignal.PARENT_ONLY not in card.risks else _ELSEWHERE
    return held


def _stems_of_card(card: Card) -> frozenset[str]:
    labels = card.verifiability.table.labels if card.verifiability.table else ()
    return _stems(" ".join((card.identity.heading, card.sketch, *labels, *card.scope.parts)))


_stems = lru_cache(maxsize=20_000)(stem_set)


def _key(card: Card) -> tuple[str, int]:
    return card.identity.doc_id, card.identity.ordinal
