from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from fin_agent.filings.facts.accounting_identities import Check, Outcome, check_facts
from fin_agent.vocabulary.fact import Fact, FactPeriod, Tag
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box

BALANCE, CASH, INCOME = Statement.BALANCE_SHEET, Statement.CASH_FLOW, Statement.INCOME
OPENING, CLOSING = "cash_at_beginning_of_period", "cash_at_end_of_period"
MILLION = 1_000_000


def sheet(
    statement: Statement,
    rows: Sequence[tuple[str, Sequence[str]]],
    *,
    page: int = 4,
    years: Sequence[int] = (2022, 2021),
    months: int = 12,
    quarter: int | None = None,
) -> list[Fact]:
    """Rows of (metric, or a label in capitals, amounts by year) as facts in millions, line by line."""
    found = []
    for line, (name, amounts) in enumerate(rows):
        for column, (year, amount) in enumerate(zip(years, amounts, strict=True)):
            right = 300.0 + 100 * column
            unit = "USD per share" if name.endswith("_eps") else "shares" if "shares" in name else "USD"
            found.append(
                Fact(
                    label=name.replace("_", " ").capitalize(),
                    amount=Decimal(amount),
                    scale=1 if unit == "USD per share" else MILLION,
                    unit=unit,
                    period=FactPeriod(year, quarter, 0 if statement is BALANCE else months, date(year, 12, 31)),
                    page=page,
                    box=Box(right - 40, 100.0 + 12 * line, right, 110.0 + 12 * line),
                    metric=None if name.isupper() else name,
                    line=line,
                    statement=statement,
                )
            )
    return found


def cash_flow(*rows: tuple[str, Sequence[str]], **place: int) -> list[Fact]:
    flows = [("cash_from_operations", "90 80"), ("cash_from_investing", "-50 -40"), ("cash_from_financing", "-25 -30")]
    return sheet(CASH, [*((name, amounts.split()) for name, amounts in flows), *rows], **place)


def named(checks: Sequence[Check], name: str, year: int = 2022) -> Check:
    return next(check for check in checks if check.name == name and check.period and check.period.fiscal_year == year)


def outcomes(facts: Sequence[Fact], name: str) -> list[str]:
    return [check.outcome.value for check in check_facts(facts) if check.name == name]


def misread(facts: Sequence[Fact], metric: str, amount: str, year: int = 2022) -> list[Fact]:
    return [
        replace(fact, amount=Decimal(amount)) if fact.metric == metric and fact.period.fiscal_year == year else fact
        for fact in facts
    ]


class TestBalance:
    TOTALS = (
        ("total_assets", ("500", "450")),
        ("total_liabilities", ("300", "280")),
        ("REDEEMABLE SHARES OF A PARTNER", ("20", "20")),
        ("total_equity", ("180", "150")),
        ("total_liabilities_and_equity", ("500", "450")),
    )

    def test_holds_column_by_column(self) -> None:
        assert outcomes(sheet(BALANCE, self.TOTALS), "balance") == ["holds", "holds"]

    def test_a_misread_total_fails_with_its_page_and_difference(self) -> None:
        check = named(check_facts(misread(sheet(BALANCE, self.TOTALS), "total_assets", "5000")), "balance")
        assert check.outcome is Outcome.FAILS
        assert (check.difference, check.pages) == (Decimal(4500 * MILLION), (4,))
        assert [(figure.label, figure.value, figure.line, figure.weight) for figure in check.figures] == [
            ("Total assets", Decimal(5000 * MILLION), 0, 1),
            ("Total liabilities and equity", Decimal(500 * MILLION), 4, 0),
        ]
        assert check.sentence == "Total assets should be Total liabilities and equity."

    def test_parts_stand_in_for_a_total_that_is_not_printed(self) -> None:
        facts = sheet(BALANCE, self.TOTALS[:4])
        assert outcomes(facts, "balance") == ["holds", "holds"]
        assert outcomes(misread(facts, "total_equity", "18"), "balance") == ["fails", "holds"]

    def test_what_stands_between_liabilities_and_equity_belongs_to_their_total(self) -> None:
        facts = sheet(BALANCE, self.TOTALS)
        assert outcomes(facts, "liabilities and equity") == ["holds", "holds"]
        assert outcomes(misread(facts, "total_liabilities", "800"), "liabilities and equity") == ["fails", "holds"]

    @pytest.mark.parametrize(("total", "outcome"), [("502", "fails"), ("501", "holds")])
    def test_each_figure_may_be_rounded_by_itself(self, total: str, outcome: str) -> None:
        names = ("total_liabilities", "total_equity", "total_liabilities_and_equity")
        rows = [(name, (figure,)) for name, figure in zip(names, ("200", "300", total), strict=True)]
        assert outcomes(sheet(BALANCE, rows, years=(2022,)), "liabilities and equity") == [outcome]

    def test_missing_total_is_named_with_its_page(self) -> None:
        checks = check_facts(sheet(BALANCE, self.TOTALS[:1]))
        assert [check.outcome for check in checks if check.name == "balance"] == [Outcome.NOT_CHECKABLE] * 2
        assert "no total liabilities and equity was read" in checks[0].sentence
        assert checks[0].pages == (4,)

    def test_parts_of_the_company_are_left_out(self) -> None:
        parent = [replace(fact, scope="Parent") for fact in sheet(BALANCE, self.TOTALS)]
        assert outcomes([*sheet(BALANCE, self.TOTALS), *misread(parent, "total_assets", "1")], "balance") == [
            "holds",
            "holds",
        ]

    def test_nothing_read_is_said_once(self) -> None:
        assert [(check.name, check.outcome.value, check.period) for check in check_facts(())] == [
            ("balance", "not checkable", None),
            ("cash", "not checkable", None),
        ]


