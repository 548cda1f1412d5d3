"""A filing's rows: put into every table, and taken out of every table."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from fin_agent.index import rows
from fin_agent.index.packed_tables import packed_tables
from fin_agent.index.protocol import VectorUnit
from fin_agent.vocabulary.filing import Filing


def insert_filing(connection: sqlite3.Connection, filing: Filing, cards: Sequence[str], summary: str) -> None:
    """Put a filing into every table, within the caller's transaction."""
    first_page = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM pages").fetchone()[0]
    first_passage = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM passages").fetchone()[0]
    values = rows.filing_values(filing, first_page, first_passage)
    filing_id = connection.execute(*rows.insert("filings", values)).lastrowid
    assert filing_id is not None
    connection.execute(*rows.insert("filing_details", rows.detail_values(filing, summary, filing_id)))
    for row_id, page in enumerate(filing.pages, first_page):
        connection.execute(*rows.insert("pages", rows.page_values(page, row_id, filing_id)))
    for row_id, (passage, card) in enumerate(zip(filing.passages, cards, strict=True), first_passage):
        connection.execute(*rows.insert("passages", rows.passage_values(passage, row_id, filing_id)))
        connection.execute("INSERT INTO cards VALUES (?, ?, ?)", (row_id, filing_id, card))
    for table in ("pages", "passages"):
        connection.execute(
            f"INSERT INTO {table}_fts (rowid, text) SELECT id, text FROM {table} WHERE filing_id = ? ORDER BY id",
            (filing_id,),
        )
    connection.execute("INSERT INTO filings_fts (rowid, summary) VALUES (?, ?)", (filing_id, summary))
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
    return True


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
    for table in ("vectors", "cards", "passages", "facts", "tags", "page_tables", "pages", "filing_details"):
        connection.execute(f"DELETE FROM {table} WHERE filing_id = ?", (filing,))
    connection.execute("DELETE FROM filings WHERE id = ?", (filing,))
    return True
