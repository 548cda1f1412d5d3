"""The words that fill a filing's templates: names, dates and amounts as running text writes them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from filing_figures import FIRST_YEAR, Balance, Model, Period
from filing_layout import percent

NUMERALS = {2: "two", 3: "three", 4: "four"}


def annual_words(company: Mapping[str, Any], model: Model, year: int) -> dict[str, str]:
    """Words of the 10-K for a fiscal year."""
    now, prior, before = (model.years[y] for y in (year, year - 1, year - 2))
    story = company["story"][year]
    former = company.get("former_chief_executive", {"name": "", "until": 0})
    filed = company["filed"][year]
    words = _names(company) | _comparison(company, now, prior, prior.balance)
    words |= {
        "period_end": long_date(now.span.end),
        "filed": long_date(filed),
        "next_year": str(year + 1),
        "shares_outstanding": _outstanding(company, now),
        "holders": f"{3000 + round(float(now.income.basic_shares)) % 900:,}",
        "half_year_end": long_date(_half_year(company, year)),
        "market_value": f"{_dollars(company, now.income.net_income) * 17 / 10**9:,.1f}",
        "employees": company["employees"][year],
        "customers": company["customers"][year],
        "revenue_story": story["revenue"],
        "margin_story": story["margin"],
        "restructuring_story": story["restructuring"],
        "legal": story["legal"],
        "acquisition": story["acquisition"],
        "chief_executive_then": former["name"] if year <= former["until"] else company["chief_executive"],
        "revenue_before": _amount(company, before.income.revenue),
        "revenue_moved_prior": _moved(prior.income.revenue, before.income.revenue),
        "revenue_change_prior": _change(prior.income.revenue, before.income.revenue),
        "repurchases_before": _amount(company, -before.cash_flow.repurchases),
        "dividends_per_share_before": f"{before.income.dividends_per_share:.2f}",
        "first_open_year": str(year - 4),
        "commitments": _amount(company, now.income.cost // 9),
        "award_share": percent(4 + (year % 5) / 10),
        "rate_sensitivity": _amount(company, (now.balance.current_debt + now.balance.long_term_debt) * 4 // 100),
        "currency_sensitivity": _amount(company, now.income.operating_income * 3 // 100),
        "home_share": percent(100 * next(iter(company["geographies"].values())), 0),
    }
    for number, period in enumerate((now, prior, before)):
        start = company["year_ends"][period.year - FIRST_YEAR]
        words |= {
            f"y{number}": str(period.year),
            f"end{number}": long_date(period.span.end),
            f"weeks{number}": _length(company, period.span.end - start),
        }
    return words


def interim_words(company: Mapping[str, Any], model: Model, year: int) -> dict[str, str]:
    """Words of the 10-Q: the quarter's results, cash flows of the year to date, balances beside the last year end."""
    quarter, prior, to_date = model.quarter[year], model.quarter[year - 1], model.to_date[year]
    year_end = model.years[year - 1]
    interim, story = company["interim"], company["story"]["interim"]
    to_date_words = _comparison(company, to_date, model.to_date[year - 1], year_end.balance)
    flows = ("operating_cash", "operating_cash_prior", "capital_expenditures", "repurchases", "cash", "investments")
    words = _names(company) | _comparison(company, quarter, prior, prior.balance)
    words |= {name: to_date_words[name] for name in (*flows, "inventories", "inventories_prior")}
    return words | {
        "period_end": long_date(quarter.span.end),
        "prior_year_end": long_date(year_end.span.end),
        "filed": long_date(interim["filed"]),
        "outstanding_date": long_date(interim["shares_outstanding_date"]),
        "shares_outstanding": _outstanding(company, quarter),
        "revenue_story": story["revenue"],
        "margin_story": story["margin"],
        "legal": story["legal"],
    }


def event_words(company: Mapping[str, Any]) -> dict[str, str]:
    """Words of the 8-K."""
    event = company["event"]
    dates = {"event_date": long_date(event["date"]), "signed": long_date(event["signed"])}
    return _names(company) | dates | {"event_text": event["text"]}


def long_date(day: date) -> str:
    """`December 31, 2024`."""
    return f"{day:%B} {day.day}, {day.year}"


def _names(company: Mapping[str, Any]) -> dict[str, str]:
    plain = (
        "name short ticker exchange state employer_id file_number address phone auditor auditor_city chief_executive"
        " chief_financial annual_title year_word customer_kinds business own_risk properties"
    )
    words = {name: company[name] for name in plain.split()}
    label = company["labels"]
    named = ("revenue", "gross_profit", "operating_income", "net_income", "research", "selling", "restructuring", "tax")
    for name in (n for n in named if n in label):
        words[f"{name}_name"] = label[name]
        words[f"{name}_name_lower"] = label[name].lower()
    selling = label["selling"]
    words["selling_expenses"] = selling if selling.endswith("expenses") else f"{selling} expenses"
    sentence, _, words["own_risk"] = company["own_risk"].partition(". ")
    titles = [title.lower().removeprefix("consolidated statements of ") for title in company["titles"].values()]
    exchange = company["exchange"]
    retailer = "research" not in label
    return words | {
        "income_statements": titles[0],
        "comprehensive_statements": titles[1],
        "owners_equity": titles[4],
        "own_risk_title": f"{sentence}.",
        "owners": label["owners"],
        "year_capital": company["year_word"].capitalize(),
        "exchange_in_text": exchange if exchange.startswith("The ") else f"the {exchange}",
        "segment_count": NUMERALS[len(company["segments"])],
        "home_country": "the United States",
        "product_bullets": "\n\n".join(f"- {name}. {text}" for name, text in company["product_lines"].items()),
        "seasonality": "The fourth quarter is our largest and the first our smallest, because of holiday shopping. "
        "Inventories rise until November. We have no material backlog."
        if retailer
        else "Our business is not strongly seasonal. Most orders are filled within six months and can be postponed or "
        "cancelled by the customer, so that backlog is a poor guide to future sales.",
    }


