"""`fin-agent eval tagged-questions` over the tagged sample filings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fin_agent.index.sqlite import SqliteIndex
from tests.cli.running import Ran


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)  # reports are written there
    for variable in ("FIN_AGENT_INDEX", "COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(variable, raising=False)


def test_the_report_and_the_rows_are_written(sample_html: Path, sample_html_index: Path, tmp_path: Path) -> None:
    options = ["--count", 6, "--out", tmp_path, "--index", sample_html_index, "--json"]
    ran = Ran("eval", "tagged-questions", sample_html, *options)
    assert ran.code == 0, ran.err
    kinds = {each["group"]: each for each in ran.document["report"]["groups"] if each["section"] == "family"}
    assert set(kinds) == {"lookup", "derived", "part", "total", "family"}
    assert kinds["lookup"]["right"] == kinds["derived"]["right"] == kinds["total"]["right"] == 1.0
    assert kinds["part"]["questions"] == 6
    assert "only 0 of 6 comparison questions" in ran.err
    made = [json.loads(line) for line in (tmp_path / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(made) == 30 and {"text", "expected", "family"} <= made[0].keys()
    assert len((tmp_path / "answers.jsonl").read_text(encoding="utf-8").splitlines()) == 30
    assert (tmp_path / "rows.csv").read_text(encoding="utf-8").startswith("id,family,kind,question")


def test_one_kind_alone(sample_html: Path, sample_html_index: Path) -> None:
    options = ["--kind", "lookup", "--count", 3, "--seed", 5, "--index", sample_html_index]
    ran = Ran("eval", "tagged-questions", sample_html, *options)
    assert ran.code == 0, ran.err
    assert "lookup, own year" in ran.out and "growth" not in ran.out and ran.err.count(": right") == 3


def test_filings_that_are_not_in_the_index_are_told(sample_html: Path, tmp_path: Path) -> None:
    SqliteIndex.create(tmp_path / "empty").close()
    ran = Ran("eval", "tagged-questions", sample_html, "--index", tmp_path / "empty")
    assert ran.code != 0
    assert "harborlight_2025_10k.htm.gz is not in the index" in ran.err and "fin-agent ingest" in ran.err
