"""Pages: the content that a reader extracts, and how the page is classified."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from fin_agent.vocabulary.place import Word
from fin_agent.vocabulary.runs import runs_of


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a filing and its classification."""

    number: int
    """0-based; users see `number + 1`."""
    text: str
    item: str | None = None
    """Item of the form that the page belongs to, such as `1A`, `7` or `5.07`."""
    statement: Statement | None = None
    """Set on pages of the primary consolidated statements only."""
    title: str = ""
    """First line that looks like a heading; names the page in listings."""
    kind: TableKind | None = None
    """The kind of table, where the page is mostly a table but not a primary statement; None for pages of prose."""
    note: str | None = None
    """Number of the note to the financial statements that most of the page belongs to, such as `5`."""
    further_statements: tuple[Statement, ...] = ()
    """Primary statements that begin on the page below the first one."""


def page_ranges(pages: Iterable[int]) -> str:
    """Return pages (0-based, ascending) as people count them, with runs joined.

    >>> page_ranges([2, 3, 4, 8])
    '3-5, 9'
    """
    runs = runs_of(pages, lambda run, page: page - run[-1] != 1)
    return ", ".join(f"{run[0] + 1}-{run[-1] + 1}" if len(run) > 1 else f"{run[0] + 1}" for run in runs)


def printed_number(page: Page, neighbours: Iterable[Page]) -> str | None:
    """Return the number printed at the foot or head of `page`, such as `47` or `F-12`; None where there is none.

    A number there may be a figure, so an adjacent page in `neighbours` must print the previous or next number.
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
"""Number of lines at the foot and the head of a page that may contain its number, and the most characters of one."""
_PRINTED_NUMBER = re.compile(
    r"^\W*(?:[Pp]age\s+)?([A-Z]{1,2}-)?(\d{1,3})(?=\s|\W*$)|(?<!\S)([A-Z]{1,2}-)?(\d{1,3})\W*$"
)


class Statement(StrEnum):
    """Primary financial statements."""

    INCOME = "income"
    COMPREHENSIVE_INCOME = "comprehensive-income"
    BALANCE_SHEET = "balance"
    CASH_FLOW = "cash-flow"
    EQUITY = "equity"


class TableKind(StrEnum):
    """Kinds of table pages other than primary consolidated statements."""

    PARENTHETICAL = "parenthetical"
    """The parenthetical continuation of a statement, usually the balance sheet: par values, shares issued."""
    PARENT_ONLY = "parent-only"
    """Statements of one legal entity: the parent company alone (Schedule I), or a subsidiary that files with it."""
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
    """As printed, without the period: `5`, `A`; empty for notes without numbers."""
    title: str
    first_page: int
    last_page: int


@dataclass(frozen=True, slots=True)
class PageContent:
    """The content that a reader extracts from one page, before any interpretation."""

    number: int
    """0-based."""
    width: float
    height: float
    text: str
    """In reading order, lines separated by newlines."""
    words: tuple[Word, ...]
    lines: tuple[PrintedLine, ...] = ()
    """Top to bottom, where the reader knows lines and cells (HTML); empty where it knows only positions (PDF)."""
    pictured: float = 0.0
    """Share of the page that pictures cover, 0 to 1; determined only for pages with hardly any words."""


class PrintedLine(NamedTuple):
    """A line with its structure: a row of a real table, or a line of running text."""

    words: tuple[Word, ...]
    """For a row, one entry per non-empty cell with `text` being the whole cell; otherwise the line's words."""
    y0: float
    y1: float
    table: int | None
    """Number of its table on the page, from 0; None for running text."""
    band: int
    """Its position in a column of evenly spaced lines, counting empty rows and the space between blocks."""


@dataclass(frozen=True, slots=True)
class ItemStart:
    """The beginning of an Item, or a repetition of its heading."""

    item: str
    """`1A`, `7`, `5.07`; `II-1A` in Part II of a 10-Q."""
    page: int
    """0-based."""
    offset: int
    """Character offset in the page's text."""
