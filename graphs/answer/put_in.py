"""Figures that somebody put into the ledger, held against the pages that they are said to stand on."""

from __future__ import annotations

from collections.abc import Iterator

from fin_agent.evidence.ledger import Ledger
from fin_agent.index.protocol import FilingIndex, PageKey


def not_printed(ledger: Ledger, index: FilingIndex) -> Iterator[str]:
    """A warning for each figure that its page does not state, as the index has read it."""
    for entry in ledger.entries:
        figure = entry.figure
        if figure is None:
            continue
        facts = index.facts([figure.doc_id], pages=[PageKey(figure.doc_id, figure.page)])
        if (abs(figure.amount), figure.scale) not in {(abs(each.fact.amount), each.fact.scale) for each in facts}:
            place = f"page {figure.page + 1} of {figure.doc_id}"
            yield f"{figure.amount:,} for {entry.slot} was put in by hand: {place} states no such figure"
