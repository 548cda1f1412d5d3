"""`fin-agent show`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from fin_agent.atomic_write import atomic_write
from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import IndexOptions, command
from fin_agent.cli.streams import as_plain, fields_of
from fin_agent.errors import FilingIndexError
from fin_agent.filings.facts.fact_selection import facts_named, similar_names, years_of
from fin_agent.filings.outline.statements import StatementPart, parts_of_statement
from fin_agent.filings.page_rendering import Frame, FrameColor, FramedPage, draw_pages
from fin_agent.index.opening import not_indexed
from fin_agent.index.protocol import FilingIndex, FilingRecord, PageKey, PageOutline
from fin_agent.presentation.filings import (
    fact_line,
    facts_view,
    item_runs,
    metric_by_name,
    overview,
    statement_runs,
    statements_found,
    statements_on,
)
from fin_agent.presentation.pages import page_view, statement_view
from fin_agent.presentation.terminal_text import plain
from fin_agent.vocabulary.fact import Fact, Tag
from fin_agent.vocabulary.page import Page, Statement, printed_number
from fin_agent.vocabulary.table import Table
from fin_agent.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """The part of a filing to show.

    Attributes:
        page (--page N): Show this page: its text, with one line per table row.
        statement (--statement NAME): Show this primary statement: income, comprehensive-income, balance, cash-flow or
            equity.
        facts (--facts): List the figures that were read there, or in the whole filing.
        fact (--fact NAME): Only figures of this name: a metric or a name for it, an XBRL concept, a label.
        year (--year N): Fiscal year of the --fact, as the company names it.
        image (--image FILE.png): Draw the page instead, with its tables and the --fact framed; several pages become
            FILE-1.png and so on.
    """

    page: Annotated[int | None, typer.Option(min=1)] = None
    statement: Statement | None = None
    facts: bool = False
    fact: str | None = None
    year: int | None = None
    image: Path | None = None


@command
def show(doc_id: str, wanted: ShowOptions, on: IndexOptions) -> ExitCode:
    """Show a filing, or a page, statement or figures of it. `--json` counts pages and lines from 0.

    On the command line:
        doc_id (DOC_ID): A filing, as `fin-agent filings` lists it.
    """
    _refuse_contradictions(wanted)
    with on.open_workspace() as workspace:
        shown = _FilingSelection(workspace, _record(workspace.index, doc_id), wanted)
        if wanted.image is not None:
            written = write_pictures(shown.record, wanted.image, shown.pages, shown.tables, shown.fact)
            if on.as_json:
                on.show({"doc_id": shown.record.doc_id, "images": [each.fields() for each in written]})
            else:
                for each in written:
                    print(plain(each.sentence))  # not through rich: a folded file name cannot be copied
        elif on.as_json:
            on.show(shown.fields())
        else:
            on.show({}, shown.view())
    return ExitCode.DONE


class _FilingSelection:
    """The selected part of a filing, read from the index."""

    def __init__(self, workspace: Workspace, record: FilingRecord, wanted: ShowOptions) -> None:
        index = self.index = workspace.index
        self.lexicon = workspace.lexicon
        self.record = record
        self.wanted = wanted
        self.outline = index.outline([record.doc_id])
        self.pages: list[Page] = []
        self.tables: list[Table] = []
        self.parts: list[StatementPart] = []
        self.facts: list[Fact] = []
        self.fact: Fact | None = None
        if wanted.statement is not None:
            self._take_statement(index, wanted.statement)
        elif wanted.page is not None:
            self._take_page(index, wanted.page)
        if wanted.facts or wanted.fact is not None:
            self._take_facts(index)
        if wanted.image is not None and not self.pages and self.fact is not None:
            self._take_page(index, self.fact.page + 1)

    def view(self) -> RenderableType:
        """Return the selection for a terminal."""
        if self.wanted.facts or self.wanted.fact is not None:
            return facts_view(self.record, self.facts)
        if self.wanted.statement is not None:
            return statement_view(self.record, self.parts)
        if self.wanted.page is not None:
            return page_view(self.record, self.pages[0], self._printed_number())
        return overview(self.record, self.outline)

    def fields(self) -> dict[str, object]:
        """Return the selection for JSON."""
        if self.wanted.facts or self.wanted.fact is not None:
            return {"doc_id": self.record.doc_id, "facts": [fact_fields(fact) for fact in self.facts]}
        if self.wanted.statement is not None:
            return {
                "doc_id": self.record.doc_id,
                "statement": self.wanted.statement.value,
                "tables": [{"title": part.title, **as_plain(part.table)} for part in self.parts],
            }
        if self.wanted.page is not None:
            page = self.pages[0]
            tags = self.index.tags(self.record.doc_id, page=page.number)
            fields = page_fields(self.record, page, self.tables, tags)
            return {**fields, "printed_page": self._printed_number()}
        return filing_fields(self.record, self.outline)

    def _printed_number(self) -> str | None:
        page = self.pages[0]
        beside = [PageKey(self.record.doc_id, page.number + step) for step in (-1, 1) if page.number + step >= 0]
        return printed_number(page, [stored.page for stored in self.index.pages(beside)])

    def _take_statement(self, index: FilingIndex, statement: Statement) -> None:
        keys = [page.key for page in self.outline if statements_on(page)]
        pages = [stored.page for stored in index.pages(keys)]
        self.parts = parts_of_statement(statement, pages, index.tables(keys), self.lexicon.statement_titles)
        self.tables = [part.table for part in self.parts]
        on = {table.page for table in self.tables} | {
            page.key.page for page in self.outline if statement in statements_on(page)
        }
        self.pages = [page for page in pages if page.number in on]
        if not self.pages:
            raise FilingIndexError(
                f"no {statement.value} statement was found in this filing",
                subject=self.record.doc_id,
                remedy=_statements_there(statements_found(self.outline)),
            )
        if not self.parts and self.wanted.image is None:
            numbers = ", ".join(str(page.number + 1) for page in self.pages)
            raise FilingIndexError(
                f"the {statement.value} statement is on page {numbers}, but no table was read there",
                subject=self.record.doc_id,
                remedy=f"Look at the page's text with `--page {self.pages[0].number + 1}`",
            )

    def _take_page(self, index: FilingIndex, page: int) -> None:
        if not 1 <= page <= self.record.page_count:
            raise FilingIndexError(
                f"there is no page {page:,}",
                subject=self.record.doc_id,
                remedy=f"Give a page from 1 to {self.record.page_count:,}",
            )
        keys = [PageKey(self.record.doc_id, page - 1)]
        self.pages = [stored.page for stored in index.pages(keys)]
        self.tables = index.tables(keys)

    def _take_facts(self, index: FilingIndex) -> None:
        doc_id = self.record.doc_id
        keys = [PageKey(doc_id, page.number) for page in self.pages] or None
        self.facts = [sourced.fact for sourced in index.facts([doc_id], pages=keys)]
        if self.parts:
            self.facts = [fact for fact in self.facts if any(_one_of(fact, table) for table in self.tables)]
        if self.wanted.fact is None:
            return
        every, year, name = self.facts, self.wanted.year, self.wanted.fact
        if not years_of(every, name):
            name = metric_by_name(name, self.lexicon) or name
        self.facts = facts_named(every, name, year, self.record.identity)
        if not self.facts:
            raise FilingIndexError(
                f"there is no figure called `{self.wanted.fact}`"
                + (f" for fiscal {year}" if year else "")
                + (" on these pages" if keys else ""),
                subject=doc_id,
                remedy=_suggestions(every, name),
            )
        self.fact = self.facts[0]


def _refuse_contradictions(wanted: ShowOptions) -> None:
    if wanted.page is not None and wanted.statement is not None:
        raise typer.BadParameter("give --page or --statement, not both")
    if wanted.year is not None and wanted.fact is None:
        raise typer.BadParameter("--year selects the year of a --fact: give --fact too")
    if wanted.image is not None:
        if wanted.page is None and wanted.statement is None and wanted.fact is None:
            raise typer.BadParameter("--image draws a page: select one with --page, --statement or --fact")
        if wanted.image.suffix.lower() != ".png":
            raise typer.BadParameter(f"--image writes PNG pictures: call the file {wanted.image.stem}.png")


def _record(index: FilingIndex, doc_id: str) -> FilingRecord:
    """Return the filing, also if its name is written in other capitals."""
    names = {record.doc_id: record for record in index.filings()}
    if doc_id in names:
        return names[doc_id]
    same = [name for name in names if name.casefold() == doc_id.casefold()]
    if len(same) == 1:
        return names[same[0]]
    raise not_indexed(doc_id, names)


def _statements_there(found: Sequence[Statement]) -> str:
    if not found:
        return "None of its pages has a primary statement"
    return f"Choose one of these: {', '.join(statement.value for statement in found)}"


def _suggestions(facts: Sequence[Fact], name: str) -> str:
    """Return the years with such a figure; else names similar to `name`."""
    if years := years_of(facts, name):
        return f"Choose another year: there are figures of {', '.join(map(str, years))}"
    names = [f"`{near}`" for near in similar_names(facts, name)]
    return f"Did you mean {' or '.join(names)}?" if names else "`--facts` lists the figures that were read"


def _one_of(fact: Fact, table: Table) -> bool:
    middle = (fact.box.y0 + fact.box.y1) / 2
    across = (fact.box.x0 + fact.box.x1) / 2
    box = table.box
    return fact.page == table.page and box.y0 - 1 <= middle <= box.y1 + 1 and box.x0 - 1 <= across <= box.x1 + 1


@dataclass(frozen=True, slots=True)
class WrittenPicture:
    """A picture that was written, and what is framed on it."""

    file: Path
    page: int
    """0-based."""
    tables: tuple[Table, ...]
    fact: Fact | None

    def fields(self) -> dict[str, object]:
        """Return the picture for JSON."""
        fact = fact_fields(self.fact) if self.fact else None
        return {**fields_of(self, "file page"), "tables": [as_plain(table.box) for table in self.tables], "fact": fact}

    @property
    def sentence(self) -> str:
        """The picture in one sentence."""
        many = f"{len(self.tables)} table{'' if len(self.tables) == 1 else 's'}"
        said = f"{self.file}: page {self.page + 1}, {many} framed in blue"
        return f"{said}; in red {fact_line(self.fact)}" if self.fact is not None else said


def write_pictures(
    record: FilingRecord, file: Path, pages: Sequence[Page], tables: Sequence[Table], fact: Fact | None, dpi: int = 110
) -> list[WrittenPicture]:
    """Draw `pages` with their tables and the fact framed; several pages become FILE-1.png, FILE-2.png and so on.

    Raises:
        WriteError: A file cannot be written.
        ReadError: The filing's file is missing or has changed.
    """
    numbers = [page.number for page in pages]
    files = [file] if len(numbers) == 1 else [file.with_stem(f"{file.stem}-{at}") for at in range(1, len(numbers) + 1)]
    pictures = [
        WrittenPicture(
            target,
            number,
            tuple(table for table in tables if table.page == number),
            fact if fact is not None and fact.page == number else None,
        )
        for target, number in zip(files, numbers, strict=True)
    ]
    wanted = [FramedPage(picture.page, tuple(_frames(picture))) for picture in pictures]
    for picture, drawn in zip(pictures, draw_pages(Path(record.source), record.content_hash, wanted, dpi), strict=True):
        atomic_write(picture.file, drawn)
    return pictures


def _frames(picture: WrittenPicture) -> list[Frame]:
    frames = [Frame(table.box, FrameColor.TABLE) for table in picture.tables]
    if picture.fact is not None:
        frames.append(Frame(picture.fact.box, FrameColor.FACT, fact_line(picture.fact)))
    return frames


def filing_fields(record: FilingRecord, outline: Sequence[PageOutline]) -> dict[str, object]:
    """Return an overview of a filing for JSON."""
    return {
        **fields_of(record, "doc_id source content_hash pages=page_count passages=passage_count facts=fact_count"),
        "identity": as_plain(record.identity),
        "conflicts": as_plain(record.identity.conflicts()),
        "statements": [fields_of(run, f"statement={_RUN}") for run in statement_runs(outline)],
        "items": [fields_of(run, f"item={_RUN}") for run in item_runs(outline, record.items)],
        "notes": as_plain(record.notes),
        "warnings": as_plain(record.warnings),
    }


def page_fields(record: FilingRecord, page: Page, tables: Sequence[Table], tags: Sequence[Tag]) -> dict[str, object]:
    """Return a page for JSON, with its text, tables and inline XBRL tags."""
    return {
        "doc_id": record.doc_id,
        **fields_of(page, "page=number item"),
        "statements": [each.value for each in (page.statement, *page.further_statements) if each is not None],
        **fields_of(page, "kind note title text"),
        "tables": as_plain(tables),
        "tags": as_plain(tags),
        "warnings": [warning.what for warning in record.warnings if warning.page == page.number],
    }


def fact_fields(fact: Fact) -> dict[str, object]:
    """Return a fact with all its attributes for JSON."""
    return {**as_plain(fact), "value": as_plain(fact.value)}


_RUN = "name first_page=first last_page=last"
