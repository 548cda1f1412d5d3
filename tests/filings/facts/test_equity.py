from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from fin_agent.filings.facts.row_periods import balance_period, total_column
from fin_agent.filings.facts.table_facts import facts_of_tables
from fin_agent.filings.tables.reading import read_tables
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import PageContent, Statement
from tests.filings.typeset import Page

ANNUAL = Identity("Example Corp.", Form.TEN_K, 2022, None, date(2022, 12, 31), 12)
METRICS = {
    "net income": "net_income",
    "retained earnings": "retained_earnings",
    "total equity": "total_equity",
    "total assets": "total_assets",
}
EDGES = [300.0, 380.0, 460.0, 540.0]
YEARS = {year: FactPeriod(year, None, 12, date(year, 12, 31)) for year in (2020, 2021, 2022)}
ENDS = {year: FactPeriod(year, None, 0, date(year, 12, 31)) for year in (2019, 2020, 2021, 2022)}


def metric_of(label: str, statement: Statement | None, section: Sequence[str]) -> str | None:
    return METRICS.get(label.lower())


def balance_sheet() -> PageContent:
    page = Page(0).text("Consolidated Balance Sheets", x=240)
    page.header([("December 31, 2022", 430.0), ("December 31, 2021", 530.0)])
    for label in ("Cash", "Total assets", "Total liabilities"):
        page.row(label, ["1,000", "900"], [440.0, 540.0])
    return page.done()


def heads(page: Page) -> Page:
    page.text("Consolidated Statements of Equity", x=240).text("(in millions)", x=270)
    page.header([("Common", 290.0), ("Retained", 368.0), ("Noncontrolling", 446.0), ("Total", 530.0)])
    return page.header([("Stock", 290.0), ("Earnings", 368.0), ("Interests", 446.0), ("Equity", 530.0)])


def row(page: Page, label: str, *cells: str) -> Page:
    return page.row(label, cells, EDGES)


def facts(*pages: PageContent) -> list[Fact]:
    statements = {page.number: Statement.EQUITY for page in pages if page.number}
    return facts_of_tables(
        read_tables([balance_sheet(), *pages], ANNUAL), {0: Statement.BALANCE_SHEET, **statements}, metric_of
    )


def statement() -> PageContent:
    page = heads(Page(1))
    row(page, "Balance at January 1, 2021", "$ 5", "$ 70", "$ 25", "$ 100")
    row(page, "Net income", "", "20", "1", "21")
    row(page, "Balance at December 31, 2021", "5", "90", "26", "121")
    row(page, "Net income", "", "(4)", "(1)", "(5)")
    row(page, "Shares issued", "2", "", "", "2")
    return row(page, "Balance at December 31, 2022", "$ 7", "$ 86", "$ 25", "$ 118").done()


def test_balances_are_instants_and_what_stands_between_covers_the_year() -> None:
    whole = [fact for fact in facts(statement()) if fact.page == 1 and fact.scope is None]
    assert [(fact.label, int(fact.value), fact.metric, fact.period) for fact in whole] == [
        ("Balance at January 1, 2021", 100_000_000, "total_equity", ENDS[2020]),
        ("Net income", 21_000_000, "net_income", YEARS[2021]),
        ("Balance at December 31, 2021", 121_000_000, "total_equity", ENDS[2021]),
        ("Net income", -5_000_000, "net_income", YEARS[2022]),
        ("Shares issued", 2_000_000, None, YEARS[2022]),
        ("Balance at December 31, 2022", 118_000_000, "total_equity", ENDS[2022]),
    ]


def test_a_component_is_a_scope() -> None:
    parts = [fact for fact in facts(statement()) if fact.page == 1 and fact.scope is not None]
    assert {fact.scope for fact in parts} == {"Common Stock", "Retained Earnings", "Noncontrolling Interests"}
    earned = [(fact.metric, int(fact.amount)) for fact in parts if fact.scope == "Retained Earnings"]
    assert earned == [
        ("retained_earnings", 70),
        ("net_income", 20),
        ("retained_earnings", 90),
        ("net_income", -4),
        ("retained_earnings", 86),
    ]
    assert {fact.unit for fact in parts} == {"USD"}


