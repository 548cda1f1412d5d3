"""Prompts as a list, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from fin_agent.presentation.plain import cut, fixed, listing, one_line, right

_CHARACTERS_OF_A_TOKEN = 4


@dataclass(frozen=True, slots=True)
class WrongLine:
    """What is wrong on a line of a prompt's file; line 0 is the whole file."""

    line: int
    what: str
    remedy: str


@dataclass(frozen=True, slots=True)
class CheckedPrompt:
    """A prompt as it is listed."""

    name: str
    role: str
    does: str
    output: str
    file: str
    own: bool
    """Whether it is the user's."""
    version: str = ""
    """Empty where something is wrong with it."""
    characters: int = 0
    wrong: tuple[WrongLine, ...] = ()

    @property
    def tokens(self) -> int:
        """About how many it takes without material."""
        return round(self.characters / _CHARACTERS_OF_A_TOKEN)


def prompts_view(listed: Sequence[CheckedPrompt]) -> RenderableType:
    """A line per prompt, in the order given."""
    table = listing(
        fixed("Prompt"), "What the model does", fixed("Version"), fixed("Reply"), right("Tokens"), fixed("Whose")
    )
    for each in listed:
        version = Text(each.version) if each.version else Text("wrong", style="red")
        tokens = f"~{each.tokens}" if each.version else "–"
        whose = Text("own", style="cyan") if each.own else Text("packaged", style="dim")
        table.add_row(each.name, cut(each.does), version, each.output, tokens, whose)
    wrong = sum(not each.version for each in listed)
    note = f"; {wrong} wrong: see `fin-agent prompts check`" if wrong else ""
    return Group(table, Text(f"{len(listed)} prompts, tokens without material{note}", style="dim"))


def checked_view(checked: Sequence[CheckedPrompt]) -> RenderableType:
    """Every prompt that something is wrong with, line by line; then how many are right."""
    lines: list[RenderableType] = []
    for each in checked:
        for wrong in each.wrong:
            where = f"{one_line(each.file)}, line {wrong.line}" if wrong.line else one_line(each.file)
            lines.append(Text.assemble((where, "bold"), f": {one_line(wrong.what)}. ", (one_line(wrong.remedy), "dim")))
    right = sum(not each.wrong for each in checked)
    own = sum(each.own and not each.wrong for each in checked)
    ours = f", {own} of them your own" if own else ""
    lines.append(Text(f"{right} prompts are right{ours}; {len(checked) - right} wrong."))
    return Group(*lines)
