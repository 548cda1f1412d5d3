"""Which PDF reader reads: the one named, else PyMuPDF, else what is installed."""

from __future__ import annotations

import pytest

from fin_agent.errors import ReadError
from fin_agent.filings.readers import protocol
from fin_agent.filings.readers.protocol import pdf_reader


def installed(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    monkeypatch.setattr(protocol, "_is_installed", packages.__contains__)


def test_the_reader_named_or_pymupdf(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, "pymupdf", "pypdfium2")
    names = [pdf_reader(name).open.__module__.rpartition(".")[2] for name in (None, "mupdf", "pdfium")]
    assert names == ["mupdf", "mupdf", "pdfium"]


def test_without_pymupdf_the_permissive_one(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, "pypdfium2")
    assert pdf_reader() == pdf_reader("pdfium")
    with pytest.raises(ReadError, match=r"PyMuPDF.*not installed.*pip install 'pymupdf<2'"):
        pdf_reader("mupdf")


def test_what_is_not_installed_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, "pymupdf")
    with pytest.raises(ReadError, match=r'pip install "\.\[pdfium\]"'):
        pdf_reader("pdfium")
    installed(monkeypatch)
    with pytest.raises(ReadError, match=r"pip install 'pymupdf<2'.*\[pdfium\]"):
        pdf_reader()


def test_unknown_name() -> None:
    with pytest.raises(ReadError, match=r"no PDF reader `acrobat`.*`mupdf` or `pdfium`"):
        pdf_reader("acrobat")
