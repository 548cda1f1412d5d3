"""Read an HTML filing as a document: its pages and the tags on them."""

from __future__ import annotations

import gzip
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from fin_agent.errors import ReadError
from fin_agent.filings.html.blocks import blocks_of
from fin_agent.filings.html.typesetting import TypesetDocument, typeset
from fin_agent.filings.readers.protocol import DOWNLOAD_AGAIN, HTML_HEAD, MAX_PAGES, Document, is_html, is_pdf
from fin_agent.filings.xbrl.tags import read_tags
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.filing import ReadWarning

MAX_BYTES = 128 * 1024 * 1024
"""Limit for an unpacked file; EDGAR's own limit for a whole submission is lower."""

MAX_ELEMENTS = 2_000_000
"""Limit of elements: filings have tens of thousands, the largest of banks some hundred thousand."""


class ParsedHtml(NamedTuple):
    """The content of an HTML file."""

    roots: list[etree._Element]
    """The root elements of its documents."""
    warnings: tuple[ReadWarning, ...] = ()


def parse_html(path: Path) -> ParsedHtml:
    """Return the roots of the HTML documents in the file at `path`, which may be gzipped.

    There is one, except in EDGAR's full-submission text, of which the report and the exhibits for investors (EX-13,
    EX-99) are read. Well-formed XHTML, as inline XBRL must be, keeps its namespaces and letter case; other content is
    parsed leniently, with lower-case names.

    Raises:
        ReadError: The file is missing, empty, not HTML, truncated, damaged, or too large.
    """
    content = _bytes_of(path)
    if not content.strip():
        raise ReadError("the file is empty", subject=path.name, remedy=DOWNLOAD_AGAIN)
    if content[:2] == _GZIP:
        raise ReadError("the file is packed twice", subject=path.name, remedy="Unpack it once (`gunzip`) and ingest it")
    content, zeros = _without_zeros(_as_utf8(content), path)
    roots = [_parse(document, path) for document in _documents_in(content)]
    elements = sum(int(float(str(root.xpath("count(//*)")))) for root in roots)
    if elements > MAX_ELEMENTS:
        raise ReadError(
            f"the HTML has {elements:,} elements; at most {MAX_ELEMENTS:,} are read",
            subject=path.name,
            remedy="Check its source; split a collection into its filings and ingest those",
        )
    return ParsedHtml(roots, zeros)


def _without_zeros(content: bytes, path: Path) -> tuple[bytes, tuple[ReadWarning, ...]]:
    """Return `content` without zero bytes, as browsers read it.

    Raises ReadError where they replace lost content: there are many, or one is among the digits of a figure.
    """
    count = content.count(0)
    if not count:
        return content, ()
    left = content.replace(b"\x00", b"")
    if not is_html(left):
        raise _not_html_error(left, path)
    if count > _MAX_ZEROS or _IN_A_FIGURE.search(content):
        raise ReadError(
            f"the HTML is damaged: {count:,} zero bytes replace text",
            subject=path.name,
            remedy=DOWNLOAD_AGAIN,
        )
    said = f"{count} zero byte{'s' * (count > 1)} in the file left out: a letter may be missing there"
    return left, (ReadWarning(said),)


_MAX_ZEROS = 20
_IN_A_FIGURE = re.compile(rb"[\d.,]\x00|\x00[\d.,]")


def _parse(content: bytes, path: Path) -> etree._Element:
    if not is_html(content):
        raise _not_html_error(content, path)
    if _ends_in_a_tag(content):
        raise ReadError("the HTML is cut off: its end is missing", subject=path.name, remedy=DOWNLOAD_AGAIN)
    if _is_truncated(content):
        raise ReadError("the HTML is cut off: its end is missing", subject=path.name, remedy=_END_IT)
    try:
        return etree.fromstring(content, _xml_parser())
    except etree.XMLSyntaxError:
        return _decode_leniently(content, path)


def _not_html_error(content: bytes, path: Path) -> ReadError:
    name = re.sub(r"\.(?:html?|xhtml)(?:\.gz)?$", ".pdf", path.name, flags=re.I)
    remedy = f"It is a PDF: rename it to `{name}` and ingest that" if is_pdf(content) else DOWNLOAD_AGAIN
    return ReadError("the file is named as HTML but contains none", subject=path.name, remedy=remedy)


_END_IT = (
    "Download the filing again; if a browser shows it to its last page, save it again from there, or add `</html>` at"
    " the end of the file"
)
_HEAD = HTML_HEAD
_CHUNK = 1024 * 1024
_GZIP = b"\x1f\x8b"
_ENVELOPE = re.compile(rb"<DOCUMENT>\s*<TYPE>([^\r\n<]*)(?:(?!<DOCUMENT>).)*?<TEXT>(.*?)(?:</TEXT>|\Z)", re.I | re.S)
_READ_EXHIBITS = (b"EX-99", b"EX-13")
_DECLARED = re.compile(rb"<\?xml[^>]*\?>")
_OPEN_ROOT = re.compile(rb"<\s*(html|xhtml:html)\b", re.I)
_CLOSE_ROOT = re.compile(rb"</\s*(?:xhtml:)?html\s*>", re.I)
_CLOSE_BODY = re.compile(rb"</\s*(?:xhtml:)?body\s*>", re.I)
_OPEN_TABLE = re.compile(rb"<table\b", re.I)
_CLOSE_TABLE = re.compile(rb"</table\s*>", re.I)
_INLINE_XBRL = b"inlineXBRL"
_CHARSET = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?\s*([\w-]+)", re.I)


