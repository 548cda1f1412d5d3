"""Filings that are in an index under several names."""

from __future__ import annotations

from collections.abc import Iterable

from fin_agent.index.protocol import FilingRecord


def standing_for(records: Iterable[FilingRecord]) -> dict[str, str]:
    """doc_id -> the first doc_id with the same bytes, for filings that are there under several names."""
    by_content: dict[str, list[str]] = {}
    for record in records:
        by_content.setdefault(record.content_hash, []).append(record.doc_id)
    return {doc_id: min(doc_ids) for doc_ids in by_content.values() if len(doc_ids) > 1 for doc_id in sorted(doc_ids)}
