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


def read_pdf(path: Path) -> list[PageContent]:
    """Read every page of the PDF at `path`, in order.

    Raises ReadError where the file is missing, empty, broken, encrypted, scanned (textless) or far too long; the
    error names the file and the next step.
    """
    with _open(path) as document:
        pages = [_read_page(document[number], number) for number in range(document.page_count)]
    characters = sum(len(page.text.strip()) for page in pages)
    if characters < _TEXTLESS_CHARACTERS_PER_PAGE * len(pages):
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
        document = pymupdf.open(path, filetype="pdf")
    except (pymupdf.FileDataError, pymupdf.EmptyFileError, RuntimeError, ValueError) as error:
        raise _broken(path, error) from error
    try:
        if document.needs_pass:
            raise ReadError(
                "the PDF is encrypted and asks for a password",
                subject=path.name,
                remedy="Save a copy without a password (for example `qpdf --decrypt --password=... in.pdf out.pdf`)",
            )
        if document.page_count == 0:
            raise ReadError("the PDF has no pages", subject=path.name, remedy="Download the filing again")
        if document.page_count > MAX_PAGES:
            raise ReadError(
                f"the PDF has {document.page_count:,} pages; at most {MAX_PAGES:,} are read",
                subject=path.name,
                remedy="Split it into its filings and ingest those",
            )
        try:
            yield document
        except (RuntimeError, ValueError) as error:
            raise _broken(path, error) from error
    finally:
        document.close()


def _refuse_unreadable(path: Path) -> None:
    if not path.is_file():
        raise ReadError("there is no such file", subject=str(path), remedy="Check the path")
    if path.stat().st_size == 0:
        raise ReadError("the file is empty (0 bytes)", subject=path.name, remedy="Download the filing again")


def _broken(path: Path, error: Exception) -> ReadError:
    return ReadError(
        f"the PDF is broken and cannot be repaired ({error})",
        subject=path.name,
        remedy="Download the filing again; if a viewer opens it, print it to a new PDF",
    )


def _read_page(page: pymupdf.Page, number: int) -> PageContent:
    textpage = page.get_textpage()
    words = page.get_text("words", textpage=textpage)
    return PageContent(
        number=number,
        width=page.rect.width,
        height=page.rect.height,
        text=page.get_text("text", textpage=textpage),
        words=tuple(Word(*word[:5]) for word in words),
    )
