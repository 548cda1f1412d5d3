"""The Filing and what it is made of: identity, pages, passages, facts."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

_WEEK = timedelta(days=7)
"""How far the end of a 52/53-week year may drift into the next month."""


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
    notes: tuple[Note, ...] = ()
    """Notes to the financial statements, in order."""
    tags: tuple[Tag, ...] = ()
    """Everything that inline XBRL says, visible or not, in the order of the file."""
    warnings: tuple[ReadWarning, ...] = ()
    """What was odd about the file and did not stop its reading."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who, what and when a filing is, from its content alone."""

    company: str
    """Registrant as printed on the cover, or as a release names itself."""
    form: Form
    fiscal_year: int | None = None
    """By the filer's own naming: a year ended January 28, 2023 that the filer calls fiscal 2022 is 2022."""
    quarter: int | None = None
    """1 to 4 for a quarterly report or a quarter's earnings release; None for a full year."""
    period_end: date | None = None
    """Last day of the reported period; for an 8-K, the date of the earliest event."""
    fiscal_year_end_month: int | None = None
    filed: date | None = None
    """Date of the report or release as printed, where there is one."""
    ticker: str | None = None
    cik: str | None = None
    file_number: str | None = None
    """SEC commission file number as `1-1183` (leading zeros dropped): it survives a change of name."""
    employer_id: str | None = None
    """IRS employer identification number, `80-0429876`."""
    other_names: tuple[str, ...] = ()
    """Former and short names that the filing itself gives."""
    amended: bool = False
    results: FactPeriod | None = None
    """For an 8-K that carries a release of results: the quarter or year that they are of."""
    sources: tuple[FieldSource, ...] = ()
    """Where each field was read, the reading that was taken first; other readings of the same field follow it."""

    @property
    def reported(self) -> FactPeriod | None:
        """The fiscal period whose figures the filing reports; None where it reports none or names no year."""
        if self.form is Form.EIGHT_K:
            return self.results
        if self.fiscal_year is None:
            return None
        return FactPeriod(self.fiscal_year, self.quarter, 3 if self.quarter else 12, self.period_end)

    @property
    def ending_year(self) -> int | None:
        """Calendar year in which the fiscal year ends: what those who do not know the filer's naming call the year."""
        if self.fiscal_year is None or self.period_end is None or self.fiscal_year_end_month is None:
            return self.fiscal_year
        nominal = self.period_end - _WEEK if self.period_end.day <= _WEEK.days else self.period_end
        return nominal.year + (nominal.month > self.fiscal_year_end_month)

    def conflicts(self) -> tuple[tuple[FieldSource, FieldSource], ...]:
        """(reading taken, reading that differs) pairs, in the order of `sources`; further names are no conflict."""
        taken: dict[str, FieldSource] = {}
        differing = []
        for source in self.sources:
            first = taken.setdefault(source.field, source)
            if source.value != first.value and source.field != "other_names":
                differing.append((first, source))
        return tuple(differing)


class Origin(StrEnum):
    """Kinds of place an identity field is read from, surest first."""

    DEI = "dei"
    COVER = "cover"
    TITLE = "title"
    SIGNATURE = "signature"
    TEXT = "text"
    DERIVED = "derived"


@dataclass(frozen=True, slots=True)
class FieldSource:
    """One reading of one identity field."""

    field: str
    """Name of the field of Identity."""
    value: str
    """As it stands in that field, dates in ISO form."""
    origin: Origin
    printed: str
    """The words (or the tag) it was read from."""
    confidence: float
    """0 to 1: how far a reading of its kind is trusted. It ranks readings and is no measured rate."""
    page: int | None = None
    """0-based."""


class Form(StrEnum):
    """Kinds of document that are told apart."""

    TEN_K = "10-K"
    TEN_Q = "10-Q"
    EIGHT_K = "8-K"
    TWENTY_F = "20-F"
    EARNINGS = "earnings"
    ANNUAL_REPORT = "annual-report"
    OTHER = "other"


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
    """Condensed statements of the parent company alone (Schedule I)."""
    SEGMENT = "segment"
    SELECTED_DATA = "selected-data"
    """Selected financial data over several years."""
    MDNA = "mdna-table"
    """Tables of Management's Discussion and Analysis."""
    OTHER = "other"
    """Any other page that is mostly a table: notes, schedules, exhibits."""


class Box(NamedTuple):
    """A rectangle in points; origin at the top left of the page."""

    x0: float
    y0: float
    x1: float
    y1: float


class Word(NamedTuple):
    """A word and where it stands, in points; origin at the top left of the page."""

    x0: float
    y0: float
    x1: float
    y1: float
    text: str


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


@dataclass(frozen=True, slots=True)
class Note:
    """A note to the financial statements."""

    number: str
    """As printed, without its point: `5`, `A`; empty for notes without numbers."""
    title: str
    first_page: int
    last_page: int


