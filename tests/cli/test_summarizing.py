"""`fin-agent summarize`, and `--judge` of the benchmark: chat models from the command line."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

from fin_agent.index.protocol import FilingVectors, VectorUnit
from fin_agent.index.sqlite import SqliteIndex
from tests.cli.running import LOOKUP, Ran, questions_file
from tests.loopback import no_other_host
from tests.models.openai_server import KEY, OpenAIServer
from tests.models.openai_server.fixtures import openai_server

__all__ = ["no_other_host", "openai_server"]

pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")

MODEL = "openai:gpt-4o-mini"
FILING = "harborlight_2023_10k"
SUMMARY = {"company": None, "also_named": [], "summary": "A report of a maker of zymurgical instruments."}


@pytest.fixture(autouse=True)
def served(openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", openai_server.url)
    openai_server.answer = lambda request: json.dumps(SUMMARY)


@pytest.fixture
def own_index(sample_index: Path, tmp_path: Path) -> Path:
    shutil.copytree(sample_index, tmp_path / "own")
    return tmp_path / "own"


def test_trees_are_written_by_a_model(
    own_index: Path, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("umap")
    node = {"title": "Instruments", "summary": "Makes zymurgical instruments.", "questions": ["Which are made?"]}
    openai_server.answer = lambda request: json.dumps(node)
    options = ("--doc", FILING, "--chunk", "2000", "--index", own_index)
    made = Ran("trees", "--by", "model", "--model", MODEL, *options, "--json")
    assert made.code == 0, made.err
    assert (made.document["written_by"], made.document["nodes_by_rules"]) == (MODEL, 0)
    (built,) = made.document["built"]
    assert len(openai_server.requests) == made.document["calls"] == built["nodes"]
    assert made.document["tokens"] > 100 * built["nodes"], "of the chunks that each node is written from"
    monkeypatch.setenv("FIN_AGENT_TREE_CHUNKS", "2000")
    found = Ran("search", "zymurgical", "--strategy", "fingear", "--doc", FILING, "--index", own_index, "--json")
    assert found.code == 0, found.err
    openai_server.answer = lambda request: "nothing of the kind"
    again = Ran("trees", "--by", "model", "--model", MODEL, *options, "--again")
    assert again.code == 3 and "nodes were written by rules" in again.err and "tree-node" in again.out


def test_trees_by_rules_tell_the_seconds_of_each_stage_and_ask_no_model(
    own_index: Path, openai_server: OpenAIServer
) -> None:
    pytest.importorskip("umap")
    search = ("search", "instruments", "--strategy", "fingear", "--doc", FILING, "--index", own_index)
    assert f"`fin-agent trees --chunk 512:0 --index {own_index}`" in Ran(*search).err
    made = Ran("trees", "--doc", FILING, "--index", own_index, "--json").document
    seconds = made["seconds"]
    assert list(seconds) == ["terms", "clusters", "nodes"] and all(second > 0 for second in seconds.values())
    (built,) = made["built"]
    assert 0 < built["leaves"] < built["nodes"] and built["bytes"] > 1000
    assert (made["calls"], made["tokens"], made["written_by"]) == (0, 0, "rules") and not openai_server.requests


def test_filings_are_found_by_what_a_model_says_of_them(own_index: Path, openai_server: OpenAIServer) -> None:
    with SqliteIndex(own_index) as index:
        before = index.filing(FILING).summary
        for unit in (VectorUnit.SUMMARY, VectorUnit.PAGE):
            index.add_vectors("m", unit, FilingVectors(FILING, (0,), 2, bytes(4)))
        assert index.search_summaries(["zymurgical"]) == []
    ran = Ran("summarize", "--model", MODEL, "--doc", FILING, "--index", own_index, "--json")
    assert (ran.code, ran.document["summarized"], ran.document["failed"], ran.document["calls"]) == (0, 1, [], 1)
    with SqliteIndex(own_index) as index:
        assert index.filing(FILING).summary == f"{before}\n{SUMMARY['summary']}"
        assert [doc_id for doc_id, _ in index.search_summaries(["zymurgical"])] == [FILING]
        assert FILING in index.without_vectors("m", VectorUnit.SUMMARY), "the vector was of another text"
        assert FILING not in index.without_vectors("m", VectorUnit.PAGE)
        count = len(index.filings())
    ran = Ran("summarize", "--model", MODEL, "--index", own_index, "--json")
    assert (ran.document["summarized"], ran.document["had_one"]) == (count - 1, 1)
    asked = len(openai_server.requests)
    ran = Ran("summarize", "--model", MODEL, "--index", own_index)
    assert ran.code == 0 and ran.out.startswith(f"0 of {count} filings") and len(openai_server.requests) == asked
    assert Ran("summarize", "--model", MODEL, "--doc", FILING, "--again", "--index", own_index).code == 0
    with SqliteIndex(own_index) as index:
        assert index.filing(FILING).summary == f"{before}\n{SUMMARY['summary']}"
        assert index.replace_summary("nobody", "x") is False


def test_what_cannot_be_summarized_is_left_and_told(own_index: Path, openai_server: OpenAIServer) -> None:
    openai_server.fail_next("rubbish", "rubbish")
    ran = Ran("summarize", "--model", MODEL, "--doc", FILING, "--index", own_index)
    assert ran.code == 3 and "not changed (the rules' summary stays: two replies could not be used" in ran.err
    openai_server.fail_next(*["401"] * 9)
    ran = Ran("summarize", "--model", MODEL, "--index", own_index)
    assert ran.code == 3 and "the model cannot be reached" in ran.err and "Traceback" not in ran.err
    ran = Ran("summarize", "--model", "nobody", "--index", own_index)
    assert ran.code not in (0, 3) and "the name has no provider" in ran.err.replace("\n", " ")


def test_a_benchmark_is_judged_beside_its_figures(
    sample_index: Path, tmp_path: Path, openai_server: OpenAIServer
) -> None:
    openai_server.answer = lambda request: json.dumps({"reason": "The same.", "verdict": "correct"})
    evidence = [{"doc_name": FILING, "evidence_page_num": 8}]
    fields = {"company": "x", "doc_name": FILING, "question_type": "metrics-generated", "evidence": evidence}
    lines = [
        {**fields, "financebench_id": f"q{gold}", "question": LOOKUP, "answer": gold} for gold in ("$3533.00", "$1")
    ]
    questions = questions_file(tmp_path, *map(json.dumps, lines))
    out = tmp_path / "out"
    options = ("--questions", questions, "--out", out, "--index", sample_index, "--judge", MODEL)
    ran = Ran("eval", "financebench", *options, "--json")
    assert ran.code == 0
    overall = ran.document["report"]["groups"][0]
    assert (ran.document["judge"], overall["judged"], overall["numeric_match"]) == (MODEL, 1.0, 0.5)
    with (out / "rows.csv").open(encoding="utf-8", newline="") as file:
        assert [line["judged"] for line in csv.DictReader(file)] == ["True", "True"]
    openai_server.fail_next(*["refused"] * 9)
    ran = Ran("eval", "financebench", *options)
    assert ran.code == 0 and "judged" not in ran.out
    assert "not judged: " in ran.err and "Traceback" not in ran.err
