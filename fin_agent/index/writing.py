"""A filing's rows: put into every table, and taken out of every table."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from fin_agent.index import rows
from fin_agent.index.packed_tables import packed_tables
from fin_agent.index.protocol import VectorUnit
from fin_agent.index.rows import SqlValue
from fin_agent.index.stored_rows import COLUMNS, FilingRows, Part, StoredRow, insert_rows, seal
from fin_agent.vocabulary.filing import Filing

OF_A_FILING = ("vectors", "cards", "passages", "facts", "tags", "page_tables", "pages", "filing_details", "checksums")
"""Tables with rows of filings, those that others point at last."""


def insert_filing(connection: sqlite3.Connection, filing: Filing, cards: Sequence[str], summary: str) -> None:
    """Put a filing into every table, within the caller's transaction."""
    insert_rows(connection, rows_of(filing, cards, summary))


def rows_of(filing: Filing, cards: Sequence[str], summary: str) -> FilingRows:
    """What the index keeps of a filing. Raises ValueError where cards and passages do not go together."""
    if len(cards) != len(filing.passages):
        raise ValueError(f"{len(cards)} cards for {len(filing.passages)} passages")
    ordinals = {id(tag): ordinal for ordinal, tag in enumerate(filing.tags)}
    return FilingRows(
        {
            Part.FILING: _ordered(Part.FILING, [rows.filing_values(filing)]),
            Part.DETAILS: _ordered(Part.DETAILS, [rows.detail_values(filing, summary)]),
            Part.PAGES: _ordered(Part.PAGES, map(rows.page_values, filing.pages)),
            Part.PASSAGES: _ordered(Part.PASSAGES, map(rows.passage_values, filing.passages)),
            Part.CARDS: [(card,) for card in cards],
            Part.FACTS: [rows.fact_values(fact, ordinals.get(id(fact.tag))) for fact in filing.facts],
            Part.TAGS: [rows.tag_values(tag, ordinal) for ordinal, tag in enumerate(filing.tags)],
            Part.TABLES: list(packed_tables(filing.tables)),
        }
    )


def _ordered(part: Part, found: Iterable[Mapping[str, SqlValue]]) -> list[StoredRow]:
    return [tuple(values[column] for column in COLUMNS[part]) for values in found]


def update_summary(connection: sqlite3.Connection, doc_id: str, summary: str) -> bool:
    """Put another summary in place of a filing's, within the caller's transaction. False where there is no filing."""
    row = connection.execute(
        "SELECT id, summary FROM filings JOIN filing_details ON filing_id = id WHERE doc_id = ?", (doc_id,)
    ).fetchone()
    if row is None:
        return False
    _forget_summary(connection, row)
    connection.execute("UPDATE filing_details SET summary = ? WHERE filing_id = ?", (summary, row["id"]))
    connection.execute("INSERT INTO filings_fts (rowid, summary) VALUES (?, ?)", (row["id"], summary))
    connection.execute("DELETE FROM vectors WHERE filing_id = ? AND unit = ?", (row["id"], VectorUnit.SUMMARY))
    seal(connection, row["id"], Part.DETAILS)
    return True


def update_source(connection: sqlite3.Connection, doc_id: str, source: str) -> None:
    """Where a filing's file is now, within the caller's transaction."""
    row = connection.execute("SELECT id, source FROM filings WHERE doc_id = ?", (doc_id,)).fetchone()
    if row is not None and row["source"] != source:
        connection.execute("UPDATE filings SET source = ? WHERE id = ?", (source, row["id"]))
        seal(connection, row["id"], Part.FILING)


def _forget_summary(connection: sqlite3.Connection, row: sqlite3.Row) -> None:
    connection.execute(
        "INSERT INTO filings_fts (filings_fts, rowid, summary) VALUES ('delete', ?, ?)", (row["id"], row["summary"])
    )


def delete_filing(connection: sqlite3.Connection, doc_id: str) -> bool:
    """Take a filing out of every table, within the caller's transaction. False where there was none."""
    row = connection.execute(
        "SELECT id, summary FROM filings JOIN filing_details ON filing_id = id WHERE doc_id = ?", (doc_id,)
    ).fetchone()
    if row is None:
        return False
    filing = row["id"]
    for table in ("pages", "passages"):
        connection.execute(
            f"INSERT INTO {table}_fts ({table}_fts, rowid, text)"
            f" SELECT 'delete', id, text FROM {table} WHERE filing_id = ? ORDER BY id",
            (filing,),
        )
    _forget_summary(connection, row)
    delete_rows(connection, filing)
    return True


def delete_rows(connection: sqlite3.Connection, filing: int) -> None:
    """Take the rows with this filing's number out, within the caller's transaction; full text is left to the caller."""
    for table in OF_A_FILING:
        connection.execute(f"DELETE FROM {table} WHERE filing_id = ?", (filing,))
    connection.execute("DELETE FROM filings WHERE id = ?", (filing,))
