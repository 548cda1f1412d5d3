"""Formulas and ratios in words: each is read as the formula that it describes."""

from __future__ import annotations

import dataclasses
import re

import pytest

from fin_agent.lexicon.company_mentions import CompanyDirectory
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.query.lexer import KnownName, KnownNames
from fin_agent.query.parsing import NoReadingError
from fin_agent.query.reading import candidate_readings, read_question
from fin_agent.query.tree import Axis, Kind, Line, Measure, NamedFormula, Query, lines_of, measure_text, with_lines
from fin_agent.vocabulary.identity import Form, Identity


@pytest.fixture(scope="module")
def names() -> KnownNames:
    filers = (("apple", "Apple Inc.", "AAPL"), ("netflix", "Netflix, Inc.", "NFLX"))
    known = [(key, Identity(company=name, form=Form.TEN_K, ticker=ticker)) for key, name, ticker in filers]
    return KnownNames(
        load_lexicon(),
        CompanyDirectory(known),
        parts_in=lambda text, keys: [
            KnownName("Europe", at, at + len("Europe")) for at in [text.find("Europe")] if at >= 0
        ],
    )


def _by_metric(line: Line | NamedFormula) -> Line | NamedFormula:
    name = line.formula if isinstance(line, NamedFormula) else line.metric
    return line.model_copy(update={"words": name or line.words})


def _read(question: str, names: KnownNames) -> Query:
    return read_question(question, names)


def _formula(query: Query) -> list[str]:
    return [measure_text(with_lines(one, _by_metric)) for one in query.measures]


FREE_CASH_FLOW = "cash_from_operations - capital_expenditures"
COVER = "operating_income / interest_expense"
INTENSITY = "research_and_development / revenue"
TURN = "inventories / cost_of_revenue * 365"
COST_OF_DEBT = "interest_expense / average long_term_debt"
BORROWED = "interest_expense / (current borrowings + non-current borrowings)"
WORDINGS = [
    ("What was Apple's 2024 operating cash flow net of capital expenditures?", FREE_CASH_FLOW),
    ("How much free cash flow (operating cash flow net of capex) did Apple have in 2024?", FREE_CASH_FLOW),
    ("Apple 2024: operating cash flow after capital expenditures", FREE_CASH_FLOW),
    ("What was left of Apple's 2024 operating cash flow after capex?", FREE_CASH_FLOW),
    ("After deducting capex, what was left of Apple's operating cash flow in 2024?", FREE_CASH_FLOW),
    ("Taking away capex from operating cash flow, what free cash flow did Apple have in 2024?", FREE_CASH_FLOW),
    ("Free cash flow at Apple in 2024 - operating cash flow minus capex", FREE_CASH_FLOW),
    ("Taking free cash flow as operating cash flow less capex, what was Apple's in 2024?", FREE_CASH_FLOW),
    ("If we take free cash flow as operating cash flow less capex, what was Apple's in 2024?", FREE_CASH_FLOW),
    ("Define free cash flow as operating cash flow less capex; what was Apple's in 2024?", FREE_CASH_FLOW),
    ("Apple's FCF for 2024, i.e. cash from operations after deducting PP&E additions", FREE_CASH_FLOW),
    ("Interest coverage at Apple in 2024, dividing operating income by interest expense", COVER),
    ("Apple 2024 interest cover: operating income to interest expense", COVER),
    ("Interest coverage ratio at Apple (operating income to interest expense), 2024", COVER),
    ("Apple's operating income as a multiple of interest expense in 2024", COVER),
    ("What multiple of interest expense was Apple's operating income in 2024?", COVER),
    ("How R&D-intensive was Apple in 2024, in terms of R&D over revenue?", INTENSITY),
    ("Research and development amounted to what share of revenue at Apple in 2024?", INTENSITY),
    ("As a percentage of revenue, what did Apple spend on R&D in 2024?", INTENSITY),
    ("What percentage of Apple's 2024 revenue did R&D represent?", INTENSITY),
    ("Research and development accounted for what percentage of Apple's revenue in 2024?", INTENSITY),
    ("What share of revenue did R&D take up at Apple in 2024?", INTENSITY),
    ("What share of Apple's revenue did R&D eat up in 2024?", INTENSITY),
    ("R&D at Apple in 2024 (share of revenue)", INTENSITY),
    ("Apple R&D 2024, % of revenue", INTENSITY),
    ("How much of Apple's 2024 revenue was eaten by R&D, in percent?", INTENSITY),
    ("How much of Apple's 2024 revenue did R&D swallow?", INTENSITY),
    ("What percentage of Apple's 2024 revenue was gobbled up by R&D?", INTENSITY),
    ("Days of inventory for Apple at fiscal 2024 year-end (ending inventories / cost of sales x 365)?", TURN),
    ("Apple's inventory days at FY2024 year-end (closing inventories over cost of sales x 365)?", TURN),
    ("Apple's cost of debt in 2024, interest expense over average long-term debt?", COST_OF_DEBT),
    ("Cost of debt at Apple, interest expense / average long-term debt, in 2024?", COST_OF_DEBT),
    ("Apple 2024 interest expense over borrowings (current plus non-current)", BORROWED),
    ("Apple dividends paid plus share repurchases 2024, total", "dividends_paid + repurchases_of_common_stock"),
]


