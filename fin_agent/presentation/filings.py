"""Views of filings: lists, overviews, figures, and the results of checking their statements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from operator import attrgetter

from rich.console import Group, RenderableType, group
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from fin_agent.filings.facts.accounting_identities import Check, Outcome, check_facts
from fin_agent.filings.facts.fact_selection import years_of
from fin_agent.filings.outline.statements import StatementPart, parts_of_statement
from fin_agent.index.protocol import FilingRecord
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.presentation.terminal_text import (
    count_with_noun,
    cut,
    fixed,
    listing,
    one_line,
    page_numbers,
    right,
    warning_lines_by_page,
)
from fin_agent.vocabulary.amount_formatting import amount_with_unit
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.identity import FieldSource, Form, Identity
from fin_agent.vocabulary.page import ItemStart, Page, Statement, page_ranges
from fin_agent.vocabulary.runs import runs_of
from fin_agent.workspace import Workspace


def filings_view(records: Sequence[FilingRecord]) -> Table:
    """Return a table with a row per filing."""
    name = Column("Filing", min_width=min(_WIDEST_NAME, max(len(record.doc_id) for record in records)), overflow="fold")
    table = listing(name, "Company", fixed("Form"), fixed("Period"), right("Pages"))
    for record in records:
        identity = record.identity
        form = f"{identity.form.value}/A" if identity.amended else identity.form.value
        table.add_row(
            one_line(record.doc_id), cut(identity.company), form, period_of(identity), f"{record.page_count:,}"
        )
    companies = len({record.identity.company for record in records})
    pages = sum(record.page_count for record in records)
    of_companies = f"{count_with_noun(len(records), 'filing')} of {count_with_noun(companies, 'company')}"
    table.caption = f"{of_companies}, {count_with_noun(pages, 'page')}"
    return table


_WIDEST_NAME = 48
"""Characters of a filing's name on one line; a longer one would leave no room for the other columns."""


def sort_filings(records: Iterable[FilingRecord]) -> list[FilingRecord]:
    """Sort filings by company, then time, form and doc_id."""

    def order(record: FilingRecord) -> tuple[object, ...]:
        identity = record.identity
        return identity.company.casefold(), identity.period_end or date.min, identity.form.value, record.doc_id

    return sorted(records, key=order)


def filing_title(record: FilingRecord) -> str:
    """Return company, form and period: `The Boeing Company, 10-K, FY2022`."""
    identity = record.identity
    return f"{one_line(identity.company)}, {identity.form.value}, {period_of(identity)}"


def period_of(identity: Identity) -> str:
    """Return the period, `FY2023` or `Q2 FY2023`; the date for an 8-K, and if no fiscal year is known."""
    if identity.fiscal_year is None or identity.form is Form.EIGHT_K:
        return identity.period_end.isoformat() if identity.period_end else "unknown"
    return f"Q{identity.quarter} FY{identity.fiscal_year}" if identity.quarter else f"FY{identity.fiscal_year}"


@dataclass(frozen=True, slots=True)
class PageRun:
    """Consecutive pages of one Item or statement."""

    name: str
    first: int
    last: int


@group()
def overview(record: FilingRecord, outline: Sequence[Page]) -> Iterator[RenderableType]:
    """Return the filing's identity, statements, Items and notes, as far as it has them."""
    units = (record.page_count, "page"), (record.fact_count, "figure"), (record.passage_count, "passage")
    yield from (_head(record), Text(", ".join(count_with_noun(number, unit) for number, unit in units)))
    yield from (Text(f"read from {one_line(record.source)}", style="dim"), Text(), _identity(record.identity))
    notes = [(f"{note.number} {note.title}", PageRun("", note.first_page, note.last_page)) for note in record.notes]
    for title, rows in (
        ("Statement", [(run.name, run) for run in statement_runs(outline)]),
        ("Item", [(run.name, run) for run in item_runs(outline, record.items)]),
        ("Note", notes),
    ):
        table = listing(title, right("Pages"))
        for name, run in rows:
            table.add_row(cut(name), page_ranges(range(run.first, run.last + 1)))
        yield from (Text(), table) if rows else ()
    yield from (Text(f"warning: {one_line(line)}", style="yellow") for line in _warnings(record))


def _head(record: FilingRecord) -> Text:
    return Text.assemble((one_line(record.doc_id), "bold"), f"  {filing_title(record)}")


def _identity(identity: Identity) -> RenderableType:
    """Return the known fields, each with the first source that it was read from."""
    table = listing(fixed("Field"), "Value", fixed("Read from"), right("Page"), right("Confidence"), "As printed")
    first = {source.field: source for source in reversed(identity.sources)}
    for name in _FIELDS.split():
        value = getattr(identity, name)
        if value in (None, "", (), False):
            continue
        said = "; ".join(value) if isinstance(value, tuple) else str(value)
        row: list[str | Text] = [name.replace("_", " "), Text(one_line(said))]
        if (taken := first.get(name)) is not None:
            page = "" if taken.page is None else str(taken.page + 1)
            row += [taken.origin.value, page, f"{taken.confidence:.0%}", cut(one_line(taken.printed, _MAX_LENGTH))]
        table.add_row(*row)
    return table


