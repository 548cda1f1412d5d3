"""What was found in an index, what was mended, and which files are unread, as a person reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fin_agent.index.manifest import UnreadFile
from fin_agent.index.repairing import Repaired
from fin_agent.index.verifying import IndexFinding
from fin_agent.presentation.plain import one_line


def findings_table(findings: Sequence[IndexFinding]) -> RenderableType:
    """Each with what to do; what is wrong stands before what is only worth knowing."""
    lines: list[RenderableType] = []
    for finding in sorted(findings, key=lambda each: not each.fault):
        style = "bold red" if finding.fault else "dim"
        head = Text("fault  " if finding.fault else "note   ", style=style)
        lines.append(_block(head, f"{finding.aspect.value}: {finding.subject}: {finding.found}", finding.remedy))
    return Group(*lines, "")


def repair_lines(
    repaired: Repaired, left: Sequence[IndexFinding], hinted: Callable[[str], str] = str
) -> RenderableType:
    """What was done, what was lost, what is left; `hinted` makes the commands that are named work on this index."""
    lines: list[RenderableType] = [Text(f"- {one_line(hinted(done))}") for done in repaired.done]
    if repaired.damaged_copy is not None:
        lines.append(Text(f"- the damaged database is kept as {repaired.damaged_copy}"))
    for lost in repaired.lost:
        lines.append(_block(Text("lost   ", style="bold red"), f"{lost.doc_id}: {lost.why}", hinted(lost.remedy)))
    if left:
        lines.append(findings_table(left))
    lines.append(Text(_verdict(repaired, bool(left), bool(lines))))
    return Group(*lines)


def _verdict(repaired: Repaired, left: bool, something_done: bool) -> str:
    """`whole` is never said where anything was lost."""
    held = f"it holds {repaired.kept:,} filing{'s' * (repaired.kept != 1)}"
    if left:
        return f"Faults are left: {held}."
    if not repaired.lost:
        return f"{'The index is whole again' if something_done else 'Nothing was wrong'}: {held}."
    if not repaired.kept:
        return "Nothing could be saved: the index is empty now."
    lost = [f"{repaired.taken_out:,} {'was' if repaired.taken_out == 1 else 'were'} lost"] if repaired.taken_out else []
    doubt = ["whether it held more cannot be told"] if repaired.names_lost else []
    return f"What is in the index is sound again: {held}; {', '.join([*lost, *doubt])}."


def unread_table(unread: Sequence[UnreadFile]) -> RenderableType:
    """Each with why it is unread and what to do."""
    states = [_block(Text(f"{file.state.value:<8} "), f"{file.path}: {file.reason}", file.remedy) for file in unread]
    return Group(*states, "", Text(f"{len(unread)} file{'s' * (len(unread) != 1)}"))


def _block(head: Text, said: str, remedy: str) -> Table:
    block = Table.grid(padding=(0, 0))
    block.add_column(no_wrap=True)
    block.add_column(overflow="fold")
    block.add_row(head, Text(one_line(said)))
    block.add_row("", Text(f"→ {one_line(remedy)}", style="cyan"))
    return block