@pytest.mark.parametrize(("question", "formula"), WORDINGS)
def test_a_formula_in_words_is_read_as_the_formula(names: KnownNames, question: str, formula: str) -> None:
    query = _read(question, names)
    assert (_formula(query), query.unread) == ([formula], ())


WITHOUT_FEE = "(operating_income + termination fee) / revenue"
WITHOUT_CREDITS = "(gross_profit - regulatory credits) / (revenue - regulatory credits)"
LEFT_OUT = [
    ("Excluding the termination fee, what was Apple's 2024 operating margin?", WITHOUT_FEE),
    ("For Apple in 2024, before the one-time termination fee, what operating margin was reported?", WITHOUT_FEE),
    ("Strip the termination fee out of Apple's 2024 operating expenses: what operating margin is left?", WITHOUT_FEE),
    ("If you strip out the termination fee, what was Apple's operating margin in 2024?", WITHOUT_FEE),
    ("Apple 2024 operating margin, adding back the termination fee", WITHOUT_FEE),
    ("If you add the termination fee back, what was Apple's operating margin in 2024?", WITHOUT_FEE),
    ("Put back the termination fee: what operating margin did Apple earn in 2024?", WITHOUT_FEE),
    ("Apple's operating margin in 2024 if the termination fee is left out", WITHOUT_FEE),
    ("Apple operating margin 2024 with the termination fee added back", WITHOUT_FEE),
    ("What would Apple's 2024 operating margin have been without the $10 million termination fee?", WITHOUT_FEE),
    ("Take Apple's 2024 operating income, put back the termination fee, and divide by revenue", WITHOUT_FEE),
    (
        "Without the termination fee, how much of Apple's 2024 revenue turned into operating income, in percent?",
        WITHOUT_FEE,
    ),
    ("Excluding regulatory credits, what gross margin did Apple make in 2024?", WITHOUT_CREDITS),
    ("What was Apple's gross margin in 2024 if you take regulatory credits out of revenue?", WITHOUT_CREDITS),
    ("With regulatory credits stripped out of revenue, what was Apple's 2024 gross margin?", WITHOUT_CREDITS),
    ("Stripping regulatory credits from revenue, what is Apple's 2024 gross margin?", WITHOUT_CREDITS),
    (
        "Apple's 2024 Europe gross margin ex regulatory credits",
        "(total europe revenue - regulatory credits - total europe cost of revenue)"
        " / (total europe revenue - regulatory credits)",
    ),
]


@pytest.mark.parametrize(("question", "formula"), LEFT_OUT)
def test_a_cost_left_out_of_a_margin_is_added_back_and_a_revenue_leaves_both_its_lines(
    names: KnownNames, question: str, formula: str
) -> None:
    query = _read(question, names)
    assert (_formula(query), query.unread) == ([formula], ())


BOTH_LEFT_OUT = [
    "Strip regulatory credits out of both revenue and gross profit: what was Apple's 2024 gross margin?",
    "Removing regulatory credits from revenue and from gross profit, what was Apple's gross margin in 2024?",
    "Take regulatory credits out of revenue and gross profit: what was the 2024 gross margin of Apple?",
]


@pytest.mark.parametrize("question", BOTH_LEFT_OUT)
def test_what_is_left_out_of_both_inputs_of_a_margin_is_left_out_of_the_margin(
    names: KnownNames, question: str
) -> None:
    query = _read(question, names)
    assert (_formula(query), query.unread) == ([WITHOUT_CREDITS], ())


