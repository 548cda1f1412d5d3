"""Tables stand digit under digit, with headings over their rows, and fold where they are too wide."""

from __future__ import annotations

import pytest

from fin_agent.presentation.pages import (
    FiguresTable,
    display_lines,
    totals_among,
)
from tests.presentation.figures import row, shown

ASSETS = ("Assets",)
BALANCE = [
    row("Cash", "$ 14", "$ 8", under=ASSETS),
    row("Inventories", "86", "(2)", under=ASSETS),
    row("Total current assets", "100", "6", under=ASSETS),
    row("Goodwill", "1,000", "—"),
    row("Total assets", "$ 1,100", "$ 6"),
]


class TestRows:
    def test_headings_once_and_gaps_after_totals(self) -> None:
        lines = [(line.kind, line.label, line.depth) for line in display_lines(BALANCE)]
        assert lines == [
            ("heading", "Assets", 0),
            ("row", "Cash", 1),
            ("row", "Inventories", 1),
            ("total", "Total current assets", 1),
            ("gap", "", 0),
            ("row", "Goodwill", 0),
            ("total", "Total assets", 0),
        ]

    def test_sums_are_totals_whatever_they_are_called(self) -> None:
        income = [
            row("Net sales", "500", "400"),
            row("Cost of sales", "300", "250"),
            row("Gross profit", "200", "150"),
            row("Selling", "80", "70", under=("Operating expenses",)),
            row("Research", "20", "30", under=("Operating expenses",)),
            row("All of these", "100", "100", under=("Operating expenses",)),
            row("Operating income", "100", "50"),
            row("Other income, net", "7", "(8)"),
            row("Earnings before taxes", "107", "42"),
        ]
        assert sorted(totals_among(income)) == [2, 5, 6, 8]

    def test_a_sum_under_one_heading_less_that_under_another(self) -> None:
        rows = [
            row("Loans", "9,041", "8,127", under=("Interest income",)),
            row("Deposits", "1,203", "2,118", under=("Interest income",)),
            row("Total", "10,244", "10,245", under=("Interest income",)),
            row("Bonds", "2,517", "1,530", under=("Interest expense",)),
            row("Loans", "3,502", "2,486", under=("Interest expense",)),
            row("Total", "6,019", "4,016", under=("Interest expense",)),
            row("Net interest income", "4,225", "6,229"),
        ]
        assert sorted(totals_among(rows)) == [2, 5, 6]

    def test_total_stands_no_deeper_than_what_it_sums_up(self) -> None:
        deep = ("Equity", "Common stock", "Authorized")
        rows = [
            row("Total liabilities", "6,033", "7,046"),
            row("Issued", "1,507", "1,512", under=deep),
            row("Retained earnings", "2,519", "533", under=deep),
            row("Total equity", "4,026", "2,045", under=deep[:2]),
            row("Total liabilities and equity", "10,059", "9,091", under=deep[:1]),
        ]
        assert totals_among(rows)[4] == 0

    def test_assets_less_liabilities_are_no_total(self) -> None:
        rows = [
            row("All assets", "100", "90", under=("Assets",)),
            row("Payables", "60", "70", under=("Liabilities",)),
            row("Common stock", "15", "15", under=("Equity",)),
            row("Retained earnings", "25", "5", under=("Equity",)),
        ]
        assert totals_among(rows) == {}

    def test_signs_stay_where_no_unit_line_tells_the_currency(self) -> None:
        with_signs = display_lines(BALANCE, dollars=True)[1].cells
        without = display_lines(BALANCE)[1].cells
        assert with_signs == ("$14", "$8")
        assert without == ("14", "8")


class TestFiguresTable:
    def test_digits_stand_under_digits(self) -> None:
        lines = shown(FiguresTable(["December 31, 2022", "December 31, 2021"], BALANCE))
        assert lines == [
            "                        December 31,  December 31,",
            "                                2022          2021",
            "──────────────────────────────────────────────────",
            "Assets",
            "  Cash                            14            8",
            "  Inventories                     86           (2)",
            "  Total current assets           100            6",
            "",
            "Goodwill                       1,000            —",
            "Total assets                   1,100            6",
        ]

    def test_percent_signs_and_parentheses_hang(self) -> None:
        lines = shown(FiguresTable(["Change"], [row("Up", "12%"), row("Down", "(3)%"), row("Flat", "—")]))
        assert lines[-3:] == ["Up      12%", "Down    (3)%", "Flat     —"]

    def test_long_labels_fold_and_carry_their_figures_on_the_last_line(self) -> None:
        label = "Proceeds from disposals of property, plant and equipment of the company"
        lines = shown(FiguresTable(["2022"], [row(label, "35")]), width=40)
        assert lines[-3:-1] == ["Proceeds from disposals of", "property, plant and equipment of"]
        assert lines[-1].startswith("the company   ") and lines[-1].endswith("35") and max(map(len, lines)) <= 40

    def test_columns_that_do_not_fit_follow_below(self) -> None:
        columns = ["Fiscal 2021 Shares", "Fiscal 2021 Amount", "Fiscal 2020 Shares", "Fiscal 2020 Amount"]
        rows = [
            row("Balance at the beginning of the year", "1,380", "2,345,678", "1,391", "2,345,678"),
            row("Bought back", "", "", "(11)", "(3)"),
        ]
        lines = shown(FiguresTable(columns, rows), width=60)
        folded = [line for line in lines if line.startswith("Columns")]
        assert folded == ["Columns 1 to 2 of 4", "Columns 3 to 4 of 4"]
        first, second = (lines[lines.index(line) :] for line in folded)
        assert "2021" in "".join(first[: len(first) - len(second)]) and "2020" in "".join(second)
        # A row that says nothing in a block's columns is not repeated there.
        assert sum("Bought back" in line for line in lines) == 1
        assert max(map(len, lines)) <= 60
        assert not any(line.startswith("Columns") for line in shown(FiguresTable(columns, rows), width=120))

    @pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
    def test_no_figure_is_lost_and_no_line_runs_over(self, width: int) -> None:
        columns = [f"Segment number {number}, with a name that is rather long" for number in range(9)]
        rows = [row("Revenue", *(f"{number},000,123" for number in range(1, 10)))]
        lines = shown(FiguresTable(columns, rows), width=width)
        text = "\n".join(lines)
        assert all(f"{number},000,123" in text for number in range(1, 10))
        assert max(map(len, lines)) <= width

    def test_page_marks(self) -> None:
        lines = shown(FiguresTable(["2022"], [row("One", "1"), row("Two", "5")], pages=[62, 63]))
        assert lines[-2].endswith(" page 64") and lines[-1].startswith("Two")

    def test_text_of_a_filing_cannot_drive_the_terminal(self) -> None:
        lines = shown(FiguresTable(["2022\x1b[2J"], [row("Net\x1b[31m sales", "1\x1b[2J")]))
        assert "\x1b" not in "".join(lines)
