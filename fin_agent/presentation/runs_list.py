"""Recorded runs as a list, and what differs between two of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fin_agent.presentation.filings import cut, listing
from fin_agent.presentation.plain import one_line
from fin_agent.runs.comparing import Difference
from fin_agent.runs.run import Run
from fin_agent.runs.store import RunLine

_PLACES = ("documents", "pages")
"""Parts whose lines are short and many: they are run together."""
_READ_WHOLE = ("question", "program", "answer", "missing", "settings")
_LINES_OF_A_PART = 3
_LONGEST_LINE = 240
_LONGEST_ID = 14
_LONGEST_VALUE = 22


def runs_view(lines: Sequence[RunLine], kept: int, today: date) -> RenderableType:
    """A line per run, the last one first; `kept` is how many there are in all."""
    table = listing()
    table.add_column("Run", no_wrap=True)
    table.add_column("UTC", no_wrap=True)
    of_a_batch = any(line.question_id for line in lines)
    if of_a_batch:
        table.add_column("Id", no_wrap=True)
    table.add_column("Question")
    table.add_column("Answer", no_wrap=True)
    table.add_column("R", justify="right", no_wrap=True)
    table.add_column("s", justify="right", no_wrap=True)
    for line in lines:
        written = f"{line.started:%m-%d %H:%M}" if line.started.year == today.year else f"{line.started:%Y-%m-%d}"
        named = [Text(one_line(line.question_id or "", _LONGEST_ID), style="cyan")] if of_a_batch else []
        table.add_row(
            line.id, written, *named, cut(line.question), _outcome(line), str(line.rounds or "–"), f"{line.seconds:.2f}"
        )
    more = "" if len(lines) == kept else f"the last {len(lines):,} of "
    caption = f"{more}{kept:,} run{'' if kept == 1 else 's'}; R: rounds of search, s: seconds"
    # A caption of the table itself would be folded where short questions make the table narrow.
    return Group(table, Text(caption, style="dim"))


def _outcome(line: RunLine) -> Text:
    if line.refused:
        return Text("refused", style="yellow")
    if line.value is None:
        return Text("several figures" if line.computed else "in words", style="green")
    return Text(one_line(in_short(line.value, line.unit), _LONGEST_VALUE), style="green")


_AROUND = {
    "USD": ("$", ""),
    "USD thousands": ("$", "K"),
    "USD millions": ("$", "M"),
    "USD billions": ("$", "B"),
    "USD per share": ("$", "/share"),
    "percent": ("", "%"),
    "ratio": ("", ""),
}
"""Unit of an answer -> what stands before and after its number."""


def in_short(value: float, unit: str | None) -> str:
    """`$3,533M`, `-0.3271`, `12 days`: enough to know it again.

    >>> in_short(-1614.0, "USD millions")
    '-$1,614M'
    """
    size = abs(value)
    number = f"{size:,.0f}" if size >= 10_000 or size.is_integer() else f"{size:,.4g}"
    before, after = _AROUND.get(unit or "ratio", ("", f" {unit}"))
    return f"{'-' if value < 0 else ''}{before}{number}{after}"


def comparison_view(
    first: Run, second: Run, differences: Sequence[Difference], *, full: bool = False
) -> RenderableType:
    """Who is compared, then every part that differs: `-` stands only in the first, `+` only in the second."""
    head = Table.grid(padding=(0, 1))
    head.add_column(no_wrap=True)
    head.add_column(no_wrap=True)
    head.add_column()
    for mark, style, run in (("-", "red", first), ("+", "green", second)):
        asked = f"{run.started:%Y-%m-%d %H:%M} UTC, strategy {run.settings.strategy}, {run.seconds:.2f} s"
        head.add_row(Text(mark, style=style), Text(run.id, style="bold"), Text(one_line(asked), style="dim"))
        head.add_row("", "", cut(run.question))
        head.add_row("", "", Text(one_line(run.answer.answer.text, _LONGEST_LINE), style=style))
    if not differences:
        return Group(head, Text(), Text("The two runs are the same.", style="bold"))
    return Group(head, differences_view(differences, full=full))


def differences_view(differences: Sequence[Difference], *, full: bool = False) -> RenderableType:
    """A part after the other, each with the first of the lines that are not in both; `full` shows all of them."""
    return Group(*(part for difference in differences for part in _difference(difference, full)))


def _difference(difference: Difference, full: bool) -> Iterator[RenderableType]:
    head = Text(one_line(difference.part).capitalize(), style="bold")
    if difference.note:
        head.append(f"  {one_line(difference.note)}", style="dim")
    yield Padding(head, (1, 0, 0, 0))
    for mark, style, lines in (("-", "red", difference.first), ("+", "green", difference.second)):
        shown = Table.grid(padding=(0, 1))
        first = lines if full else lines[:_LINES_OF_A_PART]
        more = f"… {len(lines) - len(first)} more" if len(first) < len(lines) else ""
        if difference.part in _PLACES and lines:
            places = Text(" · ".join(map(one_line, first)), style=style)
            shown.add_row(Text(mark, style=style), places.append(f" · {more}" if more else "", style="dim"))
        else:
            for line in first:
                shown.add_row(Text(mark, style=style), _line(difference.part, line, style, full))
            if more:
                shown.add_row(Text(mark, style=style), Text(more, style="dim"))
        if lines:
            yield Padding(shown, (0, 0, 0, 2))


def _line(part: str, line: str, style: str, full: bool) -> Text:
    if part == "passages" or (part not in _READ_WHOLE and not full):
        return Text(one_line(line), style=style, no_wrap=True, overflow="ellipsis")
    indent = " " * (len(line) - len(line.lstrip(" "))) if part == "program" else ""
    return Text(indent + one_line(line, _LONGEST_LINE), style=style)
