"""Given tables: headers, sections, periods and scales."""

from __future__ import annotations

from fin_agent.analyst.rules.context_answers.context import Context
from fin_agent.analyst.rules.context_answers.grid import read_grid
from fin_agent.analyst.rules.context_answers.period_names import PeriodName, is_range, periods_in, spanned
from fin_agent.analyst.rules.context_answers.scales import Scales, named_scale


def test_a_header_over_several_columns_is_said_of_each() -> None:
    grid = read_grid(
        [
            ["", "2021", "", "2020", ""],
            ["", "$", "%", "$", "%"],
            ["North", "5", "50%", "4", "40%"],
        ]
    )
    assert grid.headers == ("", "2021 $", "2021 %", "2020 $", "2020 %")
    assert [cell.periods for cell in grid.cells] == [(PeriodName("2021"),)] * 2 + [(PeriodName("2020"),)] * 2


def test_sections_hold_until_the_next() -> None:
    grid = read_grid([["", "2021"], ["Assets", ""], ["Cash", "5"], ["Debts", ""], ["Loans", "(3)"]])
    assert [(row.label, row.section) for row in grid.rows] == [("Cash", "Assets"), ("Loans", "Debts")]
    assert [int(cell.amount) for cell in grid.cells] == [5, -3]


def test_a_second_block_has_its_own_header() -> None:
    grid = read_grid(
        [
            ["", "", "Fiscal 2021", ""],
            ["", "First", "Second", "Total"],
            ["Sales", "1", "2", "3"],
            ["", "", "Fiscal 2020", ""],
            ["", "First", "Second", "Total"],
            ["Sales", "4", "5", "9"],
        ]
    )
    assert [cell.periods[0].year for cell in grid.cells] == ["2021"] * 3 + ["2020"] * 3


def test_periods() -> None:
    assert [period.year for period in periods_in("FY19 and 2018/19, not $2,017 or 2,018")] == ["2019", "2018/2019"]
    assert periods_in("at June 30 and December 31, 2019") == (PeriodName("2019", "06"), PeriodName("2019", "12"))
    assert PeriodName("2018/2019").fits(PeriodName("2019"))
    assert is_range("from 2017 to 2019") and not is_range("in 2017 and 2019")
    known = [PeriodName(year) for year in ("2019", "2018", "2017")]
    assert [period.year for period in spanned((PeriodName("2019"), PeriodName("2017")), known)] == [
        "2019",
        "2018",
        "2017",
    ]


def test_a_year_set_apart_is_read() -> None:
    assert Context.of([["", "2 0 1 8"], ["Units", "1 2 3 4 5"]]).table == (("", "2018"), ("Units", "1 2 3 4 5"))


def _scale(table: list[list[str]], *paragraphs: str) -> list[str]:
    context = Context.of(table, paragraphs)
    grid = read_grid(context.table)
    scales = Scales(context, grid)
    return [scales.of(cell) for cell in grid.cells]


def test_scales_are_said_by_header_row_or_text() -> None:
    plain = [["", "2020"], ["Sales", "5,120"], ["Earnings per share", "1.20"], ["Margin", "12%"]]
    assert _scale(plain) == ["", "", "percent"]
    assert _scale(plain, "The table (in thousands, except per share amounts):") == ["thousand", "", "percent"]
    assert _scale(plain, "Sales rose to $5.12 million.") == ["thousand", "", "percent"]
    assert _scale([["", "2020"], ["", "£m"], ["Sales", "5"]]) == ["million"]
    assert named_scale("we paid $3 million in cash") == ""


def test_a_column_of_percentages_may_print_the_sign_once() -> None:
    assert _scale([["", "2020"], ["Sales", "100.0%"], ["Costs", "60.5"], ["Profit", "39.5%"]]) == ["percent"] * 3
