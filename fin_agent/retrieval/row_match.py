"""How well the rows of a page's tables are labelled as the question puts it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.retrieval.search_query import Query
from fin_agent.retrieval.search_terms import stems_of

_LETTERS = 4
"""How much of a stem a label has to hold to be looked at: most rows are left unread, and any ending will do."""
_OTHER_PERIOD = 0.5
"""What a row counts that has no figure of a period asked about."""


@dataclass(frozen=True, slots=True)
class RowMatch:
    """The best row of a page, 0 to 1: 1 where its label has the question's words and no others."""

    of_statement: float = 0.0
    """The best one that stands in a primary statement."""
    of_any_table: float = 0.0


def row_matches(query: Query, index: FilingIndex, doc_ids: Collection[str]) -> dict[PageKey, RowMatch]:
    """The best rows of each page of these filings that has one: Dice's coefficient of the words (Dice 1945)."""
    asked = frozenset(stems_of(" ".join(query.terms)))
    if not asked:
        return {}
    periods = {(period.fiscal_year, period.quarter) for period in query.periods}
    best: dict[PageKey, list[float]] = {}
    for row in index.row_labels(doc_ids, holding={word[:_LETTERS] for word in asked}):
        likeness = _likeness(asked, row.label)
        if not likeness:
            continue
        if periods and (row.fiscal_year, row.quarter) not in periods:
            likeness *= _OTHER_PERIOD
        kept = best.setdefault(PageKey(row.doc_id, row.page), [0.0, 0.0])
        place = 1 if row.statement is None else 0
        kept[place] = max(kept[place], likeness)
    return {key: RowMatch(of_statement, max(of_statement, other)) for key, (of_statement, other) in best.items()}


@lru_cache(maxsize=50_000)
def _likeness(asked: frozenset[str], label: str) -> float:
    words = _stems(label)
    return 2 * len(asked & words) / (len(asked) + len(words)) if words else 0.0


@lru_cache(maxsize=50_000)
def _stems(label: str) -> frozenset[str]:
    return frozenset(stems_of(label))
