"""The judge that needs no model: rank cards by the alignment of their fields (FinCards, Section 3.3)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

import yaml
from pydantic import TypeAdapter, ValidationError

from fin_agent.errors import LexiconError
from fin_agent.evidence.cards.card import Card, ClaimRole, RiskSignal
from fin_agent.evidence.field_alignment import matched_fields, required_fields
from fin_agent.evidence.tournament.judge import Brief, Verdict
from fin_agent.lexicon.slots import Slot, slot_metric
from fin_agent.retrieval.item_weights import item_weights
from fin_agent.retrieval.search_query import Query
from fin_agent.retrieval.search_terms import overlap, stems_of, weights_of
from fin_agent.workspace import Workspace

JudgeWeights = Mapping[str, float]
"""A weight for every field of `MEANINGS`."""
_DEFAULT_WEIGHTS = "judge_weights.yaml"
_FILE = TypeAdapter(dict[str, float])


class RulesJudge:
    """See `Judge`. Deterministic, and independent of the order of the cards.

    Cards are selected one at a time, each the best in addition to those before it: a figure that a card of another page
    has adds nothing, so that the first pages together cover as many slots as possible.
    """

    def __init__(self, workspace: Workspace, weights: JudgeWeights | None = None) -> None:
        self._workspace = workspace
        self._weights = packaged_weights() if weights is None else weights

    def rank(self, brief: Brief, cards: Sequence[Card]) -> list[Verdict]:
        """See Judge.rank."""
        listed = sorted(range(len(cards)), key=lambda at: (cards[at].identity.doc_id, cards[at].identity.ordinal))
        found = align_cards([cards[at] for at in listed], brief, self._workspace)
        required = required_fields(brief.query, brief.intent.parts)
        return [
            Verdict(listed[at], round(score, 6), matched_fields(cards[listed[at]], required, brief.owners))
            for at, score in greedy_select(found, self._weights)
        ]


def greedy_select(cards: Sequence[AlignedCard], weights: JudgeWeights) -> list[tuple[int, float]]:
    """Return (index, score) of each card in the order of selection.

    The cards of a page keep the scores from when the first of them was selected.
    """
    own = [sum(weights[name] * value for name, value in card.features.items()) for card in cards]
    best_held: dict[Slot, float] = {}
    met: set[tuple[str, int]] = set()
    scores: dict[int, float] = {}
    left = set(range(len(cards)))
    taken: list[tuple[int, float]] = []
    while left:
        for at in left:
            if at not in scores or (cards[at].slots and cards[at].page not in met):
                scores[at] = own[at] + weights["slots"] * slot_gain(cards[at], best_held)
        chosen = min(left, key=lambda at: (-round(scores[at], 9), at))
        taken.append((chosen, scores[chosen]))
        left.remove(chosen)
        met.add(cards[chosen].page)
        for slot, worth in cards[chosen].slots.items():
            best_held[slot] = max(worth, best_held.get(slot, 0.0))
    return taken


def slot_gain(card: AlignedCard, best_held: Mapping[Slot, float]) -> float:
    """Return the gain of a card's new figures: 0 for none, near 1 for many, so that a single one already counts."""
    added = sum(max(0.0, worth - best_held.get(slot, 0.0)) for slot, worth in card.slots.items())
    return added / (1.0 + added)


@lru_cache(maxsize=1)
def packaged_weights() -> JudgeWeights:
    """Return the packaged weights. Raises LexiconError if the file does not have each field once."""
    text = resources.files(__package__).joinpath(_DEFAULT_WEIGHTS).read_text(encoding="utf-8")
    remedy = f"Give a number for each of: {', '.join(MEANINGS)}"
    try:
        weights = _FILE.validate_python(yaml.safe_load(text))
    except (yaml.YAMLError, ValidationError) as error:
        raise LexiconError(
            f"the file of weights cannot be read ({error})", subject=_DEFAULT_WEIGHTS, remedy=remedy
        ) from error
    if weights.keys() != MEANINGS.keys():
        odd = ", ".join(sorted(weights.keys() ^ MEANINGS.keys()))
        raise LexiconError(f"missing or unknown fields: {odd}", subject=_DEFAULT_WEIGHTS, remedy=remedy)
    return {name: weights[name] for name in MEANINGS}


