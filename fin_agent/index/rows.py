"""Rows of the embedded index to values of the engine, and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal

from fin_agent.filings.filing import (
    Box,
    Fact,
    FactPeriod,
    Filing,
    Form,
    Identity,
    Page,
    Passage,
    PassageKind,
    Statement,
)
from fin_agent.filings.reader import READER_VERSION
from fin_agent.index.protocol import FilingRecord

SqlValue = str | int | float | None

FACT_COLUMNS = (
    "filing_id", "page", "line", "metric", "label", "section", "amount", "scale", "unit", "fiscal_year", "quarter",
    "months", "period_end", "column_header", "statement", "scope", "source", "tied", "inverted", "box",
)  # fmt: skip


def insert(table: str, values: Mapping[str, SqlValue]) -> tuple[str, tuple[SqlValue, ...]]:
    """An INSERT statement and its values."""
    return insert_statement(table, tuple(values)), tuple(values.values())


def insert_statement(table: str, columns: Sequence[str]) -> str:
    """An INSERT statement with a mark for each column."""
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def filing_values(filing: Filing, summary: str, first_page: int) -> dict[str, SqlValue]:
    """Columns of `filings`."""
    identity = filing.identity
    return {
        "doc_id": filing.doc_id,
        "source": filing.source,
        "content_hash": filing.content_hash,
        "reader_version": READER_VERSION,
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
        "sources": json.dumps(identity.sources),
        "summary": summary,
        "page_count": len(filing.pages),
        "passage_count": len(filing.passages),
        "fact_count": len(filing.facts),
        "first_page": first_page,
        "last_page": first_page + len(filing.pages) - 1,
    }


def filing_record(row: sqlite3.Row) -> FilingRecord:
    """A row of `filings`."""
    return FilingRecord(
        doc_id=row["doc_id"],
        source=row["source"],
        content_hash=row["content_hash"],
        identity=Identity(
            company=row["company"],
            form=Form(row["form"]),
            fiscal_year=row["fiscal_year"],
            quarter=row["quarter"],
            period_end=_date(row["period_end"]),
            fiscal_year_end_month=row["fiscal_year_end_month"],
            filed=_date(row["filed"]),
            ticker=row["ticker"],
            cik=row["cik"],
            file_number=row["file_number"],
            employer_id=row["employer_id"],
            other_names=tuple(json.loads(row["other_names"])),
            amended=bool(row["amended"]),
            sources=tuple((name, text) for name, text in json.loads(row["sources"])),
        ),
        summary=row["summary"],
        page_count=row["page_count"],
        passage_count=row["passage_count"],
        fact_count=row["fact_count"],
    )


def page_values(page: Page, row_id: int, filing_id: int) -> dict[str, SqlValue]:
    """Columns of `pages`."""
    return {
        "id": row_id,
        "filing_id": filing_id,
        "number": page.number,
        "text": page.text,
        "item": page.item,
        "statement": page.statement,
        "title": page.title,
    }


def page(row: sqlite3.Row) -> Page:
    """A row of `pages`."""
    statement = Statement(row["statement"]) if row["statement"] else None
    return Page(row["number"], row["text"], row["item"], statement, row["title"])


def passage_values(passage: Passage, filing_id: int) -> dict[str, SqlValue]:
    """Columns of `passages`."""
    return {
        "filing_id": filing_id,
        "page": passage.page,
        "ordinal": passage.ordinal,
        "kind": passage.kind.value,
        "text": passage.text,
        "box": _box_text(passage.box),
    }


def passage(row: sqlite3.Row) -> Passage:
    """A row of `passages`."""
    return Passage(row["page"], row["ordinal"], PassageKind(row["kind"]), row["text"], _box(row["box"]))


def fact_values(fact: Fact, filing_id: int) -> tuple[SqlValue, ...]:
    """Values of FACT_COLUMNS."""
    period = fact.period
    return (
        filing_id, fact.page, fact.line, fact.metric, fact.label, json.dumps(fact.section), str(fact.amount),
        fact.scale, fact.unit, period.fiscal_year, period.quarter, period.months, _iso(period.end), fact.column,
        fact.statement, fact.scope, fact.source, int(fact.tied), int(fact.inverted), _box_text(fact.box),
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
    )


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None


def _date(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def _box_text(box: Box | None) -> str | None:
    return ",".join(f"{side:.1f}" for side in box) if box else None


def _box(text: str | None) -> Box | None:
    return Box(*map(float, text.split(","))) if text else None
