"""All rows that a filing has in the embedded index, free of row numbers: written, sealed, copied and checked."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from fin_agent.index.rows import FACT_COLUMNS, TAG_COLUMNS, SqlValue

StoredRow = tuple[SqlValue, ...]


class Part(StrEnum):
    """A table, of which a filing's rows are sealed together."""

    FILING = "filings"
    DETAILS = "filing_details"
    PAGES = "pages"
    PASSAGES = "passages"
    CARDS = "cards"
    FACTS = "facts"
    TAGS = "tags"
    TABLES = "page_tables"


COLUMNS: dict[Part, tuple[str, ...]] = {
    Part.FILING: (
        "doc_id", "source", "content_hash", "reader_version", "company", "form", "fiscal_year", "quarter",
        "period_end", "fiscal_year_end_month", "filed", "ticker", "cik", "file_number", "employer_id", "other_names",
        "amended", "results", "page_count", "passage_count", "fact_count",
    ),
    Part.DETAILS: ("sources", "items", "notes", "warnings", "summary"),
    Part.PAGES: ("number", "text", "item", "statement", "title", "kind", "note", "further_statements"),
    Part.PASSAGES: ("page", "ordinal", "kind", "text", "box"),
    Part.CARDS: ("card",),
    Part.FACTS: FACT_COLUMNS[1:],
    Part.TAGS: TAG_COLUMNS[1:],
    Part.TABLES: ("page", "tables"),
}  # fmt: skip
"""What stands in each row of a part; the filing's own number, and the rows' own, come when it is written."""
VECTOR_COLUMNS = ("model", "unit", "dimensions", "sparse", "row_count", "places", "numbers")

_ORDER = {
    Part.PAGES: "id",
    Part.PASSAGES: "id",
    Part.CARDS: "passage_id",
    Part.FACTS: "id",
    Part.TAGS: "ordinal",
    Part.TABLES: "page",
}


@dataclass(frozen=True, slots=True)
class FilingRows:
    """A filing as the index keeps it."""

    parts: dict[Part, list[StoredRow]]
    vectors: list[StoredRow] = field(default_factory=list)
    """Rows of VECTOR_COLUMNS."""

    @property
    def doc_id(self) -> str:
        """Its name."""
        return str(self.parts[Part.FILING][0][0])

    def value(self, column: str) -> SqlValue:
        """A column of its row in `filings`."""
        return self.parts[Part.FILING][0][COLUMNS[Part.FILING].index(column)]

    def checksums(self) -> dict[Part, str]:
        """By which a later reader sees whether every byte is as it was written."""
        return {part: checksum(self.parts[part]) for part in Part}


def checksum(rows: Sequence[StoredRow]) -> str:
    """SHA-256 of rows, in hex. Raises UnicodeEncodeError for text with half a character."""
    plain = json.dumps(rows, ensure_ascii=False, separators=(",", ":"), default=_digest)
    return hashlib.sha256(plain.encode()).hexdigest()


def _digest(value: object) -> list[str]:
    if not isinstance(value, bytes):
        raise TypeError(f"{type(value).__name__} is no value of a row")
    return [hashlib.sha256(value).hexdigest()]


def read_part(connection: sqlite3.Connection, filing: int, part: Part, *, scan: bool = False) -> list[StoredRow]:
    """The rows that the filing with this number has in a part. Raises sqlite3.Error where they cannot be read.

    `scan`: by no index of the table, but by looking at each of its rows.
    """
    key = "id" if part is Part.FILING else "filing_id"
    order = f" ORDER BY {_ORDER[part]}" if part in _ORDER else ""
    table = f"{part} NOT INDEXED" if scan else part.value
    selection = f"SELECT {', '.join(COLUMNS[part])} FROM {table} WHERE {key} = ?{order}"
    return list(map(tuple, connection.execute(selection, (filing,))))


