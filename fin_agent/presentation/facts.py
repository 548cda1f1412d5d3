"""Facts as a list: what each is called, its value in base units, what it covers, and where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from fin_agent.index.protocol import FilingRecord
from fin_agent.presentation.checks import period_words
from fin_agent.presentation.filings import cut, listing
from fin_agent.presentation.plain import one_line
from fin_agent.presentation.statements import whose
from fin_agent.vocabulary.fact import Fact


def facts_view(record: FilingRecord, facts: Sequence[Fact]) -> RenderableType:
    """A line per fact, under its filing."""
    head = Text.assemble((one_line(record.doc_id), "bold"), f"  {whose(record)}")
    if not facts:
        return Group(head, Text("No figures were read here.", style="yellow"))
    many = f"{len(facts):,} figure{'' if len(facts) == 1 else 's'}, values in base units"
    return Group(head, Text(), _FactsList(facts), Text(many, style="dim"))


def value_words(fact: Fact) -> str:
    """The value in base units with its unit: `66,608,000,000 USD`, `12.5%`."""
    return f"{number(fact.value)}{'%' if fact.unit == 'percent' else f' {fact.unit}'}"


def number(value: Decimal) -> str:
    """With thousands set apart and no exponent; decimals as printed.

    >>> number(Decimal("-6.6608E+10")), number(Decimal("8.30"))
    ('-66,608,000,000', '8.30')
    """
    return f"{value:,f}"


def period_of_fact(fact: Fact) -> str:
    """`FY2022`, `end of FY2022`."""
    return period_words(fact.period)


class _FactsList:
    """Metric, scope and concept get columns of their own where there is room, else a second line under the label."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self._facts = facts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide = options.max_width >= _WIDE
        table = listing()
        table.add_column("Figure", ratio=None if wide else 1)
        table.add_column("Value", justify="right", no_wrap=True)
        table.add_column("Unit", no_wrap=True)
        table.add_column("Period", no_wrap=True)
        if wide:
            for name in ("Metric", "Scope", "Concept"):
                table.add_column(name)
        table.add_column("Page", justify="right", no_wrap=True)
        table.add_column("Line", justify="right", no_wrap=True)
        for same in _by_row(self._facts):
            _add(table, same, wide=wide)
        yield table


def _by_row(facts: Sequence[Fact]) -> Iterator[list[Fact]]:
    """Facts that follow each other and differ in value and period only: those of one row of a table."""
    run: list[Fact] = []
    for fact in facts:
        if run and _named(fact) != _named(run[-1]):
            yield run
            run = []
        run.append(fact)
    if run:
        yield run


def _named(fact: Fact) -> tuple[object, ...]:
    concept = fact.tag.concept if fact.tag else None
    return fact.page, fact.line, fact.section, fact.label, fact.metric, fact.scope, fact.unit, concept


_WIDE = 150
_SHORT_UNITS = {"USD per share": "USD/share"}
_WITHIN = " › "


def _add(table: Table, same: Sequence[Fact], *, wide: bool) -> None:
    fact = same[0]
    label: RenderableType = Text(one_line(_WITHIN.join((*fact.section[-1:], fact.label))))
    more = [fact.metric or "", one_line(fact.scope or ""), fact.tag.concept if fact.tag else ""]
    if not wide:
        lines = (", ".join(each for each in more[:2] if each), more[2])
        label = Group(label, *(_aside(line) for line in lines if line))
    table.add_row(
        label,
        "\n".join(number(each.value) for each in same),
        _SHORT_UNITS.get(fact.unit, fact.unit),
        "\n".join(map(period_of_fact, same)),
        *(map(cut, more) if wide else ()),
        str(fact.page + 1),
        str(fact.line + 1),
    )


def _aside(line: str) -> Text:
    return Text(f"  {line}", style="dim", no_wrap=True, overflow="ellipsis")
