"""A log that is damaged is not left out without a word, as SQLite does, nor believed where the database is newer."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fin_agent.evidence.preparing import prepare
from fin_agent.index.ingest import ingest
from fin_agent.index.repairing import repair
from fin_agent.index.sqlite import FILE_NAME, SqliteIndex
from fin_agent.index.verifying import verify
from fin_agent.index.write_ahead_log import is_log_whole, log_of

FRAME = 24 + 4096


@pytest.fixture(scope="module")
def killed(sample_filings: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What lies there after an ingest was killed: everything in the log, and in the database too by then."""
    folder = tmp_path_factory.mktemp("killed")
    with SqliteIndex.create(folder / "live") as index:
        ingest(sorted(sample_filings.glob("*8k.pdf")), index, prepare, workers=0)
        with index.reading() as connection:
            assert connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[0] == 0
        return Path(shutil.copytree(folder / "live", folder / "left"))


@pytest.fixture
def folder(killed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(killed, tmp_path / "copy"))


def names(folder: Path) -> list[str]:
    with SqliteIndex(folder) as index:
        return [entry.doc_id for entry in index.entries()]


def test_a_log_as_it_was_written_is_whole(folder: Path) -> None:
    log = log_of(folder / FILE_NAME)
    assert log.stat().st_size > 80 * FRAME and is_log_whole(folder / FILE_NAME)
    with log.open("ab") as opened:
        opened.write(bytes(24))  # its writer was killed between the head of a frame and its page
    assert is_log_whole(folder / FILE_NAME)
    repaired = repair(folder)
    assert (repaired.lost, repaired.damaged_copy, repaired.kept) == ([], None, 3)
    log.unlink(missing_ok=True)
    assert is_log_whole(folder / FILE_NAME)


@pytest.mark.parametrize("damage", ["header", "early", "late", "cut", "cut in a frame"])
def test_with_a_damaged_log_what_is_whole_is_saved_and_the_doubt_is_told(folder: Path, damage: str) -> None:
    file = folder / FILE_NAME
    content = bytearray(log_of(file).read_bytes())
    flipped = {"header": 20, "early": 32 + 9 * FRAME + 300, "late": len(content) - 40 * FRAME}.get(damage)
    if flipped is not None:
        content[flipped] ^= 0x40
    elif damage == "cut":
        del content[32 + 60 * FRAME :]
    else:
        del content[32 + 60 * FRAME + 1000 :]
        file.with_name(f"{file.name}-shm").unlink()
    log_of(file).write_bytes(content)
    assert not is_log_whole(file)
    repaired = repair(folder)
    assert len(names(folder)) == repaired.kept == 3 and not repaired.taken_out
    assert repaired.names_lost and "what was written last may be lost" in repaired.lost[0].why
    assert repaired.damaged_copy is not None and log_of(repaired.damaged_copy).read_bytes() == bytes(content)
    assert verify(folder).faults == []
