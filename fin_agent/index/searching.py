"""Full-text search over pages, passages and summaries: BM25 with a total order that no file name decides."""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fin_agent.index.listing import FilingList
from fin_agent.index.opened import ReadOnce
from fin_agent.index.protocol import PageHit, PageKey, PassageHit
from fin_agent.index.rarity import SummaryFrequencies, rare_terms

_EQUAL = 1e-8
"""Scores nearer than this may be equal when rounded."""


class FullTextSearch(FilingList):
    """The part of an index that finds things by their words."""

    def __init__(self, file: Path) -> None:
        super().__init__(file)
        self._frequencies = ReadOnce(self, lambda _: SummaryFrequencies(), SummaryFrequencies())

    def search_pages(
        self, terms: Sequence[str], *, doc_ids: Collection[str] | None = None, limit: int = 100
    ) -> list[PageHit]:
        """See FilingIndex.search_pages."""
        within = None if doc_ids is None else _Within.of_filings(doc_ids, "pages")
        found = self._search("pages", "number", terms, within, limit)
        return [PageHit(PageKey(doc_id, number), score) for score, doc_id, number, _ in found]

    def search_passages(
        self,
        terms: Sequence[str],
        *,
        doc_ids: Collection[str] | None = None,
        pages: Collection[PageKey] | None = None,
        limit: int = 100,
    ) -> list[PassageHit]:
        """See FilingIndex.search_passages."""
        within = None if doc_ids is None else _Within.of_filings(doc_ids, "passages")
        if pages is not None:
            within = _Within.on_pages([key for key in pages if doc_ids is None or key.doc_id in doc_ids])
        found = self._search("passages", "ordinal", terms, within, limit)
        return [PassageHit(doc_id, page, ordinal, score) for score, doc_id, ordinal, page in found]

    def search_summaries(
        self, terms: Sequence[str], *, doc_ids: Collection[str] | None = None, limit: int = 100
    ) -> list[tuple[str, float]]:
        """See FilingIndex.search_summaries."""
        if limit < 1 or (doc_ids is not None and not doc_ids):
            return []
        with self.snapshot() as connection:
            entries = self.entries()
            chosen = rare_terms(terms, self._frequencies.value(), connection, len(entries))
            query = match_any(chosen.terms)
            if not query:
                return []
            positions = self._positions.value()
            found = connection.cursor()
            found.row_factory = None
            # To score is five times dearer than to find.
            score = "-rank" if chosen.worth_scoring else "0.0"
            found.execute(f"SELECT rowid, {score} FROM filings_fts WHERE filings_fts MATCH ?", (query,))
            hits: list[tuple[int, float]] = found.fetchall()
        if doc_ids is not None:
            wanted = frozenset(doc_ids)
            hits = [hit for hit in hits if entries[positions[hit[0]]].doc_id in wanted]
        if chosen.worth_scoring:
            least = min(heapq.nlargest(limit, (hit[1] for hit in hits)), default=0.0)
            kept = [hit for hit in hits if hit[1] > least - _EQUAL]
            best = sorted((-round(score, 9), positions[row], score) for row, score in kept)[:limit]
        else:
            best = [(0.0, at, 0.0) for at in heapq.nsmallest(limit, (positions[row] for row, _ in hits))]
        return [(entries[at].doc_id, score) for _, at, score in best]

    def document_frequencies(self, stems: Collection[str]) -> Mapping[str, int]:
        """See FilingIndex.document_frequencies."""
        found = self._read(
            "SELECT term, doc FROM pages_vocabulary WHERE term IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(stems)),),
        )
        return {row[0]: row[1] for row in found}

    def _search(
        self, table: str, place: str, terms: Sequence[str], within: _Within | None, limit: int
    ) -> list[tuple[float, str, int, int]]:
        """(score, doc_id, place, page) of the best `limit` rows of `table`."""
        query = match_any(terms)
        if not query or limit < 1:
            return []
        page = "number" if table == "pages" else "page"
        # Ordered by `rank`, FTS5 scores every match before it looks at conditions: within bounds it is left to SQLite.
        statement = f"SELECT rowid, -rank AS score FROM {table}_fts WHERE {table}_fts MATCH ?"
        order, condition, values = "ORDER BY rank", "", [query]
        with self.snapshot() as connection:
            if within is not None:
                first, last = connection.execute(
                    f"SELECT min(id), max(id) FROM ({within.rows})", (within.names,)
                ).fetchone()
                if first is None:
                    return []
                # The plus sign keeps SQLite from searching anew for each row.
                condition = f"AND rowid BETWEEN ? AND ? AND +rowid IN ({within.rows})"
                order, values = "ORDER BY score DESC", [query, first, last, within.names]
            best: list[tuple[int, float]] = []
            for row in connection.execute(f"{statement} {condition} {order}", values):
                # Equals are told apart by content, so all that equal the last one are looked at.
                if len(best) >= limit and round(row[1], 9) < round(best[limit - 1][1], 9):
                    break
                best.append((row[0], row[1]))
            scores = dict(best)
            found = connection.execute(
                f"SELECT {table}.id, filings.content_hash, filings.doc_id, {table}.{place}, {table}.{page} FROM {table}"
                f" JOIN filings ON filings.id = {table}.filing_id"
                f" WHERE {table}.id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(scores)),),
            ).fetchall()
        ranked = sorted(found, key=lambda row: (-round(scores[row[0]], 9), *row[1:]))
        return [(scores[row[0]], row[2], row[3], row[4]) for row in ranked[:limit]]


@dataclass(frozen=True, slots=True)
class _Within:
    """A part of a table: a selection of its rowids, and what the selection's one mark stands for."""

    rows: str
    names: str

    @classmethod
    def of_filings(cls, doc_ids: Collection[str], table: str) -> _Within:
        """What stands in these filings."""
        return cls(
            f"SELECT inside.id FROM filings JOIN {table} AS inside ON inside.filing_id = filings.id"
            " WHERE filings.doc_id IN (SELECT value FROM json_each(?))",
            json.dumps(sorted(doc_ids)),
        )

    @classmethod
    def on_pages(cls, keys: Collection[PageKey]) -> _Within:
        """Passages that stand on these pages."""
        return cls(
            "SELECT inside.id FROM json_each(?) AS wanted"
            " JOIN filings ON filings.doc_id = json_extract(wanted.value, '$[0]')"
            " JOIN passages AS inside"
            " ON inside.filing_id = filings.id AND inside.page = json_extract(wanted.value, '$[1]')",
            json.dumps(sorted(set(keys))),
        )


def match_any(terms: Iterable[str]) -> str:
    """An FTS5 query for any of `terms`; a term of several words is a phrase. Empty where nothing can match."""
    phrases = (" ".join(re.findall(r"\w+", term)) for term in terms)
    return " OR ".join(f'"{phrase}"' for phrase in dict.fromkeys(phrases) if phrase)
