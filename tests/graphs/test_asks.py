"""A question that asks several things: each is answered, or named as not found; each goes on from the one before."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fin_agent.answering.answer import Answer
from fin_agent.query.question_splitting import split_requests

Ask = Callable[..., Answer]


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        (
            "Which of Harborlight and Quillmark had more revenue in FY2023 and what's the ratio between them?",
            ("Quillmark Stores, Inc. has the higher revenue", "0.71"),
        ),
        (
            "Which had the highest FY2023 revenue and which the lowest, Harborlight or Quillmark?",
            ("Quillmark Stores, Inc. has the higher", "Harborlight Instruments, Inc. has the lower"),
        ),
        ("Harborlight's revenue in 2023 and net income in 2024?", ("FY2023: $3,533 million", "FY2024: $641 million")),
        (
            "What were Harborlight's revenue and Quillmark's net income in FY2023?",
            ("$3,533 million", "Net income of Quillmark Stores, Inc. for FY2023: $340,921 thousand"),
        ),
        (
            "What was Harborlight's net income in FY2024, and what share of revenue is that?",
            ("$641 million", "17.0%"),
        ),
        (
            "What was Harborlight's revenue in FY2024, and what share of it is net income?",
            ("$3,763 million", "17.0%"),
        ),
        (
            "What was Harborlight's revenue in FY2024, and by what percentage did it change from the year before?",
            ("$3,763 million", "6.5%"),
        ),
        ("Harborlight revenue FY2024? How does that compare with FY2022?", ("$3,763 million", "$3,334 million")),
        (
            "What was Harborlight's revenue in FY2024, and how much of that belongs to Calibration Services?",
            ("$3,763 million", "701 / 3,763 = 18.6%"),
        ),
        ("Harborlight's FY2024 revenue growth and net margin?", ("Growth of revenue", "6.5%", "Net margin", "17.0%")),
        ("Harborlight FY2024 revenue growth and net income growth", ("6.5%", "Growth of net income")),
        ("Harborlight's debt at the end of FY2024 and the portion due in 2029", ("$1,100 million", "$500 million")),
        (
            "Largest segment by revenue at Harborlight in FY2024 and its share of total revenue?",
            ("has the highest", "%."),
        ),
        ("Harborlight revenue FY2024, plus the change from the year before", ("$3,763 million", "6.5%")),
        (
            "Net margin of Harborlight and Tellurond in FY2024 - which one is higher and what's the gap in pts?",
            ("Tellurond Semiconductor Corporation has the higher net margin", "percentage points"),
        ),
    ],
)
def test_each_ask_is_answered(ask: Ask, question: str, texts: tuple[str, ...]) -> None:
    answer = ask(question)
    assert not answer.refused and not answer.missing, answer.answer.text
    for text in texts:
        assert text in answer.answer.text
    assert "Not found" not in answer.answer.text
    assert answer.citations and answer.program


def test_an_ask_that_is_not_answered_is_named_with_its_reason(ask: Ask) -> None:
    answer = ask("What was Harborlight's revenue in FY2023, and how many dragons did it keep?")
    assert not answer.refused
    assert "$3,533 million" in answer.answer.text and "Not found: how many dragons did it keep" in answer.answer.text
    assert any("dragons" in reason for reason in answer.missing)


def test_an_ask_is_answered_from_the_sentence_of_the_one_before(ask: Ask) -> None:
    answer = ask(
        "What were Harborlight's commitments to buy goods and services at December 31, 2022, and how much of that "
        "falls due within a year?"
    )
    assert "$179 million" in answer.answer.text and "most of which fall due within one year" in answer.answer.text
    assert "Not found" not in answer.answer.text and not answer.missing


def test_an_ask_of_common_words_alone_is_not_passed_over(ask: Ask) -> None:
    answer = ask("Harborlight's inventories at the end of FY2024 and how much was paid out during the year")
    assert not answer.refused
    assert any("paid" in one for one in (answer.answer.text, *answer.missing)), answer.answer.text


def test_where_no_ask_is_answered_all_reasons_are_told(ask: Ask) -> None:
    answer = ask("What was Harborlight's revenue in FY2011? And what was its net income in FY2012?")
    assert answer.refused
    assert "FY2011" in answer.answer.text and "FY2012" in answer.answer.text


def test_the_order_of_asks_changes_no_figure(ask: Ask) -> None:
    one = ask("What was Harborlight's net income in FY2023, and what was its operating income in FY2024?")
    other = ask("What was Harborlight's operating income in FY2024, and what was its net income in FY2023?")
    cited = [{(each.doc_id, each.page, each.text) for each in answer.citations} for answer in (one, other)]
    assert cited[0] == cited[1] and len(cited[0]) == 2


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Revenue (up or down, and why)?", 1),
        ("When Acme listed its shares, what did it raise?", 1),
        ("In 2020, what was revenue and what was its growth?", 2),
        ("For Acme, how much debt falls due in 2026 and 2027, and what share of all debt is that?", 2),
        ("Who left? When? Why?", 3),
        ("What were revenue and net income?", 1),
    ],
)
def test_a_question_is_parted_where_it_asks_again(question: str, asks: int) -> None:
    assert len(split_requests(question)) == asks


def test_what_defines_stands_behind_each_ask() -> None:
    first, second = split_requests(
        "What was FCF in 2023 and what was it in 2024? FCF is defined as cash from operations less capex."
    )
    assert all("FCF = cash from operations less capex" in one for one in (first, second))


def test_what_the_figures_before_tell_is_not_asked_again(ask: Ask) -> None:
    answer = ask("Did Harborlight's revenue rise or fall in FY2024 and by how much?")
    assert "rose by $230 million" in answer.answer.text and "Not found" not in answer.answer.text


def test_the_period_of_one_ask_is_that_of_all(ask: Ask) -> None:
    answer = ask("Which company had the higher revenue and which the lower in 2022, Harborlight or Quillmark?")
    assert not answer.refused
    assert "$3,334 million" in answer.answer.text and "$3,763 million" not in answer.answer.text


def test_a_short_form_with_a_full_stop_ends_no_sentence(ask: Ask) -> None:
    answer = ask("Harborlight FY2024 net inc. / rev. and PY?")
    assert "17.0%" in answer.answer.text or "0.17" in answer.answer.text, answer.answer.text


def test_one_ask_moves_and_the_other_does_not(ask: Ask) -> None:
    answer = ask("What was Harborlight's net income in FY2024, and how did its revenue change from FY2023 to FY2024?")
    assert "Net income of Harborlight Instruments, Inc. for FY2024: $641 million." in answer.answer.text
    assert "hange in revenue" in answer.answer.text and "$230 million" in answer.answer.text


def test_of_several_programs_each_stands_under_its_question(ask: Ask) -> None:
    asks = ("What was Harborlight's net income in FY2023?", "what were Tellurond's inventories at the end of FY2022?")
    program = ask(f"{asks[0][:-1]}, and {asks[1]}").program
    assert program is not None and program.count("def solution():") == 2
    assert all(f"# {each}\ndef solution():\n" in program for each in asks)


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("By how much did Tellurond's revenue rise in FY2024, and why?", "Change in revenue"),
        ("Tellurond FY2024 revenue increase and drivers", "Change in revenue"),
        ("What was Tellurond's revenue in FY2024, and what were the reasons for the increase?", "Revenue of Tellurond"),
        ("Tellurond revenue FY2024 vs FY2023, and what were the main reasons it moved?", "Change in revenue"),
        ("Tellurond revenue FY2024 vs FY2023 and the main reason for the change", "Change in revenue"),
        ("Tellurond revenue FY2024 vs FY2023 - and why did it rise?", "Change in revenue"),
    ],
)
def test_a_further_ask_for_reasons_is_of_what_was_asked_before(ask: Ask, question: str, figure: str) -> None:
    answer = ask(question)
    assert figure in answer.answer.text and "Data Center recovered" in answer.answer.text


def test_a_statement_before_a_reason_asks_for_no_figure(ask: Ask) -> None:
    answer = ask("Tellurond's revenue rose in FY2024; how does Tellurond explain the increase?")
    assert answer.answer.text.startswith("Data Center recovered") and "Change in" not in answer.answer.text


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("Why did Tellurond's revenue increase in FY2024, and by how much?", ("Data Center recovered", "Change in")),
        (
            "Why did Tellurond's gross margin increase in FY2024, and by how many bps?",
            ("use of our factories", "Change in gross margin", "basis points"),
        ),
        (
            "Why did Tellurond's gross margin increase in FY2024, and what was it?",
            ("use of our factories", "Gross margin of Tellurond"),
        ),
        (
            "Why did Tellurond's gross margin increase in FY2024, and how high was it in FY2023?",
            ("use of our factories", "Gross margin of Tellurond Semiconductor Corporation for FY2023"),
        ),
    ],
)
def test_what_follows_a_reason_is_of_what_it_explains(ask: Ask, question: str, texts: tuple[str, ...]) -> None:
    answer = ask(question)
    assert all(text in answer.answer.text for text in texts) and "Not found" not in answer.answer.text


def test_what_is_not_of_the_measure_itself_is_no_figure_of_it(ask: Ask) -> None:
    answer = ask("Why did Tellurond's gross margin increase in FY2024, and what worked against it?")
    assert "Gross margin of" not in answer.answer.text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Harborlight FY2024 revenue plus percentage increase on 2023", "Growth of revenue"),
        ("Harborlight FY2024 revenue plus the rise from 2023", "Change in revenue"),
        ("Harborlight inventories + capex, FY2024, plus change in receivables", "484 + 141 + -22"),
    ],
)
def test_plus_joins_asks_before_a_rate_and_adds_before_a_line(ask: Ask, question: str, text: str) -> None:
    assert text in ask(question).answer.text


def test_a_date_joined_by_and_is_an_ask_of_its_own() -> None:
    assert split_requests("Acme auditor and year engaged") == ("Acme auditor?", "year engaged?")
    assert split_requests("Acme revenue and year-end cash") == ("Acme revenue and year-end cash",)
