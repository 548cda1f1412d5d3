"""What a run works with: an index, the lexicon, and the companies and years that the index holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fin_agent.index.protocol import FilingIndex, FilingRecord
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.lexicon.companies import CompanyDirectory
from fin_agent.lexicon.fiscal import FiscalYears
from fin_agent.lexicon.lexicon import Lexicon, load_lexicon


class Workspace:
    """An index with everything derived from its list of filings, kept until that list changes."""

    def __init__(self, index: FilingIndex, lexicon: Lexicon | None = None) -> None:
        self.index = index
        self.lexicon = lexicon or load_lexicon()
        self._derived: tuple[tuple[FilingRecord, ...], CompanyDirectory, dict[str, FiscalYears]] | None = None

    @classmethod
    def open(cls, folder: Path) -> Workspace:
        """Open the embedded index in `folder`. Raises FilingIndexError where there is none that can be read."""
        return cls(SqliteIndex(folder))

    @property
    def directory(self) -> CompanyDirectory:
        """The companies of the index."""
        return self._current()[1]

    @property
    def years(self) -> Mapping[str, FiscalYears]:
        """What each company's filings call their years, by company key."""
        return self._current()[2]

    def _current(self) -> tuple[tuple[FilingRecord, ...], CompanyDirectory, dict[str, FiscalYears]]:
        records = self.index.filings()
        derived = self._derived  # another thread may put a newer one there meanwhile
        if derived is None or derived[0] is not records:
            identities = {record.doc_id: record.identity for record in records}
            directory = CompanyDirectory((record.doc_id, record.identity) for record in records)
            years = {
                company.key: FiscalYears.of(company.name, (identities[doc_id] for doc_id in company.doc_ids))
                for company in directory.companies
            }
            derived = self._derived = records, directory, years
        return derived
