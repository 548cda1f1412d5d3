"""`fin-agent eval tatqa`: what it prints and writes."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import Ran


def test_the_report_and_the_rows_are_written(small_file: Path, tmp_path: Path) -> None:
    ran = Ran("eval", "tatqa", small_file, "--out", tmp_path / "out", "--json")
    assert ran.code == 0, ran.err
    whole, arithmetic = ran.document["report"]["figures"][:2]
    assert (whole["questions"], arithmetic["answer_type"], arithmetic["exact"]) == (6, "arithmetic", 0.5)
    assert (tmp_path / "out" / "rows.csv").exists() and (tmp_path / "out" / "predictions.json").exists()


def test_a_limit_and_a_table(small_file: Path) -> None:
    ran = Ran("eval", "tatqa", small_file, "--limit", 2)
    assert ran.code == 0 and "arithmetic" in ran.out and "100.0" in ran.out
    assert Ran("eval", "tatqa", small_file, "--limit", 2, "--json").document["report"]["figures"][0]["questions"] == 2


def test_a_file_that_cannot_be_read_is_no_traceback(tmp_path: Path) -> None:
    ran = Ran("eval", "tatqa", tmp_path / "absent.json")
    assert ran.code != 0 and "absent.json" in ran.err and "Traceback" not in ran.err
