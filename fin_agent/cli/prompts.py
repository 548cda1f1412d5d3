"""`fin-agent prompts ...`: list, check and show the prompts of the chat models' roles."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import Output, command
from fin_agent.cli.streams import fields_of, show_json
from fin_agent.config import settings_from
from fin_agent.presentation.terminal_text import cut, fixed, listing, one_line, plain, right
from fin_agent.prompts.prompt import (
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
    own = _prompt_folder(folder)
    listed = [_checked(name, own) for name in prompts()]
    for file in sorted(own.glob("*.md")) if own is not None else ():
        if file.stem not in prompt_roles():
            wrong = f"{file}: no prompt has this name. Rename or remove it; the names are {', '.join(prompts())}"
            listed.append({"name": file.stem, **dict.fromkeys(_OF_A_ROLE), "own": True, "wrong": wrong})
    to.show({"prompts": listed}, _prompts_view(listed))
    return ExitCode.SOME_FAILED if any(each["wrong"] for each in listed) else ExitCode.DONE


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
    placeholders = {each: holds.value for each, holds in prompt.role.placeholders.items()}
    show_json({**_checked(known, own), "placeholders": placeholders, **fields_of(prompt, "source system user")})
    return ExitCode.DONE


def _prompt_folder(given: Path | None) -> Path | None:
    """Return the folder that is given, else the one of the environment. Raises PromptError if it does not exist."""
    folder = given or settings_from().prompts
    if folder is not None and not folder.is_dir():
        raise PromptError(
            "this folder does not exist", subject=str(folder), remedy="Give the folder of your *.md files"
        )
    return folder


_OF_A_ROLE = ("role", "does", "version", "output", "tokens")
_CHARACTERS_OF_A_TOKEN = 4


def _checked(name: str, folder: Path | None) -> dict[str, Any]:
    """Return a prompt as lists show it; version and tokens are None if it is not valid."""
    role, version, tokens, wrong = prompt_roles()[name], None, None, None
    try:
        prompt = load_prompt(name, folder=folder)
        version, tokens = prompt.version, round(len(prompt.system + prompt.user) / _CHARACTERS_OF_A_TOKEN)
    except PromptError as failure:
        wrong = str(failure)
    of_role = dict(zip(_OF_A_ROLE, (role.name, role.does, version, role.output, tokens), strict=True))
    own = folder is not None and (folder / f"{name}.md").is_file()
    return {"name": name, **of_role, "own": own, "wrong": wrong}


def _prompts_view(listed: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Return a row per prompt, then what is wrong with any, and the number of valid ones."""
    columns = (fixed("Version"), fixed("Reply"), right("Tokens"), fixed("Whose"))
    table = listing(fixed("Prompt"), "What the model does", *columns)
    for each in listed:
        version = each["version"] or Text("wrong", style="red")
        tokens = f"~{each['tokens']}" if each["version"] else "–"
        whose = Text("own", style="cyan") if each["own"] else Text("packaged", style="dim")
        table.add_row(each["name"], cut(each["does"] or ""), version, each["output"] or "", tokens, whose)
    wrong = [Text(one_line(each["wrong"])) for each in listed if each["wrong"]]
    own = sum(each["own"] and not each["wrong"] for each in listed)
    ours = f", {own} of them your own" if own else ""
    summary = f"{len(listed) - len(wrong)} prompts are valid{ours}; {len(wrong)} not valid."
    return Group(table, *wrong, Text(summary, style="dim"))
