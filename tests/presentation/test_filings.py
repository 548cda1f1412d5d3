"""Filings at a glance, their figures, and what checking their statements came to."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from rich.console import Console

from fin_agent.filings.facts.accounting_identities import Check, Figure, Outcome, not_checkable
from fin_agent.index.protocol import FilingRecord
from fin_agent.presentation.filings import (
    CheckedFiling,
    checked_view,
    facts_view,
    item_runs,
    overview,
    period_words,
    statement_runs,
    value_words,
)
from fin_agent.vocabulary.amount_formatting import amount_with_unit
from fin_agent.vocabulary.fact import FactPeriod, Tag
from fin_agent.vocabulary.filing import ReadWarning
from fin_agent.vocabulary.identity import FieldSource, Form, Identity, Origin
from fin_agent.vocabulary.page import Note, Page, Statement
from tests.presentation.figures import fact, record, shown


def page(number: int, item: str | None, statement: str | None = None, *further: str) -> Page:
    shown = tuple(Statement(each) for each in (statement, *further) if each)
    return Page(number, "", item, shown[0] if shown else None, further_statements=shown[1:])


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
    assert [(run.name, run.first, run.last) for run in item_runs(OUTLINE, ())] == [
        ("cover", 0, 0),
        ("7", 1, 1),
        ("8", 2, 4),
        ("9A", 5, 5),
    ]


def test_a_page_may_show_two_statements() -> None:
    assert [(run.name, run.first, run.last) for run in statement_runs(OUTLINE)] == [
        ("income", 2, 2),
        ("comprehensive-income", 2, 2),
        ("balance", 3, 4),
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


TAG = Tag("us-gaap:Revenues", Decimal(5_000_000), "5", "c-1", None)


def test_a_row_for_each_figure() -> None:
    this = fact("Net sales", "5", metric="revenue", line=6, tag=TAG, section=("Income",))
    last = replace(this, amount=Decimal("-4.5"), period=FactPeriod(2022, None, 12))
    lines = shown(facts_view(record(), [this, last]), width=100)
    rows = [line for line in lines if "Income › Net sales" in line]
    assert "5,000,000  USD" in rows[0] and "FY2023" in rows[0] and rows[0].split()[-2:] == ["5", "7"]
    assert "-4,500,000.0  USD" in rows[1] and "FY2022" in rows[1]
    assert lines[-1] == "2 figures, values in base units"


def test_what_a_row_is_stands_under_its_label() -> None:
    lines = shown(facts_view(record(), [fact(metric="revenue", tag=TAG, scope="Europe")]), width=200)
    assert lines[2].split() == ["Figure", "Value", "Unit", "Period", "Page", "Line"]
    assert (lines[5].strip(), lines[6].strip()) == ("revenue, Europe", "us-gaap:Revenues")


def test_none() -> None:
    assert "No figures" in "\n".join(shown(facts_view(record(), [])))


def test_value_words() -> None:
    assert value_words(fact(value="66608")) == "66,608,000,000 USD"
    assert value_words(fact(value="1E+3")) == "1,000,000,000 USD"
    assert value_words(fact(value="12.5", scale=1, unit="percent")) == "12.5%"
    assert value_words(fact(value="-8.30", scale=1, unit="USD per share")) == "-8.30 USD per share"


RECORD = FilingRecord("example_2022_10k", "00", Identity("Example Corp.", Form.TEN_K, 2022), 80, "e.pdf", "", 90, 100)
YEAR = FactPeriod(2022, None, 12)
FIGURES = (
    Figure("Opening cash", Decimal(110_000_000), 1_000_000, "USD", 41, 50),
    Figure("Net decrease", Decimal(-10_500_000), 1_000_000, "USD", 41, 49),
    Figure("Closing cash", Decimal(77_000_000), 1_000_000, "USD", 42, 2, 0),
)
FAILED = Check("cash", YEAR, FIGURES, Decimal(22_500_000), Decimal(1), Outcome.FAILS, "Opening should be closing.")
HELD = Check("balance", FactPeriod(2022, None, 0), (), Decimal(0), Decimal(1), Outcome.HOLDS, "A is B.")


def shown_checks(*checks: Check, record: FilingRecord = RECORD) -> str:
    console = Console(width=100, highlight=False)
    with console.capture() as captured:
        console.print(checked_view([CheckedFiling(record, checks)]))
    return captured.get()


def test_a_failed_check_is_a_warning_with_pages_figures_and_difference() -> None:
    lines = [" ".join(line.split()) for line in shown_checks(FAILED, HELD).splitlines()]
    assert lines[0] == "example_2022_10k Example Corp., 10-K, FY2022"
    assert "warning: cash, FY2022, pages 42-43: Opening should be closing." in lines
    assert "Opening cash $110 million page 42, line 51" in lines
    assert "+ Net decrease -$10.5 million page 42, line 50" in lines
    assert "= Closing cash $77 million page 43, line 3" in lines
    assert "difference $22.5 million" in lines
    assert "holds: balance (1)" in lines
    assert lines[-1] == "1 filing: 1 check passed, 1 failed, 0 could not be made"


def test_what_could_not_be_checked_says_why() -> None:
    said = shown_checks(not_checkable("balance", None, "no balance sheet was found"))
    assert "balance: Cannot be checked: no balance sheet was found." in said
    assert "warning" not in said


def test_warnings_of_reading_and_readings_that_differ() -> None:
    sources = (
        FieldSource("company", "Example Corp.", Origin.COVER, "Example Corp.", 0.9, 0),
        FieldSource("company", "Sample Corp.", Origin.SIGNATURE, "Sample Corp.", 0.5, 79),
    )
    identity = replace(RECORD.identity, sources=sources)
    record = replace(RECORD, identity=identity, warnings=(ReadWarning("a page has\x1b[2J no words", 11),))
    said = " ".join(shown_checks(HELD, record=record).split())
    assert "warning: page 12: a page has[2J no words" in said
    differ = "company is `Example Corp.` by the cover (page 1) and `Sample Corp.` by the signature (page 80)"
    assert f"{differ}; the first is used" in said


@pytest.mark.parametrize(
    ("period", "words"),
    [
        (FactPeriod(2022, None, 12), "FY2022"),
        (FactPeriod(2022, None, 0), "end of FY2022"),
        (FactPeriod(2023, 2, 0), "end of Q2 FY2023"),
        (FactPeriod(2023, 2, 3), "Q2 FY2023"),
        (FactPeriod(2023, None, 6), "6 months of FY2023"),
    ],
)
def test_periods_in_words(period: FactPeriod, words: str) -> None:
    assert period_words(period) == words


@pytest.mark.parametrize(
    ("value", "scale", "unit", "words"),
    [
        ("-0.53", 1, "USD per share", "-$0.53 per share"),
        ("1521300000", 1_000_000, "shares", "1,521.3 million shares"),
        ("1234000", 1_000, "USD", "$1,234 thousand"),
        ("1234", 1, "USD", "$1,234"),
    ],
)
def test_figures_as_printed(value: str, scale: int, unit: str, words: str) -> None:
    assert amount_with_unit(Decimal(value) / scale, scale, unit) == words
