"""Where a fact stands beyond its row and column: the title of its table and the note it belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fin_agent.filings.tables.of_statement import heading_of
from fin_agent.filings.tables.sums import proved_boxes
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.page import Note, PageContent
from fin_agent.vocabulary.table import Table


def with_addresses(
    facts: Iterable[Fact],
    tables: Sequence[Table],
    pages: Sequence[PageContent],
    notes: Sequence[Note],
    note_of_page: Mapping[int, str],
) -> list[Fact]:
    """`facts` with the caption of their table, the title of their note, and whether a sum bears them out.

    `note_of_page` gives the number of the note that each page belongs to, by the page's number.
    """
    text_of = {page.number: page.text for page in pages}
    caption_at = {
        (table.page, row.line): caption
        for table in tables
        if (caption := heading_of(table.caption, text_of[table.page]))
        for row in table.rows
    }
    proved = proved_boxes(tables)
    title_of = {note.number: note.title for note in notes}
    return [
        replace(
            fact,
            caption=caption_at.get((fact.page, fact.line), ""),
            note=title_of.get(note_of_page.get(fact.page, ""), ""),
            proved=(fact.page, fact.box) in proved,
        )
        for fact in facts
    ]
