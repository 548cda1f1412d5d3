"""Benchmarks that bring their own texts: graded chunks are ranked, and documents that are no filings are searched."""

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


def test_documents_that_are_no_filings_are_searched_and_measured_by_characters(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    (corpus / "nda").mkdir(parents=True)
    held = "The receiving party shall return all confidential material within thirty days of termination."
    text = f"Mutual agreement of Brix and Corda.\n\n{held}\n\nThis agreement is governed by the law of Oregon."
    (corpus / "nda" / "brix.txt").write_text(text, encoding="utf-8")
    (corpus / "nda" / "other.txt").write_text("Privacy notice: cookies are kept for a year.", encoding="utf-8")
    begin = text.index(held)
    tests = [
        {"query": "When must confidential material be returned?",
         "snippets": [{"file_path": "nda/brix.txt", "span": [begin, begin + len(held)]}]},
        {"query": "Where?", "snippets": [{"file_path": "nda/brix.txt", "span": [0, 9_999]}]},
        {"query": "No snippet"},
    ]  # fmt: skip
    path = tmp_path / "nda.json"
    path.write_text(json.dumps({"tests": tests}), encoding="utf-8")
    ran = Ran("eval", "legalbench-rag", path, "--corpus", corpus, "-k", 1, "--out", tmp_path / "out", "--json")
    assert ran.code == 0, ran.err
    assert [fault.split(":")[0] for fault in ran.document["left_out"]] == ["nda.json, entry 3", "nda.json, entry 2"]
    overall = ran.document["report"]["groups"][0]
    assert overall["recall"] == 1 and overall["document"] == 1 and 0.3 < overall["precision"] < 1
