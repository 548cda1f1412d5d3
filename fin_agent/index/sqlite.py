"""The embedded index: one SQLite file with FTS5, one transaction per filing."""

from __future__ import annotations

import json
import re
import sqlite3
import struct
import threading
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from itertools import accumulate
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from fin_agent.errors import FilingIndexError
from fin_agent.index import rows, sqlite_file, stored_filing
from fin_agent.index.opening import not_indexed
from fin_agent.index.protocol import (
    FilingEntry,
    FilingIndex,
    FilingRecord,
    FilingVectors,
    Hit,
    PageKey,
    SourcedFact,
    StoredPage,
    VectorModel,
    VectorUnit,
)
from fin_agent.index.sqlite_file import transaction
from fin_agent.index.stored_filing import Part, StoredFiling
from fin_agent.vocabulary.fact import Tag

FILE_NAME = "filings.sqlite"
T = TypeVar("T")
_RECORDS = (
    f"SELECT {', '.join((*rows.FILING_COLUMNS, *rows.DETAIL_COLUMNS))}"
    " FROM filings JOIN filing_details ON filing_id = id"
)
_MIN_MERGED = 8
"""Full text is merged if at least one filing in this many is new: all merges together cost a few times the last one."""
MAX_MATCHES = 20_000
"""Most summaries that one search scores, at about a microsecond each; terms in more summaries carry little
information."""
_OF_THESE = "filings.doc_id IN (SELECT value FROM json_each(?))"


def _select(table: str, columns: Iterable[str], more: str = "") -> str:
    """Return a SELECT of the doc_id and columns of a table with rows of filings."""
    selected = "".join(f", {table}.{column}" for column in columns)
    return f"SELECT filings.doc_id{selected}{more} FROM {table} JOIN filings ON filings.id = {table}.filing_id"


_ON_PAGE = {
    Part.PAGES: f"{_select('pages', rows.PAGE.names)} WHERE filings.doc_id = ? AND pages.number = ?",
    Part.PASSAGES: f"{_select('passages', rows.PASSAGE.names, ', cards.card')}"
    " JOIN cards ON cards.passage_id = passages.id"
    " WHERE filings.doc_id = ? AND passages.page = ? ORDER BY passages.ordinal",
    Part.TABLES: f"{_select('page_tables', ('page', 'tables'))} WHERE filings.doc_id = ? AND page_tables.page = ?",
}
_FACTS = (
    f"{_select('facts', rows.FACT.names, ''.join(f', tags.{column}' for column in rows.TAG_COLUMNS))}"
    " LEFT JOIN tags ON tags.filing_id = facts.filing_id AND tags.ordinal = facts.tag"
)


