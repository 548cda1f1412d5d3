"""`fin-agent ingest` from wherever the user stands."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pymupdf
import pytest
from typer.testing import CliRunner

from fin_agent.cli import app
from tests.cli.running import Ran


def test_modules_of_the_current_folder_are_not_loaded_by_workers(
    sample_html: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "types.py").write_text("raise SystemExit('a module of the folder was loaded')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    paths = sorted(sample_html.glob("*8k*.htm"))
    ran = CliRunner().invoke(app, ["ingest", *map(str, paths), "--index", str(tmp_path / "index"), "--workers", "1"])
    assert "PYTHONSAFEPATH" not in os.environ
    assert ran.exit_code == 0, ran.output
    assert "1 added" in ran.stdout


def test_pages_that_are_pictures_are_told_wherever_the_filing_is_shown(sample_filings: Path, tmp_path: Path) -> None:
    with pymupdf.open(sample_filings / "harborlight_2024q3_10q.pdf") as filing, pymupdf.open() as scanned:
        for page in filing:
            if page.number in (3, 4, 6):
                picture = page.get_pixmap(dpi=30)
                scanned.new_page().insert_image(page.rect, pixmap=picture)
            else:
                scanned.insert_pdf(filing, from_page=page.number, to_page=page.number)
        scanned.save(tmp_path / "report.pdf")
    index = ("--index", tmp_path / "index")
    ran = Ran("ingest", tmp_path / "report.pdf", *index, "--workers", 0)
    assert ran.code == 0
    assert "warning: report: pages 4-5, 7: nothing but a picture" in ran.err
    assert "warning: pages 4-5, 7: nothing but a picture" in Ran("check", "report", *index).out
    assert "warning: pages 4-5, 7: nothing but a picture" in Ran("show", "report", *index).out
    assert "warning: page 5: nothing but a picture" in Ran("show", "report", "--page", 5, *index).out
    assert "warning" not in Ran("show", "report", "--page", 6, *index).out
    assert len(Ran("show", "report", "--page", 5, *index, "--json").document["warnings"]) == 1


def test_sample_filings_give_no_warning(sample_index: Path) -> None:
    assert "warning: page" not in Ran("check", "--all", "--index", sample_index).out


def test_only_what_is_on_the_list_is_promised_to_be_there(sample_html: Path, tmp_path: Path) -> None:
    index = ("--index", tmp_path / "index", "--workers", 0)
    ran = Ran("ingest", tmp_path / "nowhere", *index)
    assert ran.code == 3
    assert "1 of 1 file could not be read" in ran.err and "index failures" not in ran.err and "others" not in ran.err
    (tmp_path / "empty.pdf").touch()
    ran = Ran("ingest", tmp_path / "nowhere", tmp_path / "empty.pdf", next(sample_html.glob("*8k*.htm")), *index)
    listed = f"`fin-agent index failures --index {index[1]}` lists them with remedies"
    assert f"2 of 3 files could not be read; {listed}" in ran.err


def test_copies_that_fail_are_no_others_in_the_index(tmp_path: Path) -> None:
    for folder in ("1", "2"):
        (tmp_path / "cut" / folder).mkdir(parents=True)
        (tmp_path / "cut" / folder / "x.pdf").write_bytes(b"%PDF-1.7\ncut off")
    ran = Ran("ingest", tmp_path / "cut", "--index", tmp_path / "index", "--workers", 0)
    assert "2 of 2 files could not be read" in ran.err
    assert "unchanged" not in ran.err and "others" not in ran.err
    assert len(Ran("index", "failures", "--index", tmp_path / "index", "--json").document["files"]) == 2


def test_file_that_is_gone_is_named_when_it_is_retried(tmp_path: Path) -> None:
    index = ("--index", tmp_path / "index", "--workers", 0)
    (tmp_path / "gone.pdf").touch()
    Ran("ingest", tmp_path / "gone.pdf", *index)
    (tmp_path / "gone.pdf").unlink()
    ran = Ran("ingest", "--retry-failed", *index)
    assert f"[1/1] {tmp_path / 'gone.pdf'}: failed: it is gone" in ran.err and "--forget-gone" in ran.err
    assert "reads them again" not in ran.err


@pytest.mark.skipif(os.name == "nt", reason="no such names there")
def test_strange_and_long_names_break_no_line_and_no_table(sample_html: Path, tmp_path: Path) -> None:
    folder = tmp_path / "two\nlines"
    folder.mkdir()
    (folder / "empty.pdf").touch()
    long = "x" * 240
    shutil.copy(next(sample_html.glob("*8k*.htm")), folder / f"{long}.htm")
    ran = Ran("ingest", folder, "--index", tmp_path / "index", "--workers", 0)
    assert "two lines/empty.pdf: failed" in ran.err
    listed = Ran("filings", "--index", tmp_path / "index").out
    assert "8-K" in listed and "Company" in listed
    assert listed.count("x") >= 240
