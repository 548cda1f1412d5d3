"""A file becomes a Filing, whatever it is called."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from fin_agent import prepare
from fin_agent.errors import ReadError
from fin_agent.filings.reader import READABLE, content_hash, doc_id_of, title_of
from fin_agent.vocabulary.filing import Filing, PassageKind
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import PageContent, Statement


@pytest.fixture(scope="module")
def filing(sample_filings: Path) -> Filing:
    return prepare(sample_filings / "quillmark_2023_10k.pdf").filing


def test_whole_filing(filing: Filing, sample_filings: Path) -> None:
    path = sample_filings / "quillmark_2023_10k.pdf"
    assert (filing.doc_id, filing.source) == ("quillmark_2023_10k", str(path.resolve()))
    assert filing.content_hash == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (filing.identity.form, filing.identity.fiscal_year) == (Form.TEN_K, 2023)
    assert [page.number for page in filing.pages] == list(range(len(filing.pages)))
    primary = {page.statement for page in filing.pages if page.statement}
    assert {Statement.INCOME, Statement.BALANCE_SHEET, Statement.CASH_FLOW} <= primary
    assert {page.item for page in filing.pages} >= {"1", "7", "8"}
    assert [passage.ordinal for passage in filing.passages] == list(range(len(filing.passages)))
    assert {passage.kind for passage in filing.passages} == set(PassageKind)
    assert {"revenue", "net_income", "total_assets"} <= {fact.metric for fact in filing.facts}
    order = [(fact.page, fact.line) for fact in filing.facts]
    assert order == sorted(order)


def test_name_changes_nothing_but_the_handle(filing: Filing, sample_filings: Path, tmp_path: Path) -> None:
    path = tmp_path / "APPLE_2019_10Q.PDF"
    shutil.copy(sample_filings / "quillmark_2023_10k.pdf", path)
    renamed = prepare(path).filing
    assert renamed == replace(filing, doc_id="APPLE_2019_10Q", source=str(path))


@pytest.mark.parametrize(
    ("name", "doc_id"),
    [
        ("3M_2018_10K.pdf", "3M_2018_10K"),
        ("a.b_dated-2022-01-28.PDF", "a.b_dated-2022-01-28"),
        ("x.htm", "x"),
        ("x.html", "x"),
        ("x.xhtml", "x"),
        ("x.htm.gz", "x"),
        ("x.html.GZ", "x"),
        ("x.pdf.gz", "x"),
        ("x.pdf.pdf", "x.pdf"),
        ("pdf", "pdf"),
        ("x.gz", "x.gz"),
        ("notes.txt", "notes.txt"),
    ],
)
def test_doc_id_is_the_name_without_its_ending(name: str, doc_id: str) -> None:
    assert doc_id_of(Path("/some.pdf/folder") / name) == doc_id


@pytest.mark.parametrize("name", ["figures.xlsx", "notes.txt", "no ending", "x.pdf.zip"])
def test_other_endings_are_refused_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"%PDF-1.7")
    with pytest.raises(ReadError, match="files are not supported") as raised:
        prepare(tmp_path / name)
    assert raised.value.subject == name
    assert ".pdf" in raised.value.remedy and ".pdf" in READABLE


def test_content_hash(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert content_hash(tmp_path / "a") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Table of Contents\n\n 45 \nCONSOLIDATED  BALANCE\tSHEETS\n(in millions)", "CONSOLIDATED BALANCE SHEETS"),
        ("Page 3 of 9\nxiv\nNote 5. Debt", "Note 5. Debt"),
        ("Net" * 100, "Net" * 40),
        ("\n1\n2\n", ""),
        ("", ""),
    ],
)
def test_title_is_the_first_line_that_says_something(text: str, title: str) -> None:
    assert title_of(PageContent(0, 1, 1, text, ())) == title
