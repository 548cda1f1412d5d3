"""What checking a filing's statements came to: failed checks with their pages and figures, what held, what is odd."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fin_agent.filings.facts.check import Check, Figure, Outcome
from fin_agent.index.protocol import FilingRecord
from fin_agent.presentation.filings import listing, period_of
from fin_agent.presentation.page_numbers import told_warnings
from fin_agent.presentation.plain import one_line
from fin_agent.vocabulary.fact import FactPeriod

_SCALE_WORDS = {1_000: "thousand", 1_000_000: "million", 1_000_000_000: "billion"}
_LONGEST_LABEL = 56


@dataclass(frozen=True, slots=True)
class CheckedFiling:
    """A filing and the checks of its statements."""

    record: FilingRecord
    checks: tuple[Check, ...]

    def count(self, outcome: Outcome) -> int:
        """How many checks ended so."""
        return sum(1 for check in self.checks if check.outcome is outcome)


def checked_view(checked: Sequence[CheckedFiling]) -> RenderableType:
    """A block per filing, then one line over all of them."""
    return Group(*(Padding(Group(*_block(filing)), (0, 0, 1, 0)) for filing in checked), _summary(checked))


def period_words(period: FactPeriod) -> str:
    """`FY2022`, `Q2 FY2023`, `6 months of FY2023`; with `end of` for an instant."""
    year = f"FY{period.fiscal_year}"
    if period.months in (0, 12) or (period.months == 3 and period.quarter):
        named = f"Q{period.quarter} {year}" if period.quarter else year
        return f"end of {named}" if period.months == 0 else named
    return f"{period.months} months of {year}"


def printed(figure: Figure) -> str:
    """`$6,489 million`, `-$0.53 per share`, `1,521 million shares`."""
    number = f"{abs(figure.value) / figure.scale:,f}"
    sign = "-" if figure.value < 0 else ""
    words = (number, _SCALE_WORDS.get(figure.scale, ""))
    if figure.unit == "USD":
        words = (f"${number}", words[1])
    elif figure.unit == "USD per share":
        words = (f"${number}", "per share")
    elif figure.unit == "shares":
        words = (number, f"{words[1]} shares".strip())
    return f"{sign}{' '.join(words)}".rstrip()


def _block(filing: CheckedFiling) -> Iterator[RenderableType]:
    identity = filing.record.identity
    head = f"  {one_line(identity.company)}, {identity.form.value}, {period_of(identity)}"
    yield Text.assemble((one_line(filing.record.doc_id), "bold"), head)
    for check in filing.checks:
        if check.outcome is Outcome.FAILS:
            yield Padding(Group(*_failed(check)), (0, 0, 0, 2))
    for check in filing.checks:
        if check.outcome is Outcome.NOT_CHECKABLE:
            yield _line(f"{_headed(check)}: {check.sentence}", "dim")
    for warning in told_warnings(filing.record.warnings):
        yield _line(f"warning: {warning}", "yellow")
    for taken, other in identity.conflicts():
        yield _line(
            f"warning: {taken.field.replace('_', ' ')} is `{taken.value}` by the {taken.origin.value} and "
            f"`{other.value}` by the {other.origin.value}; the first is used",
            "yellow",
        )
    held = Counter(check.name for check in filing.checks if check.outcome is Outcome.HOLDS)
    if held:
        yield _line("holds: " + ", ".join(f"{name} ({count})" for name, count in held.items()), "green")


def _failed(check: Check) -> Iterator[RenderableType]:
    yield Text(one_line(f"warning: {_headed(check)}: {check.sentence}"), style="yellow")
    table = listing()
    table.show_header = False
    for column in ("sign", "label", "value", "place"):
        table.add_column(justify="right" if column == "value" else "left", no_wrap=column != "label")
    for position, figure in enumerate(check.figures):
        place = f"page {figure.page + 1}, line {figure.line + 1}"
        label = one_line(figure.label, _LONGEST_LABEL)
        table.add_row(_sign(check, position), label, printed(figure), place)
    table.add_row("", "difference", printed(_difference(check)), "", style="bold")
    yield Padding(table, (0, 0, 0, 2))


def _sign(check: Check, position: int) -> str:
    figure = check.figures[position]
    if not figure.weight:
        return "="
    if figure.unit == "shares":
        return "x"
    return "-" if figure.weight < 0 else "+" if position else ""


def _difference(check: Check) -> Figure:
    whole = check.figures[-1]
    exact = check.difference or Decimal(0)
    value = exact.quantize(Decimal(whole.scale)) if abs(exact) >= whole.scale else exact
    return Figure("", value, whole.scale, whole.unit, whole.page, whole.line)


def _headed(check: Check) -> str:
    """`cash, FY2021, page 90`."""
    parts = [check.name]
    if check.period is not None:
        parts.append(period_words(check.period))
    if check.pages:
        numbers = ", ".join(str(page + 1) for page in check.pages)
        parts.append(f"page {numbers}" if len(check.pages) == 1 else f"pages {numbers}")
    return ", ".join(parts)


def _line(text: str, style: str) -> Padding:
    return Padding(Text(one_line(text), style=style), (0, 0, 0, 2))


def _summary(checked: Sequence[CheckedFiling]) -> Table | Text:
    holds, fails, open_ = (
        sum(filing.count(outcome) for filing in checked)
        for outcome in (Outcome.HOLDS, Outcome.FAILS, Outcome.NOT_CHECKABLE)
    )
    failing = sum(1 for filing in checked if filing.count(Outcome.FAILS))
    said = f"{_counted(len(checked), 'filing')}: {_counted(holds, 'check')} held, {fails:,} failed"
    said += f" (in {_counted(failing, 'filing')})" if failing else ""
    return Text(f"{said}, {open_:,} could not be made", style="bold")


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
