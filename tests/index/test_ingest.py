"""Bringing files in: each once, whole, and what fails is named with its reason while the rest goes on."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pymupdf
import pytest

from fin_agent.errors import FinAgentError
from fin_agent.evidence.filing_preparation import prepare
from fin_agent.filings.reader import content_hash, doc_id_of
from fin_agent.index.copying import CopyOutcome, copy_filings
from fin_agent.index.ingest import IngestReport, Manifest, Outcome, Prepare, PreparedFiling, files_below, ingest
from fin_agent.index.protocol import PageKey
from fin_agent.index.sqlite import SqliteIndex

WritePdf = Callable[..., Path]
Check = Callable[[SqliteIndex], None]


def reader(module: str, name: str) -> Prepare:
    found: Prepare = getattr(importlib.import_module(module), name)
    return found


def outcomes(report: IngestReport) -> dict[str, Outcome]:
    return {file.path.name: file.outcome for file in report.files}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "filings"
    made.mkdir(exist_ok=True)
    return made


@pytest.fixture
def plain(quick_readers: str) -> Prepare:
    return reader(quick_readers, "plain")


def put(folder: Path, name: str, text: str = "") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text or name, encoding="latin-1")
    return path


def test_sample_filings_are_what_they_say(sample_index: Path, sample_filings: Path, check_consistent: Check) -> None:
    expected = json.loads((sample_filings / "expected.json").read_text(encoding="utf-8"))
    with SqliteIndex(sample_index) as index:
        assert len(index.filings()) == len(expected) == 15
        for filing in expected:
            identity = index.filing(filing["doc_id"]).identity
            found = {
                "company": identity.company.casefold(),
                "form": identity.form.value,
                "fiscal_year": identity.fiscal_year,
                "quarter": identity.quarter,
                "period_end": str(identity.period_end),
                "pages": index.filing(filing["doc_id"]).page_count,
            }
            assert found == {key: filing[key] for key in found} | {"company": filing["company"].casefold()}
        check_consistent(index)


def test_second_run_does_nothing(folder: Path, index: SqliteIndex, plain: Prepare) -> None:
    put(folder, "a.pdf")
    put(folder, "deep/b.PDF")
    put(folder, "notes.txt")
    assert outcomes(ingest([folder], index, plain, workers=0)) == {"a.pdf": Outcome.ADDED, "b.PDF": Outcome.ADDED}
    with index.reading() as connection:
        changes = connection.total_changes
        report = ingest([folder], index, never, workers=0)
        assert connection.total_changes == changes
    assert report.count(Outcome.UNCHANGED) == 2


def never(path: Path) -> PreparedFiling:
    raise AssertionError(f"{path} was read")


def test_touched_or_moved_files_are_not_read_again(
    folder: Path, tmp_path: Path, index: SqliteIndex, plain: Prepare
) -> None:
    path = put(folder, "a.pdf")
    ingest([folder], index, plain, workers=0)
    os.utime(path, (1, 1))
    assert outcomes(ingest([folder], index, never, workers=0)) == {"a.pdf": Outcome.UNCHANGED}
    moved = tmp_path / "moved"
    folder.rename(moved)
    assert outcomes(ingest([moved], index, never, workers=0)) == {"a.pdf": Outcome.UNCHANGED}
    assert index.filing("a").source == str(moved / "a.pdf")


def test_changed_content_replaces_the_filing(
    folder: Path, index: SqliteIndex, write_pdf: WritePdf, check_consistent: Check
) -> None:
    """Through the real reader: the old words are found nowhere any more."""
    write_pdf("acme.pdf", "FORM 10-K for Acme, about gyroscopes " * 5, "Zeppelins were sold to the navy. " * 5)
    ingest([folder], index, prepare, workers=0)
    assert [hit.key for hit in index.search_pages(["zeppelin"])] == [PageKey("acme", 1)]
    write_pdf("acme.pdf", "FORM 10-K for Acme, about compasses " * 5)
    assert outcomes(ingest([folder], index, prepare, workers=0)) == {"acme.pdf": Outcome.ADDED}
    assert index.search_pages(["zeppelin", "gyroscope"]) == []
    assert index.search_summaries(["gyroscopes"]) == []
    assert index.search_pages(["compass"])[0].key == PageKey("acme", 0)
    assert index.page_count() == 1
    check_consistent(index)


def test_filing_read_by_another_version_is_read_again(folder: Path, index: SqliteIndex, plain: Prepare) -> None:
    put(folder, "a.pdf")
    ingest([folder], index, plain, workers=0)
    with index.writing() as connection:
        connection.execute("UPDATE filings SET reader_version = 'older'")
    assert outcomes(ingest([folder], index, plain, workers=0)) == {"a.pdf": Outcome.ADDED}
    assert outcomes(ingest([folder], index, never, workers=0)) == {"a.pdf": Outcome.UNCHANGED}


def test_removed_filing_is_read_again(folder: Path, index: SqliteIndex, plain: Prepare) -> None:
    put(folder, "a.pdf")
    ingest([folder], index, plain, workers=0)
    index.remove("a")
    assert outcomes(ingest([folder], index, plain, workers=0)) == {"a.pdf": Outcome.ADDED}


def test_same_name_with_other_content_is_refused(folder: Path, index: SqliteIndex, plain: Prepare) -> None:
    first = put(folder, "x/a.pdf", "one")
    second = put(folder, "y/a.pdf", "two")
    failure = ingest([first, second], index, plain, workers=0).failures[0]
    assert (failure.path, failure.doc_id) == (second, "a")
    assert str(first) in failure.reason and "doc_id 'a'" in failure.reason and "Rename" in failure.remedy
    failure = ingest([second], index, plain, workers=0).failures[0]  # also in a run of its own
    assert str(first) in failure.reason
    assert index.search_pages(["one"]) and not index.search_pages(["two"])
    first.unlink()
    assert ingest([second], index, plain, workers=0).count(Outcome.ADDED) == 1  # the name is free now
    assert index.search_pages(["two"]) and not index.search_pages(["one"])


def test_copies_are_one_filing(folder: Path, index: SqliteIndex, plain: Prepare) -> None:
    put(folder, "x/a.pdf", "one")
    put(folder, "y/a.pdf", "one")
    report = ingest([folder], index, plain, workers=0)
    assert report.count(Outcome.ADDED) == 2 and len(index.filings()) == 1
    assert not Manifest(index).unread()
    assert ingest([folder], index, never, workers=0).count(Outcome.UNCHANGED) == 2


def test_copies_of_a_file_that_fails_fail_alike(folder: Path, index: SqliteIndex, quick_readers: str) -> None:
    put(folder, "x/bad.pdf", "one")
    put(folder, "y/bad.pdf", "one")
    report = ingest([folder], index, reader(quick_readers, "failing"), workers=0)
    assert [file.outcome for file in report.files] == [Outcome.FAILED, Outcome.FAILED]
    assert len({file.reason for file in report.files}) == 1
    assert len(Manifest(index).unread()) == 2
    mended = ingest([folder], index, reader(quick_readers, "plain"), workers=0)
    assert mended.count(Outcome.ADDED) == 2 and len(index.filings()) == 1
    assert not Manifest(index).unread()


def test_copy_that_failed_before_is_read_with_the_other(folder: Path, index: SqliteIndex, quick_readers: str) -> None:
    copy = put(folder, "y/bad.pdf", "one")
    ingest([copy], index, reader(quick_readers, "failing"), workers=0)
    ingest([put(folder, "x/bad.pdf", "one")], index, reader(quick_readers, "plain"), workers=0)
    assert ingest([folder], index, never, workers=0).count(Outcome.UNCHANGED) == 2
    assert not Manifest(index).unread()


def test_file_named_twice_is_one_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(folder, "a.pdf")
    monkeypatch.chdir(folder)
    named = [Path("a.pdf"), path, folder, Path("../filings/a.pdf"), folder / "missing.pdf"]
    assert files_below(named) == [Path("a.pdf"), folder / "missing.pdf"]


def test_every_bad_file_is_named_and_the_rest_goes_in(
    folder: Path, index: SqliteIndex, write_pdf: WritePdf, sample_filings: Path
) -> None:
    good = shutil.copy(sample_filings / "quillmark_2024_8k.pdf", folder / "good.pdf")
    whole = Path(good).read_bytes()
    put(folder, "empty.pdf").write_bytes(b"")
    put(folder, "broken.pdf").write_bytes(b"%PDF-1.7\n" + bytes(range(256)) * 20)
    put(folder, "cut.pdf").write_bytes(whole[: len(whole) * 7 // 10])
    put(folder, "page.pdf").write_bytes(b"<html><body>" + b"<p>Total revenue was 5.</p>" * 50)
    with pymupdf.open(good) as document:
        document.save(folder / "locked.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="secret", owner_pw="o")
    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 60, 60))
    picture.clear_with(200)
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_image(page.rect, pixmap=picture)
        document.save(folder / "scanned.pdf")
    named = [folder, put(folder, "figures.xlsx"), folder / "not there.pdf"]
    report = ingest(named, index, prepare, workers=0)
    assert [record.doc_id for record in index.filings()] == ["good"]
    said = {file.path.name: f"{file.reason}. {file.remedy}" for file in report.failures}
    for name, words in {
        "empty.pdf": ("0 bytes", "Download"),
        "broken.pdf": ("broken", "Download"),
        "cut.pdf": ("cut off", "Download"),
        "page.pdf": ("named as a PDF but is not one", "rename it"),
        "locked.pdf": ("encrypted", "without a password"),
        "scanned.pdf": ("scanned", "OCR"),
        "figures.xlsx": ("`.xlsx` files are not supported", ".pdf"),
        "not there.pdf": ("no such file", "path"),
    }.items():
        for word in words:
            assert word in said.pop(name, "") if word is words[-1] else word in said[name], (name, word)
    assert said == {}
    with index.reading() as connection:
        kept = dict(connection.execute("SELECT doc_id, failure FROM ingested_files WHERE failure IS NOT NULL"))
    assert set(kept) == {"empty", "broken", "cut", "page", "locked", "scanned", "figures.xlsx"}
    assert ingest(named, index, prepare, workers=0).count(Outcome.FAILED) == 8  # told again, not forgotten


def test_filing_stays_when_its_file_breaks(folder: Path, index: SqliteIndex, quick_readers: str) -> None:
    failing = reader(quick_readers, "failing")
    path = put(folder, "a.pdf", "one")
    ingest([path], index, failing, workers=0)
    bad = put(folder, "bad.pdf")
    failure = ingest([folder], index, failing, workers=0).failures[0]
    assert failure.path == bad
    assert "ZeroDivisionError: a column without a width" in failure.reason and failure.remedy
    path.write_bytes(b"")
    assert ingest([path], index, prepare, workers=0).count(Outcome.FAILED) == 1
    assert index.search_pages(["one"])
    put(folder, "a.pdf", "one")  # the old content is back: nothing to read, and no failure is left
    assert ingest([path], index, never, workers=0).count(Outcome.UNCHANGED) == 1
    with index.reading() as connection:
        found = connection.execute("SELECT failure FROM ingested_files WHERE doc_id = 'a'").fetchall()
    assert [row[0] for row in found] == [None]


def test_filing_that_cannot_be_stored_does_not_end_the_run(
    folder: Path, index: SqliteIndex, quick_readers: str, check_consistent: Check
) -> None:
    for name in ("a.pdf", "bad.pdf", "c.pdf"):
        put(folder, name)
    report = ingest([folder], index, reader(quick_readers, "half_a_character"), workers=0)
    assert outcomes(report) == {"a.pdf": Outcome.ADDED, "bad.pdf": Outcome.FAILED, "c.pdf": Outcome.ADDED}
    assert "UnicodeEncodeError" in report.failures[0].reason
    check_consistent(index)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no file names that are no text")
def test_file_name_that_is_no_text(folder: Path, index: SqliteIndex, plain: Prepare) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.pdf")).write_text("latin", encoding="utf-8")
    put(folder, "good.pdf")
    report = ingest([folder], index, plain, workers=0)
    failure = report.failures[0]
    assert "not valid text" in failure.reason and "Rename" in failure.remedy
    assert str(failure.path).encode() and failure.doc_id == "caf\\udce9"
    assert report.count(Outcome.ADDED) == 1


@pytest.mark.skipif(os.name == "nt", reason="links need leave there")
def test_folders_that_are_links_are_entered_once(folder: Path, tmp_path: Path) -> None:
    elsewhere = put(tmp_path / "elsewhere", "deep/b.pdf")
    (tmp_path / "elsewhere" / "back").symlink_to(folder)
    (tmp_path / "elsewhere" / "deep" / "itself").symlink_to(".")
    put(folder, "z/c.pdf")
    (folder / "2025").symlink_to(tmp_path / "elsewhere")
    (folder / "again").symlink_to(tmp_path / "elsewhere")
    (folder / "a").symlink_to(folder / "z")
    put(folder, "a.pdf")
    expected = [folder / "2025" / "deep" / "b.pdf", folder / "a" / "c.pdf", folder / "a.pdf"]
    assert files_below([folder]) == sorted(expected)
    assert files_below([folder / "2025", elsewhere]) == [
        folder / "2025" / "back" / "a" / "c.pdf",
        folder / "2025" / "back" / "a.pdf",
        folder / "2025" / "deep" / "b.pdf",
    ]


@pytest.mark.skipif(os.name == "nt", reason="links need leave there")
def test_nothing_that_looks_like_a_filing_is_passed_over(folder: Path, index: SqliteIndex, plain: Prepare) -> None:
    put(folder, "good.pdf")
    (folder / "nowhere.pdf").symlink_to("not there.pdf")
    (folder / "circle.pdf").symlink_to("circle.pdf")
    (folder / "folder.pdf").mkdir()
    os.mkfifo(folder / "pipe.htm")
    closed = folder / "closed"
    put(closed, "inside.pdf")
    closed.chmod(0)
    enters = os.access(closed, os.R_OK)  # as root
    try:
        report = ingest([folder, folder / "circle.pdf"], index, plain, workers=0)
    finally:
        closed.chmod(0o700)
    unread = {file.path.name: file.remedy for file in report.failures}
    assert set(unread) == {"nowhere.pdf", "circle.pdf", "pipe.htm"} | (set() if enters else {"closed"})
    assert all(unread.values())
    assert report.count(Outcome.ADDED) == 1 + enters


def test_file_that_changes_while_it_is_read(
    folder: Path, index: SqliteIndex, sample_filings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the old content would stand under the new hash, and be taken for unchanged ever after."""
    file = folder / "report.pdf"
    shutil.copy(sample_filings / "quillmark_2024_8k.pdf", file)
    from fin_agent.filings import reader as reading

    def replaced_meanwhile(path: Path, **options: bool) -> object:
        document = read_document(path, **options)
        shutil.copy(sample_filings / "tellurond_2024_8k.pdf", path)
        return document

    read_document = reading.read_document
    with monkeypatch.context() as patched:
        patched.setattr(reading, "read_document", replaced_meanwhile)
        report = ingest([file], index, prepare, workers=0)
    assert "changed while it was being read" in report.failures[0].reason
    assert ingest([file], index, prepare, workers=0).count(Outcome.ADDED) == 1
    assert "Tellurond" in index.filing("report").identity.company


