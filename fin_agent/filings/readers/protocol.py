"""The interface of PDF readers, the choice among them, and the reasons for refusing a file."""

from __future__ import annotations

import mmap
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from fin_agent.errors import ReadError, how_to_install
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.filing import ReadWarning
from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.place import Box

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


def refusal(path: Path, what: str, remedy: str = DOWNLOAD_AGAIN) -> ReadError:
    """Return the error for a file that is not read."""
    return ReadError(what, subject=path.name, remedy=remedy)


_SPLIT_IT = "Split it into its filings and ingest those"


def _refuse_other_files(path: Path) -> None:
    if not path.is_file():
        raise ReadError("there is no such file", subject=str(path), remedy="Check the path")
    with path.open("rb") as file:
        start = file.read(HTML_HEAD)
    if not start:
        raise refusal(path, "the file is empty (0 bytes)")
    if not is_pdf(start):
        # MuPDF goes by content and would lay out an HTML page, a picture or an e-book with this name.
        renaming = f"It is HTML: if a browser shows the filing in it, rename it to `{path.stem}.htm`; else download"
        remedy = f"{renaming} the filing again" if is_html(start) else DOWNLOAD_AGAIN
        raise refusal(path, "the file is named as a PDF but is not one", remedy)


def _within_limits(path: Path, pages: Iterable[PageContent]) -> Iterator[PageContent]:
    """Yield the pages as they are read. Raises ReadError at the first that exceeds the limits."""
    characters = 0
    for page in pages:
        if len(page.words) > MAX_WORDS_ON_PAGE:
            what = f"page {page.number + 1} has {len(page.words):,} words; at most {MAX_WORDS_ON_PAGE:,} are read"
            raise refusal(path, what, "Remove that page (for example with `qpdf`) and ingest the rest")
        characters += len(page.text)
        if characters > MAX_CHARACTERS:
            what = f"the PDF has more than {MAX_CHARACTERS:,} characters by page {page.number + 1}"
            raise refusal(path, what, _SPLIT_IT)
        yield page


def refuse_picture(path: Path, page: int, size: tuple[float, float], dpi: int) -> None:
    """Raise ReadError where a page of `size` points has too many pixels at `dpi` dots per inch."""
    width, height = (side * dpi / 72 for side in size)
    if not 1 <= width * height <= MAX_PIXELS:
        shape = f"{width:,.0f} x {height:,.0f} pixels at {dpi} dpi"
        what = f"page {page + 1} has {shape}; at most {MAX_PIXELS:,} are drawn"
        raise refusal(path, what, "Request fewer dots per inch")


def _refuse_textless(path: Path, pages: Sequence[PageContent], *, repaired: bool) -> None:
    """Raise ReadError where the pages contain almost no text: a scan, or the rest of a broken file."""
    characters = sum(len(page.text.strip()) for page in pages)
    if characters >= _TEXTLESS_CHARACTERS_PER_PAGE * len(pages):
        return
    if repaired:
        raise unreadable_error(path, f"only {characters} characters are left on {len(pages)} pages")
    held = f"its {len(pages)} pages contain" if len(pages) > 1 else "its only page contains"
    raise refusal(
        path,
        f"{held} almost no text ({characters} characters): it looks scanned, or is damaged",
        "Open it in a viewer: if pages are visible, run OCR (for example `ocrmypdf in.pdf out.pdf`)"
        " and ingest the result; if they are blank, download the filing again",
    )


def encrypted_error(path: Path) -> ReadError:
    """Return the error for a PDF that requires a password."""
    remedy = "Save a copy without a password (for example `qpdf --decrypt --password=... in.pdf out.pdf`)"
    return refusal(path, "the PDF is encrypted and asks for a password", remedy)


_PRINT_ANEW = f"{DOWNLOAD_AGAIN}; if a viewer opens it, print it to a new PDF"
TRUNCATED = "the PDF is cut off: its end is missing"


def unreadable_error(path: Path, reason: str) -> ReadError:
    """Return the error for a PDF that cannot be read for `reason`."""
    return refusal(path, f"the PDF is broken and cannot be repaired ({reason})", _PRINT_ANEW)


def missing_page_error(path: Path, page: int, count: int) -> ReadError:
    """Return the error for drawing or measuring a page that the PDF does not have; `page` is 0-based."""
    remedy = f"Name a page from 1 to {count:,}"
    return refusal(path, f"there is no page {page + 1}: the PDF has {count:,} pages", remedy)


