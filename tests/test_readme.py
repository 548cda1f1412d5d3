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
LOOKING = re.compile(
    r"```\n(?:\$ fin-agent ingest \S+\n)?\$ fin-agent (?P<command>(?:show|check) [^\n]+)\n(?P<shown>.*?)\n```", re.S
)
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


@pytest.mark.parametrize("found", list(LOOKING.finditer(README)), ids=lambda found: found["command"])
def test_what_was_read_looks_like_this(
    found: re.Match[str], sample_html_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", WIDTH)
    ran = CliRunner().invoke(app, [*found["command"].split(), "--index", str(sample_html_index)])
    assert settled(ran.stdout) == settled(found["shown"])


def test_commands_for_looking_are_shown() -> None:
    assert [found["command"].split()[0] for found in LOOKING.finditer(README)] == ["show", "check"]


def test_the_picture_in_the_readme_is_drawn(sample_html_index: Path, tmp_path: Path) -> None:
    (command,) = re.findall(r"^fin-agent (show .*--image .*)$", README, re.M)
    words = [str(tmp_path / word) if word.endswith(".png") else word for word in command.split()]
    ran = CliRunner().invoke(app, [*words, "--index", str(sample_html_index)])
    assert ran.exit_code == 0, ran.output
    (picture,) = tmp_path.glob("*.png")
    assert picture.read_bytes().startswith(b"\x89PNG")


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
