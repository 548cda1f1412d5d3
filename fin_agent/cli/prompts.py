"""`fin-agent prompts ...`: the prompts of the chat models' roles, listed with what is wrong, and shown."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import Output, command
from fin_agent.cli.streams import fields_of, show_json
from fin_agent.config import settings_from
from fin_agent.presentation.terminal_text import cut, fixed, listing, one_line, plain, right
from fin_agent.prompts.prompt import (
    TEXT,
    Problem,
    PromptError,
    load_prompt,
    prompt_of_role,
    prompt_roles,
    prompt_source,
    prompts,
    read_prompt,
)

PromptFolder = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        metavar="DIR",
        help="Folder whose Markdown files replace prompts of that name. FIN_AGENT_PROMPTS, else none.",
    ),
]


@command
def list_(to: Output, folder: PromptFolder = None) -> ExitCode:
    """List the prompts: role, version, what is read from the reply, about how many tokens, and whose it is.

    Those of the folder stand in place of those that come along. Exit code 3 where one is wrong, and what is.
    """
    listed = checked_prompts(_own(folder))
    lines = [
        {**_line(each), "problems": [fields_of(one, "line? what remedy") for one in each.wrong]} for each in listed
    ]
    to.show({"prompts": lines}, prompts_view(listed))
    return ExitCode.SOME_FAILED if any(each.wrong for each in listed) else ExitCode.DONE


@command
def show(name: str, to: Output, folder: PromptFolder = None) -> ExitCode:
    """Print a prompt's file: what one of your own begins as.

    On the command line:
        name (NAME): Of a prompt, or of its role.
    """
    known = prompt_of_role(name) or name
    own = _own(folder)
    source = prompt_source(known, own)
    if not to.as_json:
        sys.stdout.write(plain(source.text if source.text.endswith("\n") else f"{source.text}\n"))
        return ExitCode.DONE
    prompt = load_prompt(known, folder=own)
    show_json(
        {
            **_line(_checked(known, own)),
            "placeholders": {each: holds.value for each, holds in prompt.role.placeholders.items()},
            "source": prompt.source,
            "system": prompt.system,
            "user": prompt.user,
        }
    )
    return ExitCode.DONE


def checked_prompts(folder: Path | None) -> list[CheckedPrompt]:
    """Every prompt, those of the folder in place of those that come along; then files of the folder that are none."""
    return [*(_checked(name, folder) for name in prompts()), *_of_no_prompt(folder)]


def _own(given: Path | None) -> Path | None:
    """The folder given, else the one that the environment names. Raises PromptError where it is none."""
    folder = given or settings_from().prompts
    if folder is not None and not folder.is_dir():
        raise PromptError("no such folder", subject=str(folder), remedy="Give the folder that holds your *.md files")
    return folder


def _checked(name: str, folder: Path | None) -> CheckedPrompt:
    role = prompt_roles()[name]
    try:
        source = prompt_source(name, folder)
    except PromptError as failure:
        wrong = (Problem(0, failure.what, failure.remedy),)
        return CheckedPrompt(name, role.name, role.does, role.output, failure.subject, own=True, wrong=wrong)
    read = read_prompt(name, source.text)
    problems = [*read.problems, *_of_reply(role.output)]
    return CheckedPrompt(
        name,
        role.name,
        role.does,
        role.output,
        source.subject,
        own=source.own,
        version=read.prompt.version if read.prompt else "",
        characters=len(read.prompt.system) + len(read.prompt.user) if read.prompt else 0,
        wrong=tuple(problems),
    )


def _of_reply(output: str) -> Iterator[Problem]:
    from fin_agent.analyst.model.replies import REPLIES

    if output != TEXT and output not in REPLIES:
        yield Problem(0, f"there is no output type `{output}`", "Reinstall fin-agent: a part of it is missing")


def _of_no_prompt(folder: Path | None) -> Iterator[CheckedPrompt]:
    for file in sorted(folder.glob("*.md")) if folder is not None else ():
        if file.stem not in prompt_roles():
            remedy = f"Rename or remove it; there are: {', '.join(prompts())}"
            yield CheckedPrompt(
                file.stem, "", "", "", str(file), own=True, wrong=(Problem(0, "no prompt has this name", remedy),)
            )


def _line(each: CheckedPrompt) -> dict[str, object]:
    tokens = each.tokens if each.version else None
    return {**fields_of(each, "name role? does? version? output?"), "tokens": tokens, **fields_of(each, "file own")}


_CHARACTERS_OF_A_TOKEN = 4


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
    wrong: tuple[Problem, ...] = ()

    @property
    def tokens(self) -> int:
        """About how many it takes without material."""
        return round(self.characters / _CHARACTERS_OF_A_TOKEN)


def prompts_view(listed: Sequence[CheckedPrompt]) -> RenderableType:
    """A line per prompt, in the order given; below, what is wrong with any, and how many are right."""
    table = listing(
        fixed("Prompt"), "What the model does", fixed("Version"), fixed("Reply"), right("Tokens"), fixed("Whose")
    )
    lines: list[RenderableType] = [table]
    for each in listed:
        version = Text(each.version) if each.version else Text("wrong", style="red")
        tokens = f"~{each.tokens}" if each.version else "–"
        whose = Text("own", style="cyan") if each.own else Text("packaged", style="dim")
        table.add_row(each.name, cut(each.does), version, each.output, tokens, whose)
        for wrong in each.wrong:
            where = f"{one_line(each.file)}, line {wrong.line}" if wrong.line else one_line(each.file)
            lines.append(Text.assemble((where, "bold"), f": {one_line(wrong.what)}. ", (one_line(wrong.remedy), "dim")))
    wrong_ones = sum(bool(each.wrong) for each in listed)
    own = sum(each.own and not each.wrong for each in listed)
    ours = f", {own} of them your own" if own else ""
    lines.append(Text(f"{len(listed) - wrong_ones} prompts are right{ours}; {wrong_ones} wrong.", style="dim"))
    return Group(*lines)
