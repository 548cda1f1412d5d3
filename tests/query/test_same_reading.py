"""One request in several wordings: all of them have the reading of the first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fin_agent.lexicon.company_mentions import CompanyDirectory
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.query.lexer import KnownName, KnownNames
from fin_agent.query.reading import candidate_readings
from fin_agent.query.tree import Kind, Line, NamedFormula, Query, with_lines
from fin_agent.vocabulary.identity import Form, Identity

_PARTS = ("Americas", "Europe", "Cloud")


def _parts_in(text: str, keys: object) -> list[KnownName]:
    return [KnownName(one, at, at + len(one)) for one in _PARTS for at in [text.find(one)] if at >= 0]


@pytest.fixture(scope="module")
def names() -> KnownNames:
    filers = (("apple", "Apple Inc.", "AAPL"), ("netflix", "Netflix, Inc.", "NFLX"))
    known = [(key, Identity(company=name, form=Form.TEN_K, ticker=ticker)) for key, name, ticker in filers]
    return KnownNames(load_lexicon(), CompanyDirectory(known), parts_in=_parts_in)


def _bare(line: Line | NamedFormula) -> Line | NamedFormula:
    name = line.formula if isinstance(line, NamedFormula) else line.metric
    return line.model_copy(update={"words": name or line.words.lower()})


def _first(question: str, names: KnownNames) -> Query:
    """Return the first complete reading, by metrics and without the question and the form of its answer."""
    query = next(one for one in candidate_readings(question, names) if not one.unread)
    measures = tuple(with_lines(one, _bare) for one in query.measures)
    companies = tuple(one.model_copy(update={"confidence": 1.0}) for one in query.companies)
    plain = {"question": "", "unit": None, "decimals": None}
    return query.model_copy(update={**plain, "measures": measures, "companies": companies})


SAME = {
    "a verb alone as net income": [
        "What was Apple's net income in 2024?",
        "How much did Apple earn in 2024?",
        "How much money did Apple make in 2024?",
    ],
    "a verb alone as revenue": [
        "What was Apple's revenue in 2024?",
        "How much did Apple rake in during 2024?",
        "What did Apple take in during 2024?",
    ],
    "a verb alone as debt": ["What was Apple's total debt in 2024?", "How much did Apple owe in 2024?"],
    "a verb before a balance": [
        "Apple purchases of property, plant and equipment 2024",
        "What did Apple spend on property, plant and equipment in 2024?",
        "How much did Apple sink into property, plant and equipment in 2024?",
    ],
    "what is owed to suppliers": ["Apple accounts payable 2024", "How much did Apple owe its suppliers in 2024?"],
    "what a part earns": [
        "What was the profit of Apple's Cloud in 2024?",
        "What did Cloud earn for Apple in 2024?",
        "How much did Apple's Cloud make in 2024?",
    ],
    "what is wanted, at the end": [
        "What was the change in Apple's net sales from 2023 to 2024 in dollars?",
        "Apple net sales change 2024 vs 2023 dollars",
    ],
    "cash that is left": [
        "Apple operating cash flow - capex, 2024",
        "How much cash did Apple have left after capex in 2024?",
    ],
    "revenue that is added": ["Change in Apple's revenue in 2024", "How much revenue did Apple add in 2024?"],
    "digits and sources": [
        "Apple's 2024 operating income / interest expense? Round to two decimal places.",
        "AAPL FY24 operating income / interest expense, 2 dp",
        "Apple 2024: operating income over interest expense (income statement only), to 2 decimals",
        "Using the statement of operations, divide Apple's operating income by its interest expense for 2024; answer with 2 decimals.",  # noqa: E501
        "What do you get for Apple's 2024 operating income over interest expense, from the P&L alone and rounded to 2 d.p.?",  # noqa: E501
    ],
    "averages": [
        "What was Apple's average capex as a percentage of revenue for 2022 to 2024?",
        "What did Apple's capex average as a percentage of revenue over the three fiscal years 2022 through 2024?",
        "Average of Apple's capex as a percent of revenue, 2022-2024 (from the P&L and cash flow statement)",
    ],
    "averaged quotients": [
        "Apple average (capex / revenue), 2022 to 2024",
        "AAPL 3-yr avg capex/revenue, FY2022-FY2024",
    ],
    "amounts of a part": [
        "Apple's 2024 revenue from Europe",
        "Europe accounted for how many dollars of Apple's 2024 revenue?",
        "In 2024, how much revenue came from Europe at Apple?",
        "Europe contributed what dollar amount to Apple's revenue in 2024?",
        "How much did Europe sell for Apple in 2024?",
        "Apple sold how many dollars' worth in Europe in 2024?",
        "Europe made up what amount of Apple's 2024 revenue?",
    ],
    "amounts at the end": [
        "How much was Apple's total debt at the end of 2024?",
        "At the end of 2024, Apple's total debt came to how much?",
        "At the end of 2024, Apple had how much total debt?",
    ],
    "claims": [
        "Did Apple's operating margin improve in 2024?",
        "Is Apple's operating margin getting better in 2024?",
        "Looking at 2024, did Apple show an improvement in its operating margin?",
        "In 2024, is there an upward trend in Apple's operating margin? If it isn't a relevant metric, say so.",
    ],
    "higher than before": [
        "Were Apple's inventories higher in 2024 than in 2023?",
        "Apple inventories 2024 vs 2023: higher?",
        "Comparing 2024 with 2023, did Apple have larger inventories?",
    ],
    "differences": [
        "Apple's R&D minus Netflix's in 2024?",
        "What do you get when you subtract Netflix's 2024 R&D from Apple's?",
    ],
    "ranked within a part": [
        "Which Apple product had the most Cloud revenue in 2024?",
        "Within Apple's Cloud segment, which product had the most revenue in 2024?",
        "Apple Cloud revenue by product in 2024: which is largest?",
        "Largest product by Cloud revenue at Apple, 2024?",
    ],
    "growth in percent": [
        "By what percentage did Apple's net sales grow from 2023 to 2024?",
        "Apple net sales '24 vs '23 in %",
        "What was Apple's growth in net sales in 2024 over the prior fiscal year?",
    ],
    "per dollar": [
        "Apple's R&D / revenue in 2024?",
        "How many cents of R&D did Apple spend per dollar of revenue in 2024?",
    ],
    "shares of a part": [
        "What share of Apple's 2024 net sales came from Cloud?",
        "What percentage of Apple's 2024 net sales was contributed by the Cloud category?",
        "How much of Apple's net sales came through Cloud in 2024, as a share?",
        "What share of Apple's 2024 net sales was generated from Cloud?",
    ],
    "shares that a part has": [
        "Of Apple's 2024 net sales, what share did Cloud generate?",
        "Of the net sales Apple booked in 2024, how big a proportion did Cloud generate?",
        "Cloud made up how many per cent of Apple's net sales in 2024?",
    ],
    "at the end of a year": [
        "What were Apple's total assets at the end of fiscal 2024?",
        "Leaving fiscal 2024, what were Apple's total assets?",
        "What total assets did Apple have when fiscal 2024 closed?",
    ],
    "dividends": [
        "Were Apple's dividends paid in 2024 covered by net income?",
        "Were the dividends Apple paid in 2024 covered by net income?",
    ],
    "signs that compare": [
        "Was Apple's operating margin above 30% in 2024?",
        "Apple 2024 operating margin > 30%?",
    ],
    "sums": [
        "Apple's dividends and share repurchases combined, 2024?",
        "Combining dividends with share repurchases, how much did Apple return in 2024?",
    ],
    "parts that move together": [
        "How much did Apple's Americas and Europe revenue together rise in 2024?",
        "Put Apple's Americas and Apple's Europe together: how much did their combined revenue rise in 2024?",
        "How much did the combined revenue of Apple's Americas and Europe rise in 2024?",
    ],
    "current debt": [
        "Apple's debt due within a year at the end of 2024?",
        "Apple's debt maturing within a year at the end of 2024?",
    ],
    "parts together": [
        "What was Apple's revenue from Americas and Europe together in 2024?",
        "Apple 2024 revenue: Americas + Europe combined",
    ],
    "some of the parts": [
        "Which Apple segments grew revenue in 2024?",
        "Of Apple's segments, which ones grew revenue in 2024?",
    ],
    "falls of parts": [
        "Which Apple region had the biggest percentage decline in operating income in 2024?",
        "Which Apple region took the biggest percentage hit to operating income in 2024?",
    ],
    "what parts bring": [
        "Which Apple region had the most revenue in 2024?",
        "Which customer region gave Apple the most revenue in 2024?",
    ],
    "margins of segments": [
        "Which Apple segment had the best operating margin in 2024?",
        "Which Apple segment had the highest segment margin in 2024?",
    ],
    "earned per member": [
        "Which region of Netflix had the lowest average revenue per paying member in 2024?",
        "In which region did Netflix earn the least per paying member per month in 2024?",
    ],
    "people employed": [
        "How many more staff did Apple have in 2024 than in 2022?",
        "How many more people did Apple employ in 2024 than in 2022?",
    ],
}


@pytest.mark.parametrize("wordings", SAME.values(), ids=list(SAME))
def test_wordings_of_one_request_have_one_reading(names: KnownNames, wordings: list[str]) -> None:
    first, *others = (_first(one, names) for one in wordings)
    for other in others:
        assert other == first


def test_a_part_that_brackets_name_in_full_is_called_before_them(names: KnownNames) -> None:
    called = {"defense segment": "Defense", "DSS": "Defense, Space & Security"}
    of_parts = replace(
        names,
        parts_in=lambda text, keys: [
            KnownName(part, text.find(said), text.find(said) + len(said))
            for said, part in called.items()
            if said in text
        ],
    )
    query = _first("How fast did revenue of Apple's defense segment (DSS) grow in 2024?", of_parts)
    assert query.parts is not None and query.parts.names == ("Defense, Space & Security",)


def test_an_average_of_listed_years_is_that_of_the_years(names: KnownNames) -> None:
    query = _first(
        "What was Apple's inventory turnover for 2024, defined as cost of sales for 2024 over the mean inventory of 2023 and 2024?",  # noqa: E501
        names,
    )
    years = [line.period.fiscal_year for line in query.lines() if isinstance(line, Line) and line.period is not None]
    assert years == [2024, 2023, 2024]


@pytest.mark.parametrize(
    "question",
    [
        "Which Apple segment grew the most in 2024, and what share of total revenue did it represent?",
        "Apple 2024: fastest growing segment and its share of total revenue",
        "How large is Cloud, Apple's largest segment by revenue, in 2024?",
    ],
)
def test_a_ranking_and_what_is_asked_of_its_winner_are_not_one_reading(names: KnownNames, question: str) -> None:
    assert all(query.unread for query in candidate_readings(question, names))


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("Apple's obligations off the balance sheet in 2024", "obligations off"),
        ("Which segment led to the fall of Apple's revenue in 2024?", "led to"),
    ],
)
def test_words_of_the_matter_are_no_form_of_the_answer(names: KnownNames, question: str, line: str) -> None:
    assert line in [one.words for query in candidate_readings(question, names) for one in query.lines()]


def test_a_verb_of_paying_says_nothing_behind_a_flow_only(names: KnownNames) -> None:
    dividends = _first("How large were the dividends Apple paid in 2024?", names)
    assert [line.words for line in dividends.lines()] == ["dividends_paid"]
    cash = next(candidate_readings("How large was the cash Apple paid for stores in 2024?", names))
    assert any("paid" in line.words for line in cash.lines())


def test_a_choice_between_two_is_no_claim(names: KnownNames) -> None:
    query = _first(
        "Between Apple and Netflix, whose 2024 tax rate, i.e. tax expense over pre-tax income, was lower?", names
    )
    assert query.kind is Kind.COMPARISON and query.claim is None


@pytest.mark.parametrize(
    ("question", "metric"),
    [
        ("How much did Apple have unpaid to its makers (accounts payable) in 2024?", "accounts_payable"),
        ("In 2024, Apple had billed but not yet recognized how much (deferred revenue)?", "deferred_revenue_current"),
        ("What did Apple have in 2024 in plants and machines (property and equipment, net of depreciation)?",
         "property_plant_equipment_net"),
        ("What did Apple make in Europe before corporate costs (segment operating income) in 2024?",
         "segment_operating_income"),
    ],
)  # fmt: skip
def test_a_measure_in_brackets_is_asked_for_in_plain_words(names: KnownNames, question: str, metric: str) -> None:
    query = next(one for one in candidate_readings(question, names) if not one.unread)
    assert [getattr(line, "metric", None) for line in query.lines()] == [metric]
    assert any("brackets" in one for one in query.assumed)


@pytest.mark.parametrize(
    "question",
    [
        "What did Apple keep as profit (operating income) in 2024?",
        "How much did Apple owe to Panasonic (accounts payable) in 2024?",
        "How fast did it grow at Apple abroad (revenue) in 2024?",
    ],
)
def test_a_measure_in_brackets_passes_over_no_name_and_no_other_measure(names: KnownNames, question: str) -> None:
    assert not any("measure in brackets" in note for one in candidate_readings(question, names) for note in one.assumed)


@pytest.mark.parametrize(
    "question", ["How much stock did Apple sell in 2024?", "How many phones did Apple sell in Europe in 2024?"]
)
def test_what_is_sold_is_revenue_of_a_part_only(names: KnownNames, question: str) -> None:
    read = [line for one in candidate_readings(question, names) for line in one.lines()]
    assert all(getattr(line, "metric", None) != "revenue" for line in read)
