"""Reranking of retrieved documents by a tournament of cards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from langchain_core.callbacks import Callbacks
from langchain_core.documents import Document
from langchain_core.documents.compressor import BaseDocumentCompressor
from pydantic import AliasChoices, ConfigDict, Field, PrivateAttr, SkipValidation

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategy_adapters import CardTournament, first_query, judge_for
from fin_agent.config import Settings
from fin_agent.errors import FinAgentError
from fin_agent.evidence.tournament.tournament import Judge
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.retrieval.search_query import RankedPassage
from fin_agent.tools.context import open_workspace
from fin_agent.workspace import Workspace


class CompressionError(FinAgentError):
    """Documents cannot be ranked, since they do not come from the index."""


class TournamentCompressor(BaseDocumentCompressor):
    """Select the best documents by a tournament over the cards of their passages (FinCards, Section 4).

    It takes pages and passages that FinAgentRetriever returned from the same index: their `doc_id`, `page` and
    `ordinal` identify the cards. A page gets the rank of its best passage. Rules judge the cards, or the chat model
    that is named.

    >>> from pathlib import Path
    >>> from fin_agent import FinAgentRetriever, TournamentCompressor, Workspace
    >>> workspace = Workspace.open(Path("my-index"))
    >>> question = "What were Harborlight's net sales in FY2023?"
    >>> found = FinAgentRetriever(workspace=workspace, k=20).invoke(question)
    >>> best = TournamentCompressor(workspace=workspace, k=2).compress_documents(found, question)
    >>> best[0].metadata["doc_id"], best[0].metadata["page_number"]
    ('harborlight_2023_10k', 9)
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    index: Path | str | None = Field(
        default=None, description="folder of the index; FIN_AGENT_INDEX or the user's own if not given"
    )
    workspace: Workspace | None = Field(default=None, description="an index that is open already, in place of `index`")
    judge_model: str | None = Field(
        default=None, description="chat model that judges the cards; rules if none is given"
    )
    judge: SkipValidation[Judge | None] = Field(default=None, description="a judge, in place of one by name")
    k: int | None = Field(
        validation_alias=AliasChoices("k", "top_n"),
        default=None,
        ge=1,
        description="how many are returned at most; all if not given",
    )

    _index: FilingIndex = PrivateAttr()
    _analyst: RulesAnalyst = PrivateAttr()
    _arena: CardTournament = PrivateAttr()

    def model_post_init(self, context: object) -> None:
        """Open the index. Raises FilingIndexError, ModelSetupError, ValueError for both `index` and `workspace`."""
        workspace = open_workspace(self.index, self.workspace)
        self._index = workspace.index
        self._analyst = RulesAnalyst(workspace)
        judge = self.judge
        if judge is None and self.judge_model is not None:
            judge = judge_for(Settings(judge_model=self.judge_model))
        self._arena = CardTournament(self._analyst, workspace, judge=judge)

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Rank documents by a tournament over the cards of their passages.

        Args:
            documents: Pages or passages of FinAgentRetriever, from the same index.
            query: The question that they should answer.
            callbacks: Not used.

        Returns:
            The best `k`, best first, with the tournament's score in their metadata.

        Raises:
            CompressionError: A document does not come from this index.
            QuestionError: The query is empty.
        """
        if not documents:
            return []
        of_document = [{_key(each): each for each in self._passages(document)} for document in documents]
        passages = [*{key: each for own in of_document for key, each in own.items()}.values()]
        ordered, _ = self._arena.order(first_query(query, self._analyst), passages)
        places = {_key(each): (place, each.score) for place, each in enumerate(ordered)}
        behind = (len(places), 0.0)
        best = [min((places.get(key, behind) for key in own), default=behind) for own in of_document]
        order = sorted(range(len(documents)), key=lambda position: (best[position][0], position))
        ranked = ((documents[position], round(best[position][1], 6)) for position in order[: self.k])
        return [each.model_copy(update={"metadata": {**each.metadata, "score": score}}) for each, score in ranked]

    def _passages(self, document: Document) -> list[RankedPassage]:
        doc_id, page = document.metadata.get("doc_id"), document.metadata.get("page")
        score = document.metadata.get("score", 0.0)
        if not isinstance(doc_id, str) or not isinstance(page, int):
            raise CompressionError(
                "a document has no `doc_id` and `page`: only documents of FinAgentRetriever have cards",
                subject=str(document.id or document.page_content[:40]),
                remedy='Retrieve with FinAgentRetriever(level="passage") or "page"',
            )
        ordinal = document.metadata.get("ordinal")
        stored = self._index.passages([PageKey(doc_id, page)])
        held = [RankedPassage(each, float(score)) for each in stored if ordinal in (None, each.passage.ordinal)]
        if not held:
            remedy = "Give the compressor the index that the retriever searched"
            subject = f"{doc_id} page {page + 1}"
            raise CompressionError("this passage is not in the index", subject=subject, remedy=remedy)
        return held


def _key(passage: RankedPassage) -> tuple[str, int]:
    return passage.stored.doc_id, passage.stored.passage.ordinal
