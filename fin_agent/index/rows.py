"""Convert the values of filings to the rows that every index stores, and back, independent of any database."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple
from datetime import date
from decimal import Decimal
from functools import lru_cache
from itertools import groupby
from typing import Any

from fin_agent.index.protocol import FilingEntry, FilingRecord, PageKey, PageOutline
from fin_agent.lexicon.lexicon import user_lexicon_fingerprint
from fin_agent.vocabulary.fact import Fact, FactPeriod, Tag
from fin_agent.vocabulary.filing import Filing, Passage, PassageKind, ReadWarning
from fin_agent.vocabulary.identity import FieldSource, Form, Identity, Origin
from fin_agent.vocabulary.page import ItemStart, Note, Page, Statement, TableKind
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Cell, Row, Table

SqlValue = str | int | float | bytes | None
StoredRow = tuple[Any, ...]
"""A row of SqlValue without the numbers that a database assigns; each function below names its columns."""

IDENTITY_COLUMNS = (
    "company", "form", "fiscal_year", "quarter", "period_end", "fiscal_year_end_month", "filed", "ticker", "cik",
    "file_number", "employer_id", "other_names", "amended", "results",
)  # fmt: skip
FILING_COLUMNS = (
    "doc_id", "source", "content_hash", "reader_version", *IDENTITY_COLUMNS, "page_count", "passage_count",
    "fact_count",
)  # fmt: skip
DETAIL_COLUMNS = ("sources", "items", "notes", "warnings", "summary")
ENTRY_COLUMNS = ("doc_id", "content_hash", "page_count", *IDENTITY_COLUMNS)
PAGE_COLUMNS = ("number", "text", "item", "statement", "title", "kind", "note", "further_statements")
OUTLINE_COLUMNS = tuple(column for column in PAGE_COLUMNS if column != "text")
PASSAGE_COLUMNS = ("page", "ordinal", "kind", "text", "box")
FACT_COLUMNS = (
    "page", "line", "metric", "label", "section", "amount", "scale", "unit", "fiscal_year", "quarter", "months",
    "period_end", "column_header", "statement", "scope", "source", "tied", "inverted", "box", "tag",
    "column_path", "caption", "note", "part_kind", "proved", "doubtful",
)  # fmt: skip
TAG_COLUMNS = (
    "ordinal", "concept", "value", "text", "context", "period_start", "period_end", "members", "unit", "decimals",
    "nil", "is_numeric", "page", "box", "flags",
)  # fmt: skip


def reader_fingerprint() -> str:
    """Return a text that identifies the reader: when it changes, files are read again.

    It contains the version of the reader, the PDF reader chosen, and the user's lexicon files.
    """
    from fin_agent.filings.reader import reader_version  # not needed by code that only reads an index

    return " ".join(part for part in (reader_version(), user_lexicon_fingerprint()) if part)


def filing_row(filing: Filing) -> StoredRow:
    """Return the FILING_COLUMNS of a filing."""
    identity = filing.identity
    return (
        filing.doc_id, filing.source, filing.content_hash, reader_fingerprint(), identity.company, identity.form.value,
        identity.fiscal_year, identity.quarter, _iso(identity.period_end), identity.fiscal_year_end_month,
        _iso(identity.filed), identity.ticker, identity.cik, identity.file_number, identity.employer_id,
        json.dumps(identity.other_names), int(identity.amended), _period_text(identity.results), len(filing.pages),
        len(filing.passages), len(filing.facts),
    )  # fmt: skip


def detail_row(filing: Filing, summary: str) -> StoredRow:
    """Return the DETAIL_COLUMNS of a filing."""
    lists = (filing.identity.sources, filing.items, filing.notes, filing.warnings)
    return (*(json.dumps([astuple(each) for each in of_kind]) for of_kind in lists), summary)


def filing_record(filing: Sequence[Any], details: Sequence[Any]) -> FilingRecord:
    """Return the filing record from rows of FILING_COLUMNS and DETAIL_COLUMNS."""
    doc_id, source, content_hash, _, *identity, page_count, passage_count, fact_count = filing
    sources, items, notes, warnings = map(json.loads, details[:4])
    fields = tuple(FieldSource(field, value, Origin(origin), *rest) for field, value, origin, *rest in sources)
    return FilingRecord(
        doc_id,
        source,
        content_hash,
        _identity(identity, fields),
        details[4],
        page_count,
        passage_count,
        fact_count,
        items=tuple(ItemStart(*start) for start in items),
        notes=tuple(Note(*note) for note in notes),
        warnings=tuple(ReadWarning(*warning) for warning in warnings),
    )


def filing_entry(row: Sequence[Any]) -> FilingEntry:
    """Return the entry from a row of ENTRY_COLUMNS."""
    doc_id, content_hash, page_count, *identity = row
    return FilingEntry(doc_id, content_hash, _identity(identity), page_count)


def _identity(columns: Sequence[Any], sources: tuple[FieldSource, ...] = ()) -> Identity:
    values = dict(zip(IDENTITY_COLUMNS, columns, strict=True))
    return Identity(
        **values
        | {
            "form": Form(values["form"]),
            "period_end": _date(values["period_end"]),
            "filed": _date(values["filed"]),
            "other_names": _texts(values["other_names"]),
            "amended": bool(values["amended"]),
            "results": _period(values["results"]),
            "sources": sources,
        }
    )


def page_row(page: Page) -> StoredRow:
    """Return the PAGE_COLUMNS of a page."""
    further = _listed(page.further_statements)
    return page.number, page.text, page.item, page.statement, page.title, page.kind, page.note, further


def page(row: Sequence[Any]) -> Page:
    """Return the page from a row of PAGE_COLUMNS."""
    number, text, item, statement, title, kind, note, further = row
    of_kind, on_page = TableKind(kind) if kind else None, Statement(statement) if statement else None
    return Page(number, text, item, on_page, title, of_kind, note, tuple(map(Statement, json.loads(further))))


def page_outline(doc_id: str, row: Sequence[Any]) -> PageOutline:
    """Return the outline of a page from a row of OUTLINE_COLUMNS."""
    number, item, statement, title, kind, note, further = row
    return PageOutline(PageKey(doc_id, number), item, statement, title, kind, note, tuple(json.loads(further)))


def passage_row(passage: Passage) -> StoredRow:
    """Return the PASSAGE_COLUMNS of a passage."""
    return passage.page, passage.ordinal, passage.kind.value, passage.text, _box_text(passage.box)


def passage(row: Sequence[Any]) -> Passage:
    """Return the passage from a row of PASSAGE_COLUMNS."""
    page_number, ordinal, kind, text, box = row
    return Passage(page_number, ordinal, PassageKind(kind), text, _box(box))


def fact_row(fact: Fact, tag: int | None) -> StoredRow:
    """Return the FACT_COLUMNS of a fact; `tag` is the ordinal of its tag in the filing."""
    period = fact.period
    return (
        fact.page, fact.line, fact.metric, fact.label, _listed(fact.section), str(fact.amount), fact.scale,
        fact.unit, period.fiscal_year, period.quarter, period.months, _iso(period.end), fact.column, fact.statement,
        fact.scope, fact.source, int(fact.tied), int(fact.inverted), _box_text(fact.box), tag,
        _listed(fact.column_path), fact.caption, fact.note, fact.part_kind, int(fact.proved), int(fact.doubtful),
    )  # fmt: skip


def fact(row: Sequence[Any], tag: Tag | None) -> Fact:
    """Return the fact from a row of FACT_COLUMNS, with its tag."""
    values = dict(zip(FACT_COLUMNS, row, strict=True))
    period = _fact_period(*(values.pop(name) for name in ("fiscal_year", "quarter", "months", "period_end")))
    statement = values["statement"]
    return Fact(
        column=values.pop("column_header"),
        period=period,
        **values
        | {
            "amount": Decimal(values["amount"]),
            "box": _box(values["box"]) or Box(0, 0, 0, 0),
            "section": _texts(values["section"]),
            "column_path": _texts(values["column_path"]),
            "statement": Statement(statement) if statement else None,
            "tag": tag,
            **{name: bool(values[name]) for name in ("tied", "inverted", "proved", "doubtful")},
        },
    )


def tag_row(tag: Tag, ordinal: int) -> StoredRow:
    """Return the TAG_COLUMNS of a tag; `ordinal` is its position in the filing."""
    return (
        ordinal, tag.concept, None if tag.value is None else str(tag.value), tag.text, tag.context, _iso(tag.start),
        _iso(tag.end), _listed(tag.members), tag.unit, tag.decimals, int(tag.nil), int(tag.numeric), tag.page,
        _box_text(tag.box), _listed(tag.flags),
    )  # fmt: skip


def tag(row: Sequence[Any]) -> Tag:
    """Return the tag from a row of TAG_COLUMNS."""
    values = dict(zip(TAG_COLUMNS, row, strict=True))
    del values["ordinal"]
    return Tag(
        start=_date(values.pop("period_start")),
        end=_date(values.pop("period_end")),
        numeric=bool(values.pop("is_numeric")),
        **values
        | {
            "value": None if values["value"] is None else Decimal(values["value"]),
            "members": tuple((axis, member) for axis, member in json.loads(values["members"])),
            "nil": bool(values["nil"]),
            "box": _box(values["box"]),
            "flags": _texts(values["flags"]),
        },
    )


def table_rows(tables: Iterable[Table]) -> Iterator[tuple[int, bytes]]:
    """Yield (page, its tables as compressed JSON) pairs; `tables` must be in the order of pages."""
    for page_number, of_page in groupby(tables, key=lambda table: table.page):
        plain = json.dumps([_packed(table) for table in of_page], ensure_ascii=False, separators=(",", ":"))
        yield page_number, zlib.compress(plain.encode(), 1)


def tables(page_number: int, packed: bytes) -> list[Table]:
    """Return the tables of a page from the output of `table_rows`."""
    return [_unpacked(table, page_number) for table in json.loads(zlib.decompress(packed))]


def _packed(table: Table) -> list[Any]:
    rows = [
        (row.label, row.section, row.line, _rounded(row.box), list(map(_packed_cell, row.cells))) for row in table.rows
    ]
    periods = [period and _packed_period(period) for period in table.periods]
    return [_rounded(table.box), table.caption, table.unit_line, table.columns, periods, rows, table.column_paths]


def _packed_cell(cell: Cell | None) -> tuple[object, ...] | None:
    if cell is None:
        return None
    return str(cell.amount), cell.printed, cell.percent, cell.dollar, _rounded(cell.box)


def _unpacked(packed: list[Any], page_number: int) -> Table:
    box, caption, unit_line, columns, periods, rows, paths = packed
    return Table(
        page_number,
        Box(*box),
        caption,
        unit_line,
        tuple(columns),
        tuple(period and _unpacked_period(period) for period in periods),
        tuple(
            Row(label, tuple(section), tuple(map(_unpacked_cell, cells)), line, Box(*place))
            for label, section, line, place, cells in rows
        ),
        tuple(map(tuple, paths)),
    )


def _unpacked_cell(packed: list[Any] | None) -> Cell | None:
    if packed is None:
        return None
    amount, printed, percent, dollar, box = packed
    return Cell(Decimal(amount), printed, percent, dollar, Box(*box))


def _rounded(box: Box) -> list[float]:
    return [round(side, 1) for side in box]


def _packed_period(period: FactPeriod) -> tuple[int, int | None, int, str | None]:
    return period.fiscal_year, period.quarter, period.months, _iso(period.end)


def _unpacked_period(packed: Sequence[Any]) -> FactPeriod:
    fiscal_year, quarter, months, end = packed
    return FactPeriod(fiscal_year, quarter, months, _date(end))


def _period_text(period: FactPeriod | None) -> str | None:
    return json.dumps(_packed_period(period)) if period else None


def _period(text: str | None) -> FactPeriod | None:
    return _unpacked_period(json.loads(text)) if text else None


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
def _texts(written: str) -> tuple[str, ...]:
    return tuple(json.loads(written))


@lru_cache(maxsize=10_000)
def _fact_period(fiscal_year: int, quarter: int | None, months: int, end: str | None) -> FactPeriod:
    return FactPeriod(fiscal_year, quarter, months, _date(end))


def _box_text(box: Box | None) -> str | None:
    return "{:.1f},{:.1f},{:.1f},{:.1f}".format(*box) if box else None


def _box(text: str | None) -> Box | None:
    return Box(*map(float, text.split(","))) if text else None
