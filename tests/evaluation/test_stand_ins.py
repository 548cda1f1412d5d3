"""Stand-ins for benchmarks: their rows are exact, and pass the runners; a stopped run resumes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.stand_ins import TaggedMaterial, chunks, documents, finqa
from fin_agent.evaluation import passage_ranking
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
    score = passage_ranking._score

    def scored(name: str, question: Any, *given: Any) -> Any:
        if question.id == "chunk-0" and not ranked.count("stop"):
            ranked.append("stop")
            raise KeyboardInterrupt
        ranked.append(question.id)
        return score(name, question, *given)

    monkeypatch.setattr(passage_ranking, "_score", scored)
    assert Ran(*asked, out).code != 0
    before = len(ranked)
    again = Ran(*asked, out)
    assert set(ranked[before:]) == {"chunk-0"}

    def figures(ran: Ran) -> list[Mapping[str, Any]]:
        groups = ran.document["report"]["groups"]
        return [{name: held for name, held in group.items() if name != "seconds"} for group in groups]

    assert figures(again) == figures(whole)
    assert not list(out.glob("*.unfinished.jsonl"))
