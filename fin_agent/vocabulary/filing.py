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
    """One document as read: who it is about, and its pages, passages and facts."""

    doc_id: str
    """The file's name without its ending; a handle, never a source of meaning."""
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
    """Where each Item begins, in order; short Items that share a page with another stand here only."""
    notes: tuple[Note, ...] = ()
    """Notes to the financial statements, in order."""
    tags: tuple[Tag, ...] = ()
    """Everything that inline XBRL says, visible or not, in the order of the file."""
    warnings: tuple[ReadWarning, ...] = ()
    """What was odd about the file and did not stop its reading."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of one page."""

    page: int
    ordinal: int
    """Position among the filing's passages, from 0."""
    kind: PassageKind
    text: str
    box: Box | None = None


class PassageKind(StrEnum):
    """A span of running text, or one table with its caption, unit and header."""

    TEXT = "text"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class ReadWarning:
    """Something odd about a file that did not stop its reading, and what it means for the reader."""

    what: str
    page: int | None = None
    """0-based; None where it concerns no single page."""


REPAIRED = "the file was cut off and is read as far as it could be repaired: pages and figures may be missing"
"""The warning of a filing that was read all the same, and of every answer from it."""
