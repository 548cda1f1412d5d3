"""Answers judged by a model."""

from __future__ import annotations

from pathlib import Path

from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.analyst.model.replies import Correctness
from fin_agent.answering.answer import Answer, AnswerValue
from fin_agent.evaluation.financebench import load_questions, score
from fin_agent.evaluation.judging import Judge
from fin_agent.models import Callers, Meter, ModelSettings
from fin_agent.models.metering import Budget
from fin_agent.testing import ScriptedChatModel
from tests.evaluation.test_financebench import LINE, questions_file
from tests.models.scripted import HttpStatusError

ANSWER = Answer(id="q1", question="Why?", answer=AnswerValue(text="Prices rose."))
REFUSAL = Answer(id="q2", question="Why?", answer=AnswerValue(text=""), refused=True)


def judge_of(*verdicts: str | Exception) -> tuple[Judge, ScriptedChatModel, list[str]]:
    """A judge that gives these verdicts in turn; an error among them is raised, other text is no verdict."""
    notes: list[str] = []
    replies = [{"reason": "so", "verdict": each} if isinstance(each, Correctness) else each for each in verdicts]
    model = ScriptedChatModel(replies)
    callers = Callers.with_model(model, ModelSettings(attempts=1))
    return Judge(ModelClient(callers), Meter(Budget(), of="judge"), notes.append), model, notes


def test_the_judge_says_what_is_right_and_is_shown_no_refusal() -> None:
    judge, model, notes = judge_of(Correctness.CORRECT, Correctness.WRONG, Correctness.NO_ANSWER)
    assert [judge.is_right("Why?", "Higher prices.", each) for each in (ANSWER, ANSWER, ANSWER, REFUSAL)] == [
        True, False, False, False,
    ]  # fmt: skip
    assert len(model.calls) == 3 and notes == []
    assert all(shown in model.calls[0].text for shown in ("Why?", "Higher prices.", "Prices rose."))


def test_where_the_judge_fails_it_is_told() -> None:
    judge, _, notes = judge_of("rubbish", "rubbish", Correctness.CORRECT)
    assert [judge.is_right("Why?", "Higher prices.", ANSWER) for _ in range(2)] == [None, True]
    (note,) = notes
    assert note.startswith("q1: not judged: ")


def test_a_judge_out_of_reach_is_left_alone() -> None:
    judge, model, notes = judge_of(HttpStatusError(401))
    assert [judge.is_right("Why?", "Higher prices.", ANSWER) for _ in range(8)] == [None] * 8
    assert len(model.calls) == 1 and len(notes) == 8 and "is left alone" in notes[-1]


def test_what_it_says_is_in_the_row(tmp_path: Path) -> None:
    (question,) = load_questions(questions_file(tmp_path, LINE))
    judge, model, _ = judge_of(Correctness.CORRECT)
    row = score(question, ANSWER, judge=judge)
    assert row.figures["judged"] is True
    assert all(shown in model.calls[0].text for shown in (question.question, question.answer, "Prices rose."))
    assert score(question, ANSWER).figures["judged"] is None
