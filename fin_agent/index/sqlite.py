"""The embedded index: one SQLite file with FTS5, one transaction per filing."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from fin_agent.errors import FilingIndexError
from fin_agent.filings.filing import Filing
from fin_agent.index import rows
from fin_agent.index.protocol import (
    FilingRecord,
    PageHit,
    PageKey,
    PageOutline,
    SourcedFact,
    StoredPage,
    StoredPassage,
)

FILE_NAME = "filings.sqlite"
FORMAT_VERSION = "1"
_BUSY_MILLISECONDS = 30_000


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
        self._connections: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        if not self.file.is_file():
            raise FilingIndexError(
                "there is no index here", subject=str(folder), remedy="Make one with `fin-agent ingest PATH...`"
            )
        self._check_format()

    @classmethod
    def create(cls, folder: Path) -> SqliteIndex:
        """Open the index in `folder`, making folder and index where there are none."""
        _check_fts5()
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / FILE_NAME
        if not file.exists():
            _write_schema(file)
        return cls(folder)

    def __enter__(self) -> SqliteIndex:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every thread's connection."""
        with self._guard:
            for connection in self._connections:
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
        """See FilingIndex.filings. Read once and kept until the file changes."""
        connection = self._connection
        version = (connection.execute("PRAGMA data_version").fetchone()[0], connection.total_changes)
        kept: tuple[tuple[int, int], tuple[FilingRecord, ...]] | None = getattr(self._local, "filings", None)
        if kept is None or kept[0] != version:
            found = connection.execute("SELECT * FROM filings ORDER BY content_hash, doc_id")
            kept = self._local.filings = (version, tuple(map(rows.filing_record, found)))
        return kept[1]

    def filing(self, doc_id: str) -> FilingRecord:
        """See FilingIndex.filing."""
        row = self._connection.execute("SELECT * FROM filings WHERE doc_id = ?", (doc_id,)).fetchone()
        if row is None:
            raise FilingIndexError(
                "this filing is not in the index", subject=doc_id, remedy="`fin-agent filings` lists those that are"
            )
        return rows.filing_record(row)

    def search_pages(
        self, terms: Sequence[str], *, doc_ids: Collection[str] | None = None, limit: int = 100
    ) -> list[PageHit]:
        """See FilingIndex.search_pages."""
        query = match_any(terms)
        if not query or (doc_ids is not None and not doc_ids):
            return []
        where = ""
        bounds: list[int] = []
        if doc_ids is not None:
            ranges = self._page_ranges(doc_ids)
            where = f"AND ({' OR '.join(['pages_fts.rowid BETWEEN ? AND ?'] * len(ranges))})"
            bounds = [bound for span in ranges for bound in span]
        found = self._connection.execute(
            "SELECT filings.doc_id, hits.number, hits.score FROM ("
            "  SELECT pages.filing_id, pages.number, -pages_fts.rank AS score FROM pages_fts"
            f"  JOIN pages ON pages.id = pages_fts.rowid WHERE pages_fts MATCH ? {where}"
            "  ORDER BY pages_fts.rank LIMIT ?"
            ") AS hits JOIN filings ON filings.id = hits.filing_id"
            " ORDER BY round(hits.score, 9) DESC, filings.content_hash, filings.doc_id, hits.number",
            (query, *bounds, limit),
        )
        return [PageHit(PageKey(doc_id, number), score) for doc_id, number, score in found]

    def search_summaries(self, terms: Sequence[str], *, limit: int = 100) -> list[tuple[str, float]]:
        """See FilingIndex.search_summaries."""
        query = match_any(terms)
        if not query:
            return []
        found = self._connection.execute(
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
            row = self._connection.execute(
                "SELECT pages.* FROM pages JOIN filings ON filings.id = pages.filing_id"
                " WHERE filings.doc_id = ? AND pages.number = ?",
                key,
            ).fetchone()
            if row is not None:
                found.append(StoredPage(key.doc_id, rows.page(row)))
        return found

    def outline(self, doc_ids: Collection[str]) -> list[PageOutline]:
        """See FilingIndex.outline."""
        found = self._connection.execute(
            "SELECT filings.doc_id, pages.number, pages.item, pages.statement, pages.title FROM pages"
            " JOIN filings ON filings.id = pages.filing_id"
            f" WHERE filings.doc_id IN ({_marks(doc_ids)}) ORDER BY pages.id",
            sorted(doc_ids),
        )
        return [PageOutline(PageKey(row[0], row[1]), *row[2:]) for row in found]

    def passages(self, keys: Sequence[PageKey]) -> list[StoredPassage]:
        """See FilingIndex.passages."""
        found: list[StoredPassage] = []
        for key in keys:
            for row in self._connection.execute(
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
        found = self._connection.execute(
            "SELECT filings.doc_id, facts.* FROM facts JOIN filings ON filings.id = facts.filing_id"
            f" WHERE {' AND '.join(where)} ORDER BY filings.content_hash, filings.doc_id, facts.id",
            values,
        )
        sourced = [SourcedFact(row["doc_id"], rows.fact(row)) for row in found]
        if pages is None:
            return sourced
        wanted = set(pages)
        return [fact for fact in sourced if fact.key in wanted]

    def document_frequencies(self, stems: Collection[str]) -> Mapping[str, int]:
        """See FilingIndex.document_frequencies."""
        found = self._connection.execute(
            f"SELECT term, doc FROM pages_vocabulary WHERE term IN ({_marks(stems)})", sorted(stems)
        )
        return {row[0]: row[1] for row in found}

    def page_count(self) -> int:
        """See FilingIndex.page_count."""
        return int(self._connection.execute("SELECT coalesce(sum(page_count), 0) FROM filings").fetchone()[0])

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection, for reads that the protocol does not name."""
        yield self._connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One write transaction: everything inside becomes visible at once, or nothing does."""
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise FilingIndexError(
                f"the index could not be written ({error})",
                subject=str(self.file),
                remedy="Check the free space and that no other ingest is running, then run the same command again",
            ) from error
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    @property
    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = connect(self.file)
            self._local.connection = connection
            with self._guard:
                self._connections.append(connection)
        return connection

    def _page_ranges(self, doc_ids: Collection[str]) -> list[tuple[int, int]]:
        found = self._connection.execute(
            f"SELECT first_page, last_page FROM filings WHERE doc_id IN ({_marks(doc_ids)}) ORDER BY first_page",
            sorted(doc_ids),
        )
        return [(row[0], row[1]) for row in found] or [(0, -1)]

    def _check_format(self) -> None:
        try:
            row = self._connection.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
        except sqlite3.DatabaseError as error:
            self.close()
            raise FilingIndexError(
                f"the index is damaged or was half written ({error})",
                subject=str(self.file),
                remedy="Delete this file and ingest the filings again",
            ) from error
        if row is None or row[0] != FORMAT_VERSION:
            self.close()
            raise FilingIndexError(
                f"the index has format {row[0] if row else 'unknown'}; this version reads format {FORMAT_VERSION}",
                subject=str(self.file),
                remedy="Ingest the filings again into another folder, or use the version that wrote it",
            )


def connect(file: Path) -> sqlite3.Connection:
    """A connection as the index uses it: explicit transactions, WAL, rows by name."""
    connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    connection.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA cache_size = -65536")
    return connection


def match_any(terms: Iterable[str]) -> str:
    """An FTS5 query for any of `terms`; a term of several words is a phrase. Empty where nothing can match."""
    phrases = (" ".join(re.findall(r"\w+", term)) for term in terms)
    return " OR ".join(f'"{phrase}"' for phrase in dict.fromkeys(phrases) if phrase)


def _marks(values: Collection[object]) -> str:
    return ", ".join("?" * len(values))


def _check_fts5() -> None:
    with sqlite3.connect(":memory:") as connection:
        options = {row[0] for row in connection.execute("PRAGMA compile_options")}
    if "ENABLE_FTS5" not in options:
        raise FilingIndexError(
            "this Python's SQLite has no full-text search (FTS5)",
            remedy="Use a Python whose sqlite3 is compiled with FTS5: those of python.org and of Debian are",
        )


def _write_schema(file: Path) -> None:
    """Write the schema under another name first: an index that exists is a whole one."""
    schema = resources.files("fin_agent.index").joinpath("schema.sql").read_text(encoding="utf-8")
    unfinished = file.with_name(f".{file.name}.new")
    unfinished.unlink(missing_ok=True)
    connection = connect(unfinished)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(schema)
        connection.execute("INSERT INTO meta VALUES ('format', ?)", (FORMAT_VERSION,))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()
    unfinished.replace(file)


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
    for table in ("cards", "passages", "facts", "pages"):
        connection.execute(f"DELETE FROM {table} WHERE filing_id = ?", (filing,))
    connection.execute("DELETE FROM filings WHERE id = ?", (filing,))
    return True


def insert_filing(connection: sqlite3.Connection, filing: Filing, cards: Sequence[str], summary: str) -> None:
    """Put a filing into every table, within the caller's transaction."""
    first_page = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM pages").fetchone()[0]
    filing_id = connection.execute(
        *rows.insert("filings", rows.filing_values(filing, summary, first_page))
    ).lastrowid
    assert filing_id is not None
    for offset, page in enumerate(filing.pages):
        connection.execute(*rows.insert("pages", rows.page_values(page, first_page + offset, filing_id)))
    connection.execute(
        "INSERT INTO pages_fts (rowid, text) SELECT id, text FROM pages WHERE filing_id = ?", (filing_id,)
    )
    connection.execute("INSERT INTO filings_fts (rowid, summary) VALUES (?, ?)", (filing_id, summary))
    for passage, card in zip(filing.passages, cards, strict=True):
        passage_id = connection.execute(
            *rows.insert("passages", rows.passage_values(passage, filing_id))
        ).lastrowid
        connection.execute("INSERT INTO cards VALUES (?, ?, ?)", (passage_id, filing_id, card))
    statement = rows.insert_statement("facts", rows.FACT_COLUMNS)
    connection.executemany(statement, (rows.fact_values(fact, filing_id) for fact in filing.facts))
