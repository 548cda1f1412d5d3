"""What the README shows is what happens: its transcripts, its Python, its settings."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fin_agent.cli import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TRANSCRIPT = re.compile(r"```\n\$ fin-agent ask \"(?P<question>[^\"]+)\"\n(?P<shown>.*?)\n```", re.S)
ELISION = "... the program, one line a figure ..."
WIDTH = "110"


def settled(text: str) -> list[str]:
    """Lines without what differs from run to run: seconds, and trailing blanks."""
    return [re.sub(r"\d+\.\d\d s$", "0.00 s", line.rstrip()) for line in text.strip().split("\n")]


@pytest.mark.parametrize("found", list(TRANSCRIPT.finditer(README)), ids=lambda found: found["question"][:40])
def test_transcripts_are_what_is_printed(
    found: re.Match[str], sample_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", WIDTH)
    printed = settled(CliRunner().invoke(app, ["ask", found["question"], "--index", str(sample_index)]).stdout)
    shown = settled(found["shown"])
    cut = next((number for number, line in enumerate(shown) if ELISION in line), None)
    if cut is None:
        assert printed == shown
    else:
        assert printed[: cut - 1] == shown[: cut - 1]
        assert printed[-1] == shown[-1]


def test_the_three_transcripts_are_those_of_the_demo() -> None:
    asked = set(re.findall(r'\$\(ASK\) "([^"]+)"', (ROOT / "Makefile").read_text(encoding="utf-8")))
    assert {found["question"] for found in TRANSCRIPT.finditer(README)} == asked
    assert len(asked) == 3


def test_the_python_example_runs(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.S)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "example.py").write_text(code, encoding="utf-8")
    ran = subprocess.run([sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    printed = ran.stdout
    assert ran.returncode == 0, ran.stderr
    assert printed.startswith("544.0 USD millions\nharborlight_2023_10k 9\n")
    assert "def solution():" in printed


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
