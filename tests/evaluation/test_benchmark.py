"""A report's figures are the means of its rows; a run that was stopped goes on."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from fin_agent.answering.answer import Answer, AnswerValue, Usage
from fin_agent.evaluation.benchmark import AnsweredQuestion, Row, Run, run_benchmark, write_csv
from fin_agent.evaluation.financebench import summarize
from fin_agent.presentation.terminal_text import style_table

FIRST = Row(
    id="q1",
    labels={"company": "Brightwater", "doc_id": "B", "question_type": "metrics-generated", "filing_type": "10-K"},
    question="How much?",
    gold="5",
    text='It was "5", no more',
    value=5.0,
    unit="ratio",
    figures={
        "document_recall": 1.0,
        "page_recall_of_passages": 1.0,
        "page_hits_of_passages": True,
        "page_recall": 0.5,
        "page_hits": True,
        "page_precision": 0.2,
        "numeric_match": True,
        "kobeissi_match": True,
        "strict_match": False,
        "numeric_match_any": True,
        "stated_match": True,
        "rouge_l": 0.5,
        "judged": None,
        "rounds": 1,
    },
    seconds=1.0,
)
LOST = dict.fromkeys(("document_recall", "page_recall_of_passages", "page_recall", "page_precision"), 0.0)


def changed(row: Row, figures: dict[str, object], **fields: Any) -> Row:
    """A row with other figures and fields."""
    return replace(row, figures={**row.figures, **figures}, **fields)


SECOND = changed(
    FIRST,
    {**LOST, "page_hits": False, "page_hits_of_passages": False}
    | dict.fromkeys(("numeric_match", "numeric_match_any", "stated_match"), False),
    id="q2",
    refused=True,
    missing=("x", "y"),
    seconds=3.0,
)
THIRD = changed(
    FIRST,
    {"numeric_match": None, "kobeissi_match": None, "strict_match": None, "stated_match": False},
    id="q3",
    labels={**FIRST.labels, "question_type": "novel-generated", "filing_type": "8-K"},
    seconds=2.0,
)
ROWS = (FIRST, SECOND, THIRD)


class TestSummarize:
    def test_overall(self) -> None:
        overall = summarize(ROWS).of("overall")
        assert [overall[name] for name in ("questions", "numeric_questions", "refusals")] == [3, 2, 1]
        assert (overall["numeric_match"], overall["strict_match"]) == (0.5, 0.0)
        assert overall["document_recall"] == pytest.approx(2 / 3)
        assert overall["page_recall"] == pytest.approx(1 / 3)
        assert overall["page_hits"] == pytest.approx(2 / 3)
        assert (overall["median_seconds"], overall["p95_seconds"]) == (2.0, pytest.approx(2.9))

    def test_groups_are_complete(self) -> None:
        report = summarize(ROWS)
        assert [(group["section"], group["group"], group["questions"]) for group in report.groups] == [
            ("overall", "overall", 3),
            ("question type", "metrics-generated", 2),
            ("question type", "novel-generated", 1),
            ("filing type", "10-K", 2),
            ("filing type", "8-K", 1),
        ]
        assert report.of("novel-generated")["numeric_match"] is None

    def test_figures_are_counted_whatever_the_type(self) -> None:
        report = summarize([*ROWS, changed(THIRD, {"numeric_match_any": None, "stated_match": None}, id="q4")])
        overall, novel = report.of("overall"), report.of("novel-generated")
        assert (overall["figure_questions"], overall["numeric_questions"]) == (3, 2)
        assert overall["numeric_match_any"] == pytest.approx(2 / 3)
        assert overall["stated_match"] == pytest.approx(1 / 3)
        assert [novel[name] for name in ("questions", "figure_questions", "numeric_match_any", "stated_match")] == [
            2, 1, 1, 0,
        ]  # fmt: skip


class TestRendering:
    def test_table_shows_each_group(self) -> None:
        console = Console(width=120, record=True, file=io.StringIO())
        console.print(*summarize(ROWS, "the right pages given").as_tables())
        shown = console.export_text()
        assert "FinanceBench, the right pages given" in shown
        for words in ("overall", "metrics-generated", "novel-generated", "10-K", "8-K", "66.7", "50.0", "2.90"):
            assert words in shown

    def test_what_a_judge_says_has_a_column_of_its_own(self) -> None:
        report = summarize([changed(FIRST, {"judged": True}), changed(SECOND, {"judged": False}), THIRD])
        assert report.of("overall")["judged"] == 0.5 and report.tables[-1][1][-1].name == "judged"
        assert summarize(ROWS).tables[-1][1][-1].name == "rouge_l"

    def test_no_heading_is_cut_at_100_columns(self) -> None:
        console = Console(width=100, record=True, file=io.StringIO())
        many = [replace(FIRST, id=f"r{number}", seconds=12.5) for number in range(150)]
        console.print(*map(style_table, summarize([*ROWS, *many]).as_tables()))
        shown = console.export_text()
        assert "…" not in shown and max(map(len, shown.splitlines())) <= 100
        for heading in ("documents", "passages", "pages", "match", "strict", "stated", "refused", "p95"):
            assert heading in shown

    def test_json_holds_the_figures(self) -> None:
        groups = json.loads(json.dumps(summarize(ROWS).as_json()))["groups"]
        assert (groups[0]["group"], groups[0]["numeric_match"]) == ("overall", 0.5)
        assert (groups[4]["section"], groups[4]["group"]) == ("filing type", "8-K")

    def test_rows_as_csv(self, tmp_path: Path) -> None:
        write_csv(ROWS, tmp_path / "rows.csv")
        with (tmp_path / "rows.csv").open(newline="") as file:
            lines = list(csv.DictReader(file))
        assert [line["id"] for line in lines] == ["q1", "q2", "q3"]
        assert lines[0]["text"] == 'It was "5", no more'
        assert lines[1]["missing"] == "x; y"
        assert (lines[1]["document_recall"], lines[1]["question_type"]) == ("0.0", "metrics-generated")


def answered(question: str, text: str = "five", failure: str = "") -> AnsweredQuestion:
    usage = Usage(model_calls=2, input_tokens=10, output_tokens=3, dollars=0.5)
    answer = Answer(id=question, question=f"{question}?", answer=AnswerValue(text=text), usage=usage)
    return AnsweredQuestion(answer=answer, failure=failure)


def judged(question: str, each: AnsweredQuestion) -> Row:
    return Row(question, {}, question, text=each.answer.answer.text)


def texts(run: Run) -> list[str]:
    return [f"{row.id}: {row.text}" for row in run.rows]


class TestRunner:
    @staticmethod
    def run(asked: list[str], *, stop_at: str = "", settings: str = "s", **given: Any) -> Run:
        def ask(question: str) -> AnsweredQuestion:
            if question == stop_at:
                raise KeyboardInterrupt
            asked.append(question)
            return answered(question, failure="no such word" if question == "c" else "")

        return run_benchmark(("a", "b", "c"), ask, judged, settings=settings, **given)

    def test_rows_failures_and_cost(self) -> None:
        told: list[Row] = []
        run = self.run([], on_row=told.append)
        assert run.rows == tuple(told) and texts(run) == ["a: five", "b: five", "c: five"]
        assert run.failed == [{"id": "c", "question": "c?", "reason": "no such word"}]
        assert run.cost == {"model_calls": 6, "input_tokens": 30, "output_tokens": 9, "dollars": 1.5}

    def test_a_run_that_was_stopped_goes_on_where_it_was(self, tmp_path: Path) -> None:
        first: list[str] = []
        with pytest.raises(KeyboardInterrupt):
            self.run(first, stop_at="c", out=tmp_path)
        (kept,) = tmp_path.iterdir()
        kept.write_text(kept.read_text() + '["2", {"answer": {"id": "c", "quest')  # what a kill leaves of a line
        then: list[str] = []
        run = self.run(then, out=tmp_path)
        assert (first, then) == (["a", "b"], ["c"])
        assert texts(run) == ["a: five", "b: five", "c: five"] and run.cost["model_calls"] == 6
        assert list(tmp_path.iterdir()) == []

    def test_a_run_of_another_kind_begins_anew(self, tmp_path: Path) -> None:
        with pytest.raises(KeyboardInterrupt):
            self.run([], stop_at="c", out=tmp_path)
        asked: list[str] = []
        self.run(asked, settings="others", out=tmp_path)
        assert asked == ["a", "b", "c"]

    def test_a_cost_that_is_not_known_is_none(self) -> None:
        unknown = answered("a").model_copy(
            update={"answer": answered("a").answer.model_copy(update={"usage": Usage(dollars=None)})}
        )
        run = run_benchmark(("a",), lambda question: unknown, judged)
        assert run.cost["dollars"] is None and run.cost["model_calls"] == 0