def _comparison(company: Mapping[str, Any], now: Period, prior: Period, earlier: Balance) -> dict[str, str]:
    """Amounts of a period with those of the one before, balances with those of an earlier date."""

    def of(name: str, new: int, old: int) -> dict[str, str]:
        return {name: _amount(company, new), f"{name}_prior": _amount(company, old)}

    income, old, flow, old_flow = now.income, prior.income, now.cash_flow, prior.cash_flow
    year, old_year = now.year - FIRST_YEAR, prior.year - FIRST_YEAR
    drivers, balance = company["drivers"], now.balance
    words: dict[str, str] = {}
    for name in ("revenue", "operating_income", "net_income", "gross_profit", "research", "selling", "restructuring"):
        words |= of(name, getattr(income, name), getattr(old, name))
    words |= of("interest", income.interest_expense, old.interest_expense)
    words |= of("dividends", -flow.dividends, -old_flow.dividends)
    words |= of("repurchases", -flow.repurchases, -old_flow.repurchases)
    words |= of("capital_expenditures", -flow.capital_expenditures, -old_flow.capital_expenditures)
    words |= of("operating_cash", flow.operating, old_flow.operating)
    words |= of("stock_compensation", flow.stock_compensation, old_flow.stock_compensation)
    for name in ("depreciation", "amortization"):
        words |= of(name, drivers[name][year], drivers[name][old_year])
    words |= of("inventories", balance.inventories, earlier.inventories)
    intangible = balance.goodwill + balance.intangibles
    words |= {
        "revenue_moved": _moved(income.revenue, old.revenue),
        "revenue_change": _change(income.revenue, old.revenue),
        "operating_moved": _moved(flow.operating, old_flow.operating),
        "gross_margin": percent(100 * income.gross_profit / income.revenue),
        "gross_margin_prior": percent(100 * old.gross_profit / old.revenue),
        "selling_share": percent(100 * income.selling / income.revenue),
        "selling_share_prior": percent(100 * old.selling / old.revenue),
        "tax_rate": percent(100 * income.tax / income.pretax),
        "tax_rate_prior": percent(100 * old.tax / old.pretax),
        "dividends_per_share": f"{income.dividends_per_share:.2f}",
        "dividends_per_share_prior": f"{old.dividends_per_share:.2f}",
        "cash": _amount(company, balance.cash),
        "investments": _amount(company, balance.investments),
        "total_debt": _amount(company, balance.current_debt + balance.long_term_debt),
        "goodwill_and_intangibles": _amount(company, intangible),
        "goodwill_share": percent(100 * intangible / balance.total_assets, 0),
    }
    words["research_story"] = _research(company, words, now, prior) if "research" in drivers else ""
    return words


def _research(company: Mapping[str, Any], words: Mapping[str, str], now: Period, prior: Period) -> str:
    word, share = company["year_word"], 100 * now.income.research / now.income.revenue
    return (
        f"{company['labels']['research']} expenses were {words['research']}, or {percent(share)} of "
        f"{company['labels']['revenue'].lower()}, in {word}{now.year}, compared with {words['research_prior']} in "
        f"{word}{prior.year}; we continued to hire engineers and started several products.\n\n"
    )


def _amount(company: Mapping[str, Any], amount: int) -> str:
    """`$3,763 million` for companies that report in millions, `$5,272.0 million` for those that report in thousands."""
    if amount == 0:
        return "zero"
    millions = Decimal(amount) * company["scale"] / 1_000_000
    return f"${millions:,.0f} million" if company["scale"] == 1_000_000 else f"${millions:,.1f} million"


def _dollars(company: Mapping[str, Any], amount: int) -> int:
    return amount * int(company["scale"])


def _outstanding(company: Mapping[str, Any], period: Period) -> str:
    shares = period.income.basic_shares * company["scale"]
    return f"{int(shares) - 437_219 - period.year:,}"


def _moved(new: int, old: int) -> str:
    return "increased" if new >= old else "decreased"


def _change(new: int, old: int) -> str:
    return percent(abs(100 * (new / old - 1)))


def _length(company: Mapping[str, Any], days: timedelta) -> str:
    return "twelve months" if company["column_names"] == "year" else f"{days.days // 7} weeks"


def _half_year(company: Mapping[str, Any], year: int) -> date:
    start: date = company["year_ends"][year - FIRST_YEAR]
    if company["column_names"] == "year":
        return date(start.year + 1, 6, 30)
    return start + timedelta(weeks=26) - timedelta(days=1)
