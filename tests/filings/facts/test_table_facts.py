from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from fin_agent.filings.facts.table_facts import facts_of_filing, facts_of_tables
from fin_agent.filings.tables.cells import is_unit_line_exception, scale_of, share_scale_of, unit_line_in
from fin_agent.filings.tables.column_periods import FiscalCalendar
from fin_agent.filings.tables.reading import read_tables
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Statement
from tests.filings.typeset import Page

ANNUAL = Identity("Example Corp.", Form.TEN_K, 2022, None, date(2022, 12, 31), 12)
TWO = [("2022", 420.0), ("2021", 520.0)]
EDGES = [440.0, 540.0]
METRICS = {"net sales": "revenue", "net income": "net_income"}


def metric_of(label: str, statement: Statement | None, section: Sequence[str]) -> str | None:
    return METRICS.get(label.lower())


def facts(page: Page, statement: Statement | None = None) -> list[Fact]:
    return facts_of_tables(read_tables([page.done()], ANNUAL), {0: statement} if statement else {}, metric_of)


def named(found: Sequence[Fact], label: str) -> Fact:
    return next(fact for fact in found if fact.label == label)


def income_statement(unit_line: str) -> Page:
    page = Page().text("Consolidated Statements of Income", x=240).text(unit_line, x=240)
    page.header(TWO, stub="Years ended December 31,")
    page.row("Net sales", ["$ 14,544", "$ 12,861"], EDGES).row("Net income", ["815", "951"], EDGES)
    page.row("Effective tax rate", ["21.5%", "20.1%"], EDGES)
    page.text("Net income per share:")
    page.row("Basic", ["$ 0.53", "$ 0.60"], EDGES, x=46.0)
    page.text("Weighted-average shares outstanding:")
    page.row("Diluted", ["1,521", "1,553"], EDGES, x=46.0)
    return page


def test_value_unit_period_and_place_of_a_fact() -> None:
    page = income_statement("($ in millions, except per share data)")
    found = facts(page, Statement.INCOME)
    sales = named(found, "Net sales")
    assert sales.value == Decimal("14544000000")
    assert (sales.amount, sales.scale, sales.unit) == (Decimal(14544), 1_000_000, "USD")
    assert sales.period == FactPeriod(2022, None, 12, date(2022, 12, 31))
    assert (sales.metric, sales.statement, sales.scope, sales.page) == ("revenue", Statement.INCOME, None, 0)
    assert sales.column == "Years ended December 31, 2022"
    assert sales.box.x1 == pytest.approx(EDGES[0])
    rate, basic, shares = (named(found, label) for label in ("Effective tax rate", "Basic", "Diluted"))
    assert (rate.value, rate.unit) == (Decimal("21.5"), "percent")
    assert (basic.value, basic.unit, basic.section) == (Decimal("0.53"), "USD per share", ("Net income per share",))
    assert (shares.value, shares.unit) == (Decimal("1521000000"), "shares")
    assert len(found) == 10


def test_without_a_unit_line_the_statements_scale_is_meant() -> None:
    statement = income_statement("(in thousands, except per share data)").done()
    note = Page(1).header(TWO, stub="December 31,").row("Land", ["$ 10", "$ 9"], EDGES)
    note.row("Buildings", ["20", "18"], EDGES).row("Machinery", ["30", "28"], EDGES)
    found = facts_of_tables(read_tables([statement, note.done()], ANNUAL), {0: Statement.INCOME}, metric_of)
    assert named(found, "Buildings").value == 20_000


def test_without_any_unit_line_figures_are_as_printed() -> None:
    page = Page().header(TWO, stub="December 31,").row("Employees", ["1,200", "1,100"], EDGES)
    page.row("Audit fees", ["$ 3,000,000", "$ 2,500,000"], EDGES).row("Rent", ["5,000", "4,000"], EDGES)
    found = facts(page)
    assert named(found, "Audit fees").value == 3_000_000
    assert named(found, "Employees").unit == "count"


