"""Read an HTML filing as a document: its pages and the tags on them."""

from __future__ import annotations

import gzip
import re
import zlib
from dataclasses import replace
from pathlib import Path

from lxml import etree

from fin_agent.errors import ReadError
from fin_agent.filings.html.blocks import blocks_of
from fin_agent.filings.html.typesetting import TypesetDocument, typeset
from fin_agent.filings.readers.protocol import DOWNLOAD_AGAIN, HTML_HEAD, MAX_PAGES, Document, is_html, is_pdf, refusal
from fin_agent.filings.xbrl.tags import read_tags
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.filing import ReadWarning

MAX_BYTES = 128 * 1024 * 1024
"""Limit for an unpacked file; EDGAR's own limit for a whole submission is lower."""

MAX_ELEMENTS = 2_000_000
"""Limit of elements: filings have tens of thousands, the largest of banks some hundred thousand."""


def parse_html(path: Path) -> list[etree._Element]:
    """Return the roots of the HTML documents in the file at `path`, which may be gzipped.

    There is one, except in EDGAR's full-submission text, of which the report and the exhibits for investors (EX-13,
    EX-99) are read. XHTML keeps its namespaces and letter case; other content is parsed leniently, in lower case.
    Raises ReadError where the file is missing, empty, not HTML, truncated, damaged, or too large.
    """
    content = _bytes_of(path)
    if not content.strip():
        raise refusal(path, "the file is empty")
    if content[:2] == _GZIP:
        raise refusal(path, "the file is packed twice", "Unpack it once (`gunzip`) and ingest it")
    if content[:2] in _UTF_16:
        content = re.sub(rb"<\?xml[^>]*\?>", b"", content.decode("utf-16", errors="replace").encode(), count=1)
    roots = [_parse(document, path) for document in _documents_in(content)]
    elements = sum(int(float(str(root.xpath("count(//*)")))) for root in roots)
    if elements > MAX_ELEMENTS:
        raise refusal(path, f"the HTML has {elements:,} elements; at most {MAX_ELEMENTS:,} are read", _SPLIT_IT)
    return roots


def _parse(content: bytes, path: Path) -> etree._Element:
    if not is_html(content):
        name = re.sub(r"\.(?:html?|xhtml)(?:\.gz)?$", ".pdf", path.name, flags=re.I)
        remedy = f"It is a PDF: rename it to `{name}` and ingest that" if is_pdf(content) else DOWNLOAD_AGAIN
        raise refusal(path, "the file is named as HTML but contains none", remedy)
    if b"\0" in content:
        raise refusal(path, "the HTML is damaged: zero bytes replace text")
    in_a_tag = content.rfind(b"<", -_TAIL) > content.rfind(b">", -_TAIL)
    if in_a_tag or _is_truncated(content):
        remedy = DOWNLOAD_AGAIN if in_a_tag else _END_IT
        raise refusal(path, "the HTML is cut off: its end is missing", remedy)
    try:
        # Entities that a file defines itself are not expanded, and nothing is fetched: a filing is data.
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True, remove_comments=True
        )
        return etree.fromstring(content, parser)
    except etree.XMLSyntaxError:
        return _parse_leniently(content, path)


_END_IT = (
    "Download the filing again; if a browser shows it to its last page, save it again from there, or add `</html>` at"
    " the end of the file"
)
_SPLIT_IT = "Check its source; split a collection into its filings and ingest those"
_TAIL = 4096
_GZIP = b"\x1f\x8b"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_ENVELOPE = re.compile(rb"<DOCUMENT>\s*<TYPE>([^\r\n<]*)(?:(?!<DOCUMENT>).)*?<TEXT>(.*?)(?:</TEXT>|\Z)", re.I | re.S)
_READ_EXHIBITS = (b"EX-99", b"EX-13")
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
    try:
        with gzip.open(path) if packed else path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except EOFError as error:
        raise refusal(path, "the gzip file is cut off: its end is missing") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise refusal(path, f"the gzip file is damaged ({error})") from error
    if len(content) > MAX_BYTES:
        what = f"it is larger than {MAX_BYTES >> 20} MB unpacked; no filing is that large"
        raise refusal(path, what, _SPLIT_IT)
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


def _is_truncated(content: bytes) -> bool:
    """Return whether a document or a table has no end; hand-written HTML may omit `</html>` or `</body>`."""
    end = max(0, len(content) - HTML_HEAD)
    if _OPEN_ROOT.search(content, 0, HTML_HEAD) is None or _CLOSE_ROOT.search(content, end):
        return False
    if _INLINE_XBRL in content[:HTML_HEAD] or not _CLOSE_BODY.search(content, end):
        return True
    return len(_OPEN_TABLE.findall(content)) > len(_CLOSE_TABLE.findall(content))


def _parse_leniently(content: bytes, path: Path) -> etree._Element:
    parser = etree.HTMLParser(encoding=_encoding_of(content), remove_comments=True, huge_tree=True, no_network=True)
    try:
        root = etree.fromstring(content, parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise refusal(path, f"the HTML cannot be parsed ({error})") from error
    if any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log):
        remedy = "Save the page again from a browser, or give the filing as PDF"
        raise refusal(path, "its elements are nested thousands deep, unlike those of any filing", remedy)
    if root is None:
        raise refusal(path, "the HTML contains no element")
    return root


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
    """Read the HTML file at `path`, also gzipped: the pages that it marks, otherwise sheets of letter size.

    Raises ReadError as `parse_html`, and where there is no text or too much.
    """
    document = TypesetDocument()
    tags: list[Tag] = []
    warnings: list[ReadWarning] = []
    for root in parse_html(path):
        tagged = read_tags(root)
        document = typeset(blocks_of(root, tagged.elements, first_tag=len(tags)), document)
        tags += tagged.tags
        warnings += tagged.warnings
    if not document.pages:
        remedy = "Check that it is the filing itself and not a viewer page or an index of files"
        raise refusal(path, "the HTML contains no visible text", remedy)
    if len(document.pages) > MAX_PAGES:
        what = f"the HTML has {len(document.pages):,} pages; at most {MAX_PAGES:,} are read"
        raise refusal(path, what, "Split it into its filings and ingest those")
    for position, (page, box) in document.places.items():
        tags[position] = replace(tags[position], page=page, box=box)
    return Document(tuple(document.pages), tuple(tags), tuple(warnings))
