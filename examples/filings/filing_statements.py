"""The primary statements of a filing, in the wording of its company."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from filing_figures import FIRST_YEAR, Balance, Period
from filing_layout import Grid, Line, number
from filing_sheet import Column, Sheet, Table
from filing_words import long_date


def income_statement(company: Mapping[str, Any], columns: Sequence[Column], heads: Any, spans: Any) -> Table:
    """Revenue to net income, with per-share figures."""
    label, sheet = company["labels"], Sheet(company, columns)
    sign = company.get("expense_sign", -1)
    sheet.row(label["revenue"], lambda p: p.income.revenue, "revenue", dollar=True)
    sheet.row(label["cost"], lambda p: p.income.cost, "cost_of_revenue")
    sheet.row(label["gross_profit"], lambda p: p.income.gross_profit, "gross_profit", indent=1, total=True)
    sheet.head("Operating expenses:")
    if "research" in label:
        sheet.row(label["research"], lambda p: p.income.research, "research_and_development", indent=1)
    sheet.row(label["selling"], lambda p: p.income.selling, "selling_general_administrative", indent=1)
    sheet.row(label["restructuring"], lambda p: p.income.restructuring, "restructuring", indent=1)
    sheet.row(
        "Total operating expenses", lambda p: p.income.operating_expenses, "operating_expenses", indent=2, total=True
    )
    sheet.row(label["operating_income"], lambda p: p.income.operating_income, "operating_income", total=True)
    sheet.row("Interest expense", lambda p: sign * p.income.interest_expense, "interest_expense")
    other = "Other income (expense), net" if sign < 0 else "Other (income) expense, net"
    sheet.row(other, lambda p: -sign * p.income.other_income, "other_income")
    sheet.row(label["pretax"], lambda p: p.income.pretax, "income_before_taxes", total=True)
    sheet.row(label["tax"], lambda p: p.income.tax, "income_tax")
    sheet.row(label["net_income"], lambda p: p.income.net_income, "net_income", total=True, double=True)
    sheet.head(label["eps"])
    per_share: dict[str, Any] = {"unit": "USD per share", "places": 2, "indent": 1, "dollar": True}
    sheet.row("Basic", lambda p: p.income.eps_basic, "eps_basic", **per_share)
    sheet.row("Diluted", lambda p: p.income.eps_diluted, "eps_diluted", **per_share)
    sheet.head(label["shares"])
    places = 1 if company["scale"] == 1_000_000 else 0
    sheet.row("Basic", lambda p: p.income.basic_shares, "shares_basic", unit="shares", places=places, indent=1)
    sheet.row("Diluted", lambda p: p.income.diluted_shares, "shares_diluted", unit="shares", places=places, indent=1)
    declared = "Cash dividends declared per share"
    sheet.row(declared, lambda p: p.income.dividends_per_share, "dividends_per_share", **(per_share | {"indent": 0}))
    return sheet.table(company["titles"]["income"], company["unit_line"], heads, spans)


def comprehensive_statement(company: Mapping[str, Any], columns: Sequence[Column], heads: Any, spans: Any) -> Table:
    """Net income and other comprehensive income."""
    label, sheet = company["labels"], Sheet(company, columns)
    net = label["net_income"]
    word = "earnings" if "earnings" in net else "income"
    sheet.row(net, lambda p: p.income.net_income, "net_income", dollar=True)
    sheet.head(f"Other comprehensive {word} (loss), net of tax:")
    sheet.row("Foreign currency translation adjustments", lambda p: p.income.translation, indent=1)
    sheet.row("Unrealized gains (losses) on investments", lambda p: p.income.unrealized, indent=1)
    total = f"Total other comprehensive {word} (loss)"
    sheet.row(total, lambda p: p.income.other_comprehensive, "other_comprehensive_income", indent=2, total=True)
    comprehensive = f"Comprehensive {word}"
    sheet.row(
        comprehensive,
        lambda p: p.income.net_income + p.income.other_comprehensive,
        "comprehensive_income",
        total=True,
        double=True,
    )
    return sheet.table(company["titles"]["comprehensive-income"], company["unit_short"], heads, spans)


def balance_sheet(company: Mapping[str, Any], columns: Sequence[Column], heads: Any, spans: Any) -> Table:
    """Columns are Balances."""
    label, sheet = company["labels"], Sheet(company, columns)
    sheet.head("ASSETS")
    sheet.head("Current assets:")
    sheet.row(label["cash"], lambda b: b.cash, "cash", indent=1, dollar=True)
    sheet.row("Short-term investments", lambda b: b.investments, "short_term_investments", indent=1)
    sheet.row(label["receivables"], lambda b: b.receivables, "accounts_receivable", indent=1)
    sheet.row(label["inventories"], lambda b: b.inventories, "inventories", indent=1)
    sheet.row("Prepaid expenses and other current assets", lambda b: b.prepaid, "prepaid_expenses", indent=1)
    sheet.row("Total current assets", lambda b: b.current_assets, "current_assets", indent=2, total=True)
    sheet.row("Property, plant and equipment, net", lambda b: b.plant, "property_plant_equipment")
    sheet.row("Goodwill", lambda b: b.goodwill, "goodwill")
    sheet.row("Intangible assets, net", lambda b: b.intangibles, "intangible_assets")
    sheet.row("Other assets", lambda b: b.other_assets, "other_assets")
    sheet.row("Total assets", lambda b: b.total_assets, "total_assets", indent=2, total=True, double=True)
    owners = label["owners"]
    sheet.head(f"LIABILITIES AND {owners.upper()}’ EQUITY")
    sheet.head("Current liabilities:")
    sheet.row("Accounts payable", lambda b: b.payables, "accounts_payable", indent=1, dollar=True)
    sheet.row("Accrued liabilities", lambda b: b.accrued, "accrued_liabilities", indent=1)
    sheet.row("Current portion of long-term debt", lambda b: b.current_debt, "current_debt", indent=1)
    sheet.row("Total current liabilities", lambda b: b.current_liabilities, "current_liabilities", indent=2, total=True)
    sheet.row("Long-term debt", lambda b: b.long_term_debt, "long_term_debt")
    sheet.row("Other long-term liabilities", lambda b: b.other_liabilities, "other_liabilities")
    sheet.row("Total liabilities", lambda b: b.total_liabilities, "total_liabilities", indent=2, total=True)
    sheet.head("Commitments and contingencies")
    sheet.head(f"{owners.capitalize()}’ equity:")
    sheet.row("Common stock and additional paid-in capital", lambda b: b.capital, "paid_in_capital", indent=1)
    sheet.row("Retained earnings", lambda b: b.retained, "retained_earnings", indent=1)
    sheet.row("Accumulated other comprehensive loss", lambda b: b.accumulated_oci, "accumulated_oci", indent=1)
    sheet.row("Treasury stock, at cost", lambda b: b.treasury, "treasury_stock", indent=1)
    sheet.row(label["equity"], lambda b: b.equity, "stockholders_equity", indent=2, total=True)
    both = label["liabilities_and_equity"]
    liabilities_and_equity = "liabilities_and_equity"
    sheet.row(both, lambda b: b.total_liabilities + b.equity, liabilities_and_equity, indent=2, total=True, double=True)
    return sheet.table(company["titles"]["balance"], company["unit_short"], heads, spans)


def cash_flow_statement(company: Mapping[str, Any], columns: Sequence[Column], heads: Any, spans: Any) -> Table:
    """Operating, investing and financing flows, from opening to closing cash."""
    label, sheet = company["labels"], Sheet(company, columns)
    net = label["net_income"]

    def flow(text: str, name: str, metric: str = "", **style: Any) -> None:
        sheet.row(text, lambda p: getattr(p.cash_flow, name), metric, **style)

    sheet.head("Cash flows from operating activities:")
    sheet.row(net, lambda p: p.income.net_income, "net_income", indent=1, dollar=True)
    sheet.head(f"Adjustments to reconcile {net.lower()} to net cash provided by operating activities:", 1)
    flow("Depreciation and amortization", "depreciation_amortization", "depreciation_amortization", indent=2)
    flow("Stock-based compensation", "stock_compensation", "stock_based_compensation", indent=2)
    flow("Deferred income taxes", "deferred_taxes", "deferred_income_taxes", indent=2)
    sheet.head("Changes in operating assets and liabilities:", 1)
    flow(label["receivables"], "receivables", "change_receivables", indent=2)
    flow(label["inventories"], "inventories", "change_inventories", indent=2)
    flow("Prepaid expenses and other current assets", "prepaid", indent=2)
    flow("Other assets", "other_assets", indent=2)
    flow("Accounts payable", "payables", "change_payables", indent=2)
    flow("Accrued liabilities", "accrued", indent=2)
    flow("Other long-term liabilities", "other_liabilities", indent=2)
    flow("Net cash provided by operating activities", "operating", "operating_cash_flow", indent=3, total=True)
    sheet.head("Cash flows from investing activities:")
    flow("Purchases of property and equipment", "capital_expenditures", "capital_expenditures", indent=1)
    flow("Purchases of short-term investments", "investments_purchased", indent=1)
    flow("Maturities of short-term investments", "investments_matured", indent=1)
    flow("Acquisitions, net of cash acquired", "acquisitions", "acquisitions", indent=1)
    flow("Net cash used in investing activities", "investing", "investing_cash_flow", indent=3, total=True)
    sheet.head("Cash flows from financing activities:")
    flow("Proceeds from issuance of long-term debt", "debt_issued", "debt_issued", indent=1)
    flow("Repayments of long-term debt", "debt_repaid", "debt_repaid", indent=1)
    flow("Dividends paid", "dividends", "dividends_paid", indent=1)
    flow("Repurchases of common stock", "repurchases", "share_repurchases", indent=1)
    flow("Proceeds from employee stock plans", "stock_issued", indent=1)
    flow("Net cash used in financing activities", "financing", "financing_cash_flow", indent=3, total=True)
    flow("Effect of exchange rate changes on cash", "exchange_rates", indent=0)
    flow("Net increase (decrease) in cash and cash equivalents", "net_change", "net_change_in_cash", total=True)
    span = "year" if columns[0][1].months == 12 else "period"
    sheet.row(f"Cash and cash equivalents at beginning of {span}", lambda p: p.opening.cash)
    sheet.row(f"Cash and cash equivalents at end of {span}", lambda p: p.balance.cash, total=True, double=True)
    sheet.head("Supplemental disclosure of cash flow information:")
    sheet.row("Cash paid for interest", lambda p: p.income.interest_expense, "interest_paid", indent=1, dollar=True)
    paid = "Cash paid for income taxes"
    sheet.row(paid, lambda p: p.income.tax - p.cash_flow.deferred_taxes, "taxes_paid", indent=1, dollar=True)
    return sheet.table(company["titles"]["cash-flow"], company["unit_short"], heads, spans, compact=True)


def equity_statement(company: Mapping[str, Any], periods: Sequence[Period]) -> Table:
    """Movements of each part of equity, oldest year first; `periods` newest first."""
    lines: list[Line] = []

    def line(label: str, amounts: Sequence[int | None], total: bool = False, double: bool = False) -> None:
        cells = tuple("" if a is None else number(a) for a in [*amounts, sum(a or 0 for a in amounts)])
        lines.append(Line(label, cells, 0 if total else 1, total, total and bool(lines), double, total))

    def at(balance: Balance) -> list[int | None]:
        return [balance.capital, balance.retained, balance.accumulated_oci, balance.treasury]

    ordered = list(reversed(periods))
    start = company["year_ends"][ordered[0].year - FIRST_YEAR]
    line(f"Balance at {long_date(start)}", at(ordered[0].opening), total=True)
    for period in ordered:
        income, flow = period.income, period.cash_flow
        line(company["labels"]["net_income"], [None, income.net_income, None, None])
        line("Other comprehensive income (loss)", [None, None, income.other_comprehensive, None])
        line(f"Cash dividends (${income.dividends_per_share} per share)", [None, flow.dividends, None, None])
        line("Stock-based compensation", [flow.stock_compensation, None, None, None])
        line("Shares issued under stock plans", [flow.stock_issued, None, None, None])
        line("Repurchases of common stock", [None, None, None, flow.repurchases])
        final = period is ordered[-1]
        line(f"Balance at {long_date(period.span.end)}", at(period.balance), total=True, double=final)
    heads = (
        ("Common Stock", "and Additional", "Paid-in", "Capital"),
        ("Retained", "Earnings"),
        ("Accumulated", "Other Compre-", "hensive Loss"),
        ("Treasury", "Stock"),
        ("Total",),
    )
    return Table(company["titles"]["equity"], company["unit_short"], Grid(heads, tuple(lines), compact=True))