def test_share_counts_excepted_from_the_scale_stay_as_printed() -> None:
    page = Page().text("(in thousands, except share and per share data)", x=200)
    page.header(TWO, stub="Years ended December 31,").row("Net income", ["$ 5,000", "$ 4,000"], EDGES)
    page.row("Weighted-average shares outstanding", ["52,345,678", "51,234,567"], EDGES)
    page.row("Net income per share", ["$ 0.10", "$ 0.08"], EDGES)
    found = facts(page)
    assert named(found, "Weighted-average shares outstanding").value == 52_345_678
    assert named(found, "Net income").value == 5_000_000


def test_dividends_in_money_are_not_per_share() -> None:
    page = Page().text("(in millions)", x=260).header(TWO, stub="Years ended December 31,")
    page.row("Net income", ["5,000", "4,000"], EDGES)
    page.row("Dividends declared per common share", ["$ 0.47", "$ 0.45"], EDGES)
    page.row("Dividends declared ($0.47 per share)", ["(728)", "(700)"], EDGES)
    found = facts(page)
    assert named(found, "Dividends declared per common share").unit == "USD per share"
    assert named(found, "Dividends declared ($0.47 per share)").value == -728_000_000


def test_columns_of_one_period_are_scoped_by_their_names() -> None:
    page = Page().text("(in millions)", x=260).header([("Year Ended December 31, 2022", 430.0)])
    page.header([("Retail", 325.0), ("Wholesale", 420.0), ("Total", 525.0)])
    edges = [340.0, 440.0, 540.0]
    page.row("Net sales", ["$ 100", "$ 200", "$ 300"], edges).row("Net income", ["10", "20", "30"], edges)
    page.row("Depreciation", ["1", "2", "3"], edges)
    assert [fact.scope for fact in facts(page) if fact.label == "Net sales"] == ["Retail", "Wholesale", None]


@pytest.mark.parametrize(("unit_line", "first"), [("(shares in thousands)", "Liability"), ("(in thousands)", "")])
def test_shares_that_no_row_names(unit_line: str, first: str) -> None:
    header = [(first, 415.0)] if first else []
    page = Page().text(f"Restricted stock for the year ended December 31, 2022 {unit_line}")
    page.header([*header, ("Price", 515.0)]).row("Granted", ["7,105", "35.07"], EDGES)
    granted, price = facts(page.row("Vested", ["4,219", "23.18"], EDGES))[:2]
    assert (granted.unit, granted.value, granted.scope) == ("shares", 7_105_000, first or None)
    assert (price.unit, price.scope) == ("USD per share", None)


def test_columns_that_name_metrics_scope_their_rows() -> None:
    page = Page().text("(in millions)", x=260).header([("Net Sales", 365.0), ("Operating Profit", 505.0)])
    page.header([("2022", 325.0), ("2021", 395.0), ("2022", 465.0), ("2021", 535.0)])
    edges = [335.0, 405.0, 475.0, 545.0]
    page.row("Snacks", ["$ 100", "$ 90", "$ 30", "$ 20"], edges).row("Drinks", ["60", "50", "6", "5"], edges)
    page.row("Total", ["$ 160", "$ 140", "$ 36", "$ 25"], edges)
    sales = [fact for fact in facts(page) if fact.metric == "revenue" and fact.period.fiscal_year == 2022]
    assert [(fact.label, fact.scope, fact.amount) for fact in sales] == [
        ("Snacks", "Snacks", 100),
        ("Drinks", "Drinks", 60),
        ("Total", None, 160),
    ]


def test_percentages_beside_a_statement_give_no_scope() -> None:
    page = Page().text("Consolidated Statements of Income", x=240).text("(In thousands)", x=260)
    page.header([("13 Weeks Ended", 430.0)]).header([("April 29, 2023", 370.0), ("April 30, 2022", 490.0)])
    page.header([("(Unaudited)", 350.0), ("(Unaudited)", 480.0)])
    edges = [350.0, 400.0, 490.0, 540.0]
    page.row("Net sales", ["$ 2,634", "100.0%", "$ 2,345", "100.0%"], edges)
    page.row("Net income", ["347", "13.2%", "331", "14.1%"], edges).row("Costs", ["100", "3.8%", "90", "3.8%"], edges)
    found = facts(page, Statement.INCOME)
    assert {fact.scope for fact in found} == {None}
    assert [fact.unit for fact in found if fact.label == "Net sales"] == ["USD", "percent", "USD", "percent"]


