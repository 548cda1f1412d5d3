"""Rows of the embedded index to values of the engine, and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import astuple
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any

from fin_agent.index.protocol import FilingEntry, FilingRecord
from fin_agent.index.read_by import read_by
from fin_agent.vocabulary.fact import Fact, FactPeriod, Tag
from fin_agent.vocabulary.filing import Filing, Passage, PassageKind, ReadWarning
from fin_agent.vocabulary.identity import FieldSource, Form, Identity, Origin
from fin_agent.vocabulary.page import ItemStart, Note, Page, Statement, TableKind
from fin_agent.vocabulary.place import Box

SqlValue = str | int | float | bytes | None

FACT_COLUMNS = (
    "filing_id", "page", "line", "metric", "label", "section", "amount", "scale", "unit", "fiscal_year", "quarter",
    "months", "period_end", "column_header", "statement", "scope", "source", "tied", "inverted", "box", "tag",
    "column_path", "caption", "note", "part_kind", "proved", "doubtful",
)  # fmt: skip

TAG_COLUMNS = (
    "filing_id", "ordinal", "concept", "value", "text", "context", "period_start", "period_end", "members", "unit",
    "decimals", "nil", "is_numeric", "page", "box", "flags",
)  # fmt: skip
TAG_SELECTION = (
    "tags.concept, tags.value AS tag_value, tags.text AS tag_text, tags.context AS tag_context,"
    " tags.period_start AS tag_start, tags.period_end AS tag_end, tags.members AS tag_members, tags.unit AS tag_unit,"
    " tags.decimals AS tag_decimals, tags.nil AS tag_nil, tags.is_numeric AS tag_numeric, tags.page AS tag_page,"
    " tags.box AS tag_box, tags.flags AS tag_flags"
)
"""Columns of `tags` under names that no other table has, so that facts can be read together with their tags."""


def filing_values(filing: Filing) -> dict[str, SqlValue]:
    """Columns of `filings`, without row numbers."""
    identity = filing.identity
    return {
        "doc_id": filing.doc_id,
        "source": filing.source,
        "content_hash": filing.content_hash,
        "reader_version": read_by(),
        "company": identity.company,
        "form": identity.form.value,
        "fiscal_year": identity.fiscal_year,
        "quarter": identity.quarter,
        "period_end": _iso(identity.period_end),
        "fiscal_year_end_month": identity.fiscal_year_end_month,
        "filed": _iso(identity.filed),
        "ticker": identity.ticker,
        "cik": identity.cik,
        "file_number": identity.file_number,
        "employer_id": identity.employer_id,
        "other_names": json.dumps(identity.other_names),
        "amended": int(identity.amended),
        "results": _period_text(identity.results),
        "page_count": len(filing.pages),
        "passage_count": len(filing.passages),
        "fact_count": len(filing.facts),
    }


def detail_values(filing: Filing, summary: str) -> dict[str, SqlValue]:
    """Columns of `filing_details`, without row numbers."""
    return {
        "sources": json.dumps([astuple(source) for source in filing.identity.sources]),
        "items": json.dumps([astuple(start) for start in filing.items]),
        "notes": json.dumps([astuple(note) for note in filing.notes]),
        "warnings": json.dumps([astuple(warning) for warning in filing.warnings]),
        "summary": summary,
    }


def filing_record(row: sqlite3.Row) -> FilingRecord:
    """A row of `filings` joined with its row of `filing_details`."""
    sources = tuple(
        FieldSource(field, value, Origin(origin), printed, confidence, page)
        for field, value, origin, printed, confidence, page in json.loads(row["sources"])
    )
    return FilingRecord(
        doc_id=row["doc_id"],
        source=row["source"],
        content_hash=row["content_hash"],
        identity=_identity([row[column] for column in _IDENTITY_COLUMNS], sources),
        summary=row["summary"],
        page_count=row["page_count"],
        passage_count=row["passage_count"],
        fact_count=row["fact_count"],
        items=tuple(ItemStart(*start) for start in json.loads(row["items"])),
        notes=tuple(Note(*note) for note in json.loads(row["notes"])),
        warnings=tuple(ReadWarning(*warning) for warning in json.loads(row["warnings"])),
    )


_IDENTITY_COLUMNS = (
    "company", "form", "fiscal_year", "quarter", "period_end", "fiscal_year_end_month", "filed", "ticker", "cik",
    "file_number", "employer_id", "other_names", "amended", "results",
)  # fmt: skip
ENTRY_SELECTION = ", ".join(("doc_id", "content_hash", "page_count", *_IDENTITY_COLUMNS))
"""Columns of `filings` that `filing_entry` takes, in its order."""


def filing_entry(row: sqlite3.Row) -> FilingEntry:
    """A row of ENTRY_SELECTION."""
    doc_id, content_hash, page_count, *identity = row
    return FilingEntry(doc_id, content_hash, _identity(identity), page_count)


def _identity(columns: Sequence[Any], sources: tuple[FieldSource, ...] = ()) -> Identity:
    company, form, fiscal_year, quarter, period_end, year_end_month, filed, ticker, cik, *others = columns
    file_number, employer_id, other_names, amended, results = others
    return Identity(
        company=company,
        form=Form(form),
        fiscal_year=fiscal_year,
        quarter=quarter,
        period_end=_date(period_end),
        fiscal_year_end_month=year_end_month,
        filed=_date(filed),
        ticker=ticker,
        cik=cik,
        file_number=file_number,
        employer_id=employer_id,
        other_names=() if other_names == _NONE else tuple(json.loads(other_names)),
        amended=bool(amended),
        results=_period(results),
        sources=sources,
    )


_NONE = "[]"
"""No names, as JSON; most filings have none, and lists of very many are read at once."""


def page_values(page: Page) -> dict[str, SqlValue]:
    """Columns of `pages`, without row numbers."""
    return {
        "number": page.number,
        "text": page.text,
        "item": page.item,
        "statement": page.statement,
        "title": page.title,
        "kind": page.kind,
        "note": page.note,
        "further_statements": json.dumps(page.further_statements),
    }


def page(row: sqlite3.Row) -> Page:
    """A row of `pages`."""
    statement = Statement(row["statement"]) if row["statement"] else None
    kind = TableKind(row["kind"]) if row["kind"] else None
    further = tuple(map(Statement, json.loads(row["further_statements"])))
    return Page(row["number"], row["text"], row["item"], statement, row["title"], kind, row["note"], further)


def passage_values(passage: Passage) -> dict[str, SqlValue]:
    """Columns of `passages`, without row numbers."""
    return {
        "page": passage.page,
        "ordinal": passage.ordinal,
        "kind": passage.kind.value,
        "text": passage.text,
        "box": _box_text(passage.box),
    }


def passage(row: sqlite3.Row) -> Passage:
    """A row of `passages`."""
    return Passage(row["page"], row["ordinal"], PassageKind(row["kind"]), row["text"], _box(row["box"]))


def fact_values(fact: Fact, tag: int | None) -> tuple[SqlValue, ...]:
    """Values of FACT_COLUMNS after the first; `tag` is the ordinal of the fact's tag among those of its filing."""
    period = fact.period
    return (
        fact.page, fact.line, fact.metric, fact.label, json.dumps(fact.section), str(fact.amount),
        fact.scale, fact.unit, period.fiscal_year, period.quarter, period.months, _iso(period.end), fact.column,
        fact.statement, fact.scope, fact.source, int(fact.tied), int(fact.inverted), _box_text(fact.box), tag,
        json.dumps(fact.column_path), fact.caption, fact.note, fact.part_kind, int(fact.proved), int(fact.doubtful),
    )  # fmt: skip


