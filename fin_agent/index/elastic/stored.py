"""Documents of a cluster's indices as values of the engine."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any

from fin_agent.index.elastic.documents import NO_PAGE
from fin_agent.index.packed_tables import unpacked_tables
from fin_agent.index.protocol import FilingEntry, FilingRecord
from fin_agent.vocabulary.fact import Fact, FactPeriod, Tag
from fin_agent.vocabulary.filing import Passage, PassageKind, ReadWarning
from fin_agent.vocabulary.identity import FieldSource, Form, Identity, Origin
from fin_agent.vocabulary.page import ItemStart, Note, Page, Statement, TableKind
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Table

Source = Mapping[str, Any]

ENTRY_FIELDS = (
    "doc_id", "content_hash", "generation", "mark", "page_count", "company", "form", "fiscal_year", "quarter",
    "period_end", "fiscal_year_end_month", "filed", "ticker", "cik", "file_number", "employer_id", "other_names",
    "amended", "results",
)  # fmt: skip
"""Fields of a filing's document that a list of very many is made of."""


def filing_entry(source: Source) -> FilingEntry:
    """A filing as listed with what tells it apart."""
    return FilingEntry(source["doc_id"], source["content_hash"], _identity(source), source["page_count"])


def filing_record(source: Source) -> FilingRecord:
    """A filing as listed in full."""
    details = source["details"]
    sources = tuple(
        FieldSource(field, value, Origin(origin), printed, confidence, page)
        for field, value, origin, printed, confidence, page in details["sources"]
    )
    return FilingRecord(
        doc_id=source["doc_id"],
        source=source["source"],
        content_hash=source["content_hash"],
        identity=_identity(source, sources),
        summary=source["summary"],
        page_count=source["page_count"],
        passage_count=source["passage_count"],
        fact_count=source["fact_count"],
        items=tuple(ItemStart(*start) for start in details["items"]),
        notes=tuple(Note(*note) for note in details["notes"]),
        warnings=tuple(ReadWarning(*warning) for warning in details["warnings"]),
    )


def _identity(source: Source, sources: tuple[FieldSource, ...] = ()) -> Identity:
    results = source.get("results")
    return Identity(
        company=source["company"],
        form=Form(source["form"]),
        fiscal_year=source.get("fiscal_year"),
        quarter=source.get("quarter"),
        period_end=_date(source.get("period_end")),
        fiscal_year_end_month=source.get("fiscal_year_end_month"),
        filed=_date(source.get("filed")),
        ticker=source.get("ticker"),
        cik=source.get("cik"),
        file_number=source.get("file_number"),
        employer_id=source.get("employer_id"),
        other_names=tuple(source.get("other_names", ())),
        amended=source["amended"],
        results=_period(results["period"]) if results else None,
        sources=sources,
    )


def page(source: Source) -> Page:
    """A document of `pages`."""
    statement, kind = source.get("statement"), source.get("kind")
    further = tuple(map(Statement, source.get("further_statements", ())))
    return Page(
        source["number"],
        source["text"],
        source.get("item"),
        Statement(statement) if statement else None,
        source["title"],
        TableKind(kind) if kind else None,
        source.get("note"),
        further,
    )


def passage(source: Source) -> Passage:
    """A document of `passages`."""
    box = source.get("box")
    kind = PassageKind(source["kind"])
    return Passage(source["page"], source["ordinal"], kind, source["text"], Box(*box["sides"]) if box else None)


def facts(source: Source) -> list[tuple[int, Fact]]:
    """Facts of a document of `figures`, each with its position among those of the filing."""
    held: dict[int, Sequence[Any]] = {tag[0]: tag for kind in ("tags", "linked") for tag in source[kind]["all"]}
    return [(fact[0], _fact(fact, source["page"], held)) for fact in source["facts"]["all"]]


def tags(source: Source) -> list[tuple[int, Tag]]:
    """Tags that stand on the page of a document of `figures`, each with its position in the file."""
    return [(tag[0], _tag(tag)) for tag in source["tags"]["all"]]


def tables(source: Source) -> list[Table]:
    """Tables of a document of `figures`."""
    packed = source.get("tables")
    return unpacked_tables(base64.b64decode(packed), source["page"]) if packed else []


def is_hidden(page_number: int) -> bool:
    """Whether what stands there stands on no page that a reader sees."""
    return page_number == NO_PAGE


def _fact(packed: Sequence[Any], page_number: int, held: Mapping[int, Sequence[Any]]) -> Fact:
    (_, line, metric, label, section, amount, scale, unit, period, column, statement, scope, origin, tied, inverted,
     box, tag, column_path, caption, note, part_kind, proved, doubtful) = packed  # fmt: skip
    return Fact(
        label=label,
        amount=Decimal(amount),
        scale=scale,
        unit=unit,
        period=_period(period),
        page=page_number,
        box=Box(*box),
        metric=metric,
        section=tuple(section),
        line=line,
        column=column,
        statement=Statement(statement) if statement else None,
        scope=scope,
        source=origin,
        tied=tied,
        inverted=inverted,
        column_path=tuple(column_path),
        caption=caption,
        note=note,
        part_kind=part_kind,
        proved=proved,
        doubtful=doubtful,
        tag=None if tag is None else _tag(held[tag]),
    )


def _tag(packed: Sequence[Any]) -> Tag:
    (_, concept, value, text, context, start, end, members, unit, decimals, nil, numeric, on_page, box,
     flags) = packed  # fmt: skip
    return Tag(
        concept=concept,
        value=None if value is None else Decimal(value),
        text=text,
        context=context,
        end=_date(end),
        start=_date(start),
        members=tuple((axis, member) for axis, member in members),
        unit=unit,
        decimals=decimals,
        nil=nil,
        numeric=numeric,
        page=on_page,
        box=Box(*box) if box else None,
        flags=tuple(flags),
    )


def _period(packed: Sequence[Any]) -> FactPeriod:
    fiscal_year, quarter, months, end = packed
    return FactPeriod(fiscal_year, quarter, months, _date(end))


@lru_cache(maxsize=10_000)
def _date(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None
