"""Answers judged by a model."""

from __future__ import annotations

from pathlib import Path

from fin_agent.analyst.model.replies import Correctness, TextJudgeReply
from fin_agent.answering.answer import Answer, AnswerValue
from fin_agent.evaluation.financebench import load_questions, score
from fin_agent.evaluation.llm_as_judge import Judgement
from fin_agent.models import Meter, ServerUnreachableError, UnusableReplyError
from fin_agent.models.metering import Budget
from tests.evaluation.test_financebench import LINE, questions_file

ANSWER = Answer(id="q1", question="Why?", answer=AnswerValue(text="Prices rose."))
REFUSAL = Answer(id="q2", question="Why?", answer=AnswerValue(text=""), refused=True)


class Judge:
    """Gives its verdicts in turn; an error among them is raised."""

    def __init__(self, *verdicts: Correctness | Exception) -> None:
        self._verdicts = list(verdicts)
        self.asked: list[tuple[str, str, str]] = []

    def judge(self, question: str, reference: str, answer: str) -> TextJudgeReply:
        self.asked.append((question, reference, answer))
        verdict = self._verdicts.pop(0)
        if isinstance(verdict, Exception):
            raise verdict
        return TextJudgeReply(reason="so", verdict=verdict)


def judgement(judge: Judge) -> tuple[Judgement, list[str]]:
    notes: list[str] = []
    return Judgement(judge, Meter(Budget(), of="judge"), notes.append), notes


def test_the_judge_says_what_is_right_and_is_shown_no_refusal() -> None:
    judge = Judge(Correctness.CORRECT, Correctness.WRONG, Correctness.NO_ANSWER)
    judged, notes = judgement(judge)
    assert [judged("Why?", "Higher prices.", each) for each in (ANSWER, ANSWER, ANSWER, REFUSAL)] == [
        True, False, False, False,
    ]  # fmt: skip
    assert judge.asked == [("Why?", "Higher prices.", "Prices rose.")] * 3 and notes == []


def test_where_the_judge_fails_it_is_told() -> None:
    judged, notes = judgement(Judge(UnusableReplyError("two replies could not be used"), Correctness.CORRECT))
    assert [judged("Why?", "Higher prices.", ANSWER) for _ in range(2)] == [None, True]
    assert notes == ["q1: not judged: two replies could not be used"]


def test_a_judge_out_of_reach_is_not_asked_for_ever() -> None:
    judge = Judge(*[ServerUnreachableError("no connection")] * 3)
    judged, notes = judgement(judge)
    assert [judged("Why?", "Higher prices.", ANSWER) for _ in range(8)] == [None] * 8
    assert len(judge.asked) == 3 and len(notes) == 8 and "no longer called" in notes[-1]


def test_what_it_says_is_in_the_row(tmp_path: Path) -> None:
    (question,) = load_questions(questions_file(tmp_path, LINE))
    judge = Judge(Correctness.CORRECT)
    row = score(question, ANSWER, judge=judgement(judge)[0])
    assert row.figures["judged"] is True and judge.asked == [(question.question, question.answer, "Prices rose.")]
    assert score(question, ANSWER).figures["judged"] is None
