"""The form in which every index stores and copies a filing: rows by part, sealed with checksums."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, field
from enum import StrEnum

from fin_agent.index import rows
from fin_agent.index.rows import SqlValue, StoredRow
from fin_agent.vocabulary.filing import Filing


class Part(StrEnum):
    """A table whose rows of a filing are sealed together."""

    FILING = "filings"
    DETAILS = "filing_details"
    PAGES = "pages"
    PASSAGES = "passages"
    CARDS = "cards"
    FACTS = "facts"
    TAGS = "tags"
    TABLES = "page_tables"


COLUMNS: dict[Part, tuple[str, ...]] = {
    Part.FILING: rows.FILING_COLUMNS,
    Part.DETAILS: rows.DETAIL_COLUMNS,
    Part.PAGES: rows.PAGE.names,
    Part.PASSAGES: rows.PASSAGE.names,
    Part.CARDS: ("card",),
    Part.FACTS: rows.FACT.names,
    Part.TAGS: rows.TAG_COLUMNS,
    Part.TABLES: ("page", "tables"),
}
"""The columns of each part; numbers of the filing and of rows are added when it is written."""
PART_WORDS = {part: part.value for part in Part} | {
    Part.FILING: "identity fields",
    Part.DETAILS: "its outline and summary",
    Part.FACTS: "figures",
    Part.TABLES: "tables",
}
"""What is said of each part where it differs from what was written."""
VECTOR_COLUMNS = ("model", "unit", "dimensions", "sparse", "row_count", "places", "numbers")
FULL_TEXT = {
    Part.PAGES: ("pages_fts", "id", "text", "number", "number"),
    Part.PASSAGES: ("passages_fts", "id", "text", "ordinal", "page"),
    Part.DETAILS: ("filings_fts", "filing_id", "summary", "filing_id", "filing_id"),
}
"""Parts with full text: its table, and the columns of the row number, text, place in the filing, and page."""

_ORDER = {Part.TAGS: "ordinal", Part.TABLES: "page"}
_RANGES = {
    Part.PAGES: ("id", "page"),
    Part.PASSAGES: ("id", "passage"),
    Part.CARDS: ("passage_id", "passage"),
    Part.FACTS: ("id", "fact"),
}
"""Parts with consecutive rows: the column of the number, and the unit of `first_` and `last_` in `filings`."""


@dataclass(frozen=True, slots=True)
class StoredFiling:
    """A filing as the index stores it."""

    parts: dict[Part, list[StoredRow]]
    vectors: list[StoredRow] = field(default_factory=list)
    """Rows of VECTOR_COLUMNS."""

    @classmethod
    def of(cls, filing: Filing, cards: Sequence[str], summary: str) -> StoredFiling:
        """Return the rows of a filing. Raises ValueError where there is not one card per passage."""
        if len(cards) != len(filing.passages):
            raise ValueError(f"{len(cards)} cards for {len(filing.passages)} passages")
        identity = filing.identity
        head = (filing.doc_id, filing.source, filing.content_hash, rows.reader_fingerprint())
        counts = (len(filing.pages), len(filing.passages), len(filing.facts))
        lists = (identity.sources, filing.items, filing.notes, filing.warnings)
        ordinals = {id(tag): ordinal for ordinal, tag in enumerate(filing.tags)}
        return cls(
            {
                Part.FILING: [(*head, *rows.IDENTITY.row(identity), *counts)],
                Part.DETAILS: [(*(json.dumps([astuple(each) for each in listed]) for listed in lists), summary)],
                Part.PAGES: [rows.PAGE.row(page) for page in filing.pages],
                Part.PASSAGES: [rows.PASSAGE.row(passage) for passage in filing.passages],
                Part.CARDS: [(card,) for card in cards],
                Part.FACTS: [rows.fact_row(fact, ordinals.get(id(fact.tag))) for fact in filing.facts],
                Part.TAGS: [(ordinal, *rows.TAG.row(tag)) for ordinal, tag in enumerate(filing.tags)],
                Part.TABLES: list(rows.table_rows(filing.tables)),
            }
        )

    @property
    def doc_id(self) -> str:
        """The doc_id of the filing."""
        return str(self.value("doc_id"))

    def value(self, column: str) -> SqlValue:
        """Return a column of its row in `filings`."""
        value: SqlValue = self.parts[Part.FILING][0][COLUMNS[Part.FILING].index(column)]
        return value

    def checksums(self) -> dict[str, str]:
        """Return the checksum of each part, which shows a later reader whether every byte is unchanged."""
        return {part.value: checksum(self.parts[part]) for part in Part}


def checksum(part: Sequence[StoredRow]) -> str:
    """Return the SHA-256 of rows, in hex; bytes count by theirs. Raises UnicodeEncodeError for lone surrogates."""
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=lambda held: [_sha256(held)])
    return _sha256(encoder.encode(part).encode())


def _sha256(held: bytes) -> str:
    return hashlib.sha256(held).hexdigest()


def read_part(connection: sqlite3.Connection, filing: int, part: Part) -> list[StoredRow]:
    """Return the rows of a part of the filing with this number. Raises sqlite3.Error where they cannot be read."""
    selection = f"SELECT {', '.join(COLUMNS[part])} FROM {part} WHERE {_of_filing(part)}"
    return connection.execute(selection, {"filing": filing}).fetchall()


def _of_filing(part: Part) -> str:
    """Return the condition and order of a filing's rows; rows in a range are found even if an index is damaged."""
    if part is Part.FILING:
        return "id = :filing"
    if part in _RANGES:
        key, unit = _RANGES[part]
        first, last = (f"(SELECT {end}_{unit} FROM filings WHERE id = :filing)" for end in ("first", "last"))
        return f"{key} BETWEEN {first} AND {last} AND +filing_id = :filing ORDER BY {key}"
    return "filing_id = :filing" + (f" ORDER BY {_ORDER[part]}" if part in _ORDER else "")