class SqliteIndex(FilingIndex):
    """The filings in the folder `folder`. Safe to share between threads: each gets its own connection.

    >>> import tempfile, pathlib
    >>> from fin_agent import SqliteIndex
    >>> with tempfile.TemporaryDirectory() as folder, SqliteIndex.create(pathlib.Path(folder)) as index:
    ...     index.page_count()
    0
    """

    def __init__(self, folder: Path | str) -> None:
        """Open an existing index.

        Raises:
            FilingIndexError: There is none, or it is incomplete, damaged or of another version.
        """
        self.folder = Path(folder)
        self.file = self.folder / FILE_NAME
        self._local = threading.local()
        self._connections: dict[threading.Thread, sqlite3.Connection] = {}
        self._shared: dict[str, Any] = {}
        self._guard = threading.Lock()
        sqlite_file.require_file(self.file)
        try:
            with self.reading() as connection:
                sqlite_file.check_format(connection, self.file)
        except FilingIndexError:
            self.close()
            raise

    @classmethod
    def create(cls, folder: Path | str) -> SqliteIndex:
        """Open the index in `folder`, creating folder and index where they are missing."""
        sqlite_file.create_database(Path(folder) / FILE_NAME)
        return cls(folder)

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._guard:
            for connection in self._connections.values():
                connection.close()
            self._connections.clear()
            self._local = threading.local()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield this thread's connection, for reads that the protocol does not provide."""
        try:
            yield self._connection
        except sqlite3.Error as error:
            raise sqlite_file.sqlite_error(self.file, error, "read") from error

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """See FilingIndex.snapshot: all reads inside see one state, without writes by others meanwhile."""
        with (
            self.reading() as connection,
            nullcontext() if connection.in_transaction else transaction(connection, "BEGIN"),
        ):
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Open a write transaction: everything inside becomes visible at once, or nothing does."""
        try:
            with transaction(self._connection) as connection:
                self._local.writing = True
                yield connection
        except sqlite3.Error as error:
            raise sqlite_file.sqlite_error(self.file, error, "written") from error
        finally:
            self._local.writing = False

    def read_as(self, make: Callable[..., T], statement: str, values: Sequence[rows.SqlValue] = ()) -> list[T]:
        """Return `make` of each row. Raises FilingIndexError for a row with values that were never written."""
        with self.reading() as connection:
            found = connection.execute(statement, values).fetchall()
        try:
            return [make(row) for row in found]
        except (ValueError, TypeError, KeyError, ArithmeticError, struct.error, zlib.error) as error:
            raise sqlite_file.damaged_error(self.file, f"a row cannot be decoded: {error}") from error

    def _cached(self, name: str, read: Callable[[], T]) -> T:
        """Return what `read` returns, kept under `name` and shared by all threads until the index changes."""
        with self.reading() as connection:
            version = (connection.execute("PRAGMA data_version").fetchone()[0], connection.total_changes)
            kept: dict[str, tuple[object, T]] = self._local.__dict__.setdefault("kept", {})
            if name in kept and kept[name][0] == version:
                return kept[name][1]
            found = read()
        if getattr(self._local, "writing", False):  # may still be rolled back
            return found
        with self._guard:
            if name in self._shared and found == self._shared[name]:
                found = self._shared[name]
            self._shared[name] = found
            kept[name] = (version, found)
            return found

    @property
    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = sqlite_file.connect(self.file)
            with self._guard:
                for thread in [thread for thread in self._connections if not thread.is_alive()]:
                    self._connections.pop(thread).close()
                self._connections[threading.current_thread()] = connection
        return connection

    # Writing

    def put(self, stored: StoredFiling) -> None:
        """See FilingIndex.put."""
        with self.writing() as connection:
            stored_filing.insert_filing(connection, stored)

    def replace_summary(self, doc_id: str, summary: str) -> bool:
        """See FilingIndex.replace_summary."""
        with self.writing() as connection:
            return stored_filing.update_summary(connection, doc_id, summary)

    def remove(self, doc_id: str) -> bool:
        """See FilingIndex.remove."""
        with self.writing() as connection:
            connection.execute("DELETE FROM ingested_files WHERE doc_id = ?", (doc_id,))
            return stored_filing.delete_filing(connection, doc_id)

    def merge_full_text(self, added: int) -> None:
        """Merge each full-text table into one piece, if the `added` filings are a good part of all."""
        if added and added * _MIN_MERGED >= len(self.entries()):
            with self.writing() as connection:
                for table, *_ in stored_filing.FULL_TEXT.values():
                    connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")

    # The list of filings

    def filings(self) -> tuple[FilingRecord, ...]:
        """See FilingIndex.filings."""
        return tuple(self.read_as(FilingRecord.of, f"{_RECORDS} ORDER BY content_hash, doc_id"))

    def entries(self) -> tuple[FilingEntry, ...]:
        """See FilingIndex.entries."""
        # Read in table order and sorted here: reading by an index takes twice the time.
        statement = f"SELECT {', '.join(rows.ENTRY_COLUMNS)} FROM filings NOT INDEXED"
        by_content = attrgetter("content_hash", "doc_id")
        return self._cached("entries", lambda: tuple(sorted(self.read_as(FilingEntry.of, statement), key=by_content)))

    def filing(self, doc_id: str) -> FilingRecord:
        """See FilingIndex.filing."""
        found = self.read_as(FilingRecord.of, f"{_RECORDS} WHERE doc_id = ?", (doc_id,))
        if not found:
            raise not_indexed(doc_id, (entry.doc_id for entry in self.entries()))
        return found[0]

    def stored(self, doc_id: str) -> StoredFiling:
        """See FilingIndex.stored."""
        with self.snapshot() as connection:
            number = self._number(connection, doc_id)
            return StoredFiling({part: stored_filing.read_part(connection, number, part) for part in Part})

    def checksums(self, doc_id: str) -> dict[str, str]:
        """See FilingIndex.checksums."""
        with self.snapshot() as connection:
            return stored_filing.read_checksums(connection, stored_filing.number_of(connection, doc_id))

    def check_rows(self, doc_ids: Collection[str], *, words: bool | None = None) -> None:
        """See FilingIndex.check_rows. Each part of a filing is checked once while the index does not change."""
        proven = self._cached("proven", lambda: set[tuple[str, Part]]())
        of_answer = (Part.FILING, Part.FACTS, *((Part.PASSAGES, Part.PAGES) if words else (Part.TAGS,)))
        parts = tuple(Part) if words is None else of_answer
        for doc_id in sorted(set(doc_ids)):
            wanted = [part for part in parts if (doc_id, part) not in proven]
            if not wanted:
                continue
            with self.snapshot() as connection:
                damaged = stored_filing.damaged_parts(connection, self._number(connection, doc_id), wanted)
            if damaged:
                what = stored_filing.PART_WORDS[damaged[0]]
                raise FilingIndexError(
                    f"its {what} in the index differ from what was written: the index is damaged",
                    subject=doc_id,
                    remedy="Run `fin-agent index repair`, then `fin-agent ingest --retry-failed`; ask again",
                )
            proven |= {(doc_id, part) for part in wanted}

    def _number(self, connection: sqlite3.Connection, doc_id: str) -> int:
        number = stored_filing.number_of(connection, doc_id)
        if number is None:
            raise not_indexed(doc_id, (entry.doc_id for entry in self.entries()))
        return number

    # Words

    def document_frequencies(self, stems: Collection[str]) -> Mapping[str, int]:
        """See FilingIndex.document_frequencies."""
        held = self._cached("frequencies", lambda: dict[str, int]())
        if new := sorted(set(stems) - held.keys()):
            counting = "SELECT term, doc FROM pages_vocabulary WHERE term IN (SELECT value FROM json_each(?))"
            held.update(dict.fromkeys(new, 0) | dict(self.read_as(tuple, counting, (json.dumps(new),))))
        return {stem: held[stem] for stem in stems if held[stem]}

    def _search(self, part: Part, terms: Sequence[str], doc_ids: Collection[str] | None, limit: int) -> list[Hit]:
        full_text, key, _, place, page = stored_filing.FULL_TEXT[part]
        phrases = match_phrases(terms)
        query = " OR ".join(self._rarest(phrases) if part is Part.DETAILS else phrases)
        if not query or limit < 1:
            return []
        # Ordered by `rank`, FTS5 scores every match before it looks at conditions: within bounds it is left to SQLite.
        statement = f"SELECT rowid, -rank AS score FROM {full_text} WHERE {full_text} MATCH ?"
        order, condition, values = "ORDER BY rank", "", [query]
        with self.snapshot() as connection:
            if doc_ids is not None:
                joined = f"filings JOIN {part} AS inside ON inside.filing_id = filings.id"
                inside, names = f"SELECT inside.{key} AS id FROM {joined} WHERE {_OF_THESE}", _json(doc_ids)
                first, last = connection.execute(f"SELECT min(id), max(id) FROM ({inside})", (names,)).fetchone()
                if first is None:
                    return []
                # The plus sign prevents SQLite from searching again for each row.
                condition = f"AND rowid BETWEEN ? AND ? AND +rowid IN ({inside})"
                order, values = "ORDER BY score DESC", [query, first, last, names]
            best: list[tuple[int, float]] = []
            for row in connection.execute(f"{statement} {condition} {order}", values):
                # Ties are broken by content, so all rows that tie with the last one are read.
                if len(best) >= limit and round(row[1], 9) < round(best[limit - 1][1], 9):
                    break
                best.append((row[0], row[1]))
            scores = dict(best)
            found = connection.execute(
                f"SELECT {part}.{key}, filings.content_hash, filings.doc_id, {part}.{place}, {part}.{page} FROM {part}"
                f" JOIN filings ON filings.id = {part}.filing_id"
                f" WHERE {part}.{key} IN (SELECT value FROM json_each(?))",
                (json.dumps(list(scores)),),
            ).fetchall()
        ranked = sorted(found, key=lambda row: (-round(scores[row[0]], 9), *row[1:]))
        return [Hit(doc_id, page, place, scores[row]) for row, _, doc_id, place, page in ranked[:limit]]

    def _rarest(self, phrases: Sequence[str]) -> Sequence[str]:
        """Return the rarest phrases in summaries whose matches can be scored together, at least one; all of few."""
        if len(self.entries()) * len(phrases) <= MAX_MATCHES:
            return phrases
        counting = "SELECT count(*) FROM (SELECT 1 FROM filings_fts WHERE filings_fts MATCH ? LIMIT ?)"
        found = sorted((self.read_as(tuple, counting, (each, MAX_MATCHES + 1))[0][0], each) for each in phrases)
        sums = accumulate(count for count, _ in found)
        return [each for (own, each), total in zip(found, sums, strict=True) if total <= MAX_MATCHES or total == own]

    # What filings hold

    def _on_pages(self, part: Part, keys: Sequence[PageKey], make: Callable[[PageKey, Any], T]) -> list[T]:
        found = (self.read_as(lambda row, key=key: make(key, row[1:]), _ON_PAGE[part], key) for key in keys)
        return [each for of_page in found for each in of_page]

    def outline(self, doc_ids: Collection[str]) -> list[StoredPage]:
        """See FilingIndex.outline."""
        selection = f"{_select('pages', rows.OUTLINE.names)} WHERE {_OF_THESE} ORDER BY pages.rowid"
        return self.read_as(
            lambda row: StoredPage(row[0], rows.OUTLINE.value(row[1:], text="")), selection, [_json(doc_ids)]
        )

    def facts(
        self,
        doc_ids: Collection[str],
        *,
        metrics: Collection[str] | None = None,
        pages: Collection[PageKey] | None = None,
        years: Collection[int] | None = None,
    ) -> list[SourcedFact]:
        """See FilingIndex.facts."""
        conditions = {"filings.doc_id": doc_ids, "facts.metric": metrics, "facts.fiscal_year": years}
        given = {column: _json(wanted) for column, wanted in conditions.items() if wanted is not None}
        where = [f"{column} IN (SELECT value FROM json_each(?))" for column in given]
        if pages is not None:
            given["pages"] = _json(pages)
            where.append(
                "(facts.filing_id, facts.page) IN (SELECT named.id, json_extract(key.value, '$[1]')"
                " FROM json_each(?) AS key JOIN filings AS named ON named.doc_id = json_extract(key.value, '$[0]'))"
            )
        selection = f"{_FACTS} WHERE {' AND '.join(where)} ORDER BY filings.content_hash, filings.doc_id, facts.id"
        end = 1 + len(rows.FACT.names)

        def sourced(row: Sequence[Any]) -> SourcedFact:
            return SourcedFact(row[0], rows.fact(row[1:end], None if row[end] is None else rows.tag(row[end:])))

        return self.read_as(sourced, selection, list(given.values()))

    def parts(self, doc_ids: Collection[str]) -> frozenset[str]:
        """See FilingIndex.parts."""
        known = self._cached("parts", lambda: dict[tuple[str, ...], frozenset[str]]())
        filings = tuple(sorted(doc_ids))
        if filings not in known:
            known[filings] = super().parts(filings)
        return known[filings]

    def _fact_columns(
        self, doc_ids: Collection[str], columns: Sequence[str], holding: Collection[str] | None = None
    ) -> Collection[rows.StoredRow]:
        selected = ", ".join("doc_id" if column == "doc_id" else f"facts.{column}" for column in columns)
        where, values = _OF_THESE, [_json(doc_ids), *(holding or ())]
        if holding is not None:
            holds = " OR ".join(["instr(lower(facts.label), lower(?))"] * len(holding))
            where = f"{where} AND ({holds or 'FALSE'})"
        joined = f"facts JOIN filings ON filings.id = facts.filing_id WHERE {where}"
        return self.read_as(tuple, f"SELECT DISTINCT {selected} FROM {joined}", values)

    def tags(self, doc_id: str, *, page: int | None = None) -> list[Tag]:
        """See FilingIndex.tags."""
        selection = f"{_select('tags', rows.TAG_COLUMNS)} WHERE filings.doc_id = ?"
        on_page, values = ("", (doc_id,)) if page is None else (" AND tags.page = ?", (doc_id, page))
        return self.read_as(lambda row: rows.tag(row[1:]), f"{selection}{on_page} ORDER BY tags.ordinal", values)

    # Vectors

    def add_vectors(self, model: str, unit: VectorUnit, vectors: FilingVectors) -> None:
        """See FilingIndex.add_vectors."""
        with self.writing() as connection:
            number = self._number(connection, vectors.doc_id)
            of_filing = (number, model, unit)
            connection.execute("DELETE FROM vectors WHERE filing_id = ? AND model = ? AND unit = ?", of_filing)
            shape = (vectors.dimensions, int(vectors.sparse), len(vectors.places))
            values = (model, unit.value, *shape, stored_filing.pack_numbers(vectors.places), vectors.values)
            stored_filing.insert_vectors(connection, number, values)

    def _filings_with_vectors(self, model: str, unit: VectorUnit) -> frozenset[str]:
        stored = f"{_select('vectors', ())} WHERE vectors.model = ? AND vectors.unit = ?"
        return frozenset(row[0] for row in self.read_as(tuple, stored, (model, unit)))

    def _read_vectors(self, model: str, unit: VectorUnit, doc_ids: Sequence[str]) -> Iterator[FilingVectors]:
        stored = f"{_select('vectors', ('places', 'dimensions', 'numbers', 'sparse'))} WHERE model = ? AND unit = ?"

        def vectors(row: Sequence[Any]) -> FilingVectors:
            return FilingVectors(row[0], stored_filing.unpack_numbers(row[1]), row[2], row[3], bool(row[4]))

        for doc_id in doc_ids:
            yield from self.read_as(vectors, f"{stored} AND doc_id = ?", (model, unit, doc_id))

    def vector_models(self) -> tuple[VectorModel, ...]:
        """See FilingIndex.vector_models."""
        statement = (
            "SELECT model, unit, max(dimensions), max(sparse), count(*), sum(row_count), max(id) FROM vectors"
            " GROUP BY model, unit ORDER BY model, unit"
        )

        def held(row: Sequence[Any]) -> VectorModel:
            return VectorModel(row[0], VectorUnit(row[1]), row[2], bool(row[3]), *row[4:])

        return self._cached("vector models", lambda: tuple(self.read_as(held, statement)))


def _json(values: Collection[Any]) -> str:
    return json.dumps(sorted(values))


def match_phrases(terms: Iterable[str]) -> list[str]:
    """Return an FTS5 phrase for each term that contains words."""
    phrases = (" ".join(re.findall(r"\w+", term)) for term in terms)
    return [f'"{phrase}"' for phrase in dict.fromkeys(phrases) if phrase]
