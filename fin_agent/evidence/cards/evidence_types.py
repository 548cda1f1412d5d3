"""What kind of evidence a passage is: a statement, a table, prose, or prose with figures."""

from __future__ import annotations

import re

from fin_agent.evidence.cards.card import EvidenceType
from fin_agent.evidence.cards.sources import PassageSource

_MONEY = re.compile(r"[$€£] ?\d|%|million|billion|percent|basis points")
_TABLE_DIGITS = 0.12
"""Share of digits among the letters and digits from which a text is more table than prose."""
_STATEMENT_FACTS = 8
"""Figures from which text on the page of a primary statement is that statement, whatever stands below it."""
_SMALL_WORDS = (" the ", " of ", " to ", " and ", " in ", " a ")
_IN_PROSE = 0.018
"""Small words for each character: sentences have more, rows of tables fewer."""


def evidence_type_of(source: PassageSource) -> EvidenceType:
    """The kind of a passage's evidence."""
    if source.is_table:
        return EvidenceType.STATEMENT if source.page.statement is not None else EvidenceType.TABLE
    if is_mostly_table(source):
        return EvidenceType.STATEMENT if source.page.statement is not None else EvidenceType.TABLE
    return EvidenceType.MIXED if source.facts or has_figures(source.flat) else EvidenceType.NARRATIVE


def is_mostly_table(source: PassageSource) -> bool:
    """Whether a stretch of text is rows of a table more than sentences."""
    if source.is_table or (source.page.statement is not None and len(source.facts) >= _STATEMENT_FACTS):
        return True
    if not source.facts and source.page.kind is None and source.page.statement is None:
        return False
    flat = source.flat
    digits = sum(map(flat.count, "0123456789"))
    if digits < _TABLE_DIGITS * (len(flat) - flat.count(" ")):
        return False
    return sum(map(flat.count, _SMALL_WORDS)) < _IN_PROSE * len(flat)


def has_figures(flat: str) -> bool:
    """Whether sentences state amounts: `$5.2 million`, `12%`."""
    found = _MONEY.search(flat)
    return found is not None and _MONEY.search(flat, found.end()) is not None
