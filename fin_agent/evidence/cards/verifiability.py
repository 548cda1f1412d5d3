"""By what a reader can check a passage: its figures, the outline of its table, the words that give its role away."""

from __future__ import annotations

from fin_agent.evidence.cards.card import ClaimRole, TableSignature, Verifiability
from fin_agent.evidence.cards.cues import Cues
from fin_agent.evidence.cards.sources import PassageSource
from fin_agent.vocabulary.table import Table

_MOST_COLUMNS = 8
_MOST_LABELS = 8
_MOST_CUES = 6
_MOST_CHARACTERS = 60


def verifiability_of(source: PassageSource, role: ClaimRole, cues: Cues) -> Verifiability:
    """The number of facts, the signature of the table, the cue phrases of the passage's role."""
    return Verifiability(
        facts=len(source.facts),
        table=None if source.table is None else signature_of(source.table),
        cues=tuple(cues.get(role.value, ()))[:_MOST_CUES],
    )


def signature_of(table: Table) -> TableSignature:
    """A table's outline: how many rows, its columns and first different labels."""
    columns = [_short(column) for column in table.columns]
    labels = dict.fromkeys(label for row in table.rows if (label := _short(row.label)))
    return TableSignature(
        rows=len(table.rows),
        columns=tuple(column for column in columns if column)[:_MOST_COLUMNS],
        labels=tuple(labels)[:_MOST_LABELS],
    )


def _short(text: str) -> str:
    return " ".join(text[: 4 * _MOST_CHARACTERS].split())[:_MOST_CHARACTERS]
