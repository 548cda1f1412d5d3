"""A tournament as the strategy of a run: its groups and rounds stand in the trace."""

from __future__ import annotations

from fin_agent.config import Settings
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.workspace import Workspace

QUESTION = "What were Quillmark's merchandise inventories at the end of fiscal 2023?"


def test_the_trace_says_who_met_whom_and_how_they_came_out(workspace: Workspace) -> None:
    context = AnswerContext.by_rules(workspace, Settings(strategy="tournament"))
    answer = answer_question(QUESTION, context)
    assert not answer.refused
    assert answer.answer.value is not None
    search = next(step for step in answer.trace if step.node == "search_documents")
    stages = [group.stage for group in search.groups]
    assert "group" in stages
    assert stages[-1] == "round"
    for group in search.groups:
        assert len(set(group.ranked)) == len(group.ranked)
        assert 0 < group.finalists <= len(group.ranked)
    met = {key for group in search.groups for key in group.ranked}
    judged = next(step for step in answer.trace if step.node == "filter_passages").judged
    assert {(passage.doc_id, passage.ordinal) for passage in judged} <= met


def test_the_default_search_holds_none_and_answers_the_same(workspace: Workspace) -> None:
    plain = answer_question(QUESTION, AnswerContext.by_rules(workspace))
    held = answer_question(QUESTION, AnswerContext.by_rules(workspace, Settings(strategy="tournament")))
    assert plain.answer == held.answer
    assert not any(step.groups for step in plain.trace)
