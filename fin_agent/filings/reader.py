"""Read a file into a Filing: read, identify, assign Items and statements, find tables and facts, split passages."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from fin_agent.errors import ReadError
from fin_agent.filings.facts.row_periods import MetricOf
from fin_agent.filings.facts.segment_sections import with_segments_of_headings
from fin_agent.filings.facts.sentence_facts import facts_of_sentences
from fin_agent.filings.facts.table_facts import UnitOf, facts_of_filing
from fin_agent.filings.facts.tag_matching import ConceptOf, with_tags
from fin_agent.filings.html.document import read_html
from fin_agent.filings.identity.identify import identify
from fin_agent.filings.outline.items import item_starts, items_of
from fin_agent.filings.outline.notes import notes_of
from fin_agent.filings.outline.statements import heading_of, locate_statements
from fin_agent.filings.outline.table_page_classification import kinds_of
from fin_agent.filings.passage_splitting import passages_of
from fin_agent.filings.readers.protocol import MUPDF, TRUNCATED, Document, pdf_reader, picture_warnings
from fin_agent.filings.tables.column_periods import FiscalCalendar
from fin_agent.filings.tables.reading import read_tables
from fin_agent.filings.tables.sum_detection import sum_evidence
from fin_agent.lexicon.words import patterns, word_lists
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.filing import REPAIRED, Filing, ReadWarning
from fin_agent.vocabulary.page import Page, PageContent, Statement, TableKind
from fin_agent.vocabulary.table import Table

PDF_READER_VARIABLE = "FIN_AGENT_PDF_READER"
READER_VERSION = "23"
"""Increased whenever the same file would be read differently; filings read by another version are read again."""
READABLE = (".pdf", ".htm", ".html", ".xhtml", ".htm.gz", ".html.gz")

_NAME_ENDING = re.compile(r"\.(?:pdf|html?|xhtml)(?:\.gz)?$", re.I)
_READ = re.compile(r"\.(?:(pdf)|(?:html?|xhtml)(?:\.gz)?)$", re.I)
_NO_TITLE = re.compile(r"^(table of contents|\W*\d*\W*|page \d+.*|[ivxlc]+)$", re.I)


def filing_of(
    document: Document,
    metric_of: MetricOf,
    unit_of: UnitOf,
    concept_of: ConceptOf,
    *,
    doc_id: str,
    source: str,
    content_hash: str,
) -> Filing:
    """Return the Filing for a document's pages and tags, whatever they were read by.

    `metric_of`, `unit_of` and `concept_of` return the metric of a printed row, the unit of a metric and the metric of
    an XBRL concept; `content_hash` is the SHA-256 of what was read.
    """
    contents = document.pages
    identity = identify(contents, document.tags)
    located = locate_statements(contents)
    shown = located.registrant
    statements = {page: found[0] for page, found in shown.items()}
    with_others = statements | {page: found[0] for page, found in located.others.items()}
    starts = item_starts(contents, identity.form)
    items = items_of(contents, identity.form, starts, statements)
    tables = tuple(read_tables(contents, identity))
    calendar = FiscalCalendar.of(identity)
    facts = facts_of_filing(tables, with_others, calendar, metric_of, unit_of)
    if document.tags:
        facts = with_tags(facts, document.tags, contents, tables, statements, calendar, concept_of, unit_of)
    notes, note_of_page = notes_of(contents, statements, items)
    kinds = kinds_of(contents, identity.form, statements, items, notes, note_of_page)
    parent = {page for page, kind in kinds.items() if kind is TableKind.PARENT_ONLY}
    kinds |= dict.fromkeys(located.others, TableKind.PARENT_ONLY)
    titles = {note.number: note.title for note in notes}
    noted = {page: titles.get(number, "") for page, number in note_of_page.items()}
    facts = [_of_entity(fact, located.entities, parent) for fact in facts]
    facts = in_context(facts, tables, contents, noted)
    numbered = {page.number: item for page, item in zip(contents, items, strict=True)}
    facts = with_segments_of_headings(facts, tables, contents, numbered, identity.company or "")
    facts += facts_of_sentences(contents, tables, facts, calendar, noted, identity.company or "")
    facts.sort(key=lambda fact: fact.page)
    pages = tuple(
        Page(
            number=page.number,
            text=page.text,
            item=item,
            statement=statements.get(page.number),
            title=title_of(page),
            kind=kinds.get(page.number),
            note=note_of_page.get(page.number),
            further_statements=shown.get(page.number, ())[1:],
        )
        for page, item in zip(contents, items, strict=True)
    )
    first = {start.item: start for start in reversed(starts)}
    return Filing(
        doc_id=doc_id,
        source=source,
        content_hash=content_hash,
        identity=identity,
        pages=pages,
        passages=tuple(passages_of(contents, tables)),
        facts=tuple(facts),
        tables=tables,
        items=tuple(start for start in starts if first[start.item] is start),
        notes=notes,
        tags=document.tags,
        warnings=document.warnings,
    )


def _of_entity(fact: Fact, entities: Mapping[int, str], parent: Collection[int]) -> Fact:
    """Return a fact on a page of a further registrant, or of the parent company alone, as a part of the company."""
    if fact.page in entities:
        return replace(fact, scope=entities[fact.page], part_kind="entity")
    if fact.page in parent and fact.scope is None:
        return replace(fact, scope="Parent company only", part_kind="entity", tied=False)
    return fact


def in_context(
    facts: Iterable[Fact], tables: Sequence[Table], pages: Sequence[PageContent], notes: Mapping[int, str]
) -> list[Fact]:
    """Return `facts` with the caption of their table, their note, the kind of their part and what sums say of them."""
    text_of = {page.number: page.text for page in pages}
    caption_at = {
        (table.page, row.line): caption
        for table in tables
        if (caption := heading_of(table.caption, text_of[table.page]))
        for row in table.rows
    }
    proofs = sum_evidence(tables)

    def placed(fact: Fact) -> Fact:
        caption, note = caption_at.get((fact.page, fact.line), ""), notes.get(fact.page, "")
        place = (fact.page, fact.box)
        return replace(
            fact,
            caption=caption,
            note=note,
            part_kind=fact.part_kind or _part_kind(fact, caption, note),
            proved=place in proofs.proved,
            doubtful=place in proofs.contradicted,
        )

    return list(map(placed, facts))


def _part_kind(fact: Fact, caption: str, note: str) -> str | None:
    """Return the kind of a fact's part from its tag's axis, otherwise from headings, caption or note, nearest first."""
    if fact.tag is not None and fact.tag.axes:
        return next((kind for axis in fact.tag.axes if (kind := _KIND_OF_AXIS.get(axis))), None)
    if fact.scope is None:
        return None
    if fact.statement is Statement.EQUITY:
        return "equity component"
    texts = (fact.scope, *reversed(fact.column_path), *reversed(fact.row_path), caption, note)
    return next((kind for text in texts if (kind := _kind_of_words(text))), None)


@lru_cache(maxsize=16_384)
def _kind_of_words(text: str) -> str | None:
    return next((kind for kind, words in patterns("part_kind_patterns").items() if words.search(text)), None)


_KIND_OF_AXIS = {axis: kind for kind, axes in word_lists("part_axes").items() for axis in axes}


def read_document(path: Path, *, accept_repaired: bool = False) -> Document:
    """Return the pages of the file at `path`, using the reader for its kind. Raises ReadError.

    With `accept_repaired`, a truncated PDF is read as far as it can be repaired, with the warning REPAIRED.
    """
    kind = _READ.search(path.name)
    if kind is None:
        raise ReadError(
            f"`{path.suffix or path.name}` files are not supported",
            subject=path.name,
            remedy=f"Give filings as {', '.join(READABLE)}",
        )
    if not kind[1]:
        return read_html(path)
    reader = pdf_reader(chosen_pdf_reader())
    mended: tuple[ReadWarning, ...] = ()
    try:
        pages = tuple(reader.read_pdf(path))
    except ReadError as error:
        if not accept_repaired or error.what != TRUNCATED:
            raise
        pages, mended = tuple(reader.read_pdf(path, accept_repaired=True)), (ReadWarning(REPAIRED),)
    return Document(pages, warnings=(*mended, *picture_warnings(pages)))


def read_with_hash(path: Path, *, accept_repaired: bool = False) -> tuple[Document, str]:
    """Read a document, and return it with the hash of exactly the content that was read.

    Raises:
        ReadError: As `read_document`, or the file changed meanwhile. Its pages would otherwise be stored under the hash
            of the new content, which would never be read.
    """
    before = _hash_now(path)
    document = read_document(path, accept_repaired=accept_repaired)
    if before is None or _hash_now(path) != before:
        raise ReadError(
            "the file changed while it was being read",
            subject=path.name,
            remedy="Ingest it again when no other program writes to it",
        )
    return document, before


def _hash_now(path: Path) -> str | None:
    """Return the hash, or None where the file is unavailable, which its reader reports."""
    try:
        return content_hash(path)
    except OSError:
        return None


def chosen_pdf_reader() -> str | None:
    """Return the PDF reader in the variable FIN_AGENT_PDF_READER; None where it is not set."""
    return os.environ.get(PDF_READER_VARIABLE) or None


def reader_version() -> str:
    """Return the version and the PDF reader; files read by another are read again."""
    chosen = chosen_pdf_reader()
    return READER_VERSION if chosen in (None, MUPDF) else f"{READER_VERSION} {chosen}"


def is_readable(path: Path) -> bool:
    """Return whether a file's name has a supported extension."""
    return bool(_READ.search(path.name))


def doc_id_of(path: Path) -> str:
    """Return the file's name without `.pdf`, `.htm`, `.html`, also with `.gz`."""
    return _NAME_ENDING.sub("", path.name)


def is_doc_id(name: str) -> bool:
    """Return whether a filing can have this name: visible, typeable, and without terminal control characters."""
    return 0 < len(name) <= 500 and bool(name.strip()) and not any(unicodedata.category(c) in _UNSEEN for c in name)


_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode's categories of characters that nobody sees."""


def content_hash(path: Path) -> str:
    """Return the SHA-256 of the file's bytes, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def title_of(page: PageContent) -> str:
    """Return the first meaningful line of the page, at most 120 characters."""
    lines = (" ".join(line.split()) for line in page.text.split("\n", 12)[:12])
    return next((line[:120] for line in lines if len(line) > 3 and not _NO_TITLE.match(line)), "")
