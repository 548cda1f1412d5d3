"""`hirec`: hierarchical retrieval with evidence curation as published (Choe et al. 2025, Algorithm 1); `hyde`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from fin_agent.index.protocol import FilingIndex, VectorUnit
from fin_agent.prompts import load_prompt
from fin_agent.retrieval.search_query import Depth, Query, RankedPassage, Scope, SearchResult, SearchStep
from fin_agent.retrieval.strategies.iterative import CANDIDATES, order_by_scores
from fin_agent.retrieval.strategies.one_pass import (
    Ranker,
    Wording,
    listed,
    load_passages,
    page_keys,
    passages_to_depth,
    restrict_scope,
    without_duplicates,
)
from fin_agent.retrieval.strategies.protocol import Curator, PassageScorer, Rewriter, Writer, generated_text

SCORED = ("document-reranker", "passage-reranker")
"""Parts that use a cross-encoder; without both, none is needed."""
_SCORED_BY = "by a cross-encoder"
_UNSCORED = "as ranked, no cross-encoder"


@dataclass(slots=True)
class HiRec:
    """One search: summaries -> `candidates` filings -> `documents` of them -> `passages`, curated in `rounds` at most.

    The question is rewritten for the document stage only. A cross-encoder ranks candidate filings by their summaries
    and scores every passage of the filings chosen. Curation judges new and kept passages together; the next search is
    for what is missing. Results after the last curation are merged uncurated. If no filing matches by its summary, all
    are searched.
    """

    index: FilingIndex
    ranker: Ranker
    curator: Curator
    rewriter: Rewriter
    scorer: PassageScorer | None
    """None where both parts of SCORED are switched off."""
    without: frozenset[str]
    """Parts switched off as in its Table 3: `hierarchy`, `curation`, `filter`; also `rewriting` and those of SCORED."""
    documents: int
    passages: int
    kept: int
    rounds: int
    scope: Scope
    depth: Depth
    candidates: int = 100
    filings: list[str] = field(default_factory=list)
    seen: list[RankedPassage] = field(default_factory=list)
    steps: list[SearchStep] = field(default_factory=list)

    def search(self, query: Query) -> SearchResult:
        """Return passages for generation first, then those that curation dropped or did not see."""
        kept: list[RankedPassage] = []
        asked: Query | None = query
        searches = 0
        while asked is not None:
            searches += 1
            found = self._retrieve(asked)
            pool = without_duplicates([*kept, *found])
            if "curation" in self.without:
                kept = pool[: self.kept]
                break
            if searches > self.rounds:
                kept = pool
                self._step("curation", "none, merged", f"{len(found)} new passages with those kept")
                break
            verdict = self.curator(query, pool, self.filings)
            # As in the published code: the maximum number of kept passages counts as enough.
            enough = verdict.answerable or len(verdict.kept) >= self.kept
            asked = None if enough else verdict.complementary
            filtered = "filter" not in self.without
            kept = list(verdict.kept[: self.kept]) if filtered else pool
            told = "answerable" if enough else f"asks: {asked.text}" if asked else "not answerable"
            how = "filtered" if filtered else "unfiltered"
            self._step("curation", how, f"{len(kept)} of {len(pool)} passages kept, {told}")
        found = without_duplicates([*kept, *self.seen])
        of_kept, of_found = ([each.stored.doc_id for each in passages] for passages in (kept, found))
        filings = [*of_kept, *self.filings, *of_found]
        return replace(
            listed(found, (each.stored.key for each in found), filings, self.depth, read=len(kept)),
            rounds=searches,
            kept=len(kept),
            curated=True,
            steps=tuple(self.steps),
        )

    def _step(self, stage: str, how: str, found: str) -> None:
        self.steps.append(SearchStep(stage, how, found))

    def _retrieve(self, asked: Query) -> list[RankedPassage]:
        """Algorithm 1, HierarchicalRetrieval."""
        within = self.scope
        if "hierarchy" not in self.without:
            documents = self._documents(asked)
            self.filings += [doc_id for doc_id in documents if doc_id not in self.filings]
            if documents:
                within = restrict_scope(within, documents[: self.documents])
        ranked = self._passages(asked, within)
        self.seen += ranked
        return ranked[: self.kept if "curation" in self.without else self.passages]

    def _documents(self, asked: Query) -> list[str]:
        rewritten = "rewriting" not in self.without
        words = self.rewriter(asked) if rewritten else asked.text
        limit = max(self.documents, self.depth.documents)
        ranked = self.ranker(VectorUnit.SUMMARY, Wording((words,)), self.scope, self.candidates)
        found = [place.doc_id for place, _ in ranked]
        scorer = None if "document-reranker" in self.without else self.scorer
        if scorer is not None:
            scores = scorer(words, [self._title(doc_id) + self.index.filing(doc_id).summary for doc_id in found])
            found = [found[place] for place in sorted(range(len(found)), key=lambda at: (-round(scores[at], 6), at))]
        how = f"{'rewritten' if rewritten else 'as asked'}, {_SCORED_BY if scorer else _UNSCORED}"
        self._step("documents", how, f"{words}: {', '.join(found[: self.documents])}")
        return found[:limit]

    def _passages(self, asked: Query, within: Scope) -> list[RankedPassage]:
        flat = "hierarchy" in self.without or within.filings is None
        scorer = None if "passage-reranker" in self.without else self.scorer
        if scorer is None or flat:
            found = passages_to_depth(self.ranker, Wording.of(asked), within, self.depth)
            ranked = load_passages(self.index, found[: max(CANDIDATES, self.depth.passages, self.depth.pages)])
        else:
            keys = [
                key for doc_id in within.filings or () for key in page_keys(self.index, doc_id) if within.holds(key)
            ]
            ranked = [RankedPassage(each, 0.0) for each in self.index.passages(keys)]
        if scorer is not None:
            ranked = order_by_scores(asked.text, ranked, scorer, self._title)
        of = "of the whole index" if flat else "of the filings found"
        self._step("passages", _SCORED_BY if scorer else _UNSCORED, f"{len(ranked)} {of}")
        return ranked

    def _title(self, doc_id: str) -> str:
        """Return the prefix for a filing's summary and passages when they are scored (Section 5.1)."""
        identity = self.index.filing(doc_id).identity
        return f"Document title: {identity.company} {identity.fiscal_year or ''} {identity.form.value}. Context: "


KINDS = (
    "a primary financial statement: income statement, balance sheet or cash flow statement",
    "a note to the financial statements, with its table",
    "management's discussion and analysis of results, liquidity and what drove them",
    "the description of the business, its risks, legal proceedings, or an announcement of an event",
)
"""Places of the four passages of `multi-hyde`: asked four times for the same, a model writes the same."""


def hypothetical_wording(
    writer: Writer, notify: Callable[[str], None], prompt_name: str = "hyde", *, folder: Path | None = None
) -> Callable[[Query], Wording]:
    """Return a function that words a query as passages that a model makes up, whose vectors are averaged.

    The prompt `hyde` gives one passage, `multi_hyde` one for each of KINDS; if all fail, the question itself is used.
    Raises PromptError for a prompt that is not valid.
    """
    prompt = load_prompt(prompt_name, folder=folder)
    given = [{"kind": kind} for kind in KINDS] if prompt_name == "multi_hyde" else [{}]

    def wording_of(query: Query) -> Wording:
        prompts = [prompt.filled(question=query.text, **each) for each in given]
        passages = tuple(filter(None, (generated_text(writer, one, notify) for one in prompts)))
        return Wording(passages, made_up=True) if passages else Wording.of(query)

    return wording_of