CASH_AND_DEPOSIT = "cash_from_operations + $6 billion"
TOLD_AMOUNTS = [
    ("If you add back the $6 billion tax deposit, what would Apple's 2024 operating cash flow be?", CASH_AND_DEPOSIT),
    ("What was Apple's 2024 operating cash flow with the $6 billion tax deposit added back?", CASH_AND_DEPOSIT),
    ("What was Apple's 2024 operating cash flow plus the $6 billion tax deposit?", CASH_AND_DEPOSIT),
    ("What is Apple's 2024 operating cash flow if you add $6 billion of deposits back?", CASH_AND_DEPOSIT),
    ("If you add the $6 billion tax deposit back, what was Apple's 2024 operating cash flow?", CASH_AND_DEPOSIT),
    ("Add $6 billion to Apple's 2024 operating cash flow: what is the total?", "$6 billion + cash_from_operations"),
    ("Subtract a $2 billion legal charge from Apple's 2024 net income: what is left?", "net_income - $2 billion"),
]


@pytest.mark.parametrize(("question", "formula"), TOLD_AMOUNTS)
def test_an_amount_that_the_question_tells_is_an_operand(names: KnownNames, question: str, formula: str) -> None:
    query = _read(question, names)
    assert (_formula(query), query.unread) == ([formula], ())


@pytest.mark.parametrize(
    "question",
    [
        "If you add the $4 billion litigation charge back, what would Apple's 2024 operating margin have been?",
        "Adding back the $4 billion litigation charge, what was Apple's 2024 operating margin?",
        "What was Apple's 2024 operating margin excluding the $4 billion litigation charge?",
    ],
)
def test_an_amount_that_is_told_of_a_known_cost_is_used_in_its_place(names: KnownNames, question: str) -> None:
    query = next(one for one in candidate_readings(question, names) if not one.unread)
    assert _formula(query) == ["(operating_income + $4 billion) / revenue"]


@pytest.mark.parametrize(
    "question",
    [
        "Did R&D eat up a bigger share of Apple's revenue in 2022 or in 2024?",
        "Did R&D account for a smaller share of Apple's revenue in 2024 than in 2022?",
        "In which year did R&D make up a bigger share of Apple's revenue, 2022 or 2024?",
    ],
)
def test_a_line_that_makes_up_a_bigger_share_is_divided(names: KnownNames, question: str) -> None:
    query = next(one for one in candidate_readings(question, names) if not one.unread)
    lines = [line for one in query.measures for line in lines_of(one)]
    assert [getattr(line, "metric", None) for line in lines] == ["research_and_development", "revenue"]


@pytest.mark.parametrize("question", ["What share of revenue did Europe eat up at Apple in 2024?"])
def test_what_is_eaten_up_is_a_cost_and_no_part(names: KnownNames, question: str) -> None:
    query = next(one for one in candidate_readings(question, names) if not one.unread)
    assert (_formula(query), query.parts) == (["Europe / revenue"], None)


def test_what_comes_from_selling_a_thing_comes_from_the_thing(names: KnownNames) -> None:
    query = _read("What percent of Apple's 2024 revenue came from selling licenses?", names)
    assert (_formula(query), query.unread) == (["licenses / revenue"], ())


def test_a_cost_that_is_paid_is_the_cost(names: KnownNames) -> None:
    query = _read("What did Apple pay in interest and debt expense for 2024?", names)
    assert [line.words for line in query.lines()] == ["interest and debt expense"]


@pytest.mark.parametrize("told", ["using equity at year end", "based on equity at the end of the year"])
def test_a_formula_of_balances_at_the_end_of_the_year_averages_none(names: KnownNames, told: str) -> None:
    (measure,) = _read(f"Apple's return on equity in 2024, {told}", names).measures
    assert isinstance(measure, NamedFormula) and measure.closing


def test_more_than_the_told_amount_is_not_added_back(names: KnownNames) -> None:
    question = "Adding back the $6 billion deposit and stock-based compensation, what was Apple's 2024 net income?"
    assert all(one.unread for one in candidate_readings(question, names))


