"""An index of the sample filings, for whoever has none yet: made once, in a folder of the user's cache."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import threading
from importlib.metadata import version
from pathlib import Path

import platformdirs

from fin_agent.errors import FilingIndexError
from fin_agent.evidence.preparing import prepare
from fin_agent.index.database import FORMAT_VERSION
from fin_agent.index.ingest import ingest
from fin_agent.index.sqlite import FILE_NAME, SqliteIndex

SAMPLES = Path(__file__).resolve().parents[2] / "examples" / "filings"
"""In a checkout of the project; a wheel does not bring them."""
_one_at_a_time = threading.Lock()


def sample_index() -> Path | None:
    """The folder of that index, made where it is not there; None where there are no sample filings.

    Raises FilingIndexError where a sample filing cannot be read. Takes seconds the first time: never on an event loop.
    """
    filings = sorted(SAMPLES.glob("*.pdf"))
    if not filings:
        return None
    folder = platformdirs.user_cache_path("fin-agent") / f"sample-filings-{_edition(filings)}"
    with _one_at_a_time:
        if not (folder / FILE_NAME).exists():
            _make(folder)
    return folder


def _edition(filings: list[Path]) -> str:
    """Another one for other filings, and for another way to read them."""
    named = [version("fin-agent"), FORMAT_VERSION, *(f"{path.name} {path.stat().st_size}" for path in filings)]
    return hashlib.sha256("\n".join(named).encode()).hexdigest()[:12]


def _make(folder: Path) -> None:
    """Under another name first: another server may be making the same, and this one may be killed."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{folder.name}-", dir=folder.parent) as unfinished:
        made = Path(unfinished) / "index"
        with SqliteIndex.create(made) as index:
            report = ingest([SAMPLES], index, prepare, workers=0)
        if report.failures:
            failed = report.failures[0]
            raise FilingIndexError(
                f"the sample filings cannot be indexed: {failed.reason}",
                subject=str(failed.path),
                remedy="Name an index of your own: FIN_AGENT_INDEX, or `index` of the context",
            )
        if not (folder / FILE_NAME).exists():
            shutil.move(made, folder)