def fact(row: sqlite3.Row) -> Fact:
    """A row of `facts`."""
    return Fact(
        label=row["label"],
        amount=Decimal(row["amount"]),
        scale=row["scale"],
        unit=row["unit"],
        period=FactPeriod(row["fiscal_year"], row["quarter"], row["months"], _date(row["period_end"])),
        page=row["page"],
        box=_box(row["box"]) or Box(0, 0, 0, 0),
        metric=row["metric"],
        section=tuple(json.loads(row["section"])),
        line=row["line"],
        column=row["column_header"],
        statement=Statement(row["statement"]) if row["statement"] else None,
        scope=row["scope"],
        source=row["source"],
        tied=bool(row["tied"]),
        inverted=bool(row["inverted"]),
        column_path=tuple(json.loads(row["column_path"])),
        caption=row["caption"],
        note=row["note"],
        part_kind=row["part_kind"],
        proved=bool(row["proved"]),
        doubtful=bool(row["doubtful"]),
        tag=tag(row) if row["concept"] is not None else None,
    )


def tag_values(tag: Tag, ordinal: int) -> tuple[SqlValue, ...]:
    """Values of TAG_COLUMNS after the first."""
    return (
        ordinal, tag.concept, None if tag.value is None else str(tag.value), tag.text, tag.context,
        _iso(tag.start), _iso(tag.end), json.dumps(tag.members), tag.unit, tag.decimals, int(tag.nil),
        int(tag.numeric), tag.page, _box_text(tag.box), json.dumps(tag.flags),
    )  # fmt: skip


def tag(row: sqlite3.Row) -> Tag:
    """The columns of `tags` as TAG_SELECTION names them."""
    return Tag(
        concept=row["concept"],
        value=None if row["tag_value"] is None else Decimal(row["tag_value"]),
        text=row["tag_text"],
        context=row["tag_context"],
        end=_date(row["tag_end"]),
        start=_date(row["tag_start"]),
        members=tuple((axis, member) for axis, member in json.loads(row["tag_members"])),
        unit=row["tag_unit"],
        decimals=row["tag_decimals"],
        nil=bool(row["tag_nil"]),
        numeric=bool(row["tag_numeric"]),
        page=row["tag_page"],
        box=_box(row["tag_box"]),
        flags=tuple(json.loads(row["tag_flags"])),
    )


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None


@lru_cache(maxsize=10_000)
def _date(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def _period_text(period: FactPeriod | None) -> str | None:
    return json.dumps((period.fiscal_year, period.quarter, period.months, _iso(period.end))) if period else None


def _period(text: str | None) -> FactPeriod | None:
    if not text:
        return None
    fiscal_year, quarter, months, end = json.loads(text)
    return FactPeriod(fiscal_year, quarter, months, _date(end))


def _box_text(box: Box | None) -> str | None:
    return ",".join(f"{side:.1f}" for side in box) if box else None


def _box(text: str | None) -> Box | None:
    return Box(*map(float, text.split(","))) if text else None
