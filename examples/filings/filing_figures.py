"""A small, consistent model of a company: each year rolls the last balance sheet forward through its cash flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

FIRST_YEAR = 2020
"""Fiscal year of the first entry in every list of `companies.yaml`; the opening balance is one year earlier."""

DAYS = 365


def model(company: Mapping[str, Any]) -> Model:
    """All fiscal years of a company and the interim period of its 10-Q with the one a year before."""
    ends: Sequence[date] = company["year_ends"]
    periods: dict[int, Period] = {}
    balance = opening = _opening(company)
    for number, end in enumerate(ends[1:]):
        year = FIRST_YEAR + number
        periods[year] = _roll(company, year, balance, Span(end, 12))
        balance = periods[year].balance
    interim = company["interim"]
    last = FIRST_YEAR + len(ends) - 2
    to_date, quarter = {}, {}
    for year, end in ((last - 1, interim["prior_end"]), (last, interim["end"])):
        start = periods[year - 1].balance
        to_date[year] = _roll(company, year, start, Span(end, interim["months"]))
        quarter[year] = _roll(company, year, start, Span(end, 3))
    return Model(opening, periods, quarter, to_date)


@dataclass(frozen=True, slots=True)
class Model:
    """Fiscal years by their name, and the interim quarter and year to date of the last two."""

    opening: Balance
    years: dict[int, Period]
    quarter: dict[int, Period]
    to_date: dict[int, Period]


@dataclass(frozen=True, slots=True)
class Span:
    """A duration of `months` that ends at `end`; 0 months is an instant."""

    end: date
    months: int


@dataclass(frozen=True, slots=True)
class Period:
    """One period's statements; amounts in units of the company's scale, outflows negative in the cash flow."""

    year: int
    span: Span
    income: Income
    cash_flow: CashFlow
    opening: Balance
    balance: Balance


@dataclass(frozen=True, slots=True)
class Income:
    """Statement of income with comprehensive income, shares and segment sales."""

    segment_sales: dict[str, int]
    revenue: int
    cost: int
    gross_profit: int
    research: int
    selling: int
    restructuring: int
    operating_expenses: int
    operating_income: int
    interest_expense: int
    other_income: int
    pretax: int
    tax: int
    net_income: int
    translation: int
    unrealized: int
    basic_shares: Decimal
    diluted_shares: Decimal
    dividends_per_share: Decimal

    @property
    def eps_basic(self) -> Decimal:
        """Net income by weighted-average shares, in dollars and cents (amounts and shares have the same scale)."""
        return _cents(self.net_income / self.basic_shares)

    @property
    def eps_diluted(self) -> Decimal:
        """As basic, over diluted shares."""
        return _cents(self.net_income / self.diluted_shares)

    @property
    def other_comprehensive(self) -> int:
        """Currency translation and unrealized gains, after tax."""
        return self.translation + self.unrealized


@dataclass(frozen=True, slots=True)
class CashFlow:
    """Statement of cash flows."""

    depreciation_amortization: int
    stock_compensation: int
    deferred_taxes: int
    receivables: int
    inventories: int
    prepaid: int
    other_assets: int
    payables: int
    accrued: int
    other_liabilities: int
    operating: int
    capital_expenditures: int
    investments_purchased: int
    investments_matured: int
    acquisitions: int
    investing: int
    debt_issued: int
    debt_repaid: int
    dividends: int
    repurchases: int
    stock_issued: int
    financing: int
    exchange_rates: int
    net_change: int


@dataclass(frozen=True, slots=True)
class Balance:
    """Balance sheet; contra equity is negative."""

    cash: int
    investments: int
    receivables: int
    inventories: int
    prepaid: int
    plant: int
    goodwill: int
    intangibles: int
    other_assets: int
    payables: int
    accrued: int
    current_debt: int
    long_term_debt: int
    other_liabilities: int
    capital: int
    retained: int
    accumulated_oci: int
    treasury: int

    @property
    def current_assets(self) -> int:
        """Cash to prepaid expenses."""
        return self.cash + self.investments + self.receivables + self.inventories + self.prepaid

    @property
    def total_assets(self) -> int:
        """Current and other assets."""
        return self.current_assets + self.plant + self.goodwill + self.intangibles + self.other_assets

    @property
    def current_liabilities(self) -> int:
        """Payables, accrued liabilities and debt due within a year."""
        return self.payables + self.accrued + self.current_debt

    @property
    def total_liabilities(self) -> int:
        """Current and long-term liabilities."""
        return self.current_liabilities + self.long_term_debt + self.other_liabilities

    @property
    def equity(self) -> int:
        """Capital, retained earnings, accumulated other comprehensive loss and treasury stock."""
        return self.capital + self.retained + self.accumulated_oci + self.treasury


def notes_outstanding(company: Mapping[str, Any], year: int) -> dict[str, int]:
    """Notes at the end of a fiscal year by title, in the order they fall due."""
    return {n["title"]: n["amount"] for n in company["notes"] if n["issued"] <= year < n["repaid"]}


def _opening(company: Mapping[str, Any]) -> Balance:
    given = company["opening"]
    current, long_term = _debt(company, FIRST_YEAR - 1)
    balance = Balance(current_debt=current, long_term_debt=long_term, retained=0, **given)
    return replace(balance, retained=balance.total_assets - balance.total_liabilities - balance.equity)


def _debt(company: Mapping[str, Any], year: int) -> tuple[int, int]:
    due_next = {n["title"] for n in company["notes"] if n["repaid"] == year + 1}
    notes = notes_outstanding(company, year)
    current = sum(amount for title, amount in notes.items() if title in due_next)
    return current, sum(notes.values()) - current


def _roll(company: Mapping[str, Any], year: int, opening: Balance, span: Span) -> Period:
    """Income, cash flow and closing balance of a period, such that every balance moves by its cash-flow line."""
    drivers = {name: values[year - FIRST_YEAR] for name, values in company["drivers"].items()}
    full = span.months == 12
    share = 1.0 if full else company["interim"]["sales_quarter" if span.months == 3 else "sales_to_date"]
    income = _income(company, drivers, year, span, share)

    def part(name: str) -> int:
        return round(float(drivers[name]) * share)

    annual_sales = sum(segment["sales"][year - FIRST_YEAR] for segment in company["segments"].values())
    annual_cost = annual_sales * (1 - drivers["gross_margin"] / 100)
    build = 1.0 if full else company["interim"]["inventory_build"]
    current_debt, long_term_debt = _debt(company, year) if full else (opening.current_debt, opening.long_term_debt)
    depreciation, amortization = part("depreciation"), part("amortization")
    goodwill, intangibles = part("acquired_goodwill"), part("acquired_intangibles")
    if not full:  # a deal of the year is either closed by the end of the interim period or not
        closed = company["interim"].get("acquired", True)
        goodwill, intangibles = drivers["acquired_goodwill"] * closed, drivers["acquired_intangibles"] * closed
    dividends = round(income.dividends_per_share * income.basic_shares)
    closing = replace(
        opening,
        investments=opening.investments
        + part("investments_purchased")
        - part("investments_matured")
        + income.unrealized,
        receivables=round(annual_sales * drivers["receivable_days"] / DAYS),
        inventories=round(annual_cost * drivers["inventory_days"] / DAYS * build),
        prepaid=round(annual_sales * drivers["prepaid"] / 100),
        plant=opening.plant + part("capital_expenditures") - depreciation,
        goodwill=opening.goodwill + goodwill,
        intangibles=opening.intangibles + intangibles - amortization,
        other_assets=opening.other_assets + part("other_assets") + income.translation - part("translation_on_cash"),
        payables=round(annual_cost * drivers["payable_days"] / DAYS * build),
        accrued=round(annual_sales * drivers["accrued"] / 100),
        current_debt=current_debt,
        long_term_debt=long_term_debt,
        other_liabilities=opening.other_liabilities + part("other_liabilities") + part("deferred_taxes"),
        capital=opening.capital + part("stock_compensation") + part("stock_issued"),
        retained=opening.retained + income.net_income - dividends,
        accumulated_oci=opening.accumulated_oci + income.other_comprehensive,
        treasury=opening.treasury - part("repurchases"),
    )
    issued = sum(n["amount"] for n in company["notes"] if n["issued"] == year) if full else 0
    repaid = sum(n["amount"] for n in company["notes"] if n["repaid"] == year) if full else 0
    operating = {
        "depreciation_amortization": depreciation + amortization,
        "stock_compensation": part("stock_compensation"),
        "deferred_taxes": part("deferred_taxes"),
        "receivables": opening.receivables - closing.receivables,
        "inventories": opening.inventories - closing.inventories,
        "prepaid": opening.prepaid - closing.prepaid,
        "other_assets": -part("other_assets"),
        "payables": closing.payables - opening.payables,
        "accrued": closing.accrued - opening.accrued,
        "other_liabilities": part("other_liabilities"),
    }
    investing = {
        "capital_expenditures": -part("capital_expenditures"),
        "investments_purchased": -part("investments_purchased"),
        "investments_matured": part("investments_matured"),
        "acquisitions": -(goodwill + intangibles),
    }
    financing = {
        "debt_issued": issued,
        "debt_repaid": -repaid,
        "dividends": -dividends,
        "repurchases": -part("repurchases"),
        "stock_issued": part("stock_issued"),
    }
    totals = [income.net_income + sum(operating.values()), sum(investing.values()), sum(financing.values())]
    exchange = part("translation_on_cash")
    cash_flow = CashFlow(
        **operating,
        operating=totals[0],
        **investing,
        investing=totals[1],
        **financing,
        financing=totals[2],
        exchange_rates=exchange,
        net_change=sum(totals) + exchange,
    )
    closing = replace(closing, cash=opening.cash + cash_flow.net_change)
    if closing.total_assets != closing.total_liabilities + closing.equity:
        raise ValueError(f"{company['name']} {year}: the balance sheet does not balance: {asdict(closing)}")
    return Period(year, span, income, cash_flow, opening, closing)


def _income(company: Mapping[str, Any], drivers: Mapping[str, Any], year: int, span: Span, share: float) -> Income:
    sales = {name: round(s["sales"][year - FIRST_YEAR] * share) for name, s in company["segments"].items()}
    revenue = sum(sales.values())
    gross_profit = round(revenue * drivers["gross_margin"] / 100)
    research = round(revenue * drivers.get("research", 0) / 100)
    selling = round(revenue * drivers["selling"] / 100)
    restructuring = round(drivers["restructuring"] * share)
    expenses = research + selling + restructuring
    months = span.months / 12
    interest, other = round(drivers["interest_expense"] * months), round(drivers["other_income"] * months)
    pretax = gross_profit - expenses - interest + other
    tax = round(pretax * drivers["tax_rate"] / 100)
    basic = Decimal(str(drivers["basic_shares"]))
    return Income(
        segment_sales=sales,
        revenue=revenue,
        cost=revenue - gross_profit,
        gross_profit=gross_profit,
        research=research,
        selling=selling,
        restructuring=restructuring,
        operating_expenses=expenses,
        operating_income=gross_profit - expenses,
        interest_expense=interest,
        other_income=other,
        pretax=pretax,
        tax=tax,
        net_income=pretax - tax,
        translation=round(drivers["translation"] * share),
        unrealized=round(drivers["unrealized"] * share),
        basic_shares=basic,
        diluted_shares=basic + Decimal(str(drivers["dilution"])),
        dividends_per_share=Decimal(drivers["dividends_per_share"]) * span.months / 12,
    )


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)
