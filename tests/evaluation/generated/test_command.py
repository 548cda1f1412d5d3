"""`fin-agent eval generated` over the sample filings: the promises it measures hold there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Ran


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)  # reports are written there
    for variable in ("FIN_AGENT_INDEX", "COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(variable, raising=False)


def test_the_report_and_the_rows_are_written(sample_index: Path, tmp_path: Path) -> None:
    ran = Ran(
        "eval",
        "generated",
        "--count",
        5,
        "--seed",
        1,
        "--out",
        tmp_path,
        "--index",
        sample_index,
        "--json",
    )
    assert ran.code == 0, ran.err
    multi, unanswerable, lookup = (each for each in ran.document["report"]["groups"] if each["section"] == "family")
    assert [family["questions"] for family in (multi, unanswerable, lookup)] == [5, 5, 5]
    assert unanswerable["refused"] == unanswerable["missing_named"] == 1.0
    assert lookup["refused"] == 0.0 and lookup["right"] == 1.0
    assert multi["full_ledger"] >= 0.75 and set(multi["rounds"]) <= {"1", "2", "3"}
    assert len((tmp_path / "answers.jsonl").read_text(encoding="utf-8").splitlines()) == 15
    assert (tmp_path / "rows.csv").read_text(encoding="utf-8").startswith("id,family,kind,question,gold,text")


def test_one_family_alone(sample_index: Path) -> None:
    ran = Ran("eval", "generated", "--kind", "lookup", "--count", 3, "--index", sample_index)
    assert ran.code == 0, ran.err
    assert "lookup, own year" in ran.out and "unanswerable" not in ran.out
    assert ran.err.count("right") == 3


def test_an_index_without_figures_is_told(tmp_path: Path) -> None:
    from fin_agent.index.sqlite import SqliteIndex

    SqliteIndex.create(tmp_path / "empty").close()
    ran = Ran("eval", "generated", "--index", tmp_path / "empty")
    assert ran.code != 0
    assert "no figures to generate questions from" in ran.err and "fin-agent ingest" in ran.err
