"""A later report that states a year otherwise: which of the two is meant, and that the answer says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from fin_agent.answering.answer import Answer
from fin_agent.evidence.filing_preparation import prepare
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.index.ingest import PreparedFiling, ingest
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.vocabulary.fact import Fact
from fin_agent.workspace import Workspace

ADDED = Decimal(111)


def with_more_revenue_before(path: Path) -> PreparedFiling:
    """As prepared; the report of 2024 says the revenue of 2023 was larger than the report of 2023 did."""
    prepared = prepare(path)
    if "2024" not in path.name:
        return prepared

    def changed(fact: Fact) -> Fact:
        earlier = fact.metric == "revenue" and fact.period.fiscal_year == 2023 and fact.scope is None
        return replace(fact, amount=fact.amount + ADDED) if earlier else fact

    filing = replace(prepared.filing, facts=tuple(map(changed, prepared.filing.facts)))
    return PreparedFiling(filing, prepared.cards, prepared.summary)


@pytest.fixture(scope="module")
def asked(sample_filings: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Answer]:
    folder = tmp_path_factory.mktemp("restated")
    files = [sample_filings / f"harborlight_{year}_10k.pdf" for year in (2022, 2023, 2024)]
    with SqliteIndex.create(folder) as index:
        assert not ingest(files, index, with_more_revenue_before, workers=0).failures
    context = AnswerContext.by_rules(Workspace.open(folder))
    return lambda question: answer_question(question, context)


@pytest.fixture(scope="module")
def original(asked: Callable[[str], Answer]) -> float:
    value = asked("What was Harborlight's revenue in FY2023?").answer.value
    assert value is not None
    return value


def test_a_single_year_is_that_of_its_own_report_and_the_restatement_is_told(asked: Callable[[str], Answer]) -> None:
    answer = asked("What was Harborlight's revenue in FY2023?")
    assert {citation.doc_id for citation in answer.citations} == {"harborlight_2023_10k"}
    (told,) = [note for note in answer.assumptions if "restates" in note]
    assert "as reported in the 10-K of FY2023" in told
    assert "the 10-K of FY2024 restates it as" in told


@pytest.mark.parametrize(
    "question",
    [
        "What was Harborlight's FY2023 revenue as originally reported?",
        "What was Harborlight's FY2023 revenue as reported in the FY2023 10-K?",
        "According to Harborlight's 2023 annual report, what was its FY2023 revenue?",
    ],
)
def test_the_first_report_is_taken_where_it_is_meant(
    question: str, asked: Callable[[str], Answer], original: float
) -> None:
    assert asked(question).answer.value == original


@pytest.mark.parametrize(
    "question",
    [
        "What was Harborlight's FY2023 revenue as restated?",
        "What was Harborlight's restated revenue for FY2023?",
        "What was Harborlight's FY2023 revenue as restated in the 2024 annual report?",
        "According to the 2024 10-K, what was Harborlight's FY2023 revenue?",
        "What was Harborlight's FY2023 revenue as stated in its 10-K for fiscal 2024?",
    ],
)
def test_the_later_report_is_taken_where_it_is_meant(
    question: str, asked: Callable[[str], Answer], original: float
) -> None:
    answer = asked(question)
    assert answer.answer.value == original + float(ADDED)
    assert {citation.doc_id for citation in answer.citations} == {"harborlight_2024_10k"}
    assert any("restated from" in note and "the 10-K of FY2023" in note for note in answer.assumptions)


def test_parts_move_within_the_table_of_the_last_year_in_its_first_report(asked: Callable[[str], Answer]) -> None:
    answer = asked("Which Harborlight segment gained the most revenue in FY2023, as originally reported?")
    assert not answer.refused, answer
    assert {citation.doc_id for citation in answer.citations} == {"harborlight_2023_10k"}


def test_growth_is_on_the_basis_that_is_meant(asked: Callable[[str], Answer]) -> None:
    first = asked("What was Harborlight's revenue growth from FY2022 to FY2023 as originally reported?").answer.value
    later = asked("What was Harborlight's revenue growth from FY2022 to FY2023 in the FY2024 10-K?").answer.value
    assert first is not None
    assert later is not None
    assert later > first


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What was Harborlight's FY2024 revenue as restated?", "as restated"),
        ("What was Harborlight's FY2023 revenue according to the 2022 10-K?", "2022 10-K"),
        ("By how much was Harborlight's FY2023 revenue restated?", "the amount of a restatement"),
    ],
)
def test_what_the_report_that_is_meant_does_not_state_is_refused(
    question: str, words: str, asked: Callable[[str], Answer]
) -> None:
    answer = asked(question)
    assert answer.refused
    assert words in answer.answer.text


def test_what_no_report_changes_is_not_remarked(asked: Callable[[str], Answer]) -> None:
    answer = asked("What was Harborlight's net income in FY2023?")
    assert answer.answer.value is not None
    assert not answer.assumptions
