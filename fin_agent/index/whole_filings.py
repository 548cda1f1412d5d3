"""Filings taken out of a database that may be damaged: whole, as their checksums prove, or not at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress

from fin_agent.index.filing_checks import vectors_whole
from fin_agent.index.stored_rows import (
    COLUMNS,
    VECTOR_COLUMNS,
    FilingRows,
    Part,
    StoredRow,
    checksum,
    read_part,
)

_COUNTED = {"page_count": Part.PAGES, "passage_count": Part.PASSAGES, "fact_count": Part.FACTS}


def whole_filing(connection: sqlite3.Connection, number: int, *, proven: bool = False) -> FilingRows | str:
    """The filing of this number as it was written; else a sentence that says what of it is lost.

    Its counts are counted anew, vectors that are damaged are left out: they can be made again. One without checksums,
    as an earlier version wrote it, is whole if its counts are right; with `proven` it is not.
    """
    sealed = _sealed(connection, number)
    if proven and not sealed:
        return "its checksums are lost"
    lost = ""
    # To look at each row of a table for each filing takes very long where there are many.
    for scan in (False,) if sealed else (False, True):
        try:
            parts = {part: read_part(connection, number, part, scan=scan) for part in Part}
        except sqlite3.Error as error:
            lost = f"it cannot be read ({error})"
            continue
        lost = _lost(parts, sealed)
        if not lost:
            return FilingRows(parts, list(_whole_vectors(connection, number)))
    return lost


def _lost(parts: dict[Part, list[StoredRow]], sealed: dict[str, str]) -> str:
    if len(parts[Part.FILING]) != 1 or len(parts[Part.DETAILS]) != 1:
        return "who, what and when it is, is lost"
    if len(parts[Part.CARDS]) != len(parts[Part.PASSAGES]):
        return f"{len(parts[Part.PASSAGES])} passages have {len(parts[Part.CARDS])} cards"
    filing = dict(zip(COLUMNS[Part.FILING], parts[Part.FILING][0], strict=True))
    counts = {column: len(parts[part]) for column, part in _COUNTED.items()}
    if sealed:
        parts[Part.FILING] = [tuple((filing | counts).values())]
        changed = [part.value for part in Part if checksum(parts[part]) != sealed.get(part.value)]
        return f"what it holds is not what was written ({', '.join(changed)})" if changed else ""
    missing = [column for column, rows in counts.items() if filing[column] != rows]
    return f"not all of it is there ({', '.join(missing)})" if missing else ""


def _sealed(connection: sqlite3.Connection, number: int) -> dict[str, str]:
    """Checksums by part; none where a version wrote it that had none. What cannot be read matches nothing."""
    try:
        found = connection.execute("SELECT part, checksum FROM checksums WHERE filing_id = ?", (number,))
        return dict(found.fetchall())
    except sqlite3.Error as error:
        return {} if "no such table" in str(error) else {"": ""}


def _whole_vectors(connection: sqlite3.Connection, number: int) -> Iterator[StoredRow]:
    with suppress(sqlite3.Error):
        for (row_id,) in connection.execute("SELECT id FROM vectors WHERE filing_id = ? ORDER BY id", (number,)):
            with suppress(sqlite3.Error):
                row = connection.execute("SELECT * FROM vectors WHERE id = ?", (row_id,)).fetchone()
                vectors = tuple(row[column] for column in VECTOR_COLUMNS)
                kept = row["checksum"] if "checksum" in row.keys() else ""  # noqa: SIM118
                if vectors_whole(vectors) and (not kept or checksum([vectors]) == kept):
                    yield vectors


def filing_numbers(connection: sqlite3.Connection) -> list[int]:
    """Numbers of all filings of which a trace is left, by whatever way still leads to it."""
    found: set[int] = set()
    for selection in (
        "SELECT id FROM filings NOT INDEXED ORDER BY id",
        "SELECT id FROM filings NOT INDEXED ORDER BY id DESC",
        "SELECT id FROM filings ORDER BY doc_id",
        "SELECT id FROM filings ORDER BY content_hash, doc_id",
        "SELECT filing_id FROM filing_details",
        "SELECT filing_id FROM checksums",
        "SELECT DISTINCT filing_id FROM pages ORDER BY filing_id",
    ):
        with suppress(sqlite3.Error):
            for (number,) in connection.execute(selection):
                if isinstance(number, int):
                    found.add(number)
    return sorted(found)


def filing_names(connection: sqlite3.Connection) -> dict[int, str]:
    """Number -> doc_id of all filings whose names can be read, by whatever way still leads to them."""
    names: dict[int, str] = {}
    for selection in (
        "SELECT id, doc_id FROM filings NOT INDEXED ORDER BY id",
        "SELECT id, doc_id FROM filings NOT INDEXED ORDER BY id DESC",
        *_NAMES_ALONE,
    ):
        with suppress(sqlite3.Error):
            for number, doc_id in connection.execute(selection):
                if isinstance(number, int) and isinstance(doc_id, str):
                    names.setdefault(number, doc_id)
    return names


_NAMES_ALONE = (
    "SELECT id, doc_id FROM filings ORDER BY doc_id",
    "SELECT id, doc_id FROM filings ORDER BY content_hash, doc_id",
)
"""Answered by an index of the table without the table."""


def names_readable(connection: sqlite3.Connection) -> bool:
    """Whether the name of every filing can be read."""
    for selection in ("SELECT id, doc_id FROM filings NOT INDEXED", *_NAMES_ALONE):
        with suppress(sqlite3.Error):
            for _ in connection.execute(selection):
                pass
            return True
    return False


def source_of(connection: sqlite3.Connection, number: int) -> str:
    """The path of the file of a filing; empty where it cannot be read."""
    return name_of(connection, number)[1]


def name_of(connection: sqlite3.Connection, number: int) -> tuple[str, str]:
    """(doc_id, source) of a filing; empty where they cannot be read."""
    with suppress(sqlite3.Error):
        row = connection.execute("SELECT doc_id, source FROM filings WHERE id = ?", (number,)).fetchone()
        if row is not None:
            return str(row[0]), str(row[1])
    return "", ""
