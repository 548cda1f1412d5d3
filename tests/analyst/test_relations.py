"""What is asked over time and between companies."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.relations import asks_figure, base_stands_first, comparison_of, relation_of
from fin_agent.evidence.intent import Comparison, Relation


def relation(core: str, years: int = 1, companies: int = 1, blank: str = "") -> Relation:
    start = core.find(blank)
    spans = ((start, start + len(blank)),) if blank else ()
    return relation_of(core, spans, years, companies)


@pytest.mark.parametrize(
    ("core", "years", "expected"),
    [
        ("What was Acme's revenue in FY2023?", 1, Relation.EACH),
        ("What were revenues in 2022 and 2023?", 2, Relation.EACH),
        ("What was the revenue growth in FY2023?", 1, Relation.GROWTH),
        ("By how much did net sales grow from 2022 to 2023?", 2, Relation.GROWTH),
        ("What was the year-over-year change in operating income in percent?", 2, Relation.GROWTH),
        ("What is the percentage increase in net income between 2021 and 2023?", 2, Relation.GROWTH),
        ("What is the FY2018 YoY change of revenue?", 1, Relation.GROWTH),
        ("What was the % change in net income from 2022 to 2023?", 2, Relation.GROWTH),
        ("What % did revenue increase by in 2023?", 1, Relation.GROWTH),
        ("What was the revenue CAGR from 2020 to 2023?", 2, Relation.ANNUAL_GROWTH),
        ("What is the compound annual growth rate of sales?", 2, Relation.ANNUAL_GROWTH),
        ("What is the FY2017 - FY2019 3 year average of capex?", 3, Relation.AVERAGE),
        ("What was average capex on average?", 1, Relation.EACH),
        ("What was the annualized growth rate of sales from 2016 to 2019?", 4, Relation.ANNUAL_GROWTH),
        ("Compute annualised growth in sales between 2016 and 2019", 2, Relation.ANNUAL_GROWTH),
        ("What was the average annual growth rate of net sales from 2016 to 2019?", 4, Relation.ANNUAL_GROWTH),
        ("What percent did SBC go up from 2019 to 2022?", 4, Relation.GROWTH),
        ("How many percent did revenue go up between 2019 and 2021?", 2, Relation.GROWTH),
        ("R&D in 2018 vs 2021, pct increase?", 2, Relation.GROWTH),
        ("By how many percentage points did the margin fall from 2019 to 2021?", 2, Relation.CHANGE),
        ("How much did revenue go up from 2019 to 2021?", 2, Relation.CHANGE),
        ("Revenue grew by how much from 2019 to 2021?", 2, Relation.GROWTH),
        ("Tally up buybacks for 2017, 2018 and 2019.", 3, Relation.TOTAL),
        ("How much was spent on R&D in 2017 thru 2019 all told?", 3, Relation.TOTAL),
        ("What were cumulative dividends over 2021 to 2023?", 3, Relation.TOTAL),
        ("What did share buybacks add up to over 2018 to 2021?", 4, Relation.TOTAL),
        ("Sum the revenue of 2017 to 2021.", 5, Relation.TOTAL),
        ("Taken together, what was free cash flow for FY2017-FY2021?", 5, Relation.TOTAL),
        ("What was the change in goodwill from 2022 to 2023?", 2, Relation.CHANGE),
        ("How much higher was operating income in FY2017 than in FY2013?", 2, Relation.CHANGE),
        ("How much did debt increase in FY2023?", 1, Relation.CHANGE),
        ("What was the decrease in inventory in FY2023?", 1, Relation.CHANGE),
        ("Did gross margin improve in FY2023?", 1, Relation.TREND),
        ("Has revenue declined between 2021 and 2023?", 2, Relation.TREND),
        ("Is inventory higher than a year ago?", 1, Relation.TREND),
        ("How does inventory in FY2022 compare to FY2021?", 2, Relation.TREND),
        ("Compare inventory in 2021 and 2022.", 2, Relation.TREND),
        ("Why did revenue increase in 2023?", 1, Relation.EXPLANATION),
        ("What drove revenue growth in FY2023?", 1, Relation.EXPLANATION),
        ("What are the main drivers of SG&A?", 1, Relation.EXPLANATION),
        ("Who was appointed chief executive?", 1, Relation.EXPLANATION),
        ("What does management expect for revenue in 2024?", 1, Relation.EXPLANATION),
        ("Describe the restructuring plan.", 1, Relation.EXPLANATION),
        ("Are there any legal proceedings?", 1, Relation.EXPLANATION),
        ("Which segment has the highest revenue?", 1, Relation.EXPLANATION),
        ("When does the credit agreement mature?", 1, Relation.EXPLANATION),
    ],
)
def test_relations_over_time(core: str, years: int, expected: Relation) -> None:
    assert relation(core, years) is expected


def test_the_measures_own_words_ask_for_nothing() -> None:
    assert (
        relation("What were total current assets in 2022 and 2023?", 2, blank="total current assets") is Relation.EACH
    )
    assert relation("What was the net change in cash in 2023?", 1, blank="net change in cash") is Relation.EACH


def test_which_between_companies_asks_for_figures() -> None:
    assert relation("Which company had the higher revenue in 2023?", companies=2) is Relation.EACH
    assert relation("What is the difference in revenue between A and B in 2023?", companies=2) is Relation.EACH


@pytest.mark.parametrize(
    ("core", "expected"),
    [
        ("What is the difference in revenue between Acme and Bell?", Comparison.DIFFERENCE),
        ("By how much did Acme's revenue exceed Bell's?", Comparison.DIFFERENCE),
        ("How much more did Acme spend on R&D than Bell?", Comparison.DIFFERENCE),
        ("Which company had the higher net income, Acme or Bell?", Comparison.HIGHEST),
        ("Did Acme or Bell have more revenue?", Comparison.HIGHEST),
        ("Which of Acme and Bell spent less on capex?", Comparison.LOWEST),
        ("Which had the lowest gross margin?", Comparison.LOWEST),
        ("What is the ratio of Acme's revenue to Bell's?", Comparison.RATIO),
        ("How many times Bell's revenue is Acme's?", Comparison.RATIO),
        ("How many times did Acme's revenue exceed Bell's?", Comparison.RATIO),
        ("Take Acme's cash flow and divide it by Bell's.", Comparison.RATIO),
        ("How far ahead of Acme was Bell in revenue?", Comparison.DIFFERENCE),
        ("Compare Acme's buybacks to Bell's: gap?", Comparison.DIFFERENCE),
        ("What was the combined revenue of Acme and Bell?", Comparison.TOTAL),
        ("What were the revenues of Acme and Bell?", Comparison.NONE),
    ],
)
def test_comparisons_between_companies(core: str, expected: Comparison) -> None:
    assert comparison_of(core, 2) is expected
    assert comparison_of(core, 1) is Comparison.NONE


@pytest.mark.parametrize(
    ("core", "expected"),
    [
        ("How much may be borrowed?", True),
        ("How many stores are there?", True),
        ("What percentage of sales is online?", True),
        ("What is the total amount of commitments?", True),
        ("Who leads the company?", False),
        ("Why did sales fall?", False),
    ],
)
def test_whether_a_number_is_asked_for(core: str, expected: bool) -> None:
    assert asks_figure(core) is expected


@pytest.mark.parametrize(
    ("core", "first"),
    [
        ("How many times as large as Acme's were Bolt's total assets?", True),
        ("How much higher than Acme's was Bolt's revenue?", True),
        ("How many times Acme's were the assets of Bolt?", True),
        ("How many times Acme's goodwill is Bolt's?", True),
        ("How far ahead of Acme was Bolt in revenue?", True),
        ("How far behind Acme was Bolt in revenue?", False),
        ("How many times did Acme's revenue exceed Bolt's?", False),
        ("How many times as large as in 2020 were Acme's assets, and Bolt's?", False),
        ("What is the ratio of Acme's revenue to Bolt's?", False),
    ],
)
def test_what_is_measured_against_may_be_named_first(core: str, first: bool) -> None:
    assert base_stands_first(core, ["Acme", "Bolt"]) is first


def test_of_one_company_or_three_none_is_the_base() -> None:
    core = "How many times as large as Acme's were Bolt's and Crane's assets?"
    assert not base_stands_first(core, ["Acme"])
    assert not base_stands_first(core, ["Acme", "Bolt", "Crane"])


@pytest.mark.parametrize(
    ("core", "expected"),
    [
        ("Acme's cost of revenue as a multiple of Bolt's in FY2021?", Comparison.RATIO),
        ("Divide Acme's operating profit by Bolt's.", Comparison.RATIO),
        ("Whose assets grew faster, Acme's or Bolt's?", Comparison.HIGHEST),
        ("What net PP&E did Acme and Bolt report together for FY2022?", Comparison.TOTAL),
    ],
)
def test_further_wordings_of_comparisons(core: str, expected: Comparison) -> None:
    assert comparison_of(core, 2) is expected


def test_whose_growth_asks_for_a_company_and_not_for_words() -> None:
    assert relation("Whose net PP&E grew faster in FY2020, Acme's or Bolt's?", 1, companies=2) is Relation.GROWTH


def test_a_later_year_less_an_earlier_one_is_a_change_and_not_the_other_way_round() -> None:
    assert relation("What is cash from operations, 2021 minus 2019?", 2) is Relation.CHANGE
    assert relation("What is cash from operations, 2019 minus 2021?", 2) is Relation.EACH
    assert comparison_of("Acme's FY2021 revenue as percent of Bolt's FY2021 revenue", 2) is Comparison.RATIO
