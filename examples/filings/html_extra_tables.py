"""Tables that only the HTML filings print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from filing_figures import Balance, Period
from filing_sheet import Column, Sheet, Table

ISSUED = 240_000_000
"""Shares that each registrant has issued; those not outstanding are in its treasury."""


def parenthetical(
    company: Mapping[str, Any], columns: Sequence[Column], shares: Mapping[int, Decimal], heads: Any
) -> Table:
    """Par value and share counts; `shares` are outstanding at each balance, by its identity, in units of the scale."""
    sheet = Sheet({**company, "scale": 1}, columns)

    def in_treasury(balance: Balance) -> Decimal:
        return ISSUED - shares[id(balance)] * int(company["scale"])

    per_share: dict[str, Any] = {"unit": "USD per share", "places": 2, "dollar": True}
    sheet.head(f"{company['labels']['owners'].capitalize()}’ equity:")
    sheet.row("Common stock, par value", lambda _: Decimal("0.01"), "par_value", indent=1, **per_share)
    sheet.row("Common stock, shares authorized", lambda _: 600_000_000, "shares_authorized", unit="shares", indent=1)
    sheet.row("Common stock, shares issued", lambda _: ISSUED, "shares_issued", unit="shares", indent=1)
    sheet.row("Treasury stock, shares", in_treasury, "treasury_shares", unit="shares", indent=1)
    title = f"{company['titles']['balance']} (PARENTHETICAL)"
    return sheet.table(title, "(Dollars per share)", heads, ())


def products(company: Mapping[str, Any], columns: Sequence[Column], services: str, heads: Any, spans: Any) -> Table:
    """Sales of products beside those of services, which are one segment's."""
    sheet, label = Sheet(company, columns), company["labels"]["revenue"]

    def of_services(period: Period) -> int:
        return period.income.segment_sales[services]

    sheet.row("Products", lambda p: p.income.revenue - of_services(p), "product_sales:Products", dollar=True)
    sheet.row("Services", of_services, "product_sales:Services")
    sheet.row(f"Total {label.lower()}", lambda p: p.income.revenue, indent=1, total=True, double=True)
    return sheet.table("", company["unit_short"], heads, spans)


def adjusted(company: Mapping[str, Any], columns: Sequence[Column], heads: Any, spans: Any) -> Table:
    """From operating income to measures that accounting rules do not define."""
    sheet, label = Sheet(company, columns), company["labels"]

    def without_closures(period: Period) -> int:
        return period.income.operating_income + period.income.restructuring

    def with_depreciation(period: Period) -> int:
        return without_closures(period) + period.cash_flow.depreciation_amortization

    sheet.row(f"{label['operating_income']} (GAAP)", lambda p: p.income.operating_income, dollar=True)
    sheet.row(label["restructuring"], lambda p: p.income.restructuring, indent=1)
    sheet.row("Adjusted operating income", without_closures, "adjusted_operating_income", total=True)
    sheet.row("Depreciation and amortization", lambda p: p.cash_flow.depreciation_amortization, indent=1)
    sheet.row("Adjusted EBITDA", with_depreciation, "adjusted_ebitda", total=True, double=True)
    return sheet.table("", company["unit_short"], heads, spans)


def ratios(company: Mapping[str, Any], columns: Sequence[Column], heads: Any, spans: Any) -> Table:
    """Operating statistics in percent of revenue."""
    sheet = Sheet(company, columns)

    def share(period: Period, name: str) -> Decimal:
        part = Decimal(100) * int(getattr(period.income, name)) / period.income.revenue
        return part.quantize(Decimal("0.1"))

    sheet.row("Gross margin", partial(share, name="gross_profit"), "gross_margin", unit="percent")
    sheet.row("Operating ratio", lambda p: 100 - share(p, "operating_income"), "operating_ratio", unit="percent")
    sheet.row("Net margin", partial(share, name="net_income"), "net_margin", unit="percent")
    return sheet.table("", "", heads, spans)
