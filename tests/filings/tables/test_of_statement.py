"""Which tables of a page belong to a statement."""

from __future__ import annotations

from fin_agent.filings.outline.statements import caption_lines, parts_of_statement
from fin_agent.lexicon.statement_titles import built_in_statement_titles
from fin_agent.vocabulary.page import Page, Statement
from fin_agent.vocabulary.table import Table
from tests.presentation.figures import row, table

INCOME, COMPREHENSIVE = "CONSOLIDATED STATEMENTS OF INCOME", "CONSOLIDATED STATEMENTS OF COMPREHENSIVE INCOME"


def parts(statement: Statement, pages: list[Page], tables: list[Table]) -> list[tuple[str, str]]:
    found = parts_of_statement(statement, pages, tables, built_in_statement_titles())
    return [(part.table.rows[0].label, part.title) for part in found]


def test_a_second_statement_on_a_page_has_its_own_tables() -> None:
    page = Page(8, f"Acme\n{INCOME}\nNet sales 5\nAcme\n{COMPREHENSIVE}\nTranslation 1", statement=Statement.INCOME)
    tables = [
        table(["2023"], [row("Net sales", "5")], page=8, caption=f"Acme {INCOME}"),
        table(["2023"], [row("Basic", "1.10")], page=8, caption="Per share"),
        table(["2023"], [row("Translation", "1")], page=8, caption=f"Acme {COMPREHENSIVE}"),
    ]
    assert parts(Statement.INCOME, [page], tables) == [("Net sales", INCOME), ("Basic", "")]
    assert parts(Statement.COMPREHENSIVE_INCOME, [page], tables) == [("Translation", COMPREHENSIVE)]
    assert parts(Statement.BALANCE_SHEET, [page], tables) == []


def test_a_page_without_title_goes_on_with_its_statement() -> None:
    pages = [Page(number, "Payables 3", statement=Statement.BALANCE_SHEET) for number in (4, 5)]
    tables = [table(["2023"], [row(f"Row {number}", "3")], page=number) for number in (4, 5)]
    assert parts(Statement.BALANCE_SHEET, pages, tables) == [("Row 4", ""), ("Row 5", "")]


def test_caption_in_the_lines_it_was_printed_in() -> None:
    text = "PART II\nItem 8\nINCOME STATEMENTS\n(In millions)\nRevenue"
    assert caption_lines("PART II Item 8 INCOME STATEMENTS", text) == ["PART II", "Item 8", "INCOME STATEMENTS"]
    assert caption_lines("cut off Item 8 and more", text) == ["cut off", "Item 8", "and more"]
    assert caption_lines("", text) == []
