"""Read an HTML filing: pages, and the facts of inline XBRL with their places."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fin_agent.errors import ReadError
from fin_agent.filings.html.blocks import blocks_of
from fin_agent.filings.html.document import parse_html
from fin_agent.filings.html.typesetting import SetDocument, typeset
from fin_agent.filings.readers.document import MAX_PAGES, Document
from fin_agent.filings.xbrl.tags import read_tags
from fin_agent.vocabulary.fact import Tag
from fin_agent.vocabulary.filing import ReadWarning


def read_html(path: Path) -> Document:
    """Read the HTML file at `path`, also gzipped (`.htm`, `.html`, `.htm.gz`, `.html.gz`).

    Pages are the file's own where it says where they end, else sheets of letter size. Raises ReadError where the file
    is missing, empty, no HTML, cut off, damaged, without text, or far too large.
    """
    document = SetDocument()
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
            "the HTML holds no text that a reader sees",
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
