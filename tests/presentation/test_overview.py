"""A filing at a glance."""

from __future__ import annotations

from dataclasses import replace

from fin_agent.index.protocol import PageKey, PageOutline
from fin_agent.presentation.filings import item_runs, overview, statement_runs
from fin_agent.vocabulary.filing import ReadWarning
from fin_agent.vocabulary.identity import FieldSource, Origin
from fin_agent.vocabulary.page import Note
from tests.presentation.figures import record, shown


def page(number: int, item: str | None, statement: str | None = None, *further: str) -> PageOutline:
    return PageOutline(PageKey("acme", number), item, statement, "", further_statements=further)


OUTLINE = [
    page(0, "cover"),
    page(1, "7"),
    page(2, "8", "income", "comprehensive-income"),
    page(3, "8", "balance"),
    page(4, "8", "balance"),
    page(5, "9A"),
]
SOURCES = (
    FieldSource("company", "Acme Corp.", Origin.COVER, "ACME CORP. (Exact name of registrant)", 0.97, 0),
    FieldSource("fiscal_year", "2023", Origin.COVER, "FISCAL YEAR ENDED December 31, 2023", 0.99, 0),
    FieldSource("fiscal_year", "2022", Origin.TITLE, "2022 Annual Report", 0.5, 3),
)


def test_pages_in_a_row_are_one_range() -> None:
    assert [(run.name, run.printed) for run in item_runs(OUTLINE, ())] == [
        ("cover", "1"),
        ("7", "2"),
        ("8", "3-5"),
        ("9A", "6"),
    ]


def test_a_page_may_show_two_statements() -> None:
    assert [(run.name, run.printed) for run in statement_runs(OUTLINE)] == [
        ("income", "3"),
        ("comprehensive-income", "3"),
        ("balance", "4-5"),
    ]


def test_identity_says_where_each_field_was_read_and_what_contradicts_it() -> None:
    plain = record()
    known = replace(
        plain,
        identity=replace(plain.identity, sources=SOURCES),
        notes=(Note("5", "Inventories", 6, 7),),
        warnings=(ReadWarning("the page is blank", 8),),
    )
    lines = shown(overview(known, OUTLINE))
    company = next(line for line in lines if line.startswith("company"))
    assert company.split()[1:6] == ["Acme", "Corp.", "cover", "1", "97%"]
    assert any(line.split() == ["5", "Inventories", "7-8"] for line in lines)
    text = " ".join(lines)
    assert "fiscal year is `2023` by the cover (page 1) and `2022` by the title (page 4)" in text
    assert "warning: page 9: the page is blank" in text


def test_what_is_not_known_is_left_out() -> None:
    lines = shown(overview(record(), []))
    assert not any(line.startswith(("ticker", "Notes", "Items", "Statements", "warning")) for line in lines)
    assert any(line.split() == ["company", "Acme", "Corp."] for line in lines)