def _is_intact(connection: sqlite3.Connection, filing: int, part: Part, sealed: str | None) -> bool:
    """Return whether a part has the checksum with which it was written. Raises sqlite3.Error.

    SQLite produces the same JSON as Python in a third of the time. Where it cannot (bytes, some floating-point
    numbers), or the checksums differ, the checksum is computed in Python.
    """
    if part is not Part.TABLES:
        rows = f"SELECT * FROM {part} WHERE {_of_filing(part)}"
        plain = f"SELECT CAST(json_group_array(json_array({', '.join(COLUMNS[part])})) AS BLOB) FROM ({rows})"
        with suppress(sqlite3.OperationalError):
            ((found,),) = connection.execute(plain, {"filing": filing})
            if _sha256(found) == sealed:
                return True
    return checksum(read_part(connection, filing, part)) == sealed


def damaged_parts(connection: sqlite3.Connection, filing: int, parts: Iterable[Part] = Part) -> list[Part]:
    """Return those of the parts that differ from what was written. Raises sqlite3.Error where they cannot be read."""
    sealed = read_checksums(connection, filing)
    return [part for part in parts if not _is_intact(connection, filing, part, sealed.get(part))]


def read_checksums(connection: sqlite3.Connection, filing: int | None) -> dict[str, str]:
    """Return the checksums stored with the filing, by part; empty where there are none, or they cannot be decoded."""
    for (sealed,) in connection.execute("SELECT checksums FROM filing_details WHERE filing_id = ?", (filing,)):
        with suppress(ValueError, TypeError):
            return dict(json.loads(sealed))
    return {}


def read_vectors(connection: sqlite3.Connection, filing: int) -> Iterator[tuple[StoredRow, bool]]:
    """Yield (row of VECTOR_COLUMNS, whether it is intact) pairs."""
    selection = f"SELECT {', '.join(VECTOR_COLUMNS)}, checksum FROM vectors WHERE filing_id = ? ORDER BY id"
    for *vectors, sealed in connection.execute(selection, (filing,)).fetchall():
        row = tuple(vectors)
        yield row, checksum([row]) == sealed


def pack_numbers(numbers: Sequence[int]) -> bytes:
    """Return numbers below 2**32 as bytes, four each, little-endian."""
    return struct.pack(f"<{len(numbers)}I", *numbers)


def unpack_numbers(packed: bytes) -> tuple[int, ...]:
    """Return the numbers packed by `pack_numbers`. Raises struct.error where the length is not a multiple of four."""
    return tuple(number for (number,) in struct.iter_unpack("<I", packed))


