"""What keeps a file from being written is told with its path and what to do."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from fin_agent.atomic_write import WriteError, atomic_write, reporting_write_errors, require_writable_path
from fin_agent.cli.exit_codes import sentence_of


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.ENOSPC, r"disk is full\. Make room"), (errno.EACCES, r"\(refused\)\. Name a file")],
)
def test_the_path_and_the_remedy_are_told(tmp_path: Path, number: int, said: str) -> None:
    with (
        pytest.raises(WriteError, match=rf"picture\.png: it could not be written.*{said}"),
        reporting_write_errors(tmp_path / "picture.png"),
    ):
        raise OSError(number, "refused")


def test_what_could_not_be_written_whole_leaves_the_file_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = tmp_path / "new" / "picture.png"
    atomic_write(picture, b"first")

    def full(path: Path, content: bytes) -> int:
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(WriteError, match=r"picture\.png: .* disk is full"):
        atomic_write(picture, b"second")
    assert [(each.name, each.read_bytes()) for each in picture.parent.iterdir()] == [("picture.png", b"first")]


def test_what_is_no_file_is_not_written_to(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="this is a folder"):
        require_writable_path(tmp_path)
    with pytest.raises(WriteError, match="a device or a pipe"):
        require_writable_path(Path("/dev/null"))
    require_writable_path(tmp_path / "new")


def test_a_full_disk_without_a_path_still_has_a_remedy() -> None:
    assert sentence_of(OSError(errno.ENOSPC, "No space left on device")).endswith(
        "Make room and run the same command again"
    )