def _bytes_of(path: Path) -> bytes:
    if not path.is_file():
        raise ReadError("there is no such file", subject=str(path), remedy="Check the path")
    with path.open("rb") as file:
        packed = file.read(2) == _GZIP
    if not packed:
        if path.stat().st_size > MAX_BYTES:
            raise _too_large(path)
        return path.read_bytes()
    parts: list[bytes] = []
    length = 0
    try:
        with gzip.open(path) as file:
            while chunk := file.read(_CHUNK):
                length += len(chunk)
                if length > MAX_BYTES:
                    raise _too_large(path)
                parts.append(chunk)
    except EOFError as error:
        raise ReadError(
            "the gzip file is cut off: its end is missing", subject=path.name, remedy=DOWNLOAD_AGAIN
        ) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ReadError(f"the gzip file is damaged ({error})", subject=path.name, remedy=DOWNLOAD_AGAIN) from error
    return b"".join(parts)


def _too_large(path: Path) -> ReadError:
    return ReadError(
        f"it is larger than {MAX_BYTES // 1024**2} MB unpacked; no filing is that large",
        subject=path.name,
        remedy="Check its source; split a collection into its filings and ingest those",
    )


def _as_utf8(content: bytes) -> bytes:
    """Return UTF-16 content, recognized by its first two bytes, as UTF-8; other content unchanged."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return _DECLARED.sub(b"", content.decode("utf-16", errors="replace").encode(), count=1)
    return content


def _documents_in(content: bytes) -> list[bytes]:
    """Return the documents to be read from EDGAR's full-submission text, or `content` itself."""
    found = [(match[1].strip().upper(), match[2]) for match in _ENVELOPE.finditer(content)]
    if not found:
        return [_without_xbrl_envelope(content)]
    (_, report), *others = found
    exhibits = [text for kind, text in others if kind.startswith(_READ_EXHIBITS) and is_html(text)]
    return [_without_xbrl_envelope(text) for text in (report, *exhibits)]


def _without_xbrl_envelope(content: bytes) -> bytes:
    start = re.match(rb"\s*<XBRL>\s*", content[:200], re.I)
    if start is None:
        return content.lstrip()
    end = content.lower().rfind(b"</xbrl>")
    return content[start.end() : end if end > 0 else len(content)].lstrip()


def _ends_in_a_tag(content: bytes) -> bool:
    tail = content[-4096:]
    return tail.rfind(b"<") > tail.rfind(b">")


def _is_truncated(content: bytes) -> bool:
    """Return whether a document or a table has no end.

    Hand-written HTML may omit either `</html>` or `</body>`, or have neither of these elements.
    """
    if _OPEN_ROOT.search(content, 0, _HEAD) is None or _CLOSE_ROOT.search(content, max(0, len(content) - _HEAD)):
        return False
    if _INLINE_XBRL in content[:_HEAD] or not _CLOSE_BODY.search(content, max(0, len(content) - _HEAD)):
        return True
    return len(_OPEN_TABLE.findall(content)) > len(_CLOSE_TABLE.findall(content))


def _xml_parser() -> etree.XMLParser:
    # Entities a file defines itself are not expanded, and nothing is fetched: a filing is data.
    return etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True, remove_comments=True
    )


def _decode_leniently(content: bytes, path: Path) -> etree._Element:
    parser = etree.HTMLParser(encoding=_encoding_of(content), remove_comments=True, huge_tree=True, no_network=True)
    try:
        root = etree.fromstring(content, parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise ReadError(f"the HTML cannot be parsed ({error})", subject=path.name, remedy=DOWNLOAD_AGAIN) from error
    if any(entry.type_name == _TOO_DEEP for entry in parser.error_log):
        raise ReadError(
            "its elements are nested thousands deep, unlike those of any filing",
            subject=path.name,
            remedy="Save the page again from a browser, or give the filing as PDF",
        )
    if root is None:
        raise ReadError("the HTML contains no element", subject=path.name, remedy=DOWNLOAD_AGAIN)
    return root


_TOO_DEEP = "ERR_RESOURCE_LIMIT"


def _encoding_of(content: bytes) -> str:
    """Return UTF-8 where the bytes are valid, otherwise the declared encoding, otherwise Windows-1252."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        found = _CHARSET.search(content, 0, 2048)
        declared = found[1].decode("ascii") if found else ""
        return declared if declared and declared.lower() not in ("utf-8", "utf8", "us-ascii", "ascii") else "cp1252"
    return "utf-8"


def read_html(path: Path) -> Document:
    """Read the HTML file at `path`, also gzipped (`.htm`, `.html`, `.htm.gz`, `.html.gz`).

    Pages are those that the file marks, otherwise sheets of letter size.

    Raises:
        ReadError: The file is missing, empty, not HTML, truncated, damaged, without text, or too large.
    """
    document = TypesetDocument()
    tags: list[Tag] = []
    parsed = parse_html(path)
    warnings: list[ReadWarning] = list(parsed.warnings)
    for root in parsed.roots:
        tagged = read_tags(root)
        document = typeset(blocks_of(root, tagged.elements, first_tag=len(tags)), document)
        tags += tagged.tags
        warnings += tagged.warnings
    if not document.pages:
        raise ReadError(
            "the HTML contains no visible text",
            subject=path.name,
            remedy="Check that it is the filing itself and not a viewer page or an index of files",
        )
    if len(document.pages) > MAX_PAGES:
        raise ReadError(
            f"the HTML has {len(document.pages):,} pages; at most {MAX_PAGES:,} are read",
            subject=path.name,
            remedy="Split it into its filings and ingest those",
        )
    for position, place in document.places.items():
        tags[position] = replace(tags[position], page=place.page, box=place.box)
    return Document(tuple(document.pages), tuple(tags), tuple(warnings))