def test_rows_under_a_metric_are_scoped_by_their_labels() -> None:
    page = Page().text("(in millions)", x=260).header(TWO, stub="Years ended December 31,").text("Net sales:")
    page.row("North America", ["100", "90"], EDGES, x=46.0).row("Europe", ["50", "40"], EDGES, x=46.0)
    page.row("Total net sales", ["150", "130"], EDGES, x=46.0)
    page = page.text("Asia:").row("Net sales", ["70", "60"], EDGES, x=46.0)
    found = facts(page)
    meant = [(fact.label, fact.metric, fact.scope) for fact in found if fact.period.fiscal_year == 2022]
    assert meant == [
        ("North America", "revenue", "North America"),
        ("Europe", "revenue", "Europe"),
        ("Total net sales", None, None),
        ("Net sales", "revenue", "Asia"),
    ]


def test_a_part_below_one_heading_is_that_part_below_the_others() -> None:
    page = Page().text("(in millions)", x=260).header(TWO, stub="Years ended December 31,")
    for heading in ("Net sales:", "Earnings before interest and taxes:"):
        page = page.text(heading).row("North America", ["100", "90"], EDGES, x=46.0)
        page = page.row("Europe", ["50", "40"], EDGES, x=46.0)
    found = facts(page.text("Costs:").row("Freight", ["5", "4"], EDGES, x=46.0))
    meant = [(fact.metric, fact.scope) for fact in found if fact.period.fiscal_year == 2022]
    parts = "North America", "Europe"
    assert meant == [*(("revenue", part) for part in parts), *((None, part) for part in parts), (None, None)]


@pytest.mark.parametrize(
    "caption",
    [
        "Net sales by geographic area are as follows (in millions):",
        "Net sales for our Western operating units were as follows (in millions):",
    ],
)
def test_a_caption_names_the_metric_that_a_table_splits_up(caption: str) -> None:
    page = Page().text(caption)
    page.header(TWO, stub="Years ended December 31,")
    page.row("United States", ["100", "90"], EDGES).row("China", ["50", "40"], EDGES)
    page.row("Consolidated", ["150", "130"], EDGES)
    meant = [(fact.label, fact.metric, fact.scope) for fact in facts(page) if fact.period.fiscal_year == 2022]
    assert meant == [
        ("United States", "revenue", "United States"),
        ("China", "revenue", "China"),
        ("Consolidated", "revenue", None),
    ]


def test_a_roll_forward_splits_nothing_up() -> None:
    page = Page().text("Changes in net sales by segment are as follows (in millions):")
    page.header(TWO, stub="Years ended December 31,")
    page.row("Acquisitions", ["100", "90"], EDGES).row("Disposals", ["50", "40"], EDGES)
    assert {fact.metric for fact in facts(page)} == {None}


def test_debt_of_two_days_less_its_current_portion_is_no_roll_forward() -> None:
    page = Page().text("Note 5. Debt (in millions)")
    page.header([("December 31, 2022", 420.0), ("December 31, 2021", 520.0)])
    page.row("Senior notes", ["$ 325", "$ 525"], EDGES).row("Other notes", ["350", "350"], EDGES)
    page.row("Total debt", ["675", "875"], EDGES).row("Less: current portion", ["-", "(200)"], EDGES)
    page.row("Long-term debt", ["$ 675", "$ 675"], EDGES)
    dated = [(fact.amount, fact.period.end) for fact in facts(page) if fact.label == "Total debt"]
    assert dated == [(Decimal(675), date(2022, 12, 31)), (Decimal(875), date(2021, 12, 31))]