@pytest.mark.skipif(os.name == "nt", reason="no such names there")
def test_what_is_taken_in_is_carried_to_another_index(folder: Path, index: SqliteIndex, tmp_path: Path) -> None:
    made = prepare(Path(__file__).parents[2] / "examples" / "filings" / "quillmark_2024_8k.pdf")
    for name in (
        "no\u00a0break.pdf",
        "\u00c4rger \u682a\u5f0f.pdf",
        ".pdf",
        "two\nlines.pdf",
        "red\x1b[31m.pdf",
        "\u202epdf.pdf",
    ):
        put(folder, name, ascii(name))

    def any_filing(path: Path) -> PreparedFiling:
        return replace(made, filing=replace(made.filing, doc_id=doc_id_of(path), content_hash=content_hash(path)))

    report = ingest([folder], index, any_filing, workers=0)
    assert len(Manifest(index).unread()) == 4
    assert {file.path.name for file in report.failures} == {
        ".pdf",
        "two\nlines.pdf",
        "red\x1b[31m.pdf",
        "\u202epdf.pdf",
    }
    assert all("Rename" in file.remedy for file in report.failures)
    with SqliteIndex.create(tmp_path / "other") as other:
        assert copy_filings(index, other).count(CopyOutcome.COPIED) == 2


