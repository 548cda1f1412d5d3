"""`fin-agent show`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from fin_agent.atomic_write import atomic_write
from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import IndexOptions, command
from fin_agent.errors import FilingIndexError
from fin_agent.filings.facts.fact_selection import facts_named, similar_names, years_of
from fin_agent.filings.outline.statements import StatementPart
from fin_agent.filings.page_rendering import Frame, FrameColor, FramedPage, draw_pages
from fin_agent.index.protocol import FilingRecord, PageKey
from fin_agent.presentation import filings as views
from fin_agent.presentation.json_fields import as_plain, fields_of
from fin_agent.presentation.pages import page_number_printed, page_view, statement_view
from fin_agent.presentation.terminal_text import count_with_noun, plain
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.page import Page, Statement
from fin_agent.vocabulary.table import Table
from fin_agent.workspace import Workspace

_DPI = 110
_RUN = "name first_page=first last_page=last"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """The part of a filing to show."""

    page: int | None = None
    statement: Statement | None = None
    facts: bool = False
    fact: str | None = None
    year: int | None = None
    image: Path | None = None

    @property
    def lists_facts(self) -> bool:
        """Whether figures are shown."""
        return self.facts or self.fact is not None


@command
def show(doc_id: str, wanted: ShowOptions, on: IndexOptions) -> ExitCode:
    """Show a filing, or a page, statement or figures of it. `--json` counts pages and lines from 0."""
    _refuse_contradictions(wanted)
    with on.open_workspace() as workspace:
        record = workspace.index.filing(doc_id)
        outline = [stored.page for stored in workspace.index.outline([record.doc_id])]
        pages, tables, parts = list[Page](), list[Table](), list[StatementPart]()
        if wanted.statement is not None:
            pages, parts = _statement(workspace, record, wanted.statement)
            tables = [part.table for part in parts]
        elif wanted.page is not None:
            pages, tables = _page(workspace, record, wanted.page)
        facts = _facts(workspace, record, wanted, pages, tables if parts else None) if wanted.lists_facts else []
        document: dict[str, object] = {"doc_id": record.doc_id}
        if wanted.image is not None:
            fact = facts[0] if wanted.fact is not None else None
            if fact is not None and not pages:
                pages, tables = _page(workspace, record, fact.page + 1)
            images, told = write_pictures(record, wanted.image, pages, tables, fact)
            on.show(document | {"images": images})
            if not on.as_json:
                for line in told:
                    print(plain(line))  # not through rich: a folded file name cannot be copied
        elif wanted.lists_facts:
            on.show(document | {"facts": [_fact_fields(fact) for fact in facts]}, views.facts_view(record, facts))
        elif wanted.statement is not None:
            shown = [{"title": part.title, **as_plain(part.table)} for part in parts]
            document |= {"statement": wanted.statement.value, "tables": shown}
            on.show(document, statement_view(record, parts))
        elif wanted.page is not None:
            printed = page_number_printed(workspace.index, PageKey(record.doc_id, pages[0].number))
            document |= _page_fields(workspace, record, pages[0], tables, printed) if on.as_json else {}
            on.show(document, page_view(record, pages[0], printed))
        else:
            on.show(_filing_fields(record, outline), views.overview(record, outline))
    return ExitCode.DONE


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


def _page(workspace: Workspace, record: FilingRecord, number: int) -> tuple[list[Page], list[Table]]:
    """Return a page by its number, from 1, and its tables."""
    if not 1 <= number <= record.page_count:
        remedy = f"Give a page from 1 to {record.page_count:,}"
        raise FilingIndexError(f"there is no page {number:,}", subject=record.doc_id, remedy=remedy)
    keys = [PageKey(record.doc_id, number - 1)]
    return [stored.page for stored in workspace.index.pages(keys)], list(workspace.index.tables(keys))


def _statement(
    workspace: Workspace, record: FilingRecord, statement: Statement
) -> tuple[list[Page], list[StatementPart]]:
    """Return the pages and tables of a primary statement."""
    pages, parts = views.statement_parts(workspace, record.doc_id, statement)
    numbers = [page.number for page in pages if statement in views.statements_on(page)]
    if not parts:
        found = ", ".join(dict.fromkeys(each.value for page in pages for each in views.statements_on(page)))
        what = f"no {statement.value} statement was found in this filing"
        remedy = f"Choose one of these: {found}" if found else "None of its pages has a statement"
        if numbers:
            what = f"no table was read of the {statement.value} statement"
            remedy = f"Look at its page with `--page {numbers[0] + 1}`"
        raise FilingIndexError(what, subject=record.doc_id, remedy=remedy)
    shown = {*numbers, *(part.table.page for part in parts)}
    return [page for page in pages if page.number in shown], parts


def _facts(
    workspace: Workspace,
    record: FilingRecord,
    wanted: ShowOptions,
    pages: Sequence[Page],
    tables: Sequence[Table] | None,
) -> list[Fact]:
    """Return the figures of these tables, else of the pages, else of the whole filing."""
    keys = [PageKey(record.doc_id, page.number) for page in pages] or None
    facts = [sourced.fact for sourced in workspace.index.facts([record.doc_id], pages=keys)]
    if tables is not None:
        boxes = [(table.page, table.box) for table in tables]
        facts = [
            fact for fact in facts if any(fact.page == at and box.contains_center_of(fact.box) for at, box in boxes)
        ]
    if wanted.fact is None:
        return facts
    name = views.resolve_fact_name(wanted.fact, facts, workspace.lexicon)
    named = facts_named(facts, name, wanted.year, record.identity)
    if not named:
        year = f" for fiscal {wanted.year}" if wanted.year else ""
        what = f"there is no figure called `{wanted.fact}`{year}{' on these pages' if keys else ''}"
        raise FilingIndexError(what, subject=record.doc_id, remedy=_suggestions(facts, name))
    return named


def _suggestions(facts: Sequence[Fact], name: str) -> str:
    """Return the years with such a figure; else names similar to `name`."""
    if years := years_of(facts, name):
        return f"Choose another year: there are figures of {', '.join(map(str, years))}"
    names = [f"`{near}`" for near in similar_names(facts, name)]
    return f"Did you mean {' or '.join(names)}?" if names else "`--facts` lists the figures that were read"


def write_pictures(
    record: FilingRecord, file: Path, pages: Sequence[Page], tables: Sequence[Table], fact: Fact | None, dpi: int = _DPI
) -> tuple[list[dict[str, object]], list[str]]:
    """Draw `pages` with their tables and the fact framed; several pages become FILE-1.png, FILE-2.png and so on.

    Raises WriteError, or ReadError if the filing's file is missing or has changed.

    Returns:
        For each picture its file, page (0-based), tables and fact, and what it shows in one sentence.
    """
    wanted: list[FramedPage] = []
    written: list[dict[str, object]] = []
    told: list[str] = []
    for at, page in enumerate(pages, start=1):
        boxes = [table.box for table in tables if table.page == page.number]
        frames = [Frame(box, FrameColor.TABLE) for box in boxes]
        target = str(file if len(pages) == 1 else file.with_stem(f"{file.stem}-{at}"))
        told.append(f"{target}: page {page.number + 1}, {count_with_noun(len(boxes), 'table')} framed in blue")
        here = fact if fact is not None and fact.page == page.number else None
        if here is not None:
            frames.append(Frame(here.box, FrameColor.FACT, views.fact_line(here)))
            told[-1] += f"; in red {views.fact_line(here)}"
        wanted.append(FramedPage(page.number, tuple(frames)))
        fields = {"file": target, "page": page.number, "tables": as_plain(boxes)}
        written.append({**fields, "fact": _fact_fields(here) if here else None})
    drawn = draw_pages(Path(record.source), record.content_hash, wanted, dpi)
    for picture, content in zip(written, drawn, strict=True):
        atomic_write(Path(str(picture["file"])), content)
    return written, told


def _filing_fields(record: FilingRecord, outline: Sequence[Page]) -> dict[str, object]:
    return {
        **fields_of(record, "doc_id source content_hash pages=page_count passages=passage_count facts=fact_count"),
        **fields_of(record, "identity"),
        "conflicts": as_plain(record.identity.conflicts()),
        "statements": [fields_of(run, f"statement={_RUN}") for run in views.statement_runs(outline)],
        "items": [fields_of(run, f"item={_RUN}") for run in views.item_runs(outline, record.items)],
        **fields_of(record, "notes warnings"),
    }


def _page_fields(
    workspace: Workspace, record: FilingRecord, page: Page, tables: Sequence[Table], printed: str | None
) -> dict[str, object]:
    """Return a page for JSON, with its text, tables and inline XBRL tags."""
    return {
        **fields_of(page, "page=number item"),
        "statements": [each.value for each in views.statements_on(page)],
        **fields_of(page, "kind note title text"),
        "tables": as_plain(tables),
        "tags": as_plain(workspace.index.tags(record.doc_id, page=page.number)),
        "warnings": [warning.what for warning in record.warnings if warning.page == page.number],
        "printed_page": printed,
    }


def _fact_fields(fact: Fact) -> dict[str, object]:
    return {**as_plain(fact), "value": as_plain(fact.value)}