def test_a_statement_goes_on_over_the_page() -> None:
    first = heads(Page(1))
    row(first, "Balance at December 31, 2020", "$ 5", "$ 70", "$ 25", "$ 100")
    row(first, "Net income", "", "20", "1", "21")
    second = heads(Page(2))
    row(second, "Shares issued", "1", "", "", "1")
    row(second, "Balance at December 31, 2021", "6", "90", "26", "122")
    found = [fact for fact in facts(first.done(), second.done()) if fact.page and fact.scope is None]
    assert [(fact.page, fact.label, fact.period) for fact in found] == [
        (1, "Balance at December 31, 2020", ENDS[2020]),
        (1, "Net income", YEARS[2021]),
        (2, "Shares issued", YEARS[2021]),
        (2, "Balance at December 31, 2021", ENDS[2021]),
    ]


def test_rows_after_the_last_balance_are_of_no_known_time() -> None:
    page = heads(Page(1))
    row(page, "Balance at December 31, 2021", "5", "90", "26", "121")
    row(page, "Net income", "", "(4)", "(1)", "(5)").row("Shares issued", ["2", "", "", "2"], EDGES)
    assert {fact.label for fact in facts(page.done()) if fact.page == 1} == {"Balance at December 31, 2021"}


def test_components_as_headings_under_years_are_scopes_too() -> None:
    page = Page(1).text("Consolidated Statements of Equity", x=240).text("(in millions)", x=270)
    page.header([("2022", 430.0), ("2021", 530.0)], stub="Years ended December 31,").text("Retained earnings:")
    edges = [440.0, 540.0]
    page.row("Balance, beginning of year", ["90", "70"], edges, x=46.0).row("Net income", ["10", "20"], edges, x=46.0)
    page.row("Balance, end of year", ["100", "90"], edges, x=46.0).skip(14).row(
        "Total equity", ["$ 118", "$ 121"], edges
    )
    found = [fact for fact in facts(page.done()) if fact.page == 1 and fact.column.endswith("2022")]
    assert [(fact.label, fact.scope, fact.period.months, fact.period.fiscal_year) for fact in found] == [
        ("Balance, beginning of year", "Retained earnings", 0, 2021),
        ("Net income", "Retained earnings", 12, 2022),
        ("Balance, end of year", "Retained earnings", 0, 2022),
        ("Total equity", None, 0, 2022),
    ]


def test_the_total_is_the_column_of_that_name() -> None:
    assert total_column(["Total", "Common Stock", "Retained Earnings"]) == 0
    assert (
        total_column(["Common Stock", "Total Example shareholders' equity", "Noncontrolling interests", "Total"]) == 3
    )
    assert total_column(["Common Stock", "Retained Earnings", "Stockholders' Equity"]) == 2
    assert total_column(["Common Stock", "Retained Earnings"]) is None


def test_a_balance_under_a_quarter_is_an_instant_of_that_quarter() -> None:
    quarter = FactPeriod(2022, 3, 3, date(2022, 9, 30))
    assert balance_period("Balance, end of period", quarter) == FactPeriod(2022, 3, 0, date(2022, 9, 30))
    assert balance_period("Net income", quarter) == quarter


def test_a_beginning_is_the_end_before() -> None:
    label = "Balance, beginning of period"
    assert balance_period(label, FactPeriod(2022, 3, 3, date(2022, 9, 30))) == FactPeriod(2022, 2, 0, date(2022, 6, 30))
    assert balance_period(label, FactPeriod(2022, 1, 3, date(2022, 3, 31))) == FactPeriod(
        2021, None, 0, date(2021, 12, 31)
    )
    assert balance_period(label, FactPeriod(2022, None, 9, date(2022, 9, 30))) == ENDS[2021]
    drifting = FactPeriod(2023, None, 12, date(2023, 9, 30)), FactPeriod(2022, None, 12, date(2022, 9, 24))
    assert balance_period(label, drifting[0], drifting) == FactPeriod(2022, None, 0, date(2022, 9, 24))
    assert balance_period(label, drifting[1], drifting) == FactPeriod(2021, None, 0, None)


def test_a_part_without_a_name_is_no_figure_of_the_company() -> None:
    page = Page(1).text("Consolidated Statements of Equity", x=240).text("(in millions)", x=270)
    page.header([("Total Equity", 520.0)])
    row(page, "Balance at December 31, 2021", "5", "90", "26", "121")
    row(page, "Net income", "", "(4)", "(1)", "(5)")
    row(page, "Balance at December 31, 2022", "5", "86", "25", "116")
    found = [fact for fact in facts(page.done()) if fact.page == 1]
    assert {(fact.scope, int(fact.amount)) for fact in found} <= {(None, 121), (None, -5), (None, 116)}
