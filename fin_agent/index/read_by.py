"""By what a filing was read: when that changes, the same file is read anew."""

from __future__ import annotations

from fin_agent.lexicon.lexicon import own_fingerprint


def read_by() -> str:
    """Version of the reader, the PDF reader chosen and the user's own lexicon files, as one text."""
    from fin_agent.filings.reader import reader_version  # what only reads an index has no need of readers

    return " ".join(part for part in (reader_version(), own_fingerprint()) if part)
