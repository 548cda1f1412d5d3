"""`remove` takes filings out, says which it does not know, and a later ingest brings them back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.running import LOOKUP, Ran

FILING = Path(__file__).parents[2] / "examples" / "filings" / "harborlight_2024_8k.pdf"


@pytest.fixture
def index(tmp_path: Path, sample_index: Path) -> Path:
    return Path(shutil.copytree(sample_index, tmp_path / "index"))


def doc_ids(index: Path) -> list[str]:
    return [filing["doc_id"] for filing in Ran("filings", "--index", index, "--json").document["filings"]]


def test_what_is_removed_is_found_no_more(index: Path) -> None:
    before = doc_ids(index)
    ran = Ran("remove", "harborlight_2023_10k", "quillmark_2024_8k", "--index", index)
    assert (ran.code, ran.err) == (0, "")
    said = f"2 removed, 0 unknown. The index in {index} holds {len(before) - 2} filings."
    assert " ".join(ran.out.split()) == said
    assert set(before) - set(doc_ids(index)) == {"harborlight_2023_10k", "quillmark_2024_8k"}
    answer = Ran("ask", LOOKUP, "--index", index, "--no-record", "--json").document
    assert "harborlight_2023_10k" not in answer["retrieved"]["documents"]


def test_unknown_ones_are_told_and_the_others_removed(index: Path) -> None:
    before = len(doc_ids(index))
    ran = Ran("remove", "nowhere", "harborlight_2024_8k", "harborlight_2024_8k", "--index", index, "--json")
    assert ran.code == 3
    assert ran.document == {"removed": ["harborlight_2024_8k"], "unknown": ["nowhere"], "filings": before - 1}
    assert (
        ran.err.startswith("error: nowhere: ")
        and f"`fin-agent filings --index {index}`" in ran.err
        and ran.err.count("\n") == 1
    )


def test_ingesting_the_same_file_again_adds_it(tmp_path: Path) -> None:
    index = tmp_path / "own"
    for expected in ({"added": 1, "unchanged": 0}, {"added": 0, "unchanged": 1}):
        ran = Ran("ingest", FILING, "--workers", 0, "--index", index, "--json")
        assert {name: ran.document[name] for name in expected} == expected
    assert Ran("remove", FILING.stem, "--index", index).code == 0
    assert doc_ids(index) == []
    assert Ran("ingest", FILING, "--workers", 0, "--index", index, "--json").document["added"] == 1
    assert doc_ids(index) == [FILING.stem]


@pytest.mark.parametrize("arguments", [[], ["x"]])
def test_without_a_name_or_an_index(arguments: list[str], tmp_path: Path) -> None:
    ran = Ran("remove", *arguments, "--index", tmp_path / "none")
    assert ran.code == (1 if arguments else 2) and ran.out == ""
