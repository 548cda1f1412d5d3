"""A report's figures are the means of its rows, and are written whole."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from fin_agent.evaluation.financebench import Retrieval, Row
from fin_agent.evaluation.report import summarize, write_rows

FOUND = Retrieval(1.0, 1.0, True, 0.5, True, 0.2)
LOST = Retrieval(0.0, 0.0, False, 0.0, False, 0.0)
FIRST = Row(
    id="q1",
    company="Brightwater",
    doc_id="B",
    question_type="metrics-generated",
    filing_type="10-K",
    question="How much?",
    gold="5",
    value=5.0,
    unit="ratio",
    text='It was "5", no more',
    refused=False,
    missing=(),
    retrieval=FOUND,
    same_content=FOUND,
    numeric_match=True,
    strict_match=False,
    numeric_match_any=True,
    stated_match=True,
    rounds=1,
    seconds=1.0,
)
SECOND = replace(
    FIRST,
    id="q2",
    retrieval=LOST,
    same_content=FOUND,
    numeric_match=False,
    numeric_match_any=False,
    stated_match=False,
    refused=True,
    missing=("x", "y"),
    seconds=3.0,
)
THIRD = replace(
    FIRST,
    id="q3",
    question_type="novel-generated",
    filing_type="8-K",
    numeric_match=None,
    strict_match=None,
    stated_match=False,
    seconds=2.0,
)
ROWS = (FIRST, SECOND, THIRD)


class TestSummarize:
    def test_overall(self) -> None:
        overall = summarize(ROWS).overall
        assert (overall.questions, overall.numeric_questions, overall.refusals) == (3, 2, 1)
        assert (overall.numeric_match, overall.strict_match) == (0.5, 0.0)
        assert overall.retrieval.document_recall == pytest.approx(2 / 3)
        assert overall.retrieval.page_recall == pytest.approx(1 / 3)
        assert overall.retrieval.page_hits == pytest.approx(2 / 3)
        assert (overall.median_seconds, overall.p95_seconds) == (2.0, pytest.approx(2.9))

    def test_groups_are_sorted_and_complete(self) -> None:
        report = summarize(ROWS)
        assert [(group.name, group.questions) for group in report.by_question_type] == [
            ("metrics-generated", 2),
            ("novel-generated", 1),
        ]
        assert [(group.name, group.questions) for group in report.by_filing_type] == [("10-K", 2), ("8-K", 1)]
        assert report.by_question_type[1].numeric_match is None

    def test_same_content_only_where_it_differs(self) -> None:
        assert summarize([FIRST, THIRD]).overall.same_content is None
        by_content = summarize(ROWS).overall.same_content
        assert by_content is not None
        assert by_content.document_recall == 1.0

    def test_without_rows(self) -> None:
        with pytest.raises(ValueError, match="at least one"):
            summarize([])

    def test_figures_are_counted_whatever_the_type(self) -> None:
        report = summarize([*ROWS, replace(THIRD, id="q4", numeric_match_any=None, stated_match=None)])
        assert (report.overall.figure_questions, report.overall.numeric_questions) == (3, 2)
        assert report.overall.numeric_match_any == pytest.approx(2 / 3)
        assert report.overall.stated_match == pytest.approx(1 / 3)
        novel = report.by_question_type[1]
        assert (novel.questions, novel.figure_questions, novel.numeric_match_any, novel.stated_match) == (2, 1, 1, 0)


class TestRendering:
    def test_table_shows_each_group(self) -> None:
        console = Console(width=120, record=True, file=io.StringIO())
        console.print(*summarize(ROWS).as_tables("the right pages given"))
        shown = console.export_text()
        assert shown.count("the right pages given") == 2
        for words in ("overall", "metrics-generated", "novel-generated", "10-K", "8-K", "66.7", "50.0", "2.90"):
            assert words in shown
        assert "same content" in shown

    def test_no_heading_is_cut_at_100_columns(self) -> None:
        console = Console(width=100, record=True, file=io.StringIO())
        many = [replace(FIRST, id=f"r{number}", seconds=12.5) for number in range(150)]
        console.print(*summarize([*ROWS, *many]).as_tables())
        shown = console.export_text()
        assert "…" not in shown and max(map(len, shown.splitlines())) <= 100
        for heading in ("documents", "passages", "pages", "match", "strict", "stated", "refused", "p95"):
            assert heading in shown

    def test_json_holds_the_figures(self) -> None:
        record = json.loads(json.dumps(summarize(ROWS).as_json()))
        assert record["overall"]["numeric_match"] == 0.5
        assert record["by_filing_type"][1]["name"] == "8-K"

    def test_rows_as_csv(self, tmp_path: Path) -> None:
        write_rows(ROWS, tmp_path / "rows.csv")
        with (tmp_path / "rows.csv").open(newline="") as file:
            lines = list(csv.DictReader(file))
        assert [line["id"] for line in lines] == ["q1", "q2", "q3"]
        assert lines[0]["text"] == 'It was "5", no more'
        assert lines[1]["missing"] == "x; y"
        assert lines[1]["same_content_document_recall"] == "1.0"

    def test_rows_as_jsonl(self, tmp_path: Path) -> None:
        write_rows(ROWS, tmp_path / "rows.jsonl")
        lines = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
        assert [line["seconds"] for line in lines] == [1.0, 3.0, 2.0]
        assert lines[1]["missing"] == ["x", "y"]