def test_balances_carried_from_year_to_year_are_of_the_days_between_them() -> None:
    page = Page().text("Changes in accrued warranties (in millions):").header(TWO, stub="Years ended December 31,")
    page.row("Accrued warranties, first", ["$ 70", "$ 60"], EDGES).row("Additions", ["30", "40"], EDGES)
    page.row("Claims paid", ["(20)", "(30)"], EDGES).row("Accrued warranties, last", ["$ 80", "$ 70"], EDGES)
    ends = {fact.amount: fact.period.end for fact in facts(page) if fact.label == "Accrued warranties, first"}
    assert ends == {Decimal(70): date(2021, 12, 31), Decimal(60): date(2020, 12, 31)}


def test_a_part_in_the_row_and_one_in_the_column_are_both_named() -> None:
    page = Page().text("Net sales by region (in millions)").header([("Year Ended December 31, 2022", 430.0)])
    page.header([("Retail", 325.0), ("Wholesale", 420.0), ("Total", 525.0)])
    edges = [340.0, 440.0, 540.0]
    page.row("Europe", ["$ 100", "$ 200", "$ 300"], edges).row("Asia", ["10", "20", "30"], edges)
    page.row("Net sales", ["$ 110", "$ 220", "$ 330"], edges)
    assert [(fact.metric, fact.scope) for fact in facts(page)] == [
        ("revenue", "Retail, Europe"),
        ("revenue", "Wholesale, Europe"),
        ("revenue", "Europe"),
        ("revenue", "Retail, Asia"),
        ("revenue", "Wholesale, Asia"),
        ("revenue", "Asia"),
        ("revenue", "Retail"),
        ("revenue", "Wholesale"),
        ("revenue", None),
    ]


def test_levels_are_told_apart_by_their_number() -> None:
    page = Page().text("(in millions)", x=260).header([("December 31, 2022", 430.0)])
    page.header([("Level 1", 325.0), ("Level 2", 420.0), ("Level 3", 525.0)])
    page.row("Net sales", ["$ 100", "$ 200", "$ 300"], [340.0, 440.0, 540.0])
    page.row("Net income", ["10", "20", "30"], [340.0, 440.0, 540.0])
    assert [fact.scope for fact in facts(page) if fact.label == "Net sales"] == ["Level 1", "Level 2", "Level 3"]


def test_ratios_and_rates_in_labels() -> None:
    page = Page().text("(in millions)", x=260).header(TWO, stub="December 31,")
    page.row("Debt to EBITDA", ["2.5x", "3.1 x"], EDGES).row("Notes, 3.70%, due 2031", ["249", "249"], EDGES)
    page.row("Cash", ["$ 10", "$ 9"], EDGES)
    found = facts(page)
    assert [(fact.value, fact.unit) for fact in found if fact.label == "Debt to EBITDA"] == [
        (Decimal("2.5"), "ratio"),
        (Decimal("3.1"), "ratio"),
    ]
    assert named(found, "Notes, 3.70%, due 2031").value == 249_000_000


def test_two_statements_on_one_page_are_told_apart() -> None:
    page = income_statement("(in millions, except per share data)").skip(14)
    page.text("Consolidated Balance Sheets", x=240).header(TWO, stub="December 31,")
    page.row("Cash", ["10", "9"], EDGES).row("Total assets", ["100", "90"], EDGES)
    page.row("Total liabilities", ["60", "50"], EDGES)
    found = facts(page, Statement.INCOME)
    assert named(found, "Net sales").statement is Statement.INCOME
    total = named(found, "Total assets")
    assert (total.statement, total.period) == (
        Statement.BALANCE_SHEET,
        FactPeriod(2022, None, 0, date(2022, 12, 31)),
    )


def test_columns_without_a_period_make_no_facts() -> None:
    page = Page().header([("2022", 320.0), ("2021", 420.0), ("% Change", 520.0)])
    for label in ("Net sales", "Net income", "Costs"):
        page.row(label, ["1,000", "900", "11 %"], [340.0, 440.0, 540.0])
    assert {fact.unit for fact in facts(page)} == {"count"}
    assert len(facts(page)) == 6


