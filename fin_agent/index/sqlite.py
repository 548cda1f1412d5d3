"""The embedded index: one SQLite file with FTS5, one transaction per filing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fin_agent.index.content import StoredContent
from fin_agent.index.database import create_database
from fin_agent.index.searching import FullTextSearch
from fin_agent.index.vectors import StoredVectors
from fin_agent.index.writing import delete_filing, insert_filing, update_summary
from fin_agent.vocabulary.filing import Filing

FILE_NAME = "filings.sqlite"


class SqliteIndex(FullTextSearch, StoredContent, StoredVectors):
    """Filings in the folder `folder`. Safe to share between threads: each gets a connection of its own.

    >>> import tempfile, pathlib
    >>> from fin_agent import SqliteIndex
    >>> with tempfile.TemporaryDirectory() as folder, SqliteIndex.create(pathlib.Path(folder)) as index:
    ...     index.page_count()
    0
    """

    def __init__(self, folder: Path) -> None:
        """Open an index that exists.

        Raises FilingIndexError where there is none, or where it was half written, is damaged or of another version.
        """
        self.folder = folder
        super().__init__(folder / FILE_NAME)

    @classmethod
    def create(cls, folder: Path) -> SqliteIndex:
        """Open the index in `folder`, making folder and index where there are none."""
        create_database(folder / FILE_NAME)
        return cls(folder)

    def __enter__(self) -> SqliteIndex:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def add(self, filing: Filing, cards: Sequence[str], summary: str) -> None:
        """See FilingIndex.add."""
        with self.writing() as connection:
            delete_filing(connection, filing.doc_id)
            insert_filing(connection, filing, cards, summary)

    def replace_summary(self, doc_id: str, summary: str) -> bool:
        """Another summary for a filing; vectors of the one before go. False where there is no such filing."""
        with self.writing() as connection:
            return update_summary(connection, doc_id, summary)

    def remove(self, doc_id: str) -> bool:
        """See FilingIndex.remove."""
        with self.writing() as connection:
            connection.execute("DELETE FROM ingested_files WHERE doc_id = ?", (doc_id,))
            return delete_filing(connection, doc_id)