def test_a_told_amount_stands_for_a_cost_that_no_filing_prints(names: KnownNames) -> None:
    question = "What would Apple's 2024 operating margin have been without the $10 million termination fee?"
    read = [_formula(one) for one in candidate_readings(question, names)]
    assert read[0] == [WITHOUT_FEE]
    assert read[-1] == ["(operating_income + $10 million) / revenue"]


FREE_CASH_MARGIN = "(cash_from_operations - capital_expenditures) / revenue"
DIVIDED_WHOLE = [
    "What FCF margin did Apple post in 2024, taking operating cash flow minus capex over revenue?",
    "Apple 2024: operating cash flow less capex divided by revenue",
    "What was operating cash flow minus capital expenditures over revenue at Apple in 2024?",
]


@pytest.mark.parametrize("question", DIVIDED_WHOLE)
def test_a_difference_in_words_may_be_divided_as_a_whole(names: KnownNames, question: str) -> None:
    read = [_formula(one) for one in candidate_readings(question, names) if not one.unread]
    assert read[0] == ["cash_from_operations - capital_expenditures / revenue"]  # refused, as its units do not fit
    assert [FREE_CASH_MARGIN] in read


def test_a_difference_in_signs_is_divided_as_it_is_written(names: KnownNames) -> None:
    read = [_formula(one) for one in candidate_readings("Apple 2024: operating cash flow - capex / revenue", names)]
    assert [FREE_CASH_MARGIN] not in read


MOVED_SHARES = [
    "By how many percentage points did R&D grow as a share of Apple's revenue from 2023 to 2024?",
    "By how many points did R&D increase as a percentage of Apple's revenue in 2024 versus 2023?",
    "In basis points, by how much did R&D fall as a percentage of revenue at Apple between 2023 and 2024?",
]


@pytest.mark.parametrize("question", MOVED_SHARES)
def test_a_line_that_moves_as_a_share_of_another_is_a_change_of_the_share(names: KnownNames, question: str) -> None:
    query = _read(question, names)
    assert (query.kind, query.unread) == (Kind.CHANGE, ())
    assert [one.strip("()").removeprefix("change of (") for one in _formula(query)] == [INTENSITY]


@pytest.mark.parametrize(
    "question",
    [
        "How did R&D compare with revenue at Apple in 2024, in percent?",
        "As a percentage, how did Apple's R&D compare to revenue in 2024?",
        "How big was Apple's R&D against revenue in 2024, in percent?",
    ],
)
def test_one_line_compared_with_another_in_percent_is_their_quotient(names: KnownNames, question: str) -> None:
    query = _read(question, names)
    assert (_formula(query), query.unread) == ([INTENSITY], ())


@pytest.mark.parametrize(
    "question",
    [
        "How did Apple's effective tax rate compare with net income in 2024, in percent?",
        "How did Apple's gross margin compare with operating margin in 2024, in percent?",
    ],
)
def test_a_rate_compared_in_percent_is_not_divided(names: KnownNames, question: str) -> None:
    assert not any(" / " in each for one in candidate_readings(question, names) for each in _formula(one))


@pytest.mark.parametrize(
    "question",
    [
        "Apple's 2024 payout-to-cash ratio: (dividends paid + share repurchases) / operating cash flow",
        "Apple 2024 payout-to-cash ratio, please: (dividends paid + share repurchases) / operating cash flow",
    ],
)
def test_hyphens_in_the_name_of_a_formula_compute_nothing(names: KnownNames, question: str) -> None:
    read = [_formula(one) for one in candidate_readings(question, names) if not one.unread]
    assert ["(dividends_paid + repurchases_of_common_stock) / cash_from_operations"] in read


OTHERS_LEFT_OUT = [
    "Apple's 2024 operating margin with the loans taken out",
    "Strip the termination fee out of Apple's 2024 dividends: what operating margin is left?",
    "Apple's 2024 operating margin excluding the gain on investments",
]


@pytest.mark.parametrize("question", OTHERS_LEFT_OUT)
def test_what_is_no_input_of_a_margin_is_not_left_out_of_it(names: KnownNames, question: str) -> None:
    assert all(one.unread for one in candidate_readings(question, names))


