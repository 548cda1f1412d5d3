"""Pages and statements as they read: text as laid out, tables set as tables where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from fin_agent.filings.outline.statements import StatementPart, caption_lines
from fin_agent.filings.passages import table_text
from fin_agent.index.protocol import FilingRecord
from fin_agent.presentation.filings import whose
from fin_agent.presentation.plain import one_line, plain, told_warnings
from fin_agent.presentation.tables import FiguresTable
from fin_agent.vocabulary.page import Page
from fin_agent.vocabulary.table import Row, Table


def page_view(
    record: FilingRecord, page: Page, tables: Sequence[Table], printed_as: str | None = None
) -> RenderableType:
    """The page under a line that says where it stands in its filing."""
    parts: list[RenderableType] = [page_head(record, page, printed_as)]
    for is_table, run in groupby(laid_out(page.text, tables), key=lambda part: isinstance(part, Table)):
        if is_table:
            for table in run:
                assert isinstance(table, Table)
                parts += [Text(), *table_view(table)]
        elif (text := _PageText([line for line in run if isinstance(line, str)])).lines:
            parts += [Text(), text]
    for warning in told_warnings(each for each in record.warnings if each.page == page.number):
        parts += [Text(), Text(one_line(f"warning: {warning}"), style="yellow")]
    return Group(*parts)


def page_head(record: FilingRecord, page: Page, printed_as: str | None = None) -> Text:
    """`BOEING_2022_10K, page 55 of 190, printed as 53: Item 8, income`."""
    part = [page.item if page.item and not page.item[0].isdigit() else f"Item {page.item}" if page.item else ""]
    part += [f"note {page.note}" if page.note else ""]
    part += [each.value for each in (page.statement, *page.further_statements, page.kind) if each is not None]
    said = ", ".join(each for each in part if each)
    printed = f", printed as {printed_as}" if printed_as else ""
    place = f"page {page.number + 1} of {record.page_count:,}{printed}"
    return Text.assemble((one_line(record.doc_id), "bold"), f", {place}", f": {said}" if said else "")


def laid_out(text: str, tables: Sequence[Table]) -> Iterator[str | Table]:
    """Lines of the page's text, each table in the place of the lines it was read from.

    Lines amid a table that are not in it (a row without figures) follow it; a table whose lines are not found in the
    text comes last.
    """
    lines = [plain(line).rstrip().replace("\t", "    ") for line in text.strip("\n").split("\n")]
    titles = {line for table in tables for line in caption_lines(table.caption, text)}
    spans = [(span, table) for table in tables if table.rows and (span := _span_of(table, lines, titles)) is not None]
    spans.sort(key=lambda found: (found[0].first, found[0].last))
    position = 0
    placed: set[int] = set()
    for span, table in spans:
        if span.last < position:
            continue
        yield from lines[position : span.first]
        yield table
        yield from (lines[index] for index in span.strays if index >= position)
        placed.add(id(table))
        position = span.last + 1
    yield from lines[position:]
    for table in tables:
        if id(table) not in placed and table.rows:
            yield ""
            yield table


class _PageText:
    """Lines as printed where they fit; else paragraphs of them, wrapped anew."""

    def __init__(self, lines: Sequence[str]) -> None:
        """Blank lines at both ends and repeated ones are left out."""
        kept: list[str] = []
        for line in lines:
            if line or (kept and kept[-1]):
                kept.append(line)
        while kept and not kept[-1]:
            kept.pop()
        self.lines = kept

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widest = max(map(len, self.lines), default=0)
        for line in self.lines if widest <= options.max_width else _paragraphs(self.lines, widest):
            yield Text(line, overflow="fold")


def _paragraphs(lines: Sequence[str], widest: int) -> Iterator[str]:
    """Lines joined with the one after where they are as full as running text is."""
    paragraph = ""
    full = False
    for line in lines:
        if full and line and not (paragraph.endswith(".") and _is_heading(line)):
            paragraph = f"{paragraph} {line.strip()}"
        else:
            if paragraph or full:
                yield paragraph
            elif not line:
                yield ""
            paragraph = line
        full = len(line) >= _FULL * widest and line.count(" ") >= _PROSE_SPACES
        if not full:
            if paragraph:
                yield paragraph
            paragraph = ""
    if paragraph:
        yield paragraph


def _is_heading(line: str) -> bool:
    words = [word for word in line.split() if len(word) > 3]
    return 0 < len(words) <= _HEADING_WORDS and not any(word[0].islower() for word in words)


@dataclass(frozen=True, slots=True)
class _Span:
    first: int
    last: int
    strays: tuple[int, ...]
    """Lines within that are none of the table's."""


_FULL = 0.75
_PROSE_SPACES = 8
_HEADING_WORDS = 10
_WORD = re.compile(r"[^\W_]+")
_STRAY = 1.5
"""What a line that is none of the table's costs, measured in lines that are."""
_FOOTNOTE_MARKS = re.compile(r"(?<=[a-z,.])\s*(?:\(\w{1,2}\)[\s,]*)+$", re.I)
"""After a label; tables leave them out."""
_FEWEST_STRAY_WORDS = 3
_FIGURE = re.compile(r"\d{2}")
_MARK = 4
"""Letters and digits of a line that may be a mark in a cell, a footnote's sign, or a page number."""
_MOST_STRAY = 3
"""Lines in a row that are none of the table's end it: another one may show the same rows below."""


def _span_of(table: Table, lines: Sequence[str], titles: set[str]) -> _Span | None:
    """The stretch of lines that holds most of the table's and least else; None where it is not on the page.

    It does not run over a line of `titles`: another table begins there.
    """
    said = _words(table_text(replace(table, caption="")))
    if not said:
        return None
    whole = f" {' '.join(said)} "
    known = set(said)
    best, span = 0.0, None
    held, most, first = 0.0, 0.0, 0
    strays: list[int] = []
    for index, line in enumerate(lines):
        words = _words(_FOOTNOTE_MARKS.sub("", line) or line)
        if held <= 0 or held < most - _MOST_STRAY * _STRAY:
            held, most, first, strays = 0.0, 0.0, index, []
        if not words:
            continue
        belongs = _belongs(words, whole, known)
        held = -1.0 if belongs < 0 and " ".join(line.split()) in titles else held + belongs
        if belongs < 0 and (len(words) >= _FEWEST_STRAY_WORDS or _FIGURE.search(line)):
            strays.append(index)
        most = max(most, held)
        if held > best:
            best, span = held, _Span(first, index, tuple(strays))
    return span if best >= len(table.rows) / 2 else None


def _belongs(words: Sequence[str], whole: str, known: set[str]) -> float:
    if f" {' '.join(words)} " in whole:
        return 1.0
    if sum(map(len, words)) <= _MARK:
        return 0.0
    # A row whose cells the reader put on one line, or a label with a mark or two that the table leaves out.
    foreign = sum(1 for word in words if word not in known)
    return 1.0 if foreign <= len(words) // 6 else -_STRAY


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


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
