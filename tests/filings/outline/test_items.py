"""Which Item each page belongs to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fin_agent.filings.filing import Form, PageContent
from fin_agent.filings.outline.items import COVER, items_of
from fin_agent.filings.readers.mupdf import read_pdf

EXPECTED: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "examples" / "filings" / "expected.json").read_text(encoding="utf-8")
)
BODY = "\nWe describe it here at some length, as the form asks. " * 4


def items(form: Form, *texts: str, statements: tuple[int, ...] = ()) -> list[str | None]:
    pages = [PageContent(number, 612, 792, text, ()) for number, text in enumerate(texts)]
    return items_of(pages, form, statements)


@pytest.mark.parametrize("filing", EXPECTED, ids=lambda filing: filing["doc_id"])
def test_sample_filings(sample_filings: Path, filing: dict[str, Any]) -> None:
    """A page on which one Item begins at the top, or that lies between two, belongs to it."""
    pages = read_pdf(sample_filings / f"{filing['doc_id']}.pdf")
    found = items_of(pages, Form(filing["form"]), tuple(filing["statements"].values()))
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


def test_items_of_a_current_report_have_two_decimals() -> None:
    text = "Item 5.07 Submission of Matters to a Vote" + BODY + "\nItem 9.01. Exhibits"
    assert items(Form.EIGHT_K, text, "exhibit") == ["5.07", "9.01"]


def test_statements_behind_the_exhibits_are_item_8() -> None:
    pages = ("Item 8. Financial Statements\nSee page F-1.", "Item 15. Exhibits" + BODY, "BALANCE SHEET", "Note 1")
    assert items(Form.TEN_K, *pages, statements=(2,)) == ["8", "15", "8", "8"]


def test_other_documents_have_none() -> None:
    assert items(Form.EARNINGS, "Item 1. Business" + BODY) == [None]
