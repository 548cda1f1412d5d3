"""Whether the rows of a group are parts of the whole company."""

from __future__ import annotations

from fin_agent.analyst.rules.reasoning.tables import Group
from fin_agent.index.protocol import FilingIndex
from fin_agent.vocabulary.table import Row

_WITHIN = 0.002
_LEAST, _MOST = 0.8, 1.25
"""Of the whole, that its parts together are: sales to one another and what belongs to none of them are left out."""
_REVENUE = "revenue"


def whole_of(group: Group, column: int, index: FilingIndex) -> Row | None:
    """The row of a group's table that is the company's revenue of the column's period, if its members make it up.

    None where no row is: the table is then of a part, or of something else.
    """
    placed = group.placed
    period = placed.table.periods[column]
    if period is None:
        return None
    stated = {
        float(each.fact.value)
        for each in index.facts([placed.doc_id], metrics=[_REVENUE])
        if each.fact.scope is None
        and each.fact.statement is not None
        and each.fact.period.fiscal_year == period.fiscal_year
        and each.fact.period.months == period.months
    }
    rows = placed.table.rows
    begin = rows.index(group.rows[0])
    for row in rows[begin:]:
        cell = row.cells[column]
        fact = placed.facts.get(cell.box) if cell else None
        value = float(fact.value) if fact else None
        if value is not None and any(abs(value - known) <= _WITHIN * abs(known) for known in stated):
            return row if _make_it_up(group, column, row) else None
    return None


def _make_it_up(group: Group, column: int, whole: Row) -> bool:
    """Whether the members of a group are all parts of the whole, and not those of one part."""
    total = whole.cells[column]
    cells = [cell for row in group.members(column, parts=True) if row != whole and (cell := row.cells[column])]
    summed = float(sum(cell.amount for cell in cells))
    return total is not None and _LEAST * float(total.amount) <= summed <= _MOST * float(total.amount)