class TestCash:
    INSIDE = (
        ("exchange_rate_effect_on_cash", ("-5", "0")),
        ("net_change_in_cash", ("10", "10")),
        (OPENING, ("110", "100")),
        (CLOSING, ("120", "110")),
    )
    OUTSIDE = (
        ("net_change_in_cash", ("15", "10")),
        ("exchange_rate_effect_on_cash", ("-5", "0")),
        (OPENING, ("110", "100")),
        (CLOSING, ("120", "110")),
    )

    @pytest.mark.parametrize("rows", [INSIDE, OUTSIDE], ids=["inside", "outside"])
    def test_exchange_rates_count_where_the_rows_put_them(self, rows: Sequence[tuple[str, Sequence[str]]]) -> None:
        facts = cash_flow(*rows)
        for name in ("cash", "cash flows"):
            assert outcomes(facts, name) == ["holds", "holds"]
        effects = {
            name: "Exchange rate effect on cash" in {figure.label for figure in named(check_facts(facts), name).figures}
            for name in ("cash", "cash flows")
        }
        assert effects == {"cash": rows is self.OUTSIDE, "cash flows": rows is self.INSIDE}

    @pytest.mark.parametrize("metric", ["net_change_in_cash", OPENING, CLOSING])
    def test_a_misread_row_fails(self, metric: str) -> None:
        assert outcomes(misread(cash_flow(*self.INSIDE), metric, "77"), "cash") == ["fails", "holds"]

    def test_a_misread_flow_fails(self) -> None:
        facts = misread(cash_flow(*self.INSIDE), "cash_from_investing", "50")
        assert outcomes(facts, "cash flows") == ["fails", "holds"]
        assert outcomes(facts, "cash") == ["holds", "holds"]

    def test_rows_without_a_name_between_change_and_closing_cash_may_count(self) -> None:
        rows = (
            ("net_change_in_cash", ("10", "10")),
            (OPENING, ("110", "100")),
            ("LESS CASH OF DISCONTINUED OPERATIONS", ("7", "0")),
            (CLOSING, ("113", "110")),
        )
        assert outcomes(cash_flow(*rows), "cash") == ["holds", "holds"]

    def test_opening_cash_is_last_years_closing_cash(self) -> None:
        facts = cash_flow(*self.INSIDE)
        assert outcomes(facts, "opening cash") == ["holds"]
        check = named(check_facts(misread(facts, CLOSING, "11", year=2021)), "opening cash")
        assert (check.outcome, check.difference) == (Outcome.FAILS, Decimal(-99 * MILLION))

    def test_cash_held_for_sale_opens_the_next_year(self) -> None:
        rows = (
            ("HELD FOR SALE", ("0", "-8")),
            ("net_change_in_cash", ("15", "12")),
            (OPENING, ("120", "100")),
            (CLOSING, ("135", "112")),
        )
        assert outcomes(cash_flow(*rows), "opening cash") == ["holds"]

    def test_a_transition_period_parts_two_years(self) -> None:
        facts = misread(cash_flow(*self.INSIDE), CLOSING, "99", year=2021)
        moved = [
            replace(fact, period=replace(fact.period, end=date(2021, 6, 30)))
            if fact.period.fiscal_year == 2021
            else fact
            for fact in facts
        ]
        assert outcomes(moved, "opening cash") == []

    def test_missing_closing_cash_is_named(self) -> None:
        rows = [row for row in self.INSIDE if row[0] != CLOSING]
        check = named(check_facts(cash_flow(*rows)), "cash")
        assert check.outcome is Outcome.NOT_CHECKABLE and "no closing cash" in check.sentence

    def test_tags_date_opening_and_closing_cash(self) -> None:
        facts = []
        for fact in cash_flow(*self.INSIDE):
            if fact.metric in (OPENING, CLOSING):
                year = fact.period.fiscal_year - (fact.metric == OPENING)
                end = date(year, 12, 31)
                tag = Tag("us-gaap:Cash", fact.value, str(fact.amount), "c1", end)
                instant = FactPeriod(year, None, 0, end)
                fact = replace(fact, metric=CLOSING, period=instant, tag=tag)
            facts.append(fact)
        assert outcomes(facts, "cash") == ["holds", "holds"]
        assert outcomes(misread(facts, CLOSING, "77", year=2022), "cash") == ["fails", "holds"]

    def test_statement_without_its_last_rows_says_on_which_page(self) -> None:
        checks = [check for check in check_facts(cash_flow(page=7)) if check.name == "cash"]
        assert [(check.outcome, check.pages) for check in checks] == [(Outcome.NOT_CHECKABLE, (7,))]

    def test_a_statement_over_two_pages_is_one(self) -> None:
        facts = [replace(fact, page=5) if fact.line > 3 else fact for fact in cash_flow(*self.INSIDE)]
        assert outcomes(facts, "cash flows") == ["holds", "holds"]
        assert named(check_facts(facts), "cash flows").pages == (4, 5)


