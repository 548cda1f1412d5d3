"""Views of a run's steps: what each searched, found, kept and dropped, and what was still missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from fin_agent.evidence.trace import JudgedPassage, RankedGroup, TraceStep
from fin_agent.presentation.terminal_text import fixed, listing, one_line, right

_SEARCHING = ("search_documents", "search_pages", "search_passages", "extract_cards")
"""Steps whose lines are a ranking; the first of them are shown on one line."""
_FILLED = "filled: "
"""Prefix of a filter's detail that repeats the ledger."""
_LINES, _BESIDE = 4, 3
_MAX_LINE_LENGTH = 150
_DROPPED = 3
_NUMBER = 5
_NEW_LINE = "\n"


def rounds_view(
    trace: Sequence[TraceStep], seconds: Sequence[float] = (), *, searched: bool = True, full: bool = False
) -> RenderableType:
    """Return all steps under a heading per round.

    Args:
        trace: The steps.
        seconds: The time of each step; empty if unknown.
        searched: Whether any search took place.
        full: Whether to show long lists in full.
    """
    parts: list[RenderableType] = []
    numbered = list(enumerate(trace, start=1))
    for round_number, steps in groupby(numbered, key=lambda pair: pair[1].round):
        title = Text(f"Round {round_number}" if searched else "Before any search", style="bold")
        parts.append(Padding(Rule(title, align="left", style="dim"), (1, 0, 0, 0)))
        for number, step in steps:
            repeated = not full and number > 1 and step.details == trace[number - 2].details
            shown = step.model_copy(update={"details": ()}) if repeated else step
            parts.append(step_view(number, shown, seconds[number - 1] if seconds else None, full=full))
    return Group(*parts)


def step_view(number: int, step: TraceStep, seconds: float | None = None, *, full: bool = False) -> RenderableType:
    """Return one step: its summary, then its details, judged passages and rankings.

    Args:
        number: Number of the step, from 1.
        step: The step.
        seconds: Its time; None if unknown.
        full: Whether to show long lists in full.
    """
    time = f"  {seconds:.3f} s" if full and seconds is not None else ""
    name = one_line(step.node).replace("_", " ")
    head = Table.grid(padding=(0, 1))
    head.add_column(width=_NUMBER - 1, justify="right", no_wrap=True)
    head.add_column()
    head.add_row(str(number), Text.assemble((name, "cyan"), f"  {one_line(step.summary)}", (time, "dim")))
    return Group(head, *(Padding(part, (0, 0, 0, _NUMBER)) for part in _within(step, full)))


def _within(step: TraceStep, full: bool) -> Iterator[RenderableType]:
    if step.judged:
        yield _judged_view(step.judged, full)
    # The kept passages and the ledger already show what is filled.
    lines = [one_line(detail) for detail in step.details if full or not (step.judged and detail.startswith(_FILLED))]
    beside = step.node in _SEARCHING and not full
    shown = lines if full else [one_line(line, _MAX_LINE_LENGTH) for line in lines[: _BESIDE if beside else _LINES]]
    more = [f"… {len(lines) - len(shown)} more"] if len(shown) < len(lines) else []
    if beside and lines:
        yield Text(" · ".join([*shown, *more]), style="dim")
    else:
        yield from (Text(line, style="dim") for line in [*shown, *more])
    if step.groups:
        yield groups_view(step.groups, full=full)
    yield from _notes(step)


def _judged_view(judged: Sequence[JudgedPassage], full: bool) -> RenderableType:
    """Return kept passages with a tick, then dropped ones, each with the reason and the matching fields."""
    kept = [each for each in judged if each.kept]
    dropped = [each for each in judged if not each.kept]
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    for each in kept:
        table.add_row(Text("✓", style="green"), _place(each), _why(each, fields=True))
    for each in dropped if full else dropped[:_DROPPED]:
        table.add_row(Text("–", style="dim"), Text(_place(each), style="dim"), _why(each, fields=full))
    more = 0 if full else len(dropped) - _DROPPED
    return Group(table, *([Text(f"– … {more} more dropped", style="dim")] if more > 0 else []))


def _place(judged: JudgedPassage) -> str:
    return f"{one_line(judged.doc_id)} page {judged.page + 1}"


def _why(judged: JudgedPassage, *, fields: bool) -> Text:
    """Return the reason and the score, and on the next line the matching fields."""
    text = Text(one_line(judged.why), style="" if judged.kept else "dim")
    if judged.score is not None:
        text.append(f"{'  ' if text.plain else ''}{judged.score:.3f}", style="dim")
    if fields and judged.fields:
        said = fields_line(judged.fields)
        text.append(f"{_NEW_LINE if text.plain else ''}{said}", style="cyan" if judged.kept else "dim")
    return text


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


_BEST = 3


def groups_view(groups: Sequence[RankedGroup], *, full: bool = False) -> RenderableType:
    """Return a row per group of the tournament; `full` lists all of its finalists."""
    table = listing(fixed("Stage"), right("No."), right("Met"), right("On"), "Came out first (filing : passage)")
    for group in groups:
        stage = one_line(group.stage) + _attempt(group)
        named = _came_out_first(group, full)
        said = Text(named)
        if group.note:
            said.append(f"{'  ' if named else ''}{one_line(group.note)}", style="dim")
        table.add_row(stage, str(group.number), str(len(group.ranked)), str(group.finalists), said)
    return Group(Padding(table, (1, 0, 1, 0)))


def _attempt(group: RankedGroup) -> str:
    """Return the number of the attempt if groups were shuffled again."""
    return f", attempt {group.attempt}" if group.attempt > 1 else ""


def _came_out_first(group: RankedGroup, full: bool) -> str:
    finalists = group.ranked[: group.finalists]
    shown = finalists if full else finalists[:_BEST]
    more = f" … {len(finalists) - len(shown)} more" if len(shown) < len(finalists) else ""
    return ", ".join(f"{one_line(doc_id)}:{ordinal}" for doc_id, ordinal in shown) + more


_MAX_LENGTH = 300


def _notes(step: TraceStep) -> Iterator[Text]:
    """Yield calls, flags and warnings, one per line."""
    yield from (Text(f"called: {one_line(call, _MAX_LENGTH)}", style="dim") for call in step.calls)
    yield from (Text(f"flagged: {one_line(flag, _MAX_LENGTH)}", style="magenta") for flag in step.flags)
    yield from warning_lines(step.warnings)


def warning_lines(warnings: Sequence[str], *, most: int = 0) -> Iterator[Text]:
    """Yield one line per warning; with `most`, only that many and a count of the others."""
    shown = warnings[:most] if most else warnings
    yield from (Text(f"Warning: {one_line(warning, _MAX_LENGTH)}", style="yellow") for warning in shown)
    if len(shown) < len(warnings):
        yield Text(f"… {len(warnings) - len(shown)} more warnings in the trace", style="yellow")
