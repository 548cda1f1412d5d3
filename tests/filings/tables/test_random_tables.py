from __future__ import annotations

from hypothesis import given, settings

from fin_agent.filings.tables.reading import read_tables
from fin_agent.vocabulary.identity import Identity
from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.table import Table
from tests.filings.tables.random_tables import Expected, Model, pages


def read_back(table: Table) -> Model:
    rows = tuple(
        Expected(row.label, row.section, tuple(cell.amount if cell else None for cell in row.cells))
        for row in table.rows
    )
    return Model(rows, table.periods, table.unit_line)


@given(pages())
@settings(max_examples=60, deadline=None)
def test_a_table_of_any_make_up_is_read_back(made: tuple[PageContent, Identity, list[Model]]) -> None:
    page, identity, models = made
    assert [read_back(table) for table in read_tables([page], identity)] == models
