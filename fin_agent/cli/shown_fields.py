"""What `fin-agent show --json` says, in plain types: pages and lines count from 0, figures are texts, unrounded."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.cli.picturing import WrittenPicture
from fin_agent.filings.tables.of_statement import StatementPart
from fin_agent.index.protocol import FilingRecord, PageOutline
from fin_agent.presentation.filings import PageRun, item_runs, statement_runs
from fin_agent.vocabulary.fact import Fact, FactPeriod, Tag
from fin_agent.vocabulary.identity import FieldSource
from fin_agent.vocabulary.page import Page
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Cell, Row, Table


def filing_fields(record: FilingRecord, outline: Sequence[PageOutline]) -> dict[str, object]:
    """A filing at a glance."""
    identity = record.identity
    return {
        "doc_id": record.doc_id,
        "source": record.source,
        "content_hash": record.content_hash,
        "pages": record.page_count,
        "passages": record.passage_count,
        "facts": record.fact_count,
        "identity": {
            "company": identity.company,
            "other_names": list(identity.other_names),
            "ticker": identity.ticker,
            "cik": identity.cik,
            "file_number": identity.file_number,
            "employer_id": identity.employer_id,
            "form": identity.form.value,
            "amended": identity.amended,
            "fiscal_year": identity.fiscal_year,
            "quarter": identity.quarter,
            "period_end": identity.period_end.isoformat() if identity.period_end else None,
            "fiscal_year_end_month": identity.fiscal_year_end_month,
            "filed": identity.filed.isoformat() if identity.filed else None,
        },
        "sources": [_source_fields(source) for source in identity.sources],
        "conflicts": [
            {"taken": _source_fields(taken), "other": _source_fields(other)} for taken, other in identity.conflicts()
        ],
        "statements": [_run_fields("statement", run) for run in statement_runs(outline)],
        "items": [_run_fields("item", run) for run in item_runs(outline, record.items)],
        "notes": [
            {"number": note.number, "title": note.title, "first_page": note.first_page, "last_page": note.last_page}
            for note in record.notes
        ],
        "warnings": [{"what": warning.what, "page": warning.page} for warning in record.warnings],
    }


def page_fields(record: FilingRecord, page: Page, tables: Sequence[Table], tags: Sequence[Tag]) -> dict[str, object]:
    """A page with its text and tables, and what inline XBRL says on it."""
    return {
        "doc_id": record.doc_id,
        "page": page.number,
        "item": page.item,
        "statements": [each.value for each in (page.statement, *page.further_statements) if each is not None],
        "kind": page.kind.value if page.kind else None,
        "note": page.note,
        "title": page.title,
        "text": page.text,
        "tables": [table_fields(table) for table in tables],
        "tags": [_tag(tag) for tag in tags],
        "warnings": [warning.what for warning in record.warnings if warning.page == page.number],
    }


def part_fields(part: StatementPart) -> dict[str, object]:
    """A table of a statement under its title."""
    return {"title": part.title, **table_fields(part.table)}


def table_fields(table: Table) -> dict[str, object]:
    """A table with its cells."""
    return {
        "page": table.page,
        "box": _box(table.box),
        "caption": table.caption,
        "unit_line": table.unit_line,
        "columns": list(table.columns),
        "periods": [_period(period) for period in table.periods],
        "rows": [_row(row) for row in table.rows],
    }


def fact_fields(fact: Fact) -> dict[str, object]:
    """A fact with all that is known of it."""
    return {
        "label": fact.label,
        "section": list(fact.section),
        "metric": fact.metric,
        "value": f"{fact.value:f}",
        "unit": fact.unit,
        "amount": f"{fact.amount:f}",
        "scale": fact.scale,
        "period": _period(fact.period),
        "scope": fact.scope,
        "statement": fact.statement.value if fact.statement else None,
        "page": fact.page,
        "line": fact.line,
        "box": _box(fact.box),
        "column": fact.column,
        "source": fact.source,
        "tied": fact.tied,
        "inverted": fact.inverted,
        "column_path": list(fact.column_path),
        "caption": fact.caption,
        "note": fact.note,
        "part_kind": fact.part_kind,
        "proved": fact.proved,
        "doubtful": fact.doubtful,
        "tag": _tag(fact.tag) if fact.tag else None,
    }


def picture_fields(picture: WrittenPicture) -> dict[str, object]:
    """A picture that was written."""
    return {
        "file": str(picture.file),
        "page": picture.page,
        "tables": [_box(table.box) for table in picture.tables],
        "fact": fact_fields(picture.fact) if picture.fact else None,
    }


def _tag(tag: Tag) -> dict[str, object]:
    return {
        "concept": tag.concept,
        "value": f"{tag.value:f}" if tag.value is not None else None,
        "text": tag.text,
        "context": tag.context,
        "start": tag.start.isoformat() if tag.start else None,
        "end": tag.end.isoformat() if tag.end else None,
        "members": [list(member) for member in tag.members],
        "unit": tag.unit,
        "decimals": tag.decimals,
        "nil": tag.nil,
        "numeric": tag.numeric,
        "box": _box(tag.box) if tag.box else None,
        "flags": list(tag.flags),
    }


def _row(row: Row) -> dict[str, object]:
    return {
        "label": row.label,
        "section": list(row.section),
        "line": row.line,
        "box": _box(row.box),
        "cells": [_cell(cell) if cell else None for cell in row.cells],
    }


def _cell(cell: Cell) -> dict[str, object]:
    return {
        "amount": f"{cell.amount:f}",
        "printed": cell.printed,
        "percent": cell.percent,
        "dollar": cell.dollar,
        "box": _box(cell.box),
    }


def _period(period: FactPeriod | None) -> dict[str, object] | None:
    if period is None:
        return None
    return {
        "fiscal_year": period.fiscal_year,
        "quarter": period.quarter,
        "months": period.months,
        "end": period.end.isoformat() if period.end else None,
    }


def _source_fields(source: FieldSource) -> dict[str, object]:
    return {
        "field": source.field,
        "value": source.value,
        "origin": source.origin.value,
        "printed": source.printed,
        "confidence": source.confidence,
        "page": source.page,
    }


def _run_fields(kind: str, run: PageRun) -> dict[str, object]:
    return {kind: run.name, "first_page": run.first, "last_page": run.last}


def _box(box: Box) -> list[float]:
    return [round(side, 1) for side in box]