@pytest.mark.parametrize(
    ("text", "unit_line", "scale", "shares"),
    [
        ("(in millions, except per share amounts)", "(in millions, except per share amounts)", 10**6, 10**6),
        ("(Amounts in millions, except share data)", "(Amounts in millions, except share data)", 10**6, 1),
        ("Net sales ($ in thousands)", "($ in thousands)", 1_000, 1_000),
        ("Dollars in millions", "Dollars in millions", 10**6, 10**6),
        ("(Millions)", "(Millions)", 10**6, 10**6),
        ("(000's)", "(000's)", 1_000, 1_000),
        ("(In billions)", "(In billions)", 10**9, 10**9),
        ("(in millions of euros)", "(in millions of euros)", 10**6, 10**6),
        ("(RMB in thousands)", "(RMB in thousands)", 1_000, 1_000),
        (
            "Millions of dollars, except per share amounts",
            "Millions of dollars, except per share amounts",
            10**6,
            10**6,
        ),
        ("(shares in thousands, amounts in millions)", "(shares in thousands, amounts in millions)", 10**6, 1_000),
        (
            "(dollars in millions, except per share data and as otherwise noted)",
            "(dollars in millions, except per share data and as otherwise noted)",
            10**6,
            10**6,
        ),
        (
            "(in millions, except share amounts which are reflected in thousands)",
            "(in millions, except share amounts which are reflected in thousands)",
            10**6,
            1_000,
        ),
        (
            "(In millions, except number of shares, which are reflected in thousands, and per share amounts)",
            "(In millions, except number of shares, which are reflected in thousands, and per share amounts)",
            10**6,
            1_000,
        ),
        (
            "(dollars in millions, except per share amounts, and shares in thousands)",
            "(dollars in millions, except per share amounts, and shares in thousands)",
            10**6,
            1_000,
        ),
        ("sales of $5 million (of which 2 million in Europe)", "", None, None),
        ("millions of people know us", "", None, None),
    ],
)
def test_unit_lines(text: str, unit_line: str, scale: int | None, shares: int | None) -> None:
    assert unit_line_in(text) == unit_line
    assert scale_of(unit_line) == scale
    assert share_scale_of(unit_line) == shares


PARTS = [("Retail", 300.0), ("Online", 400.0), ("Total", 500.0)]
PART_EDGES = [320.0, 420.0, 520.0]


def segments(page: Page) -> Page:
    page.text("(in millions)", x=260).header(PARTS).header([("Three months ended June 30, 2023", 400.0)])
    page.row("Net sales", ["$ 300", "$ 100", "$ 400"], PART_EDGES).row(
        "Cost of revenue", ["200", "50", "250"], PART_EDGES
    )
    return page.skip(14).header([("Three months ended June 30, 2022", 400.0)])


def test_a_table_below_that_repeats_only_the_period_has_the_same_parts() -> None:
    page = segments(Page())
    page.row("Net sales", ["$ 280", "$ 90", "$ 370"], PART_EDGES).row(
        "Cost of revenue", ["190", "40", "230"], PART_EDGES
    )
    found = facts(page)
    revenue = {
        (fact.period.fiscal_year, fact.scope): int(fact.value / 10**6) for fact in found if fact.label == "Net sales"
    }
    assert revenue == {
        (2023, "Retail"): 300, (2023, "Online"): 100, (2023, None): 400,
        (2022, "Retail"): 280, (2022, "Online"): 90, (2022, None): 370,
    }  # fmt: skip


def test_only_what_stands_in_line_with_a_column_above_has_its_name() -> None:
    edges = [*PART_EDGES[:2], PART_EDGES[2] + 60, PART_EDGES[2]]
    page = Page().text("Deliveries were as follows:").header([*PARTS, ("Light", PARTS[2][1] + 60)])
    page = page.header([("2022", 400.0)]).row("Deliveries", ["30", "10", "40", "9"], [*PART_EDGES, PART_EDGES[2] + 60])
    page = page.skip(14).header([("2021", 400.0)])
    found = facts(page.row("Deliveries", ["28", "9", "8", "37"], edges))
    assert {(fact.column_path[0], int(fact.amount)) for fact in found if fact.period.fiscal_year == 2021} >= {
        ("Retail", 28),
        ("Online", 9),
    }


