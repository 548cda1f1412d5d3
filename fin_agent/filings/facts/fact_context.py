"""Add context to facts: the title of their table, their note, the kind of their part, and confirmation by sums."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from fin_agent.filings.outline.statements import heading_of
from fin_agent.filings.tables.sum_detection import sum_evidence
from fin_agent.lexicon.words import patterns, word_lists
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
    """Return `facts` with the caption of their table, their note, the kind of their part and what sums say of them."""
    text_of = {page.number: page.text for page in pages}
    caption_at = {
        (table.page, row.line): caption
        for table in tables
        if (caption := heading_of(table.caption, text_of[table.page]))
        for row in table.rows
    }
    proofs = sum_evidence(tables)
    title_of = {note.number: note.title for note in notes}

    def addressed(fact: Fact) -> Fact:
        caption = caption_at.get((fact.page, fact.line), "")
        note = title_of.get(note_of_page.get(fact.page, ""), "")
        place = (fact.page, fact.box)
        return replace(
            fact,
            caption=caption,
            note=note,
            part_kind=fact.part_kind or _part_kind(fact, caption, note),
            proved=place in proofs.proved,
            doubtful=place in proofs.contradicted,
        )

    return list(map(addressed, facts))


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
    return next((kind for kind, words in patterns("part_kind_patterns").items() if words.search(text)), None)


_KIND_OF_AXIS = {axis: kind for kind, axes in word_lists("part_axes").items() for axis in axes}
