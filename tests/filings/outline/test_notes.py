"""Notes to the financial statements: titles, pages, and the note of each page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from fin_agent.filings.outline.notes import notes_of
from fin_agent.vocabulary.page import PageContent
from tests.filings.outline.layouts import PROSE, Row, html_page, pdf_page, prose, table

LAYOUTS = pytest.mark.parametrize("layout", [html_page, pdf_page])
Layout = Callable[[int, Sequence[Row]], PageContent]
TITLES = ("Summary of Significant Accounting Policies", "Revenue", "Goodwill", "Income Taxes", "Segment Information")


def filing(layout: Layout, heads: Sequence[str]) -> list[PageContent]:
    """A page of statements, then a page for each heading."""
    return [
        layout(0, ["Consolidated Balance Sheets", *table("Cash", "Debt (Note 5)", "Goodwill")]),
        *(layout(number, [head, *prose(10)]) for number, head in enumerate(heads, 1)),
    ]


@LAYOUTS
@pytest.mark.parametrize(
    "form",
    [
        "Note {n} – {title}",
        "NOTE {n}: {title}",
        "Note {n}. {title}",
        "Note {n}  {title}",
        "{n}. {title}",
        "{n}) {title}",
        "({n}) {title}",
        "{n}.\n{title}",
        "NOTE {n}\n{title}",
        "{letter}. {title}",
        "NOTE {letter} — {title}",
        "{n} {title}",
    ],
)
def test_numberings(layout: Layout, form: str) -> None:
    heads = [form.format(n=n, letter="ABCDE"[n - 1], title=title) for n, title in enumerate(TITLES, 1)]
    notes, of_page = notes_of(filing(layout, heads), {0})
    assert [note.title for note in notes] == list(TITLES)
    assert [(note.first_page, note.last_page) for note in notes] == [(n, n) for n in range(1, 6)]
    assert of_page == {page: note.number for page, note in enumerate(notes, 1)}


@LAYOUTS
def test_running_headers_begin_no_note(layout: Layout) -> None:
    heads = ["Note 1 – Revenue", "Note 1 – Revenue (continued)", "Note 2 – Debt", "NOTES (continued)\nNote 2 – Debt"]
    notes, of_page = notes_of(filing(layout, heads), {0})
    assert [(note.title, note.first_page, note.last_page) for note in notes] == [("Revenue", 1, 2), ("Debt", 3, 4)]
    assert of_page == {1: "1", 2: "1", 3: "2", 4: "2"}


@LAYOUTS
def test_sentences_that_cite_a_note_are_no_headings(layout: Layout) -> None:
    pages = filing(layout, [f"Note {n} – {title}" for n, title in enumerate(TITLES, 1)])
    pages[2] = layout(
        2,
        [
            *("Note 2 – Revenue", PROSE, "For the impairment that we took in the year, see", "Note 3 – Goodwill"),
            *(PROSE, "Note 4, Income Taxes, tells of the rate", "Note 5 (Segments)", PROSE, PROSE),
        ],
    )
    notes, _ = notes_of(pages, {0})
    assert [note.first_page for note in notes] == [1, 2, 3, 4, 5]


@LAYOUTS
def test_a_list_of_notes_is_not_the_notes(layout: Layout) -> None:
    pages = filing(layout, [f"Note {n} – {title}" for n, title in enumerate(TITLES, 1)])
    pages.insert(1, layout(1, [(f"Note {n}  {title}", str(60 + n)) for n, title in enumerate(TITLES, 1)]))
    pages = [PageContent(place, 612, 792, page.text, page.words) for place, page in enumerate(pages)]
    notes, _ = notes_of(pages, {0})
    assert [note.first_page for note in notes] == [2, 3, 4, 5, 6]


@LAYOUTS
def test_numbered_lists_and_footnotes_inside_a_note_are_no_notes(layout: Layout) -> None:
    pages = filing(layout, [f"{n}. {title}" for n, title in enumerate(TITLES, 1)])
    steps: list[Row] = [
        "1. We identify the contract",
        "2. We find the price that is due",
        "3. We spread the price over it",
    ]
    pages[1] = layout(
        1, ["1. Summary of Significant Accounting Policies", PROSE, *steps, "(1) Includes leases", *prose(5)]
    )
    notes, _ = notes_of(pages, {0})
    assert [(note.number, note.title) for note in notes] == [(str(n), title) for n, title in enumerate(TITLES, 1)]


@LAYOUTS
def test_a_page_belongs_to_the_note_with_most_text(layout: Layout) -> None:
    pages = filing(layout, ["Note 1 – Revenue", "Note 2 – Debt"])
    pages.append(layout(3, [*prose(4), "Note 3 – Leases", PROSE, "Note 4 – Income Taxes", *prose(10)]))
    notes, of_page = notes_of(pages, {0})
    assert [note.number for note in notes] == ["1", "2", "3", "4"]
    assert of_page[3] == "4"
    assert notes[1].last_page == 3


@LAYOUTS
def test_notes_end_with_their_item(layout: Layout) -> None:
    pages = filing(layout, ["Note 1 – Revenue", "Note 2 – Debt"])
    pages.append(layout(3, [*prose(4), "Note 3 – Leases", *prose(3), "Item 9A. Controls", *prose(20)]))
    pages.append(layout(4, ["Note 4 – Exhibits", *prose(5)]))
    notes, of_page = notes_of(pages, {0}, ["8", "8", "8", "9A", "15"])
    assert [(note.number, note.last_page) for note in notes] == [("1", 1), ("2", 3), ("3", 3)]
    assert of_page == {1: "1", 2: "2"}


def test_exhibits_behind_the_notes_are_none() -> None:
    pages = filing(html_page, ["1. Revenue", "2. Debt", "3. Leases"])
    pages += [html_page(4, ["Exhibit 10.1", *prose()]), html_page(5, ["4. Representations", *prose()])]
    notes, of_page = notes_of(pages, {0})
    assert [note.number for note in notes] == ["1", "2", "3"]
    assert max(of_page) == 3


def test_without_statements_or_headings_there_are_none() -> None:
    pages = filing(html_page, ["Note 1 – Revenue", "Note 2 – Debt"])
    assert notes_of(pages, ()) == ((), {})
    assert notes_of(filing(html_page, ["Overview", "Outlook"]), {0}) == ((), {})


def test_a_title_broken_over_two_lines_is_joined() -> None:
    heads = [
        "Note 1 – Description of Business and Summary of\nSignificant Accounting Policies",
        "Note 2 – Loss (Income)",
    ]
    notes, _ = notes_of(filing(html_page, heads), {0})
    assert notes[0].title == "Description of Business and Summary of Significant Accounting Policies"
    assert notes[1].title == "Loss (Income)"
