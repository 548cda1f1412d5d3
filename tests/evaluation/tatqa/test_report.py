"""Reading a file, asking, scoring and reporting."""

from __future__ import annotations

import csv
import gzip
import json
from decimal import Decimal
from pathlib import Path

import pytest

from fin_agent.analyst.rules.context_answers.answering import answer_in_context
from fin_agent.analyst.rules.context_answers.context import AnswerKind, Context, ContextAnswer
from fin_agent.errors import QuestionError
from fin_agent.evaluation.tatqa.asking import Miss, ask_tatqa
from fin_agent.evaluation.tatqa.benchmark import TatContext, TatQuestion, half_of, load_contexts
from fin_agent.evaluation.tatqa.half import Half
from fin_agent.evaluation.tatqa.report import report_on, write_outcomes


def test_a_file_is_read_plain_or_packed(small_file: Path, tmp_path: Path) -> None:
    contexts = load_contexts(small_file)
    assert [question.answer for question in contexts[0].questions] == [("10",), ("9",), ("1",), ("30", "20")]
    assert contexts[0].context.paragraphs == ("First.", "Lamps last.")
    assert contexts[1].context.table == (("", "", ""), ("Odd", "", "3"))
    assert contexts[1].questions[0].answer == ()
    plain = tmp_path / "plain.json"
    plain.write_bytes(gzip.decompress(small_file.read_bytes()))
    assert load_contexts(plain) == contexts


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "cannot be read"),
        (b"{}", "the file"),
        (b"[]", "no questions"),
        (b"\x1f\x8bnot gzip", "cannot be read"),
        (b'[{"table": {"uid": "x"}}]', "0.table.table"),
    ],
)
def test_what_cannot_be_read_is_said(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(QuestionError, match=said):
        load_contexts(path)
    with pytest.raises(QuestionError, match="cannot be read"):
        load_contexts(tmp_path / "absent.json")


def test_halves_hold_everything_once() -> None:
    contexts = [TatContext(str(number), Context.of([]), ()) for number in range(9)]
    first, second = half_of(contexts, Half.FIRST), half_of(contexts, Half.SECOND)
    assert len(first) == 4 and sorted((*first, *second), key=lambda each: each.id) == contexts
    assert half_of(contexts, Half.FIRST) == first != half_of(contexts, Half.FIRST, seed=1)
    assert half_of(contexts, Half.ALL) == tuple(contexts)


def test_questions_are_answered_scored_and_summed(small_file: Path, tmp_path: Path) -> None:
    outcomes = [each for context in load_contexts(small_file) for each in ask_tatqa(context, answer_in_context)]
    assert [outcome.exact for outcome in outcomes] == [1, 1, 1, 1, 0, 0]
    assert outcomes[4].miss is Miss.NO_GOLD
    report = report_on(outcomes)
    assert report.of("arithmetic").exact == 0.5 and report.of("all").questions == 6
    assert report.of("multi-span", "table").f1 == 1
    assert report.figures[0].misses["no gold answer"] == 1
    write_outcomes(outcomes, tmp_path / "out")
    predictions = json.loads((tmp_path / "out" / "predictions.json").read_text())
    assert predictions["a"] == [["10"], "million"] and predictions["d"] == [["30", "20"], "million"]
    with (tmp_path / "out" / "rows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[3]["gold"] == "30 | 20" and rows[0]["program"].startswith("def solution()")


@pytest.mark.parametrize(
    ("answer", "answer_type", "said", "miss"),
    [
        (("10",), "arithmetic", ContextAnswer(AnswerKind.COMPUTED, value=Decimal(10)), Miss.SCALE),
        (("10",), "arithmetic", ContextAnswer(AnswerKind.COMPUTED, value=Decimal(-10), scale="million"), Miss.SIGN),
        (("10",), "arithmetic", ContextAnswer(AnswerKind.COMPUTED, value=Decimal(7), scale="million"), Miss.FIGURE),
        (("10",), "arithmetic", ContextAnswer(AnswerKind.SPAN, spans=("7",), scale="million"), Miss.KIND),
        (("10",), "arithmetic", ContextAnswer(AnswerKind.NONE), Miss.NOTHING),
        (("a lamp",), "span", ContextAnswer(AnswerKind.SPAN, spans=("lamp of ours",), scale="million"), Miss.PART),
        (("a lamp",), "span", ContextAnswer(AnswerKind.SPAN, spans=("rug",)), Miss.WORDS),
    ],
)
def test_how_an_answer_is_wrong(answer: tuple[str, ...], answer_type: str, said: ContextAnswer, miss: Miss) -> None:
    question = TatQuestion("x", "?", answer, "million", answer_type, "table", "")
    (outcome,) = ask_tatqa(TatContext("c", Context.of([]), (question,)), lambda text, context: said)
    assert outcome.miss is miss and outcome.exact == 0
