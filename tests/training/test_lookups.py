"""Questions that filings give by themselves."""

from __future__ import annotations

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.index.protocol import PageKey
from fin_agent.training.supervision import lookup_questions
from fin_agent.workspace import Workspace


def test_as_many_are_asked_of_each_annual_report(workspace: Workspace) -> None:
    asked = lookup_questions(workspace, 27)
    assert len(asked) == 27
    filings = {question.doc_id for question in asked}
    assert len(filings) == 9
    assert all(sum(question.doc_id == doc_id for question in asked) == 3 for doc_id in filings)


def test_the_same_filings_give_the_same_questions(workspace: Workspace) -> None:
    assert lookup_questions(workspace, 40) == lookup_questions(workspace, 40)
    assert {question.id for question in lookup_questions(workspace, 9)} <= {
        question.id for question in lookup_questions(workspace, 40)
    }


def test_the_gold_page_prints_the_row_in_a_statement_and_the_question_names_filer_and_year(
    workspace: Workspace,
) -> None:
    analyst = RulesAnalyst(workspace)
    for question in lookup_questions(workspace, 30):
        (doc_id, page), *_ = question.pages
        stored = workspace.index.pages([PageKey(doc_id, page)])[0].page
        assert stored.statement is not None
        assert question.answer.split()[0] in stored.text
        intent = analyst.intent(question.question)
        identity = workspace.index.filing(doc_id).identity
        assert [company.name for company in intent.companies] == [identity.company]
        assert [period.fiscal_year for period in intent.periods] == [identity.fiscal_year]
