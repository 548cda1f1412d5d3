"""`compact` gives room back, changes nothing else, and asks for the room it needs before it begins."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from fin_agent.errors import FilingIndexError
from fin_agent.index import database
from fin_agent.index.compacting import compact
from fin_agent.index.ingest_lock import IndexInUseError, ingest_lock
from fin_agent.index.sqlite import FILE_NAME, SqliteIndex
from fin_agent.index.verifying import verify


@pytest.fixture
def folder(sample_index: Path, tmp_path: Path) -> Path:
    """The sample filings without the 10-Ks: most of the file is free."""
    copy = Path(shutil.copytree(sample_index, tmp_path / "copy"))
    with SqliteIndex(copy) as index:
        for entry in index.entries():
            if entry.identity.form.value == "10-K":
                index.remove(entry.doc_id)
    return copy


def test_room_is_given_back_and_nothing_else_changes(folder: Path) -> None:
    with SqliteIndex(folder) as index:
        entries, found = index.entries(), index.search_pages(["revenue"])
    done = compact(folder)
    assert done.after < done.before / 2 and not done.read_meanwhile
    assert (folder / FILE_NAME).stat().st_size == done.after
    assert verify(folder).findings == ()
    with SqliteIndex(folder) as index:
        assert (index.entries(), index.search_pages(["revenue"])) == (entries, found)
    assert compact(folder).after <= done.after


def test_readers_go_on(folder: Path) -> None:
    with SqliteIndex(folder) as index, index.snapshot():
        entries = index.entries()
        done = compact_in_a_thread(folder)
        assert done.read_meanwhile
        assert index.entries() is entries
    assert verify(folder).findings == ()


def compact_in_a_thread(folder: Path):  # type: ignore[no-untyped-def]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(compact, folder).result()


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def test_without_room_it_does_not_begin(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database.shutil, "disk_usage", lambda path: Usage(10**9, 10**9, 1000))
    before = (folder / FILE_NAME).read_bytes()
    with pytest.raises(FilingIndexError, match=r"not enough room: .* MB are needed .*, 0\.0 MB are free"):
        compact(folder)
    assert (folder / FILE_NAME).read_bytes() == before


def test_beside_an_ingest_it_is_refused(folder: Path) -> None:
    with ingest_lock(folder), pytest.raises(IndexInUseError):
        compact(folder)
