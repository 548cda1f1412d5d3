"""The interface of PDF readers, the choice among them, and the reasons for refusing a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from fin_agent.errors import ReadError, how_to_install
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.filing import ReadWarning
from fin_agent.vocabulary.page import PageContent

MAX_PAGES = 10_000
"""A longer file is not a filing; reading stops with a message instead of exhausting memory."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file's pages, and its tags and warnings."""

    pages: tuple[PageContent, ...]
    tags: tuple[Tag, ...] = ()
    warnings: tuple[ReadWarning, ...] = ()


HTML_HEAD = 65_536
"""Number of first bytes in which HTML is recognized."""
_PDF_HEAD = 1024
"""Readers accept a PDF header anywhere in the first 1,024 bytes (PDF reference 1.7, appendix H, note 13)."""
_HTML = re.compile(rb"<\s*(?:!doctype\s+html|html|head|body|div|table|p|font|pre|h\d|span|ix:)\b", re.I)


def is_pdf(content: bytes) -> bool:
    """Return whether content begins with a PDF header."""
    return b"%PDF-" in content[:_PDF_HEAD]


def is_html(content: bytes) -> bool:
    """Return whether an HTML element occurs near the beginning."""
    return _HTML.search(content, 0, HTML_HEAD) is not None


DOWNLOAD_AGAIN = "Download the filing again"
MAX_WORDS_ON_PAGE = 50_000
"""Thirty times the words on the fullest pages of filings."""
MAX_CHARACTERS = 15_000_000
"""Limit for a whole file: ten times the longest filings, and nearly a gigabyte as words with positions."""
MAX_PIXELS = 50_000_000
"""Limit for a page's picture; a letter page at 600 dots per inch has 34 million."""
_TEXTLESS_CHARACTERS_PER_PAGE = 25


def refuse_unreadable(path: Path) -> None:
    """Raise ReadError where the file is missing, empty, or has no PDF header."""
    if not path.is_file():
        raise ReadError("there is no such file", subject=str(path), remedy="Check the path")
    with path.open("rb") as file:
        start = file.read(HTML_HEAD)
    if not start:
        raise ReadError("the file is empty (0 bytes)", subject=path.name, remedy=DOWNLOAD_AGAIN)
    if not is_pdf(start):
        # MuPDF goes by content and would lay out an HTML page, a picture or an e-book with this name.
        renaming = f"It is HTML: if a browser shows the filing in it, rename it to `{path.stem}.htm`; else download"
        remedy = f"{renaming} the filing again" if is_html(start) else DOWNLOAD_AGAIN
        raise ReadError("the file is named as a PDF but is not one", subject=path.name, remedy=remedy)


def refuse_page_count(path: Path, count: int) -> None:
    """Raise ReadError where a PDF has no pages, or more than MAX_PAGES."""
    if count == 0:
        raise ReadError("the PDF has no pages", subject=path.name, remedy=DOWNLOAD_AGAIN)
    if count > MAX_PAGES:
        raise ReadError(
            f"the PDF has {count:,} pages; at most {MAX_PAGES:,} are read",
            subject=path.name,
            remedy="Split it into its filings and ingest those",
        )


def limit_pages(path: Path, pages: Iterable[PageContent]) -> Iterator[PageContent]:
    """Yield the pages as they are read. Raises ReadError at the first that exceeds the limits."""
    characters = 0
    for page in pages:
        if len(page.words) > MAX_WORDS_ON_PAGE:
            raise ReadError(
                f"page {page.number + 1} has {len(page.words):,} words; at most {MAX_WORDS_ON_PAGE:,} are read",
                subject=path.name,
                remedy="Remove that page (for example with `qpdf`) and ingest the rest",
            )
        characters += len(page.text)
        if characters > MAX_CHARACTERS:
            raise ReadError(
                f"the PDF has more than {MAX_CHARACTERS:,} characters by page {page.number + 1}",
                subject=path.name,
                remedy="Split it into its filings and ingest those",
            )
        yield page


def refuse_picture(path: Path, page: int, size: tuple[float, float], dpi: int) -> None:
    """Raise ReadError where a page of `size` points has too many pixels at `dpi` dots per inch."""
    width, height = (side * dpi / 72 for side in size)
    if not 1 <= width * height <= MAX_PIXELS:
        raise ReadError(
            f"page {page + 1} has {width:,.0f} x {height:,.0f} pixels at {dpi} dpi; at most {MAX_PIXELS:,} are drawn",
            subject=path.name,
            remedy="Request fewer dots per inch",
        )


