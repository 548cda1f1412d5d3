"""What pages of tables show that are no primary statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from fin_agent.filings.outline.table_page_classification import kinds_of
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import Note, PageContent, TableKind
from tests.filings.outline.layouts import Row, html_page, pdf_page, prose, table

LAYOUTS = pytest.mark.parametrize("layout", [html_page, pdf_page])
Layout = Callable[[int, Sequence[Row]], PageContent]
ROWS = table("Net sales", "Cost of sales", "Operating income", "Interest", "Taxes", "Net income", "Dividends", "Cash")


def kind(
    layout: Layout, head: str, item: str | None = None, form: Form = Form.TEN_K, rows: Sequence[Row] = ROWS
) -> TableKind | None:
    return kinds_of([layout(0, ["EXAMPLE CORP.", head, *rows])], form, (), [item]).get(0)


@LAYOUTS
@pytest.mark.parametrize(
    ("head", "item", "form", "expected"),
    [
        ("Consolidated Balance Sheets (Parenthetical)", "8", Form.TEN_K, TableKind.PARENTHETICAL),
        ("CONSOLIDATED STATEMENTS OF CASH FLOWS\n(PARENTHETICAL)", "8", Form.TEN_K, TableKind.PARENTHETICAL),
        ("SCHEDULE I - CONDENSED FINANCIAL INFORMATION OF REGISTRANT", "15", Form.TEN_K, TableKind.PARENT_ONLY),
        ("Condensed Balance Sheets (Parent Company Only)", "8", Form.TEN_K, TableKind.PARENT_ONLY),
        ("Item 6. Selected Financial Data", "6", Form.TEN_K, TableKind.SELECTED_DATA),
        ("Five-Year Summary", "7", Form.TEN_K, TableKind.SELECTED_DATA),
        ("Financial Highlights", None, Form.EARNINGS, TableKind.SELECTED_DATA),
        ("Segment Information", None, Form.EARNINGS, TableKind.SEGMENT),
        ("Gross margin", "7", Form.TEN_K, TableKind.MDNA),
        ("Gross margin", "2", Form.TEN_Q, TableKind.MDNA),
        ("Properties", "2", Form.TEN_K, TableKind.OTHER),
        ("Gross margin", None, Form.EARNINGS, TableKind.OTHER),
        ("See the selected financial data included in this report", "8", Form.TEN_K, TableKind.OTHER),
    ],
)
def test_headings_and_items(layout: Layout, head: str, item: str | None, form: Form, expected: TableKind) -> None:
    assert kind(layout, head, item, form) is expected


@LAYOUTS
def test_pages_of_prose_have_no_kind(layout: Layout) -> None:
    assert kind(layout, "Segment Information", "7", rows=[*prose(30), *ROWS]) is None
    assert kind(layout, "Our balance sheets (parenthetical remarks aside)", "7", rows=prose()) is None


@LAYOUTS
def test_primary_statements_have_no_kind(layout: Layout) -> None:
    pages = [
        layout(0, ["Consolidated Balance Sheets (Parenthetical)", *ROWS]),
        layout(1, ["Consolidated Balance Sheets", *ROWS]),
    ]
    assert kinds_of(pages, Form.TEN_K, {1}, ["8", "8"]) == {0: TableKind.PARENTHETICAL}


@LAYOUTS
def test_notes_tell_the_kind_of_their_tables(layout: Layout) -> None:
    notes = [
        *(Note("1", "Business Segment and Geographic Data", 0, 1), Note("2", "Debt", 2, 2)),
        Note("3", "PARENT COMPANY", 3, 3),
    ]
    pages = [layout(number, ["Notes, continued", *ROWS]) for number in range(4)]
    of_page = {0: "1", 1: "1", 2: "2", 3: "3"}
    found = kinds_of(pages, Form.TEN_K, (), ["8"] * 4, notes, of_page)
    assert list(found.values()) == [TableKind.SEGMENT, TableKind.SEGMENT, TableKind.OTHER, TableKind.PARENT_ONLY]


@LAYOUTS
def test_a_schedule_of_the_parent_goes_on_until_another_begins(layout: Layout) -> None:
    heads = (
        "Schedule I - Parent Company Only",
        "Condensed Statements of Cash Flows",
        "Schedule II - Valuation",
        "Table",
    )
    pages = [layout(number, [head, *ROWS]) for number, head in enumerate(heads)]
    found = kinds_of(pages, Form.TEN_K, (), ["15"] * 4)
    assert list(found.values()) == [TableKind.PARENT_ONLY] * 2 + [TableKind.OTHER] * 2


@LAYOUTS
def test_rows_that_name_the_parent_are_no_heading(layout: Layout) -> None:
    rows = [("Net income attributable to parent company", "$ 1,234", "$ 1,111"), *ROWS]
    assert kind(layout, "Results", "7", rows=rows) is TableKind.MDNA
