"""What a run works with: an index, the lexicon, and the companies and years that the index holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from fin_agent.index.opening import open_index
from fin_agent.index.protocol import FilingEntry, FilingIndex
from fin_agent.lexicon.companies import CompanyDirectory
from fin_agent.lexicon.fiscal import FiscalYears
from fin_agent.lexicon.lexicon import Lexicon, load_lexicon


class Workspace:
    """An index with everything derived from its list of filings, kept until that list changes.

    >>> from pathlib import Path
    >>> from fin_agent import Workspace
    >>> workspace = Workspace.open(Path("my-index"))
    >>> sorted(company.name for company in workspace.directory.by_key.values())[0]
    'Harborlight Instruments, Inc.'
    """

    def __init__(self, index: FilingIndex, lexicon: Lexicon | None = None) -> None:
        self.index = index
        self.lexicon = lexicon or load_lexicon()
        self._derived: tuple[tuple[FilingEntry, ...], CompanyDirectory, Mapping[str, FiscalYears]] | None = None

    @classmethod
    def open(cls, place: Path | str) -> Workspace:
        """Open the index in a folder, or at the address of a cluster: `https://host:9200/prefix`.

        Raises FilingIndexError where there is none that can be read.
        """
        return cls(open_index(place))

    @property
    def directory(self) -> CompanyDirectory:
        """The companies of the index."""
        return self._current()[1]

    @property
    def years(self) -> Mapping[str, FiscalYears]:
        """What each company's filings call their years, by company key."""
        return self._current()[2]

    def _current(self) -> tuple[tuple[FilingEntry, ...], CompanyDirectory, Mapping[str, FiscalYears]]:
        entries = self.index.entries()
        derived = self._derived  # another thread may put a newer one there meanwhile
        if derived is None or derived[0] is not entries:
            directory = CompanyDirectory((entry.doc_id, entry.identity) for entry in entries)
            derived = self._derived = entries, directory, _YearsOfCompanies(directory)
        return derived


class _YearsOfCompanies(Mapping[str, FiscalYears]):
    """The years of each company, read from its filings when they are first asked for."""

    def __init__(self, directory: CompanyDirectory) -> None:
        self._directory = directory
        self._read: dict[str, FiscalYears] = {}

    def __getitem__(self, key: str) -> FiscalYears:
        years = self._read.get(key)
        if years is None:
            company = self._directory.by_key[key]
            identities = self._directory.identities
            years = FiscalYears.of(company.name, (identities[doc_id] for doc_id in company.doc_ids))
            self._read[key] = years
        return years

    def __iter__(self) -> Iterator[str]:
        return iter(self._directory.by_key)

    def __len__(self) -> int:
        return len(self._directory.by_key)
