"""One filing of the embedded index, held against its checksums, its counts and itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from fin_agent.errors import FilingIndexError
from fin_agent.index.protocol import FilingVectors, VectorUnit
from fin_agent.index.stored_rows import Part, StoredRow, checksum, read_part, read_vectors
from fin_agent.index.vectors import check_vectors, unpacked_numbers

_COUNTS = {"page_count": Part.PAGES, "passage_count": Part.PASSAGES, "fact_count": Part.FACTS}
_WORDS = {
    Part.FILING: "who, what and when it is",
    Part.DETAILS: "its outline and summary",
    Part.TABLES: "tables",
}


def filing_faults(connection: sqlite3.Connection, number: int) -> list[str]:
    """What is wrong with the filing of this number, in sentences. Raises sqlite3.Error where it cannot be read."""
    try:
        return [
            *_counts(connection, number),
            *_row_numbers(connection, number),
            *_changed(connection, number),
            *vector_faults(connection, number),
        ]
    except (IndexError, TypeError, ValueError) as error:  # a damaged file gives rows that no statement could write
        return [f"it cannot be read ({error})"]


def _counts(connection: sqlite3.Connection, number: int) -> Iterator[str]:
    filing = connection.execute("SELECT * FROM filings WHERE id = ?", (number,)).fetchone()
    expected = [(part, filing[column]) for column, part in _COUNTS.items()]
    for part, rows in [*expected, (Part.CARDS, filing["passage_count"]), (Part.DETAILS, 1)]:
        found = connection.execute(f"SELECT count(*) FROM {part} WHERE filing_id = ?", (number,)).fetchone()[0]
        if found != rows:
            yield f"it says {rows} {_WORDS.get(part, part.value)}, and there are {found}"
    cards = connection.execute(
        "SELECT count(*) FROM cards JOIN passages ON passages.id = passage_id"
        " WHERE cards.filing_id = ?1 AND passages.filing_id = ?1",
        (number,),
    ).fetchone()[0]
    if cards != filing["passage_count"]:
        yield f"{cards} of {filing['passage_count']} passages have a card of their own"


def _row_numbers(connection: sqlite3.Connection, number: int) -> Iterator[str]:
    filing = connection.execute("SELECT * FROM filings WHERE id = ?", (number,)).fetchone()
    for unit, part, place in (("page", Part.PAGES, "number"), ("passage", Part.PASSAGES, "ordinal")):
        count = filing[f"{unit}_count"]
        first, last = filing[f"first_{unit}"], filing[f"last_{unit}"]
        if last - first + 1 != count:
            yield f"its {part} are said to be rows {first} to {last}, and to be {count}"
        found = connection.execute(
            f"SELECT min(id), max(id), count(DISTINCT {place}) FROM {part} WHERE filing_id = ?", (number,)
        ).fetchone()
        if count and tuple(found) != (first, last, count):
            yield f"its {part} are not rows {first} to {last}, one after the other"


def _changed(connection: sqlite3.Connection, number: int) -> Iterator[str]:
    sealed = dict(connection.execute("SELECT part, checksum FROM checksums WHERE filing_id = ?", (number,)).fetchall())
    if not sealed:
        return
    for part in Part:
        if checksum(read_part(connection, number, part)) != sealed.get(part.value):
            yield f"{_WORDS.get(part, part.value)} are not what was written: the checksum differs"


def vector_faults(connection: sqlite3.Connection, number: int) -> Iterator[str]:
    """What is wrong with the vectors of a filing."""
    sealed = connection.execute("SELECT checksum FROM vectors WHERE filing_id = ? ORDER BY id", (number,)).fetchall()
    for vectors, (kept,) in zip(read_vectors(connection, number), sealed, strict=True):
        if not vectors_whole(vectors) or (kept and checksum([vectors]) != kept):
            yield f"vectors of each {vectors[1]!s} by {vectors[0]!s} are not what was written"


def vectors_whole(vectors: StoredRow) -> bool:
    """Whether a row of VECTOR_COLUMNS agrees with itself."""
    model, unit, dimensions, sparse, row_count, places, numbers = vectors
    if not isinstance(places, bytes) or not isinstance(numbers, bytes) or not isinstance(dimensions, int):
        return False
    try:
        found = FilingVectors("", unpacked_numbers(places), dimensions, numbers, bool(sparse))
        check_vectors(str(model), VectorUnit(str(unit)), found)
    except (FilingIndexError, ValueError):
        return False
    return len(found.places) == row_count
