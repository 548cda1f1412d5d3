from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from rich.console import Console

from fin_agent.filings.facts.check import Check, Figure, Outcome, not_checkable
from fin_agent.index.protocol import FilingRecord
from fin_agent.presentation.filings import CheckedFiling, checked_view, period_words, printed
from fin_agent.vocabulary.fact import FactPeriod
from fin_agent.vocabulary.filing import ReadWarning
from fin_agent.vocabulary.identity import FieldSource, Form, Identity, Origin

RECORD = FilingRecord("example_2022_10k", "e.pdf", "00", Identity("Example Corp.", Form.TEN_K, 2022), "", 80, 90, 100)
YEAR = FactPeriod(2022, None, 12)
FIGURES = (
    Figure("Opening cash", Decimal(110_000_000), 1_000_000, "USD", 41, 50),
    Figure("Net decrease", Decimal(-10_500_000), 1_000_000, "USD", 41, 49),
    Figure("Closing cash", Decimal(77_000_000), 1_000_000, "USD", 42, 2, 0),
)
FAILED = Check("cash", YEAR, FIGURES, Decimal(22_500_000), Decimal(1), Outcome.FAILS, "Opening should be closing.")
HELD = Check("balance", FactPeriod(2022, None, 0), (), Decimal(0), Decimal(1), Outcome.HOLDS, "A is B.")


def shown(*checks: Check, record: FilingRecord = RECORD) -> str:
    console = Console(width=100, highlight=False)
    with console.capture() as captured:
        console.print(checked_view([CheckedFiling(record, checks)]))
    return captured.get()


def test_a_failed_check_is_a_warning_with_pages_figures_and_difference() -> None:
    lines = [" ".join(line.split()) for line in shown(FAILED, HELD).splitlines()]
    assert lines[0] == "example_2022_10k Example Corp., 10-K, FY2022"
    assert "warning: cash, FY2022, pages 42, 43: Opening should be closing." in lines
    assert "Opening cash $110 million page 42, line 51" in lines
    assert "+ Net decrease -$10.5 million page 42, line 50" in lines
    assert "= Closing cash $77 million page 43, line 3" in lines
    assert "difference $22.5 million" in lines
    assert "holds: balance (1)" in lines
    assert lines[-1] == "1 filing: 1 check held, 1 failed (in 1 filing), 0 could not be made"


def test_what_could_not_be_checked_says_why() -> None:
    said = shown(not_checkable("balance", None, "no balance sheet was found"))
    assert "balance: Cannot be checked: no balance sheet was found." in said
    assert "warning" not in said


def test_warnings_of_reading_and_readings_that_differ() -> None:
    sources = (
        FieldSource("company", "Example Corp.", Origin.COVER, "Example Corp.", 0.9, 0),
        FieldSource("company", "Sample Corp.", Origin.SIGNATURE, "Sample Corp.", 0.5, 79),
    )
    identity = replace(RECORD.identity, sources=sources)
    record = replace(RECORD, identity=identity, warnings=(ReadWarning("a page has\x1b[2J no words", 11),))
    said = " ".join(shown(HELD, record=record).split())
    assert "warning: page 12: a page has[2J no words" in said
    assert "company is `Example Corp.` by the cover and `Sample Corp.` by the signature; the first is used" in said


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
    assert printed(Figure("x", Decimal(value), scale, unit, 0, 0)) == words
