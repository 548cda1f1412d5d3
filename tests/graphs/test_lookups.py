"""The main figures of the sample filings, asked for in many words: the value, and the page it stands on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal

import pytest

from fin_agent.answering.answer import Answer
from tests.graphs.conftest import Company, GroundTruth

NAMES: dict[str, tuple[str, ...]] = {
    "revenue": ("revenue", "net sales", "total revenue", "sales", "top line"),
    "cost_of_revenue": ("cost of sales", "cost of goods sold", "COGS"),
    "gross_profit": ("gross profit",),
    "research_and_development": ("R&D expense", "research and development expense"),
    "selling_general_administrative": ("SG&A", "selling, general and administrative expense"),
    "restructuring": ("restructuring charges",),
    "operating_expenses": ("total operating expenses",),
    "operating_income": ("operating income", "operating profit", "EBIT"),
    "interest_expense": ("interest expense",),
    "income_before_taxes": ("income before income taxes", "pretax income"),
    "income_tax": ("income tax expense", "provision for income taxes"),
    "net_income": ("net income", "net earnings", "net profit", "bottom line"),
    "eps_basic": ("basic EPS",),
    "eps_diluted": ("diluted EPS", "diluted earnings per share"),
    "dividends_per_share": ("dividends per share",),
    "cash": ("cash and cash equivalents", "cash"),
    "short_term_investments": ("short-term investments",),
    "accounts_receivable": ("accounts receivable", "net AR"),
    "inventories": ("inventories", "inventory"),
    "current_assets": ("total current assets",),
    "property_plant_equipment": ("net PP&E", "property, plant and equipment"),
    "goodwill": ("goodwill",),
    "intangible_assets": ("intangible assets",),
    "total_assets": ("total assets",),
    "accounts_payable": ("accounts payable",),
    "accrued_liabilities": ("accrued liabilities",),
    "current_liabilities": ("total current liabilities",),
    "long_term_debt": ("long-term debt",),
    "total_liabilities": ("total liabilities",),
    "retained_earnings": ("retained earnings",),
    "treasury_stock": ("treasury stock",),
    "stockholders_equity": ("total stockholders' equity", "shareholders' equity"),
    "depreciation_amortization": ("depreciation and amortization", "D&A"),
    "stock_based_compensation": ("stock-based compensation",),
    "operating_cash_flow": ("cash from operations", "operating cash flow"),
    "capital_expenditures": ("capital expenditures", "capex"),
    "investing_cash_flow": ("cash flow from investing activities",),
    "financing_cash_flow": ("cash flow from financing activities",),
    "dividends_paid": ("dividends paid",),
    "share_repurchases": ("share repurchases", "repurchases of common stock"),
    "interest_paid": ("cash paid for interest",),
    "taxes_paid": ("cash paid for income taxes",),
    "total_debt": ("total debt",),
    "effective_tax_rate": ("effective tax rate",),
}
WORDINGS = (
    "What was {company.short}'s {name} in FY{year}?",
    "How much {name} did {company.name} report in fiscal {year}?",
    "What is the FY{year} {name} for {company.ticker}?",
    "What was the {name} of {company.short} in {year}?",
    "Give me {company.ticker}'s {name} for fiscal year {year}.",
    "{company.short} {name} {year}",
    "What is the {year} {name} (in USD millions) for {company.name}? Answer by using the financial statements only.",
    "You are an investment analyst. Using only the annual report, what was {company.short}'s {name} in fiscal {year}?",
)
QUARTERLY = ("revenue", "gross_profit", "operating_income", "net_income")


def lookups(truth: GroundTruth) -> Iterator[tuple[str, Company, str, int]]:
    """(question, company, metric, year) of every second figure, names and wordings taking turns.

    Each metric of each company is asked for in two years or more.
    """
    figures = [
        (metric, company, year)
        for metric in NAMES
        for company in truth.companies
        for year in truth.known(company.ticker, metric)
    ]
    for number, (metric, company, year) in enumerate(figures[::2]):
        name, wording = NAMES[metric][number % len(NAMES[metric])], WORDINGS[number % len(WORDINGS)]
        yield wording.format(company=company, name=name, year=year), company, metric, year


def test_figures_and_their_pages(
    truth: GroundTruth, ask: Callable[..., Answer], base_units: Callable[[Answer], Decimal | None]
) -> None:
    asked, misses = 0, []
    for question, company, metric, year in lookups(truth):
        asked += 1
        answer = ask(question)
        figure = truth.figure(company.ticker, metric, year)
        assert figure is not None
        wanted, given = truth.value(company.ticker, metric, year), base_units(answer)
        right = given is not None and abs(given - wanted) <= abs(wanted) * Decimal("1e-9")
        cited = [(citation.doc_id, citation.page) for citation in answer.citations]
        if not right or (figure.doc_id, figure.page) not in cited:
            misses.append(f"{question} | {wanted} on {figure.doc_id} {figure.page} | {answer.answer.text} {cited}")
    print(f"{len(misses)} of {asked} missed", *misses, sep="\n")
    assert asked > 300
    assert len(misses) <= 0.03 * asked, "\n".join(misses)


@pytest.mark.parametrize(
    "wording",
    [
        "What was {company.short}'s {name} in Q{quarter} of fiscal {year}?",
        "Q{quarter} FY{year} {name} of {company.ticker}",
    ],
)
def test_figures_of_a_quarter(
    truth: GroundTruth, ask: Callable[..., Answer], base_units: Callable[[Answer], Decimal | None], wording: str
) -> None:
    reports = [filing for filing in truth.filings if filing["form"] == "10-Q"]
    assert len(reports) == 3
    for filing in reports:
        company = next(company for company in truth.companies if company.ticker == filing["ticker"])
        for metric in QUARTERLY:
            for year in (filing["fiscal_year"], filing["fiscal_year"] - 1):
                figure = truth.figure(company.ticker, metric, year, filing["quarter"])
                assert figure is not None
                name = NAMES[metric][0]
                answer = ask(wording.format(company=company, name=name, quarter=filing["quarter"], year=year))
                assert base_units(answer) == figure.value, answer.answer.text
                assert (answer.citations[0].doc_id, answer.citations[0].page) == (figure.doc_id, figure.page)


def test_a_year_is_found_by_the_date_it_ended(
    truth: GroundTruth, ask: Callable[..., Answer], base_units: Callable[[Answer], Decimal | None]
) -> None:
    for filing in truth.filings:
        if filing["form"] != "10-K":
            continue
        ended, company = filing["period_end"], filing["company"]
        answer = ask(f"What was {company}'s revenue for the fiscal year ended {ended}?")
        wanted = truth.value(filing["ticker"], "revenue", filing["fiscal_year"])
        assert base_units(answer) == wanted, (ended, answer.answer.text)


def test_the_unit_asked_for_is_the_unit_given(truth: GroundTruth, ask: Callable[..., Answer]) -> None:
    for unit, size in (("USD thousands", 1_000), ("USD millions", 1_000_000), ("USD billions", 1_000_000_000)):
        for company in truth.companies:
            answer = ask(f"What were {company.short}'s total assets in fiscal 2024, in {unit}?")
            assert answer.answer.unit == unit
            assert answer.answer.value == pytest.approx(float(truth.value(company.ticker, "total_assets", 2024)) / size)


def test_the_latest_year_is_taken_and_said_where_none_is_named(
    truth: GroundTruth, ask: Callable[..., Answer], base_units: Callable[[Answer], Decimal | None]
) -> None:
    for company in truth.companies:
        answer = ask(f"What is {company.short}'s net income?")
        assert base_units(answer) == truth.value(company.ticker, "net_income", 2024)
        assert any("FY2024" in note for note in answer.assumptions)


def test_dates_and_years_are_those_of_the_only_company_searched(
    truth: GroundTruth, ask: Callable[..., Answer], base_units: Callable[[Answer], Decimal | None]
) -> None:
    (company,) = (company for company in truth.companies if company.short == "Harborlight")
    filings = ["harborlight_2022_10k", "harborlight_2023_10k", "harborlight_2024_10k"]
    average = sum(truth.value(company.ticker, "revenue", year) for year in (2022, 2023, 2024)) / 3
    for searched in (filings, filings[-1:]):
        found = base_units(ask("What was average revenue over the last three years?", searched))
        assert found is not None
        assert abs(found - average) < 1
    found = base_units(ask("What were total assets as of December 31, 2023?", filings))
    assert found == truth.value(company.ticker, "total_assets", 2023)
