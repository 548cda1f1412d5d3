from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from fin_agent.filings.facts.units_and_scales import facts_in_labels, per_share_in_labels
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Cell, Row, Table

YEARS = (FactPeriod(2024, None, 0, date(2024, 12, 31)), FactPeriod(2023, None, 0, date(2023, 12, 31)))


def balance_sheet(label: str, unit_line: str = "(in millions, except per share data)") -> Table:
    cells = tuple(Cell(Decimal(1), "1", False, False, Box(x, 0, x + 20, 10)) for x in (300.0, 400.0))
    row = Row(label, ("Equity",), cells, 4, Box(40, 0, 420, 10))
    return Table(7, Box(0, 0, 1, 1), "Balance sheets", unit_line, ("2024", "2023"), YEARS, (row,))


def read(label: str, unit_line: str = "(in millions, except per share data)") -> dict[str, list[Decimal]]:
    found: dict[str, list[Decimal]] = {}
    for fact in facts_in_labels([balance_sheet(label, unit_line)], {7: Statement.BALANCE_SHEET}):
        found.setdefault(f"{fact.label} [{fact.unit}]", []).append(fact.value)
    return found


def twice(value: str) -> list[Decimal]:
    return [Decimal(value)] * 2


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        (
            "Common stock, $0.01 par value; 5,000 shares authorized; 1,201 and 1,198 shares issued, respectively",
            {
                "Par value per share [USD per share]": twice("0.01"),
                "Shares authorized [shares]": twice("5000000000"),
                "Shares issued [shares]": [Decimal(1201000000), Decimal(1198000000)],
            },
        ),
        (
            "Preferred stock, par value $1; authorized — 20 shares; none issued",
            {
                "Par value per share [USD per share]": twice("1"),
                "Shares authorized [shares]": twice("20000000"),
                "Shares issued [shares]": twice("0"),
            },
        ),
        (
            "Common stock ($.25 stated value; issued and outstanding: 31 shares as of December 31, 2024 and 2023)",
            {
                "Par value per share [USD per share]": twice("0.25"),
                "Shares issued [shares]": twice("31000000"),
                "Shares outstanding [shares]": twice("31000000"),
            },
        ),
        (
            "Treasury stock, at cost (77 and 66 shares)",
            {"Treasury shares [shares]": [Decimal(77000000), Decimal(66000000)]},
        ),
        (
            "Common stock in treasury, at cost, shares of 144.8 and 152.7",
            {"Treasury shares [shares]": [Decimal(144800000), Decimal(152700000)]},
        ),
        (
            "Receivables, net of allowances for credit losses of $12.5 at June 30, 2024 and $9 at June 30, 2023",
            {"Allowances for credit losses [USD]": [Decimal(12500000), Decimal(9000000)]},
        ),
        ("Commitments and contingencies (Note 12)", {}),
        ("6.25% notes due 2031", {}),
        ("Net property", {}),
    ],
)
def test_figures_that_a_label_states(label: str, expected: dict[str, list[Decimal]]) -> None:
    assert read(label) == expected


def test_shares_printed_in_full_are_not_scaled() -> None:
    label = "Common stock; 4,990,000,000 shares authorized; 424,926,346 and 427,757,100 issued"
    assert read(label, "(in thousands, except share and per share data)") == {
        "Shares authorized [shares]": twice("4990000000"),
        "Shares issued [shares]": [Decimal(424926346), Decimal(427757100)],
    }


def test_they_stand_in_the_label_of_a_balance_sheet_only() -> None:
    table = balance_sheet("Common stock, 5 shares authorized")
    (fact, _) = facts_in_labels([table], {7: Statement.BALANCE_SHEET})
    assert (fact.source, fact.statement, fact.page, fact.line) == ("label", Statement.BALANCE_SHEET, 7, 4)
    assert fact.box == Box(40, 0, 300, 10)
    assert fact.metric is None
    assert facts_in_labels([table], {7: Statement.EQUITY}) == []


def test_three_figures_for_two_columns_are_none() -> None:
    assert "Shares issued [shares]" not in read("Common stock, 5, 6 and 7 shares issued in three classes")


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("Dividends declared ($0.47 per common share)", {"Dividends declared per share": ["0.47"]}),
        (
            "Cash dividends declared ($2.58, $2.53, and $2.48 per share)",
            {"Cash dividends declared per share": ["2.58", "2.53", "2.48"]},
        ),
        ("Dividends ($2.335, $2.285) per share", {}),  # two amounts for three years
        ("Dividends declared", {}),
    ],
)  # fmt: skip
def test_amounts_per_share_in_labels_of_equity_are_figures(label: str, expected: dict[str, list[str]]) -> None:
    years = [FactPeriod(year, None, 12, date(year, 12, 31)) for year in (2024, 2023, 2022)]
    several = "," in label
    cells = [
        Fact(label, Decimal(-9), 10**6, "USD", when, 5, Box(0, 0, 1, 1), line=3, statement=Statement.EQUITY)
        for when in (years if several else years[:1])
    ]
    found: dict[str, list[str]] = {}
    for fact in per_share_in_labels(cells):
        assert (fact.unit, fact.scale, fact.source) == ("USD per share", 1, "label")
        found.setdefault(fact.label, []).append(str(fact.amount))
    assert found == expected
