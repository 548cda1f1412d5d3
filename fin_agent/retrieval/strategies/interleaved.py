"""`ircot`: retrieval interleaved with a chain of thought (Trivedi et al. 2023)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from fin_agent.prompts import Quoted, load_prompt
from fin_agent.retrieval.query import (
    EVERYTHING,
    USUAL_DEPTH,
    Depth,
    Query,
    RankedPassage,
    Scope,
    SearchResult,
)
from fin_agent.retrieval.strategies.flat import filings_of, in_this_order, pages_of
from fin_agent.retrieval.strategies.protocol import Strategy
from fin_agent.retrieval.strategies.ranking import Wording, by_position, once
from fin_agent.retrieval.strategies.writing import Writer, written

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