MEANINGS: Mapping[str, str] = {
    "company": "its filer is a company asked about; a half where the question may mean another",
    "filing year": "its filing is of a year asked about",
    "metrics": "share of the figures spoken of that it has, as far as its periods are those asked about",
    "time": "share of the periods asked about that it has",
    "scope": "it has a part of the company that is asked about, or figures of the whole where no part is",
    "parts": "it divides a figure spoken of among parts of the company; where such a table is asked for",
    "statement": "it stands on a primary statement that is asked for",
    "item": "worth of the Item it belongs to, for what is asked",
    "tables": "its page shows a kind of table that shows such things",
    "row": "how well a row of its table is labelled as asked (Dice)",
    "words": "how well the words of its passage fit (stage 1), the best card's 1",
    "sketch": "share of the question's words in its headings, labels and sketch, those rare among the cards first",
    "expansions": "the same of words that filings use",
    "heading": "share of its heading's words that are wanted",
    "use": "it can serve the use that the question has for it",
    "numeric": "it states figures where a figure is asked for",
    "no warning": "it is no risk factor, or these are asked for",
    "not formal": "it is no cover, list of exhibits or signature",
    "early": "its place in the filing: the first page 1, the eleventh a half",
    "slots": "figures looked for that it adds to the cards before it",
}
"""The meaning of each field of an alignment; `slots` is known only during selection."""

_ELSEWHERE = 0.35
"""Weight of a figure outside its primary statement."""
_OTHER_PERIOD = 0.5
"""Weight of a metric for other periods."""
_FIRST_PAGES = 10
_PAGE_SHARE = 0.8
"""Weight of the best values among the cards of the same page."""


@dataclass(frozen=True, slots=True)
class AlignedCard:
    """A card with its features and the worth of the required figures that it states."""

    page: tuple[str, int]
    features: Mapping[str, float]
    slots: Mapping[Slot, float]


def align_cards(cards: Sequence[Card], brief: Brief, workspace: Workspace) -> list[AlignedCard]:
    """Return the alignment of each card; words are weighted by rarity in the index and among the cards."""
    query = brief.query
    stems = [_stems_of_card(card) for card in cards]
    wanted = _MatchTarget.of(brief, stems, workspace)
    top = max((brief.words.get(_key(card), 0.0) for card in cards), default=0.0) or 1.0
    items = {
        doc_id: item_weights(query, workspace.index.filing(doc_id))
        for doc_id in {card.identity.doc_id for card in cards}
    }
    found: list[AlignedCard] = []
    for card, of_card in zip(cards, stems, strict=True):
        item = items[card.identity.doc_id](card.identity.item)
        heading = _stems(card.identity.heading)
        periods = set(card.time.periods)
        share = len(periods & wanted.periods) / len(wanted.periods) if wanted.periods else 0.0
        features = {
            "company": _company(card, brief),
            "filing year": float(card.identity.fiscal_year in {period.fiscal_year for period in query.periods}),
            "metrics": _metrics(card, wanted, share),
            "time": share,
            "scope": _scope(card, wanted),
            "parts": _parts(card, query),
            "statement": float(card.identity.statement in query.statements),
            "item": item,
            "tables": float(card.identity.table_kind in query.tables),
            "row": _row(card, wanted.asked) if query.slots or query.figures else 0.0,
            "words": brief.words.get(_key(card), 0.0) / top,
            "sketch": overlap(of_card, wanted.words),
            "expansions": overlap(of_card, wanted.expansions),
            "heading": len(heading & wanted.any_words) / (len(heading) + 1),
            "use": float(brief.intent.use in card.answers.uses),
            "numeric": float(card.answers.numeric and bool(query.figures or query.slots)),
            "no warning": float(card.role is not ClaimRole.WARNS or item > 0),
            "not formal": float(card.role is not ClaimRole.FORMAL or item > 0),
            "early": 1.0 / (1.0 + card.identity.page / _FIRST_PAGES),
        }
        found.append(AlignedCard((card.identity.doc_id, card.identity.page), features, _slots(card, brief, workspace)))
    return _with_page_context(found)