KEPT = "(revenue - cost_of_revenue) / revenue"
FRAMES = [
    ("How much of each 2024 sales dollar did Apple keep after cost of sales?", KEPT),
    ("After cost of sales, how much of each 2024 sales dollar did Apple retain, in percent?", KEPT),
    ("What percentage of Apple's 2024 revenue was left after cost of sales?", KEPT),
    ("How much of Apple's 2024 revenue was left after cost of sales?", "revenue - cost_of_revenue"),
    ("Capital expenditures came out of Apple's 2024 operating cash flow: how much was left?", FREE_CASH_FLOW),
    ("How much was left at Apple in 2024 after capex came out of operating cash flow?", FREE_CASH_FLOW),
    ("What was left of Apple's 2024 operating cash flow once capital expenditures were paid for?", FREE_CASH_FLOW),
    ("Start with Apple's 2024 operating cash flow and subtract capex: what remains?", FREE_CASH_FLOW),
    ("R&D took what percent of Apple's revenue in 2024?", INTENSITY),
    ("R&D was equal to what percent of Apple's 2024 revenue?", INTENSITY),
    ("How many cents per sales dollar did Apple put into R&D in 2024?", INTENSITY),
    ("How many cents of each sales dollar went to R&D at Apple in 2024?", INTENSITY),
    ("Who is more R&D heavy relative to revenue, Apple (2024) or Netflix (2024)?", INTENSITY),
    ("Who was more R&D-heavy relative to revenue in 2024, Apple or Netflix?", INTENSITY),
    (
        "How heavily was Apple taxed in 2024, as a percentage of pretax profit?",
        "income_tax_expense / income_before_taxes",
    ),
    ("What did Apple add back for stock-based compensation in 2024?", "stock_based_compensation"),
    ("How much stock-based compensation did Apple add back in 2024?", "stock_based_compensation"),
    ("Apple revenue was up what percentage in 2024 over 2023?", "growth of revenue"),
    ("How much of its goodwill did Apple impair in 2024?", "goodwill impair"),
]


@pytest.mark.parametrize(("question", "formula"), FRAMES)
def test_words_around_two_lines_say_what_is_computed_of_them(names: KnownNames, question: str, formula: str) -> None:
    query = _read(question, names)
    assert (_formula(query), query.unread) == ([formula], ())


FCF_MARGIN = "(cash_from_operations - capital_expenditures) / revenue"
FCF_DEFINED = [
    "Apple's FCF margin for 2024, with FCF as operating cash flow minus capital expenditures?",
    "Apple free cash flow margin in 2024, taking free cash flow as operating cash flow less capex?",
    "What was Apple's FCF margin in 2024, where FCF is operating cash flow less capex?",
    "Apple's FCF margin 2024, treating FCF as cash from operations minus capital expenditures?",
    "Apple FCF margin, 2024, FCF being operating cash flow less capital expenditures?",
    "If we define FCF as operating cash flow minus capex, what was Apple's FCF margin in 2024?",
    "Apple's FCF margin in 2024 (FCF = operating cash flow - capex)?",
    "Apple FCF over revenue for 2024, where FCF means operating cash flow minus capex?",
]


@pytest.mark.parametrize("question", FCF_DEFINED)
def test_a_part_of_a_measure_is_defined_by_any_verb(names: KnownNames, question: str) -> None:
    read = [_formula(one) for one in candidate_readings(question, names) if not one.unread]
    assert [one.replace("100 * ", "") for one in read[0]] == [FCF_MARGIN]


def test_two_parts_of_one_measure_are_defined(names: KnownNames) -> None:
    ask = (
        "Apple net debt to EBITDA 2024, with net debt as long-term debt minus cash and EBITDA as net income plus taxes?"
    )
    assert _formula(_read(ask, names))[0].count(" / ") == 1


@pytest.mark.parametrize(
    "question",
    [
        "Apple operating income as a share of revenue minus R&D, 2024?",
        "Is Apple's revenue cost of sales plus R&D in 2024?",
    ],
)
def test_what_names_nothing_else_in_the_question_is_no_definition(names: KnownNames, question: str) -> None:
    assert any("operating_income" in one or "revenue" in one for one in _formula(_read(question, names)))


SHARED = [
    "Apple 2024: current and non-current lease liabilities divided by revenue?",
    "Apple 2024: [current plus non-current lease liabilities] / revenue",
    "What were current and non-current lease liabilities over revenue at Apple in 2024?",
]


