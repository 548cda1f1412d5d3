"""Every example runs as it stands, over the sample index, and prints what it is there to show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOWS = {
    "answers_in_a_chain.py": (
        "Ada: Net income of Harborlight Instruments, Inc. for FY2023: $544 million. [harborlight_2023_10k page 9]",
        "Cleo: not answered: research and development of Quillmark Stores, Inc. for FY2024",
    ),
    "filings_from_a_loader.py": (
        "[('larkspur_2023', 'added', '')]",
        "primarily due to higher prices of industrial pumps",
        "Larkspur Pumps, Inc. 10-K 2023 larkspur_2023/2",
    ),
    "retriever_in_a_chain.py": ("Ines K. Calloway was appointed President and CEO [tellurond_2024_8k, page 2].",),
    "tools_by_hand.py": (
        "--- page_search (success)",
        "Each of its 3 numbers has a source.",
        "15.4% from page 9: Net income, FY2023, page 9: Net sales, FY2023",
        "Did you mean 'harborlight_2023_10k'",
    ),
}


def test_every_example_is_run() -> None:
    assert {file.name for file in EXAMPLES.glob("*.py")} == set(SHOWS)


@pytest.mark.parametrize("name", SHOWS)
def test_it_runs_and_shows(name: str, sample_index: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "FIN_AGENT_INDEX": str(sample_index), "FIN_AGENT_RECORD": "0"}
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    for line in SHOWS[name]:
        assert line in ran.stdout
    assert ran.stderr == ""


@pytest.mark.parametrize("name", SHOWS)
def test_it_is_short_enough_to_be_read(name: str) -> None:
    assert len((EXAMPLES / name).read_text(encoding="utf-8").splitlines()) < 80
