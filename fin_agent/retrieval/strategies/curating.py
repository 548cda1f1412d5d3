"""One who judges evidence between rounds of search; who that is, is settled by the caller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from fin_agent.retrieval.query import Query, RankedPassage


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a curation decides after a round (HiREC: filter, answerability, complementary question in one step)."""

    kept: tuple[RankedPassage, ...]
    """Of the passages given, those an answer may be written from, best first."""
    answerable: bool
    """Whether they are enough."""
    complementary: Query | None = None
    """What to search for next; None where nothing is lacking, or nothing else can be asked."""


class Curator(Protocol):
    """Judges passages against a question. Deterministic; safe to share between threads."""

    def curate(self, question: Query, passages: Sequence[RankedPassage], filings: Sequence[str]) -> Verdict:
        """Keep what serves the answer to `question` out of new and earlier passages; `filings` searched, best first."""
