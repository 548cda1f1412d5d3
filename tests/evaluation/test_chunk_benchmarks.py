"""A benchmark that brings its own texts: graded chunks are ranked."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.running import Ran

CHUNKS = [
    {"id": "a", "text": "Our offices are in Leeds.\nWe own two of them and lease the third."},
    {"id": "b", "text": "Revenue was $120 million in 2023, an increase of 20% over revenue of $100 million in 2022."},
    {"id": "c", "text": "The increase of revenue came from higher volumes of lamps sold in 2023."},
]


def test_graded_chunks_are_ranked_and_rows_at_fault_are_named(tmp_path: Path) -> None:
    pytest.importorskip("scipy", reason='needs `pip install ".[evaluation]"`')
    rows = [
        {
            "id": "1",
            "question": "How did revenue change in 2023?",
            "doc": "Acme",
            "chunks": CHUNKS,
            "qrels": {"b": 2, "c": 1},
        },
        {"id": "2", "question": "What is odd?", "doc": "Acme", "chunks": CHUNKS, "qrels": {"z": 2}},
        {"id": "3", "question": "What is missing?"},
    ]
    path = tmp_path / "graded.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    out = tmp_path / "out"
    ran = Ran("eval", "finagentbench", path, "--out", out, "--seeds", 1, "--resamples", 100, "--json")
    assert ran.code == 0, ran.err
    assert "graded.jsonl, line 3" in ran.err and "no chunk is called z" in ran.err
    with (out / "rankings.csv").open(newline="") as file:
        rows_of = {row["ranking"]: row for row in csv.DictReader(file)}
    assert {row["relevant"] for row in rows_of.values()} == {"2"}
    assert max(float(row["graded"]) for row in rows_of.values()) > 0.9
