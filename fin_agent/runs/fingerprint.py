"""What an index held when it was asked, on a line."""

from __future__ import annotations

import hashlib
from pathlib import Path

from fin_agent.index.protocol import FilingIndex
from fin_agent.runs.run import IndexState

_DIGITS = 16


def index_state(index: FilingIndex, folder: Path) -> IndexState:
    """The state of the index in `folder`: the same for the same filings, in whatever order they came."""
    entries = index.entries()
    digest = hashlib.sha256()
    for entry in entries:
        digest.update(f"{entry.content_hash} {entry.doc_id}\n".encode("utf-8", "surrogatepass"))
    return IndexState(path=str(folder.resolve()), filings=len(entries), fingerprint=digest.hexdigest()[:_DIGITS])
