"""What counts as right, and what a run came to."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.console import Console

from fin_agent.answering.answer import Answer, AnswerValue
from fin_agent.evaluation import QuestionKind
from fin_agent.evaluation.benchmark import Answered
from fin_agent.evaluation.tagged_questions.benchmark import TaggedQuestion, judge_tagged, miss_lines, report_on_tagged
from fin_agent.workspace import Workspace


def _lookup(asked: tuple[TaggedQuestion, ...]) -> TaggedQuestion:
    return next(
        question
        for question in asked
        if question.kind is QuestionKind.LOOKUP
        and question.asked.expected is not None
        and question.asked.expected.unit == "USD"
        and question.asked.expected.value > 1e9
    )


def _answer(value: float | None) -> Answered:
    given = AnswerValue(value=value, unit="USD millions", text="an answer")
    return Answered(answer=Answer(question="", answer=given, refused=value is None, rounds=1))


def test_a_tagged_figure_has_to_agree_to_its_last_digit(
    asked: tuple[TaggedQuestion, ...], html_workspace: Workspace
) -> None:
    question = _lookup(asked)
    assert question.asked.expected is not None
    millions = question.asked.expected.value / 1e6
    exact = judge_tagged(question, _answer(millions), html_workspace)
    close = judge_tagged(question, _answer(millions + 3), html_workspace)
    derived = judge_tagged(replace(question, exact=False), _answer(millions + 3), html_workspace)
    refused = judge_tagged(question, _answer(None), html_workspace)
    assert (exact.right, close.right, derived.right, refused.right) == (True, False, True, False)
    assert exact.family == "lookup" and refused.refused


def test_the_report_counts_right_refused_and_wrong(
    asked: tuple[TaggedQuestion, ...], html_workspace: Workspace
) -> None:
    question = _lookup(asked)
    assert question.asked.expected is not None
    right = question.asked.expected.value / 1e6
    outcomes = [judge_tagged(question, _answer(value), html_workspace) for value in (right, right, right * 2, None)]
    report = report_on_tagged(outcomes)
    kind = report.of("lookup")
    assert [kind[name] for name in ("questions", "right", "refused", "wrong")] == [4, 0.5, 0.25, 0.25]
    assert report.groups[1].name == question.asked.kind
    lines = list(miss_lines(outcomes[2]))
    assert question.asked.text in lines[0] and question.asked.filings[0] in lines[1] and "answered" in lines[2]
    console = Console(width=100, record=True, file=None, quiet=True)
    console.quiet = False
    with console.capture() as captured:
        console.print(report.as_table())
    assert "50.0" in captured.get() and "lookup" in captured.get()


def test_no_report_without_questions() -> None:
    with pytest.raises(ValueError, match="at least one question"):
        report_on_tagged([])
