"""Which Item each page belongs to."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fin_agent.filings.outline.items import COVER, item_starts, items_of
from fin_agent.filings.readers.protocol import pdf_reader
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import PageContent
from tests.filings.outline.layouts import Row, html_page, pdf_page, prose

EXPECTED: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "examples" / "filings" / "expected.json").read_text(encoding="utf-8")
)
LAYOUTS = pytest.mark.parametrize("layout", [html_page, pdf_page])
Layout = Callable[[int, Sequence[Row]], PageContent]
BODY = "\nWe describe it here at some length, as the form asks. " * 4


def items(form: Form, *texts: str, statements: tuple[int, ...] = ()) -> list[str | None]:
    pages = [PageContent(number, 612, 792, text, ()) for number, text in enumerate(texts)]
    return items_of(pages, form, item_starts(pages, form), statements)


@pytest.mark.parametrize("filing", EXPECTED, ids=lambda filing: filing["doc_id"])
def test_sample_filings(sample_filings: Path, filing: dict[str, Any]) -> None:
    """A page on which one Item begins at the top, or that lies between two, belongs to it."""
    pages = pdf_reader("mupdf").read_pdf(sample_filings / f"{filing['doc_id']}.pdf")
    form = Form(filing["form"])
    found = items_of(pages, form, item_starts(pages, form), tuple(filing["statements"].values()))
    starts = [(page, number) for number, _, page in filing["items"]]
    checked = 0
    for page in range(starts[0][0], len(pages)):
        begun = [number for at, number in starts if at == page]
        before = [number for at, number in starts if at < page]
        allowed = {_named(number, filing["form"]) for number in (begun + before[-1:] if begun else before[-1:])}
        assert found[page] in allowed, page
        checked += 1
    assert checked >= 1
    assert found[0] in (COVER, *(_named(number, filing["form"]) for at, number in starts if at == 0))


def _named(number: str, form: str) -> str:
    if number.startswith("PART II "):
        return f"II-{number.split(' ')[-1]}"
    return number.split(" ")[-1]


def test_pages_belong_to_the_last_item_begun() -> None:
    found = items(
        Form.TEN_K,
        "FORM 10-K",
        "Item 1. Business" + BODY,
        "More business",
        "ITEM 1A — RISK FACTORS" + BODY,
        "Item 7.\nManagement’s Discussion" + BODY,
        "Item\u00a07A. Market Risk" + BODY,
    )
    assert found == [COVER, "1", "1", "1A", "7", "7A"]


def test_page_with_several_belongs_to_the_longest() -> None:
    text = "Item 2. Properties\nNone.\nItem 3. Legal Proceedings" + BODY * 3 + "\nItem 4. Mine Safety\nNone."
    assert items(Form.TEN_K, text, "after") == ["3", "4"]


def test_table_of_contents_begins_nothing() -> None:
    contents = "\n".join(f"Item {number}. Title {number} ... {number * 3}" for number in range(1, 9))
    assert items(Form.TEN_K, contents, "Item 1. Business" + BODY) == [COVER, "1"]


@pytest.mark.parametrize(
    "line",
    [
        "Item 9 of this report says so",
        "see Item 1A. Risk Factors",
        "item 8.01 was not met",
        "Items sold in stores",
        "Item 1A, “Risk Factors”, tells of them",
        "Item 1A (“Risk Factors”)",
        "These and further risks of the business are described in\nItem 1A. Risk Factors of this report",
        "Such risks, in particular those that we have told of above,\nItem 8.\nand more",
    ],
)
def test_sentences_that_cite_an_item_begin_nothing(line: str) -> None:
    assert items(Form.TEN_K, "Item 7. MD&A" + BODY + "\n" + line + BODY, "next") == ["7", "7"]


def test_items_1_and_2_together() -> None:
    assert items(Form.TEN_K, "Items 1 and 2. Business and Properties" + BODY, "Item 1A. Risks" + BODY) == ["1", "1A"]
    assert items(Form.TEN_K, "ITEMS 1. & 2. BUSINESS AND PROPERTIES" + BODY) == ["1"]


def test_items_of_part_two_of_a_quarterly_report() -> None:
    found = items(
        Form.TEN_Q,
        "PART I\nItem 1. Financial Statements" + BODY,
        "Item 2. Management’s Discussion" + BODY,
        "PART II. OTHER INFORMATION\nItem 1. Legal Proceedings" + BODY,
        "Item 1A. Risk Factors" + BODY,
    )
    assert found == ["1", "2", "II-1", "II-1A"]


@LAYOUTS
def test_contents_of_a_quarterly_report_begin_nothing(layout: Layout) -> None:
    contents: list[Row] = ["TABLE OF CONTENTS", "PART I FINANCIAL INFORMATION"]
    contents += [("Item 1. Financial Statements", "1"), ("Consolidated Balance Sheets", "1"), ("Notes", "6")]
    contents += [
        ("Item 2. Management's Discussion and Analysis of Financial Condition and Results of", "Operations", "20")
    ]
    contents += [("Item 4. Controls and Procedures", "31"), "PART II OTHER INFORMATION", ("Item 6. Exhibits", "33")]
    pages = [
        layout(0, contents),
        layout(1, prose()),
        layout(2, ["PART I", "Item 1. Financial Statements", *prose()]),
        layout(3, ["Item 2. Management's Discussion and Analysis", *prose()]),
        layout(4, ["PART II", "Item 1A. Risk Factors", *prose()]),
    ]
    assert items_of(pages, Form.TEN_Q, item_starts(pages, Form.TEN_Q)) == [COVER, COVER, "1", "2", "II-1A"]


@LAYOUTS
def test_contents_on_two_pages_begin_nothing(layout: Layout) -> None:
    titles = (
        "Directors",
        "Executive Compensation",
        "Security Ownership",
        "Relationships",
        "Fees",
        "Exhibits",
        "Summary",
    )
    listed = [(f"ITEM {number}.", title, str(90 + number)) for number, title in enumerate(titles, 10)]
    dotted = [(f"ITEM {number}.", "Business " + ". " * 80, str(number)) for number in (1, 2, 3, 5, 7, 8)]
    pages = [layout(0, dotted), layout(1, listed[4:]), layout(2, ["ITEM 1. BUSINESS", *prose()])]
    assert items_of(pages, Form.TEN_K, item_starts(pages, Form.TEN_K)) == [COVER, COVER, "1"]


@LAYOUTS
def test_running_headers_and_headings_over_two_lines(layout: Layout) -> None:
    pages = [
        layout(0, ["PART II", "Item 7.", "Management’s Discussion and Analysis", *prose()]),
        layout(1, ["PART II", "Item 7. Management’s Discussion and Analysis (continued)", *prose()]),
        layout(2, ["PART II", "Item 7", "ITEM 7A — QUANTITATIVE AND QUALITATIVE DISCLOSURES", *prose()]),
        layout(3, ["Part II, Item 8. Financial Statements", *prose()]),
    ]
    assert items_of(pages, Form.TEN_K, item_starts(pages, Form.TEN_K)) == ["7", "7", "7A", "8"]


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("ITEM 1A RISK FACTORS", "1A"),
        ("Item 1(a): Risk Factors", "1A"),
        ("I TEM 1B | Unresolved Staff Comments", "1B"),
        ("Item\u00a01C – Cybersecurity", "1C"),
        ("ITEM 6. [RESERVED]", "6"),
        ("Item 9C; Foreign Jurisdictions", "9C"),
        ("Items 7 and 7A. Discussion and Market Risk", "7"),
    ],
)
def test_separators(line: str, number: str) -> None:
    assert items(Form.TEN_K, line + BODY) == [number]


def test_a_heading_out_of_order_is_dropped() -> None:
    found = items(
        Form.TEN_K,
        *("Item 5. Market" + BODY, "Item 7. Management’s Discussion" + BODY, "Item 3. Legal Proceedings" + BODY),
        *("Item 7A. Market Risk" + BODY, "Item 8. Financial Statements" + BODY, "Item 1. Definitions" + BODY),
    )
    assert found == ["5", "7", "7", "7A", "8", "8"]


def test_part_of_a_quarterly_report_is_told_by_title_where_no_part_is_printed() -> None:
    found = items(
        Form.TEN_Q,
        *("Item 2. Management’s Discussion and Analysis" + BODY, "Item 4. Controls and Procedures" + BODY),
        *("Item 1. Legal Proceedings" + BODY, "Item 2. Unregistered Sales of Equity Securities" + BODY),
    )
    assert found == ["2", "4", "II-1", "II-2"]


def test_statements_of_a_quarterly_report_without_heading_are_item_1() -> None:
    pages = ("FORM 10-Q", "BALANCE SHEET", "Note 1", "Item 2. Management’s Discussion" + BODY)
    assert items(Form.TEN_Q, *pages, statements=(1,)) == [COVER, "1", "1", "2"]


def test_statements_inside_the_discussion_are_item_8() -> None:
    pages = ("Item 7. MD&A" + BODY, "More", "INCOME STATEMENT", "Note 1", "Item 9A. Controls and Procedures" + BODY)
    assert items(Form.TEN_K, *pages, statements=(2,)) == ["7", "7", "8", "8", "9A"]


@LAYOUTS
def test_a_discussion_in_an_exhibit_is_item_7(layout: Layout) -> None:
    title = "Management’s Discussion and Analysis of Financial Condition and Results of Operations"
    pages = [
        layout(0, ["Item 7. Management’s Discussion and Analysis", "See Exhibit 13.", "Item 9A. Controls", *prose()]),
        layout(1, ["Item 15. Exhibits", *prose()]),
        layout(2, [title, *prose()]),
        layout(3, prose()),
    ]
    assert items_of(pages, Form.TEN_K, item_starts(pages, Form.TEN_K)) == ["9A", "15", "7", "7"]


@LAYOUTS
def test_titles_without_item_numbers(layout: Layout) -> None:
    pages = [
        layout(0, ["ANNUAL REPORT", *prose()]),
        layout(
            1,
            [("Risk Factors", "12"), ("Management’s Discussion and Analysis", "30"), ("Market Risk Report", "55")] * 2,
        ),
        layout(2, ["RISK FACTORS", *prose()]),
        layout(3, ["Our discussion tells of risk factors", *prose()]),
        layout(4, ["Management’s Discussion and Analysis", *prose()]),
        layout(5, ["Quantitative and Qualitative Disclosures", "About Market Risk", *prose()]),
    ]
    assert items_of(pages, Form.ANNUAL_REPORT, item_starts(pages, Form.ANNUAL_REPORT)) == [
        COVER,
        COVER,
        "1A",
        "1A",
        "7",
        "7A",
    ]


@LAYOUTS
def test_a_first_item_without_heading_begins_with_its_part(layout: Layout) -> None:
    pages = [
        layout(0, ["FORM 10-K", *prose()]),
        layout(
            1, ["PART I", ("Business", "3"), ("Risks", "9"), *(("A chapter of the report", "12") for _ in range(40))]
        ),
        layout(2, ["Example Corp.", "PART I", *prose()]),
        layout(3, ["Item 1A. Risk Factors", *prose()]),
        layout(4, ["PART I", *prose()]),
    ]
    assert items_of(pages, Form.TEN_K, item_starts(pages, Form.TEN_K)) == [COVER, COVER, "1", "1A", "1A"]


def test_starts_tell_of_short_items_too() -> None:
    text = "Item 1B. Unresolved Staff Comments\nNone.\nItem 2. Properties" + BODY
    pages = [PageContent(0, 612, 792, text, ())]
    assert [(start.item, start.offset) for start in item_starts(pages, Form.TEN_K)] == [("1B", 0), ("2", 41)]


def test_items_of_a_current_report_have_two_decimals() -> None:
    text = "Item 5.07 Submission of Matters to a Vote" + BODY + "\nItem 9.01. Exhibits"
    assert items(Form.EIGHT_K, text, "exhibit") == ["5.07", "9.01"]


def test_statements_behind_the_exhibits_are_item_8() -> None:
    pages = ("Item 8. Financial Statements\nSee page F-1.", "Item 15. Exhibits" + BODY, "BALANCE SHEET", "Note 1")
    assert items(Form.TEN_K, *pages, statements=(2,)) == ["8", "15", "8", "8"]


def test_other_documents_have_none() -> None:
    assert items(Form.EARNINGS, "Item 1. Business" + BODY) == [None]
