"""Strategies that search repeatedly, guided by a model: sub-questions, IRCoT, Self-RAG, RQ-RAG."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TypeVar

from fin_agent.prompts import Prompt, Quoted
from fin_agent.retrieval.search_query import Depth, Query, RankedPassage, Scope, SearchResult, SearchStep
from fin_agent.retrieval.strategies.one_pass import Wording, listed, without_duplicates
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


@dataclass(frozen=True, slots=True)
class Reranked:
    """Reorders the `candidates` best passages of `base`; the others keep their order.

    Pages and filings are ordered by their best passage, then as in `base`.
    """

    base: Search
    order: PassageOrder
    candidates: int = CANDIDATES

    def search(self, query: Query, scope: Scope, depth: Depth) -> SearchResult:
        """See Search. Passages that `base` keeps for an answer stay before the others."""
        deep = Depth(depth.documents, depth.pages, max(depth.passages, self.candidates))
        found = self.base(query, scope, deep)
        first, behind = found.passages[: self.candidates], found.passages[self.candidates :]
        kept = min(found.kept or 0, len(first))
        orderings = [self.order(query, part) for part in (first[:kept], first[kept:]) if part]
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


Found = TypeVar("Found")

_READ_OF_EACH = 2
"""Minimum number of passages per part that an answer is written from."""


@dataclass(frozen=True, slots=True)
class DecomposedSearch:
    """Searches for the whole question and for each of its parts with another strategy.

    Results are interleaved, so that a part is not crowded out by one that more pages mention.
    """

    base: Search
    decomposer: Decomposer
    passages: int = 5

    def search(self, query: Query, scope: Scope, depth: Depth) -> SearchResult:
        """See Search."""
        asked = [query, *self.decomposer(query)]
        results = [self.base(each, scope, depth) for each in asked]
        if len(results) == 1:
            return results[0]
        found = without_duplicates(_interleave(result.passages for result in results))
        read = max(self.passages, _READ_OF_EACH * len(results))
        filings = _interleave([filing.doc_id for filing in result.filings] for result in results)
        pages = _interleave([page.key for page in result.pages] for result in results)
        return replace(listed(found, pages, filings, depth), kept=min(len(found), read, depth.passages))


def _interleave(lists: Iterable[Sequence[Found]]) -> list[Found]:
    """Return the first of each list, then the second of each, and so on."""
    missing = object()
    dealt = zip_longest(*lists, fillvalue=missing)
    return [each for row in dealt for each in row if each is not missing]  # type: ignore[misc]


_ENOUGH = re.compile(r"\bthe answer is\b", re.I)
_NOTHING_YET = "(none)"
_MOST_OF_A_PASSAGE = 3000
"""Most characters of a passage that the model reads."""


@dataclass(frozen=True, slots=True)
class InterleavedSearch:
    """IRCoT: search, let the model write the next sentence of its reasoning, search with it; at most `searches` times.

    Stops when the model has the answer or writes nothing to search with. Rounds are combined, `passages` of each.
    """

    base: Search
    writer: Writer
    prompt: Prompt
    notify: Notify
    passages: int = 5
    searches: int = 4

    def search(self, query: Query, scope: Scope, depth: Depth) -> SearchResult:
        """See Search. Passages shown to the model come first, then the rest of the first round."""
        deep = Depth(depth.documents, depth.pages, max(depth.passages, self.passages))
        asked = query
        results: list[SearchResult] = []
        thoughts: list[str] = []
        while True:
            results.append(self.base(asked, scope, deep))
            if len(results) == self.searches:
                break
            thought = self._next_thought(query, _first_of_each(results, self.passages), thoughts)
            if not thought or thought in thoughts or _ENOUGH.search(thought):
                break
            thoughts.append(thought)
            asked = _reworded(query, thought)
        return _merge_results(_first_of_each(results, self.passages), results, depth)

    def _next_thought(self, query: Query, read: list[RankedPassage], thoughts: list[str]) -> str:
        passages = [
            Quoted(stored.passage.text[:_MOST_OF_A_PASSAGE], f"{stored.doc_id} page {stored.passage.page + 1}")
            for stored in (passage.stored for passage in read)
        ]
        told = "\n".join(thoughts) or _NOTHING_YET
        prompt = self.prompt.filled(question=query.text, passages=passages, thoughts=told)
        return " ".join(generated_text(self.writer, prompt, self.notify).split())


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


@dataclass(frozen=True, slots=True)
class SelfRag:
    """Retrieve, grade the passages, and rewrite and retry while they are not sufficient (Asai et al. 2023).

    This is LangGraph's recipe, which FinGEAR compares with: a critic replaces the model trained to write reflection
    tokens. Only passages that the critic finds relevant are read; there may be none.
    """

    base: Search
    critic: Curator
    rewriter: Rewriter
    passages: int = 10
    tries: int = 3

    def search(self, query: Query, scope: Scope, depth: Depth) -> SearchResult:
        """See Search."""
        deep = Depth(depth.documents, depth.pages, max(depth.passages, self.passages))
        asked, read = query, list[RankedPassage]()
        results: list[SearchResult] = []
        steps: list[SearchStep] = []
        while len(results) < self.tries:
            results.append(self.base(asked, scope, deep))
            found = without_duplicates([*read, *results[-1].passages[: self.passages]])
            filings = [filing.doc_id for filing in results[-1].filings]
            verdict = self.critic(query, found, filings)
            read = list(verdict.kept[: self.passages])
            steps.append(SearchStep("grading", "by the critic", f"{len(read)} of {len(found)} passages relevant"))
            if verdict.answerable or verdict.complementary is None:
                break
            words = self.rewriter(verdict.complementary)
            if words == asked.text:
                break
            asked = _reworded(query, words)
            steps.append(SearchStep("rewriting", "for the next try", words))
        return replace(_merge_results(read, results, depth, steps), curated=True)


_BRANCHING_DEPTH = 2
_MAX_EXPANSIONS = 6


@dataclass(frozen=True, slots=True)
class RqRag:
    """Rewrite, decompose and disambiguate the question, then do the same with each result (Chan et al. 2024).

    Three actions at depth 2 with `passages` each: 12 searches and at most 36 passages, without duplicates.
    """

    base: Search
    rewriter: Rewriter
    decomposer: Decomposer
    passages: int = 3

    def search(self, query: Query, scope: Scope, depth: Depth) -> SearchResult:
        """See Search."""
        results: dict[str, SearchResult] = {}
        steps: list[SearchStep] = []
        asked = [query]
        for _ in range(_BRANCHING_DEPTH):
            asked = [child for parent in asked for child in self._actions(parent, steps)]
            for each in asked:
                if each.text not in results:
                    results[each.text] = self.base(each, scope, depth)
        found = list(results.values())
        return _merge_results(_first_of_each(found, self.passages), found, depth, steps)

    def _actions(self, query: Query, steps: list[SearchStep]) -> Iterable[Query]:
        apart = next(iter(self.decomposer(query)), query)
        wider = "; ".join((*query.expansions, *query.synonyms)[:_MAX_EXPANSIONS])
        made = {
            "rewriting": _reworded(query, self.rewriter(query)),
            "decomposing": apart,
            "disambiguating": _reworded(query, f"{query.text} ({wider})") if wider else query,
        }
        steps += [SearchStep(action, "one of three actions", each.text) for action, each in made.items()]
        return made.values()
