"""What an application writes against the public interface runs, and nothing public is left out of what is checked."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import fin_agent
from tests.typing import uses_every_name

HERE = Path(__file__).parent
MAKEFILE = HERE.parents[1] / "Makefile"


def test_every_public_name_is_used() -> None:
    tree = ast.parse((HERE / "uses_every_name.py").read_text(encoding="utf-8"))
    (imported,) = [
        {name.name for name in node.names}
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "fin_agent"
    ]
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    assert imported == set(fin_agent.__all__)
    assert imported <= read


def test_it_runs(sample_filings: Path, tmp_path: Path) -> None:
    lines = uses_every_name.main(tmp_path, sample_filings / "harborlight_2023_10k.pdf")
    told = "544.0 USD millions ['harborlight_2023_10k 9'] ()"
    assert lines[0].startswith(str(tmp_path / "not-there"))
    assert lines[1:3] == ["letter_2023", "harborlight_2023_10k"] or lines[1:3] == [
        "harborlight_2023_10k",
        "letter_2023",
    ]
    assert lines[3:9] == [told, told, told, told, told, "answered"]
    assert lines[9].startswith("Net income of Harborlight") and "15.4%" in lines[10]
    assert lines[11].startswith("harborlight_2023_10k/")
    assert "page_search" in lines and lines[-1] == fin_agent.__version__


def test_types_are_checked_with_the_package() -> None:
    """In `make check`, on an installed copy: it takes a checker and half a minute."""
    makefile = MAKEFILE.read_text(encoding="utf-8")
    (checked,) = re.findall(r"^APPLICATIONS := (.*)$", makefile, re.M)
    assert {"tests/typing/uses_every_name.py", "tests/typing/mistakes.py", "$(wildcard examples/*.py)"} == {
        *re.findall(r"\$\(.*?\)|\S+", checked)
    }
    assert "$(APPLICATIONS)" in makefile.split("\ncheck:")[1].split("\n\n")[0]


def test_mistakes_are_of_all_kinds() -> None:
    assert "tests.typing.mistakes" not in sys.modules
    marked = (HERE / "mistakes.py").read_text(encoding="utf-8").count("# type: ignore[")
    assert marked >= 15
