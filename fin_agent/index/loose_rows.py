"""Rows of a damaged database read page by page, where the trees that lead to them, or its schema, are lost.

By "Database File Format" of sqlite.org: each leaf holds whole rows, and the kinds of their values say of which table.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from fin_agent.index.file_header import page_size_of
from fin_agent.index.rows import SqlValue

_TABLE_LEAF, _INDEX_LEAF, _INDEX_INNER = 0x0D, 0x0A, 0x02
_LENGTHS = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)
"""Bytes of a value of the serial types 0 to 9."""
_KINDS: dict[str, type] = {"INTEGER": int, "TEXT": str, "BLOB": bytes}

LooseRow = list[SqlValue]


def copy_loose_rows(damaged: Path, target: sqlite3.Connection) -> None:
    """Put every row that a page of `damaged` still holds into `target`, an index without filings.

    Nothing is proved of them, and full text is not built. Of rows with the same key the first stays. Raises OSError,
    sqlite3.Error.
    """
    shapes = _shapes(target)
    target.execute("PRAGMA foreign_keys = OFF")
    target.execute("BEGIN")
    target.execute("DELETE FROM meta")
    with damaged.open("rb") as opened:
        for on_table, rowid, row in _Pages(opened).rows():
            for shape in shapes.get((on_table, len(row)), ()):
                if shape.takes(row):
                    target.execute(shape.insertion(len(row)), shape.values(rowid, row))
                    break
    target.execute("COMMIT")


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    kind: type
    optional: bool
    is_rowid: bool
    added_later: bool

    def takes(self, value: SqlValue) -> bool:
        if value is None or self.is_rowid:
            return value is None and (self.optional or self.is_rowid)
        return type(value) is self.kind


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the rows of a table look like on a page."""

    table: str
    columns: tuple[_Column, ...]

    def lengths(self) -> range:
        """Columns that were added later are not in older rows."""
        shortest = max(at for at, column in enumerate(self.columns, 1) if not column.added_later)
        return range(shortest, len(self.columns) + 1)

    def takes(self, row: LooseRow) -> bool:
        return all(column.takes(value) for column, value in zip(self.columns, row, strict=False))

    def values(self, rowid: int, row: LooseRow) -> LooseRow:
        return [rowid if column.is_rowid else value for column, value in zip(self.columns, row, strict=False)]

    def insertion(self, length: int) -> str:
        names = ", ".join(column.name for column in self.columns[:length])
        return f"INSERT OR IGNORE INTO {self.table} ({names}) VALUES ({', '.join('?' * length)})"


def _shapes(index: sqlite3.Connection) -> dict[tuple[bool, int], list[_Shape]]:
    """By whether rows stand on leaves of a table (those WITHOUT ROWID stand on pages of an index), and their length."""
    found: dict[tuple[bool, int], list[_Shape]] = {}
    for listed in index.execute("PRAGMA main.table_list").fetchall():
        if listed["type"] != "table" or listed["name"].startswith("sqlite_"):
            continue
        columns = tuple(
            _Column(
                row["name"],
                _KINDS[row["type"]],
                not row["notnull"] and not row["pk"],
                row["type"] == "INTEGER" and row["pk"] == 1 and not listed["wr"],
                row["dflt_value"] is not None,
            )
            for row in index.execute("SELECT * FROM pragma_table_info(?)", (listed["name"],))
        )
        shape = _Shape(listed["name"], columns)
        for length in shape.lengths():
            found.setdefault((not listed["wr"], length), []).append(shape)
    return found


