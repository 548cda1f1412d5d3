"""Which pages carry the primary statements, as PDF and HTML readers give them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from fin_agent.filings.outline.statements import locate_statements, statement_titled
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.vocabulary.page import PageContent, Statement
from tests.filings.outline.layouts import Row, html_page, pdf_page, prose, table
from tests.filings.typeset import Page

EDGES = [440.0, 540.0]


def statements_of(pages: Sequence[PageContent]) -> dict[int, Statement]:
    """The first statement of each page."""
    return {page: statements[0] for page, statements in locate_statements(pages).registrant.items()}


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


def prose_page(number: int, *first: str) -> PageContent:
    drawn = Page(number)
    for line in first:
        drawn.text(line)
    for _ in range(30):
        drawn.text("Our net sales and net income rose while total assets fell, as the statements of income show.")
    return drawn.done()


def filing() -> list[PageContent]:
    return [
        prose_page(0, "Example Corp."),
        page(1, "Consolidated Statements of Income Data", INCOME + PER_SHARE),
        prose_page(2, "Item 7"),
        page(3, "CONSOLIDATED STATEMENTS OF INCOME", INCOME + PER_SHARE),
        page(4, "CONSOLIDATED BALANCE SHEETS", BALANCE + EQUITY_ROWS),
        page(5, "CONSOLIDATED STATEMENTS OF CASH FLOWS", CASH),
        prose_page(6, "Notes to Consolidated Financial Statements", "Consolidated Balance Sheets"),
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
    pages.insert(2, prose_page(2))
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


LAYOUTS = pytest.mark.parametrize("layout", [html_page, pdf_page])
Layout = Callable[[int, Sequence[Row]], PageContent]
BANK_INCOME = (
    "Total interest income",
    "Interest expense on deposits",
    "Net interest income",
    "Provision for credit losses",
    "Noninterest expense",
    "Income before income taxes",
    "Net income",
    "Diluted",
)
BANK_BALANCE = (
    "Cash and due from banks",
    "Investment securities",
    "Loans, net of allowance",
    "Total assets",
    "Deposits",
    "Total liabilities",
    "Retained earnings",
    "Total shareholders' equity",
)
COMPREHENSIVE = (
    "Net income",
    "Foreign currency translation",
    "Unrealized gain on securities, net of tax",
    "Other comprehensive income",
    "Comprehensive income",
)


def shown(*pages: PageContent) -> dict[int, tuple[Statement, ...]]:
    return locate_statements(pages).registrant


@LAYOUTS
@pytest.mark.parametrize(
    ("income", "balance", "cash"),
    [
        ("Consolidated Statements of Income", "Consolidated Statements of Condition", "Statements of Cash Flows"),
        ("Statement of Consolidated Earnings", "Statement of Financial Position", "Cash Flow Statement"),
        ("Consolidated Earnings Statements", "Statements of Financial Condition", "Consolidated Cash Flows Statements"),
        ("Consolidated Results of Operations", "Consolidated Financial Position", "Consolidated Cash Flow"),
        (
            "S T A T E M E N T S  O F  I N C O M E",
            "B A L A N C E  S H E E T S",
            "S T A T E M E N T S  O F  C A S H  F L O W S",
        ),
    ],
)
def test_titles_and_rows_of_many_kinds_of_filers(layout: Layout, income: str, balance: str, cash: str) -> None:
    found = shown(
        layout(0, prose()),
        layout(1, ["EXAMPLE BANCORP", income, "(in millions)", *table(*BANK_INCOME)]),
        layout(2, ["EXAMPLE BANCORP", balance, *table(*BANK_BALANCE)]),
        layout(3, ["EXAMPLE BANCORP", cash, *table(*CASH)]),
        layout(4, ["NOTES TO CONSOLIDATED FINANCIAL STATEMENTS", *prose()]),
    )
    assert found == {1: (Statement.INCOME,), 2: (Statement.BALANCE_SHEET,), 3: (Statement.CASH_FLOW,)}


@LAYOUTS
def test_a_page_may_carry_two_statements(layout: Layout) -> None:
    found = shown(
        layout(
            0,
            [
                *("Consolidated Statements of Income", *table(*INCOME, *PER_SHARE)),
                *("Consolidated Statements of Comprehensive Income", *table(*COMPREHENSIVE)),
            ],
        ),
        layout(1, ["Consolidated Balance Sheets", *table(*BALANCE, *EQUITY_ROWS)]),
    )
    assert found == {0: (Statement.INCOME, Statement.COMPREHENSIVE_INCOME), 1: (Statement.BALANCE_SHEET,)}


@LAYOUTS
def test_one_title_may_name_two_statements(layout: Layout) -> None:
    title = "Consolidated Statements of Operations and Comprehensive Loss"
    found = shown(layout(0, [title, *table(*INCOME, *PER_SHARE, *COMPREHENSIVE)]))
    assert found == {0: (Statement.INCOME, Statement.COMPREHENSIVE_INCOME)}


@LAYOUTS
@pytest.mark.parametrize(
    "title", ["Consolidated Balance Sheets (Parenthetical)", "Consolidated Balance Sheets\n(PARENTHETICAL)"]
)
def test_a_parenthetical_page_is_no_statement_even_with_its_rows(layout: Layout, title: str) -> None:
    found = shown(
        layout(0, ["Consolidated Balance Sheets", *table(*BALANCE, *EQUITY_ROWS)]),
        layout(
            1, [title, *table("Cash", "Accounts receivable", "Accounts payable", "Paid-in capital", "Total equity")]
        ),
    )
    assert list(found) == [0]


@LAYOUTS
def test_a_parenthetical_table_below_leaves_the_page_primary(layout: Layout) -> None:
    below = [
        "Consolidated Balance Sheets (Parenthetical)",
        *table("Preferred stock, par value", "Common stock, shares"),
    ]
    found = shown(layout(0, ["Consolidated Balance Sheets", *table(*BALANCE, *EQUITY_ROWS), *below]))
    assert found == {0: (Statement.BALANCE_SHEET,)}


@LAYOUTS
def test_a_list_of_the_statements_is_none_of_them(layout: Layout) -> None:
    titles = (
        "Statements of Income",
        "Statements of Comprehensive Income",
        "Balance Sheets",
        "Statements of Cash Flows",
    )
    notes = (
        "Goodwill",
        "Property",
        "Inventories",
        "Accounts Payable",
        "Cash",
        "Retained Earnings",
        "Total Assets",
        "Debt",
    )
    listed: list[Row] = [(f"Consolidated {title}", str(62 + place)) for place, title in enumerate(titles)]
    listed += [(title, str(70 + place)) for place, title in enumerate(notes)]
    pages = [
        layout(0, ["Item 8. Financial Statements", *listed]),
        layout(1, ["Consolidated Balance Sheets", *table(*BALANCE, *EQUITY_ROWS)]),
    ]
    assert list(shown(*pages)) == [1]


@LAYOUTS
def test_a_statement_set_apart_by_commentary_is_still_found(layout: Layout) -> None:
    pages = [
        layout(0, ["Consolidated Statements of Income", *table(*INCOME, *PER_SHARE)]),
        layout(1, ["Consolidated Balance Sheets", *table(*BALANCE, *EQUITY_ROWS)]),
        *(layout(number, prose()) for number in range(2, 8)),
        layout(8, ["Consolidated Statements of Cash Flows", *table(*CASH)]),
    ]
    assert shown(*pages)[8] == (Statement.CASH_FLOW,)


@LAYOUTS
def test_an_informal_heading_in_the_discussion_is_no_statement(layout: Layout) -> None:
    pages = [
        layout(0, ["Consolidated Results of Operations", *table(*INCOME, *PER_SHARE)]),
        layout(1, prose()),
        layout(2, ["Consolidated Statements of Income", *table(*INCOME, *PER_SHARE)]),
        layout(3, ["Consolidated Balance Sheets", *table(*BALANCE, *EQUITY_ROWS)]),
    ]
    assert list(shown(*pages)) == [2, 3]


@pytest.mark.parametrize(
    ("title", "statement"),
    [
        ("Consolidated Statements of Cash Flows - (Continued)", Statement.CASH_FLOW),
        ("Statements of Consolidated Changes in Equity", Statement.EQUITY),
        ("Statements of Convertible Preferred Stock and Stockholders’ Deficit", Statement.EQUITY),
        ("Statements of Changes in Redeemable Noncontrolling Interests and Equity (Deficit)", Statement.EQUITY),
        ("Consolidated Statement of Profit or Loss and Other Comprehensive Income", Statement.COMPREHENSIVE_INCOME),
        ("C ONSOLIDATED B ALANCE S HEETS", Statement.BALANCE_SHEET),
        ("Data Works, Inc. Consolidated Balance Sheets", Statement.BALANCE_SHEET),
        ("Consolidated Average Balance Sheets", None),
        ("Off-Balance Sheet Arrangements", None),
        ("Balance Sheet Data", None),
        ("Condensed Statements of Income of the Parent Company", None),
        ("Consolidated Results of Operations", None),
    ],
)
def test_more_titles(title: str, statement: Statement | None) -> None:
    assert statement_titled(title) is statement
    if title != "Consolidated Results of Operations":
        assert load_lexicon().statement_of_title(title) is statement


def half(number: int, entity: str, rows: tuple[str, ...]) -> PageContent:
    return page(number, "CONSOLIDATED BALANCE SHEETS", rows, above=entity)


def set_of(first: int, entity: str) -> list[PageContent]:
    """A set of statements whose balance sheet runs over two facing pages, neither of which shows many rows."""
    return [
        page(first, "CONSOLIDATED STATEMENTS OF INCOME", INCOME + PER_SHARE, above=entity),
        half(first + 1, entity, ("Cash", "Plant", "Inventories", "TOTAL ASSETS") * 3),
        half(first + 2, entity, ("Accounts payable", "Reinvested earnings", "Total liabilities and equity") * 4),
        page(first + 3, "CONSOLIDATED STATEMENTS OF CASH FLOWS", CASH, above=entity),
    ]


def test_a_balance_sheet_over_facing_pages_and_a_second_registrant() -> None:
    located = locate_statements([prose_page(0), *set_of(1, "Example Corporation"), *set_of(5, "Example Gas Company")])
    kinds = (Statement.INCOME, Statement.BALANCE_SHEET, Statement.BALANCE_SHEET, Statement.CASH_FLOW)
    assert [located.registrant[number] for number in (1, 2, 3, 4)] == [(kind,) for kind in kinds]
    assert [located.others[number] for number in (5, 6, 7, 8)] == [(kind,) for kind in kinds]
    assert set(located.entities.values()) == {"Example Gas Company"}


def test_a_running_head_says_nothing_of_its_page() -> None:
    pages = [page(at, "", INCOME, above="Index to Financial Statements") for at in range(12)]
    pages += [
        page(at + 12, title, rows, above="Index to Financial Statements")
        for at, (title, rows) in enumerate((("Consolidated Balance Sheets", BALANCE + EQUITY_ROWS), ("", CASH)))
    ]
    assert statements_of(pages)[12] is Statement.BALANCE_SHEET


def test_a_blank_page_parts_no_statement() -> None:
    pages = filing()[:5]
    pages.append(page(5, "Consolidated Statements of Cash Flows", CASH))
    pages.append(Page(6).text("77").done())
    pages.append(page(7, "", (*CASH[-3:], "Net decrease in cash") * 2, above=""))
    pages[7] = page(7, "", ("Net decrease in cash", "Cash at beginning of year", "Cash at end of year"), above="")
    assert statements_of(pages)[7] is Statement.CASH_FLOW


@LAYOUTS
def test_a_wide_table_is_found_behind_its_title(layout: Layout) -> None:
    found = shown(
        layout(0, ["Consolidated Statements of Income", *table(*INCOME, *PER_SHARE)]),
        layout(1, ["EXAMPLE CORP.", "CONSOLIDATED BALANCE SHEETS", "(in millions)"]),
        layout(2, table(*BALANCE, *EQUITY_ROWS)),
    )
    assert found == {0: (Statement.INCOME,), 2: (Statement.BALANCE_SHEET,)}
