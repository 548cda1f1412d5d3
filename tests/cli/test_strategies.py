"""`--strategy`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Ran, asked, questions_file

CHIEF = "Who was appointed chief executive officer of Tellurond?"


def test_search_by_a_strategy(sample_index: Path) -> None:
    ran = Ran("search", CHIEF, "--strategy", "bm25", "--index", sample_index, "--json", "-k", 3)
    assert ran.code == 0
    first = ran.document["results"][0]
    assert (first["doc_id"], first["page"], len(ran.document["results"])) == ("tellurond_2024_8k", 1, 3)
    assert list(first["features"]) == ["passage"]
    plain = Ran("search", CHIEF, "--index", sample_index, "--json", "-k", 3).document["results"][0]
    assert (plain["doc_id"], plain["page"]) == (first["doc_id"], first["page"]) and "words" in plain["features"]


@pytest.mark.parametrize("level", ["document", "page"])
def test_documents_and_pages_by_a_strategy(sample_index: Path, level: str) -> None:
    ran = Ran("search", CHIEF, "--strategy", "hhr:bm25", "--level", level, "--index", sample_index, "--json", "-k", 4)
    assert ran.code == 0 and len(ran.document["results"]) == 4
    assert ran.document["results"][0]["doc_id"] == "tellurond_2024_8k"


def test_ask_by_a_strategy(sample_index: Path) -> None:
    ran = Ran("ask", CHIEF, "--strategy", "query-expansion", "--index", sample_index, "--json", "--trace")
    assert ran.code == 0
    assert any("by query-expansion" in step["summary"] for step in ran.document["trace"])


@pytest.mark.parametrize("command", ["search", "ask"])
@pytest.mark.parametrize(
    ("strategy", "said"),
    [
        ("bm26", "error: strategy 'bm26': there is no strategy 'bm26'. There are: default, bm25,"),
        ("", "a name is missing"),
        ("hhr:default", "hhr cannot be combined with default"),
        ("hyde:bm25", "it needs a chat model, and none is given. Give one: FIN_AGENT_CHAT_MODEL="),
    ],
)
def test_a_strategy_that_cannot_be_used_is_one_clear_line(
    sample_index: Path, command: str, strategy: str, said: str
) -> None:
    ran = Ran(command, CHIEF, "--strategy", strategy, "--index", sample_index)
    assert ran.code not in (0, None) and said in ran.err.replace("\n", " ") and "Traceback" not in ran.err


def test_models_are_named_by_the_environment(sample_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIN_AGENT_CHAT_MODEL", "no such model")
    ran = Ran("search", CHIEF, "--strategy", "hyde:bm25", "--index", sample_index)
    assert ran.code not in (0, None) and "chat model 'no such model'" in ran.err.replace("\n", " ")


def test_a_batch_and_a_benchmark_by_a_strategy(sample_index: Path, tmp_path: Path) -> None:
    questions, out = questions_file(tmp_path, asked(CHIEF)), tmp_path / "answers.jsonl"
    assert Ran("batch", questions, "--out", out, "--strategy", "bm25", "--index", sample_index).code == 0
    assert "tellurond_2024_8k" in out.read_text(encoding="utf-8")
    out.unlink()
    ran = Ran("batch", questions, "--out", out, "--strategy", "best", "--index", sample_index)
    assert ran.code not in (0, None) and not list(tmp_path.glob("answers*"))
