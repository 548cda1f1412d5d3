"""The passage stage: rank the passages of the pages found."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.index.protocol import PageKey, SourcedFact, StoredPassage
from fin_agent.retrieval.page_text_matching import QueryTerms
from fin_agent.retrieval.search_query import Query, RankedPage, RankedPassage
from fin_agent.retrieval.search_terms import overlap, stems_of
from fin_agent.retrieval.slot_matching import fills_slot
from fin_agent.vocabulary.filing import PassageKind
from fin_agent.workspace import Workspace

_EXPANSION = 0.3
_TABLE_OF_FIGURES = 1.5
"""Factor for the words of a table, relative to running text, where a figure is asked for."""
_SECOND_OF_A_PAGE = 0.5
"""Factor for a page's second passage: it repeats the page, but may contain another table."""


def rank_passages(
    query: Query, pages: Sequence[RankedPage], workspace: Workspace, *, limit: int = 5
) -> list[RankedPassage]:
    """Return the best `limit` passages of `pages`, best first: by their page, then by their own words and figures.

    The best passage of every page comes before the second best of a page, unless its page scores less than half as
    much.

    Args:
        query: What is asked for.
        pages: Pages of the page stage with their scores.
        workspace: The index with the passages.
        limit: The most passages to return.
    """
    index = workspace.index
    wanted = QueryTerms.of(query, index)
    facts = _facts_by_page(query, pages, workspace)
    stored: dict[PageKey, list[StoredPassage]] = {}
    for passage in index.passages([page.key for page in pages]):
        stored.setdefault(passage.key, []).append(passage)
    ranked: list[RankedPassage] = []
    for page in pages:
        scored = []
        for passage in stored.get(page.key, ()):
            stems = set(stems_of(passage.passage.text))
            words = overlap(stems, wanted.words) + _EXPANSION * overlap(stems, wanted.expansions)
            if query.figures and passage.passage.kind is PassageKind.TABLE:
                words *= _TABLE_OF_FIGURES
            scored.append((words + _figures(passage, facts.get(page.key, ())), passage))
        scored.sort(key=lambda entry: (-round(entry[0], 9), entry[1].passage.ordinal))
        for rank, (score, passage) in enumerate(scored):
            ranked.append(RankedPassage(passage, page.score * _SECOND_OF_A_PAGE**rank + 0.001 * score))
    ranked.sort(key=lambda passage: -round(passage.score, 9))
    return ranked[:limit]


def _figures(passage: StoredPassage, facts: Sequence[SourcedFact]) -> float:
    """Return the share of the page's wanted figures in this passage; running text only quotes a table, so it gets 0."""
    if not facts or passage.passage.kind is not PassageKind.TABLE or passage.passage.box is None:
        return 0.0
    box = passage.passage.box
    boxes = [sourced.fact.box for sourced in facts]
    inside = [box.spans_height_of(one) and box.x0 - 1 <= one.x0 and one.x1 <= box.x1 + 1 for one in boxes]
    return sum(inside) / len(boxes)


def _facts_by_page(query: Query, pages: Sequence[RankedPage], workspace: Workspace) -> dict[PageKey, list[SourcedFact]]:
    metrics, owners = workspace.lexicon.metrics, workspace.directory.owners
    by_page: dict[PageKey, list[SourcedFact]] = {}
    doc_ids = {page.key.doc_id for page in pages}
    keys = [page.key for page in pages]
    metrics_wanted = {slot.metric for slot in query.slots if not slot.is_searched}
    named = workspace.index.facts(doc_ids, metrics=metrics_wanted, pages=keys) if metrics_wanted else []
    for fact in (*named, *(printed for printed in query.printed if printed.key in keys)):
        if any(fills_slot(fact, slot, metrics, owners) for slot in query.slots):
            by_page.setdefault(fact.key, []).append(fact)
    return by_page