@dataclass(frozen=True, slots=True)
class ReadWarning:
    """Something odd about a file that did not stop its reading, and what it means for the reader."""

    what: str
    page: int | None = None
    """0-based; None where it concerns no single page."""


class PassageKind(StrEnum):
    """A span of running text, or one table with its caption, unit and header."""

    TEXT = "text"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class Passage:
    """A span of one page."""

    page: int
    ordinal: int
    """Position among the filing's passages, from 0."""
    kind: PassageKind
    text: str
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class FactPeriod:
    """The time a figure covers: an instant (`months` 0) or a duration that ends at `end`."""

    fiscal_year: int
    """By the filer's own naming."""
    quarter: int | None
    """For a quarter (or the end of one), 1 to 4; None for a full year, its end, or year-to-date spans."""
    months: int
    """0 for an instant, else the length: 3, 6, 9 or 12 (52 and 53 weeks are 12; 13 and 14 weeks are 3)."""
    end: date | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """One number with its meaning and place."""

    label: str
    """The row's words as printed (lines joined, footnote marks dropped)."""
    amount: Decimal
    """Signed, as printed: in units of `scale`."""
    scale: int
    """What `amount` is multiplied with to get base units: 1, 1_000, 1_000_000 or 1_000_000_000."""
    unit: str
    """`USD`, `USD per share`, `percent`, `shares`, `ratio` or `count`."""
    period: FactPeriod
    page: int
    box: Box
    metric: str | None = None
    """Canonical metric of the lexicon where the label names one."""
    section: tuple[str, ...] = ()
    """Headings above the row, outermost first: `("Current assets",)`."""
    line: int = 0
    """Position of the row on its page, from 0: page, line and box say where the number stands."""
    column: str = ""
    """The column's header as printed."""
    statement: Statement | None = None
    scope: str | None = None
    """None for the consolidated company, else the segment, geography or product as printed."""
    source: str = "table"
    """`ixbrl` where a tag states it, `table` where a cell does, `label` where it stands inside a row's label."""
    tied: bool = True
    """False for a figure outside the primary statements whose table repeats none of theirs: it may be of a part."""
    inverted: bool = False
    """Whether the statement shows this cost as a deduction: printed negative, meant positive."""
    tag: Tag | None = None
    """What inline XBRL says of this figure. Its value is exact and signed as its concept is; `amount` is as printed."""

    @property
    def value(self) -> Decimal:
        """In base units: dollars, shares, percent."""
        return self.amount * self.scale


@dataclass(frozen=True, slots=True)
class Tag:
    """A fact as inline XBRL states it (`ix:nonFraction`, `ix:fraction`, `ix:nonNumeric`)."""

    concept: str
    """With its prefix: `us-gaap:Assets`."""
    value: Decimal | None
    """Exact, in base units, signed; None where nil, where the tag holds text, or where its print is no number."""
    text: str
    """As printed; for text, the value after transformation (dates in ISO form)."""
    context: str
    """Id of the context in the file."""
    end: date | None
    """Last day of the period, the instant's day; None where the file defines no such context."""
    start: date | None = None
    """First day of a duration; None for an instant."""
    members: tuple[tuple[str, str], ...] = ()
    """(axis, member) pairs, sorted: `("srt:ProductOrServiceAxis", "us-gaap:ProductMember")`."""
    unit: str = ""
    """`USD`, `shares`, `USD/shares`, `pure`; empty for text."""
    decimals: int | None = None
    """Power of ten the value is accurate to, `-6` for millions; None where exact (`INF`) or not said."""
    nil: bool = False
    numeric: bool = True
    page: int | None = None
    """0-based; None for a tag that the reader of the page does not see (the header's hidden facts)."""
    box: Box | None = None
    flags: tuple[str, ...] = ()
    """What is wrong with it: `unknown context`, `unknown unit`, `unknown format`, `not a number`, `conflict`,
    `duplicate`."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table found on a page: its rows and the meaning of its columns."""

    page: int
    box: Box
    caption: str
    """Title lines above the table, joined."""
    unit_line: str
    """`(in millions, except per share amounts)` or empty."""
    columns: tuple[str, ...]
    """Header of each value column as printed, left to right."""
    periods: tuple[FactPeriod | None, ...]
    """What each column covers; None for a column without a period (percent change, notes)."""
    rows: tuple[Row, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table."""

    label: str
    section: tuple[str, ...]
    cells: tuple[Cell | None, ...]
    """As many as the table has columns; None where the row is blank there."""
    line: int
    box: Box


@dataclass(frozen=True, slots=True)
class Cell:
    """One printed number."""

    amount: Decimal
    printed: str
    """With its signs: `(1,234)`, `$ 5.51`, `12.3%`, `—`."""
    percent: bool
    dollar: bool
    box: Box
