"""The reference of the command line as Markdown, from the help of its commands: `python -m fin_agent.cli.reference`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import typer.main

from fin_agent.cli.app import EPILOG, app

_HEAD = """\
# Command line

Written by `python -m fin_agent.cli.reference > docs/cli.md`; a test compares the two.
"""


def reference() -> str:
    """One section per command: what it does, its arguments, its options."""
    root = typer.main.get_command(app)
    parts = [_HEAD, f"{_sentence(root.help)}\n\n{EPILOG}\n", *_sections("fin-agent", root)]
    return "\n".join(parts)


def _sections(path: str, command: Any) -> Iterator[str]:
    """`command` is Typer's own kind of command, whose class differs between its versions."""
    subcommands: Mapping[str, Any] = getattr(command, "commands", {})
    shown = [parameter for parameter in command.params if not getattr(parameter, "hidden", False)]
    arguments = [parameter for parameter in shown if parameter.param_type_name == "argument"]
    options = [parameter for parameter in shown if parameter.param_type_name == "option"]
    if subcommands:
        usage = f"{path} COMMAND"
    else:
        required = [f"{option.opts[0]} {_metavar(option)}" for option in options if option.required]
        usage = " ".join([path, *map(_metavar, arguments), *required, "[OPTIONS]"])
    lines = [f"## {path}", "", f"    {usage}", ""]
    if path.count(" ") or not subcommands:
        lines += [_sentence(command.help), ""]
    if subcommands:
        lines += [f"- `{path} {name}`: {_sentence(each.help)}" for name, each in subcommands.items()] + [""]
    if arguments or options:
        lines += ["| argument or option | what it does | default |", "|---|---|---|"]
        lines += [f"| `{_metavar(argument)}` | {argument.help} | |" for argument in arguments]
        lines += [f"| {_names(option)} | {option.help} | {_default(option)} |" for option in options] + [""]
    yield "\n".join(lines)
    for name, each in subcommands.items():
        yield from _sections(f"{path} {name}", each)


def _names(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    return names if option.is_flag else f"{names} `{_metavar(option)}`"


def _metavar(parameter: Any) -> str:
    if parameter.metavar:
        return str(parameter.metavar)
    choices = getattr(parameter.type, "choices", None)
    if choices:
        return " or ".join(str(getattr(choice, "value", choice)) for choice in choices)
    return "N" if "int" in parameter.type.name else str(parameter.type.name).upper()


def _default(option: Any) -> str:
    if option.required:
        return "needed"
    if option.is_flag or option.default is None:
        return ""
    return f"`{getattr(option.default, 'value', option.default)}`"


def _sentence(text: str | None) -> str:
    return " ".join((text or "").split())


if __name__ == "__main__":
    sys.stdout.write(reference())
