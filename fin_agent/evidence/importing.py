"""An archive brought into an index with its cards looked at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fin_agent.evidence.cards.card import Card
from fin_agent.index import archive
from fin_agent.index.archive import Imported


def import_archive(
    file: Path | str,
    folder: Path | str,
    *,
    replace: bool = False,
    wait: float = 0.0,
    on_filing: Callable[[str], None] = lambda doc_id: None,
) -> Imported:
    """Bring the filings of an archive into the index in `folder`, which is made where there is none; all or none.

    What comes back lists them as `added`, `replaced` and `unchanged`. Nothing in an archive is believed: its cards are
    looked at as well as its pages, figures and vectors. A filing of the same name with other content is an error, or is
    replaced with `replace`. Another command that writes to the index is waited for `wait` seconds; `on_filing` hears
    the name of each filing. Raises ArchiveError, FilingIndexError.

    >>> from pathlib import Path
    >>> from fin_agent import SqliteIndex
    >>> from fin_agent.evidence.importing import import_archive
    >>> from fin_agent.index.archive import export
    >>> with SqliteIndex(Path("my-index")) as index:
    ...     archived = export(index, Path("filings.jsonl.gz"))
    >>> imported = import_archive(Path("filings.jsonl.gz"), Path("another-index"))
    >>> len(imported.added) == archived.filings
    True
    """
    file, folder = Path(file), Path(folder)
    return archive.import_archive(
        file, folder, Card.model_validate_json, replace=replace, wait=wait, on_filing=on_filing
    )
