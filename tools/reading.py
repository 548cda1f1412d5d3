"""Filings listed, their pages read, their passages described: nothing searched, nothing ranked."""

from __future__ import annotations

from datetime import date

from fin_agent.evidence.evidence import RetrievedPassage
from fin_agent.index.protocol import PageKey
from fin_agent.tools.arguments import Narrowed
from fin_agent.tools.artifacts import CardsMade, FilingListed, FilingsListed, PageRead, PagesRead
from fin_agent.tools.card_extraction import extract_cards
from fin_agent.tools.context import ToolContext
from fin_agent.tools.errors import ToolInputError
from fin_agent.tools.narrowing import known_id, narrowed
from fin_agent.tools.page_ranges import pages_in

MOST_PAGES = 20
"""Read or described at once."""


def filings_listed(context: ToolContext, to: Narrowed, limit: int) -> FilingsListed:
    """Filings by company, then time, as many as `limit`. Raises ToolInputError."""
    doc_ids = narrowed(context.workspace, to, context.within)
    wanted = None if doc_ids is None else frozenset(doc_ids)
    listed = [
        FilingListed.of(entry)
        for entry in context.workspace.index.entries()
        if wanted is None or entry.doc_id in wanted
    ]
    listed.sort(
        key=lambda filing: (
            filing.company.casefold(), filing.period_end or date.min, filing.form.value, filing.doc_id
        )
    )  # fmt: skip
    return FilingsListed(filings=tuple(listed[:limit]), total=len(listed))


def pages_read(context: ToolContext, doc_id: str, pages: str) -> PagesRead:
    """The pages named, with their text. Raises ToolInputError."""
    filing, numbers = _places(context, doc_id, pages)
    found = context.workspace.index.pages([PageKey(doc_id, number) for number in numbers])
    read = (
        PageRead(
            doc_id=doc_id,
            page=stored.page.number,
            title=stored.page.title,
            item=stored.page.item,
            statement=stored.page.statement,
            text=stored.page.text,
        )
        for stored in found
    )
    return PagesRead(filing=filing, pages=tuple(read))


def cards_made(context: ToolContext, doc_id: str, pages: str) -> CardsMade:
    """The card of every passage on the pages named, with its figures. Raises ToolInputError."""
    filing, numbers = _places(context, doc_id, pages)
    stored = context.workspace.index.passages([PageKey(doc_id, number) for number in numbers])
    passages = [RetrievedPassage.of(entry, 0.0, 1) for entry in stored]
    cards = extract_cards(passages, context.workspace, with_facts=True, maker=context.answering.card_maker)
    return CardsMade(filing=filing, cards=tuple(cards))


def _places(context: ToolContext, doc_id: str, pages: str) -> tuple[FilingListed, list[int]]:
    known_id(doc_id, context.workspace, context.within)
    filing = FilingListed.of(context.workspace.index.filing(doc_id))
    numbers = pages_in(pages, filing.pages)
    if len(numbers) > MOST_PAGES:
        raise ToolInputError(
            f"{len(numbers)} pages are more than are read at once", remedy=f"Name at most {MOST_PAGES} pages a call."
        )
    return filing, numbers
