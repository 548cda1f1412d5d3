"""A page: what a reader gives for it, and what it is found to be."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from fin_agent.vocabulary.place import Word


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a filing and its place in it."""

    number: int
    """0-based; people are shown `number + 1`."""
    text: str
    item: str | None = None
    """Item of the form the page belongs to, as `1A`, `7` or `5.07`."""
    statement: Statement | None = None
    """Set on pages of the primary consolidated statements only."""
    title: str = ""
    """First heading-like line: names the page in listings."""
    kind: TableKind | None = None
    """What the page shows where it is mostly a table and no primary statement; None on pages of prose."""
    note: str | None = None
    """Number of the note to the financial statements that most of the page belongs to: `5`."""
    further_statements: tuple[Statement, ...] = ()
    """Primary statements that begin on the page below the first one."""


def printed_number(page: Page, neighbours: Iterable[Page]) -> str | None:
    """The number that `page` prints at its foot or head: `47`, `F-12`; None where it prints none.

    A number there may be a figure: the page before or behind, among `neighbours`, has to print the one before or next.
    """
    beside = [(other.number - page.number, set(_numbers_at_edges(other.text))) for other in neighbours]
    for prefix, number in _numbers_at_edges(page.text):
        if any(abs(step) == 1 and (prefix, number + step) in found for step, found in beside):
            return f"{prefix}{number}"
    return None


def _numbers_at_edges(text: str) -> list[tuple[str, int]]:
    lines = [line for line in text.split("\n") if line.strip()]
    edges = (*reversed(lines[-_AT_AN_EDGE:]), *lines[:_AT_AN_EDGE])
    found = (_PRINTED_NUMBER.search(line) for line in edges if len(line) < _LONGEST_EDGE)
    return [(match[1] or match[3] or "", int(match[2] or match[4])) for match in found if match]


_AT_AN_EDGE, _LONGEST_EDGE = 3, 90
"""Lines at the foot and at the head of a page among which its number may stand, and the most characters of one."""
_PRINTED_NUMBER = re.compile(
    r"^\W*(?:[Pp]age\s+)?([A-Z]{1,2}-)?(\d{1,3})(?=\s|\W*$)|(?<!\S)([A-Z]{1,2}-)?(\d{1,3})\W*$"
)


class Statement(StrEnum):
    """Primary financial statements a page can carry."""

    INCOME = "income"
    COMPREHENSIVE_INCOME = "comprehensive-income"
    BALANCE_SHEET = "balance"
    CASH_FLOW = "cash-flow"
    EQUITY = "equity"


class TableKind(StrEnum):
    """What a page shows that is no primary consolidated statement."""

    PARENTHETICAL = "parenthetical"
    """The balance sheet's (or another statement's) parenthetical continuation: par values, shares issued."""
    PARENT_ONLY = "parent-only"
    """Statements of one legal entity: of the parent company alone (Schedule I), of a subsidiary that files with it."""
    SEGMENT = "segment"
    SELECTED_DATA = "selected-data"
    """Selected financial data over several years."""
    MDNA = "mdna-table"
    """Tables of Management's Discussion and Analysis."""
    OTHER = "other"
    """Any other page that is mostly a table: notes, schedules, exhibits."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note to the financial statements."""

    number: str
    """As printed, without its point: `5`, `A`; empty for notes without numbers."""
    title: str
    first_page: int
    last_page: int


@dataclass(frozen=True, slots=True)
class PageContent:
    """What a reader gives for one page, before anything is understood."""

    number: int
    """0-based."""
    width: float
    height: float
    text: str
    """In reading order, lines separated by newlines."""
    words: tuple[Word, ...]
    lines: tuple[PrintedLine, ...] = ()
    """Top to bottom, where the reader knows lines and cells (HTML); empty where places alone are known (PDF)."""
    pictured: float = 0.0
    """Share of it that pictures cover, from 0 to 1; looked up only where it holds hardly a word."""


class PrintedLine(NamedTuple):
    """A line whose make-up the reader knows: a row of a real table, or a line of running text."""

    words: tuple[Word, ...]
    """Of a table's row one for each cell that holds anything, `text` being the whole cell; else the line's words."""
    y0: float
    y1: float
    table: int | None
    """Which table of the page it is a row of, from 0; None for running text."""
    band: int
    """Its place in a column of evenly spaced lines, in which empty rows and the room between blocks count as well."""


@dataclass(frozen=True, slots=True)
class ItemStart:
    """Where an Item begins, or where its heading is repeated."""

    item: str
    """`1A`, `7`, `5.07`; `II-1A` in Part II of a 10-Q."""
    page: int
    """0-based."""
    offset: int
    """Character of the page's text."""
