"""Views of a run's steps: what each searched, found, kept and dropped, and what was still missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich.console import RenderableType, group
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from fin_agent.evidence.trace import JudgedPassage, RankedGroup, TraceStep
from fin_agent.presentation.terminal_text import one_line

_DETAILS, _DROPPED, _FINALISTS = 4, 3, 3
"""How many are shown of a step, unless in full."""
_MAX_LINE_LENGTH = 150
_MAX_LENGTH = 300
_NUMBER = 5


@group()
def rounds_view(
    trace: Sequence[TraceStep], seconds: Sequence[float] = (), *, searched: bool = True, full: bool = False
) -> Iterator[RenderableType]:
    """Return all steps under a heading per round, with their seconds if these are known; `full` shows long lists whole.

    `searched` is whether any search took place.
    """
    for round_number, steps in groupby(enumerate(trace), key=lambda pair: pair[1].round):
        title = Text(f"Round {round_number}" if searched else "Before any search", style="bold")
        yield Padding(Rule(title, align="left", style="dim"), (1, 0, 0, 0))
        for at, step in steps:
            head = Table.grid(padding=(0, 1))
            head.add_column(width=_NUMBER - 1, justify="right", no_wrap=True)
            head.add_column()
            time = f"  {seconds[at]:.3f} s" if full and seconds else ""
            name = one_line(step.node).replace("_", " ")
            head.add_row(str(at + 1), Text.assemble((name, "cyan"), f"  {one_line(step.summary)}", (time, "dim")))
            yield head
            yield from (Padding(part, (0, 0, 0, _NUMBER)) for part in _within(step, full))


def _within(step: TraceStep, full: bool) -> Iterator[RenderableType]:
    """Yield the judged passages, details, groups, calls, flags and warnings of a step."""
    yield from (_judged(each, fields=True) for each in step.judged if each.kept)
    yield from _cut(
        [_judged(each, fields=full) for each in step.judged if not each.kept], _DROPPED, "more dropped", full
    )
    details = (one_line(detail, 0 if full else _MAX_LINE_LENGTH) for detail in step.details)
    yield from _cut([Text(detail, style="dim") for detail in details], _DETAILS, "more", full)
    yield from (_group(group, full) for group in step.groups)
    yield from (Text(f"called: {one_line(call, _MAX_LENGTH)}", style="dim") for call in step.calls)
    yield from (Text(f"flagged: {one_line(flag, _MAX_LENGTH)}", style="magenta") for flag in step.flags)
    yield from warning_lines(step.warnings)


def _cut(parts: Sequence[RenderableType], most: int, what: str, full: bool) -> Iterator[RenderableType]:
    """Yield the first parts and the number of others, or all parts."""
    yield from parts if full else parts[:most]
    if len(parts) > most and not full:
        yield Text(f"… {len(parts) - most} {what}", style="dim")


def _judged(judged: JudgedPassage, *, fields: bool) -> RenderableType:
    """Return a passage with a tick if it was kept, with the reason, the score and the matching fields."""
    style = "" if judged.kept else "dim"
    score = "" if judged.score is None else f"  {judged.score:.3f}"
    said = f"\n{fields_line(judged.fields)}" if fields and judged.fields else ""
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_row(
        Text("✓", style="green") if judged.kept else Text("–", style="dim"),
        Text(f"{one_line(judged.doc_id)} page {judged.page + 1}", style=style),
        Text.assemble((one_line(judged.why), style), (score, "dim"), (said, "cyan" if judged.kept else "dim")),
    )
    return table


def _group(group: RankedGroup, full: bool) -> Text:
    """Return a group of the tournament: how many met, and who came out first."""
    finalists = group.ranked[: group.finalists]
    shown = ", ".join(f"{one_line(doc_id)}:{ordinal}" for doc_id, ordinal in finalists[: None if full else _FINALISTS])
    more = "" if full or len(finalists) <= _FINALISTS else f" … {len(finalists) - _FINALISTS} more"
    again = f", attempt {group.attempt}" if group.attempt > 1 else ""
    met = f"{one_line(group.stage)} {group.number}{again}, {len(group.ranked)} met, {group.finalists} go on: "
    return Text.assemble(f"{met}{shown}{more}", (f"  {one_line(group.note)}", "dim"))


def fields_line(fields: Iterable[str]) -> str:
    """Return each field once, with everything that matches in it.

    >>> fields_line(["metrics: revenue", "time: FY2022", "time: FY2023"])
    'metrics: revenue · time: FY2022, FY2023'
    """
    matching: dict[str, list[str]] = {}
    for field in map(one_line, fields):
        name, mark, what = field.partition(": ")
        matching.setdefault(f"{name}{mark}", []).extend([what] if mark else [])
    return " · ".join(f"{name}{', '.join(what)}" for name, what in matching.items())


def note_lines(notes: Iterable[str]) -> Iterator[Text]:
    """Yield one line per note."""
    yield from (Text(f"Note: {one_line(note)}", style="yellow") for note in notes)


def warning_lines(warnings: Sequence[str], *, most: int = 0) -> Iterator[Text]:
    """Yield one line per warning; with `most`, only that many and a count of the others."""
    shown = warnings[:most] if most else warnings
    yield from (Text(f"Warning: {one_line(warning, _MAX_LENGTH)}", style="yellow") for warning in shown)
    if len(shown) < len(warnings):
        yield Text(f"… {len(warnings) - len(shown)} more warnings in the trace", style="yellow")
