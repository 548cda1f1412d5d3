"""Tables in the discussion of a segment are of that segment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal

from fin_agent.filings.facts.segment_sections import with_segments_of_headings
from fin_agent.filings.tables.reading import read_tables
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import PageContent, Statement
from fin_agent.vocabulary.place import Box

from ..typeset import Page

IDENTITY = Identity("Acme", Form.TEN_K, 2022, None, date(2022, 12, 31), 12)
YEAR = FactPeriod(2022, None, 12, date(2022, 12, 31))
NOTE, EDGES = 9, (300.0, 400.0)


def fact(label: str, amount: int, scope: str | None, page: int = NOTE, line: int = 0, **meaning: object) -> Fact:
    kind = "segment" if scope else None
    place = {"label": label, "amount": Decimal(amount), "scale": 1, "unit": "USD", "period": YEAR, "page": page}
    return Fact(**place, box=Box(0, 0, 1, 1), scope=scope, part_kind=kind, line=line, **meaning)  # type: ignore[arg-type]


OF_SEGMENTS = [
    fact(label, amount + at, segment)
    for at, segment in enumerate(("Consumer", "Business"))
    for label, amount in (("Revenue", 500), ("Costs", 300), ("Income", 200), ("Assets", 900), ("Capex", 100), ("D", 40))
]
STATED = [fact("Total revenue", 1000, None, statement=Statement.INCOME)]


def section(page: Page, heading: str, *rows: tuple[str, str, str]) -> Page:
    page.text(heading).text("Its results were as follows:").header([("2022", 290.0), ("2021", 390.0)])
    for label, *cells in rows:
        page.row(label, cells, EDGES)
    return page.skip(30).text("These results were those of a mild year for everyone in the trade.").skip(30)


def segments_of(pages: Sequence[PageContent], item: str = "7") -> dict[str, str | None]:
    tables = list(read_tables(pages, IDENTITY))
    read: Iterable[Fact] = (
        fact(row.label, int(cell.amount), None, table.page, row.line)
        for table in tables
        for row in table.rows
        if (cell := row.cells[0]) is not None
    )
    items = {page.number: item for page in pages}
    placed = with_segments_of_headings([*OF_SEGMENTS, *STATED, *read], tables, pages, items, "Acme Corporation")
    return {each.label: each.scope for each in placed if each.page != NOTE}


LINES = (("Connections", "620", "590"), ("Net additions", "300", "210"))
SALES = (("Sales", "501", "480"), ("Visits", "730", "701"))


def test_tables_below_a_heading_are_of_its_segment() -> None:
    page = section(section(Page(), "Acme Consumer Group", *LINES), "Business segment", *SALES)
    assert segments_of([page.done()]) == {
        "Connections": "Consumer",
        "Net additions": "Consumer",
        "Sales": "Business",  # 501 is its revenue
        "Visits": "Business",
    }


def test_below_the_last_heading_only_tables_that_repeat_a_figure_of_the_segment_are() -> None:
    others = [(f"{label} abroad", *cells) for label, *cells in LINES]
    page = section(section(Page(), "Consumer", *LINES), "Business", *others)
    assert segments_of([page.done()]) == {
        **dict.fromkeys(["Connections", "Net additions"], "Consumer"),
        **dict.fromkeys(["Connections abroad", "Net additions abroad"], None),
    }


def test_tables_of_the_whole_company_and_other_items_are_not() -> None:
    whole = section(section(Page(), "Consumer", ("Total revenue", "1,000", "940")), "Business", *SALES).done()
    assert segments_of([whole])["Total revenue"] is None
    lists = section(section(Page(), "Consumer", ("Business", "501", "480"), *LINES), "Business", *SALES).done()
    assert segments_of([lists])["Connections"] is None
    elsewhere = section(section(Page(), "Consumer", *LINES), "Business", *SALES).done()
    assert set(segments_of([elsewhere], "1").values()) == {None}


def test_a_sentence_that_names_a_segment_is_no_heading() -> None:
    page = section(section(Page(), "We sold more to Consumer than before", *LINES), "Business", *SALES)
    assert segments_of([page.done()])["Connections"] is None
