"""Stand-ins for benchmarks: their rows are exact, and pass the runners; a stopped run resumes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks import stand_ins
from benchmarks.stand_ins import TaggedMaterial, chunks, documents, finqa, legalbench_rag
from fin_agent.evaluation import chunk_benchmarks, passage_ranking
from tests.cli.running import Ran


@pytest.fixture(scope="module")
def material(sample_html_index: Path, sample_html: Path) -> TaggedMaterial:
    """The tagged samples."""
    return TaggedMaterial(sample_html_index, sample_html)


def test_programs_are_of_cells_and_the_rows_pass_the_runner(
    material: TaggedMaterial, sample_html_index: Path, tmp_path: Path
) -> None:
    rows: list[Mapping[str, Any]] = list(finqa(material, 10, Random(0)))
    assert rows == list(finqa(material, 10, Random(0)))
    for row in rows:
        cells = {cell.replace(",", "") for line in row["table"] for cell in line[1:]}
        first, second = row["qa"]["program"].split(")")[0].partition("(")[2].split(", ")
        assert {first, second} <= cells
    assert rows[0]["qa"]["program"].startswith("subtract") and len(rows) == 10
    path = tmp_path / "finqa.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    ran = Ran("eval", "finqa", path, "--index", sample_html_index, "--out", tmp_path / "out", "--json")
    assert ran.code == 0, ran.err
    overall = ran.document["report"]["groups"][0]
    assert overall["questions"] + len(ran.document["left_out"]) == 10 and overall["questions"] >= 8
    assert overall["accuracy"] >= 0.5


def test_graded_chunks_print_the_figure_and_a_stopped_ranking_resumes(
    material: TaggedMaterial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("scipy", reason='needs `pip install ".[evaluation]"`')
    rows: list[Mapping[str, Any]] = [*documents(material, 2, Random(0)), *chunks(material, 1, Random(0))]
    assert all(2 in row["qrels"].values() for row in rows)
    path, out = tmp_path / "graded.jsonl", tmp_path / "out"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    asked = ("eval", "finagentbench", path, "--seeds", 1, "--resamples", 100, "--json", "--out")
    whole = Ran(*asked, tmp_path / "whole")
    assert whole.code == 0, whole.err
    ranked: list[str] = []
    rank = passage_ranking._ranked

    def stopping(question: Any, *given: Any) -> Any:
        if question.id == "chunk-0" and not ranked.count("stop"):
            ranked.append("stop")
            raise KeyboardInterrupt
        ranked.append(question.id)
        return rank(question, *given)

    monkeypatch.setattr(passage_ranking, "_ranked", stopping)
    assert Ran(*asked, out).code != 0
    before = len(ranked)
    again = Ran(*asked, out)
    assert set(ranked[before:]) == {"chunk-0"}

    def figures(ran: Ran) -> list[Mapping[str, Any]]:
        groups = ran.document["report"]["groups"]
        return [{name: held for name, held in group.items() if name != "seconds"} for group in groups]

    assert figures(again) == figures(whole)
    assert not list(out.glob("*.unfinished.jsonl"))


def test_spans_are_clauses_and_a_stopped_search_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stand_ins, "DOCUMENTS", 2)
    legalbench_rag(tmp_path, 6, Random(0))
    path, corpus = tmp_path / "questions.json", tmp_path / "corpus"
    tests = json.loads(path.read_text(encoding="utf-8"))["tests"]
    assert len(tests) == 6
    for test in tests:
        text = (corpus / test["snippets"][0]["file_path"]).read_text(encoding="utf-8")
        begin, end = test["snippets"][0]["span"]
        assert text[begin - 2 : begin] == ". " and text[end - 1 : end + 1] == ".\n"
    asked = ("eval", "legalbench-rag", path, "--corpus", corpus, "--json", "--out")
    whole = Ran(*asked, tmp_path / "whole")
    assert whole.code == 0, whole.err
    judge, judged = chunk_benchmarks.judge_spans, list[str]()

    def judging(place: str, *given: Any) -> Any:
        if len(judged) == 4:
            judged.append("stop")
            raise KeyboardInterrupt
        judged.append(place)
        return judge(place, *given)

    monkeypatch.setattr(chunk_benchmarks, "judge_spans", judging)
    assert Ran(*asked, tmp_path / "out").code != 0
    again = Ran(*asked, tmp_path / "out")
    assert judged[5:] == ["questions.json, entry 5", "questions.json, entry 6"]
    assert again.document["report"] == whole.document["report"]
