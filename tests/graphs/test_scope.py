"""A question that names no company, asked of one company's filings, is read as one that names it."""

from __future__ import annotations

import pytest

from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_question
from fin_agent.vocabulary.page import Statement
from fin_agent.workspace import Workspace

COMPANY = "Quillmark"
QUESTIONS = (
    "What was the change in inventories{} from FY2023 to FY2024?",
    "What is the average inventories{} for 2023 and 2024?",
    "What is the percentage increase / (decrease) in the net sales{} from 2023 to 2024?",
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_figure_is_the_same_whether_the_only_company_is_named_or_not(question: str, workspace: Workspace) -> None:
    scope = ["quillmark_2024_10k"]
    named = answer_question(question.format(f" of {COMPANY}"), AnswerContext.by_rules(workspace), doc_ids=scope)
    bare = answer_question(question.format(""), AnswerContext.by_rules(workspace), doc_ids=scope)
    assert bare.answer == named.answer
    assert bare.refused == named.refused
    assert "no company was named" in " ".join(bare.assumptions)


def test_each_row_of_a_statement_is_found_without_the_name_of_the_company(workspace: Workspace) -> None:
    context = AnswerContext.by_rules(workspace)
    scope = ["quillmark_2024_10k"]
    facts = workspace.index.facts(scope, years=[2024])
    labels = {each.fact.label for each in facts if each.fact.statement is Statement.BALANCE_SHEET}
    computed = 0
    for label in sorted(labels):
        asked = f"What was the change in {label}{{}} from FY2023 to FY2024?"
        named = answer_question(asked.format(f" of {COMPANY}"), context, doc_ids=scope)
        bare = answer_question(asked.format(""), context, doc_ids=scope)
        assert bare.answer.value == named.answer.value, label
        computed += bare.answer.value is not None
    assert computed > len(labels) / 2


def test_a_printed_line_in_capitals_is_no_company(workspace: Workspace) -> None:
    context, scope = AnswerContext.by_rules(workspace), ["quillmark_2024_10k"]
    answer = answer_question("What was the change in Accrued Compensation?", context, doc_ids=scope)
    assert "is not in the filings" not in answer.answer.text
    other = answer_question("What was the revenue of Walmart?", context, doc_ids=scope)
    assert other.refused and "'Walmart' is not in the filings" in other.answer.text
