"""The commands `fin-agent prompts ...` with their arguments and options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fin_agent.cli.exits import ExitCode
from fin_agent.cli.options import AsJson, command

PromptFolder = Annotated[
    Path | None,
    typer.Option(
        "--folder",
        metavar="DIR",
        help="Folder whose Markdown files replace prompts of that name. FIN_AGENT_PROMPTS, else none.",
    ),
]

prompts = typer.Typer(help="Look at the prompts of the chat models' roles, and check your own.", no_args_is_help=True)


@command(prompts, "list")
def list_(folder: PromptFolder = None, as_json: AsJson = False) -> ExitCode:
    """List the prompts: role, version, what is read from the reply, about how many tokens, and whose it is."""
    from fin_agent.cli.prompt_commands import list_prompts

    return list_prompts(folder, as_json=as_json)


@command(prompts)
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of a prompt, or of its role.")],
    folder: PromptFolder = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Print a prompt's file: what one of your own begins as."""
    from fin_agent.cli.prompt_commands import show_prompt

    return show_prompt(name, folder, as_json=as_json)


@command(prompts)
def check(folder: PromptFolder = None, as_json: AsJson = False) -> ExitCode:
    """Check every prompt, those of the folder in place of those that come along. Exit code 3 where one is wrong."""
    from fin_agent.cli.prompt_commands import check_prompts

    return check_prompts(folder, as_json=as_json)
