"""The embedded index: one SQLite file with FTS5, one transaction per filing."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from fin_agent.errors import FilingIndexError
from fin_agent.index import rows
from fin_agent.index.database import check_format, connect, create_database, fault
from fin_agent.index.packed_tables import packed_tables, unpacked_tables
from fin_agent.index.protocol import (
    FilingRecord,
    PageHit,
    PageKey,
    PageOutline,
    SourcedFact,
    StoredPage,
    StoredPassage,
)
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.filing import Filing
from fin_agent.vocabulary.table import Table

FILE_NAME = "filings.sqlite"
_MOST_RANGES = 200
"""Beyond this many stretches of rowids, looking up each page's filing is quicker (and SQLite takes 1,000 at most)."""


class SqliteIndex:
    """Filings in the folder `folder`. Safe to share between threads: each gets a connection of its own.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder, SqliteIndex.create(pathlib.Path(folder)) as index:
    ...     index.page_count()
    0
    """

    def __init__(self, folder: Path) -> None:
        """Open an index that exists.

        Raises FilingIndexError where there is none, or where it was half written, is damaged or of another version.
        """
        self.folder = folder
        self.file = folder / FILE_NAME
        self._local = threading.local()
        self._connections: list[tuple[threading.Thread, sqlite3.Connection]] = []
        self._guard = threading.Lock()
        self._listed: tuple[FilingRecord, ...] = ()
        if not self.file.is_file():
            raise FilingIndexError(
                "there is no index here", subject=str(folder), remedy="Make one with `fin-agent ingest PATH...`"
            )
        try:
            with self.reading() as connection:
                check_format(connection, self.file)
        except FilingIndexError:
            self.close()
            raise

    @classmethod
    def create(cls, folder: Path) -> SqliteIndex:
        """Open the index in `folder`, making folder and index where there are none."""
        create_database(folder / FILE_NAME)
        return cls(folder)

    def __enter__(self) -> SqliteIndex:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every thread's connection."""
        with self._guard:
            for _, connection in self._connections:
                connection.close()
            self._connections.clear()
            self._local = threading.local()

    def add(self, filing: Filing, cards: Sequence[str], summary: str) -> None:
        """See FilingIndex.add."""
        with self.writing() as connection:
            delete_filing(connection, filing.doc_id)
            insert_filing(connection, filing, cards, summary)

    def remove(self, doc_id: str) -> bool:
        """See FilingIndex.remove."""
        with self.writing() as connection:
            connection.execute("DELETE FROM ingested_files WHERE doc_id = ?", (doc_id,))
            return delete_filing(connection, doc_id)

    def filings(self) -> tuple[FilingRecord, ...]:
        """See FilingIndex.filings. Read once, and the same object in every thread, until the list changes."""
        with self.reading() as connection:
            version = (connection.execute("PRAGMA data_version").fetchone()[0], connection.total_changes)
            kept: tuple[tuple[int, int], tuple[FilingRecord, ...]] | None = getattr(self._local, "filings", None)
            if kept is not None and kept[0] == version:
                return kept[1]
            found = connection.execute("SELECT * FROM filings ORDER BY content_hash, doc_id")
            listed = tuple(map(rows.filing_record, found))
            if connection.in_transaction:  # what is not committed may never be
                return listed
        with self._guard:
            if listed != self._listed:
                self._listed = listed
            self._local.filings = (version, self._listed)
            return self._listed

    def filing(self, doc_id: str) -> FilingRecord:
        """See FilingIndex.filing."""
        found = self._read("SELECT * FROM filings WHERE doc_id = ?", (doc_id,))
        if not found:
            raise FilingIndexError(
                "this filing is not in the index", subject=doc_id, remedy="`fin-agent filings` lists those that are"
            )
        return rows.filing_record(found[0])

    def search_pages(
        self, terms: Sequence[str], *, doc_ids: Collection[str] | None = None, limit: int = 100
    ) -> list[PageHit]:
        """See FilingIndex.search_pages."""
        query = match_any(terms)
        if not query or limit < 1 or (doc_ids is not None and not doc_ids):
            return []
        where, values = self._within(doc_ids) if doc_ids is not None else ("", [])
        found: list[tuple[float, str, str, int]] = []
        with self.reading() as connection:
            for row in connection.execute(
                "SELECT -pages_fts.rank, filings.content_hash, filings.doc_id, pages.number FROM pages_fts"
                " JOIN pages ON pages.id = pages_fts.rowid JOIN filings ON filings.id = pages.filing_id"
                f" WHERE pages_fts MATCH ? {where} ORDER BY pages_fts.rank",
                (query, *values),
            ):
                # Equals are told apart by content, so all that equal the last one are looked at.
                if len(found) >= limit and round(row[0], 9) < round(found[limit - 1][0], 9):
                    break
                found.append(tuple(row))
        found.sort(key=lambda hit: (-round(hit[0], 9), *hit[1:]))
        return [PageHit(PageKey(doc_id, number), score) for score, _, doc_id, number in found[:limit]]

    def search_summaries(self, terms: Sequence[str], *, limit: int = 100) -> list[tuple[str, float]]:
        """See FilingIndex.search_summaries."""
        query = match_any(terms)
        if not query:
            return []
        found = self._read(
            "SELECT filings.doc_id, -filings_fts.rank FROM filings_fts JOIN filings ON filings.id = filings_fts.rowid"
            " WHERE filings_fts MATCH ? ORDER BY round(filings_fts.rank, 9), filings.content_hash, filings.doc_id"
            " LIMIT ?",
            (query, limit),
        )
        return [(doc_id, score) for doc_id, score in found]

    def pages(self, keys: Sequence[PageKey]) -> list[StoredPage]:
        """See FilingIndex.pages."""
        found: list[StoredPage] = []
        for key in keys:
            for row in self._read(
                "SELECT pages.* FROM pages JOIN filings ON filings.id = pages.filing_id"
                " WHERE filings.doc_id = ? AND pages.number = ?",
                key,
            ):
                found.append(StoredPage(key.doc_id, rows.page(row)))
        return found

    def outline(self, doc_ids: Collection[str]) -> list[PageOutline]:
        """See FilingIndex.outline."""
        found = self._read(
            "SELECT filings.doc_id, pages.number, pages.item, pages.statement, pages.title, pages.kind, pages.note,"
            " pages.further_statements FROM pages"
            " JOIN filings ON filings.id = pages.filing_id"
            f" WHERE filings.doc_id IN ({_marks(doc_ids)}) ORDER BY pages.id",
            sorted(doc_ids),
        )
        return [
            PageOutline(
                key=PageKey(row["doc_id"], row["number"]),
                item=row["item"],
                statement=row["statement"],
                title=row["title"],
                kind=row["kind"],
                note=row["note"],
                further_statements=tuple(json.loads(row["further_statements"])),
            )
            for row in found
        ]

    def passages(self, keys: Sequence[PageKey]) -> list[StoredPassage]:
        """See FilingIndex.passages."""
        found: list[StoredPassage] = []
        for key in keys:
            for row in self._read(
                "SELECT passages.*, cards.card FROM passages JOIN filings ON filings.id = passages.filing_id"
                " JOIN cards ON cards.passage_id = passages.id"
                " WHERE filings.doc_id = ? AND passages.page = ? ORDER BY passages.ordinal",
                key,
            ):
                found.append(StoredPassage(key.doc_id, rows.passage(row), row["card"]))
        return found

    def facts(
        self,
        doc_ids: Collection[str],
        *,
        metrics: Collection[str] | None = None,
        pages: Collection[PageKey] | None = None,
    ) -> list[SourcedFact]:
        """See FilingIndex.facts."""
        where = [f"filings.doc_id IN ({_marks(doc_ids)})"]
        values: list[str | int] = sorted(doc_ids)
        if metrics is not None:
            where.append(f"facts.metric IN ({_marks(metrics)})")
            values += sorted(metrics)
        if pages is not None:
            where.append(f"facts.page IN ({_marks({key.page for key in pages})})")
            values += sorted({key.page for key in pages})
        found = self._read(
            f"SELECT filings.doc_id, facts.*, {rows.TAG_SELECTION} FROM facts"
            " JOIN filings ON filings.id = facts.filing_id"
            " LEFT JOIN tags ON tags.filing_id = facts.filing_id AND tags.ordinal = facts.tag"
            f" WHERE {' AND '.join(where)} ORDER BY filings.content_hash, filings.doc_id, facts.id",
            values,
        )
        sourced = [SourcedFact(row["doc_id"], rows.fact(row)) for row in found]
        if pages is None:
            return sourced
        wanted = set(pages)
        return [fact for fact in sourced if fact.key in wanted]

    def parts(self, doc_ids: Collection[str]) -> frozenset[str]:
        """See FilingIndex.parts. Scopes, and rows into which an income statement divides revenue and its cost."""
        found = self._read(
            "SELECT DISTINCT facts.scope FROM facts JOIN filings ON filings.id = facts.filing_id"
            f" WHERE filings.doc_id IN ({_marks(doc_ids)}) AND facts.scope IS NOT NULL AND facts.metric IS NOT NULL"
            " AND coalesce(facts.statement, '') != 'equity'",
            sorted(doc_ids),
        )
        rows_of_income = self._read(
            "SELECT DISTINCT facts.label FROM facts JOIN filings ON filings.id = facts.filing_id"
            f" WHERE filings.doc_id IN ({_marks(doc_ids)}) AND facts.statement = 'income'"
            " AND (facts.section LIKE '%revenue%' OR facts.section LIKE '%sales%' OR facts.section LIKE '%cost of%')",
            sorted(doc_ids),
        )
        return frozenset(row[0] for row in (*found, *rows_of_income))

    def tables(self, keys: Sequence[PageKey]) -> list[Table]:
        """See FilingIndex.tables."""
        found: list[Table] = []
        for key in keys:
            for row in self._read(
                "SELECT page_tables.* FROM page_tables JOIN filings ON filings.id = page_tables.filing_id"
                " WHERE filings.doc_id = ? AND page_tables.page = ?",
                key,
            ):
                found += unpacked_tables(row["tables"], row["page"])
        return found

    def tags(self, doc_id: str, *, page: int | None = None) -> list[Tag]:
        """See FilingIndex.tags."""
        found = self._read(
            f"SELECT {rows.TAG_SELECTION} FROM tags JOIN filings ON filings.id = tags.filing_id"
            f" WHERE filings.doc_id = ? {'' if page is None else 'AND tags.page = ?'} ORDER BY tags.ordinal",
            (doc_id,) if page is None else (doc_id, page),
        )
        return [rows.tag(row) for row in found]

    def document_frequencies(self, stems: Collection[str]) -> Mapping[str, int]:
        """See FilingIndex.document_frequencies."""
        found = self._read(f"SELECT term, doc FROM pages_vocabulary WHERE term IN ({_marks(stems)})", sorted(stems))
        return {row[0]: row[1] for row in found}

    def page_count(self) -> int:
        """See FilingIndex.page_count."""
        return int(self._read("SELECT coalesce(sum(page_count), 0) FROM filings")[0][0])

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection, for reads that the protocol does not name."""
        try:
            yield self._connection
        except sqlite3.Error as error:
            raise fault(self.file, error, "read") from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One write transaction: everything inside becomes visible at once, or nothing does."""
        connection: sqlite3.Connection | None = None
        try:
            connection = self._connection
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        except BaseException as error:
            if connection is not None and connection.in_transaction:
                connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise fault(self.file, error, "written") from error
            raise

    def _read(self, statement: str, values: Sequence[str | int] = ()) -> list[sqlite3.Row]:
        with self.reading() as connection:
            return connection.execute(statement, values).fetchall()

    @property
    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = connect(self.file)
            self._local.connection = connection
            with self._guard:
                for thread, left in self._connections:
                    if not thread.is_alive():
                        left.close()
                self._connections = [kept for kept in self._connections if kept[0].is_alive()]
                self._connections.append((threading.current_thread(), connection))
        return connection

    def _within(self, doc_ids: Collection[str]) -> tuple[str, list[str | int]]:
        """A condition for the pages of these filings, and its values: a filing's pages have consecutive rowids."""
        found = self._read(
            f"SELECT id, first_page, last_page FROM filings WHERE doc_id IN ({_marks(doc_ids)}) ORDER BY first_page",
            sorted(doc_ids),
        )
        ranges: list[list[int]] = []
        for _, first, last in found:
            if ranges and ranges[-1][1] + 1 == first:
                ranges[-1][1] = last
            else:
                ranges.append([first, last])
        if len(ranges) > _MOST_RANGES:
            return f"AND pages.filing_id IN ({_marks(found)})", [row[0] for row in found]
        marks = ["pages_fts.rowid BETWEEN ? AND ?"] * len(ranges) or ["FALSE"]
        return f"AND ({' OR '.join(marks)})", [bound for span in ranges for bound in span]