def test_crash_of_a_reader_loses_that_file_only(
    folder: Path, index: SqliteIndex, quick_readers: str, check_consistent: Check
) -> None:
    names = [f"f{number}.pdf" for number in range(6)] + ["crash1.pdf", "crash2.pdf"]
    for name in names:
        put(folder, name)
    seen: list[str] = []
    report = ingest(
        [folder], index, reader(quick_readers, "crashing"), workers=2, on_file=lambda file: seen.append(file.path.name)
    )
    assert sorted(seen) == sorted(names)  # every file is accounted for, once
    assert {file.path.name for file in report.failures} == {"crash1.pdf", "crash2.pdf"}
    assert all("the reader crashed" in file.reason and file.remedy for file in report.failures)
    assert len(index.filings()) == 6
    check_consistent(index)


@pytest.mark.skipif(os.name == "nt", reason="no signals there")
def test_worker_that_the_system_ends_is_not_the_fault_of_the_file(
    folder: Path, index: SqliteIndex, quick_readers: str
) -> None:
    put(folder, "killed.pdf")
    failure = ingest([folder], index, reader(quick_readers, "killed"), workers=1).failures[0]
    assert "memory ran out" in failure.reason and "--workers 0" in failure.remedy and "Download" not in failure.remedy


@pytest.mark.skipif(os.name == "nt", reason="no signals there")
def test_workers_that_are_killed_as_they_start(
    folder: Path, index: SqliteIndex, quick_readers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Advice on scripts would lead astray: memory is what there was too little of."""
    from fin_agent import process_pool

    put(folder, "a.pdf")
    monkeypatch.setattr(process_pool, "_serve", reader(quick_readers, "kill_this_process"))
    with pytest.raises(FinAgentError, match="memory ran out") as caught:
        ingest([folder], index, reader(quick_readers, "plain"), workers=1)
    assert "--workers 1" in caught.value.remedy and "__main__" not in caught.value.remedy


def test_a_script_needs_no_main_guard(folder: Path, tmp_path: Path, quick_readers: str) -> None:
    put(folder, "a.pdf")
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import sys
        from pathlib import Path
        sys.path.insert(0, {str(tmp_path / "modules")!r})
        from quick_readers import plain
        from fin_agent.index.ingest import ingest
        from fin_agent.index.sqlite import SqliteIndex
        with SqliteIndex.create(Path({str(tmp_path / "i")!r})) as index:
            ingest([Path({str(folder)!r})], index, plain, workers=1)
        """),
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    with SqliteIndex(tmp_path / "i") as index:
        assert index.entries()


