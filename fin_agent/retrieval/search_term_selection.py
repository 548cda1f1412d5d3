"""Which terms of a search are worth their time: those that stand on very many pages tell little and cost most."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from fin_agent.index.protocol import FilingEntry, FilingIndex
from fin_agent.retrieval.search_terms import stems_of

_DEAREST = 5
"""How many times the cost allowed even the only term may have."""
_VERY_MANY = 50_000
"""Pages up to which no single word costs enough to matter."""
_COMMON = 0.5
"""Share of pages from which SQLite's BM25 gives a word no weight."""


@dataclass(frozen=True, slots=True)
class SearchCost:
    """What a search costs for each page that holds a word of it, and how much it may cost in all."""

    of_word: float
    of_phrase: float
    most: float


def affordable_terms(terms: Sequence[str], index: FilingIndex, cost: SearchCost) -> tuple[str, ...]:
    """The rarest of `terms`, in the order given, that a search of `cost` can afford: all of them in most indexes.

    The rarest one is kept even where it alone costs somewhat more. Terms that no page holds cost nothing. Of very many
    pages, words that most of them hold are left out where there are others: BM25 gives nothing for them.
    """
    stems = {term: stems_of(term) for term in terms}
    pages, held = _counted({one for of_term in stems.values() for one in of_term}, index)
    common = _COMMON * pages if pages > _VERY_MANY else pages
    telling = {term: of_term for term, of_term in stems.items() if len(of_term) != 1 or held[of_term[0]] <= common}
    costs = sorted((_cost([held[one] for one in of_term], cost), term) for term, of_term in (telling or stems).items())
    kept: set[str] = set()
    spent = 0.0
    for price, term in costs:
        most = cost.most * _DEAREST if not spent else cost.most
        if spent + price > most:
            break
        spent += price
        kept.add(term)
    return tuple(term for term in terms if term in kept)


def _cost(pages: Sequence[int], cost: SearchCost) -> float:
    """Of a term whose words stand on so many pages each."""
    if len(pages) < 2:
        return cost.of_word * sum(pages)
    return cost.of_phrase * sum(pages) if all(pages) else 0.0


@dataclass(slots=True)
class _Counted:
    """Numbers of pages: of all, and of those that hold each stem asked for before."""

    entries: tuple[FilingEntry, ...]
    pages: int
    held: dict[str, int]


_COUNTED: WeakKeyDictionary[FilingIndex, _Counted] = WeakKeyDictionary()
"""Counting pages takes time with very many: what was counted is kept until the index changes."""


def _counted(stems: Collection[str], index: FilingIndex) -> tuple[int, Mapping[str, int]]:
    """How many pages there are, and on how many each of `stems` stands."""
    entries = index.entries()
    kept = _COUNTED.get(index)
    if kept is None or kept.entries is not entries:
        kept = _COUNTED[index] = _Counted(entries, sum(entry.page_count for entry in entries), {})
    missing = [stem for stem in stems if stem not in kept.held]
    if missing:
        counted = index.document_frequencies(missing)
        kept.held.update({stem: counted.get(stem, 0) for stem in missing})
    return kept.pages, kept.held