def match_any(terms: Iterable[str]) -> str:
    """An FTS5 query for any of `terms`; a term of several words is a phrase. Empty where nothing can match."""
    phrases = (" ".join(re.findall(r"\w+", term)) for term in terms)
    return " OR ".join(f'"{phrase}"' for phrase in dict.fromkeys(phrases) if phrase)


def _marks(values: Collection[object]) -> str:
    return ", ".join("?" * len(values))


def delete_filing(connection: sqlite3.Connection, doc_id: str) -> bool:
    """Take a filing out of every table, within the caller's transaction. False where there was none."""
    row = connection.execute("SELECT id, summary FROM filings WHERE doc_id = ?", (doc_id,)).fetchone()
    if row is None:
        return False
    filing = row["id"]
    connection.execute(
        "INSERT INTO pages_fts (pages_fts, rowid, text) SELECT 'delete', id, text FROM pages WHERE filing_id = ?",
        (filing,),
    )
    connection.execute(
        "INSERT INTO filings_fts (filings_fts, rowid, summary) VALUES ('delete', ?, ?)", (filing, row["summary"])
    )
    for table in ("cards", "passages", "facts", "tags", "page_tables", "pages"):
        connection.execute(f"DELETE FROM {table} WHERE filing_id = ?", (filing,))
    connection.execute("DELETE FROM filings WHERE id = ?", (filing,))
    return True


