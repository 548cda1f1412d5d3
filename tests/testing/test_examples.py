"""Every example in the docstrings of `fin_agent.testing` runs, and says what it says."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module
from pathlib import Path

import pytest

import fin_agent.testing

MODULES = [
    "fin_agent.testing",
    *(f"fin_agent.testing.{each.name}" for each in pkgutil.iter_modules(fin_agent.testing.__path__)),
]
WITH_EXAMPLES = {"fin_agent.testing", *(f"fin_agent.testing.{name}" for name in (
    "scripted_model", "stand_in_base"))}  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = doctest.testmod(import_module(name))
    assert ran.failed == 0
    assert (ran.attempted > 0) is (name in WITH_EXAMPLES)
