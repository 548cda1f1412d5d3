"""Pages and statements as they read."""

from __future__ import annotations

from fin_agent.filings.outline.statements import StatementPart
from fin_agent.presentation.pages import join_tables, page_view, statement_view
from fin_agent.vocabulary.page import Page, Statement
from tests.presentation.figures import record, row, shown, table


def test_a_row_of_a_table_stands_on_a_line() -> None:
    text = "Sales by kind\n2023\n2022\nProducts\n66,613\n61,564\n\n\n\nSales rose in all markets.\n17\n"
    lines = shown(page_view(record(), Page(4, text)))
    assert lines[2:] == ["Sales by kind 2023 2022", "Products 66,613 61,564", "", "Sales rose in all markets. 17"]


def test_running_text_is_wrapped_where_it_is_too_wide() -> None:
    full = "This sentence is long enough to fill the line of a page as it was printed by the"
    narrow = shown(page_view(record(), Page(4, f"A heading\n{full}\ncompany.")), width=50)
    assert narrow[2] == "A heading" and " ".join(narrow[3:]) == f"{full} company."


def test_head_says_where_the_page_stands() -> None:
    page = Page(4, "x", item="8", statement=Statement.INCOME, further_statements=(Statement.COMPREHENSIVE_INCOME,))
    head = shown(page_view(record(pages=9), page))[0]
    assert head == "acme_2023_10k, page 5 of 9: Item 8, income, comprehensive-income"


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
    assert lines[-1] == "acme_2023_10k, pages 63-64"


def test_tables_under_other_columns_stay_apart() -> None:
    other = table(["Shares", "Amount"], [row("Balance", "1", "2")], page=63)
    parts = [StatementPart(FIRST, TITLE), StatementPart(other, "")]
    assert [set(run.pages) for run in join_tables(parts)] == [{62}, {63}]
    lines = shown(statement_view(record(), parts))
    assert lines.count("acme_2023_10k, page 63") == lines.count("acme_2023_10k, page 64") == 1
    assert lines.count("Acme Corp., 10-K, FY2023") == 1