def insert_filing(connection: sqlite3.Connection, stored: StoredFiling) -> None:
    """Insert a filing into every table, in place of one with its doc_id, within the caller's transaction."""
    delete_filing(connection, stored.doc_id)
    number = _next_id(connection, Part.FILING)
    row = {"id": number, **dict(zip(COLUMNS[Part.FILING], stored.parts[Part.FILING][0], strict=True))}
    first = {unit: _next_id(connection, part) for part, (key, unit) in _RANGES.items() if key == "id"}
    for part, (_, unit) in _RANGES.items():
        row |= {f"first_{unit}": first[unit], f"last_{unit}": first[unit] + len(stored.parts[part]) - 1}
    _insert(connection, "filings", row, [tuple(row.values())])
    for part in (Part.DETAILS, Part.TAGS, Part.TABLES):
        _insert(connection, part, ("filing_id", *COLUMNS[part]), ((number, *each) for each in stored.parts[part]))
    for part, (key, unit) in _RANGES.items():
        numbered = enumerate(stored.parts[part], first[unit])
        _insert(connection, part, (key, "filing_id", *COLUMNS[part]), ((at, number, *each) for at, each in numbered))
    for part in FULL_TEXT:
        _index_text(connection, part, number)
    _write_checksums(connection, number, stored.checksums())
    for vectors in stored.vectors:
        insert_vectors(connection, number, vectors)


def insert_vectors(connection: sqlite3.Connection, filing: int, vectors: StoredRow) -> None:
    """Insert a row of VECTOR_COLUMNS for a filing and seal it, within the caller's transaction."""
    columns = ("filing_id", *VECTOR_COLUMNS, "checksum")
    _insert(connection, "vectors", columns, [(filing, *vectors, checksum([vectors]))])


def _seal(connection: sqlite3.Connection, filing: int, part: Part) -> None:
    """Seal the current content of a part of a filing."""
    sealed = checksum(read_part(connection, filing, part))
    _write_checksums(connection, filing, read_checksums(connection, filing) | {part.value: sealed})


def _write_checksums(connection: sqlite3.Connection, filing: int, sealed: Mapping[str, str]) -> None:
    connection.execute("UPDATE filing_details SET checksums = ? WHERE filing_id = ?", (json.dumps(sealed), filing))


def update_summary(connection: sqlite3.Connection, doc_id: str, summary: str) -> bool:
    """Replace a filing's summary, within the caller's transaction; return False where there is no filing."""
    filing = number_of(connection, doc_id)
    if filing is None:
        return False
    _index_text(connection, Part.DETAILS, filing, delete=True)
    connection.execute("UPDATE filing_details SET summary = ? WHERE filing_id = ?", (summary, filing))
    _index_text(connection, Part.DETAILS, filing)
    connection.execute("DELETE FROM vectors WHERE filing_id = ? AND unit = 'summary'", (filing,))
    _seal(connection, filing, Part.DETAILS)
    return True


def update_source(connection: sqlite3.Connection, doc_id: str, source: str) -> None:
    """Record the current path of a filing's file, within the caller's transaction."""
    update = "UPDATE filings SET source = ? WHERE doc_id = ? AND source != ? RETURNING id"
    for (filing,) in connection.execute(update, (source, doc_id, source)).fetchall():
        _seal(connection, filing, Part.FILING)


def delete_filing(connection: sqlite3.Connection, doc_id: str) -> bool:
    """Delete a filing from every table, within the caller's transaction; return False where there was none."""
    filing = number_of(connection, doc_id)
    if filing is None:
        return False
    for part in FULL_TEXT:
        _index_text(connection, part, filing, delete=True)
    for table in ("vectors", *reversed(list(Part)[1:])):  # rows before those that they refer to
        connection.execute(f"DELETE FROM {table} WHERE filing_id = ?", (filing,))
    connection.execute("DELETE FROM filings WHERE id = ?", (filing,))
    return True


def number_of(connection: sqlite3.Connection, doc_id: str) -> int | None:
    """Return the number of a filing; None where there is none."""
    row = connection.execute("SELECT id FROM filings WHERE doc_id = ?", (doc_id,)).fetchone()
    return row[0] if row else None


def _index_text(connection: sqlite3.Connection, part: Part, filing: int, *, delete: bool = False) -> None:
    """Add the texts of a part of a filing to its full text, or take them out while they are still stored."""
    table, key, text, *_ = FULL_TEXT[part]
    command, name = ("'delete', ", f"{table}, ") if delete else ("", "")
    texts = f"SELECT {command}{key}, {text} FROM {part} WHERE filing_id = ? ORDER BY {key}"
    connection.execute(f"INSERT INTO {table} ({name}rowid, {text}) {texts}", (filing,))


def _insert(
    connection: sqlite3.Connection, table: str, columns: Collection[str], inserted: Iterable[Sequence[SqlValue]]
) -> None:
    marks = ", ".join("?" * len(columns))
    connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", inserted)


def _next_id(connection: sqlite3.Connection, part: Part) -> int:
    found: int = connection.execute(f"SELECT coalesce(max(id), 0) + 1 FROM {part}").fetchone()[0]
    return found