def refuse_textless(path: Path, pages: Sequence[PageContent], *, repaired: bool) -> None:
    """Raise ReadError where the pages contain almost no text: a scan, or the rest of a broken file."""
    characters = sum(len(page.text.strip()) for page in pages)
    if characters >= _TEXTLESS_CHARACTERS_PER_PAGE * len(pages):
        return
    if repaired:
        raise unreadable_error(path, f"only {characters} characters are left on {len(pages)} pages")
    held = f"its {len(pages)} pages contain" if len(pages) > 1 else "its only page contains"
    raise ReadError(
        f"{held} almost no text ({characters} characters): it looks scanned, or is damaged",
        subject=path.name,
        remedy="Open it in a viewer: if pages are visible, run OCR (for example `ocrmypdf in.pdf out.pdf`)"
        " and ingest the result; if they are blank, download the filing again",
    )


def encrypted_error(path: Path) -> ReadError:
    """Return the error for a PDF that requires a password."""
    return ReadError(
        "the PDF is encrypted and asks for a password",
        subject=path.name,
        remedy="Save a copy without a password (for example `qpdf --decrypt --password=... in.pdf out.pdf`)",
    )


def truncated_error(path: Path) -> ReadError:
    """Return the error for a PDF whose end is missing."""
    return ReadError(
        TRUNCATED,
        subject=path.name,
        remedy=f"{DOWNLOAD_AGAIN}; `fin-agent ingest --accept-repaired` reads what is left of it",
    )


TRUNCATED = "the PDF is cut off: its end is missing"


def unreadable_error(path: Path, reason: str) -> ReadError:
    """Return the error for a PDF that cannot be read for `reason`."""
    return ReadError(
        f"the PDF is broken and cannot be repaired ({reason})",
        subject=path.name,
        remedy="Download the filing again; if a viewer opens it, print it to a new PDF",
    )


def missing_page_error(path: Path, page: int, count: int) -> ReadError:
    """Return the error for drawing or measuring a page that the PDF does not have; `page` is 0-based."""
    return ReadError(
        f"there is no page {page + 1}: the PDF has {count:,} pages",
        subject=path.name,
        remedy=f"Name a page from 1 to {count:,}",
    )


def is_truncated(path: Path, *end_marks: bytes) -> bool:
    """Return whether none of `end_marks` follows the last object, as in an incomplete download."""
    content = path.read_bytes()
    end = max(content.rfind(mark) for mark in end_marks)
    return end < max(content.rfind(b"endobj"), content.rfind(b"stream"), 0)


class PdfReader(Protocol):
    """Reads and draws PDFs. The modules `mupdf` and `pdfium` implement it."""

    def read_pdf(self, path: Path, *, accept_repaired: bool = False) -> list[PageContent]:
        """Return every page of the PDF, in order; raise ReadError naming the file and the next step.

        With `accept_repaired`, a file whose end is missing is read as far as the library can repair it.
        """

    def page_size(self, path: Path, page: int) -> tuple[float, float]:
        """Return width and height of a page (0-based) as a viewer shows it, in points."""

    def render(self, path: Path, page: int, dpi: int) -> bytes:
        """Return a page (0-based) as a PNG picture at `dpi` dots per inch."""


MUPDF = "mupdf"
PDFIUM = "pdfium"


def pdf_reader(name: str | None = None) -> PdfReader:
    """Return the reader called `mupdf` (PyMuPDF) or `pdfium` (pypdfium2).

    The default is PyMuPDF, or pypdfium2 if PyMuPDF is not installed, so that a product can leave the AGPL library out.

    Raises:
        ReadError: The name is unknown, or the library is not installed.
    """
    if name is None:
        name = PDFIUM if not _is_installed("pymupdf") and _is_installed("pypdfium2") else MUPDF
    if name == MUPDF:
        if not _is_installed("pymupdf"):
            raise ReadError(
                "PyMuPDF, which reads PDFs, is not installed",
                remedy=f"`pip install 'pymupdf<2'`, or {how_to_install('pdfium')}, for the reader on pypdfium2",
            )
        from fin_agent.filings.readers import mupdf

        return mupdf
    if name == PDFIUM:
        if not _is_installed("pypdfium2"):
            raise ReadError(
                "the PDF reader `pdfium` needs pypdfium2, which is not installed",
                remedy=f"{how_to_install('pdfium')}, or choose the reader `{MUPDF}`",
            )
        from fin_agent.filings.readers import pdfium

        return pdfium
    raise ReadError(f"there is no PDF reader `{name}`", remedy=f"Choose `{MUPDF}` or `{PDFIUM}`")


def _is_installed(package: str) -> bool:
    return find_spec(package) is not None
