"""Versions that do not fit are said in one line, with what to install."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fin_agent.errors import require_versions

MAIN = "from fin_agent.cli import main; main()"


@pytest.mark.parametrize(
    ("package", "installed", "command"),
    [
        ("langgraph", "1.0.1", ("ask", "What was Harborlight's net income in FY2023?")),
        ("langchain-core", "0.3.80", ("ask", "What was Harborlight's net income in FY2023?")),
        ("langgraph", "2.1.0", ("chat",)),
        ("pymupdf", "1.20.0", ("ingest", "FILING", "--workers", "0")),
        ("mcp", "1.9.4", ("mcp",)),
    ],
)
def test_a_version_that_is_not_allowed_is_told_with_what_to_install(
    sample_index: Path, sample_filings: Path, tmp_path: Path, package: str, installed: str, command: tuple[str, ...]
) -> None:
    if package == "mcp":
        pytest.importorskip("mcp", reason="needs the extra `mcp`")
        pytest.importorskip("uvicorn", reason="needs the extra `mcp`")
    told = tmp_path / "site" / f"{package.replace('-', '_')}-{installed}.dist-info"
    told.mkdir(parents=True)
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {installed}\n", encoding="utf-8")
    given = [str(sample_filings / "tellurond_2024_8k.pdf") if each == "FILING" else each for each in command]
    index = tmp_path / "index" if command[0] == "ingest" else sample_index
    ran = subprocess.run(
        [sys.executable, "-c", MAIN, *given, "--index", str(index)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(told.parent), str(Path(__file__).parents[1])))},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    output = ran.stderr + ran.stdout
    assert ran.returncode != 0 and "Traceback" not in output
    said = " ".join(output.split())
    assert f"{package} {installed} is installed, and >=" in said and f'pip install "{package}>=' in said


def test_versions_that_fit_are_passed_over() -> None:
    require_versions("langgraph", "langchain-core", "pymupdf", "not-a-package")
