"""Questions over one table and its paragraphs, answered by rules."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_agent.analyst.rules.context_answers.answering import answer_in_context
from fin_agent.analyst.rules.context_answers.context import AnswerKind, Context
from fin_agent.answering.sandbox import MontySandbox

INCOME = Context.of(
    [
        ["", "", "Year Ended June 30,", ""],
        ["(in thousands)", "2021", "2020", "2019"],
        ["Revenue:", "", "", ""],
        ["Lamp sales", "$1,200", "$1,000", "$800"],
        ["Service fees", "300", "250", "260"],
        ["Total revenue", "1,500", "1,250", "1,060"],
        ["Costs:", "", "", ""],
        ["Freight", "(90)", "(100)", "(80)"],
        ["Interest expense", "(12)", "(20)", "(16)"],
        ["Gross margin", "41.5%", "40.0%", "38.0%"],
    ],
    [
        "The following table sets forth results of our lamp business:",
        "Trade receivables are amounts that customers owe for lamps delivered. We sold 40 shops in March 2021.",
        "Advertising costs were $3.5 million and $4.0 million in 2021 and 2020, respectively.",
        "Service fees increased primarily due to longer contracts with hotels.",
    ],
)
QUARTERS = Context.of(
    [
        ["", "High", "Low"],
        ["2021", "", ""],
        ["First Quarter", "$ 9.00", "$ 6.00"],
        ["Second Quarter", "8.00", "5.00"],
        ["2020", "", ""],
        ["First Quarter", "7.00", "4.00"],
        ["Second Quarter", "6.50", "3.00"],
    ]
)


@pytest.mark.parametrize(
    ("question", "value", "scale"),
    [
        ("What was the change in Lamp sales between 2020 and 2021?", "200", "thousand"),
        ("What is the change in Service fees from 2019 to 2020?", "-10", "thousand"),
        ("What is the difference in Service fees between 2019 and 2020?", "10", "thousand"),
        ("What was the percentage change in total revenue between 2020 and 2021?", "20", "percent"),
        ("What was the average lamp sales from 2019 to 2021?", "1000", "thousand"),
        ("What is the average lamp sales?", "1000", "thousand"),
        ("What is the 2021 average lamp sales?", "1100", "thousand"),
        ("What is the sum of lamp sales in 2021 and 2020?", "2200", "thousand"),
        ("What is the sum of lamp sales and service fees in 2021?", "1500", "thousand"),
        ("What is the difference between lamp sales and service fees in 2021?", "900", "thousand"),
        ("What is the ratio of lamp sales to service fees in 2020?", "4", ""),
        ("What is the percentage of service fees in total revenue in 2020?", "20", "percent"),
        ("What were service fees as a percentage of total revenue in 2021?", "20", "percent"),
        ("What was the change in gross margin between 2019 and 2021?", "3.5", "percent"),
        ("What was the average interest expense for 2020 and 2021?", "16", "thousand"),
        ("What is the total advertising costs in 2021 and 2020?", "7.5", "million"),
        ("How many years did lamp sales exceed $900 thousand?", "2", ""),
        ("How many years did lamp sales exceed $0.9 million?", "2", ""),
    ],
)
def test_what_is_computed(question: str, value: str, scale: str) -> None:
    answer = answer_in_context(question, INCOME)
    assert (answer.value, answer.scale) == (Decimal(value), scale)
    assert answer.kind in (AnswerKind.COMPUTED, AnswerKind.COUNT)


@pytest.mark.parametrize(
    ("question", "spans", "scale"),
    [
        ("What were service fees in 2020?", ("250",), "thousand"),
        ("What was the gross margin in 2021?", ("41.5%",), ""),
        ("What were lamp sales in 2019 and 2021, respectively?", ("$800", "$1,200"), "thousand"),
        ("What are the respective lamp sales and service fees in 2020?", ("$1,000", "250"), "thousand"),
        ("In which year was freight the lowest?", ("2020",), ""),
        ("Which years did total revenue exceed $1,200 thousand?", ("2021", "2020"), ""),
        ("Which years does the table provide information for?", ("2021", "2020", "2019"), ""),
        ("What are the components of revenue in the table?", ("Lamp sales", "Service fees"), ""),
        ("What are trade receivables?", ("amounts that customers owe for lamps delivered.",), ""),
        ("Why did service fees increase?", ("primarily due to longer contracts with hotels.",), ""),
        ("What were the advertising costs in 2020?", ("$4.0 million",), ""),
        ("How many shops were sold in March 2021?", ("40",), ""),
        ("What does the table show?", ("results of our lamp business",), ""),
    ],
)
def test_what_is_quoted(question: str, spans: tuple[str, ...], scale: str) -> None:
    answer = answer_in_context(question, INCOME)
    assert (answer.spans, answer.scale) == (spans, scale)


def test_periods_may_stand_in_rows() -> None:
    assert answer_in_context("What is the average quarterly low price in 2020?", QUARTERS).value == Decimal("3.5")
    assert answer_in_context("In which quarter of 2021 was the high price the lowest?", QUARTERS).spans == (
        "Second Quarter",
    )
    assert answer_in_context(
        "In the first quarter of 2021, what is the difference between the low and high price?", QUARTERS
    ).value == Decimal(3)


def test_a_program_shows_the_cells_and_comes_to_the_value() -> None:
    answer = answer_in_context("What was the percentage change in total revenue between 2020 and 2021?", INCOME)
    assert [(source.row, source.column, source.printed) for source in answer.sources] == [
        (5, 1, "1,500"),
        (5, 2, "1,250"),
    ]
    assert "# '1,500', row 6, column 2" in answer.program
    sandbox = MontySandbox()
    try:
        assert sandbox.run(answer.program).value == pytest.approx(20)
    finally:
        sandbox.close()


def test_a_figure_of_the_text_is_said_to_be_one() -> None:
    answer = answer_in_context("What is the total advertising costs in 2021 and 2020?", INCOME)
    assert "in the text" in answer.program
    assert {source.row for source in answer.sources} == {-1}


@pytest.mark.parametrize(
    "context",
    [
        Context.of([]),
        Context.of([[]], [""]),
        Context.of([["", ""], ["", ""]]),
        Context.of([["2019"], ["1", "2", "3"], [], ["Cash", "5"]], ["No words here."]),
        Context.of([["Name", "Role"], ["A. Person", "Chair"]]),
        Context.of([["", "2020", "2019"], ["Cash", "0", "0"]]),
        Context.of([["", "2020", "2019"], ["Cash", "9" * 80, "1"]]),
    ],
)
@pytest.mark.parametrize(
    "question",
    [
        "",
        "   ",
        "???",
        "2019",
        "What was the percentage change in cash from 2019 to 2020?",
        "What is the ratio of cash to cash?",
        "How many years did cash exceed $5?",
        "Which item had the highest value in 2020?",
        "What was cash in 2019 and 2020, respectively?",
    ],
)
def test_poor_input_is_no_error(context: Context, question: str) -> None:
    answer = answer_in_context(question, context)
    assert answer.kind is not AnswerKind.NONE or (not answer.spans and answer.value is None)


def test_division_by_zero_is_no_answer_by_computing() -> None:
    flat = Context.of([["", "2020", "2019"], ["Cash", "5", "0"]])
    answer = answer_in_context("What was the percentage change in cash from 2019 to 2020?", flat)
    assert answer.kind is not AnswerKind.COMPUTED


_CELLS = st.sampled_from(["", "2019", "2020", "Cash", "Total", "$ 1,2", "(5)", "—", "7%", "in thousands", "n/a", "1:1"])


@given(
    table=st.lists(st.lists(_CELLS, max_size=4), max_size=5),
    paragraphs=st.lists(st.sampled_from(["", "Cash was $5 million in 2019.", "(1) of 7% and", "• due to"]), max_size=3),
    question=st.sampled_from(
        [
            "What was the change in cash in 2020?",
            "Which had the lowest cash?",
            "What is the percentage of cash in total in 2019?",
            "What are the types of cash?",
            "Why is cash 7%?",
            "What is the average of cash and total between 2019 and 2020?",
            "What cash and and and, respectively?",
        ]
    ),
)
def test_anything_is_answered_without_an_error(table: list[list[str]], paragraphs: list[str], question: str) -> None:
    context = Context.of(table, paragraphs)
    assert answer_in_context(question, context) == answer_in_context(question, context)