def test_order_of_results_does_not_depend_on_file_names(
    sample_index: Path, sample_filings: Path, tmp_path: Path
) -> None:
    """The same filings under names that sort otherwise: each search gives the same pages in the same order."""
    renamed = tmp_path / "renamed"
    renamed.mkdir()
    paths = sorted(sample_filings.glob("*.pdf"))[::2]
    for position, path in enumerate(paths):
        shutil.copy(path, renamed / f"{(position * 7919) % 101:03d}-{len(paths) - position}.pdf")
    subset = [path.stem for path in paths]
    with (
        SqliteIndex(sample_index) as whole,
        SqliteIndex.create(tmp_path / "a") as again,
        SqliteIndex.create(tmp_path / "b") as index,
    ):
        for doc_id in subset:
            again.put(whole.stored(doc_id))
        assert not ingest([renamed], index, prepare, workers=0).failures
        assert {record.doc_id for record in again.filings()} == set(subset)
        for terms in (["revenue"], ["net sales", "cost of goods sold", "year"], ["cash", "inventory"], ["the"]):
            assert ranking(index, terms) == ranking(again, terms)
        assert [r.identity for r in index.filings()] == [r.identity for r in again.filings()]
        assert [r.summary for r in index.filings()] == [r.summary for r in again.filings()]


