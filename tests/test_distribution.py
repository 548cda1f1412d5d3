"""What an import says where the other project called `fin-agent` is installed too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import fin_agent
from fin_agent.distribution import DISTRIBUTION

ROOT = Path(__file__).parents[1]


def import_beside(folder: Path, *, record: str | None) -> subprocess.CompletedProcess[str]:
    """Import the package where `folder` holds the metadata of a distribution `fin-agent` with this RECORD."""
    metadata = folder / "fin_agent-0.6.3.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.4\nName: fin-agent\nVersion: 0.6.3\n", encoding="utf-8")
    if record is not None:
        (metadata / "RECORD").write_text(record, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    code = "import fin_agent; print(fin_agent.__version__)"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_a_wheel_with_files_in_the_package_is_refused(tmp_path: Path) -> None:
    ran = import_beside(tmp_path, record="fin_agent/main.py,sha256=x,1\nfin_agent-0.6.3.dist-info/RECORD,,\n")
    assert ran.returncode == 1
    message = ran.stderr.strip().splitlines()[-1]
    assert message.startswith(f"ImportError: The distributions fin-agent 0.6.3 and {DISTRIBUTION} are both installed")
    assert "`pip uninstall fin-agent`" in message and "--force-reinstall" in message


@pytest.mark.parametrize("record", [None, "__editable__.fin_agent-0.6.3.pth,sha256=x,1\n"])
def test_metadata_without_files_in_the_package_is_no_obstacle(tmp_path: Path, record: str | None) -> None:
    ran = import_beside(tmp_path, record=record)
    assert (ran.returncode, ran.stdout.strip()) == (0, fin_agent.__version__)
