"""Answers computed from the sample filings' figures: value, program, citations."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from fin_agent.answering.answer import Answer
from fin_agent.answering.sandbox import MontySandbox
from fin_agent.evidence.filing_preparation import prepare
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.index.ingest import PreparedFiling, ingest
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.workspace import Workspace
from tests.graphs.conftest import GroundTruth

Ask = Callable[..., Answer]
Base = Callable[[Answer], Decimal | None]
TICKERS = {"Harborlight": "HLGT", "Tellurond": "TUND", "Quillmark": "QLMK"}


def figures(truth: GroundTruth, name: str) -> Callable[[str, int], float]:
    """(metric, year) -> amount in base units of the company called `name`."""
    return lambda metric, year: float(truth.value(TICKERS[name], metric, year))


def checked(answer: Answer, truth: GroundTruth) -> Answer:
    """Whatever is computed: it is cited from pages that were retrieved, and its program gives its value again."""
    assert not answer.refused, answer.answer.text
    assert answer.program is not None
    retrieved = {(page.doc_id, page.page) for page in answer.retrieved.passages}
    assert {(citation.doc_id, citation.page) for citation in answer.citations} <= retrieved
    for citation in answer.citations:
        assert citation.box is not None
    result = MontySandbox().run(answer.program).value
    last = result if isinstance(result, int | float) else None
    if last is not None and answer.answer.unit not in ("USD thousands", "USD millions", "USD billions", "USD"):
        assert answer.answer.value == pytest.approx(last, rel=0.01, abs=0.051)
    known = {(entry.figure.doc_id, entry.figure.page) for entry in answer.ledger if entry.figure is not None}
    assert {(citation.doc_id, citation.page) for citation in answer.citations} <= known
    return answer


@pytest.mark.parametrize("name", sorted(TICKERS))
@pytest.mark.parametrize("year", [2021, 2022, 2023, 2024])
def test_growth(truth: GroundTruth, ask: Ask, name: str, year: int) -> None:
    of = figures(truth, name)
    for metric, question in (
        ("revenue", f"What was {name}'s revenue growth in FY{year}?"),
        (
            "operating_income",
            f"By what percentage did {name}'s operating income change in fiscal {year}, year over year?",
        ),
        ("net_income", f"What was the % change in {name}'s net income from {year - 1} to {year}?"),
    ):
        answer = checked(ask(question), truth)
        before, after = of(metric, year - 1), of(metric, year)
        assert (answer.answer.unit, answer.answer.value) == (
            "percent",
            pytest.approx(100 * (after - before) / before),
        ), question


@pytest.mark.parametrize("name", sorted(TICKERS))
@pytest.mark.parametrize("year", [2020, 2022, 2024])
def test_margins_and_shares_of_revenue(truth: GroundTruth, ask: Ask, name: str, year: int) -> None:
    of = figures(truth, name)
    for metric, question in (
        ("gross_profit", f"What was {name}'s gross margin in {year}?"),
        ("operating_income", f"What is the FY{year} operating margin of {name}?"),
        ("net_income", f"What was the net profit margin of {name} in fiscal {year}?"),
        ("capital_expenditures", f"What was {name}'s capex as a % of revenue in FY{year}?"),
        ("selling_general_administrative", f"What percent of revenue was SG&A for {name} in FY{year}?"),
    ):
        answer = checked(ask(question), truth)
        share = 100 * of(metric, year) / of("revenue", year)
        assert (answer.answer.unit, answer.answer.value) == ("percent", pytest.approx(share)), question


@pytest.mark.parametrize("name", sorted(TICKERS))
@pytest.mark.parametrize("amount", ["$1.5 billion", "$1,500 million", "1.5 billion"])
def test_amounts_of_the_question_enter_at_the_scale_of_the_figures(
    truth: GroundTruth, ask: Ask, base_units: Base, name: str, amount: str
) -> None:
    revenue = figures(truth, name)("revenue", 2024)
    left = checked(ask(f"What was {name}'s 2024 revenue less {amount}?"), truth)
    assert float(base_units(left) or 0) == pytest.approx(revenue - 1.5e9)
    margin = checked(ask(f"(revenue - {amount}) / revenue of {name} in 2024"), truth)
    assert margin.answer.value in (pytest.approx(100 * (1 - 1.5e9 / revenue)), pytest.approx(1 - 1.5e9 / revenue))


def test_a_computed_answer_says_its_calculation(truth: GroundTruth, ask: Ask) -> None:
    of = figures(truth, "Harborlight")
    answer = checked(ask("What was Harborlight's capex as a % of revenue in FY2024?"), truth)
    spent, revenue = (of(metric, 2024) / 1e6 for metric in ("capital_expenditures", "revenue"))
    assert f"{spent:,.0f} / {revenue:,.0f} = {100 * spent / revenue:.1f}%" in answer.answer.text


def test_a_quotient_of_two_companies_lines_names_both(ask: Ask) -> None:
    answer = ask("Revenue: Harborlight FY2024 / Tellurond FY2023, multiple (x)").answer
    assert "Harborlight Instruments, Inc. Revenue FY2024 / Tellurond Semiconductor Corporation" in answer.text
    assert "3,763 / 6,463" in answer.text


@pytest.mark.parametrize("name", sorted(TICKERS))
@pytest.mark.parametrize("year", [2022, 2023, 2024])
def test_ratios_of_the_balance_sheet(truth: GroundTruth, ask: Ask, name: str, year: int) -> None:
    of = figures(truth, name)

    def average(metric: str) -> float:
        return (of(metric, year) + of(metric, year - 1)) / 2

    for expected, unit, question in (
        (of("cost_of_revenue", year) / average("inventories"), "ratio",
         f"What was {name}'s inventory turnover in FY{year}?"),
        (of("revenue", year) / average("property_plant_equipment"), "ratio",
         f"What is the FY{year} fixed asset turnover ratio for {name}? Fixed asset turnover ratio is defined as: "
         f"FY{year} revenue / (average PP&E between FY{year - 1} and FY{year})."),
        (of("current_assets", year) / of("current_liabilities", year), "ratio",
         f"What is {name}'s current ratio for {year}?"),
        (of("net_income", year) / average("total_assets"), "ratio",
         f"What was {name}'s return on assets in fiscal {year}?"),
        (365 * average("accounts_payable")
         / (of("cost_of_revenue", year) + of("inventories", year) - of("inventories", year - 1)), "days",
         f"What is {name}'s FY{year} DPO? DPO is defined as: 365 * (average accounts payable between FY{year - 1} and "
         f"FY{year}) / (FY{year} COGS + change in inventory between FY{year - 1} and FY{year})."),
    ):  # fmt: skip
        answer = checked(ask(question), truth)
        assert (answer.answer.unit, answer.answer.value) == (unit, pytest.approx(expected)), question


@pytest.mark.parametrize("name", sorted(TICKERS))
def test_three_years_together(truth: GroundTruth, ask: Ask, base_units: Base, name: str) -> None:
    of, years = figures(truth, name), (2022, 2023, 2024)
    capex = sum(of("capital_expenditures", year) for year in years)
    dividends = sum(of("dividends_paid", year) for year in years)
    share = sum(100 * of("capital_expenditures", year) / of("revenue", year) for year in years) / 3
    average = ask(f"What was {name}'s average capex over FY2022 - FY2024?")
    assert float(base_units(checked(average, truth)) or 0) == pytest.approx(capex / 3)
    total = ask(f"What were {name}'s total dividends paid over fiscal 2022 to fiscal 2024?")
    assert float(base_units(checked(total, truth)) or 0) == pytest.approx(dividends)
    mean_share = ask(
        f"What is the FY2022 - FY2024 3 year average of capex as a % of revenue for {name}? Round to one decimal."
    )
    assert checked(mean_share, truth).answer.value == pytest.approx(share, abs=0.05)
    cagr = checked(ask(f"What was {name}'s revenue CAGR from FY2020 to FY2024?"), truth)
    assert cagr.answer.value == pytest.approx(100 * ((of("revenue", 2024) / of("revenue", 2020)) ** 0.25 - 1))
    assert len(cagr.citations) == 2


@pytest.mark.parametrize("year", [2022, 2024])
@pytest.mark.parametrize(
    "pair", [("Harborlight", "Tellurond"), ("Quillmark", "Harborlight"), ("Tellurond", "Quillmark")]
)
def test_two_companies(truth: GroundTruth, ask: Ask, base_units: Base, pair: tuple[str, str], year: int) -> None:
    one, other = pair
    first, second = figures(truth, one), figures(truth, other)
    difference = checked(ask(f"What is the difference in net income between {one} and {other} in FY{year}?"), truth)
    expected = first("net_income", year) - second("net_income", year)
    assert float(base_units(difference) or 0) == pytest.approx(expected)
    ratio = checked(ask(f"What is the ratio of {one}'s revenue to {other}'s revenue in FY{year}?"), truth)
    assert (ratio.answer.unit, ratio.answer.value) == (
        "ratio", pytest.approx(first("revenue", year) / second("revenue", year)),
    )  # fmt: skip
    total = checked(ask(f"What was the combined goodwill of {one} and {other} in FY{year}?"), truth)
    assert float(base_units(total) or 0) == pytest.approx(first("goodwill", year) + second("goodwill", year))
    average = checked(ask(f"What was the average net income of {one} and {other} in FY{year}?"), truth)
    assert float(base_units(average) or 0) == pytest.approx(
        (first("net_income", year) + second("net_income", year)) / 2
    )
    for metric, words in (("revenue", "revenue"), ("capital_expenditures", "capex")):
        winner = one if first(metric, year) > second(metric, year) else other
        higher = checked(ask(f"Which company had the higher {words} in FY{year}, {one} or {other}?"), truth)
        assert higher.answer.text.startswith(winner)
        lower = checked(ask(f"Which of {one} and {other} had the lower {words} in fiscal {year}?"), truth)
        assert not lower.answer.text.startswith(winner)


@pytest.mark.parametrize("name", sorted(TICKERS))
@pytest.mark.parametrize("year", [2021, 2022, 2023, 2024])
def test_yes_or_no(truth: GroundTruth, ask: Ask, name: str, year: int) -> None:
    of = figures(truth, name)

    def margin(at: int) -> float:
        return of("gross_profit", at) / of("revenue", at)

    rose = checked(ask(f"Did {name}'s net income increase in FY{year}?"), truth)
    assert rose.answer.text.startswith("Yes" if of("net_income", year) > of("net_income", year - 1) else "No")
    fell = checked(ask(f"Has {name}'s gross margin declined in fiscal {year}?"), truth)
    assert fell.answer.text.startswith("Yes" if margin(year) < margin(year - 1) else "No")


@pytest.mark.parametrize("name", sorted(TICKERS))
def test_changes_of_one_year_and_of_several(truth: GroundTruth, ask: Ask, base_units: Base, name: str) -> None:
    of = figures(truth, name)
    for metric, question, first, last in (
        ("total_debt", f"How much did {name}'s total debt change in FY2023?", 2022, 2023),
        ("inventories", f"What was the increase in {name}'s inventory in fiscal 2024?", 2023, 2024),
        ("goodwill", f"What was the change in {name}'s goodwill from 2022 to 2024?", 2022, 2024),
    ):
        answer = checked(ask(question), truth)
        assert float(base_units(answer) or 0) == pytest.approx(of(metric, last) - of(metric, first)), question


def test_the_first_half_of_a_year_is_read_from_its_quarterly_report(ask: Ask) -> None:
    answer = ask("What was Tellurond's revenue in the first half of fiscal 2024?")
    assert (answer.answer.value, answer.answer.unit) == (3635.0, "USD millions")
    (citation,) = answer.citations
    assert (citation.doc_id, citation.page) == ("tellurond_2024q2_10q", 2)
    assert citation.text == "Revenues | Six Months Ended March 30, 2024: 3,635"


def test_a_rate_in_percent_is_a_fraction_in_a_formula_of_the_question(ask: Ask) -> None:
    answer = ask("What was Harborlight's operating income times (1 - effective tax rate) in FY2023?")
    assert answer.answer.value == pytest.approx(714 * (1 - 0.188))
    assert [citation.text.rsplit(" ", 1)[-1] for citation in answer.citations] == ["714", "18.8"]


def test_a_rounding_asked_for_is_kept(truth: GroundTruth, ask: Ask) -> None:
    of = figures(truth, "Tellurond")
    exact = 100 * of("gross_profit", 2023) / of("revenue", 2023)
    for places in (0, 1, 2, 3):
        answer = ask(f"What was Tellurond's gross margin in FY2023? Round to {places} decimal places.").answer
        assert answer.value == pytest.approx(round(exact, places), abs=1e-9)
        written = re.search(r"([\d.]+)%", answer.text)
        assert written is not None
        assert len(written.group(1).partition(".")[2]) == places


def test_the_average_turnover_of_two_companies_takes_more_than_one_round(truth: GroundTruth, ask: Ask) -> None:
    answer = checked(
        ask("Which company had the higher average inventory turnover over FY2022 - FY2024, Harborlight or Tellurond?"),
        truth,
    )

    def turnover(name: str) -> float:
        of = figures(truth, name)
        return (
            sum(
                of("cost_of_revenue", year) / ((of("inventories", year) + of("inventories", year - 1)) / 2)
                for year in (2022, 2023, 2024)
            )
            / 3
        )

    turnovers = {name: turnover(name) for name in ("Harborlight", "Tellurond")}
    best = max(turnovers, key=lambda name: turnovers[name])
    assert answer.answer.value == pytest.approx(turnovers[best])
    assert answer.answer.text.startswith(best)
    assert 1 < answer.rounds <= 3
    asked_again = [step for step in answer.trace if step.node == "ask_complementary_question"]
    assert len(asked_again) == answer.rounds - 1
    assert asked_again[0].details


@pytest.mark.parametrize(
    "question",
    [
        "What was the FY2023 net income of the company with the highest revenue, Quillmark, Harborlight or Tellurond?",
        "Of Quillmark, Harborlight and Tellurond, which had the highest FY2023 revenue, and what was its net income?",
        "How much net income did the company that had the largest revenue among Quillmark, Harborlight and Tellurond"
        " have in FY2023?",
    ],
)
def test_one_company_is_chosen_by_a_figure_and_asked_for_another(
    ask: Ask, truth: GroundTruth, base_units: Base, question: str
) -> None:
    tickers = TICKERS.values()
    best = max(tickers, key=lambda ticker: truth.value(ticker, "revenue", 2023))
    answer = ask(question)
    assert not answer.refused, answer.missing
    assert base_units(answer) == truth.value(best, "net_income", 2023)
    chosen = next(company for company in truth.companies if company.ticker == best)
    assert f"{chosen.name} has the highest revenue" in answer.answer.text
    asked = {(entry.slot.metric, entry.slot.company_name): entry.required for entry in answer.ledger}
    assert sum(asked[metric, name] for metric, name in asked if metric == "revenue") == len(TICKERS)
    assert [name for metric, name in asked if metric == "net_income" and asked[metric, name]] == [chosen.name]
    assert len(answer.citations) == len(TICKERS) + 1


def test_a_company_may_be_chosen_by_one_year_and_asked_about_another(
    ask: Ask, truth: GroundTruth, base_units: Base
) -> None:
    pair = ("HLGT", "TUND")
    worst = min(
        pair, key=lambda ticker: truth.value(ticker, "gross_profit", 2022) / truth.value(ticker, "revenue", 2022)
    )
    answer = ask(
        "What were the FY2024 capital expenditures of the company with the lowest gross margin in FY2022:"
        " Harborlight or Tellurond?"
    )
    assert base_units(answer) == truth.value(worst, "capital_expenditures", 2024)


def test_several_figures_of_the_chosen_company_are_refused_and_so_is_a_choice_that_cannot_be_read(ask: Ask) -> None:
    for question in (
        "What was the net income in FY2022 and FY2023 of the company with the highest revenue, Quillmark or Tellurond?",
        "What was the FY2023 net income of the company with the highest customer satisfaction, Quillmark or Tellurond?",
    ):
        answer = ask(question)
        assert answer.refused, answer.answer.text
        assert answer.missing


@pytest.mark.parametrize(
    ("question", "amount", "doc_id", "page"),
    [
        ("What were Harborlight's net sales in Europe in 2024?", 1_091, "harborlight_2024_10k", 15),
        ("What was Tellurond's Data Center revenue in fiscal 2024?", 3_642, "tellurond_2024_10k", 15),
        ("What was the revenue of Tellurond's Automotive segment in FY2023?", 1_984, None, 15),
        ("How much operating income did Tellurond make in Industrial and Connectivity in fiscal 2022?", 431, None, 15),
    ],
)
def test_figures_of_parts_are_looked_up_where_filings_divide_them(
    ask: Ask, base_units: Base, question: str, amount: int, doc_id: str | None, page: int
) -> None:
    answer = ask(question)
    assert base_units(answer) == amount * 1_000_000
    (citation,) = answer.citations
    assert doc_id in (None, citation.doc_id)
    assert citation.page == page or doc_id is None


def test_a_part_grows_and_is_divided_by_its_own_figures(ask: Ask) -> None:
    growth = ask("By what percent did Tellurond's Data Center revenue grow in fiscal 2024?")
    assert growth.answer.value == pytest.approx(100 * (3_642 - 2_871) / 2_871, abs=0.05)
    margin = ask("What was the operating margin of Tellurond's Data Center segment in fiscal 2024?")
    if not margin.refused and margin.answer.value is not None:
        assert margin.answer.value == pytest.approx(100 * 1_225 / 3_642, abs=0.05)


@pytest.mark.parametrize(
    "question",
    [
        "What was R&D as a percentage of revenue of Harborlight and Tellurond in FY2024?",
        "Compare Harborlight and Tellurond on R&D as a percentage of revenue in FY2024.",
    ],
)
def test_a_share_asked_of_two_companies_is_each_ones_own(ask: Ask, truth: GroundTruth, question: str) -> None:
    answer = ask(question)
    for ticker in ("HLGT", "TUND"):
        share = 100 * truth.value(ticker, "research_and_development", 2024) / truth.value(ticker, "revenue", 2024)
        assert f"{share:.1f}%" in answer.answer.text


def test_years_that_are_listed_are_not_filled_up(ask: Ask, truth: GroundTruth, base_units: Base) -> None:
    listed = ask("What was the sum of Harborlight's revenue for FY2022 and FY2024?")
    assert base_units(listed) == sum(truth.value("HLGT", "revenue", year) for year in (2022, 2024))
    assert "FY2022 and FY2024" in listed.answer.text
    between = ask("What was Harborlight's average revenue between FY2022 and FY2024?")
    mean = sum(truth.value("HLGT", "revenue", year) for year in (2022, 2023, 2024)) / 3
    assert float(base_units(between) or 0) == pytest.approx(float(mean), rel=1e-6)


def test_an_answer_leaves_no_required_slot_empty(ask: Ask) -> None:
    for question in (
        "What was Tellurond's net margin in FY2023?",
        "What was Harborlight's inventory turnover in FY2024?",
        "What was the FY2023 net income of the company with the highest revenue, Quillmark or Tellurond?",
    ):
        answer = ask(question)
        assert not answer.refused
        assert all(entry.figure is not None for entry in answer.ledger if entry.required), question


def test_a_rate_is_no_share_of_what_it_is_one_of_already(truth: GroundTruth, ask: Ask) -> None:
    plain = checked(ask("What was Tellurond's gross margin in FY2023?"), truth)
    said_twice = checked(ask("What was Tellurond's gross margin as a percentage of revenue in FY2023?"), truth)
    assert said_twice.answer.text == plain.answer.text


def test_a_half_is_set_against_no_year(ask: Ask) -> None:
    answer = ask("By how much did Tellurond's revenue change from fiscal 2023 to the first half of fiscal 2024?")
    assert answer.answer.value is None


def without_total_liabilities(path: Path) -> PreparedFiling:
    """As prepared, from a balance sheet that prints no total of the liabilities alone."""
    prepared = prepare(path)
    kept = tuple(fact for fact in prepared.filing.facts if fact.metric != "total_liabilities")
    return PreparedFiling(replace(prepared.filing, facts=kept), prepared.cards, prepared.summary)


def test_a_longer_total_is_not_taken_for_one_that_is_not_printed(
    sample_filings: Path, tmp_path: Path, ask: Ask
) -> None:
    question = "What were Harborlight's total liabilities at the end of FY2023?"
    with SqliteIndex.create(tmp_path) as index:
        ingest([sample_filings / "harborlight_2023_10k.pdf"], index, without_total_liabilities, workers=0)
    answer = answer_question(question, AnswerContext.by_rules(Workspace.open(tmp_path)))
    assert answer.answer.value == ask(question).answer.value is not None
    assert " - " in answer.answer.text  # assets or liabilities and equity, less equity