def _is_truncated(path: Path, end_marks: Sequence[bytes]) -> bool:
    """Return whether none of `end_marks` follows the last object, as in an incomplete download."""
    content = path.read_bytes()
    return max(map(content.rfind, end_marks)) < max(content.rfind(b"endobj"), content.rfind(b"stream"), 0)


@dataclass(frozen=True, slots=True)
class OpenPdf:
    """A PDF that a library has opened. Pages are numbered from 0."""

    page_count: int
    """The number of pages that the file claims."""
    read_page: Callable[[int], PageContent]
    """Returns the content of a page."""
    size: Callable[[int], tuple[float, float]]
    """Returns width and height of a page as a viewer shows it, in points."""
    picture: Callable[[int, int], bytes]
    """Returns a page as a PNG picture, at so many dots per inch."""
    repaired: Callable[[], bool | None] = lambda: None
    """Returns whether the library had to repair what was read so far; None where it does not tell."""


@dataclass(frozen=True)
class PdfReader:
    """Reads and draws PDFs with one library; every error is a ReadError that names the file and the next step."""

    open: Callable[[Path], AbstractContextManager[OpenPdf]]
    """Opens a file that has a PDF header. Raises ReadError where it is broken or encrypted."""
    end_marks: tuple[bytes, ...]
    """What the library looks for at the end of a file; without any, it silently reads what is left."""

    def read_pdf(self, path: Path, *, accept_repaired: bool = False) -> list[PageContent]:
        """Return every page of the PDF, in order; a truncated file as far as it can be repaired with `accept_repaired`.

        Raises ReadError where it is missing, empty, not a PDF, broken, truncated, encrypted, scanned or too large.
        """
        _refuse_other_files(path)
        with self.open(path) as pdf:
            if not pdf.page_count:
                raise refusal(path, "the PDF has no pages")
            if pdf.page_count > MAX_PAGES:
                what = f"the PDF has {pdf.page_count:,} pages; at most {MAX_PAGES:,} are read"
                raise refusal(path, what, _SPLIT_IT)
            require_unpackable(path)
            pages = list(_within_limits(path, map(pdf.read_page, range(pdf.page_count))))
            repaired = pdf.repaired()
        if repaired is not False and not accept_repaired and _is_truncated(path, self.end_marks):
            remedy = f"{DOWNLOAD_AGAIN}; `fin-agent ingest --accept-repaired` reads what is left of it"
            raise refusal(path, TRUNCATED, remedy)
        _refuse_textless(path, pages, repaired=bool(repaired))
        return pages

    def page_size(self, path: Path, page: int) -> tuple[float, float]:
        """Return width and height of a page (0-based) as a viewer shows it, in points."""
        with self._showing(path, page) as pdf:
            return pdf.size(page)

    def render(self, path: Path, page: int, dpi: int) -> bytes:
        """Return a page (0-based) as a PNG picture at `dpi` dots per inch."""
        with self._showing(path, page) as pdf:
            refuse_picture(path, page, pdf.size(page), dpi)
            require_unpackable(path)
            return pdf.picture(page, dpi)

    @contextmanager
    def _showing(self, path: Path, page: int) -> Iterator[OpenPdf]:
        _refuse_other_files(path)
        with self.open(path) as pdf:
            if not 0 <= page < pdf.page_count:
                raise missing_page_error(path, page, pdf.page_count)
            yield pdf


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
    if name not in (MUPDF, PDFIUM):
        raise ReadError(f"there is no PDF reader `{name}`", remedy=f"Choose `{MUPDF}` or `{PDFIUM}`")
    if name == MUPDF:
        if not _is_installed("pymupdf"):
            raise ReadError(
                "PyMuPDF, which reads PDFs, is not installed",
                remedy=f"`pip install 'pymupdf<2'`, or {how_to_install('pdfium')}, for the reader on pypdfium2",
            )
        from fin_agent.filings.readers import mupdf

        return PdfReader(mupdf.open_pdf, (b"%%EOF",))
    if not _is_installed("pypdfium2"):
        raise ReadError(
            "the PDF reader `pdfium` needs pypdfium2, which is not installed",
            remedy=f"{how_to_install('pdfium')}, or choose the reader `{MUPDF}`",
        )
    from fin_agent.filings.readers import pdfium

    return PdfReader(pdfium.open_pdf, (b"%%EOF", b"startxref"))


