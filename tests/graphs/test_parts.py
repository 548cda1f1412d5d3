"""A part of a company is never answered with the company's own figure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.evidence.intent import Intent
from fin_agent.graphs.answer.question_scope import intent_in
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.query.tree import Combination
from fin_agent.workspace import Workspace


@pytest.fixture(scope="module")
def workspace(sample_html_index: Path) -> Iterator[Workspace]:
    with SqliteIndex(sample_html_index) as index:
        yield Workspace(index)


def numeric(question: str, workspace: Workspace) -> bool:
    intent = RulesAnalyst(workspace).intent(question)
    return intent.numeric


def asked(question: str, workspace: Workspace) -> Intent:
    return RulesAnalyst(workspace).intent(question)


@pytest.mark.parametrize(
    ("question", "part", "measure"),
    [
        ("What was Ottermere's operating income for Brokerage in Q2 2025?", "Brokerage", "operating_income"),
        ("What was Ottermere's operating income from dedicated in Q2 2025?", "Dedicated", "operating_income"),
        (
            "How much operating income did Ottermere's Truckload segment have in Q2 2025?",
            "Truckload",
            "operating_income",
        ),
    ],
)
def test_a_part_is_asked_for_its_own_figures(question: str, part: str, measure: str, workspace: Workspace) -> None:
    intent = asked(question, workspace)
    assert (intent.parts, intent.expression) == ((part,), measure)
    assert intent.question == question
    slots = RulesAnalyst(workspace).plan(intent).slots()
    assert {slot.part for slot in slots} == {part}
    (required,) = (slot for slot, needed in slots.items() if needed)
    assert str(required).startswith(f"{part} operating income of ")


def test_two_parts_of_one_measure_are_set_against_each_other(workspace: Workspace) -> None:
    intent = asked(
        "By how much did the operating income of Truckload exceed that of Brokerage at Ottermere in Q2 2025?", workspace
    )
    assert intent.query is not None and not intent.unsupported
    assert intent.query.comparison is not None and intent.query.comparison.how is Combination.DIFFERENCE
    assert intent.query.parts is not None and intent.query.parts.names == ("Truckload", "Brokerage")


@pytest.mark.parametrize("called", ["Truckload", "Truckload segment", "Truckload business", "Truckload unit"])
def test_a_measure_that_no_filing_divides_is_never_the_wholes(called: str, workspace: Workspace) -> None:
    intent = asked(f"What was the gross margin of Ottermere's {called} in Q2 2025?", workspace)
    slots = RulesAnalyst(workspace).plan(intent).slots()
    assert slots and {slot.part for slot in slots} == {"Truckload"}


@pytest.mark.parametrize(
    "question",
    [
        "What was Ottermere's operating income in Q2 2025?",
        "What was Harborlight's total revenue in FY2025?",
        "What was Harborlight's cost of sales in FY2025?",
        "Which had the higher net income in FY2025, Harborlight or Quillmark?",
        "What were Harborlight's total current assets at the end of FY2025?",
    ],
)
def test_the_company_is_computed(question: str, workspace: Workspace) -> None:
    assert numeric(question, workspace)


def test_components_of_equity_are_no_parts(workspace: Workspace) -> None:
    parts = workspace.index.parts([record.doc_id for record in workspace.index.filings()])
    assert {"Truckload", "Brokerage"} <= parts
    assert not any("retained" in part.lower() for part in parts)


def test_the_name_of_a_part_is_no_company_where_one_company_is_searched(workspace: Workspace) -> None:
    (doc_id,) = (entry.doc_id for entry in workspace.index.entries() if "ottermere" in entry.doc_id)
    rules = RulesAnalyst(workspace)
    assert intent_in([doc_id], "What was Truckload revenue in 2020 compared to 2019?", rules, workspace).parts == (
        "Truckload",
    )
    other = intent_in([doc_id], "What was Walmart revenue in 2020 compared to 2019?", rules, workspace)
    assert other.unknown_companies == ("Walmart",)


def test_two_parts_side_by_side_are_no_two_answers(workspace: Workspace) -> None:
    grown = workspace.ask("How fast did the revenue of Ottermere's Truckload Brokerage grow in Q2 2025?")
    assert grown.refused
    both = workspace.ask("What was the revenue of Ottermere's Truckload and Brokerage in Q2 2025?")
    assert not both.refused


def test_one_figure_is_no_share_of_itself(workspace: Workspace) -> None:
    answer = workspace.ask("What portion of Ottermere's Truckload revenue was booked as Truckload in Q2 2025?")
    assert "100" not in answer.answer.text
