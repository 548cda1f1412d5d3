"""Search over filings as a LangChain retriever."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, PrivateAttr

from fin_agent.config import Settings
from fin_agent.index.protocol import FilingEntry, FilingRecord, StoredPage, StoredPassage
from fin_agent.models.caller import Callers
from fin_agent.retrieval.search_query import Depth, Scope
from fin_agent.tools.argument_resolution import filter_filings
from fin_agent.tools.arguments import FilterArguments
from fin_agent.tools.artifacts import FilingListed
from fin_agent.tools.context import ToolContext, open_workspace
from fin_agent.tools.tool_implementations import entries_by_id, read_query
from fin_agent.workspace import Workspace


class FinAgentRetriever(BaseRetriever):
    """Retrieve filings, pages or passages for a question, best first, with optional filters.

    The metadata of a document give its place: `doc_id`, `company`, `ticker`, `form`, `fiscal_year`, `quarter`,
    `period_end`, `score`; for pages and passages also `page` (from 0, as LangChain's PDF loaders count) and
    `page_number` (from 1, as viewers count); for a passage that is a table also `box`, in points from the top left of
    the page. Scores can be compared within one search only. `k` and the filters can be given with a call:
    `retriever.invoke(question, k=3)`.

    Raises:
        FilingIndexError: There is no index.
        StrategyError: The strategy lacks a requirement.
        ToolInputError: On a call, a filter names a company or filing that is not in the index.

    >>> from pathlib import Path
    >>> from fin_agent import FinAgentRetriever
    >>> retriever = FinAgentRetriever(index=Path("my-index"), level="page", k=3)
    >>> retriever.invoke("What were Harborlight's net sales in FY2023?")[0].id
    'harborlight_2023_10k/9'
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    index: Path | str | None = Field(
        default=None, description="folder of the index; FIN_AGENT_INDEX or the user's own if not given"
    )
    workspace: Workspace | None = Field(default=None, description="an index that is open already, in place of `index`")
    settings: Settings = Field(default_factory=Settings, description="how filings are searched, and with which models")
    callers: Callers | None = Field(
        default=None, description="chat models for strategies that need one, in place of those in the settings"
    )
    strategy: str | None = Field(default=None, description="search strategy, in place of the settings' strategy")
    level: Literal["document", "page", "passage"] = Field(default="passage", description="what is returned")
    k: int = Field(default=5, ge=1, le=200, description="how many are returned at most")

    company: str | None = Field(default=None, description="only filings of this company, by name or ticker")
    form: str | None = Field(default=None, description="only filings of this form: 10-K, 10-Q, 8-K, 20-F ...")
    fiscal_year: int | None = Field(default=None, description="only filings of this fiscal year, by the filer's naming")
    quarter: int | None = Field(default=None, description="only filings of this fiscal quarter, 1 to 4")
    doc_ids: list[str] | None = Field(default=None, description="only these filings")

    _context: ToolContext = PrivateAttr()

    def model_post_init(self, context: object) -> None:
        """Open the index. Raises what the class documents, and ValueError if both `index` and `workspace` are given."""
        if self.doc_ids is not None and not self.doc_ids:
            raise ValueError("`doc_ids` is empty; leave it out to allow all filings")
        workspace = open_workspace(self.index, self.workspace)
        named = {} if self.strategy is None else {"strategy": self.strategy}
        self._context = ToolContext.of(
            workspace, self.settings.model_copy(update=named), callers=self.callers, answers=False
        )

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **given: Any
    ) -> list[Document]:
        k = int(given.pop("k", self.k))
        to = FilterArguments.model_validate(
            {**{name: getattr(self, name) for name in FilterArguments.model_fields}, **given}
        )
        context, index = self._context, self._context.workspace.index
        doc_ids = filter_filings(context.workspace, to)
        understood, _ = read_query(context, query, doc_ids)
        pages = max(k, context.settings.pages)
        depth = Depth(k) if self.level == "document" else Depth(context.settings.documents, pages, k)
        result = context.strategy.search(understood, Scope(doc_ids), depth)
        if self.level == "document":
            fitting = [ranked for ranked in result.filings if ranked.score > 0] or result.filings
            return [_filing(index.filing(ranked.doc_id), ranked.score) for ranked in fitting[:k]]
        entries = entries_by_id(context)
        if self.level == "page":
            ranked = {page.key: page.score for page in result.pages[:k]}
            return [_page(page, entries[page.doc_id], ranked[page.key]) for page in index.pages(list(ranked))]
        return [_passage(found.stored, entries[found.stored.doc_id], found.score) for found in result.passages[:k]]


def _filing(record: FilingRecord, score: float) -> Document:
    """Return a filing as a document whose text is its summary."""
    metadata = _metadata(record, "document", score, pages=record.page_count)
    return Document(page_content=record.summary, id=record.doc_id, metadata=metadata)


def _page(stored: StoredPage, entry: FilingEntry, score: float) -> Document:
    page = stored.page
    statement = page.statement.value if page.statement else None
    metadata = _metadata(entry, "page", score, page.number, title=page.title, item=page.item, statement=statement)
    return Document(page_content=page.text, id=f"{stored.doc_id}/{page.number + 1}", metadata=metadata)


def _passage(stored: StoredPassage, entry: FilingEntry, score: float) -> Document:
    passage = stored.passage
    box = list(passage.box) if passage.box else None
    own = {"ordinal": passage.ordinal, "kind": passage.kind.value, "box": box}
    return Document(
        page_content=passage.text,
        id=f"{stored.doc_id}/{passage.page + 1}/{passage.ordinal}",
        metadata=_metadata(entry, "passage", score, passage.page, **own),
    )


def _metadata(
    filing: FilingRecord | FilingEntry, level: str, score: float, page: int | None = None, **own: object
) -> dict[str, Any]:
    """Return metadata that JSON can represent. `page` counts from 0, as in an Answer and in LangChain's PDF loaders."""
    listed = FilingListed.of(filing).model_dump(mode="json", exclude={"filed", "pages"})
    place = {} if page is None else {"page": page, "page_number": page + 1}
    return {**listed, "level": level, **place, **own, "score": round(score, 6)}
