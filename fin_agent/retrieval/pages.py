"""The page stage: which pages of those filings hold the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fin_agent.filings.outline.items import COVER
from fin_agent.index.protocol import FilingIndex, FilingRecord, PageKey, PageOutline, SourcedFact
from fin_agent.lexicon.metrics import Metric
from fin_agent.lexicon.slots import Slot
from fin_agent.retrieval.matching import fills
from fin_agent.retrieval.query import Query, RankedFiling, RankedPage
from fin_agent.vocabulary.identity import Form

_WEIGHTS = {"words": 1.0, "expansions": 0.4, "statement": 0.3, "item": 0.25, "slots": 3.0, "filing": 2.5}
_ELSEWHERE = 0.35
"""What a figure counts that stands outside the primary statements."""
_HITS = 400
_ON_A_COVER = 0.3
_EXHIBITS = "9.01"
_BODY = 0.6
"""Worth of an Item of an 8-K that is not the one such things are usually told under."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    key: PageKey
    features: Mapping[str, float]
    slots: Mapping[Slot, float]


def rank_pages(
    query: Query,
    filings: Sequence[RankedFiling],
    index: FilingIndex,
    metrics: Mapping[str, Metric],
    owners: Mapping[str, str],
    *,
    limit: int = 20,
) -> list[RankedPage]:
    """The best `limit` pages of `filings`, best first; `owners` gives the company key of each filing.

    Pages are taken one at a time: a figure that a page taken before already holds counts no more, so that the first few
    pages together hold as many of the figures looked for as they can.
    """
    if not filings:
        return []
    doc_ids = [filing.doc_id for filing in filings]
    words = _scores(index, query.terms, doc_ids)
    expansions = _scores(index, query.expansions, doc_ids)
    top_filing = max(filing.score for filing in filings) or 1.0
    filing_scores = {filing.doc_id: filing.score / top_filing for filing in filings}
    held = _slots_held(query, index, doc_ids, metrics, owners)
    item_worth = {record.doc_id: _item_worth(query, record) for record in map(index.filing, doc_ids)}
    candidates = [
        _Candidate(
            page.key,
            {
                "words": words.get(page.key, 0.0) * _telling(page, item_worth),
                "expansions": expansions.get(page.key, 0.0) * _telling(page, item_worth),
                "statement": 1.0 if page.statement in query.statements else 0.0,
                "item": item_worth[page.key.doc_id](page.item),
                "filing": filing_scores[page.key.doc_id],
            },
            held.get(page.key, {}),
        )
        for page in _in_rank_order(index.outline(doc_ids), doc_ids)
    ]
    return _taken_in_turn(candidates, limit)


def _taken_in_turn(candidates: list[_Candidate], limit: int) -> list[RankedPage]:
    base = [sum(_WEIGHTS[name] * value for name, value in page.features.items()) for page in candidates]
    by_base = sorted(range(len(candidates)), key=lambda index: (-round(base[index], 9), index))
    holding = [index for index in by_base if candidates[index].slots]
    best_held: dict[Slot, float] = {}
    taken: dict[int, RankedPage] = {}

    def gain(index: int) -> float:
        """0 for a page that adds nothing, near 1 for one that adds many: even one figure more is worth a page."""
        held = candidates[index].slots.items()
        added = sum(max(0.0, worth - best_held.get(slot, 0.0)) for slot, worth in held)
        return added / (1.0 + added)

    while len(taken) < min(limit, len(candidates)):
        first_left = next(index for index in by_base if index not in taken)
        gains = {index: gain(index) for index in (*holding, first_left)}
        scores = {index: base[index] + _WEIGHTS["slots"] * gains[index] for index in gains}
        chosen = min(scores, key=lambda index: (-round(scores[index], 9), index))
        candidate = candidates[chosen]
        features = (*candidate.features.items(), ("slots", gains[chosen]))
        listed = tuple((name, round(value, 4)) for name, value in features)
        taken[chosen] = RankedPage(candidate.key, scores[chosen], listed)
        for slot, worth in candidate.slots.items():
            best_held[slot] = max(worth, best_held.get(slot, 0.0))
        holding = [index for index in holding if index != chosen]
    return list(taken.values())


def _telling(page: PageOutline, item_worth: Mapping[str, Callable[[str | None], float]]) -> float:
    """What words count on this page: a cover is the same boilerplate in every filing, unless it is asked for."""
    return _ON_A_COVER if page.item == COVER and not item_worth[page.key.doc_id](COVER) else 1.0


def _scores(index: FilingIndex, terms: Sequence[str], doc_ids: Sequence[str]) -> dict[PageKey, float]:
    """BM25 of the pages, the best of them 1."""
    hits = index.search_pages(terms, doc_ids=doc_ids, limit=_HITS)
    top = max((hit.score for hit in hits), default=0.0) or 1.0
    return {hit.key: hit.score / top for hit in hits}


def _slots_held(
    query: Query,
    index: FilingIndex,
    doc_ids: Sequence[str],
    metrics: Mapping[str, Metric],
    owners: Mapping[str, str],
) -> dict[PageKey, dict[Slot, float]]:
    """Which figures looked for each page states, and what that is worth: most on the metric's own statement."""
    if not query.slots:
        return {}
    held: dict[PageKey, dict[Slot, float]] = {}
    wanted = {slot.metric for slot in query.slots}
    facts: list[SourcedFact] = index.facts(doc_ids, metrics=wanted)
    for sourced in facts:
        for slot in query.slots:
            if fills(sourced, slot, metrics, owners):
                home = metrics[slot.metric].statement
                at_home = home is None or sourced.fact.statement is home
                worth = 1.0 if at_home else _ELSEWHERE
                page = held.setdefault(sourced.key, {})
                page[slot] = max(worth, page.get(slot, 0.0))
    return held


def _item_worth(query: Query, record: FilingRecord) -> Callable[[str | None], float]:
    """Worth of each Item of this filing's form: 1 for the best, less for those after it.

    An 8-K is short: any Item but its list of exhibits is what it was filed for.
    """
    prefix = f"{record.identity.form.value}."
    named = [item.removeprefix(prefix) for item in query.items if item.startswith(prefix)]
    names = list(dict.fromkeys(name.replace("II.", "II-").removeprefix("I.") for name in named))
    worth = {name: 1.0 / (1 + rank) for rank, name in enumerate(names)}
    eight_k = record.identity.form is Form.EIGHT_K

    def of(item: str | None) -> float:
        if eight_k and item not in (None, _EXHIBITS, COVER):
            return max(_BODY, worth.get(item or "", 0.0))
        return worth.get(item or "", 0.0)

    return of


def _in_rank_order(pages: Sequence[PageOutline], doc_ids: Sequence[str]) -> list[PageOutline]:
    rank = {doc_id: position for position, doc_id in enumerate(doc_ids)}
    return sorted(pages, key=lambda page: (rank[page.key.doc_id], page.key.page))
