"""A statement as an analyst reads it: its title, what the figures are in, its table, and the pages it stands on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from fin_agent.filings.tables.of_statement import StatementPart
from fin_agent.index.protocol import FilingRecord
from fin_agent.presentation.filings import period_of
from fin_agent.presentation.plain import one_line
from fin_agent.presentation.tables import FiguresTable
from fin_agent.vocabulary.table import Row, Table


def statement_view(record: FilingRecord, parts: Sequence[StatementPart]) -> RenderableType:
    """All tables of a statement; those that go on from page to page under the same columns as one."""
    shown: list[RenderableType] = []
    title = ""
    for run in joined(parts):
        if shown:
            shown.append(Text())
        if run.title and run.title != title:
            shown.append(Text(run.title, style="bold"))
        if not shown or run.title not in ("", title):
            shown.append(Text(whose(record)))
        title = run.title or title
        figures = FiguresTable(run.columns, run.rows, dollars=not run.unit_line, page_starts=run.starts)
        shown += [*_unit(run.unit_line), figures]
        shown.append(Text(f"{one_line(record.doc_id)}, {_pages(run.pages)}", style="dim"))
    return Group(*shown)


@dataclass(frozen=True, slots=True)
class JoinedTable:
    """Tables that follow each other under the same columns."""

    title: str
    unit_line: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    pages: tuple[int, ...]
    """0-based, in order."""
    starts: dict[int, int]
    """Position of the row that a further page begins with -> that page."""


def joined(parts: Sequence[StatementPart]) -> list[JoinedTable]:
    """The tables of a statement, joined where one goes on in the next."""
    runs: list[list[StatementPart]] = []
    for part in parts:
        if runs and _goes_on(runs[-1][-1].table, part.table):
            runs[-1].append(part)
        else:
            runs.append([part])
    return [_joined(run) for run in runs]


def whose(record: FilingRecord) -> str:
    """`The Boeing Company, 10-K, FY2022`."""
    identity = record.identity
    return f"{one_line(identity.company)}, {identity.form.value}, {period_of(identity)}"


def table_view(table: Table) -> Iterator[RenderableType]:
    """A table as it stands on a page, with its unit line; its caption is part of the page's text."""
    yield from _unit(table.unit_line)
    yield FiguresTable(table.columns, table.rows, dollars=not table.unit_line)


_CONTINUED = re.compile(r"\s*[(\[,–—-]*\s*\bcont(?:inued|['’]?d)\.?\s*[)\]]*", re.I)


def _goes_on(table: Table, following: Table) -> bool:
    same = table.columns == following.columns or (table.periods == following.periods and any(table.periods))
    return same and len(table.columns) == len(following.columns) and table.unit_line == following.unit_line


def _joined(parts: Sequence[StatementPart]) -> JoinedTable:
    first = parts[0].table
    rows: list[Row] = []
    pages: list[int] = []
    starts: dict[int, int] = {}
    for part in parts:
        if pages and part.table.page != pages[-1]:
            starts[len(rows)] = part.table.page
        if part.table.page not in pages:
            pages.append(part.table.page)
        rows += part.table.rows
    title = one_line(_CONTINUED.sub("", next((part.title for part in parts if part.title), "")))
    return JoinedTable(title, first.unit_line, first.columns, tuple(rows), tuple(pages), starts)


def _unit(unit_line: str) -> Iterator[Text]:
    if unit_line:
        yield Text(one_line(unit_line), style="italic")


def _pages(pages: Sequence[int]) -> str:
    numbers = ", ".join(str(page + 1) for page in pages)
    return f"page {numbers}" if len(pages) == 1 else f"pages {numbers}"