def ranking(index: SqliteIndex, terms: list[str]) -> list[tuple[str, int]]:
    hashes = {record.doc_id: record.content_hash for record in index.filings()}
    return [(hashes[hit.key.doc_id], hit.key.page) for hit in index.search_pages(terms, limit=60)]


def test_errors_of_the_index_end_the_run(folder: Path, index: SqliteIndex, plain: Prepare) -> None:
    put(folder, "a.pdf")
    with index.writing() as connection:
        connection.execute("DROP TABLE facts")
    with pytest.raises(FinAgentError, match="damaged or incomplete"):
        ingest([folder], index, plain, workers=0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no alarms there")
def test_time_is_limited_without_workers_as_well(
    folder: Path, index: SqliteIndex, quick_readers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An expression that does not come to an end holds the interpreter, and `workers=0` has no other process."""
    from fin_agent.index import ingest as ingesting
    from fin_agent.process_pool import Limits

    monkeypatch.setattr(ingesting, "READ_LIMITS", Limits(seconds=0.3))
    for name in ("a.pdf", "stuck.pdf", "z.pdf"):
        put(folder, name)
    report = ingest([folder], index, reader(quick_readers, "stuck_in_an_expression"), workers=0)
    assert [file.path.name for file in report.failures] == ["stuck.pdf"]
    assert "more time or memory" in report.failures[0].reason and report.count(Outcome.ADDED) == 2
