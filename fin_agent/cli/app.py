"""The table of all commands. A command is a function whose module is imported when the command is called."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import tomllib
import warnings
from collections.abc import Mapping
from importlib import import_module, resources
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fin_agent.cli.exit_codes import MEANINGS, error_boundary
from fin_agent.distribution import installed_version

_LISTED = tomllib.loads(resources.files(__package__).joinpath("commands.toml").read_text("utf-8"))
COMMANDS: Mapping[str, Any] = {
    name: (found, found.pop("about")) if isinstance(found, dict) else found for name, found in _LISTED.items()
}
"""Name -> (`module.function`, description), or (the commands of a group, description)."""


class ListedGroup(TyperGroup):
    """A group of commands from the table. Each is imported when it is called, so that `--help` is fast."""

    listed = COMMANDS

    def list_commands(self, ctx: Any) -> list[str]:
        """Return all names, in the order of the table."""
        return list(self.listed)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import and return the command of this name, or None."""
        if cmd_name not in self.listed:
            return None
        place, said = self.listed[cmd_name]
        if isinstance(place, Mapping):
            group = ListedGroup(name=cmd_name, help=said, no_args_is_help=True, rich_markup_mode=None)
            group.listed = place
            return group
        module, _, function = place.partition(".")
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        with error_boundary():  # a library that is missing, or of another version
            single.command(cmd_name)(getattr(import_module(f"fin_agent.cli.{module}"), function))
        return typer.main.get_command(single)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each name with its description, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, said) for name, (_, said) in self.listed.items()])


app = typer.Typer(
    name="fin-agent",
    cls=ListedGroup,
    help="Answers questions over SEC filings and shows the page, the line and the program behind every number.",
    epilog="Results go to standard output, everything else to standard error. Exit codes: "
    f"{', '.join(f'{code} {meaning}' for code, meaning in MEANINGS.items())}.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line of this process."""
    # Loaded modules stay until the end: collecting garbage while they load, and again at exit, takes a quarter of the
    # time of a first answer.
    gc.set_threshold(200_000, 20, 20)
    atexit.register(gc.freeze)
    for stream in (sys.stdout, sys.stderr):
        # Replace characters that the terminal cannot show, such as a dash in a filing, instead of failing.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app(prog_name="fin-agent")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(installed_version())
        raise typer.Exit


@app.callback()
def fin_agent(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Handle the options before a command."""
    if any(name.startswith("FIN_AGENT_") for name in os.environ):  # avoids the imports otherwise
        from fin_agent.cli.streams import warn
        from fin_agent.config import unknown_variable_message, unknown_variables

        for name, closest in unknown_variables().items():
            warn(". ".join(unknown_variable_message(name, closest)))
        warnings.filterwarnings("ignore", "the environment variable FIN_AGENT_", UserWarning)  # already shown
