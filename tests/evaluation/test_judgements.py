"""Answers judged by a model, beside what rules can tell of them."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from fin_agent.analyst.model.replies import Correctness, TextJudgeReply
from fin_agent.evaluation.benchmark import write_csv
from fin_agent.evaluation.judgements import by_rules, judge_rows
from fin_agent.models import ServerUnreachableError, UnusableReplyError
from tests.evaluation.test_benchmark import FIRST

WORDS = replace(FIRST, id="words", gold="Higher prices.", stated_match=None, text="Prices rose.")
YES = replace(FIRST, id="yes", gold="Yes, it rose.", stated_match=None, text="Yes. It rose by much.")
NO = replace(YES, id="no", text="No, it fell.")
WRONG = replace(FIRST, id="wrong", stated_match=False)
REFUSED = replace(WORDS, id="refused", refused=True, text="")


class Judge:
    """Gives its verdicts in turn; an error among them is raised."""

    def __init__(self, *verdicts: Correctness | Exception) -> None:
        self._verdicts = list(verdicts)
        self.asked: list[tuple[str, str, str]] = []

    def judged(self, question: str, reference: str, answer: str) -> TextJudgeReply:
        self.asked.append((question, reference, answer))
        verdict = self._verdicts.pop(0)
        if isinstance(verdict, Exception):
            raise verdict
        return TextJudgeReply(reason="so", verdict=verdict)


def test_rules_tell_figures_refusals_and_yes_or_no() -> None:
    assert [by_rules(row) for row in (FIRST, WRONG, YES, NO, REFUSED, WORDS)] == [True, False, True, False, False, None]


def test_verdicts_are_counted_and_compared_with_the_rules() -> None:
    judge = Judge(*[Correctness.CORRECT] * 2, Correctness.WRONG, Correctness.CORRECT, Correctness.NO_ANSWER)
    judged = judge_rows([FIRST, WRONG, NO, WORDS, REFUSED], judge)
    assert judge.asked[0] == (FIRST.question, FIRST.gold, FIRST.text)
    assert [each.verdict for each in judged.judgements][:2] == [Correctness.CORRECT, Correctness.CORRECT]
    agreed = judged.agreement()
    assert (agreed["compared"], agreed["both_right"], agreed["both_wrong"]) == (4, 1, 2)
    assert (agreed["only_the_judge"], agreed["only_the_rules"], agreed["share"]) == (1, 0, 0.75)
    assert agreed["kappa"] == pytest.approx(0.5)
    assert judged.as_json()["correct"] == 3 and judged.as_json()["no_answer"] == 1
    assert judged.text().startswith("judged: 3 correct, 1 wrong, 1 no-answer, of 5 answers, 5 by the chat model")
    assert "say the same of 75.0%, kappa 0.50: 1 right, 2 not" in judged.text()


def test_where_the_judge_fails_rules_judge_what_they_can_and_it_is_told() -> None:
    judge = Judge(UnusableReplyError("two replies could not be used"), Correctness.CORRECT, UnusableReplyError("again"))
    judged = judge_rows([FIRST, YES, WORDS], judge)
    assert [each.by_model for each in judged.judgements] == [False, True, False]
    assert [each.verdict for each in judged.judgements] == [Correctness.CORRECT, Correctness.CORRECT, None]
    assert judged.notes == ("q1: judged by rules: two replies could not be used", "words: judged by rules: again")
    assert judged.agreement()["compared"] == 1 and judged.agreement()["kappa"] is None
    assert judged.judgements[-1].told == "cannot be told"


def test_a_judge_out_of_reach_is_not_asked_for_ever() -> None:
    judge = Judge(*[ServerUnreachableError("no connection")] * 3)
    judged = judge_rows([replace(FIRST, id=str(number)) for number in range(8)], judge)
    assert len(judge.asked) == 3 and not any(each.by_model for each in judged.judgements)
    assert len(judged.notes) == 8 and "not asked any more" in judged.notes[-1]
    assert judged.agreement()["share"] is None


def test_judgements_are_written_a_line_each(tmp_path: Path) -> None:
    judged = judge_rows([FIRST, WORDS], Judge(Correctness.CORRECT, UnusableReplyError("no, never")))
    write_csv(judged.judgements, tmp_path / "j.csv")
    with (tmp_path / "j.csv").open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert (first["id"], first["verdict"], first["reason"], first["automatic"]) == ("q1", "correct", "so", "True")
    assert (second["verdict"], second["by_model"], second["automatic"]) == ("", "False", "")