@pytest.mark.parametrize("question", SHARED)
def test_two_adjectives_of_one_noun_are_two_lines_that_a_formula_adds_up(names: KnownNames, question: str) -> None:
    (formula,) = _formula(_read(question, names))
    assert formula.startswith("sum(") or formula.startswith("(sum(")
    assert formula.count("lease") == 2 and formula.endswith(" / revenue")


DESCRIBED = [
    "At roughly what average rate does Apple borrow in 2024 - interest expense divided by average total debt?",
    "What did Apple pay for its borrowings in 2024 - interest expense divided by average total debt?",
]


@pytest.mark.parametrize("question", DESCRIBED)
def test_a_formula_behind_plain_words_and_a_dash_is_asked_for(names: KnownNames, question: str) -> None:
    read = [_formula(one) for one in candidate_readings(question, names) if not one.unread]
    assert ["interest_expense / average total_debt"] in read


@pytest.mark.parametrize(
    ("question", "formula"),
    [
        ("Apple's cost of sales over 365 in 2024?", "cost_of_revenue / 365"),
        ("Apple 2024: inventories / (cost of sales over 365)", "inventories / (cost_of_revenue / 365)"),
        ("Apple revenue over 12, 2024", "revenue / 12"),
    ],
)
def test_over_divides_by_the_days_and_months_of_a_year(names: KnownNames, question: str, formula: str) -> None:
    assert _formula(_read(question, names)) == [formula]


def test_the_total_of_a_part_is_of_this_part(names: KnownNames) -> None:
    def spans(text: str, *lines: str) -> list[tuple[int, int]]:
        found = (one.span() for line in lines for one in re.finditer(line, text, re.IGNORECASE))
        return sorted(found)

    everywhere = dataclasses.replace(
        names, parts_in=lambda text, keys: [KnownName("Europe", *one) for one in spans(text, "Europe")]
    )
    printed = dataclasses.replace(
        everywhere, lines_in=lambda text, keys: spans(text, "total europe revenue", "total europe cost of revenue")
    )
    (read,) = _read("Apple 2024: R&D / total Europe revenue", everywhere).measures
    assert [line.part for line in lines_in_order(read)] == [None, "Europe"]
    assert not any(line.whole for line in lines_in_order(read))
    asked = "Apple 2024: (total Europe revenue - Europe cost of revenue) / total Europe revenue"
    assert _formula(_read(asked, printed)) == [
        "(total Europe revenue - total Europe cost of revenue) / total Europe revenue"
    ]
    with pytest.raises(NoReadingError):  # the gross profit of another table
        _read("Apple 2024: Europe gross profit / total Europe revenue", printed)


def lines_in_order(measure: Measure) -> list[Line]:
    return [one for one in lines_of(measure) if isinstance(one, Line)]


ADDED_BACK = "(net_income + interest_expense) / revenue"
LABELS = [
    "Apple's 2024 net margin if you add back the interest: (net income + interest expense) / revenue?",
    "Apple's 2024 margin net of nothing but the interest bill: (net income + interest expense) / revenue?",
    "Underlying margin before interest at Apple in 2024, i.e. [net income + interest expense] / revenue?",
]


@pytest.mark.parametrize("question", LABELS)
def test_the_words_before_a_formula_merely_name_it(names: KnownNames, question: str) -> None:
    read = [one for one in candidate_readings(question, names) if not one.unread]
    assert read and {tuple(_formula(one)) for one in read} == {(ADDED_BACK,)}


def test_what_is_asked_of_a_formula_is_no_name_of_it(names: KnownNames) -> None:
    question = "The average margin if you add back the interest, Apple 2022-2024: (net income + interest) / revenue?"
    assert all(one.unread or _formula(one) != [ADDED_BACK] for one in candidate_readings(question, names))


CLOSING = [
    "Using closing inventory and cost of sales, how many days of inventory did Apple carry at the end of 2024?",
    "Based on ending inventories and cost of sales, what were Apple's inventory days for 2024?",
    "Apple's days of inventory for 2024 based on ending inventories and cost of sales?",
    "How many inventory days did Apple have in 2024, using closing balances?",
]


@pytest.mark.parametrize("question", CLOSING)
def test_inputs_named_beside_a_formula_say_which_balances_it_takes(names: KnownNames, question: str) -> None:
    (days,) = _read(question, names).measures
    assert isinstance(days, NamedFormula) and days.closing and days.formula == "days_inventory_outstanding"


