"""Tables of Management's Discussion below a heading that is a segment's name hold figures of that segment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fin_agent.filings.tables.cells import flow_of
from fin_agent.lexicon.words import word_lists
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.runs import grouped
from fin_agent.vocabulary.table import Table

_DISCUSSIONS = ("7", "2", "I-2")
"""Items of Management's Discussion and Analysis in a 10-K and a 10-Q."""
_REACH = 2
"""Pages behind a heading on which its tables stand."""
_LONGEST_HEADING = 70
_MIN_FIGURES = 6
"""Figures elsewhere by which a segment is known."""
_SMALLEST_AMOUNT = 100
"""Smaller figures are alike by chance."""


def with_segments_of_headings(
    facts: Sequence[Fact],
    tables: Iterable[Table],
    pages: Iterable[PageContent],
    items: Mapping[int, str | None],
    company: str,
) -> list[Fact]:
    """Return `facts` with those of tables below a segment's heading as figures of the segment.

    A table that repeats a line of the statements or lists the segments is of the whole company; so may be those below
    the last heading of a segment, unless they repeat one of its figures.
    """
    known = Counter(fact.scope for fact in facts if fact.part_kind == "segment" and fact.scope)
    names = {_content(name, company): name for name, count in known.items() if count >= _MIN_FIGURES}
    names.pop(frozenset(), None)
    stated = {(fact.label, fact.amount) for fact in facts if fact.statement is not None}
    figures = {(fact.scope, abs(fact.amount)) for fact in facts if fact.scope in known}
    of_rows: dict[tuple[int, int], str] = {}
    for name, below, is_last in _sections(names, tables, pages, items, company):
        for table in below:
            cells = [(row.label, cell.amount) for row in table.rows for cell in row.cells if cell is not None]
            large = [(label, amount) for label, amount in cells if abs(amount) >= _SMALLEST_AMOUNT]
            lists = any(_content(row.label, company) in names for row in table.rows)
            repeats = any((name, abs(amount)) in figures for _, amount in large)
            if not lists and stated.isdisjoint(large) and (repeats or not is_last):
                of_rows |= {(table.page, row.line): name for row in table.rows}

    def placed(fact: Fact) -> Fact:
        name = of_rows.get((fact.page, fact.line)) if fact.scope is None and fact.source != "text" else None
        return replace(fact, scope=name, part_kind="segment") if name else fact

    return list(map(placed, facts))


def _sections(
    names: Mapping[frozenset[str], str],
    tables: Iterable[Table],
    pages: Iterable[PageContent],
    items: Mapping[int, str | None],
    company: str,
) -> list[tuple[str, list[Table], bool]]:
    """Return the segment that a heading names, the tables below it, and whether no heading of a segment follows."""
    of_page = grouped((table.page, table) for table in tables)
    sections: list[tuple[str, list[Table], bool]] = []
    since: int | None = None
    for page in pages:
        since = None if since is None or page.number - since > _REACH else since
        if items.get(page.number) not in _DISCUSSIONS:
            since = None
            continue
        flow, last, shown = flow_of(page), -1.0, of_page.get(page.number, ())
        for line in flow.lines:
            top = flow.box_on_page(line.box).y0
            if since is not None:
                sections[-1][1].extend(table for table in shown if last < table.box.y0 <= top)
            last = top
            inside = any(table.box.y0 - 1 <= top <= table.box.y1 for table in shown)
            heads = len(line.text) <= _LONGEST_HEADING and not inside
            if heads and (name := names.get(_content(line.text, company))):
                if since is not None:
                    sections[-1] = (*sections[-1][:2], False)
                sections.append((name, [], True))
                since = page.number
    return sections


def _content(text: str, company: str) -> frozenset[str]:
    words = text.lower().replace(",", " ").replace(":", " ").split()
    return frozenset(words).difference(company.lower().split(), word_lists("heading_words")["around a segment"])
