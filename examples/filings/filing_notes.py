"""The tables of the notes and of the discussion by management."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from itertools import pairwise
from typing import Any

from filing_figures import FIRST_YEAR, Balance, Model, Period, notes_outstanding
from filing_layout import Grid, Line, number, percent
from filing_sheet import Column, Sheet, Table


def segments_table(company: Mapping[str, Any], columns: Sequence[Column], heads: Any, spans: Any) -> Table:
    """Sales and operating income by segment."""
    label, sheet = company["labels"], Sheet(company, columns)
    names = list(company["segments"])

    def profit(period: Period, name: str) -> int:
        earned = period.income.operating_income + period.income.restructuring + corporate(period)
        shares = {n: round(earned * company["segments"][n]["profit_weight"]) for n in names[:-1]}
        return int(shares[name] if name in shares else earned - sum(shares.values()))

    def corporate(period: Period) -> int:
        return round(float(company["corporate_expense"][period.year - FIRST_YEAR]) * period.span.months / 12)

    sheet.head(f"{label['revenue']}:")
    for name in names:
        first = name == names[0]
        sheet.row(name, partial(_segment_sales, name=name), f"segment_sales:{name}", indent=1, dollar=first)
    sheet.row(f"Total {label['revenue'].lower()}", lambda p: p.income.revenue, indent=2, total=True, double=True)
    sheet.head(f"Segment {label['operating_income'].lower().replace('income from operations', 'operating income')}:")
    for name in names:
        first = name == names[0]
        sheet.row(name, partial(profit, name=name), f"segment_profit:{name}", indent=1, dollar=first)
    sheet.row("Corporate expenses", lambda p: -corporate(p), indent=1)
    sheet.row(label["restructuring"], lambda p: -p.income.restructuring, indent=1)
    sheet.row(label["operating_income"], lambda p: p.income.operating_income, indent=2, total=True, double=True)
    return sheet.table("", company["unit_short"], heads, spans)


def geographies_table(company: Mapping[str, Any], columns: Sequence[Column], heads: Any, spans: Any) -> Table:
    """Sales by location of the customer."""
    sheet, label = Sheet(company, columns), company["labels"]["revenue"]
    regions = list(company["geographies"])

    def sales(period: Period, region: str) -> int:
        shares = {r: round(period.income.revenue * company["geographies"][r]) for r in regions[1:]}
        return int(shares[region] if region in shares else period.income.revenue - sum(shares.values()))

    for region in regions:
        first = region == regions[0]
        sheet.row(region, partial(sales, region=region), f"geography_sales:{region}", dollar=first)
    sheet.row(f"Total {label.lower()}", lambda p: p.income.revenue, indent=1, total=True, double=True)
    return sheet.table("", company["unit_short"], heads, spans)


def debt_table(company: Mapping[str, Any], columns: Sequence[Column], heads: Any, spans: Any, year: int) -> Table:
    """Notes outstanding at two dates; `year` is the last fiscal year that has ended."""
    sheet = Sheet(company, columns)
    interim = columns[0][1].end > company["year_ends"][year - FIRST_YEAR + 1]
    years = (year, year) if interim else (year, year - 1)
    owed = {id(source): notes_outstanding(company, y) for (source, _), y in zip(columns, years, strict=True)}

    def principal(balance: Balance, title: str) -> int:
        return owed[id(balance)].get(title, 0)

    titles = [n["title"] for n in company["notes"] if any(n["title"] in notes for notes in owed.values())]
    for title in titles:
        sheet.row(title, partial(principal, title=title), f"note:{title}", dollar=title == titles[0])
    sheet.row("Total debt", lambda b: b.current_debt + b.long_term_debt, "total_debt", indent=1, total=True)
    sheet.row("Less: current portion", lambda b: -b.current_debt)
    sheet.row("Long-term debt", lambda b: b.long_term_debt, indent=1, total=True, double=True)
    return sheet.table("", company["unit_short"], heads, spans)


def taxes_table(company: Mapping[str, Any], columns: Sequence[Column], heads: Any, spans: Any) -> Table:
    """Current and deferred taxes."""
    sheet = Sheet(company, columns)
    sheet.row("Current", lambda p: p.income.tax - p.cash_flow.deferred_taxes, "current_tax", dollar=True)
    sheet.row("Deferred", lambda p: p.cash_flow.deferred_taxes, "deferred_tax")
    sheet.row(company["labels"]["tax"], lambda p: p.income.tax, indent=1, total=True, double=True)
    return sheet.table("", company["unit_short"], heads, spans)


def tax_rate_table(company: Mapping[str, Any], columns: Sequence[Column], heads: Any, spans: Any) -> Table:
    """From the statutory to the effective rate, in percent."""
    sheet = Sheet(company, columns)

    def driver(period: Period, name: str) -> Decimal:
        return Decimal(str(company["drivers"][name][period.year - FIRST_YEAR]))

    def effective(period: Period) -> Decimal:
        return (Decimal(100) * period.income.tax / period.income.pretax).quantize(Decimal("0.1"))

    named = ("state_taxes", "foreign_taxes", "tax_credits")
    sheet.row("U.S. federal statutory rate", lambda p: Decimal(21), unit="percent")
    sheet.row("State income taxes, net of federal benefit", lambda p: driver(p, named[0]), unit="percent")
    sheet.row("Foreign operations taxed at different rates", lambda p: driver(p, named[1]), unit="percent")
    sheet.row("Tax credits", lambda p: driver(p, named[2]), unit="percent")
    sheet.row("Other, net", lambda p: effective(p) - 21 - sum(driver(p, n) for n in named), unit="percent")
    sheet.row("Effective tax rate", effective, "effective_tax_rate", unit="percent", indent=1, total=True, double=True)
    return sheet.table("", "", heads, spans)


def restructuring_table(
    company: Mapping[str, Any], model: Model, columns: Sequence[Column], heads: Any, spans: Any
) -> Table:
    """The accrual from year to year."""
    sheet, owed, paid, opening = Sheet(company, columns), {}, {}, 0
    for year, period in model.years.items():
        paid[year] = round(0.75 * (opening + period.income.restructuring))
        owed[year] = (opening, opening + period.income.restructuring - paid[year])
        opening = owed[year][1]
    sheet.row("Accrual at beginning of year", lambda p: owed[p.year][0], dollar=True)
    sheet.row("Charges", lambda p: p.income.restructuring)
    sheet.row("Cash payments", lambda p: -paid[p.year])
    sheet.row("Accrual at end of year", lambda p: owed[p.year][1], "restructuring_accrual", total=True, double=True)
    return sheet.table("", company["unit_short"], heads, spans)


def acquisitions_table(company: Mapping[str, Any], columns: Sequence[Column], heads: Any, spans: Any) -> Table:
    """What was paid for businesses."""
    sheet = Sheet(company, columns)

    def driver(period: Period, name: str) -> int:
        return int(company["drivers"][name][period.year - FIRST_YEAR])

    sheet.row("Goodwill acquired", lambda p: driver(p, "acquired_goodwill"), dollar=True)
    sheet.row("Intangible assets acquired", lambda p: driver(p, "acquired_intangibles"))
    sheet.row("Net cash paid", lambda p: -p.cash_flow.acquisitions, "acquisition_cash_paid", total=True, double=True)
    return sheet.table("", company["unit_short"], heads, spans)


def liquidity_table(company: Mapping[str, Any], columns: Sequence[Column], heads: Any, spans: Any) -> Table:
    """The three totals of the cash flow."""
    sheet = Sheet(company, columns)
    sheet.row("Net cash provided by operating activities", lambda p: p.cash_flow.operating, dollar=True)
    sheet.row("Net cash used in investing activities", lambda p: p.cash_flow.investing)
    sheet.row("Net cash used in financing activities", lambda p: p.cash_flow.financing)
    return sheet.table("", company["unit_short"], heads, spans)


def results_table(company: Mapping[str, Any], columns: Sequence[Column], heads: tuple[tuple[str, ...], ...]) -> Table:
    """Amounts beside their percent changes; a change from nothing is printed as `*`."""
    label, lines = company["labels"], []
    periods: list[Period] = [period for period, _ in columns]

    def line(text: str, amount: Callable[[Period], int], **style: Any) -> None:
        amounts = [amount(period) for period in periods]
        changes = [percent(100 * (new / old - 1)) if old else "*" for new, old in pairwise(amounts)]
        lines.append(Line(text, (*(number(a) for a in amounts), *changes), **style))

    for name in company["segments"]:
        line(name, partial(_segment_sales, name=name), indent=1)
    line(f"Total {label['revenue'].lower()}", lambda p: p.income.revenue, rule_above=True)
    line(label["cost"], lambda p: p.income.cost)
    line(label["gross_profit"], lambda p: p.income.gross_profit, rule_above=True)
    if "research" in label:
        line(label["research"], lambda p: p.income.research)
    line(label["selling"], lambda p: p.income.selling)
    line(label["restructuring"], lambda p: p.income.restructuring)
    line(label["operating_income"], lambda p: p.income.operating_income, rule_above=True)
    line(label["net_income"], lambda p: p.income.net_income)
    years = [str(p.year) for p in periods]
    changes = tuple(("% Change", f"{new} vs. {old}") for new, old in pairwise(years))
    return Table("", company["unit_short"], Grid((*heads, *changes), tuple(lines), compact=True))


def _segment_sales(period: Period, name: str) -> int:
    return period.income.segment_sales[name]
