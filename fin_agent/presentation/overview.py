"""A filing at a glance: who and what it is and how that is known, its Items, statements, notes, and what is odd."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from fin_agent.index.protocol import FilingRecord, PageOutline
from fin_agent.presentation.counted import counted
from fin_agent.presentation.filings import cut, listing
from fin_agent.presentation.page_numbers import told_warnings
from fin_agent.presentation.plain import one_line
from fin_agent.presentation.statements import whose
from fin_agent.vocabulary.identity import FieldSource, Identity
from fin_agent.vocabulary.page import ItemStart, Statement


@dataclass(frozen=True, slots=True)
class PageRun:
    """Pages in a row that belong to one Item or statement."""

    name: str
    first: int
    last: int

    @property
    def printed(self) -> str:
        """`12` or `12-18`, as people count pages."""
        return f"{self.first + 1}" if self.first == self.last else f"{self.first + 1}-{self.last + 1}"


def overview(record: FilingRecord, outline: Sequence[PageOutline]) -> RenderableType:
    """The filing with a block for each of these that it has."""
    head = Text.assemble((one_line(record.doc_id), "bold"), f"  {whose(record)}")
    units = (record.page_count, "page"), (record.fact_count, "figure"), (record.passage_count, "passage")
    held = ", ".join(counted(number, unit) for number, unit in units)
    blocks: list[RenderableType] = [head, Text(held), Text(f"read from {one_line(record.source)}", style="dim")]
    for title, block in (
        ("Identity", _identity(record.identity)),
        ("Statements", _runs(statement_runs(outline), "Statement")),
        ("Items", _runs(item_runs(outline, record.items), "Item")),
        ("Notes", _notes(record)),
    ):
        if block is not None:
            blocks += [Text(), Text(title, style="bold underline"), block]
    blocks += _odd(record)
    return Group(*blocks)


def item_runs(outline: Sequence[PageOutline], starts: Sequence[ItemStart]) -> list[PageRun]:
    """Items in the order of their pages; one that is the most of no page stands with the page it begins on."""
    runs = _page_runs([(page.key.page, page.item) for page in outline])
    owning = {run.name for run in runs}
    order = {start.item: position for position, start in enumerate(starts)}
    short = [PageRun(start.item, start.page, start.page) for start in starts if start.item not in owning]
    return sorted([*runs, *short], key=lambda run: (run.first, order.get(run.name, -1)))


def statement_runs(outline: Sequence[PageOutline]) -> list[PageRun]:
    """Primary statements in the order of their first pages; a page may show several."""
    runs: list[PageRun] = []
    for name in statements_found(outline):
        runs += _page_runs([(page.key.page, name if name in statements_on(page) else None) for page in outline])
    return sorted(runs, key=lambda run: run.first)


def statements_on(page: PageOutline) -> tuple[str, ...]:
    """The primary statements that a page shows, top to bottom."""
    return (page.statement, *page.further_statements) if page.statement else ()


def fields_of(identity: Identity) -> list[tuple[str, str]]:
    """(field, value) pairs of what is known, values as `FieldSource` writes them."""
    known = []
    for name in _FIELDS:
        value = getattr(identity, name)
        if value not in (None, "", (), False):
            known.append((name, "; ".join(value) if isinstance(value, tuple) else str(value)))
    return known


_FIELDS = (
    "company",
    "other_names",
    "ticker",
    "cik",
    "file_number",
    "employer_id",
    "form",
    "amended",
    "fiscal_year",
    "quarter",
    "period_end",
    "fiscal_year_end_month",
    "filed",
)
_NAMES = {"cik": "CIK", "fiscal_year_end_month": "year ends in month", "employer_id": "employer id"}
_LONGEST = 60


def _identity(identity: Identity) -> RenderableType:
    table = listing()
    table.add_column("Field", no_wrap=True)
    table.add_column("Value")
    first: dict[str, FieldSource] = {}
    for source in identity.sources:
        first.setdefault(source.field, source)
    if first:
        table.add_column("Read from", no_wrap=True)
        table.add_column("Page", justify="right", no_wrap=True)
        table.add_column("Confidence", justify="right", no_wrap=True)
        table.add_column("As printed")
    for name, value in fields_of(identity):
        row: list[str | Text] = [_NAMES.get(name, name.replace("_", " ")), Text(one_line(value))]
        taken = first.get(name)
        if taken is not None:
            page = "" if taken.page is None else str(taken.page + 1)
            row += [taken.origin.value, page, f"{taken.confidence:.0%}", cut(one_line(taken.printed, _LONGEST))]
        table.add_row(*row)
    return table


def _runs(runs: Sequence[PageRun], name: str) -> RenderableType | None:
    if not runs:
        return None
    table = listing()
    table.add_column(name, no_wrap=True)
    table.add_column("Pages", justify="right", no_wrap=True)
    for run in runs:
        table.add_row(run.name, run.printed)
    return table


def _notes(record: FilingRecord) -> RenderableType | None:
    if not record.notes:
        return None
    table = listing()
    table.add_column("Note", no_wrap=True)
    table.add_column("Title")
    table.add_column("Pages", justify="right", no_wrap=True)
    for note in record.notes:
        table.add_row(note.number, cut(note.title), PageRun("", note.first_page, note.last_page).printed)
    return table


def _odd(record: FilingRecord) -> Iterator[Text]:
    lines = []
    for taken, other in record.identity.conflicts():
        lines.append(
            f"{taken.field.replace('_', ' ')} is `{taken.value}` by the {taken.origin.value}{_at(taken.page)} and "
            f"`{other.value}` by the {other.origin.value}{_at(other.page)}; the first is used"
        )
    lines += told_warnings(record.warnings)
    if lines:
        yield Text()
    for line in lines:
        yield Text(one_line(f"warning: {line}"), style="yellow")


def _at(page: int | None) -> str:
    return "" if page is None else f" (page {page + 1})"


def _page_runs(named: Sequence[tuple[int, str | None]]) -> list[PageRun]:
    runs: list[PageRun] = []
    for page, name in named:
        if not name:
            continue
        if runs and runs[-1].name == name and runs[-1].last == page - 1:
            runs[-1] = PageRun(name, runs[-1].first, page)
        else:
            runs.append(PageRun(name, page, page))
    return runs


def statements_found(outline: Sequence[PageOutline]) -> list[Statement]:
    """Which primary statements the filing shows, in the order of their pages."""
    return list(dict.fromkeys(Statement(name) for page in outline for name in statements_on(page)))
