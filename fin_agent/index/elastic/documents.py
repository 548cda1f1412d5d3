"""A filing as documents of a cluster's indices."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import date
from itertools import groupby

from fin_agent.index.packed_tables import packed_tables
from fin_agent.vocabulary.fact import Fact, FactPeriod, Tag
from fin_agent.vocabulary.filing import Filing
from fin_agent.vocabulary.identity import Identity
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box

NO_PAGE = -1
"""Stands for the page of tags that no reader sees."""

Source = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Document:
    """One document: the index it goes to, its id there, and its source as JSON."""

    kind: str
    id: str
    source: bytes


def parts_of(filing: Filing, cards: Sequence[str], generation: str) -> Iterator[Document]:
    """Everything of a filing but the document that makes it visible.

    Raises ValueError where passages and cards differ in number, or a text cannot be written as UTF-8.
    """
    common = {"doc_id": filing.doc_id, "content_hash": filing.content_hash, "generation": generation}
    for page in filing.pages:
        yield document(
            "pages",
            f"{generation}-{page.number}",
            common
            | {
                "number": page.number,
                "text": page.text,
                "item": page.item,
                "statement": page.statement,
                "title": page.title,
                "kind": page.kind,
                "note": page.note,
                "further_statements": list(page.further_statements),
            },
        )
    for passage, card in zip(filing.passages, cards, strict=True):
        yield document(
            "passages",
            f"{generation}-{passage.ordinal}",
            common
            | {
                "page": passage.page,
                "ordinal": passage.ordinal,
                "kind": passage.kind.value,
                "text": passage.text,
                "box": {"sides": _box(passage.box)} if passage.box else None,
                "card": card,
            },
        )
    for page_number, figures in _figures(filing):
        id = f"{generation}-{page_number}"
        yield document("figures", id, {"generation": generation, "page": page_number, **figures})


def filing_source(filing: Filing, summary: str, generation: str, mark: int, written: int) -> dict[str, object]:
    """The document that makes a filing visible."""
    identity = filing.identity
    return {
        "doc_id": filing.doc_id,
        "content_hash": filing.content_hash,
        "generation": generation,
        "mark": mark,
        "written": written,
        "source": filing.source,
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
        "other_names": list(identity.other_names),
        "amended": identity.amended,
        "results": {"period": _period(identity.results)} if identity.results else None,
        "page_count": len(filing.pages),
        "passage_count": len(filing.passages),
        "fact_count": len(filing.facts),
        "parts": sorted(parts_named(filing.facts)),
        "summary": summary,
        "details": {
            "sources": [astuple(source) for source in identity.sources],
            "items": [astuple(start) for start in filing.items],
            "notes": [astuple(note) for note in filing.notes],
            "warnings": [astuple(warning) for warning in filing.warnings],
        },
    }


def document(kind: str, id: str, source: Source) -> Document:
    """A document whose source is written out. Raises ValueError for what UTF-8 cannot hold (half a character)."""
    return Document(kind, id, written_out(source))


def written_out(source: Source) -> bytes:
    """JSON on one line; fields without a value are left out."""
    held = {name: value for name, value in source.items() if value is not None}
    return json.dumps(held, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def id_of(doc_id: str) -> str:
    """The id of a filing's own document: doc_ids may be longer than ids may be."""
    return hashlib.sha256(doc_id.encode("utf-8", "surrogatepass")).hexdigest()


