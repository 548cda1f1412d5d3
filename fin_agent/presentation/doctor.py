"""What was looked at, as a person reads it: grouped, what is wrong with what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fin_agent.models.costs import UsageRow
from fin_agent.models.diagnosis import Finding, State
from fin_agent.presentation.plain import one_line

_STYLES = {State.OK: "green", State.NOTE: "dim", State.WARNING: "yellow", State.FAILED: "bold red"}
_WORDS = {State.NOTE: "–"}
_WIDEST_STATE = 7
_WIDEST_CHECK = 17


def findings_view(findings: Sequence[Finding], took: UsageRow) -> RenderableType:
    """The findings under what they are about, how many are bad, and what the calls made for them took."""
    lines: list[RenderableType] = []
    for about, group in groupby(findings, key=lambda each: each.about):
        lines.append(Text(one_line(about), style="bold"))
        lines.append(_table(list(group)))
    failed = sum(each.state is State.FAILED for each in findings)
    warnings = sum(each.state is State.WARNING for each in findings)
    counted = f"{failed} failed, {warnings} {'warning' if warnings == 1 else 'warnings'}" if failed or warnings else ""
    lines.append(Text(f"{counted or 'Nothing is wrong'}.{_cost(took)}", style="bold red" if failed else ""))
    return Group(*lines)


def _table(findings: Sequence[Finding]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, min_width=_WIDEST_STATE + 2)
    table.add_column(no_wrap=True, min_width=_WIDEST_CHECK)
    table.add_column(overflow="fold")
    for each in findings:
        state = Text(f"  {_WORDS.get(each.state, each.state.value)}", style=_STYLES[each.state])
        table.add_row(state, Text(one_line(each.check)), Text(one_line(each.found)))
        if each.remedy:
            table.add_row("", "", Text(f"→ {one_line(each.remedy)}", style="cyan" if _is_bad(each) else "dim"))
    return table


def _is_bad(finding: Finding) -> bool:
    return finding.state in (State.WARNING, State.FAILED)


def _cost(took: UsageRow) -> str:
    """What the calls took; nothing is said where none was answered."""
    if not took.calls:
        return ""
    calls = f"{took.calls} {'call was' if took.calls == 1 else 'calls were'} made"
    price = "at an unknown price" if took.dollars is None else f"${took.dollars:.6f}"
    return f" {calls}: {took.usage.total:,} tokens, {price}."
