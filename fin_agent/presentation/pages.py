"""Views of pages and statements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from fin_agent.filings.outline.statements import StatementPart
from fin_agent.index.protocol import FilingRecord
from fin_agent.presentation.filings import filing_title
from fin_agent.presentation.tables import FiguresTable
from fin_agent.presentation.terminal_text import one_line, plain, warning_lines_by_page
from fin_agent.tools.result_formatting import join_number_rows
from fin_agent.vocabulary.page import Page
from fin_agent.vocabulary.table import Row, Table


def page_view(record: FilingRecord, page: Page, printed_as: str | None = None) -> RenderableType:
    """Return the text of a page, with one line per table row, under its place in the filing."""
    lines = [plain(line).rstrip().replace("\t", "    ") for line in join_number_rows(page.text.strip("\n")).split("\n")]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
    parts: list[RenderableType] = [page_head(record, page, printed_as), Text(), Text(text)]
    for warning in warning_lines_by_page(each for each in record.warnings if each.page == page.number):
        parts += [Text(), Text(one_line(f"warning: {warning}"), style="yellow")]
    return Group(*parts)


def page_head(record: FilingRecord, page: Page, printed_as: str | None = None) -> Text:
    """Return the place of a page: `BOEING_2022_10K, page 55 of 190, printed as 53: Item 8, income`."""
    part = [page.item if page.item and not page.item[0].isdigit() else f"Item {page.item}" if page.item else ""]
    part += [f"note {page.note}" if page.note else ""]
    part += [each.value for each in (page.statement, *page.further_statements, page.kind) if each is not None]
    said = ", ".join(each for each in part if each)
    printed = f", printed as {printed_as}" if printed_as else ""
    place = f"page {page.number + 1} of {record.page_count:,}{printed}"
    return Text.assemble((one_line(record.doc_id), "bold"), f", {place}", f": {said}" if said else "")


def statement_view(record: FilingRecord, parts: Sequence[StatementPart]) -> RenderableType:
    """Return all tables of a statement; tables that continue on the next page under the same columns are joined."""
    shown: list[RenderableType] = []
    title = ""
    for run in join_tables(parts):
        if shown:
            shown.append(Text())
        if run.title and run.title != title:
            shown.append(Text(run.title, style="bold"))
        if not shown or run.title not in ("", title):
            shown.append(Text(filing_title(record)))
        title = run.title or title
        figures = FiguresTable(run.columns, run.rows, dollars=not run.unit_line, page_starts=run.starts)
        shown += [*_unit(run.unit_line), figures]
        shown.append(Text(f"{one_line(record.doc_id)}, {_pages(run.pages)}", style="dim"))
    return Group(*shown)


@dataclass(frozen=True, slots=True)
class ContinuedTable:
    """Consecutive tables with the same columns."""

    title: str
    unit_line: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    pages: tuple[int, ...]
    """0-based, in order."""
    starts: dict[int, int]
    """Index of the first row on a further page -> that page."""


def join_tables(parts: Sequence[StatementPart]) -> list[ContinuedTable]:
    """Return the tables of a statement, joined if one continues in the next."""
    runs: list[list[StatementPart]] = []
    for part in parts:
        if runs and _goes_on(runs[-1][-1].table, part.table):
            runs[-1].append(part)
        else:
            runs.append([part])
    return [_joined(run) for run in runs]


def table_view(table: Table) -> Iterator[RenderableType]:
    """Yield a table with its unit line; its caption is part of the page's text."""
    yield from _unit(table.unit_line)
    yield FiguresTable(table.columns, table.rows, dollars=not table.unit_line)


_CONTINUED = re.compile(r"\s*[(\[,–—-]*\s*\bcont(?:inued|['’]?d)\.?\s*[)\]]*", re.I)


def _goes_on(table: Table, following: Table) -> bool:
    same = table.columns == following.columns or (table.periods == following.periods and any(table.periods))
    return same and len(table.columns) == len(following.columns) and table.unit_line == following.unit_line


def _joined(parts: Sequence[StatementPart]) -> ContinuedTable:
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
    return ContinuedTable(title, first.unit_line, first.columns, tuple(rows), tuple(pages), starts)


def _unit(unit_line: str) -> Iterator[Text]:
    if unit_line:
        yield Text(one_line(unit_line), style="italic")


def _pages(pages: Sequence[int]) -> str:
    numbers = ", ".join(str(page + 1) for page in pages)
    return f"page {numbers}" if len(pages) == 1 else f"pages {numbers}"