def item_runs(outline: Sequence[Page], starts: Sequence[ItemStart]) -> list[PageRun]:
    """Return Items in the order of their pages; an Item that fills no page is listed with the page it begins on."""
    runs = _page_runs([(page.number, page.item) for page in outline])
    owning = {run.name for run in runs}
    order = {start.item: position for position, start in enumerate(starts)}
    short = [PageRun(start.item, start.page, start.page) for start in starts if start.item not in owning]
    return sorted([*runs, *short], key=lambda run: (run.first, order.get(run.name, -1)))


def statement_runs(outline: Sequence[Page]) -> list[PageRun]:
    """Return primary statements in the order of their first pages; a page may show several."""
    runs: list[PageRun] = []
    for name in dict.fromkeys(each for page in outline for each in statements_on(page)):
        runs += _page_runs([(page.number, name if name in statements_on(page) else None) for page in outline])
    return sorted(runs, key=lambda run: run.first)


def statements_on(page: Page) -> list[Statement]:
    """Return the primary statements that a page shows, top to bottom."""
    return [name for name in (page.statement, *page.further_statements) if name]


_FIELDS = (
    "company other_names ticker cik file_number employer_id form amended fiscal_year quarter period_end"
    " fiscal_year_end_month filed"
)
_MAX_LENGTH = 60


def _warnings(record: FilingRecord) -> list[str]:
    """Return warnings about the filing: conflicting sources of its identity, and irregularities while reading it."""
    conflicts = [
        f"{taken.field.replace('_', ' ')} is {_reading(taken)} and {_reading(other)}; the first is used"
        for taken, other in record.identity.conflicts()
    ]
    return conflicts + warning_lines_by_page(record.warnings)


def _reading(source: FieldSource) -> str:
    page = "" if source.page is None else f" (page {source.page + 1})"
    return f"`{source.value}` by the {source.origin.value}{page}"


def _page_runs(named: Sequence[tuple[int, str | None]]) -> list[PageRun]:
    runs = runs_of(named, lambda run, page: run[-1] != (page[0] - 1, page[1]))
    return [PageRun(run[0][1], run[0][0], run[-1][0]) for run in runs if run[0][1]]


def statement_parts(workspace: Workspace, doc_id: str, statement: Statement) -> tuple[list[Page], list[StatementPart]]:
    """Return the pages of the primary statements of a filing, and the tables of one of them."""
    index = workspace.index
    keys = [stored.key for stored in index.outline([doc_id]) if stored.page.statement]
    pages = [stored.page for stored in index.pages(keys)]
    return pages, parts_of_statement(statement, pages, index.tables(keys), workspace.lexicon.statement_titles)


def facts_view(record: FilingRecord, facts: Sequence[Fact]) -> RenderableType:
    """Return a table of facts under the name of their filing."""
    if not facts:
        return Group(_head(record), Text("No figures were read here.", style="yellow"))
    columns = (right("Value"), fixed("Unit"), fixed("Period"), right("Page"), right("Line"))
    table = listing(Column("Figure", ratio=1), *columns)
    for fact in facts:
        named = ", ".join(each for each in (fact.metric, one_line(fact.scope or "")) if each)
        below = [cut(line) for line in (named, fact.tag.concept if fact.tag else "") if line]
        for line in below:
            line.style = "dim"
        table.add_row(
            Group(Text(one_line(" › ".join((*fact.section[-1:], fact.label)))), *below),
            f"{fact.value:,f}",
            fact.unit.replace("USD per share", "USD/share"),
            period_words(fact.period),
            str(fact.page + 1),
            str(fact.line + 1),
        )
    many = f"{count_with_noun(len(facts), 'figure')}, values in base units"
    return Group(_head(record), Text(), table, Text(many, style="dim"))


def value_words(fact: Fact) -> str:
    """Return the value in base units with its unit: `66,608,000,000 USD`, `12.5%`."""
    return f"{fact.value:,f}{'%' if fact.unit == 'percent' else f' {fact.unit}'}"


def fact_line(fact: Fact) -> str:
    """Return a fact on one line: `Total revenues, FY2022: 66,608,000,000 USD`."""
    return f"{one_line(fact.label, _MAX_LENGTH)}, {period_words(fact.period)}: {value_words(fact)}"


