"""Lists of filings, and full-text search over pages, passages and summaries: BM25, in an order no file name decides."""

from __future__ import annotations

import heapq
import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from fin_agent.index import rows
from fin_agent.index.database import Database, ReadOnce
from fin_agent.index.protocol import FilingEntry, PageHit, PageKey, PassageHit

_EQUAL = 1e-8
"""Scores nearer than this may be equal when rounded."""
MOST_MATCHES = 20_000
"""Summaries that one search may score, at about a microsecond each: what holds more than that tells little apart."""


class FullTextSearch(Database):
    """The part of an index that lists its filings and finds things by their words."""

    def __init__(self, file: Path) -> None:
        super().__init__(file)
        self._entries = ReadOnce[tuple[FilingEntry, ...]](self, _read_entries, ())
        self._positions = ReadOnce[dict[int, int]](self, _read_positions, {})
        self._frequencies = ReadOnce[dict[str, int]](self, lambda _: {}, {})
        """Stem -> in how many summaries it is, of those that were asked for."""

    def entries(self) -> tuple[FilingEntry, ...]:
        """See FilingIndex.entries."""
        return self._entries.value()

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
            rare, worth_scoring = self._rare_terms(terms, connection, len(entries))
            query = match_any(rare)
            if not query:
                return []
            positions = self._positions.value()
            found = connection.cursor()
            found.row_factory = None
            # To score is five times dearer than to find.
            score = "-rank" if worth_scoring else "0.0"
            found.execute(f"SELECT rowid, {score} FROM filings_fts WHERE filings_fts MATCH ?", (query,))
            hits: list[tuple[int, float]] = found.fetchall()
        if doc_ids is not None:
            wanted = frozenset(doc_ids)
            hits = [hit for hit in hits if entries[positions[hit[0]]].doc_id in wanted]
        if worth_scoring:
            least = min(heapq.nlargest(limit, (hit[1] for hit in hits)), default=0.0)
            kept = [hit for hit in hits if hit[1] > least - _EQUAL]
            best = sorted((-round(score, 9), positions[row], score) for row, score in kept)[:limit]
        else:
            best = [(0.0, at, 0.0) for at in heapq.nsmallest(limit, (positions[row] for row, _ in hits))]
        return [(entries[at].doc_id, score) for _, at, score in best]

    def document_frequencies(self, stems: Collection[str]) -> Mapping[str, int]:
        """See FilingIndex.document_frequencies."""
        return dict(self._rows(_HOLDING.format("pages_vocabulary"), (json.dumps(sorted(stems)),)))

    def _rare_terms(
        self, terms: Sequence[str], connection: sqlite3.Connection, summaries: int
    ) -> tuple[Sequence[str], bool]:
        """(the rarest of `terms` that `summaries` hold at all, whether it is worth scoring what they match).

        As many as may be scored together, at least one; all of them where they are few or the summaries are. Not worth
        scoring is what even the rarest term matches too often.
        """
        asked = tuple(dict.fromkeys(terms))
        if summaries * len(asked) <= MOST_MATCHES:
            return asked, True
        stems = _stems(asked)
        held = self._frequencies.value()
        if new := sorted({stem for of_term in stems for stem in of_term} - held.keys()):
            found = dict(connection.execute(_HOLDING.format("filings_vocabulary"), (json.dumps(new),)).fetchall())
            held.update(dict.fromkeys(new, 0) | found)
        # A phrase is in no more summaries than its rarest word.
        counts = [min((held[stem] for stem in of_term), default=0) for of_term in stems]
        kept: list[str] = []
        matches = 0
        for count, term in sorted((count, term) for count, term in zip(counts, asked, strict=True) if count):
            if kept and matches + count > MOST_MATCHES:
                break
            kept.append(term)
            matches += count
        return kept, matches <= MOST_MATCHES

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


_HOLDING = "SELECT term, doc FROM {} WHERE term IN (SELECT value FROM json_each(?))"
"""In how many rows the stems are that a vocabulary is asked for."""


def _stems(terms: Sequence[str]) -> list[list[str]]:
    """What the full-text index makes of each term: only its own tokenizer knows."""
    stems: list[list[str]] = [[] for _ in terms]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as words:
        words.execute('CREATE VIRTUAL TABLE words USING fts5 (word, tokenize = "porter unicode61 remove_diacritics 2")')
        words.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, 'instance')")
        words.execute("BEGIN")
        words.executemany(
            "INSERT INTO words (rowid, word) VALUES (?, ?)",
            ((at, term.encode("utf-8", "replace").decode()) for at, term in enumerate(terms)),
        )
        for at, stem in words.execute("SELECT doc, term FROM vocabulary"):
            stems[at].append(stem)
    return stems


def _read_entries(connection: sqlite3.Connection) -> tuple[FilingEntry, ...]:
    # Read in the table's own order and sorted here: following an index from row to row takes twice the time.
    found = connection.execute(f"SELECT {', '.join(rows.ENTRY_COLUMNS)} FROM filings NOT INDEXED")
    return tuple(sorted(map(rows.filing_entry, found), key=lambda entry: (entry.content_hash, entry.doc_id)))


def _read_positions(connection: sqlite3.Connection) -> dict[int, int]:
    """Row of each filing -> its position among the entries."""
    found = connection.execute("SELECT id FROM filings ORDER BY content_hash, doc_id")
    return {row[0]: at for at, row in enumerate(found)}
