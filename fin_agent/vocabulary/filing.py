"""A filing as read: its pages, passages and facts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fin_agent.vocabulary.fact import Fact, Tag
from fin_agent.vocabulary.identity import Identity
from fin_agent.vocabulary.page import ItemStart, Note, Page
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Table


@dataclass(frozen=True, slots=True)
class Filing:
    """One document as read: its identity, pages, passages and facts."""

    doc_id: str
    """The file's name without its extension; an identifier, never interpreted."""
    source: str
    """Where the file was read from."""
    content_hash: str
    """SHA-256 of the file's bytes, in hex."""
    identity: Identity
    pages: tuple[Page, ...]
    passages: tuple[Passage, ...]
    facts: tuple[Fact, ...]
    tables: tuple[Table, ...] = ()
    """In order of pages, top to bottom."""
    items: tuple[ItemStart, ...] = ()
    """The beginning of each Item, in order; short Items that share a page with another are listed only here."""
    notes: tuple[Note, ...] = ()
    """Notes to the financial statements, in order."""
    tags: tuple[Tag, ...] = ()
    """All inline XBRL tags, visible or hidden, in the order of the file."""
    warnings: tuple[ReadWarning, ...] = ()
    """Defects of the file that did not prevent reading it."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of one page."""

    page: int
    ordinal: int
    """Position among the filing's passages, from 0."""
    kind: PassageKind
    text: str
    box: Box | None = None


class PassageKind(StrEnum):
    """Running text, or one table with its caption, unit and header."""

    TEXT = "text"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class ReadWarning:
    """A defect of a file that did not prevent reading it, and its consequence."""

    what: str
    page: int | None = None
    """0-based; None where it does not concern a single page."""


REPAIRED = "the file was cut off and is read as far as it could be repaired: pages and figures may be missing"
"""The warning of a truncated filing that was repaired, repeated with every answer from it."""