def resolve_fact_name(name: str, facts: Sequence[Fact], lexicon: Lexicon) -> str:
    """Return `name` if facts are called so, else the metric that it as a whole stands for (`capex`), if any."""
    metrics = (each.id for each in lexicon.mentions(name) if each.kind == "metric" and each.phrase == name)
    return name if years_of(facts, name) else next(metrics, name)


@dataclass(frozen=True, slots=True)
class CheckedFiling:
    """A filing and the checks of its statements."""

    record: FilingRecord
    checks: tuple[Check, ...]
    figures: int = 0
    """Figures that were read from its tables."""
    proved: int = 0
    """Figures that a sum proves."""
    doubtful: int = 0
    """Figures that break a sum which holds in other columns."""

    @classmethod
    def of(cls, record: FilingRecord, facts: Sequence[Fact]) -> CheckedFiling:
        """Check the figures of a filing."""
        in_tables = [fact for fact in facts if fact.column or fact.proved]
        proved, doubtful = (sum(map(attrgetter(name), in_tables)) for name in ("proved", "doubtful"))
        return cls(record, check_facts(facts), len(in_tables), proved, doubtful)

    def count(self, outcome: Outcome) -> int:
        """Return the number of checks with this outcome."""
        return sum(1 for check in self.checks if check.outcome is outcome)


def checked_view(checked: Sequence[CheckedFiling]) -> RenderableType:
    """Return a block per filing, then a summary of all of them."""
    outcomes = (Outcome.HOLDS, Outcome.FAILS, Outcome.NOT_CHECKABLE)
    holds, fails, open_ = (sum(filing.count(outcome) for filing in checked) for outcome in outcomes)
    said = f"{count_with_noun(len(checked), 'filing')}: {count_with_noun(holds, 'check')} passed, {fails:,} failed"
    blocks = (
        Group(_head(filing.record), *(Padding(line, (0, 0, 0, 2)) for line in _checks(filing)), "")
        for filing in checked
    )
    return Group(*blocks, Text(f"{said}, {open_:,} could not be made", style="bold"))


def period_words(period: FactPeriod) -> str:
    """Return the period: `FY2022`, `Q2 FY2023`, `6 months of FY2023`; with `end of` for an instant."""
    if not period.fiscal_year:
        return "no period given"
    year = f"FY{period.fiscal_year}"
    if period.months in (0, 12) or (period.months == 3 and period.quarter):
        named = f"Q{period.quarter} {year}" if period.quarter else year
        return f"end of {named}" if period.months == 0 else named
    return f"{period.months} months of {year}"


def _checks(filing: CheckedFiling) -> Iterator[RenderableType]:
    """Yield the checks of a filing, those that fail first and with their figures."""
    for check in filing.checks:
        if check.outcome is Outcome.FAILS:
            yield Text(one_line(f"warning: {_check_head(check)}: {check.sentence}"), style="yellow")
            yield _sum(check)
    for check in filing.checks:
        if check.outcome is Outcome.NOT_CHECKABLE:
            yield Text(one_line(f"{_check_head(check)}: {check.sentence}"), style="dim")
    yield from (Text(one_line(f"warning: {warning}"), style="yellow") for warning in _warnings(filing.record))
    if filing.figures:
        share = f"{filing.proved / filing.figures:.0%}"
        proved = f"proved by sums: {filing.proved:,} of {filing.figures:,} figures in tables ({share})"
        yield Text(proved, style="green")
    if filing.doubtful:
        doubtful = f"doubtful: {count_with_noun(filing.doubtful, 'figure')} in sums that hold in other columns"
        yield Text(doubtful, style="dim")
    if held := Counter(check.name for check in filing.checks if check.outcome is Outcome.HOLDS):
        yield Text("holds: " + ", ".join(f"{name} ({count})" for name, count in held.items()), style="green")


def _check_head(check: Check) -> str:
    """Return name, period and pages of a check: `cash, FY2021, page 90`."""
    period = [period_words(check.period)] if check.period is not None else []
    return ", ".join([check.name, *period, *([page_numbers(check.pages)] if check.pages else [])])


def _sum(check: Check) -> Table:
    """Return the figures of a failed check with their signs, and the difference."""
    table = Table.grid("", "", Column(justify="right"), "", padding=(0, 2))
    for position, figure in enumerate(check.figures):
        added = "-" if figure.weight < 0 else "+" if position else ""
        sign = "=" if not figure.weight else "x" if figure.unit == "shares" else added
        place = f"page {figure.page + 1}, line {figure.line + 1}"
        amount = amount_with_unit(figure.value / figure.scale, figure.scale, figure.unit)
        table.add_row(sign, one_line(figure.label, _MAX_LENGTH), amount, place)
    whole = check.figures[-1]
    difference = amount_with_unit((check.difference or Decimal(0)) / whole.scale, whole.scale, whole.unit)
    table.add_row("", "difference", difference, "", style="bold")
    return table
