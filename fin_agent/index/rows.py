"""Convert the values of filings to the rows that every index stores, and back, independent of any database."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Any, Generic, TypeVar

from fin_agent.lexicon.lexicon import user_lexicon_fingerprint
from fin_agent.vocabulary.fact import Fact, FactPeriod, Tag
from fin_agent.vocabulary.filing import Passage, PassageKind
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Page, Statement, TableKind
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Cell, Row, Table

SqlValue = str | int | float | bytes | None
StoredRow = tuple[Any, ...]
"""A row of SqlValue without the numbers that a database assigns."""
T = TypeVar("T")


# How values are written and read


_Kind = tuple[Callable[[Any], Any], Callable[[Any], Any]]
"""How the values of a column are written, and how they are read."""


class Columns(Generic[T]):
    """The columns of a type, in the order in which they are sealed, and the attribute that each contains."""

    def __init__(self, of: Callable[..., T], *columns: str | tuple[str, _Kind], **attributes: str) -> None:
        """Set the columns of the type `of` with their kinds, and the `attributes` whose names differ."""
        self._of = of
        described = [(column, _PLAIN) if isinstance(column, str) else column for column in columns]
        self.names: tuple[str, ...] = tuple(name for name, _ in described)
        named = [(attributes.get(name, name), kind) for name, kind in described]
        self._get = attrgetter(*(name for name, _ in named))
        self._writers = [kind[0] for _, kind in named]
        self._attributes = [name for name, _ in named]
        self._readers = [(name, kind[1]) for name, kind in named if kind is not _PLAIN]

    def row(self, value: T) -> StoredRow:
        """Return the row of a value."""
        return tuple(write(each) for write, each in zip(self._writers, self._get(value), strict=True))

    def attributes(self, row: Sequence[Any]) -> dict[str, Any]:
        """Return the attributes that a row contains."""
        values = dict(zip(self._attributes, row, strict=True))
        for name, read in self._readers:
            values[name] = read(values[name])
        return values

    def value(self, row: Sequence[Any], **more: object) -> T:
        """Return the value of a row, with the attributes that it does not contain."""
        return self._of(**self.attributes(row), **more)


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None


@lru_cache(maxsize=10_000)
def _date(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


# Thousands of facts share their headings and periods: each is serialized and created once.
@lru_cache(maxsize=20_000)
def _listed(texts: tuple[object, ...]) -> str:
    return json.dumps(texts)


@lru_cache(maxsize=20_000)
def texts(written: str) -> tuple[str, ...]:
    """Return the texts of a column that lists several."""
    return tuple(json.loads(written))


def _box_text(box: Box | None) -> str | None:
    return "{:.1f},{:.1f},{:.1f},{:.1f}".format(*box) if box else None


def _box(text: str | None) -> Box | None:
    return Box(*map(float, text.split(","))) if text else None


def _packed_period(period: FactPeriod | None) -> list[Any] | None:
    return [period.fiscal_year, period.quarter, period.months, _iso(period.end)] if period else None


@lru_cache(maxsize=10_000)
def _fact_period(fiscal_year: int, quarter: int | None, months: int, end: str | None) -> FactPeriod:
    return FactPeriod(fiscal_year, quarter, months, _date(end))


_PLAIN: _Kind = (lambda value: value, lambda value: value)
_FLAG = (int, bool)
_DATE = (_iso, _date)
_BOX = (_box_text, _box)
_TEXTS = (_listed, texts)
_AMOUNT = (lambda value: None if value is None else str(value), lambda text: None if text is None else Decimal(text))
_PERIOD = (
    lambda period: json.dumps(_packed_period(period)) if period else None,
    lambda text: _fact_period(*json.loads(text)) if text else None,
)
_STATEMENT = (_PLAIN[0], lambda text: Statement(text) if text else None)
_STATEMENTS = (_listed, lambda text: tuple(map(Statement, texts(text))))
_MEMBERS = (_listed, lambda text: tuple((axis, member) for axis, member in json.loads(text)))
_SIDES = (lambda box: [round(side, 1) for side in box], lambda sides: Box(*sides))
_TUPLE = (_PLAIN[0], tuple)


def _several(write: Callable[[Any], Any], read: Callable[[Any], Any]) -> _Kind:
    """Return the kind of a tuple whose members are written and read like this; None stays None."""
    return (
        lambda members: [None if each is None else write(each) for each in members],
        lambda written: tuple([None if each is None else read(each) for each in written]),
    )


# The columns of each type

IDENTITY = Columns(
    Identity,
    "company", ("form", (str, Form)), "fiscal_year", "quarter", ("period_end", _DATE), "fiscal_year_end_month",
    ("filed", _DATE), "ticker", "cik", "file_number", "employer_id", ("other_names", _TEXTS), ("amended", _FLAG),
    ("results", _PERIOD),
)  # fmt: skip
_OF_PAGE: tuple[str | tuple[str, _Kind], ...] = (
    "item", ("statement", _STATEMENT), "title", ("kind", (_PLAIN[0], lambda text: TableKind(text) if text else None)),
    "note", ("further_statements", _STATEMENTS),
)  # fmt: skip
PAGE = Columns(Page, "number", "text", *_OF_PAGE)
OUTLINE = Columns(Page, "number", *_OF_PAGE)
PASSAGE = Columns(Passage, "page", "ordinal", ("kind", (str, PassageKind)), "text", ("box", _BOX))
FACT = Columns(
    Fact,
    "page", "line", "metric", "label", ("section", _TEXTS), ("amount", _AMOUNT), "scale", "unit", "fiscal_year",
    "quarter", "months", ("period_end", (_iso, _PLAIN[1])), "column_header", ("statement", _STATEMENT), "scope",
    "source", ("tied", _FLAG), ("inverted", _FLAG), ("box", _BOX), "tag", ("column_path", _TEXTS), "caption", "note",
    "part_kind", ("proved", _FLAG), ("doubtful", _FLAG),
    fiscal_year="period.fiscal_year", quarter="period.quarter", months="period.months", period_end="period.end",
    column_header="column",
)  # fmt: skip
TAG = Columns(
    Tag,
    "concept", ("value", _AMOUNT), "text", "context", ("period_start", _DATE), ("period_end", _DATE),
    ("members", _MEMBERS), "unit", "decimals", ("nil", _FLAG), ("is_numeric", _FLAG), "page", ("box", _BOX),
    ("flags", _TEXTS),
    period_start="start", period_end="end", is_numeric="numeric",
)  # fmt: skip
CELL = Columns(Cell, ("amount", _AMOUNT), "printed", "percent", "dollar", ("box", _SIDES))
ROW = Columns(Row, "label", ("section", _TUPLE), "line", ("box", _SIDES), ("cells", _several(CELL.row, CELL.value)))
TABLE = Columns(
    Table,
    ("box", _SIDES), "caption", "unit_line", ("columns", _TUPLE),
    ("periods", _several(_packed_period, lambda packed: _fact_period(*packed))),
    ("rows", _several(ROW.row, ROW.value)), ("column_paths", _several(list, tuple)),
)  # fmt: skip
_FACT_PERIOD = ("period.fiscal_year", "period.quarter", "period.months", "period.end")

FILING_COLUMNS = (
    "doc_id", "source", "content_hash", "reader_version", *IDENTITY.names, "page_count", "passage_count", "fact_count",
)  # fmt: skip
DETAIL_COLUMNS = ("sources", "items", "notes", "warnings", "summary")
ENTRY_COLUMNS = ("doc_id", "content_hash", "page_count", *IDENTITY.names)
TAG_COLUMNS = ("ordinal", *TAG.names)


def reader_fingerprint() -> str:
    """Return a text that identifies the reader: when it changes, files are read again.

    It contains the version of the reader, the PDF reader chosen, and the user's lexicon files.
    """
    from fin_agent.filings.reader import reader_version  # not needed by code that only reads an index

    return " ".join(part for part in (reader_version(), user_lexicon_fingerprint()) if part)


def fact_row(fact: Fact, tag: int | None) -> StoredRow:
    """Return the FACT.names of a fact; `tag` is the ordinal of its tag in the filing."""
    row = FACT.row(fact)
    at = FACT.names.index("tag")
    return (*row[:at], tag, *row[at + 1 :])


def fact(row: Sequence[Any], tag: Tag | None) -> Fact:
    """Return the fact from a row of FACT.names, with its tag."""
    values = FACT.attributes(row)
    values["period"] = _fact_period(*map(values.pop, _FACT_PERIOD))
    values["tag"] = tag
    return Fact(**values)


def tag(row: Sequence[Any]) -> Tag:
    """Return the tag from a row of TAG_COLUMNS."""
    return TAG.value(row[1:])


def table_rows(tables: Iterable[Table]) -> Iterator[tuple[int, bytes]]:
    """Yield (page, its tables as compressed JSON) pairs; `tables` must be in the order of pages."""
    for page_number, of_page in groupby(tables, key=lambda table: table.page):
        plain = json.dumps(list(map(TABLE.row, of_page)), ensure_ascii=False, separators=(",", ":"))
        yield page_number, zlib.compress(plain.encode(), 1)


def tables(page_number: int, packed: bytes) -> list[Table]:
    """Return the tables of a page from the output of `table_rows`."""
    return [TABLE.value(table, page=page_number) for table in json.loads(zlib.decompress(packed))]