def _with_page_context(cards: Sequence[AlignedCard]) -> list[AlignedCard]:
    """Return each card combined with the others of its page, since a table and the text about it belong together."""
    pages: dict[tuple[str, int], list[AlignedCard]] = {}
    for card in cards:
        pages.setdefault(card.page, []).append(card)
    best = {page: _merge_page_cards(of_page) for page, of_page in pages.items()}
    return [
        AlignedCard(
            card.page,
            {name: _blend_with_page(value, best[card.page].features[name]) for name, value in card.features.items()},
            {slot: _blend_with_page(card.slots.get(slot, 0.0), worth) for slot, worth in best[card.page].slots.items()},
        )
        for card in cards
    ]


def _merge_page_cards(cards: Sequence[AlignedCard]) -> AlignedCard:
    slots = dict.fromkeys(slot for card in cards for slot in card.slots)
    return AlignedCard(
        cards[0].page,
        {name: max(card.features[name] for card in cards) for name in cards[0].features},
        {slot: max(card.slots.get(slot, 0.0) for card in cards) for slot in slots},
    )


def _blend_with_page(own: float, of_page: float) -> float:
    return (1 - _PAGE_SHARE) * own + _PAGE_SHARE * of_page


@dataclass(frozen=True, slots=True)
class _MatchTarget:
    """The requested fields, prepared for comparison with many cards."""

    periods: frozenset[str]
    metrics: tuple[str, ...]
    parts: frozenset[frozenset[str]]
    asked: frozenset[str]
    words: Mapping[str, float]
    expansions: Mapping[str, float]
    any_words: frozenset[str]

    @classmethod
    def of(cls, brief: Brief, cards: Sequence[frozenset[str]], workspace: Workspace) -> _MatchTarget:
        query = brief.query
        asked = frozenset(stems_of(" ".join(query.terms)))
        more = frozenset(stems_of(" ".join((*query.expansions, *query.synonyms)))) - asked
        return cls(
            periods=frozenset(map(str, query.periods)),
            metrics=tuple(dict.fromkeys((*query.metrics, *(slot.metric for slot in query.slots)))),
            parts=frozenset(_stems(part) for part in brief.intent.parts),
            asked=asked,
            words=_weights(asked, cards, workspace),
            expansions=_weights(more, cards, workspace),
            any_words=asked | more,
        )


def _weights(stems: Collection[str], cards: Sequence[frozenset[str]], workspace: Workspace) -> dict[str, float]:
    """Return word weights by rarity in the index and in the list: a word of every card does not distinguish them."""
    everywhere = weights_of(stems, workspace.index.document_frequencies(set(stems)), workspace.index.page_count())
    here = Counter(stem for of_card in cards for stem in of_card if stem in stems)
    return {stem: weight * math.log(1 + len(cards) / (1 + here[stem])) for stem, weight in everywhere.items()}


def _company(card: Card, brief: Brief) -> float:
    owner = brief.owners.get(card.identity.doc_id)
    if owner not in brief.query.companies:
        return 0.0
    return 0.5 if owner in brief.query.unsure else 1.0


def _metrics(card: Card, wanted: _MatchTarget, periods: float) -> float:
    held = sum(metric in card.metrics for metric in wanted.metrics) / max(1, len(wanted.metrics))
    return held * (_OTHER_PERIOD + (1 - _OTHER_PERIOD) * periods if wanted.periods else 1.0)


def _scope(card: Card, wanted: _MatchTarget) -> float:
    if wanted.parts:
        held = {_stems(part) for part in card.scope.parts}
        return len(wanted.parts & held) / len(wanted.parts)
    return float(card.scope.consolidated)


def _parts(card: Card, query: Query) -> float:
    """Return a value nearer to 1 for more parts; 0 for a statement, whose columns are no parts."""
    asked = query.tables or query.figures
    if not asked or card.identity.statement is not None or not set(query.metrics) & set(card.metrics):
        return 0.0
    return len(card.scope.parts) / (1 + len(card.scope.parts))


def _row(card: Card, asked: frozenset[str]) -> float:
    labels = {fact.label for fact in card.facts}
    if card.verifiability.table is not None:
        labels.update(card.verifiability.table.labels)
    return max((_dice_coefficient(asked, _stems(label)) for label in labels), default=0.0)


def _dice_coefficient(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


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


@lru_cache(maxsize=20_000)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stems_of(text))


def _key(card: Card) -> tuple[str, int]:
    return card.identity.doc_id, card.identity.ordinal