class TestIncome:
    ROWS = (
        ("revenue", ("1000", "900")),
        ("cost_of_revenue", ("600", "500")),
        ("gross_profit", ("400", "400")),
        ("income_before_taxes", ("200", "150")),
        ("income_tax_expense", ("50", "40")),
        ("SHARE OF A VENTURE", ("4", "-2")),
        ("net_income", ("154", "108")),
        ("basic_eps", ("1.54", "1.09")),
        ("weighted_average_shares_basic", ("100.1", "99.3")),
    )

    @pytest.mark.parametrize(
        ("name", "metric", "amount"),
        [
            ("gross profit", "gross_profit", "40"),
            ("income after taxes", "income_before_taxes", "2000"),
            ("basic earnings per share", "weighted_average_shares_basic", "100100"),
        ],
    )
    def test_hold_until_a_figure_is_misread(self, name: str, metric: str, amount: str) -> None:
        facts = sheet(INCOME, self.ROWS)
        assert outcomes(facts, name) == ["holds", "holds"]
        assert outcomes(misread(facts, metric, amount), name) == ["fails", "holds"]

    def test_taxes_shown_as_a_deduction(self) -> None:
        facts = misread(sheet(INCOME, self.ROWS), "income_tax_expense", "-50")
        facts = misread(facts, "income_tax_expense", "-40", year=2021)
        assert outcomes(facts, "income after taxes") == ["holds", "holds"]

    def test_one_tax_with_the_other_sign_fails(self) -> None:
        rows = [(name, (*amounts, amounts[-1])) for name, amounts in self.ROWS]
        facts = sheet(INCOME, rows, years=(2022, 2021, 2020))
        turned = misread(facts, "income_tax_expense", "-50")
        assert outcomes(turned, "income after taxes") == ["fails", "holds", "holds"]

    def test_preferred_dividends_leave_earnings_per_share_open(self) -> None:
        rows = [*self.ROWS[:7], ("PREFERRED DIVIDENDS", ("60", "60")), *self.ROWS[7:]]
        assert outcomes(sheet(INCOME, rows), "basic earnings per share") == []

    def test_cash_flow_starts_with_the_net_income_of_the_income_statement(self) -> None:
        income = sheet(INCOME, self.ROWS)
        start = sheet(CASH, [("net_income", ("154", "108"))], page=6)
        assert outcomes([*income, *start], "net income") == ["holds", "holds"]
        assert outcomes([*income, *misread(start, "net_income", "145")], "net income") == ["fails", "holds"]
        other_span = sheet(CASH, [("net_income", ("300", "200"))], page=6, months=9, quarter=3)
        assert outcomes([*income, *other_span], "net income") == []

    def test_net_income_before_noncontrolling_interests(self) -> None:
        interests = ("net_income_attributable_to_noncontrolling_interests", ("3", "2"))
        income = sheet(INCOME, [*self.ROWS[:7], interests])
        assert outcomes([*income, *sheet(CASH, [("net_income", ("157", "110"))], page=6)], "net income") == [
            "holds",
            "holds",
        ]


def test_many_rows_of_one_name_are_no_totals() -> None:
    rows = [(name, ("1", "2")) for name in ("cash_from_operations", "cash_from_investing") for _ in range(300)]
    rows += [(f"ROW {number}", ("3", "4")) for number in range(300)]
    facts = cash_flow(*rows, *TestCash.INSIDE)
    assert outcomes(facts, "cash") == ["holds", "holds"]
