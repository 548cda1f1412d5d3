"""A figure that no reading names: the printed one nearest to the words, where it is likely enough to be meant."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from fin_agent.analyst.reasoning_result import Reasoning
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.evidence.intent import Intent
from fin_agent.query.nearest_figure import SingleFigureQuestion, as_single_figure
from fin_agent.query.question_to_intent import (
    intent_of_query,
    intent_of_question,
    known_names,
    with_nearest_figure,
)
from fin_agent.query.tree import Line, Parts
from fin_agent.retrieval.fact_terms import words_of
from fin_agent.retrieval.nearest_figure import FigureTarget, find_nearest_figure, other_phrases, ranked_candidates
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
    assert "founder" in asked.target.words
    assert find_nearest_figure(workspace, asked.target, company=asked.company.key) is None


@pytest.mark.parametrize(
    "question",
    [
        "Why did Harborlight's stock-based compensation rise in fiscal 2023?",
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
    assert "2029" in asked.target.words


def test_words_that_may_compute_are_looked_for_in_the_name_of_the_line(workspace: Workspace) -> None:
    asked = figure_of("Harborlight fiscal 2023: long-term growth rate assumed for its goodwill", workspace)
    assert asked is not None
    assert {"growth", "goodwil"} <= asked.target.words
    assert figure_of("Harborlight fiscal 2023: goodwill minus deferred tax", workspace) is None


def test_company_and_period_in_capitals_are_no_words_of_the_figure(workspace: Workspace) -> None:
    asked = figure_of("HARBORLIGHT FY2023: how much went through paid-in capital", workspace)
    assert asked is not None
    assert asked.target.words.isdisjoint({"harborlight", "fy2023", "2023"})


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("How much of Harborlight's restructuring accrual sat in other current liabilities in fiscal 2023?", "any"),
        ("What share of Harborlight's trade receivables sat in other current assets in fiscal 2023?", "percent"),
        ("How many dollars went through Harborlight's paid-in capital in fiscal 2023?", "amount"),
        ("Employees that Harborlight had worldwide at the end of fiscal 2023?", "count"),
        ("Wages of employees that Harborlight had at the end of fiscal 2023, as a payable?", "words"),
        ("What is the par value per share of Harborlight's common stock at the end of fiscal 2023?", "amount"),
    ],
)
def test_the_kind_of_figure_is_the_one_asked_for(question: str, wanted: str, workspace: Workspace) -> None:
    asked = figure_of(question, workspace)
    assert asked is not None
    assert asked.target.wanted == wanted


def test_a_change_is_answered_by_a_sentence_that_says_it(workspace: Workspace) -> None:
    asked = figure_of(
        "By how much did Harborlight's paid-in capital grow in fiscal 2023 versus fiscal 2022?", workspace
    )
    assert asked is not None
    assert (asked.target.moved, asked.target.only_sentences, asked.period.fiscal_year) == ("up", True, 2023)
    assert find_nearest_figure(workspace, asked.target, company=asked.company.key) is None


def test_what_the_sentence_before_tells_is_read(workspace: Workspace) -> None:
    told = "Harborlight had leases that have not commenced at the end of fiscal 2023. How much is due on these?"
    asked = figure_of(told, workspace)
    assert asked is not None
    assert {"leas", "commenc"} <= asked.target.words


def test_an_amount_of_a_sentence_is_no_count(workspace: Workspace) -> None:
    (company,) = (one for one in workspace.directory.companies if one.name.startswith("Quillmark"))
    counted = FigureTarget(words=words_of("stores"), fiscal_year=2023, wanted="count")
    found = [each.fact for each, _ in ranked_candidates(workspace, counted, company=company.key)]
    told = [fact for fact in found if fact.source == "text"]
    assert Decimal(412) in {fact.amount for fact in told}
    assert not any(fact.unit.startswith("USD") for fact in told)


def test_a_phrase_stands_for_the_others_of_its_group() -> None:
    known = dict(other_phrases("shares set aside for RSUs"))
    assert frozenset({"reserv"}) in known[frozenset({"set", "asid"})]
    assert frozenset({"restrict", "stock", "unit"}) in known[frozenset({"rsu"})]


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


def test_a_part_that_no_line_is_of_is_not_passed_over(workspace: Workspace) -> None:
    read = intent_of_question("What was Harborlight's net income in fiscal 2023?", workspace).query
    assert read is not None
    both = read.model_copy(
        update={
            "measures": (Line(words="profit", metric="net_income", part="Division"),),
            "parts": Parts(names=("Marine",)),
        }
    )
    assert any("Marine" in each for each in intent_of_query(both, workspace).unsupported)


def test_a_number_is_told_by_filings_of_the_years_around_the_one_asked_about(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def noted(
        intent: Intent, evidence: object, index: object, lexicon: object, own: dict[str, list[str]], _: object
    ) -> Reasoning:
        read.extend(name for names in own.values() for name in names)
        return Reasoning(text="", citations=())

    monkeypatch.setattr("fin_agent.analyst.rules.analyst.reason", noted)
    analyst = RulesAnalyst(workspace)
    filings = [each.doc_id for each in workspace.index.entries() if each.doc_id.startswith("quillmark")]
    for year, some in ((2024, True), (2030, False)):
        read.clear()
        analyst.reason(
            analyst.intent(f"How many stores did Quillmark operate at the end of fiscal {year}?"), [], filings
        )
        assert bool(read) is some


@pytest.mark.parametrize(
    "question",
    [
        "How many shares did Harborlight have outstanding as of February 13, 2025?",
        "Harborlight's share count as of February 13, 2025",
        "Number of Harborlight common shares outstanding per the cover of its 2024 10-K?",
        "Harborlight shares outstanding, cover page, 2024 annual report",
    ],
)
def test_shares_at_the_day_of_a_cover_are_those_of_the_cover(question: str, workspace: Workspace) -> None:
    answer = workspace.ask(question)
    assert answer.answer.text == "163,260,757."
    assert [one.doc_id for one in answer.citations] == ["harborlight_2024_10k"]


def test_an_amount_that_the_question_tells_is_not_the_one_it_asks_for(workspace: Workspace) -> None:
    company = workspace.directory.mentions("Harborlight")[0].company.key
    sought = FigureTarget(words=words_of("stock-based compensation paid-in capital"), fiscal_year=2023)
    told = {each.fact.value for each, _ in ranked_candidates(workspace, sought, company=company)}
    assert told
    left = ranked_candidates(workspace, replace(sought, told=frozenset(map(float, map(abs, told)))), company=company)
    assert not left
