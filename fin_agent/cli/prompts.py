"""`fin-agent prompts ...`: list, check and show the prompts of the chat models' roles."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from rich.text import Text

from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import Output, command
from fin_agent.cli.streams import show_json
from fin_agent.config import settings_from
from fin_agent.presentation.json_fields import fields_of
from fin_agent.presentation.terminal_text import cut, fixed, listing, one_line, plain, right
from fin_agent.prompts.prompt import PromptError, load_prompt, prompt_of_role, prompt_roles, prompt_source, prompts


@command
def list_(to: Output, folder: Path | None = None) -> ExitCode:
    """List and check the prompts: role, version, form of the reply, approximate tokens, and origin.

    Prompts of the folder replace packaged ones. Exit code 3 if a prompt is not valid.
    """
    own = _prompt_folder(folder)
    listed = [_checked(name, own) for name in prompts()]
    for file in sorted(own.glob("*.md")) if own is not None else ():
        if file.stem not in prompt_roles():
            wrong = f"{file}: no prompt has this name. Rename or remove it; the names are {', '.join(prompts())}"
            listed.append({"name": file.stem, "own": True, "wrong": wrong})
    table = listing("Prompt", "What the model does", "Version", fixed("Reply"), right("Tokens"), "Whose")
    for each in listed:
        version = each.get("version") or Text("wrong", style="red")
        tokens, whose = each.get("tokens"), "own" if each["own"] else "packaged"
        does, output = cut(each.get("does", "")), each.get("output", "")
        table.add_row(each["name"], does, version, output, f"~{tokens}" if tokens else "–", whose)
    faults = [Text(one_line(each["wrong"])) for each in listed if each["wrong"]]
    summary = f"{len(listed) - len(faults)} prompts are valid; {len(faults)} not valid."
    to.show({"prompts": listed}, table, *faults, Text(summary, style="dim"))
    return ExitCode.SOME_FAILED if faults else ExitCode.DONE


@command
def show(name: str, to: Output, folder: Path | None = None) -> ExitCode:
    """Print a prompt's file, as a template for your own."""
    known = prompt_of_role(name) or name
    own = _prompt_folder(folder)
    text, _ = prompt_source(known, own)
    if not to.as_json:
        sys.stdout.write(plain(text if text.endswith("\n") else f"{text}\n"))
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


def _checked(name: str, folder: Path | None) -> dict[str, Any]:
    """Return a prompt as lists show it; version and tokens are None if it is not valid."""
    version, tokens, wrong = None, None, None
    try:
        prompt = load_prompt(name, folder=folder)
        version, tokens = prompt.version, round(len(prompt.system + prompt.user) / _CHARACTERS_OF_A_TOKEN)
    except PromptError as failure:
        wrong = str(failure)
    role = fields_of(prompt_roles()[name], "role=name does output")
    own = folder is not None and (folder / f"{name}.md").is_file()
    return {"name": name, **role, "version": version, "tokens": tokens, "own": own, "wrong": wrong}


_CHARACTERS_OF_A_TOKEN = 4