class _Pages:
    """The pages of a database file, as far as they are there."""

    def __init__(self, opened: BinaryIO) -> None:
        self._opened = opened
        self._size = page_size_of(opened)
        self._count = -(-opened.seek(0, 2) // self._size)

    def rows(self) -> Iterator[tuple[bool, int, LooseRow]]:
        """(whether on a leaf of a table, its number or 0, its values), in the order of the file."""
        free = self._free()
        for number in range(1, self._count + 1):
            page = self._page(number)
            start = 100 if number == 1 else 0
            if number in free or page[start] not in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INNER):
                continue
            for at in self._cells(page, start):
                # A cell of a page that was overwritten in part may be anything.
                with suppress(IndexError, ValueError, OverflowError, struct.error):
                    yield self._row(page, at, page[start])

    def _page(self, number: int) -> bytes:
        self._opened.seek((number - 1) * self._size)
        return self._opened.read(self._size).ljust(self._size, b"\0")

    def _free(self) -> set[int]:
        """Pages that hold nothing, though they may look like it: rows of filings that were removed."""
        free: set[int] = set()
        (number,) = struct.unpack(">I", self._page(1)[32:36])
        while 1 < number <= self._count and number not in free:
            free.add(number)
            page = self._page(number)
            number, leaves = struct.unpack(">II", page[:8])
            leaves = min(leaves, self._size // 4 - 2)
            free.update(leaf for leaf in struct.unpack_from(f">{leaves}I", page, 8) if leaf > 1)
        return free

    def _cells(self, page: bytes, start: int) -> Iterator[int]:
        (count,) = struct.unpack_from(">H", page, start + 3)
        pointers = start + (12 if page[start] == _INDEX_INNER else 8)
        count = min(count, (self._size - pointers) // 2)
        yield from (at for at in struct.unpack_from(f">{count}H", page, pointers) if at > pointers)

    def _row(self, page: bytes, at: int, kind: int) -> tuple[bool, int, LooseRow]:
        at += 4 if kind == _INDEX_INNER else 0
        length, at = _varint(page, at)
        rowid = 0
        if kind == _TABLE_LEAF:
            rowid, at = _varint(page, at)
            rowid -= 2**64 if rowid >= 2**63 else 0
        return kind == _TABLE_LEAF, rowid, _values(self._payload(page, at, length, kind))

    def _payload(self, page: bytes, at: int, length: int, kind: int) -> bytes:
        most = self._size - 35 if kind == _TABLE_LEAF else (self._size - 12) * 64 // 255 - 23
        if length <= most:
            return page[at : at + length]
        if length > self._count * self._size:
            raise ValueError("longer than the file")
        least = (self._size - 12) * 32 // 255 - 23
        here = least + (length - least) % (self._size - 4)
        here = here if here <= most else least
        held = bytearray(page[at : at + here])
        (further,) = struct.unpack_from(">I", page, at + here)
        while len(held) < length:
            if not 1 < further <= self._count:
                raise ValueError("its further pages are lost")
            page = self._page(further)
            (further,) = struct.unpack_from(">I", page)
            held += page[4 : 4 + length - len(held)]
        return bytes(held)


def _values(record: bytes) -> LooseRow:
    """Raises IndexError, ValueError, struct.error for what is no record."""
    end, at = _varint(record, 0)
    place = end
    values: LooseRow = []
    while at < end:
        kind, at = _varint(record, at)
        if kind in (10, 11):
            raise ValueError("no kind of value")
        length = _LENGTHS[kind] if kind < 10 else (kind - 12) // 2
        held = record[place : place + length]
        if len(held) < length:
            raise ValueError("cut off")
        place += length
        if kind == 0:
            values.append(None)
        elif kind == 7:
            values.append(struct.unpack(">d", held)[0])
        elif kind in (8, 9):
            values.append(kind - 8)
        elif kind < 7:
            values.append(int.from_bytes(held, "big", signed=True))
        else:
            values.append(held.decode() if kind % 2 else held)
    if place != len(record) or at != end:
        raise ValueError("not as long as it says")
    return values


def _varint(held: bytes, at: int) -> tuple[int, int]:
    """(number, where the next begins)."""
    number = 0
    for place in range(at, at + 8):
        byte = held[place]
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, place + 1
    return number << 8 | held[at + 8], at + 9