CONTRASTS = [
    "What share of Apple's 2024 revenue was R&D as opposed to capital expenditures?",
    "What share of Apple's 2024 revenue was R&D rather than capital expenditures?",
    "What share of Apple's 2024 revenue was R&D, instead of capital expenditures?",
]


@pytest.mark.parametrize("question", CONTRASTS)
def test_what_is_not_meant_is_left_aside_and_told(names: KnownNames, question: str) -> None:
    query = next(one for one in candidate_readings(question, names) if not one.unread)
    assert _formula(query) == [INTENSITY] and "capital expenditures" in query.assumed[0]


SIGNS = [
    ("Apple FY2024 free cash flow positive? (operating cash flow minus capex)", "above"),
    ("Apple operating cash flow less capex 2024 - positive or not?", "above"),
    ("Apple total equity at the end of 2024: negative?", "below"),
]


@pytest.mark.parametrize(("question", "way"), SIGNS)
def test_a_sign_is_asked_for_without_a_verb(names: KnownNames, question: str, way: str) -> None:
    query = _read(question, names)
    assert query.claim is not None and (query.kind, query.claim.way, query.unread) == (Kind.CLAIM, way, ())


@pytest.mark.parametrize(
    "question",
    [
        "Apple 2024 free cash flow (operating cash flow less capex): positive or negative?",
        "Was Apple's operating cash flow less capex positive or negative in 2024?",
        "Apple's total equity at the end of 2024, negative or positive?",
    ],
)
def test_which_sign_a_figure_has_is_no_claim(names: KnownNames, question: str) -> None:
    query = _read(question, names)
    assert (query.kind, query.claim, query.unread) == (Kind.VALUE, None, ())


CHOICES = [
    "Whose R&D-to-revenue ratio was higher, Apple's in 2024 or Netflix's in 2024?",
    "Whose R&D was higher as a percentage of revenue in 2024, Apple's or Netflix's?",
    "Apple or Netflix in 2024: whose R&D was the larger percentage of revenue?",
    "Compare R&D to revenue for Apple and Netflix in 2024: who devoted the bigger share?",
    "Which was more R&D-intensive relative to revenue in 2024, Apple or Netflix?",
    "Apple or Netflix: who puts more of its revenue into R&D in 2024?",
    "Apple or Netflix: who sinks less of its revenue into R&D, on 2024 figures?",
    "Which of Apple and Netflix pours more of its revenue into R&D, in 2024?",
    "R&D as a percentage of revenue at Apple and Netflix in 2024: which spent relatively more?",
]


@pytest.mark.parametrize("question", CHOICES)
def test_companies_are_compared_by_a_ratio_however_it_is_said(names: KnownNames, question: str) -> None:
    query = _read(question, names)
    assert query.comparison is not None and query.comparison.axis is Axis.COMPANIES
    assert _formula(query) in ([INTENSITY], ["research_intensity"]), query
    assert query.unread == ()


def test_a_calculation_and_its_name_with_a_sign_are_one_claim(names: KnownNames) -> None:
    query = _read("In the year ended September 28, 2024, did Apple's cash from operations exceed capex, giving positive free cash flow?", names)  # fmt: skip # noqa: E501
    assert (query.kind, _formula(query), query.unread) == (
        Kind.CLAIM, ["cash_from_operations", "capital_expenditures"], (),
    )  # fmt: skip


def test_a_part_at_the_end_is_that_of_all_lines(names: KnownNames) -> None:
    query = _read("In 2024, what was operating income as a percentage of revenue at Apple's Europe segment?", names)
    assert query.parts is not None and query.parts.names == ("Europe",)
    assert [line.part for line in query.lines()] == [None, None]


@pytest.mark.parametrize(
    "question",
    [
        "What was Apple's accounts receivable net of allowances in 2024?",
        "Apple PP&E net of accumulated depreciation, 2024",
        "Who spent relatively more on R&D in 2024, Apple or Netflix?",
    ],
)
def test_what_is_printed_net_or_names_no_divisor_is_not_made_a_formula(names: KnownNames, question: str) -> None:
    try:
        readings = list(candidate_readings(question, names))
    except NoReadingError:
        return
    assert not any(" - " in one or " / " in one for query in readings for one in _formula(query))
    assert all(query.unread or any(not line.metric for line in query.lines()) for query in readings)