def read_vectors(connection: sqlite3.Connection, filing: int) -> list[StoredRow]:
    """The rows of a filing's vectors."""
    selection = f"SELECT {', '.join(VECTOR_COLUMNS)} FROM vectors WHERE filing_id = ? ORDER BY id"
    return list(map(tuple, connection.execute(selection, (filing,))))


def read_rows(connection: sqlite3.Connection, filing: int) -> FilingRows:
    """Everything of the filing with this number. Raises sqlite3.Error where something cannot be read."""
    return FilingRows({part: read_part(connection, filing, part) for part in Part}, read_vectors(connection, filing))


def insert_rows(connection: sqlite3.Connection, stored: FilingRows) -> int:
    """Put a filing into every table and seal it, within the caller's transaction. Returns its number."""
    row = dict(zip(COLUMNS[Part.FILING], stored.parts[Part.FILING][0], strict=True))
    for unit, part in (("page", Part.PAGES), ("passage", Part.PASSAGES)):
        first = connection.execute(f"SELECT coalesce(max(id), 0) + 1 FROM {part}").fetchone()[0]
        row[f"first_{unit}"], row[f"last_{unit}"] = first, first + len(stored.parts[part]) - 1
    number = connection.execute(
        f"INSERT INTO filings ({', '.join(row)}) VALUES ({_marks(len(row))})", tuple(row.values())
    ).lastrowid
    assert number is not None
    for part in (Part.DETAILS, Part.FACTS, Part.TAGS, Part.TABLES):
        connection.executemany(
            f"INSERT INTO {part} (filing_id, {', '.join(COLUMNS[part])}) VALUES ({_marks(len(COLUMNS[part]) + 1)})",
            ((number, *values) for values in stored.parts[part]),
        )
    for part, first in ((Part.PAGES, row["first_page"]), (Part.PASSAGES, row["first_passage"])):
        assert isinstance(first, int)
        connection.executemany(
            f"INSERT INTO {part} (id, filing_id, {', '.join(COLUMNS[part])}) VALUES ({_marks(len(COLUMNS[part]) + 2)})",
            ((at, number, *values) for at, values in enumerate(stored.parts[part], first)),
        )
        connection.execute(
            f"INSERT INTO {part}_fts (rowid, text) SELECT id, text FROM {part} WHERE filing_id = ? ORDER BY id",
            (number,),
        )
    first_passage = row["first_passage"]
    assert isinstance(first_passage, int)
    connection.executemany(
        "INSERT INTO cards (passage_id, filing_id, card) VALUES (?, ?, ?)",
        ((at, number, *values) for at, values in enumerate(stored.parts[Part.CARDS], first_passage)),
    )
    connection.execute(
        "INSERT INTO filings_fts (rowid, summary) SELECT filing_id, summary FROM filing_details WHERE filing_id = ?",
        (number,),
    )
    connection.executemany(
        "INSERT INTO checksums VALUES (?, ?, ?)",
        ((number, part.value, sealed) for part, sealed in stored.checksums().items()),
    )
    for vectors in stored.vectors:
        insert_vectors(connection, number, vectors)
    return number


def insert_vectors(connection: sqlite3.Connection, filing: int, vectors: StoredRow) -> None:
    """Put a row of VECTOR_COLUMNS to a filing and seal it, within the caller's transaction."""
    connection.execute(
        f"INSERT INTO vectors (filing_id, {', '.join(VECTOR_COLUMNS)}, checksum)"
        f" VALUES ({_marks(len(VECTOR_COLUMNS) + 2)})",
        (filing, *vectors, checksum([vectors])),
    )


def seal(connection: sqlite3.Connection, filing: int, part: Part) -> None:
    """Seal what a part of a filing holds now, within the caller's transaction."""
    connection.execute(
        "INSERT OR REPLACE INTO checksums VALUES (?, ?, ?)",
        (filing, part.value, checksum(read_part(connection, filing, part))),
    )


def _marks(number: int) -> str:
    return ", ".join("?" * number)
