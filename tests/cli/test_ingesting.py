"""`fin-agent ingest` from wherever the user stands."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fin_agent.cli import app


def test_modules_of_the_current_folder_are_not_loaded_by_workers(
    sample_html: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "types.py").write_text("raise SystemExit('a module of the folder was loaded')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    paths = sorted(sample_html.glob("*8k*.htm"))
    ran = CliRunner().invoke(app, ["ingest", *map(str, paths), "--index", str(tmp_path / "index"), "--workers", "1"])
    assert "PYTHONSAFEPATH" not in os.environ
    assert ran.exit_code == 0, ran.output
    assert "1 added" in ran.stdout
