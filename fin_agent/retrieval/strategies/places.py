"""Where each passage of a filing stands: vectors know its ordinal, not its page."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from fin_agent.index.protocol import FilingEntry, FilingIndex, PageKey


class PassagePlaces:
    """Pages of passages by ordinal, read once a filing. Safe to share between threads."""

    def __init__(self, index: FilingIndex) -> None:
        self._index = index
        self._guard = threading.Lock()
        self._entries: tuple[FilingEntry, ...] = ()
        self._page_counts: dict[str, int] = {}
        self._pages: dict[str, dict[int, int]] = {}

    def of(self, doc_id: str) -> dict[int, int]:
        """Ordinal -> 0-based page of every passage; empty for a filing that is not there (any more)."""
        entries = self._index.entries()
        with self._guard:
            if self._entries is not entries:
                self._entries = entries
                self._page_counts = {entry.doc_id: entry.page_count for entry in entries}
                self._pages = {}
            known = self._pages.get(doc_id)
            page_count = self._page_counts.get(doc_id, 0)
        if known is not None:
            return known
        passages = self._index.passages([PageKey(doc_id, number) for number in range(page_count)])
        found = {stored.passage.ordinal: stored.passage.page for stored in passages}
        with self._guard:
            if self._entries is entries:
                self._pages[doc_id] = found
        return found

    def on(self, pages: Iterable[PageKey]) -> list[tuple[str, int]]:
        """(doc_id, ordinal) of all passages on these pages."""
        wanted: dict[str, set[int]] = {}
        for key in pages:
            wanted.setdefault(key.doc_id, set()).add(key.page)
        return [
            (doc_id, ordinal)
            for doc_id, numbers in wanted.items()
            for ordinal, page in self.of(doc_id).items()
            if page in numbers
        ]
