"""Pages of a PDF, as PyMuPDF gives them: text in reading order and words with their places."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fin_agent.errors import ReadError
from fin_agent.filings.filing import PageContent, Word

if TYPE_CHECKING:
    import pymupdf

MAX_PAGES = 10_000
"""A longer file is not a filing; reading stops with a message instead of filling the memory."""
_TEXTLESS_CHARACTERS_PER_PAGE = 25
_HEADER_WITHIN = 1024
"""Readers accept a PDF header anywhere in the first 1,024 bytes (PDF reference 1.7, appendix H, note 13)."""
_DOWNLOAD_AGAIN = "Download the filing again"


def read_pdf(path: Path) -> list[PageContent]:
    """Read every page of the PDF at `path`, in order.

    Raises ReadError where the file is missing, empty, no PDF, broken, cut off, encrypted, scanned (textless) or far
    too long; the error names the file and the next step.
    """
    with _open(path) as document:
        pages = [_read_page(document[number], number) for number in range(document.page_count)]
        repaired = document.is_repaired
    if repaired and _is_cut_off(path):
        # MuPDF repairs such a file silently; the pages that it no longer holds come back blank or not at all.
        raise ReadError("the PDF is cut off: its end is missing", subject=path.name, remedy=_DOWNLOAD_AGAIN)
    characters = sum(len(page.text.strip()) for page in pages)
    if characters < _TEXTLESS_CHARACTERS_PER_PAGE * len(pages):
        if repaired:
            raise _broken(path, f"only {characters} characters are left on {len(pages)} pages")
        raise ReadError(
            f"its {len(pages)} pages hold almost no text ({characters} characters): it looks scanned",
            subject=path.name,
            remedy="Run it through OCR (for example `ocrmypdf in.pdf out.pdf`) and ingest the result",
        )
    return pages


@contextmanager
def _open(path: Path) -> Iterator[pymupdf.Document]:
    import pymupdf  # half a second that only reading needs: asking and searching import this module too

    _refuse_unreadable(path)
    # MuPDF prints repairs and warnings on stderr; what matters reaches the caller as an error.
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        with pymupdf.open(path, filetype="pdf") as document:
            _refuse_closed(document, path)
            yield document
    except (RuntimeError, ValueError, pymupdf.mupdf.FzErrorBase) as error:
        raise _broken(path, str(error).replace(str(path), path.name).rstrip(".")) from error


def _refuse_closed(document: pymupdf.Document, path: Path) -> None:
    if document.needs_pass:
        raise ReadError(
            "the PDF is encrypted and asks for a password",
            subject=path.name,
            remedy="Save a copy without a password (for example `qpdf --decrypt --password=... in.pdf out.pdf`)",
        )
    if document.page_count == 0:
        raise ReadError("the PDF has no pages", subject=path.name, remedy=_DOWNLOAD_AGAIN)
    if document.page_count > MAX_PAGES:
        raise ReadError(
            f"the PDF has {document.page_count:,} pages; at most {MAX_PAGES:,} are read",
            subject=path.name,
            remedy="Split it into its filings and ingest those",
        )


def _refuse_unreadable(path: Path) -> None:
    if not path.is_file():
        raise ReadError("there is no such file", subject=str(path), remedy="Check the path")
    with path.open("rb") as file:
        start = file.read(_HEADER_WITHIN)
    if not start:
        raise ReadError("the file is empty (0 bytes)", subject=path.name, remedy=_DOWNLOAD_AGAIN)
    if b"%PDF-" not in start:
        # MuPDF goes by content and would lay out an HTML page, a picture or an e-book that is named so.
        raise ReadError("the file is named as a PDF but is none", subject=path.name, remedy=_DOWNLOAD_AGAIN)


def _is_cut_off(path: Path) -> bool:
    """Whether no end mark follows the last object, as in a file that was not copied or downloaded to its end."""
    content = path.read_bytes()
    return content.rfind(b"%%EOF") < max(content.rfind(b"endobj"), content.rfind(b"stream"), 0)


def _broken(path: Path, reason: str) -> ReadError:
    return ReadError(
        f"the PDF is broken and cannot be repaired ({reason})",
        subject=path.name,
        remedy="Download the filing again; if a viewer opens it, print it to a new PDF",
    )


def _read_page(page: pymupdf.Page, number: int) -> PageContent:
    textpage = page.get_textpage()
    words = page.get_text("words", textpage=textpage)
    if page.rotation:  # MuPDF gives places on the page as it was before it was turned
        words = [(*(page.rect.__class__(word[:4]) * page.rotation_matrix), word[4]) for word in words]
    return PageContent(
        number=number,
        width=page.rect.width,
        height=page.rect.height,
        text=page.get_text("text", textpage=textpage),
        words=tuple(Word(*word[:5]) for word in words),
    )
