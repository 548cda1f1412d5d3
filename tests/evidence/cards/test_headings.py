"""A passage's heading is a title: no sentence, no fragment, no running header."""

from __future__ import annotations

import pytest

from fin_agent.evidence.cards.rule_based_abstraction import heading_of, headings_in, sources_of
from fin_agent.vocabulary.filing import Filing, Passage, PassageKind
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Page
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Table

BOX = Box(0, 0, 9, 9)


def heading(text: str = "", title: str = "", caption: str | None = None) -> str:
    kind = PassageKind.TEXT if caption is None else PassageKind.TABLE
    tables = () if caption is None else (Table(0, BOX, caption, "", (), ()),)
    filing = Filing(
        "acme", "acme.pdf", "0" * 64, Identity("Acme Tools, Inc.", Form.TEN_K, 2022),
        (Page(0, text, "7", title=title),), (Passage(0, 0, kind, text, BOX),), (), tables,
    )  # fmt: skip
    return heading_of(next(sources_of(filing)))


@pytest.mark.parametrize(
    ("caption", "title"),
    [
        ("Historical results are no guide. Segment Operating Profit:", "Segment Operating Profit"),
        ("Net sales by region were as follows (in millions):", "Net sales by region were as follows (in millions)"),
        ("See Item 7 of “Results of Operations.” Consolidated Operating Expenses (dollars in millions)",
         "Consolidated Operating Expenses (dollars in millions)"),
        ("Table of Contents Contractual Obligations", "Contractual Obligations"),
        ("(dollars in millions)", ""),
        ("Acme expects to spend seventy million on share repurchases in the coming years", ""),
    ],
)  # fmt: skip
def test_a_table_is_headed_by_the_last_title_of_its_caption_or_the_sentence_that_leads_to_it(
    caption: str, title: str
) -> None:
    assert heading(caption=caption) == title


@pytest.mark.parametrize(
    "line",
    [
        "Table of Contents",
        "Acme Tools, Inc. and Subsidiaries",
        "which we expect to continue, and",
        "Acme 2022 Annual Report on Form 10-K",
        "At the Company’s (the",
        "12,345 67,890",
        "Growth of 4.5%",
        "UNITED STATES",
    ],
)
def test_running_headers_sentences_and_fragments_are_no_headings(line: str) -> None:
    assert heading(f"{line}\nLiquidity and Capital Resources\nCash fell.") == "Liquidity and Capital Resources"


def test_a_page_s_title_stands_in_where_the_text_has_no_heading() -> None:
    assert (
        heading("cash fell in the year.", title="Liquidity and Capital Resources") == "Liquidity and Capital Resources"
    )
    assert heading("cash fell in the year.", title="cash fell in the year.") == ""


def test_at_most_three_headings_are_found_in_a_text() -> None:
    text = "\n".join(f"{name} Results\nThe text below it.\n" for name in ("Garden", "Power", "Kitchen", "Marine"))
    filing = Filing("a", "a.pdf", "0" * 64, Identity("Acme", Form.TEN_K, 2022), (Page(0, text),),
                    (Passage(0, 0, PassageKind.TEXT, text),), ())  # fmt: skip
    assert list(headings_in(next(sources_of(filing)))) == ["Garden Results", "Power Results", "Kitchen Results"]
