"""Every example in a docstring of the package runs, and prints what it says."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import fin_agent
from fin_agent.errors import FinAgentError

ROOMS = sorted(each.name for each in pkgutil.iter_modules(fin_agent.__path__))
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("room", ROOMS)
def test_examples_in_docstrings_run(
    room: str, tmp_path: Path, sample_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my-index").symlink_to(sample_index)
    (tmp_path / "examples").symlink_to(EXAMPLES)
    monkeypatch.chdir(tmp_path)
    top = import_module(f"fin_agent.{room}")
    inner = pkgutil.walk_packages(getattr(top, "__path__", ()), f"fin_agent.{room}.")
    for name in (top.__name__, *(each.name for each in inner if not each.name.endswith("__main__"))):
        try:
            module = import_module(name)
        except (ImportError, FinAgentError):
            continue  # an extra that is not installed; the tests of extras import it
        if name == "fin_agent.models.metering" and find_spec("genai_prices") is None:
            continue  # prices come with the extra `chat`
        assert doctest.testmod(module).failed == 0, name
