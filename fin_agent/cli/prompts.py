"""`fin-agent prompts ...`: list, check and show the prompts of the chat models' roles."""

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
    Prompt,
    PromptError,
    load_prompt,
    prompt_of_role,
    prompt_roles,
    prompt_source,
    prompts,
)

PromptFolder = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        metavar="DIR",
        help="Folder whose Markdown files replace prompts of that name. By default FIN_AGENT_PROMPTS, else none.",
    ),
]


@command
def list_(to: Output, folder: PromptFolder = None) -> ExitCode:
    """List and check the prompts: role, version, form of the reply, approximate tokens, and origin.

    Prompts of the folder replace packaged ones. Exit code 3 if a prompt is not valid.
    """
    listed = checked_prompts(_prompt_folder(folder))
    to.show({"prompts": [_line(each) for each in listed]}, prompts_view(listed))
    return ExitCode.SOME_FAILED if any(each.wrong for each in listed) else ExitCode.DONE


@command
def show(name: str, to: Output, folder: PromptFolder = None) -> ExitCode:
    """Print a prompt's file, as a template for your own.

    On the command line:
        name (NAME): A prompt or its role.
    """
    known = prompt_of_role(name) or name
    own = _prompt_folder(folder)
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
    """Return every prompt, with those of the folder in place of packaged ones, then unknown files of the folder."""
    return [*(_checked(name, folder) for name in prompts()), *_unknown_prompt_files(folder)]


def _prompt_folder(given: Path | None) -> Path | None:
    """Return the folder that is given, else the one of the environment. Raises PromptError if it does not exist."""
    folder = given or settings_from().prompts
    if folder is not None and not folder.is_dir():
        raise PromptError(
            "this folder does not exist", subject=str(folder), remedy="Give the folder of your *.md files"
        )
    return folder


def _checked(name: str, folder: Path | None) -> CheckedPrompt:
    role, wrong = prompt_roles()[name], ""
    prompt: Prompt | None = None
    own = folder is not None and (folder / f"{name}.md").is_file()
    try:
        prompt = load_prompt(name, folder=folder)
    except PromptError as failure:
        wrong = str(failure)
    return CheckedPrompt(name, role.name, role.does, role.output, own, prompt, wrong)


def _unknown_prompt_files(folder: Path | None) -> Iterator[CheckedPrompt]:
    for file in sorted(folder.glob("*.md")) if folder is not None else ():
        if file.stem not in prompt_roles():
            wrong = f"{file}: no prompt has this name. Rename or remove it; the names are {', '.join(prompts())}"
            yield CheckedPrompt(file.stem, "", "", "", own=True, prompt=None, wrong=wrong)


def _line(each: CheckedPrompt) -> dict[str, object]:
    return fields_of(each, "name role? does? version? output? tokens own wrong?")


_CHARACTERS_OF_A_TOKEN = 4


@dataclass(frozen=True, slots=True)
class CheckedPrompt:
    """A prompt as lists show it."""

    name: str
    role: str
    does: str
    output: str
    own: bool
    """Whether it is the user's own."""
    prompt: Prompt | None
    wrong: str
    """What is wrong with its file, with the remedy; empty if it is valid."""

    @property
    def version(self) -> str:
        """Its version; empty if it is not valid."""
        return "" if self.prompt is None else self.prompt.version

    @property
    def tokens(self) -> int | None:
        """Its approximate number of tokens without material; None if it is not valid."""
        if self.prompt is None:
            return None
        return round((len(self.prompt.system) + len(self.prompt.user)) / _CHARACTERS_OF_A_TOKEN)


def prompts_view(listed: Sequence[CheckedPrompt]) -> RenderableType:
    """Return a row per prompt, then what is wrong with any, and the number of valid ones."""
    table = listing(
        fixed("Prompt"), "What the model does", fixed("Version"), fixed("Reply"), right("Tokens"), fixed("Whose")
    )
    lines: list[RenderableType] = [table]
    for each in listed:
        version = Text(each.version) if each.version else Text("wrong", style="red")
        tokens = f"~{each.tokens}" if each.version else "–"
        whose = Text("own", style="cyan") if each.own else Text("packaged", style="dim")
        table.add_row(each.name, cut(each.does), version, each.output, tokens, whose)
        if each.wrong:
            lines.append(Text(one_line(each.wrong)))
    wrong_ones = sum(bool(each.wrong) for each in listed)
    own = sum(each.own and not each.wrong for each in listed)
    ours = f", {own} of them your own" if own else ""
    lines.append(Text(f"{len(listed) - wrong_ones} prompts are valid{ours}; {wrong_ones} not valid.", style="dim"))
    return Group(*lines)
