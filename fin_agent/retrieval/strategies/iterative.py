"""Strategies guided by a model: sub-questions, IRCoT, Self-RAG, RQ-RAG, HyDE, and HiREC as published.

`hirec` is hierarchical retrieval with evidence curation (Choe et al. 2025, Algorithm 1).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

from fin_agent.index.protocol import FilingIndex, VectorUnit
from fin_agent.prompts import Prompt, Quoted, load_prompt
from fin_agent.retrieval.search_query import Depth, Query, RankedPassage, Scope, SearchResult, SearchStep
from fin_agent.retrieval.strategies.one_pass import (
    Ranker,
    Wording,
    listed,
    load_passages,
    passages_to_depth,
    restrict_scope,
    without_duplicates,
)
from fin_agent.retrieval.strategies.protocol import (
    Curator,
    Decomposer,
    Notify,
    PassageOrder,
    PassageScorer,
    Rewriter,
    Search,
    Writer,
    generated_text,
)

CANDIDATES = 50
Found = TypeVar("Found")
_READ_OF_EACH = 2
"""Minimum number of passages per part that an answer is written from."""
_ENOUGH = re.compile(r"\bthe answer is\b", re.I)
_NOTHING_YET = "(none)"
_MOST_OF_A_PASSAGE = 3000
"""Most characters of a passage that the model reads."""
_GRADED, _TRIES = 10, 3
_BRANCHING_DEPTH, _READ_OF_A_BRANCH = 2, 3
_MAX_EXPANSIONS = 6
SCORED = ("document-reranker", "passage-reranker")
"""Parts that use a cross-encoder; without both, none is needed."""
_SCORED_BY = "by a cross-encoder"
_UNSCORED = "as ranked, no cross-encoder"
KINDS = (
    "a primary financial statement: income statement, balance sheet or cash flow statement",
    "a note to the financial statements, with its table",
    "management's discussion and analysis of results, liquidity and what drove them",
    "the description of the business, its risks, legal proceedings, or an announcement of an event",
)
"""Places of the four passages of `multi-hyde`: asked four times for the same, a model writes the same."""


def rerank(
    base: Search, order: PassageOrder, candidates: int, query: Query, scope: Scope, depth: Depth
) -> SearchResult:
    """Reorder the `candidates` best passages of `base`; the others keep their order.

    Pages and filings are ordered by their best passage, then as in `base`. Passages that `base` keeps for an answer
    stay before the others.
    """
    found = base(query, scope, Depth(depth.documents, depth.pages, max(depth.passages, candidates)))
    first, behind = found.passages[:candidates], found.passages[candidates:]
    kept = min(found.kept or 0, len(first))
    orderings = [order(query, part) for part in (first[:kept], first[kept:]) if part]
    ordered = [passage for passages, _ in orderings for passage in passages]
    pages = [*(passage.stored.key for passage in ordered), *(page.key for page in found.pages)]
    filings = [*(passage.stored.doc_id for passage in ordered), *(filing.doc_id for filing in found.filings)]
    return replace(
        listed([*ordered, *behind], pages, filings, depth),
        rounds=found.rounds,
        kept=None if found.kept is None else min(found.kept, depth.passages),
        groups=tuple(group for _, groups in orderings for group in groups),
    )


def score_order(scorer: PassageScorer) -> PassageOrder:
    """Return the order by the scores of a scorer."""
    return lambda query, passages: (order_by_scores(query.text, passages, scorer), ())


def order_by_scores(
    question: str,
    passages: Sequence[RankedPassage],
    scorer: PassageScorer,
    title: Callable[[str], str] = lambda doc_id: "",
) -> list[RankedPassage]:
    """Return the passages ordered by the scorer's scores, best first; ties keep their order.

    `title` returns the prefix of a passage's text for its filing.
    """
    if not passages:
        return []
    scores = scorer(question, [title(each.stored.doc_id) + each.stored.passage.text for each in passages])
    order = sorted(range(len(passages)), key=lambda place: (-round(scores[place], 6), place))
    return [RankedPassage(passages[place].stored, scores[place]) for place in order]


def search_sub_questions(
    base: Search, decomposer: Decomposer, passages: int, query: Query, scope: Scope, depth: Depth
) -> SearchResult:
    """Search for the whole question and for each of its parts with another strategy.

    Results are interleaved, so that a part is not crowded out by one that more pages mention. An answer is written from
    at least `passages` passages.
    """
    results = [base(each, scope, depth) for each in (query, *decomposer(query))]
    if len(results) == 1:
        return results[0]
    found = without_duplicates(_interleave(result.passages for result in results))
    read = max(passages, _READ_OF_EACH * len(results))
    filings = _interleave([filing.doc_id for filing in result.filings] for result in results)
    pages = _interleave([page.key for page in result.pages] for result in results)
    return replace(listed(found, pages, filings, depth), kept=min(len(found), read, depth.passages))


def _interleave(lists: Iterable[Sequence[Found]]) -> list[Found]:
    """Return the first of each list, then the second of each, and so on."""
    return [each for row in zip_longest(*lists) for each in row if each is not None]


def search_interleaved(
    base: Search,
    next_thought: Callable[[str, Sequence[RankedPassage], Sequence[str]], str],
    passages: int,
    searches: int,
    query: Query,
    scope: Scope,
    depth: Depth,
) -> SearchResult:
    """IRCoT: search, let the model write the next sentence of its reasoning, search with it; at most `searches` times.

    Stops when the model has the answer or writes nothing to search with. Rounds are combined: the first `passages` of
    each, which the model is shown, come before the rest.
    """
    deep = Depth(depth.documents, depth.pages, max(depth.passages, passages))
    asked = query
    results: list[SearchResult] = []
    thoughts: list[str] = []
    while True:
        results.append(base(asked, scope, deep))
        if len(results) == searches:
            break
        thought = next_thought(query.text, _first_of_each(results, passages), thoughts)
        if not thought or thought in thoughts or _ENOUGH.search(thought):
            break
        thoughts.append(thought)
        asked = _reworded(query, thought)
    return _merge_results(_first_of_each(results, passages), results, depth)


def written_thought(
    writer: Writer,
    prompt: Prompt,
    notify: Notify,
    question: str,
    read: Sequence[RankedPassage],
    thoughts: Sequence[str],
) -> str:
    """Return the next sentence of a model's reasoning from passages and its thoughts so far; empty if it has none."""
    passages = [
        Quoted(stored.passage.text[:_MOST_OF_A_PASSAGE], f"{stored.doc_id} page {stored.passage.page + 1}")
        for stored in (passage.stored for passage in read)
    ]
    told = "\n".join(thoughts) or _NOTHING_YET
    prompt_now = prompt.filled(question=question, passages=passages, thoughts=told)
    return " ".join(generated_text(writer, prompt_now, notify).split())