def test_columns_that_nothing_tells_apart_are_of_no_metric() -> None:
    page = Page().text("(in millions)", x=260).header([("Three months ended June 30, 2022", 400.0)])
    page.row("Net sales", ["$ 280", "$ 90", "$ 370"], PART_EDGES).row(
        "Cost of revenue", ["190", "40", "230"], PART_EDGES
    )
    found = [fact for fact in facts(page) if fact.label == "Net sales"]
    assert len(found) == 3
    assert {fact.metric for fact in found} == {None}


def test_a_balance_of_a_roll_forward_is_no_part_of_the_company() -> None:
    page = Page().text("The following table shows net sales by segment (in millions):", x=100)
    page.header([("Retail", 300.0), ("Online", 400.0)]).header([("2022", 300.0), ("2022", 400.0)])
    page.row("Balance at beginning of year", ["$ 300", "$ 100"], PART_EDGES[:2])
    page.row("Acquisitions", ["20", "10"], PART_EDGES[:2]).row("Balance at end of year", ["320", "110"], PART_EDGES[:2])
    scopes = {fact.scope for fact in facts(page)}
    assert not any(scope and "balance" in scope.lower() for scope in scopes)
    assert any(scope and "Acquisitions" in scope for scope in scopes)


_OF_SHARES = "(in millions, except number of shares, which are reflected in thousands, and par value)"
_OF_REVENUE = "(in thousands, except revenue per membership and percentages)"


@pytest.mark.parametrize(
    ("label", "unit_line", "excepted"),
    [
        ("Postpaid phone ARPA", "(dollars in millions, except ARPA and I-ARPA)", True),
        ("Total stores", "(in thousands, except store counts)", True),
        ("Average monthly revenue per paying membership", _OF_REVENUE, True),
        ("Average revenue per membership", _OF_REVENUE, True),
        ("Revenues", _OF_REVENUE, False),
        ("Common stock, $0.00001 par value: 50,400,000 shares authorized", _OF_SHARES, False),
        ("Common stock and additional paid-in capital", _OF_SHARES, False),
        ("Par value", _OF_SHARES, True),
        ("Common stock", "(in millions, except share and per share data)", False),
        ("Net sales", "(in millions, except where otherwise noted)", False),
        ("Net sales", "(in millions)", False),
    ],
)
def test_rows_that_a_unit_line_excepts_from_its_scale(label: str, unit_line: str, excepted: bool) -> None:
    assert is_unit_line_exception(label, unit_line) == excepted


def test_figures_that_nothing_dates_have_the_period_of_the_filing() -> None:
    page = Page().text("Assets acquired", x=240).header([("Life in years", 420.0), ("Fair value", 520.0)])
    page.row("Net sales contracts", ["4.2", "$ 232"], EDGES).row("Customer lists", ["7.0", "215"], EDGES)
    page.row("Trademarks", ["5.0", "25"], EDGES)
    tables = read_tables([page.done()], ANNUAL)
    assert not facts_of_tables(tables, {}, metric_of)
    found = facts_of_filing(tables, {}, FiscalCalendar.of(ANNUAL), metric_of)
    lists = [fact for fact in found if fact.label == "Customer lists"]
    assert [(fact.column, fact.amount) for fact in lists] == [
        ("Life in years", Decimal(7)),
        ("Fair value", Decimal(215)),
    ]
    assert {(fact.source, fact.period.fiscal_year, fact.metric, fact.tied) for fact in found} == {
        ("undated", 2022, None, False)
    }


def test_columns_under_mere_numbers_are_of_no_period() -> None:
    page = Page().header([("Face value", 420.0), ("Fair value", 520.0)])
    page.row("Other borrowings", ["113", "110"], EDGES).row("Total borrowings", ["90,481", "75,859"], EDGES)
    (table,) = read_tables([page.done()], ANNUAL)
    numbers = replace(table, columns=("563", "—"), column_paths=())
    of_names, of_numbers = (
        facts_of_filing([each], {}, FiscalCalendar.of(ANNUAL), metric_of) for each in (table, numbers)
    )
    assert len(of_names) == 4
    assert of_numbers == []
