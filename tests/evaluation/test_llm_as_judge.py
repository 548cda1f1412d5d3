"""Answers judged by a model."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from fin_agent.analyst.model.replies import Correctness, TextJudgeReply
from fin_agent.answering.answer import Answer, AnswerValue
from fin_agent.evaluation.financebench import load_questions, score
from fin_agent.evaluation.llm_as_judge import Judge
from fin_agent.models import Call, Caller, Meter, Role, ServerUnreachableError, UnusableReplyError
from fin_agent.models.metering import Budget
from tests.evaluation.test_financebench import LINE, questions_file

ANSWER = Answer(id="q1", question="Why?", answer=AnswerValue(text="Prices rose."))
REFUSAL = Answer(id="q2", question="Why?", answer=AnswerValue(text=""), refused=True)


class Verdicts:
    """Gives its verdicts in turn; an error among them is raised."""

    def __init__(self, *verdicts: Correctness | Exception) -> None:
        self._verdicts = list(verdicts)
        self.asked: list[str] = []

    def value(self, call: Call[TextJudgeReply]) -> tuple[TextJudgeReply, None]:
        self.asked.append("\n".join(text for _, text in call.messages))
        verdict = self._verdicts.pop(0)
        if isinstance(verdict, Exception):
            raise verdict
        return TextJudgeReply(reason="so", verdict=verdict), None


def judge_of(verdicts: Verdicts) -> tuple[Judge, list[str]]:
    notes: list[str] = []
    return Judge(cast(Caller, verdicts), Role.TEXT_JUDGE, Meter(Budget(), of="judge"), notes.append), notes


def test_the_judge_says_what_is_right_and_is_shown_no_refusal() -> None:
    verdicts = Verdicts(Correctness.CORRECT, Correctness.WRONG, Correctness.NO_ANSWER)
    judge, notes = judge_of(verdicts)
    assert [judge.is_right("Why?", "Higher prices.", each) for each in (ANSWER, ANSWER, ANSWER, REFUSAL)] == [
        True, False, False, False,
    ]  # fmt: skip
    assert len(verdicts.asked) == 3 and notes == []
    assert all(shown in verdicts.asked[0] for shown in ("Why?", "Higher prices.", "Prices rose."))


def test_where_the_judge_fails_it_is_told() -> None:
    judge, notes = judge_of(Verdicts(UnusableReplyError("two replies could not be used"), Correctness.CORRECT))
    assert [judge.is_right("Why?", "Higher prices.", ANSWER) for _ in range(2)] == [None, True]
    assert notes == ["q1: not judged: two replies could not be used"]


def test_a_judge_out_of_reach_is_not_asked_for_ever() -> None:
    verdicts = Verdicts(*[ServerUnreachableError("no connection")] * 3)
    judge, notes = judge_of(verdicts)
    assert [judge.is_right("Why?", "Higher prices.", ANSWER) for _ in range(8)] == [None] * 8
    assert len(verdicts.asked) == 3 and len(notes) == 8 and "no longer called" in notes[-1]


def test_what_it_says_is_in_the_row(tmp_path: Path) -> None:
    (question,) = load_questions(questions_file(tmp_path, LINE))
    verdicts = Verdicts(Correctness.CORRECT)
    row = score(question, ANSWER, judge=judge_of(verdicts)[0])
    assert row.figures["judged"] is True
    assert all(shown in verdicts.asked[0] for shown in (question.question, question.answer, "Prices rose."))
    assert score(question, ANSWER).figures["judged"] is None
