"""The passage stage: rank the passages of the pages found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fin_agent.index.protocol import FilingIndex, PageKey, SourcedFact, StoredPassage
from fin_agent.lexicon.entry_loading import Metric
from fin_agent.retrieval.search_query import Query, RankedPage, RankedPassage
from fin_agent.retrieval.search_terms import overlap, stems_of, weights_of
from fin_agent.retrieval.slot_matching import fills_slot
from fin_agent.vocabulary.filing import PassageKind
from fin_agent.vocabulary.place import Box

_EXPANSION = 0.3
_SLOT = 1.0
_TABLE_OF_FIGURES = 1.5
"""Factor for the words of a table, relative to running text, where a figure is asked for."""
_SECOND_OF_A_PAGE = 0.5
"""Factor for a page's second passage: it repeats the page, but may contain another table."""


def rank_passages(
    query: Query,
    pages: Sequence[RankedPage],
    index: FilingIndex,
    metrics: Mapping[str, Metric],
    owners: Mapping[str, str],
    *,
    limit: int = 5,
) -> list[RankedPassage]:
    """Return the best `limit` passages of `pages`, best first: by their page, then by their own words and figures.

    The best passage of every page comes before the second best of a page, unless its page scores less than half as
    much.

    Args:
        query: What is asked for.
        pages: Pages of the page stage with their scores.
        index: The index with the passages.
        metrics: Metrics of the lexicon by id.
        owners: Company key by doc_id.
        limit: The most passages to return.
    """
    stems = stems_of(" ".join(query.terms))
    expanded = [stem for stem in stems_of(" ".join(query.expansions)) if stem not in stems]
    weights = weights_of(set(stems), index.document_frequencies(set(stems)), index.page_count())
    more = weights_of(set(expanded), index.document_frequencies(set(expanded)), index.page_count())
    facts = _facts_by_page(query, pages, index, metrics, owners)
    ranked: list[RankedPassage] = []
    stored = _by_page(index.passages([page.key for page in pages]))
    for page in pages:
        scored = [
            (
                _words(passage, weights, more) * _kind(passage, query)
                + _SLOT * _figures(passage, facts.get(page.key, ())),
                passage,
            )
            for passage in stored.get(page.key, ())
        ]
        scored.sort(key=lambda entry: (-round(entry[0], 9), entry[1].passage.ordinal))
        for rank, (own, passage) in enumerate(scored):
            ranked.append(RankedPassage(passage, page.score * _SECOND_OF_A_PAGE**rank + 0.001 * own))
    ranked.sort(key=lambda passage: -round(passage.score, 9))
    return ranked[:limit]


def _words(passage: StoredPassage, weights: Mapping[str, float], more: Mapping[str, float]) -> float:
    stems = set(stems_of(passage.passage.text))
    return overlap(stems, weights) + _EXPANSION * overlap(stems, more)


def _kind(passage: StoredPassage, query: Query) -> float:
    return _TABLE_OF_FIGURES if query.figures and passage.passage.kind is PassageKind.TABLE else 1.0


def _figures(passage: StoredPassage, facts: Sequence[SourcedFact]) -> float:
    """Return the share of the page's wanted figures in this passage; running text only quotes a table, so it gets 0."""
    if not facts or passage.passage.kind is not PassageKind.TABLE or passage.passage.box is None:
        return 0.0
    box = passage.passage.box
    return sum(_inside(fact.fact.box, box) for fact in facts) / len(facts)


def _inside(inner: Box, outer: Box) -> bool:
    return outer.spans_height_of(inner) and outer.x0 - 1 <= inner.x0 and inner.x1 <= outer.x1 + 1


def _facts_by_page(
    query: Query,
    pages: Sequence[RankedPage],
    index: FilingIndex,
    metrics: Mapping[str, Metric],
    owners: Mapping[str, str],
) -> dict[PageKey, list[SourcedFact]]:
    if not query.slots or not pages:
        return {}
    by_page: dict[PageKey, list[SourcedFact]] = {}
    doc_ids = {page.key.doc_id for page in pages}
    keys = [page.key for page in pages]
    metrics_wanted = {slot.metric for slot in query.slots if not slot.is_searched}
    named = index.facts(doc_ids, metrics=metrics_wanted, pages=keys) if metrics_wanted else []
    for fact in (*named, *(printed for printed in query.printed if printed.key in keys)):
        if any(fills_slot(fact, slot, metrics, owners) for slot in query.slots):
            by_page.setdefault(fact.key, []).append(fact)
    return by_page


def _by_page(passages: Sequence[StoredPassage]) -> dict[PageKey, list[StoredPassage]]:
    grouped: dict[PageKey, list[StoredPassage]] = {}
    for passage in passages:
        grouped.setdefault(passage.key, []).append(passage)
    return grouped