def text_pages(texts: Sequence[str]) -> list[PageContent]:
    """Return one page per text. Raises ReadError where there is no text, or far too much.

    The pages have no words with positions, so no tables or figures are read from them: text alone does not show the
    column of a number, and what libraries make of columns is wrong too often.
    """
    if not any(text.strip() for text in texts):
        raise ReadError("no page has text", remedy="Scanned pages need text recognition before they are loaded")
    if len(texts) > MAX_PAGES:
        raise ReadError(f"{len(texts):,} pages are not a filing", remedy=f"A filing has at most {MAX_PAGES:,} pages")
    return [PageContent(number, 612.0, 792.0, text, ()) for number, text in enumerate(texts)]


def picture_warnings(pages: Iterable[PageContent]) -> Iterator[ReadWarning]:
    """Yield a warning for each page with a picture and hardly any words; small pictures such as logos do not count."""
    return (ReadWarning(_NOTHING_READ, page.number) for page in pages if page.pictured > _LEAST_SHARE)


def has_little_text(text: str) -> bool:
    """Return whether a page has so few letters (a number, a date stamp) that a picture may be all it shows."""
    return len(list(islice(filter(str.isalpha, text), _MIN_LETTERS))) < _MIN_LETTERS


def share_covered(page: Box, pictures: Iterable[Box]) -> float:
    """Return the share of the page that pictures cover, 0 to 1; a scan may consist of many strips."""
    inside = (
        Box(max(page.x0, box.x0), max(page.y0, box.y0), min(page.x1, box.x1), min(page.y1, box.y1)) for box in pictures
    )
    covered = sum((box.x1 - box.x0) * (box.y1 - box.y0) for box in inside if box.x1 > box.x0 and box.y1 > box.y0)
    return min(1.0, covered / ((page.x1 - page.x0) * (page.y1 - page.y0)))


_NOTHING_READ = (
    "nothing but a picture: what it says is not read. Run text recognition over the file (for example"
    " `ocrmypdf --skip-text in.pdf out.pdf`) and ingest the result"
)
_LEAST_SHARE = 0.25
"""Minimum share of the page; logos are well below, charts above a third."""
_MIN_LETTERS = 20


def _is_installed(package: str) -> bool:
    return find_spec(package) is not None


MAX_UNPACKED = 16 * 2**20
"""Limit in bytes for one stream; pages and fonts of filings stay below 2 MB."""


def require_unpackable(path: Path) -> None:
    """Raise ReadError where a stream unpacks to more than MAX_UNPACKED bytes.

    Pictures, encrypted streams, filters other than Flate and forms that draw forms are not checked; the limits of
    worker processes cover them.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for match in _STREAM.finditer(content):
            first, end = max(0, match.start() - _HEAD_WITHIN), content.find(b"endstream", match.end())
            head = content[max(first, content.rfind(b"obj", first, match.start())) : match.start()]
            # `/#46lateDecode` is `/FlateDecode` (PDF reference 1.7, section 3.2.4).
            head = _ENCODED.sub(lambda code: bytes([int(code[1], 16)]), head)
            packed = content[match.end() : end if end >= 0 else len(content)]
            filters = len(_FLATE.findall(head))
            if len(packed) * _MAX_PACKED**filters <= MAX_UNPACKED or _IMAGE.search(head):
                continue
            for _ in range(filters):
                with suppress(zlib.error):  # broken, or another filter comes first: the library reads what it can
                    packed = zlib.decompressobj().decompress(packed, MAX_UNPACKED + 1)
            if len(packed) > MAX_UNPACKED:
                what = f"one of its streams unpacks to more than {MAX_UNPACKED >> 20} MB; no page of a filing does"
                raise refusal(path, what, _PRINT_ANEW)


_MAX_PACKED = 1032
"""Deflate compresses at most 1,032 to 1."""
_STREAM = re.compile(rb"stream(?<!endstream)\r?\n")
_HEAD_WITHIN = 16_384
_FLATE = re.compile(rb"/(?:FlateDecode|Fl)\b")
_IMAGE = re.compile(rb"/Subtype\s*/Image\b")
_ENCODED = re.compile(rb"#([\da-fA-F]{2})")
