"""What a card is made from: a passage with its page, its table, its note and its figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from fin_agent.filings.tables.periods import FiscalCalendar
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.filing import Filing, Passage, PassageKind
from fin_agent.vocabulary.identity import Identity
from fin_agent.vocabulary.page import Note, Page
from fin_agent.vocabulary.table import Table


@dataclass(frozen=True, slots=True)
class PassageSource:
    """A passage and everything that reading its filing found about it."""

    doc_id: str
    identity: Identity
    calendar: FiscalCalendar | None
    passage: Passage
    page: Page
    flat: str
    """Its text in lower case with single spaces and one at either end: what cue phrases are looked for in."""
    facts: tuple[Fact, ...]
    """Those printed in it, top to bottom."""
    table: Table | None = None
    """Of a passage that is a table."""
    note: Note | None = None

    @property
    def is_table(self) -> bool:
        """Whether it is one table, and not a stretch of the page's running text."""
        return self.passage.kind is PassageKind.TABLE


def sources_of(filing: Filing) -> Iterator[PassageSource]:
    """One for each passage, in their order; passages on pages that the filing does not have are given an empty page."""
    pages = {page.number: page for page in filing.pages}
    facts = _by_page(filing.facts)
    tables: dict[int, list[Table]] = {}
    for table in filing.tables:
        tables.setdefault(table.page, []).append(table)
    calendar = FiscalCalendar.of(filing.identity)
    for number, group in groupby(filing.passages, lambda passage: passage.page):
        page = pages.get(number) or Page(number, "")
        note = _note_of(page, filing.notes)
        passages = list(group)
        flats = [flat_text(passage.text) for passage in passages]
        held = facts_in_passages(passages, facts.get(number, ()), flats)
        for passage, flat, own in zip(passages, flats, held, strict=True):
            yield PassageSource(
                doc_id=filing.doc_id,
                identity=filing.identity,
                calendar=calendar,
                passage=passage,
                page=page,
                flat=flat,
                facts=own,
                table=_table_of(passage, tables.get(number, ())) if passage.kind is PassageKind.TABLE else None,
                note=note,
            )


def facts_in_passages(
    passages: Sequence[Passage], facts: Sequence[Fact], flats: Sequence[str] | None = None
) -> list[tuple[Fact, ...]]:
    """Facts of one page by its passages, in their order: those in a table's box, those printed in a span of text.

    Running text repeats its page's tables, so a fact may stand in a span and in a table. `flats` are the texts of the
    passages as `flat_text` gives them, where they are known.
    """
    flats = flats if flats is not None else [flat_text(passage.text) for passage in passages]
    texts = {at: flats[at] for at, passage in enumerate(passages) if passage.kind is PassageKind.TEXT}
    shared = _shared(facts, texts)
    return [shared[at] if at in shared else tuple(_inside(passage, facts)) for at, passage in enumerate(passages)]


def flat_text(text: str) -> str:
    """In lower case with single spaces and one at either end."""
    return f" {' '.join(text.lower().split())} "


def _by_page(facts: Sequence[Fact]) -> dict[int, list[Fact]]:
    by_page: dict[int, list[Fact]] = {}
    for fact in facts:
        by_page.setdefault(fact.page, []).append(fact)
    return by_page


def _note_of(page: Page, notes: Sequence[Note]) -> Note | None:
    if page.note is None:
        return None
    named = [note for note in notes if note.number == page.note]
    around = [note for note in named if note.first_page <= page.number <= note.last_page]
    return next(iter(around or named), None)


def _inside(passage: Passage, facts: Sequence[Fact]) -> Iterator[Fact]:
    box = passage.box
    return (fact for fact in facts if box is not None and box.spans_height_of(fact.box))


def _table_of(passage: Passage, tables: Sequence[Table]) -> Table | None:
    return next((table for table in tables if table.box == passage.box), None)


def _shared(facts: Sequence[Fact], spans: Mapping[int, str]) -> dict[int, tuple[Fact, ...]]:
    """Facts of a page by the span of text that their line is printed in; all of them where there is but one span."""
    if len(spans) < 2:
        return {at: tuple(facts) for at in spans}
    shared: dict[int, list[Fact]] = {at: [] for at in spans}
    current = min(spans)
    holders: dict[str, list[int]] = {}
    for fact in facts:
        label = " ".join(fact.label.lower().split())
        if label not in holders:
            holders[label] = [at for at, flat in spans.items() if label in flat]
        holding = holders[label]
        if len(holding) != 1:
            # The label stands in several spans, or its lines are parted by other words: the figure itself decides.
            printed = f"{abs(fact.amount):,}"
            holding = [at for at in holding or spans if printed in spans[at]]
        if holding and current not in holding:
            current = holding[0]
        shared[current].append(fact)
    return {at: tuple(own) for at, own in shared.items()}
