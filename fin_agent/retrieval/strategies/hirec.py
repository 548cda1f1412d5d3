"""`hirec`: hierarchical retrieval with evidence curation (Choe et al. 2025, HiREC, Algorithm 1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

from fin_agent.index.protocol import FilingIndex
from fin_agent.prompts import Quoted, load_prompt
from fin_agent.retrieval.query import EVERYTHING, USUAL_DEPTH, Depth, Query, RankedPassage, Scope, SearchResult
from fin_agent.retrieval.strategies.one_pass import (
    Ranker,
    Wording,
    by_position,
    deep_enough,
    filings_of,
    in_this_order,
    narrowed,
    once,
    pages_of,
    stored,
)
from fin_agent.retrieval.strategies.protocol import Curator, Decomposer, PassageScorer, Strategy, Writer, written
from fin_agent.retrieval.strategies.reranking import CANDIDATES, reordered


@dataclass(frozen=True, slots=True)
class HiRec:
    """Summaries -> `candidates` filings -> `documents` of them -> `passages` -> curation, at most `rounds` times.

    Curation sees new passages together with those kept before. Where they are not enough, what it lacks is searched for
    in the next round. As published, a cross-encoder orders candidate filings (by their summaries) and passages; where
    none is given they stay as ranked. Where no filing stands out by its summary, all are searched.
    """

    name: str
    index: FilingIndex
    ranker: Ranker
    curator: Curator
    scorer: PassageScorer | None = None
    candidates: int = 100
    documents: int = 5
    passages: int = 5
    rounds: int = 3

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = USUAL_DEPTH) -> SearchResult:
        """See Strategy.search. What curation kept comes first, then what it dropped, then what it was not shown."""
        asked: Query | None = query
        kept: tuple[RankedPassage, ...] = ()
        judged: list[RankedPassage] = []
        unseen: list[RankedPassage] = []
        filings: list[str] = []
        rounds = 0
        while asked is not None and rounds < self.rounds:
            rounds += 1
            documents = self._documents(asked, scope, max(self.documents, depth.documents))
            filings += [doc_id for doc_id in documents if doc_id not in filings]
            within = narrowed(scope, documents[: self.documents]) if documents else scope
            found = self._passages(asked, within, depth)
            new = found[: self.passages]
            judged += new
            unseen += found[self.passages :]
            verdict = self.curator.curate(query, once([*kept, *new]), filings)
            kept = verdict.kept
            asked = None if verdict.answerable else verdict.complementary
        listed = by_position(once([*kept, *judged, *unseen]))
        of_kept = [passage.stored.doc_id for passage in kept]
        of_listed = [passage.stored.doc_id for passage in listed]
        return SearchResult(
            filings=filings_of(in_this_order([*of_kept, *filings, *of_listed])[: depth.documents], "place"),
            pages=pages_of(in_this_order(passage.stored.key for passage in listed)[: depth.pages], "place"),
            passages=listed[: depth.passages],
            rounds=rounds,
            kept=min(len(kept), depth.passages),
        )

    def _documents(self, asked: Query, scope: Scope, limit: int) -> list[str]:
        candidates = [doc_id for doc_id, _ in self.ranker.filings(Wording.of(asked), scope, self.candidates)]
        if self.scorer is None:
            return candidates[:limit]
        scores = self.scorer.score(asked.text, [self.index.filing(doc_id).summary for doc_id in candidates])
        order = sorted(range(len(candidates)), key=lambda place: (-round(scores[place], 6), place))
        return [candidates[place] for place in order[:limit]]

    def _passages(self, asked: Query, within: Scope, depth: Depth) -> list[RankedPassage]:
        found = deep_enough(self.ranker, Wording.of(asked), within, depth)
        ranked = stored(self.index, found[: max(CANDIDATES, depth.passages, depth.pages)])
        return ranked if self.scorer is None else reordered(asked.text, ranked, self.scorer)


Found = TypeVar("Found")

_READ_OF_EACH = 2
"""Passages of each part that an answer is written from at least."""


class Decomposed:
    """Searches for the whole question and for each of its parts, by another strategy.

    The best of each search come first, then the second best and so on: a part that is hard to find is not crowded out
    by one that many pages speak of.
    """

    def __init__(self, name: str, base: Strategy, decomposer: Decomposer, *, passages: int = 5) -> None:
        self._name = name
        self._base = base
        self._decomposer = decomposer
        self._passages = passages

    @property
    def name(self) -> str:
        """See Strategy.name."""
        return self._name

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = USUAL_DEPTH) -> SearchResult:
        """See Strategy.search."""
        asked = [query, *self._decomposer.parts(query)]
        results = [self._base.search(each, scope, depth) for each in asked]
        if len(results) == 1:
            return results[0]
        listed = once(_in_turn(result.passages for result in results))
        read = max(self._passages, _READ_OF_EACH * len(results))
        filings = _in_turn([filing.doc_id for filing in result.filings] for result in results)
        pages = _in_turn([page.key for page in result.pages] for result in results)
        return SearchResult(
            filings=filings_of(in_this_order(filings)[: depth.documents], "place"),
            pages=pages_of(in_this_order(pages)[: depth.pages], "place"),
            passages=by_position(listed)[: depth.passages],
            kept=min(len(listed), read, depth.passages),
        )


def _in_turn(lists: Iterable[Sequence[Found]]) -> list[Found]:
    """The first of each list, then the second of each, and so on."""
    missing = object()
    dealt = zip_longest(*lists, fillvalue=missing)
    return [each for row in dealt for each in row if each is not missing]  # type: ignore[misc]


_ENOUGH = re.compile(r"\bthe answer is\b", re.I)
_NOTHING_YET = "(none)"
_MOST_OF_A_PASSAGE = 3000
"""Characters of a passage that the model reads."""


class Interleaved:
    """Search, let the model reason one sentence further, search with that sentence; at most `rounds` searches.

    Ends where the model says it has the answer, or writes nothing that can be searched with. What all rounds find is
    put together, `passages` of each. Raises PromptError where the prompt is not as it must be.
    """

    def __init__(
        self,
        name: str,
        base: Strategy,
        writer: Writer,
        notify: Callable[[str], None],
        *,
        passages: int = 5,
        rounds: int = 3,
        folder: Path | None = None,
    ) -> None:
        self._name = name
        self._base = base
        self._writer = writer
        self._notify = notify
        self._passages = passages
        self._rounds = rounds
        self._prompt = load_prompt("ircot", folder=folder)

    @property
    def name(self) -> str:
        """See Strategy.name."""
        return self._name

    def search(self, query: Query, scope: Scope = EVERYTHING, depth: Depth = USUAL_DEPTH) -> SearchResult:
        """See Strategy.search. What each round put before the model comes first, then the rest of the first round."""
        deep = Depth(depth.documents, depth.pages, max(depth.passages, self._passages))
        asked = query
        results: list[SearchResult] = []
        thoughts: list[str] = []
        while True:
            results.append(self._base.search(asked, scope, deep))
            if len(results) == self._rounds:
                break
            thought = self._thought(query, self._read(results), thoughts)
            if not thought or thought in thoughts or _ENOUGH.search(thought):
                break
            thoughts.append(thought)
            asked = replace(query, text=thought, terms=Wording((thought,)).terms())
        read = self._read(results)
        rest = [passage for result in results for passage in result.passages[self._passages :]]
        listed = once([*read, *rest])
        pages = [page.key for result in results for page in result.pages]
        filings = [filing.doc_id for result in results for filing in result.filings]
        return SearchResult(
            filings=filings_of(in_this_order([*(each.stored.doc_id for each in listed), *filings]), "place")[
                : depth.documents
            ],
            pages=pages_of(in_this_order([*(each.stored.key for each in listed), *pages]), "place")[: depth.pages],
            passages=by_position(listed)[: depth.passages],
            rounds=len(results),
            kept=min(len(read), depth.passages),
        )

    def _read(self, results: list[SearchResult]) -> list[RankedPassage]:
        """The first few passages of each round, each once."""
        found = [passage for result in results for passage in result.passages[: self._passages]]
        return once(found)

    def _thought(self, query: Query, read: list[RankedPassage], thoughts: list[str]) -> str:
        places = [f"{passage.stored.doc_id} page {passage.stored.passage.page + 1}" for passage in read]
        texts = [passage.stored.passage.text[:_MOST_OF_A_PASSAGE] for passage in read]
        prompt = self._prompt.filled(
            question=query.text,
            passages=[Quoted(text, place) for text, place in zip(texts, places, strict=True)],
            thoughts="\n".join(thoughts) or _NOTHING_YET,
        )
        return " ".join(written(self._writer, prompt, self._notify).split())


KINDS = (
    "a primary financial statement: income statement, balance sheet or cash flow statement",
    "a note to the financial statements, with its table",
    "management's discussion and analysis of results, liquidity and what drove them",
    "the description of the business, its risks, legal proceedings, or an announcement of an event",
)
"""Where the four passages of `multi-hyde` stand: a model asked four times for the same writes the same."""


class Hypothetical:
    """The wording of a query: the one passage that a model makes up; the question where it makes none.

    Raises PromptError where the prompt is not as it must be.
    """

    def __init__(self, writer: Writer, notify: Callable[[str], None], *, folder: Path | None = None) -> None:
        self._writer = writer
        self._notify = notify
        self._prompt = load_prompt("hyde", folder=folder)

    def __call__(self, query: Query) -> Wording:
        passage = written(self._writer, self._prompt.filled(question=query.text), self._notify)
        return Wording((passage,), made_up=True) if passage else Wording.of(query)


class ManyHypothetical:
    """The wording of a query: four passages of different kinds, and so the mean of their vectors.

    A passage that fails is left out; the question stands in where all do.
    """

    def __init__(self, writer: Writer, notify: Callable[[str], None], *, folder: Path | None = None) -> None:
        self._writer = writer
        self._notify = notify
        self._prompt = load_prompt("multi_hyde", folder=folder)

    def __call__(self, query: Query) -> Wording:
        prompts = [self._prompt.filled(question=query.text, kind=kind) for kind in KINDS]
        passages = tuple(filter(None, (written(self._writer, prompt, self._notify) for prompt in prompts)))
        return Wording(passages, made_up=True) if passages else Wording.of(query)
