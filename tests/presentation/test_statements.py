"""A statement is shown whole: title, unit, table, pages."""

from __future__ import annotations

from fin_agent.filings.tables.of_statement import StatementPart
from fin_agent.presentation.pages import joined, statement_view
from tests.presentation.figures import record, row, shown, table

FIRST = table(["2023"], [row("Net income", "5")], page=62, unit_line="(in millions)")
SECOND = table(["2023"], [row("Dividends", "(2)")], page=63, unit_line="(in millions)")
TITLE = "Consolidated Statement of Cash Flows"


def test_a_statement_over_two_pages_is_one_table() -> None:
    view = statement_view(record(), [StatementPart(FIRST, TITLE), StatementPart(SECOND, f"{TITLE} (continued)")])
    lines = shown(view)
    assert lines[:3] == [TITLE, "Acme Corp., 10-K, FY2023", "(in millions)"]
    assert sum(TITLE in line for line in lines) == sum("2023" in line for line in lines[3:-1]) == 1
    assert [line.split()[0] for line in lines[-4:-1]] == ["Net", lines[-3].split()[0], "Dividends"]
    assert lines[-3].endswith("page 64")
    assert lines[-1] == "acme_2023_10k, pages 63, 64"


def test_tables_under_other_columns_stay_apart() -> None:
    other = table(["Shares", "Amount"], [row("Balance", "1", "2")], page=63)
    parts = [StatementPart(FIRST, TITLE), StatementPart(other, "")]
    assert [run.pages for run in joined(parts)] == [(62,), (63,)]
    lines = shown(statement_view(record(), parts))
    assert lines.count("acme_2023_10k, page 63") == lines.count("acme_2023_10k, page 64") == 1
    assert lines.count("Acme Corp., 10-K, FY2023") == 1
