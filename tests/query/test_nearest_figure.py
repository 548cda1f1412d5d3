"""A figure that no reading names: the printed one nearest to the words, where it is likely enough to be meant."""

from __future__ import annotations

from decimal import Decimal

import pytest

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.query.nearest_figure import SingleFigureQuestion, as_single_figure
from fin_agent.query.question_to_intent import intent_of_question, known_names, with_nearest_figure
from fin_agent.retrieval.nearest_figure import find_nearest_figure
from fin_agent.retrieval.slot_figures import facts_for
from fin_agent.workspace import Workspace

WENT_THROUGH = "how much stock-based compensation went through Harborlight's paid-in capital in fiscal 2023"


def figure_of(question: str, workspace: Workspace) -> SingleFigureQuestion | None:
    core = intent_of_question(question, workspace).core
    return as_single_figure(question, core, known_names(workspace), workspace)


def test_a_question_that_no_grammar_reads_is_answered_by_the_nearest_figure(workspace: Workspace) -> None:
    assert not intent_of_question(WENT_THROUGH, workspace).numeric
    answer = workspace.ask(WENT_THROUGH)
    assert answer.answer.value == 56
    assert any("the printed figure closest to its words" in each for each in answer.assumptions)
    assert [each.doc_id for each in answer.citations] == ["harborlight_2024_10k"]
    assert "Stock-based compensation" in answer.answer.text


@pytest.mark.parametrize(
    "question",
    [
        "Harborlight: how much stock-based compensation went through paid-in capital, fiscal 2023",
        "HOW MUCH STOCK-BASED COMPENSATION WENT THROUGH HARBORLIGHT'S PAID-IN CAPITAL IN FY2023",
    ],
)
def test_order_and_letters_do_not_change_what_is_found(question: str, workspace: Workspace) -> None:
    assert workspace.ask(question).answer.value == 56


def test_another_year_has_its_own_figure(workspace: Workspace) -> None:
    assert workspace.ask(WENT_THROUGH.replace("2023", "2024")).answer.value not in (None, 56)


def test_a_word_that_no_address_says_is_not_passed_over(workspace: Workspace) -> None:
    with_founders = WENT_THROUGH.replace("how much", "how much of the founders'")
    assert workspace.ask(with_founders).refused
    asked = figure_of(with_founders, workspace)
    assert asked is not None
    assert "founder" in asked.sought.words
    assert find_nearest_figure(workspace, asked.sought, company=asked.company.key) is None


@pytest.mark.parametrize(
    "question",
    [
        "Why did Harborlight's stock-based compensation rise in fiscal 2023?",
        "By how much did Harborlight's paid-in capital grow in fiscal 2023?",
        "Which of Harborlight's segments went through the most in fiscal 2023?",
        "What was Harborlight's and Tellurond's paid-in capital in fiscal 2023?",
        "What was Harborlight's paid-in capital in the second half of fiscal 2023?",
        "What were Harborlight's gross margin and operating margin in fiscal 2023?",
        "Who sits on Harborlight's board?",
        "stock-based compensation in fiscal 2023",
    ],
)
def test_what_is_no_single_printed_figure_is_left_alone(question: str, workspace: Workspace) -> None:
    assert figure_of(question, workspace) is None


def test_a_year_to_come_belongs_to_the_name_of_a_line(workspace: Workspace) -> None:
    asked = figure_of(
        "At the end of fiscal 2023, how large were the senior notes due March 2029 at Harborlight?", workspace
    )
    assert asked is not None
    assert asked.period.fiscal_year == 2023
    assert "2029" in asked.sought.words


def test_words_that_may_compute_are_looked_for_in_the_name_of_the_line(workspace: Workspace) -> None:
    asked = figure_of("Harborlight fiscal 2023: long-term growth rate assumed for its goodwill", workspace)
    assert asked is not None
    assert {"growth", "goodwil"} <= asked.sought.words
    assert figure_of("Harborlight fiscal 2023: goodwill minus deferred tax", workspace) is None


def test_a_question_that_is_read_stays_as_it_is(workspace: Workspace) -> None:
    read = intent_of_question("What was Harborlight's net income in FY2023?", workspace)
    assert with_nearest_figure(read, workspace) is read


def test_where_a_model_reads_questions_nothing_is_guessed(workspace: Workspace) -> None:
    assert RulesAnalyst(workspace).intent(WENT_THROUGH).numeric
    assert not RulesAnalyst(workspace, reads_alone=False).intent(WENT_THROUGH).numeric


def test_the_slot_is_filled_from_the_place_that_was_settled(workspace: Workspace) -> None:
    analyst = RulesAnalyst(workspace)
    (slot,) = analyst.plan(analyst.intent(WENT_THROUGH)).slots()
    (hit,) = facts_for(slot, workspace).hits
    assert (hit.sourced.fact.label, hit.sourced.fact.amount) == ("Stock-based compensation", Decimal(56))


@pytest.mark.parametrize(
    "question",
    [
        "How much revenue did Harborlight earn from Zephyrcloud in fiscal 2023?",
        "How much revenue did Harborlight make with its zephyr service in fiscal 2023?",
        "How much Zephyrcloud revenue did Harborlight report in fiscal 2023?",
    ],
)
def test_what_revenue_is_from_is_never_passed_over(question: str, workspace: Workspace) -> None:
    assert workspace.ask(question).refused
