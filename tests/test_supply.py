"""What an install brings: no package that needs a runtime for neural networks, and versions that were tested."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {name: [*map(Requirement, listed)] for name, listed in PROJECT["optional-dependencies"].items()}
CORE = [*map(Requirement, PROJECT["dependencies"])]


def test_the_default_install_stays_light() -> None:
    """PyMuPDF 2 needs onnxruntime, networkx and numpy (docs/decisions/0040-pymupdf-below-2.md)."""
    (pdf,) = [each for each in CORE if each.name == "pymupdf"]
    assert not pdf.specifier.contains("2.0") and pdf.specifier.contains("1.26")
    assert not {"numpy", "onnxruntime", "torch"} & {each.name for each in CORE}


def test_the_servers_have_a_floor_for_starlette() -> None:
    """Earlier ones have no limit for the size of a body."""
    for extra in ("serve", "mcp"):
        (found,) = [each for each in EXTRAS[extra] if each.name == "starlette"]
        assert not found.specifier.contains("1.9")


def test_the_versions_tested_are_locked_within_the_bounds_and_audited() -> None:
    locked = dict(
        re.findall(
            r"^([\w.-]+)==([\w.+!-]+)",
            (ROOT / "constraints.txt").read_text(encoding="utf-8").lower().replace("_", "-"),
            re.M,
        )
    )
    wanted = [*CORE, *EXTRAS["dev"]]  # as its first line says
    beyond = [str(each) for each in wanted if (at := locked.get(each.name.lower())) and not each.specifier.contains(at)]
    assert beyond == []
    assert {each.name.lower() for each in CORE} <= locked.keys()
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^audit:.*\n(?:\t.*\n)*?\t.*constraints\.txt", makefile, re.M)
