"""The groups of a tournament: who met whom, in which order they came out, how many went on."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from fin_agent.evidence.trace import RankedGroup
from fin_agent.presentation.filings import listing
from fin_agent.presentation.plain import one_line

_BEST = 3


def groups_view(groups: Sequence[RankedGroup], *, full: bool = False) -> RenderableType:
    """A line per group; `full` lists all that went on below it."""
    table = listing()
    table.add_column("Stage", no_wrap=True)
    table.add_column("No.", justify="right", no_wrap=True)
    table.add_column("Met", justify="right", no_wrap=True)
    table.add_column("On", justify="right", no_wrap=True)
    table.add_column("Came out first (filing : passage)")
    for group in groups:
        stage = one_line(group.stage) + _attempt(group)
        named = _came_out_first(group, full)
        said = Text(named)
        if group.note:
            said.append(f"{'  ' if named else ''}{one_line(group.note)}", style="dim")
        table.add_row(stage, str(group.number), str(len(group.ranked)), str(group.finalists), said)
    return Group(Padding(table, (1, 0, 1, 0)))


def group_line(group: RankedGroup) -> str:
    """`round 2: 25 met, 6 went on; top 10 agree: acme_2023_10k:12, acme_2023_10k:3 … 4 more`."""
    named = _came_out_first(group, full=False)
    head = f"{one_line(group.stage)} {group.number}{_attempt(group)}"
    line = f"{head}: {len(group.ranked)} met, {group.finalists} went on"
    return "".join((line, f"; {one_line(group.note)}" if group.note else "", f": {named}" if named else ""))


def _attempt(group: RankedGroup) -> str:
    """Where groups were shuffled anew."""
    return f", attempt {group.attempt}" if group.attempt > 1 else ""


def _came_out_first(group: RankedGroup, full: bool) -> str:
    finalists = group.ranked[: group.finalists]
    shown = finalists if full else finalists[:_BEST]
    more = f" … {len(finalists) - len(shown)} more" if len(shown) < len(finalists) else ""
    return ", ".join(f"{one_line(doc_id)}:{ordinal}" for doc_id, ordinal in shown) + more
