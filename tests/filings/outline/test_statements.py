from __future__ import annotations

import pytest

from fin_agent.filings.filing import PageContent, Statement
from fin_agent.filings.outline.statements import statement_titled, statements_of
from tests.filings.typeset import Page

EDGES = [440.0, 540.0]
INCOME = ("Net sales", "Cost of sales", "Operating income", "Interest expense", "Income tax expense", "Net income")
PER_SHARE = ("Earnings per share - basic", "Earnings per share - diluted")
BALANCE = ("Cash and cash equivalents", "Goodwill", "Total assets", "Accounts payable", "Total liabilities")
EQUITY_ROWS = ("Retained earnings", "Total equity")
CASH = (
    "Net income",
    "Depreciation",
    "Net cash provided by operating activities",
    "Capital expenditures",
    "Net cash used in investing activities",
    "Dividends paid",
    "Net cash used in financing activities",
    "Cash at end of year",
)


def page(number: int, title: str, rows: tuple[str, ...], above: str = "EXAMPLE CORP.") -> PageContent:
    drawn = Page(number)
    if above:
        drawn.text(above)
    if title:
        drawn.text(title)
    drawn.header([("2022", 420.0), ("2021", 520.0)], stub="Years ended December 31,")
    for row in rows:
        drawn.row(row, ["1,234", "1,111"], EDGES)
    return drawn.done()


def prose(number: int, *first: str) -> PageContent:
    drawn = Page(number)
    for line in first:
        drawn.text(line)
    for _ in range(30):
        drawn.text("Our net sales and net income rose while total assets fell, as the statements of income show.")
    return drawn.done()


def filing() -> list[PageContent]:
    return [
        prose(0, "Example Corp."),
        page(1, "Consolidated Statements of Income Data", INCOME + PER_SHARE),
        prose(2, "Item 7"),
        page(3, "CONSOLIDATED STATEMENTS OF INCOME", INCOME + PER_SHARE),
        page(4, "CONSOLIDATED BALANCE SHEETS", BALANCE + EQUITY_ROWS),
        page(5, "CONSOLIDATED STATEMENTS OF CASH FLOWS", CASH),
        prose(6, "Notes to Consolidated Financial Statements", "Consolidated Balance Sheets"),
    ]


def test_primary_statements_are_found_and_nothing_else() -> None:
    assert statements_of(filing()) == {
        3: Statement.INCOME,
        4: Statement.BALANCE_SHEET,
        5: Statement.CASH_FLOW,
    }


def test_the_set_of_statements_goes_before_a_look_alike_elsewhere() -> None:
    pages = filing()
    pages[1] = page(1, "Consolidated Statements of Income", INCOME + PER_SHARE)
    pages.insert(2, prose(2))
    pages[3:] = [
        PageContent(index, item.width, item.height, item.text, item.words) for index, item in enumerate(pages[3:], 6)
    ]
    assert 1 not in statements_of(pages)


def test_parent_only_and_consolidating_statements_are_left_out() -> None:
    pages = filing()
    pages.append(page(7, "CONDENSED CONSOLIDATING BALANCE SHEETS", BALANCE + EQUITY_ROWS))
    pages.append(page(8, "Statements of Income", INCOME + PER_SHARE, above="Parent Company Only"))
    assert not {7, 8} & set(statements_of(pages))


def test_a_page_without_title_goes_on_with_the_statement_before() -> None:
    pages = filing()[:4]
    pages.append(page(4, "CONSOLIDATED BALANCE SHEETS", ("Cash and cash equivalents", "Goodwill", *BALANCE)))
    pages.append(page(5, "", ("Accounts payable", *BALANCE, *EQUITY_ROWS, "Common stock"), above=""))
    found = statements_of(pages)
    assert found[4] is found[5] is Statement.BALANCE_SHEET


def test_a_page_marked_continued_is_kept() -> None:
    pages = filing()[:5]
    pages.append(page(5, "Consolidated Statement of Cash Flows", CASH))
    pages.append(page(6, "Consolidated Statement of Cash Flows (continued)", CASH))
    assert statements_of(pages)[6] is Statement.CASH_FLOW


def test_a_title_wrapped_over_two_lines_is_read() -> None:
    pages = filing()
    drawn = Page(6).text("CONSOLIDATED STATEMENTS OF SHAREHOLDERS'").text("EQUITY")
    for row in (
        "Balance at May 31, 2021",
        "Net income",
        "Dividends",
        "Repurchase of stock",
        "Stock-based compensation",
    ):
        drawn.row(row, ["1,234", "1,111"], EDGES).row(row, ["1,234", "1,111"], EDGES)
    pages[6] = drawn.done()
    assert statements_of(pages)[6] is Statement.EQUITY


@pytest.mark.parametrize(
    ("title", "statement"),
    [
        ("Consolidated Statements of Income", Statement.INCOME),
        ("CONSOLIDATED STATEMENT OF EARNINGS", Statement.INCOME),
        ("Condensed Consolidated Statements of Operations (Unaudited)", Statement.INCOME),
        ("INCOME STATEMENTS", Statement.INCOME),
        ("Consolidated Statem ents of Income (Loss)", Statement.INCOME),
        ("C O N S O L I D A T E D  B A L A N C E  S H E E T S", Statement.BALANCE_SHEET),
        ("Statements of Financial Condition", Statement.BALANCE_SHEET),
        ("Consolidated Balance Sheets Example Inc. and Subsidiaries", Statement.BALANCE_SHEET),
        ("Example Inc. Consolidated Balance Sheet", Statement.BALANCE_SHEET),
        ("CASH FLOWS STATEMENTS", Statement.CASH_FLOW),
        ("Consolidated Statements of Comprehensive Income (Loss)", Statement.COMPREHENSIVE_INCOME),
        ("Consolidated Statements of Changes in Stockholders’ Equity", Statement.EQUITY),
        ("Notes to Consolidated Balance Sheets", None),
        ("Consolidated Statements of Operations Data", None),
        ("Index to Consolidated Balance Sheets", None),
        ("Consolidated Balance Sheets (Parenthetical)", None),
        ("our consolidated balance sheets are accrued", None),
        ("The balance sheet is strong", None),
    ],
)
def test_titles(title: str, statement: Statement | None) -> None:
    assert statement_titled(title) is statement


def test_no_pages_no_statements() -> None:
    assert statements_of([]) == {}
