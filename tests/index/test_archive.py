"""An index carried about as one file: the same again after it, and nothing of one that somebody made wrong."""

from __future__ import annotations

import base64
import errno
import gzip
import hashlib
import json
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fin_agent.errors import FilingIndexError
from fin_agent.evidence.importing import import_archive
from fin_agent.index.archive import ArchiveError, Imported, export
from fin_agent.index.protocol import FilingVectors, VectorUnit
from fin_agent.index.sqlite import FILE_NAME, SqliteIndex
from fin_agent.index.stored_filing import COLUMNS, Part
from fin_agent.index.verifying import verify
from fin_agent.written_file import WriteError

FILINGS = ("quillmark_2025q2_10q", "ottermere_2025q2_8k")


@pytest.fixture(scope="module")
def source(sample_html_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with tags, tables and vectors."""
    folder = Path(shutil.copytree(sample_html_index, tmp_path_factory.mktemp("source") / "index"))
    with SqliteIndex(folder) as index:
        index.add_vectors("made up", VectorUnit.SUMMARY, FilingVectors(FILINGS[0], (0,), 4, bytes(range(8))))
    return folder


@pytest.fixture(scope="module")
def archive(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("archive") / "two.jsonl.gz"
    with SqliteIndex(source) as index:
        export(index, file, doc_ids=FILINGS)
    return file


def brought_in(archive: Path, folder: Path, *, replace: bool = False) -> Imported:
    return import_archive(archive, folder, replace=replace)


def test_there_and_back(source: Path, tmp_path: Path) -> None:
    with SqliteIndex(source) as index:
        first = export(index, tmp_path / "a.jsonl.gz")
    assert len(brought_in(first.file, tmp_path / "index").added) == first.filings == 3
    assert verify(tmp_path / "index").findings == ()
    with SqliteIndex(tmp_path / "index") as index, SqliteIndex(source) as original:
        again = export(index, tmp_path / "b.jsonl.gz")
        assert again.sha256 == first.sha256 == hashlib.sha256(first.file.read_bytes()).hexdigest()
        assert index.entries() == original.entries()
        assert index.search_pages(["net sales"]) == original.search_pages(["net sales"])
        assert list(index.vectors("made up", VectorUnit.SUMMARY)) == list(
            original.vectors("made up", VectorUnit.SUMMARY)
        )
        assert index.tags(FILINGS[0]) == original.tags(FILINGS[0])
        sources = {record.source for record in index.filings()}
    assert all("/" not in each for each in sources)  # folders stay at home
    assert brought_in(first.file, tmp_path / "index").unchanged == [entry.doc_id for entry in original.entries()]


def test_other_content_of_the_same_name(archive: Path, source: Path, tmp_path: Path) -> None:
    brought_in(archive, tmp_path)
    with SqliteIndex(tmp_path) as index:
        index.replace_summary(FILINGS[1], "another summary")
        index.remove(FILINGS[0])
    before = [(entry.doc_id, entry.content_hash) for entry in SqliteIndex(tmp_path).entries()]
    with pytest.raises(FilingIndexError, match=r"another filing of this name.*--replace"):
        brought_in(archive, tmp_path)
    with SqliteIndex(tmp_path) as index:  # all or nothing: the other one is not there either
        assert [(entry.doc_id, entry.content_hash) for entry in index.entries()] == before
    imported = brought_in(archive, tmp_path, replace=True)
    assert (imported.added, imported.replaced) == ([FILINGS[0]], [FILINGS[1]])
    assert verify(tmp_path).findings == ()


def test_damaged_or_unknown_filings_are_not_exported(source: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(source, tmp_path / "copy"))
    out = tmp_path / "out" / "a.jsonl.gz"
    with SqliteIndex(folder) as index:
        with pytest.raises(FilingIndexError, match="not in the index"):
            export(index, out, doc_ids=["nowhere"])
        with index.writing() as connection:
            connection.execute("UPDATE pages SET text = 'changed' WHERE id = 1")
        with pytest.raises(FilingIndexError, match=r"damaged.*index repair"):
            export(index, out)
    assert list(out.parent.iterdir()) == []


def test_nothing_but_an_archive_is_replaced(source: Path, archive: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(source, tmp_path / "copy"))
    before = (folder / FILE_NAME).read_bytes()
    report = tmp_path / "report.pdf"
    report.write_bytes(b"%PDF-1.7")
    zipped = tmp_path / "other.gz"
    zipped.write_bytes(gzip.compress(b'{"kind":"something else"}'))
    link = tmp_path / "link.gz"
    link.symlink_to(folder / FILE_NAME)
    others = (
        report,
        zipped,
        link,
        tmp_path,
        Path("/dev/null"),
        *(folder / f"{FILE_NAME}{end}" for end in ("", "-wal")),
    )
    with SqliteIndex(folder) as index:
        for other in others:
            with pytest.raises(WriteError, match=r"\. Name a"):
                export(index, other)
        earlier = Path(shutil.copy(archive, tmp_path / "earlier.jsonl.gz"))
        assert export(index, earlier).filings == 3
        cut = tmp_path / "cut.jsonl.gz"
        cut.write_bytes(archive.read_bytes()[:900])
        assert export(index, cut).sha256 == hashlib.sha256(earlier.read_bytes()).hexdigest()
    assert (folder / FILE_NAME).read_bytes() == before
    assert (report.read_bytes(), Path("/dev/null").is_char_device()) == (b"%PDF-1.7", True)


def test_an_archive_that_finds_no_room_says_where(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(opened: object, content: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("gzip.GzipFile.write", full)
    out = tmp_path / "a.jsonl.gz"
    with SqliteIndex(source) as index, pytest.raises(WriteError, match=r"a\.jsonl\.gz: .* disk is full\. .*Make room"):
        export(index, out)
    assert list(tmp_path.iterdir()) == []


Lines = list[dict[str, Any]]
FILING = {name: at for at, name in enumerate(COLUMNS[Part.FILING])}


def rewritten(archive: Path, to: Path, change: Callable[[Lines], None]) -> Path:
    """The archive as somebody else would write it, its own checksum right."""
    lines: Lines = [json.loads(line) for line in gzip.decompress(archive.read_bytes()).splitlines()]
    change(lines)
    digest = hashlib.sha256()
    written = [json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines[:-1]]
    for line in written:
        digest.update(line)
    last = json.dumps({**lines[-1], "sha256": digest.hexdigest()}).encode() + b"\n"
    to.write_bytes(gzip.compress(b"".join([*written, last])))
    return to


def put(part: str, row: int, column: int, value: object) -> Callable[[Lines], None]:
    def change(lines: Lines) -> None:
        lines[1]["parts"][part][row][column] = value

    return change


def twice(lines: Lines) -> None:
    lines.insert(2, lines[1])
    lines[0]["filings"] = lines[-1]["filings"] = 3


BOMB = {"base64": base64.b64encode(zlib.compress(bytes(200 * 2**20))).decode()}


@pytest.mark.parametrize(
    "change",
    [
        put("filings", 0, FILING["doc_id"], "../../etc/passwd\x00"),
        put("filings", 0, FILING["doc_id"], "\x1b[31mred"),
        put("filings", 0, FILING["doc_id"], " "),
        put("filings", 0, FILING["doc_id"], 7),
        put("filings", 0, FILING["form"], "10-Z"),
        put("filings", 0, FILING["page_count"], 10**30),
        put("filings", 0, FILING["page_count"], 2),
        put("filings", 0, FILING["period_end"], "yesterday"),
        put("filing_details", 0, 0, "7"),
        put("filing_details", 0, 0, "[" * 100_000),
        put("pages", 0, 0, 5),
        put("pages", 0, 1, None),
        put("pages", 0, 1, "half a character \ud835"),
        put("pages", 0, 1, {"base64": "AAAA"}),
        put("pages", 0, 1, {"path": "/etc/passwd"}),
        put("passages", 0, 0, 999),
        put("passages", 0, 2, "picture"),
        put("cards", 0, 0, "{}"),
        put("cards", 0, 0, "not json"),
        put("facts", 0, 6, "1e999999999"),
        put("facts", 0, 6, "NaN"),
        put("facts", 0, 0, -1),
        put("page_tables", 0, 1, BOMB),
        put("page_tables", 0, 1, {"base64": "AAAA"}),
        put("page_tables", 0, 1, {"base64": "not base64"}),
        lambda lines: lines[1]["parts"].pop("facts"),
        lambda lines: lines[1]["parts"].update(meta=[["format", "99"]]),
        lambda lines: lines[1]["parts"]["pages"][0].append("more"),
        lambda lines: lines[1]["parts"]["filings"].append(lines[1]["parts"]["filings"][0]),
        lambda lines: lines[1].update(vectors=[["m", "page", 4, 0, 1, {"base64": ""}, {"base64": ""}]]),
        lambda lines: lines[1].update(vectors=[[]]),
        lambda lines: lines.insert(2, {"kind": "fin-agent index"}),
        lambda lines: lines[0].update(version=2),
        lambda lines: lines[0].update(kind="wine"),
        lambda lines: lines[0].update(filings=9),
        lambda lines: lines.pop(1),
        twice,
    ],
)
def test_hostile_archives_change_nothing(archive: Path, tmp_path: Path, change: Callable[[Lines], None]) -> None:
    hostile = rewritten(archive, tmp_path / "hostile.jsonl.gz", change)
    with pytest.raises(ArchiveError, match="Nothing was taken from it"):
        brought_in(hostile, tmp_path / "index")
    assert {file.name for file in (tmp_path / "index").iterdir()} == {"ingest.lock"}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"wine",
        gzip.compress(b""),
        gzip.compress(b"\n"),
        gzip.compress(b"[" * 2_000_000 + b"\n"),
        gzip.compress(bytes(300 * 2**20)),
        gzip.compress(b'{"kind": "fin-agent index", "version": 1, "filings": 0}\n'),
    ],
    ids=["empty", "other", "empty gzip", "empty line", "deep", "bomb", "without end"],
)
def test_what_is_no_archive(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "a.jsonl.gz"
    file.write_bytes(content)
    with pytest.raises(ArchiveError):
        brought_in(file, tmp_path / "index")
    assert not (tmp_path / "index" / FILE_NAME).exists()


@pytest.mark.parametrize("kept", [0.3, 0.999])
def test_cut_off_or_damaged_on_the_way(archive: Path, tmp_path: Path, kept: float) -> None:
    whole = archive.read_bytes()
    file = tmp_path / "a.jsonl.gz"
    file.write_bytes(whole[: int(len(whole) * kept)])
    with pytest.raises(ArchiveError):
        brought_in(file, tmp_path / "index")
    file.write_bytes(whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:])
    with pytest.raises(ArchiveError):
        brought_in(file, tmp_path / "index")
    file.write_bytes(whole + gzip.compress(b"{}\n"))
    with pytest.raises(ArchiveError, match="after its end"):
        brought_in(file, tmp_path / "index")
