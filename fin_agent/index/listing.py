"""Which filings an index holds: in full, and as a light list that stays cheap with very many."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from fin_agent.index import rows
from fin_agent.index.near_names import not_indexed
from fin_agent.index.opened import OpenedFile, ReadOnce
from fin_agent.index.protocol import FilingEntry, FilingRecord


class FilingList(OpenedFile):
    """The part of an index that lists filings. Lists are read once until they change, and shared between threads."""

    def __init__(self, file: Path) -> None:
        super().__init__(file)
        self._records = ReadOnce[tuple[FilingRecord, ...]](self, _read_records, ())
        self._entries = ReadOnce[tuple[FilingEntry, ...]](self, _read_entries, ())
        self._positions = ReadOnce[dict[int, int]](self, _read_positions, {})

    def filings(self) -> tuple[FilingRecord, ...]:
        """See FilingIndex.filings."""
        return self._records.value()

    def entries(self) -> tuple[FilingEntry, ...]:
        """See FilingIndex.entries."""
        return self._entries.value()

    def filing(self, doc_id: str) -> FilingRecord:
        """See FilingIndex.filing."""
        found = self._read(f"{_RECORDS} WHERE doc_id = ?", (doc_id,))
        if not found:
            raise not_indexed(doc_id, (entry.doc_id for entry in self.entries()))
        return rows.filing_record(found[0])

    def page_count(self) -> int:
        """See FilingIndex.page_count."""
        return int(self._read("SELECT coalesce(sum(page_count), 0) FROM filings")[0][0])


_RECORDS = "SELECT * FROM filings JOIN filing_details ON filing_id = id"
_IN_ORDER = "ORDER BY content_hash, doc_id"


def _read_records(connection: sqlite3.Connection) -> tuple[FilingRecord, ...]:
    return tuple(map(rows.filing_record, connection.execute(f"{_RECORDS} {_IN_ORDER}")))


def _read_entries(connection: sqlite3.Connection) -> tuple[FilingEntry, ...]:
    # Read in the table's own order and sorted here: following an index from row to row takes twice the time.
    found = map(rows.filing_entry, connection.execute(f"SELECT {rows.ENTRY_SELECTION} FROM filings NOT INDEXED"))
    return tuple(sorted(found, key=lambda entry: (entry.content_hash, entry.doc_id)))


def _read_positions(connection: sqlite3.Connection) -> dict[int, int]:
    """Row of each filing -> its position among the entries."""
    return {row[0]: at for at, row in enumerate(connection.execute(f"SELECT id FROM filings {_IN_ORDER}"))}