def _reworded(query: Query, words: str) -> Query:
    return replace(query, text=words, terms=Wording((words,)).terms())


def _first_of_each(results: Sequence[SearchResult], passages: int) -> list[RankedPassage]:
    """Return the first few passages of each search, without duplicates."""
    return without_duplicates(passage for result in results for passage in result.passages[:passages])


def _merge_results(
    read: Sequence[RankedPassage], results: Sequence[SearchResult], depth: Depth, steps: Sequence[SearchStep] = ()
) -> SearchResult:
    """Return the results of several searches combined: passages read first, then the rest of each search in turn."""
    found = without_duplicates([*read, *_interleave(result.passages for result in results)])
    pages = [*(each.stored.key for each in found), *(page.key for result in results for page in result.pages)]
    filings = [*(each.stored.doc_id for each in found), *(each.doc_id for result in results for each in result.filings)]
    merged = listed(found, pages, filings, depth, read=len(read))
    return replace(merged, rounds=len(results), kept=len(read), steps=tuple(steps))


def self_rag(
    base: Search, critic: Curator, rewriter: Rewriter, query: Query, scope: Scope, depth: Depth
) -> SearchResult:
    """Retrieve, grade the passages, and rewrite and retry while they are not sufficient (Asai et al. 2023).

    This is LangGraph's recipe, which FinGEAR compares with: a critic replaces the model trained to write reflection
    tokens. Only passages that the critic finds relevant are read; there may be none.
    """
    deep = Depth(depth.documents, depth.pages, max(depth.passages, _GRADED))
    asked, read = query, list[RankedPassage]()
    results: list[SearchResult] = []
    steps: list[SearchStep] = []
    while len(results) < _TRIES:
        results.append(base(asked, scope, deep))
        found = without_duplicates([*read, *results[-1].passages[:_GRADED]])
        verdict = critic(query, found, [filing.doc_id for filing in results[-1].filings])
        read = list(verdict.kept[:_GRADED])
        steps.append(SearchStep("grading", "by the critic", f"{len(read)} of {len(found)} passages relevant"))
        if verdict.answerable or verdict.complementary is None:
            break
        words = rewriter(verdict.complementary)
        if words == asked.text:
            break
        asked = _reworded(query, words)
        steps.append(SearchStep("rewriting", "for the next try", words))
    return replace(_merge_results(read, results, depth, steps), curated=True)


def rq_rag(
    base: Search, rewriter: Rewriter, decomposer: Decomposer, query: Query, scope: Scope, depth: Depth
) -> SearchResult:
    """Rewrite, decompose and disambiguate the question, then do the same with each result (Chan et al. 2024).

    Three actions at depth 2 with three passages each: 12 searches and at most 36 passages, without duplicates.
    """
    results: dict[str, SearchResult] = {}
    steps: list[SearchStep] = []
    asked = [query]
    for _ in range(_BRANCHING_DEPTH):
        made = [(name, child) for parent in asked for name, child in _actions(rewriter, decomposer, parent)]
        steps += [SearchStep(name, "one of three actions", child.text) for name, child in made]
        asked = [child for _, child in made]
        for each in asked:
            if each.text not in results:
                results[each.text] = base(each, scope, depth)
    found = list(results.values())
    return _merge_results(_first_of_each(found, _READ_OF_A_BRANCH), found, depth, steps)


def _actions(rewriter: Rewriter, decomposer: Decomposer, query: Query) -> Iterator[tuple[str, Query]]:
    wider = "; ".join((*query.expansions, *query.synonyms)[:_MAX_EXPANSIONS])
    yield "rewriting", _reworded(query, rewriter(query))
    yield "decomposing", next(iter(decomposer(query)), query)
    yield "disambiguating", _reworded(query, f"{query.text} ({wider})") if wider else query


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
            records = map(self.index.filing, within.filings or ())
            keys = [key for record in records for key in record.page_keys if within.holds(key)]
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
