"""RAGAS' measures: by hand, by a scripted model, by words, and over what a benchmark wrote."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.answering.answer import Answer, AnswerValue, PassagePlace, Retrieved
from fin_agent.errors import QuestionError
from fin_agent.evaluation import judging
from fin_agent.evaluation.benchmark import Row, row_of
from fin_agent.evaluation.judging import (
    Judge,
    Measure,
    average_precision,
    by_model,
    by_words,
    read_run,
)
from fin_agent.models import Budget, Callers, Meter, ModelSettings
from fin_agent.testing import ScriptedChatModel
from tests.cli.running import Ran

np = pytest.importorskip("numpy", reason='needs `pip install ".[evaluation]"`')

PASSAGES = ("Officers are elected every year.", "Net sales rose 7.7% as prices rose.", "Volumes were flat in 2023.")
VERDICT = {"useful": [2, 9], "supported": ["1"], "questions": ["Why did net sales rise?"], "noncommittal": False}


Figures = Mapping[str, float | None]


def measured(
    measure: Measure, k: int = 3, *, refused: bool = False, reference: str = "Prices rose. Inc. volumes were flat."
) -> Figures:
    answer = Answer(
        id="q1",
        question="Why did net sales rise in 2023?",
        answer=AnswerValue(text="Net sales rose as prices rose."),
        refused=refused,
        retrieved=Retrieved(passages=tuple(PassagePlace(doc_id="acme", page=8, text=text) for text in PASSAGES)),
    )
    row = row_of("q1", answer.question, reference, answer, {"type": "reasoning"}, {})
    return measure(row, answer.retrieved.passages[:k])


def judged(*replies: object) -> tuple[Measure, ScriptedChatModel, list[str]]:
    """Measures by a model that says this, for which questions are alike by the words they share."""
    notes: list[str] = []
    model = ScriptedChatModel([reply if isinstance(reply, str) else json.dumps(reply) for reply in replies])

    def encode(texts: list[str]) -> list[object]:
        words = texts[0].split()
        return [np.array([(word in text.split()) / len(words) ** 0.5 for word in words]) for text in texts]

    client = ModelClient(Callers.with_model(model, ModelSettings(output="json")))
    return by_model(Judge(client, Meter(Budget()), notes.append), encode), model, notes


@pytest.mark.parametrize(
    ("useful", "precision"), [((), 0.0), ((False, False), 0.0), ((True, False), 1.0), ((False, True, True), 7 / 12)]
)
def test_precision_counts_where_the_useful_stand(useful: tuple[bool, ...], precision: float) -> None:
    assert average_precision(useful) == pytest.approx(precision)


def test_a_model_judges_passages_statements_and_the_answer() -> None:
    measure, model, notes = judged(VERDICT)
    figures = measured(measure)
    assert (figures["context_precision"], figures["context_recall"]) == (0.5, 0.5)
    assert figures["answer_relevancy"] == pytest.approx(4 / 7)
    (call,) = model.calls
    assert "1. Prices rose.\n2. Inc. volumes were flat." in call.text and "acme page 9" in call.text
    assert all(text in call.text for text in PASSAGES) and notes == []


def test_only_the_first_passages_are_judged() -> None:
    measure, model, _ = judged(VERDICT)
    assert measured(measure, 1)["context_precision"] == 0.0, "the second is not among them"
    assert PASSAGES[1] not in model.calls[0].text


@pytest.mark.parametrize("reply", [{**VERDICT, "noncommittal": True}, {**VERDICT, "questions": []}])
def test_an_answer_that_evades_is_not_relevant(reply: object) -> None:
    measure, _, _ = judged(reply, VERDICT)
    assert measured(measure)["answer_relevancy"] == 0.0
    assert measured(measure, refused=True)["answer_relevancy"] == 0.0


def test_a_reply_that_cannot_be_used_leaves_no_figure_and_is_told() -> None:
    measure, _, notes = judged("no idea", "none at all")
    assert set(measured(measure).values()) == {None}
    assert notes[0].startswith("q1: not judged: ")


def test_words_are_a_proxy() -> None:
    figures = measured(by_words, reference="Prices rose and volumes were flat.")
    assert figures["context_precision"] == pytest.approx(7 / 12), "the second and the third hold half of it"
    assert figures["context_recall"] == 1.0 and figures["answer_relevancy"] == pytest.approx(2 / 4)
    assert measured(by_words, refused=True)["answer_relevancy"] == 0.0
    assert measured(by_words, reference="")["context_recall"] is None


def test_what_a_benchmark_wrote_is_measured(sample_html: Path, sample_html_index: Path, tmp_path: Path) -> None:
    options = ["--kind", "lookup", "--count", 4, "--out", tmp_path, "--index", sample_html_index]
    assert Ran("eval", "tagged-questions", sample_html, *options).code == 0
    ran = Ran("eval", "ragas", tmp_path, "--json")
    assert ran.code == 0, ran.err
    assert ran.document["proxies"] and ran.document["judge"] is None and ran.document["calls"] == 0
    overall, lookup = ran.document["report"]["groups"]
    assert (overall["questions"], lookup["section"], lookup["group"]) == (4, "type", "lookup")
    assert 0 < overall["answer_relevancy"] <= 1 and overall["context_recall"] is not None
    with (tmp_path / "ragas.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [each["id"] for each in rows] == [row.id for row, _ in read_run(tmp_path)]
    assert "(proxy)" in Ran("eval", "ragas", tmp_path).out
    assert not (tmp_path / "ragas.unfinished.jsonl").exists()


def test_a_run_that_was_stopped_resumes(
    sample_html: Path, sample_html_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ["--kind", "lookup", "--count", 4, "--out", tmp_path, "--index", sample_html_index]
    assert Ran("eval", "tagged-questions", sample_html, *options).code == 0
    whole = Ran("eval", "ragas", tmp_path, "--json")
    asked: list[str] = []
    measure = judging.by_words

    def measuring(row: Row, passages: Sequence[PassagePlace]) -> dict[str, float | None]:
        asked.append(row.id)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return measure(row, passages)

    monkeypatch.setattr(judging, "by_words", measuring)
    assert Ran("eval", "ragas", tmp_path).code != 0
    again = Ran("eval", "ragas", tmp_path, "--json")
    assert len(asked) == 5 and again.document["report"] == whole.document["report"]


def test_a_folder_without_a_run_is_told(tmp_path: Path) -> None:
    ran = Ran("eval", "ragas", tmp_path)
    assert ran.code == 1 and "it contains no benchmark run" in ran.err and "--out of a completed benchmark" in ran.err
    (tmp_path / "rows.csv").write_text("id,gold\na,b\n", encoding="utf-8")
    (tmp_path / "answers.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(QuestionError, match="no benchmark run"):
        read_run(tmp_path)