def insert_filing(connection: sqlite3.Connection, filing: Filing, cards: Sequence[str], summary: str) -> None:
    """Put a filing into every table, within the caller's transaction."""
    first_page = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM pages").fetchone()[0]
    filing_id = connection.execute(*rows.insert("filings", rows.filing_values(filing, summary, first_page))).lastrowid
    assert filing_id is not None
    for offset, page in enumerate(filing.pages):
        connection.execute(*rows.insert("pages", rows.page_values(page, first_page + offset, filing_id)))
    connection.execute(
        "INSERT INTO pages_fts (rowid, text) SELECT id, text FROM pages WHERE filing_id = ?", (filing_id,)
    )
    connection.execute("INSERT INTO filings_fts (rowid, summary) VALUES (?, ?)", (filing_id, summary))
    for passage, card in zip(filing.passages, cards, strict=True):
        passage_id = connection.execute(*rows.insert("passages", rows.passage_values(passage, filing_id))).lastrowid
        connection.execute("INSERT INTO cards VALUES (?, ?, ?)", (passage_id, filing_id, card))
    statement = rows.insert_statement("facts", rows.FACT_COLUMNS)
    ordinals = {id(tag): ordinal for ordinal, tag in enumerate(filing.tags)}
    connection.executemany(
        statement, (rows.fact_values(fact, filing_id, ordinals.get(id(fact.tag))) for fact in filing.facts)
    )
    connection.executemany(
        rows.insert_statement("tags", rows.TAG_COLUMNS),
        (rows.tag_values(tag, filing_id, ordinal) for ordinal, tag in enumerate(filing.tags)),
    )
    connection.executemany(
        "INSERT INTO page_tables VALUES (?, ?, ?)",
        ((filing_id, page, packed) for page, packed in packed_tables(filing.tables)),
    )
