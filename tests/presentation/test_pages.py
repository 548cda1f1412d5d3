"""Pages and statements as they read."""

from __future__ import annotations

from fin_agent.filings.outline.statements import StatementPart
from fin_agent.presentation.pages import joined, laid_out, page_view, statement_view
from fin_agent.vocabulary.page import Page, Statement
from fin_agent.vocabulary.table import Table
from tests.presentation.figures import record, row, shown, table

SALES = table(
    ["2023", "2022"],
    [row("Products", "66,613", "61,564"), row("Services", "27,423", "24,213"), row("Total", "94,036", "85,777")],
    caption="Sales by kind",
)
TEXT = """ACME CORP.
Sales by kind
2023
2022
Products
66,613
61,564
Services
27,423
24,213
Total
94,036
85,777
Sales rose in all markets.
17
"""


def places(text: str, *tables: Table) -> list[str]:
    return [f"table of {len(part.rows)}" if isinstance(part, Table) else part for part in laid_out(text, tables)]


def test_a_table_takes_the_place_of_its_lines() -> None:
    assert places(TEXT, SALES) == ["ACME CORP.", "Sales by kind", "table of 3", "Sales rose in all markets.", "17"]


def test_rows_that_hold_their_cells_on_one_line() -> None:
    text = "Sales by kind\n2023  2022\nProducts  66,613  61,564\nServices  27,423  24,213\nTotal  94,036  85,777\nEnd."
    assert places(text, SALES) == ["Sales by kind", "table of 3", "End."]


def test_tables_with_the_same_rows_are_told_apart_by_their_captions() -> None:
    other = table(["2023", "2022"], [*SALES.rows, row("Licences", "9", "8")], caption="Sales by market")
    second = TEXT.replace("ACME CORP.\nSales by kind", "Sales by market").replace("Total", "Licences\n9\n8\nTotal")
    assert places(TEXT.replace("17\n", "") + second, SALES, other) == [
        "ACME CORP.",
        "Sales by kind",
        "table of 3",
        "Sales rose in all markets.",
        "Sales by market",
        "table of 4",
        "Sales rose in all markets.",
        "17",
    ]


def test_a_table_that_is_not_in_the_text_comes_last() -> None:
    assert places("Nothing of it here.\nAt all.", SALES) == ["Nothing of it here.", "At all.", "", "table of 3"]


def test_running_text_is_wrapped_anew_where_it_is_too_wide() -> None:
    full = "This sentence is long enough to fill the line of a page as it was printed by the"
    text = f"A heading\n{full}\n{full}\ncompany.\nShort line"
    wide = shown(page_view(record(), Page(4, text), []), width=120)
    assert wide[2:] == ["A heading", full, full, "company.", "Short line"]
    narrow = shown(page_view(record(), Page(4, text), []), width=50)
    assert narrow[2] == "A heading" and narrow[-1] == "Short line"
    assert " ".join(narrow[3:-1]) == f"{full} {full} company."
    assert len(narrow) == 2 + 6


def test_head_says_where_the_page_stands() -> None:
    page = Page(4, "x", item="8", statement=Statement.INCOME, further_statements=(Statement.COMPREHENSIVE_INCOME,))
    head = shown(page_view(record(pages=9), page, []))[0]
    assert head == "acme_2023_10k, page 5 of 9: Item 8, income, comprehensive-income"


def test_a_row_without_figures_is_not_lost() -> None:
    text = TEXT.replace("Total", "Commitments and contingencies (Note 16)\nTotal")
    assert places(text, SALES)[2:4] == ["table of 3", "Commitments and contingencies (Note 16)"]


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
