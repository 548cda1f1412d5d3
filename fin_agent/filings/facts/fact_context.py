"""Add context to facts: the title of their table, their note, the kind of their part, and confirmation by sums."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from fin_agent.filings.outline.statements import heading_of
from fin_agent.filings.tables.sum_detection import sum_evidence
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.page import Note, PageContent, Statement
from fin_agent.vocabulary.table import Table


def with_addresses(
    facts: Iterable[Fact],
    tables: Sequence[Table],
    pages: Sequence[PageContent],
    notes: Sequence[Note],
    note_of_page: Mapping[int, str],
) -> list[Fact]:
    """Return `facts` with the caption of their table, the title of their note, the kind of their part, and their proof.

    Args:
        facts: Facts of the filing.
        tables: Tables of the filing.
        pages: Pages of the filing.
        notes: Notes of the filing.
        note_of_page: Number of the note that each page belongs to, by page number.
    """
    text_of = {page.number: page.text for page in pages}
    caption_at = {
        (table.page, row.line): caption
        for table in tables
        if (caption := heading_of(table.caption, text_of[table.page]))
        for row in table.rows
    }
    proofs = sum_evidence(tables)
    title_of = {note.number: note.title for note in notes}
    addressed = []
    for fact in facts:
        caption = caption_at.get((fact.page, fact.line), "")
        note = title_of.get(note_of_page.get(fact.page, ""), "")
        place = (fact.page, fact.box)
        addressed.append(
            replace(
                fact,
                caption=caption,
                note=note,
                part_kind=fact.part_kind or _part_kind(fact, caption, note),
                proved=place in proofs.proved,
                doubtful=place in proofs.contradicted,
            )
        )
    return addressed


def _part_kind(fact: Fact, caption: str, note: str) -> str | None:
    """Return the kind of a fact's part from its tag's axis, otherwise from headings, caption or note, nearest first."""
    if fact.tag is not None and fact.tag.axes:
        return next((kind for axis in fact.tag.axes if (kind := _KIND_OF_AXIS.get(axis))), None)
    if fact.scope is None:
        return None
    if fact.statement is Statement.EQUITY:
        return "equity component"
    texts = (fact.scope, *reversed(fact.column_path), *reversed(fact.row_path), caption, note)
    return next((kind for text in texts if (kind := _kind_of_words(text))), None)


@lru_cache(maxsize=16_384)
def _kind_of_words(text: str) -> str | None:
    return next((kind for kind, words in _KIND_OF_WORDS if words.search(text)), None)


_KIND_OF_AXIS = {
    "StatementBusinessSegmentsAxis": "segment",
    "SubsegmentsAxis": "segment",
    "ProductOrServiceAxis": "product",
    "StatementGeographicalAxis": "region",
    "StatementEquityComponentsAxis": "equity component",
    "MajorCustomersAxis": "customer",
    "FairValueByFairValueHierarchyLevelAxis": "fair value level",
    "DebtInstrumentAxis": "debt instrument",
    "LongtermDebtTypeAxis": "debt instrument",
    "FinancialInstrumentAxis": "security",
    "DerivativeInstrumentRiskAxis": "security",
    "AwardTypeAxis": "award",
    "LegalEntityAxis": "entity",
    "CounterpartyNameAxis": "counterparty",
    "BusinessAcquisitionAxis": "acquisition",
    "RetirementPlanTypeAxis": "plan",
    "PropertyPlantAndEquipmentByTypeAxis": "asset class",
    "FiniteLivedIntangibleAssetsByMajorClassAxis": "asset class",
}
_KIND_OF_WORDS = tuple(
    (kind, re.compile(rf"\b(?:{words})", re.I))
    for kind, words in (
        ("fair value level", r"level (?:[123]|i{1,3})\b|significant (?:other )?(?:un)?observable"),
        ("segment", "segments?\\b"),
        (
            "region",
            r"geograph|countr(?:y|ies)\b|regions?\b|domestic\b|international\b|united states\b|u\.s\.|europe|asia|"
            r"americas?\b|emea\b|china\b|japan\b|latin\b|foreign\b",
        ),
        ("customer", r"customers?\b"),
        (
            "debt instrument",
            r"(?:senior |convertible )?notes due|debentures?\b|term loan|credit (?:facility|agreement)|debt\b",
        ),
        ("security", r"securities\b|bonds?\b|derivatives?\b|swaps?\b|forwards?\b|investments?\b"),
        ("award", r"stock options?\b|restricted stock|rsus?\b|awards?\b"),
        ("plan", r"pension|postretirement|plans?\b"),
        (
            "product",
            r"products?\b|services?\b|brands?\b|categor|platforms?\b|channels?\b|lines? of business|revenues?\b",
        ),
        ("asset class", r"intangible|property|equipment|goodwill"),
    )
)
