"""A question that names no company, asked of one company's filings, is read as one that names it."""

from __future__ import annotations

from decimal import Decimal

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
    assert "the question names no company" in " ".join(bare.assumptions)


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
        assert named.answer.value in (None, bare.answer.value), label
        computed += bare.answer.value is not None
    assert computed > len(labels) / 2


def test_a_printed_line_in_capitals_is_no_company(workspace: Workspace) -> None:
    context, scope = AnswerContext.by_rules(workspace), ["quillmark_2024_10k"]
    answer = answer_question("What was the change in Accrued Compensation?", context, doc_ids=scope)
    assert "is not in the filings" not in answer.answer.text
    other = answer_question("What was the revenue of Walmart?", context, doc_ids=scope)
    assert other.refused and "'Walmart' is not in the filings" in other.answer.text


@pytest.mark.parametrize(
    "wording",
    [
        "What is the percentage of {part} in total {whole} for {company} in FY2024?",
        "What percentage of {company}'s {part} out of {whole} in FY2024?",
        "What share of {company}'s {whole} in FY2024 was {part}?",
        "What is the proportion of {part} over {whole} for {company} in FY2024?",
    ],
)
def test_a_share_is_of_the_whole_however_it_is_said(wording: str, workspace: Workspace) -> None:
    names = {"part": "inventories", "whole": "assets", "company": COMPANY}
    context = AnswerContext.by_rules(workspace)
    plain = answer_question("{company} inventories as a percentage of total assets, FY2024".format(**names), context)
    answer = answer_question(wording.format(**names), context)
    assert plain.answer.value is not None and 0 < plain.answer.value < 100
    assert answer.answer.value == plain.answer.value, answer.answer.text


def test_a_row_asked_for_in_its_own_words_is_that_row_or_none(workspace: Workspace) -> None:
    context = AnswerContext.by_rules(workspace)
    facts = [each.fact for each in workspace.index.facts(["quillmark_2024_10k"], years=[2024])]
    rows = {fact.label: fact for fact in facts if fact.statement is Statement.CASH_FLOW and " " in fact.label}
    amounts = {label: {abs(fact.value) for fact in facts if fact.label == label} for label in rows}
    found = 0
    for label in sorted(rows):
        answer = answer_question(f"What was {label} of {COMPANY} in FY2024?", context, doc_ids=["quillmark_2024_10k"])
        if answer.answer.value is not None:
            found += 1
            values = {abs(Decimal(str(citation))) for citation in (answer.answer.value,)}
            assert any(abs(value * scale) in amounts[label] for value in values for scale in (1, 1000, 10**6)), label
    assert found > len(rows) / 2
