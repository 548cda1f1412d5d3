"""The notebook can be opened, and what it shows below its cells is what they give."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.examples.notebook_cells import Kernel, outputs_of

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook.ipynb"


@pytest.fixture(scope="module")
def notebook() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return read


def test_it_is_a_notebook(notebook: dict[str, Any]) -> None:
    """What nbformat 4.5 asks for."""
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    names = [cell["id"] for cell in notebook["cells"]]
    assert len(set(names)) == len(names) and all(re.fullmatch(r"[\w-]{1,64}", name) for name in names)
    for cell in notebook["cells"]:
        wanted = {"id", "cell_type", "metadata", "source"}
        wanted |= {"outputs", "execution_count"} if cell["cell_type"] == "code" else set()
        assert set(cell) == wanted


def test_cells_give_what_stands_below_them(
    notebook: dict[str, Any], sample_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIN_AGENT_INDEX", str(sample_index))
    monkeypatch.chdir(tmp_path)
    kernel = Kernel()
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        assert kernel.run("".join(cell["source"])) == outputs_of(cell)
    assert len(cells) >= 5