def routing_of(identity: Identity) -> str:
    """What all parts of a company's filings are routed by, so that they stand on one shard."""
    company = identity.cik.lstrip("0") if identity.cik else identity.company.casefold()
    return hashlib.sha256(company.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def parts_named(facts: Sequence[Fact]) -> set[str]:
    """See FilingIndex.parts. Scopes, rows of tagged parts, rows into which an income statement divides revenue."""
    named: set[str] = set()
    for fact in facts:
        if fact.scope is not None and fact.metric is not None and fact.statement is not Statement.EQUITY:
            named.add(fact.scope)
            if fact.tag is not None:
                named.add(fact.label)
        if fact.statement is Statement.INCOME:
            section = json.dumps(fact.section).lower()
            if "revenue" in section or "sales" in section or "cost of" in section:
                named.add(fact.label)
    return named


def _figures(filing: Filing) -> Iterator[tuple[int, Source]]:
    """(page, what stands on it of facts, tags and tables), by page."""
    by_identity = {id(tag): ordinal for ordinal, tag in enumerate(filing.tags)}
    by_value: dict[Tag, int] = {}
    for ordinal, tag in enumerate(filing.tags):
        by_value.setdefault(tag, ordinal)

    def ordinal_of(tag: Tag | None) -> int | None:
        return None if tag is None else by_identity.get(id(tag), by_value.get(tag))

    facts = sorted(enumerate(filing.facts), key=lambda pair: pair[1].page)
    facts_of = {page: list(pairs) for page, pairs in groupby(facts, key=lambda pair: pair[1].page)}
    tagged = sorted(enumerate(filing.tags), key=lambda pair: _page_of(pair[1]))
    tags_of = {page: list(pairs) for page, pairs in groupby(tagged, key=lambda pair: _page_of(pair[1]))}
    tables_of = dict(packed_tables(sorted(filing.tables, key=lambda table: table.page)))
    for page in sorted({*facts_of, *tags_of, *tables_of}):
        on_page = facts_of.get(page, [])
        own = dict(tags_of.get(page, []))
        ordinals = {ordinal_of(fact.tag) for _, fact in on_page} - {None}
        linked = sorted(ordinal for ordinal in ordinals if ordinal is not None and ordinal not in own)
        packed = tables_of.get(page)
        yield (
            page,
            {
                "metrics": sorted({fact.metric for _, fact in on_page if fact.metric is not None}),
                "facts": {"all": [_fact(ordinal, fact, ordinal_of(fact.tag)) for ordinal, fact in on_page]},
                "rows": {"all": _rows(fact for _, fact in on_page)},
                "tags": {"all": [_tag(ordinal, tag) for ordinal, tag in own.items()]},
                "linked": {"all": [_tag(ordinal, filing.tags[ordinal]) for ordinal in linked]},
                "tables": base64.b64encode(packed).decode() if packed else None,
            },
        )


def _page_of(tag: Tag) -> int:
    return NO_PAGE if tag.page is None else tag.page


def _rows(facts: Iterator[Fact]) -> list[tuple[object, ...]]:
    """Labels of rows with figures of whole companies, once for each period."""
    whole = (fact for fact in facts if fact.scope is None)
    rows = ((fact.label, fact.statement, fact.period.fiscal_year, fact.period.quarter) for fact in whole)
    return list(dict.fromkeys(rows))


def _fact(ordinal: int, fact: Fact, tag: int | None) -> tuple[object, ...]:
    return (
        ordinal, fact.line, fact.metric, fact.label, fact.section, str(fact.amount), fact.scale, fact.unit,
        _period(fact.period), fact.column, fact.statement, fact.scope, fact.source, fact.tied, fact.inverted,
        _box(fact.box), tag, fact.column_path, fact.caption, fact.note, fact.part_kind, fact.proved, fact.doubtful,
    )  # fmt: skip


def _tag(ordinal: int, tag: Tag) -> tuple[object, ...]:
    return (
        ordinal, tag.concept, None if tag.value is None else str(tag.value), tag.text, tag.context, _iso(tag.start),
        _iso(tag.end), tag.members, tag.unit, tag.decimals, tag.nil, tag.numeric, tag.page,
        _box(tag.box) if tag.box else None, tag.flags,
    )  # fmt: skip


def _period(period: FactPeriod) -> tuple[int, int | None, int, str | None]:
    return period.fiscal_year, period.quarter, period.months, _iso(period.end)


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None


def _box(box: Box) -> list[float]:
    return [float(f"{side:.1f}") for side in box]
