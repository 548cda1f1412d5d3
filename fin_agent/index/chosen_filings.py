"""The only filings that may be read, as a caller names them."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.errors import FilingIndexError
from fin_agent.index.protocol import FilingIndex


def chosen_filings(doc_ids: Sequence[str] | None, index: FilingIndex) -> tuple[str, ...] | None:
    """Each once; None for all. Raises FilingIndexError where one is not indexed, or none is named: that is not all."""
    if doc_ids is None:
        return None
    if isinstance(doc_ids, str) or not doc_ids:
        raise FilingIndexError(
            "no filing may be read: `doc_ids` names none" if not doc_ids else "`doc_ids` is a list of ids",
            subject=str(doc_ids),
            remedy="Give the filings that may be read as a list; leave `doc_ids` out where all may be",
        )
    for doc_id in doc_ids:
        index.filing(doc_id)
    return tuple(dict.fromkeys(doc_ids))
