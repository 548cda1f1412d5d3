"""Search as the tools and the retriever do it: a question in words, narrowed to filings, by the strategy chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fin_agent.graphs.answer.refusals import what_cannot_be_met
from fin_agent.graphs.answer.search_nodes import with_only_company
from fin_agent.index.protocol import FilingEntry, PageKey, StoredPassage
from fin_agent.retrieval.query import Depth, Query, RankedPassage, Scope, SearchResult
from fin_agent.tools.arguments import Narrowed
from fin_agent.tools.artifacts import DocumentsFound, FilingFound, FilingListed, PageFound, PagesFound
from fin_agent.tools.context import SearchContext
from fin_agent.tools.errors import ToolInputError
from fin_agent.tools.narrowing import narrowed
from fin_agent.tools.page_ranges import as_written, pages_in
from fin_agent.vocabulary.filing import PassageKind

_PASSAGES_A_PAGE = 4
"""So many times as many passages as pages are ranked, so that most pages have one of their own among them."""


def documents_found(context: SearchContext, query: str, to: Narrowed, limit: int) -> DocumentsFound:
    """The best filings. Raises QuestionError where there is nothing to read, ToolInputError."""
    doc_ids = narrowed(context.workspace, to, context.within)
    understood, notes = read_query(context, query, doc_ids)
    result = context.strategy.search(understood, Scope(doc_ids), Depth(documents=limit))
    entries = entries_by_id(context)
    fitting = [ranked for ranked in result.filings if ranked.score > 0] or result.filings
    found = tuple(
        FilingFound(**FilingListed.of(entries[ranked.doc_id]).model_dump(), score=round(ranked.score, 6))
        for ranked in fitting[:limit]
    )
    return DocumentsFound(query=query, filings=found, notes=notes)


def pages_found(context: SearchContext, query: str, to: Narrowed, limit: int, pages: str | None = None) -> PagesFound:
    """The best pages, each with its best passage; of `pages` of each filing only, where given. Raises as above."""
    doc_ids = narrowed(context.workspace, to, context.within)
    understood, notes = read_query(context, query, doc_ids)
    result = search(context, understood, doc_ids, limit, pages)
    keys = [ranked.key for ranked in result.pages[:limit]]
    best = _best_passages(result.passages, keys, context)
    stored = {page.key: page.page for page in context.workspace.index.pages(keys)}
    entries = entries_by_id(context)
    found = []
    for ranked in result.pages[:limit]:
        page, passage = stored[ranked.key], best.get(ranked.key)
        found.append(
            PageFound(
                page=page.number,
                filing=FilingListed.of(entries[ranked.key.doc_id]),
                score=round(ranked.score, 6),
                title=page.title,
                item=page.item,
                statement=page.statement,
                text=passage.passage.text if passage else page.text,
                kind=passage.passage.kind if passage else PassageKind.TEXT,
                box=passage.passage.box if passage else None,
            )
        )
    return PagesFound(query=query, pages=tuple(found), notes=notes)


def search(
    context: SearchContext, query: Query, doc_ids: Sequence[str] | None, limit: int, pages: str | None = None
) -> SearchResult:
    """The best `limit` pages and a few times as many passages."""
    scope = Scope(None if doc_ids is None else tuple(doc_ids), _page_keys(context, doc_ids, pages))
    settings = context.settings
    depth = Depth(settings.documents, max(limit, settings.pages), _PASSAGES_A_PAGE * max(limit, settings.pages))
    return context.strategy.search(query, scope, depth)


def read_query(context: SearchContext, query: str, doc_ids: Sequence[str] | None) -> tuple[Query, tuple[str, ...]]:
    """What to search for, and what of it cannot be there; who is not named is the only company among `doc_ids`."""
    analyst = context.analyst
    intent = with_only_company(analyst.intent(query), context.workspace, doc_ids)
    return analyst.query(intent, analyst.plan(intent), None), tuple(what_cannot_be_met(intent, context.workspace))


def entries_by_id(context: SearchContext) -> Mapping[str, FilingEntry]:
    """Every filing of the index by its id."""
    return {entry.doc_id: entry for entry in context.workspace.index.entries()}


def _page_keys(context: SearchContext, doc_ids: Sequence[str] | None, pages: str | None) -> tuple[PageKey, ...] | None:
    if pages is None:
        return None
    if doc_ids is None:
        raise ToolInputError("pages of which filing?", remedy="Name filings in doc_ids, or leave pages out.")
    wanted = pages_in(pages)
    entries = entries_by_id(context)
    keys = tuple(PageKey(doc_id, page) for doc_id in doc_ids for page in wanted if page < entries[doc_id].page_count)
    if not keys:
        raise ToolInputError(
            f"none of these filings has pages {as_written(sorted(wanted))}",
            remedy="list_filings shows how many they have.",
        )
    return keys


def _best_passages(
    ranked: Sequence[RankedPassage], keys: Sequence[PageKey], context: SearchContext
) -> dict[PageKey, StoredPassage]:
    """The passage of each page that is ranked best; the first on a page of which none is ranked."""
    best: dict[PageKey, StoredPassage] = {}
    for passage in ranked:
        best.setdefault(passage.stored.key, passage.stored)
    for stored in context.workspace.index.passages([key for key in keys if key not in best]):
        best.setdefault(stored.key, stored)
    return best
