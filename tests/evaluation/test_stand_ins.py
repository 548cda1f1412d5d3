"""A stand-in for FinQA: its rows are exact, and pass the runner."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.stand_ins import TaggedMaterial, finqa
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
