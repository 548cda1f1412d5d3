"""Parts that stand side by side: segments as columns, their measures as rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from fin_agent.analyst.rules.reasoning.tables import PlacedTable, columns_of
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.vocabulary.table import Row

_FEWEST = 3
"""Columns of one period: two parts and their total."""


def turned(placed: PlacedTable, periods: Sequence[FiscalPeriod]) -> PlacedTable | None:
    """The same table with a row for each part and a heading for each measure; None where columns are no parts."""
    table = placed.table
    columns = columns_of(table, periods)
    if len(columns) < _FEWEST or any(table.periods[number] != table.periods[columns[0]] for number in columns):
        return None
    heads = [table.columns[number] for number in columns]
    shared = _shared([head.split() for head in heads])
    names = [" ".join(re.sub(r"\(\d\)", " ", head).split()[len(shared) :]) for head in heads]
    if not shared or not all(names) or len(set(names)) < len(names):
        return None
    rows = tuple(
        Row(label=name, section=(row.label,), cells=(row.cells[number],), line=row.line, box=row.box)
        for row in table.rows
        if row.label
        for name, number in zip(names, columns, strict=True)
    )
    period = table.periods[columns[0]]
    return replace(placed, table=replace(table, columns=(" ".join(shared),), periods=(period,), rows=rows))


def _shared(heads: Sequence[Sequence[str]]) -> list[str]:
    """The words with which all of them begin."""
    words: list[str] = []
    for beside in zip(*heads, strict=False):
        if len(set(beside)) > 1:
            break
        words.append(beside[0])
    return words
