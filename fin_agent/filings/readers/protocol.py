"""What a PDF reader does, and which one reads."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from fin_agent.errors import ReadError, how_to_install
from fin_agent.vocabulary.page import PageContent


class PdfReader(Protocol):
    """Reads and draws PDFs. The modules `mupdf` and `pdfium` are such readers."""

    def read_pdf(self, path: Path) -> list[PageContent]:
        """Every page of the PDF, in order; raises ReadError naming the file and the next step."""

    def page_size(self, path: Path, page: int) -> tuple[float, float]:
        """Width and height of a page (0-based) as a viewer shows it, in points."""

    def render(self, path: Path, page: int, dpi: int) -> bytes:
        """A page (0-based) as a PNG picture, `dpi` dots an inch."""


MUPDF = "mupdf"
PDFIUM = "pdfium"


def pdf_reader(name: str | None = None) -> PdfReader:
    """The reader called `mupdf` (PyMuPDF) or `pdfium` (pypdfium2).

    Without a name it is PyMuPDF, and pypdfium2 only where PyMuPDF is not installed: who ships a product may take the
    AGPL library out. Raises ReadError for another name, and for a library that is not installed.
    """
    if name is None:
        name = PDFIUM if not _is_installed("pymupdf") and _is_installed("pypdfium2") else MUPDF
    if name == MUPDF:
        return _mupdf()
    if name == PDFIUM:
        return _pdfium()
    raise ReadError(f"there is no PDF reader `{name}`", remedy=f"Choose `{MUPDF}` or `{PDFIUM}`")


def _mupdf() -> PdfReader:
    if not _is_installed("pymupdf"):
        raise ReadError(
            "PyMuPDF, which reads PDFs, is not installed",
            remedy=f"`pip install pymupdf`, or {how_to_install('pdfium')}, for the reader on pypdfium2",
        )
    from fin_agent.filings.readers import mupdf

    return mupdf


def _pdfium() -> PdfReader:
    if not _is_installed("pypdfium2"):
        raise ReadError(
            "the PDF reader `pdfium` needs pypdfium2, which is not installed",
            remedy=f"{how_to_install('pdfium')}, or choose the reader `{MUPDF}`",
        )
    from fin_agent.filings.readers import pdfium

    return pdfium


def _is_installed(package: str) -> bool:
    return find_spec(package) is not None
