"""The reference of the command line, from what its commands declare: `python -m fin_agent.cli.reference`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, get_args, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

from fin_agent.cli.app import STREAMS, app
from fin_agent.cli.exits import MEANINGS

_HEAD = """\
# Command line

Written by `python -m fin_agent.cli.reference > docs/cli.md`; a test compares the two.
"""


def reference() -> str:
    """Streams and exit codes, then one section per command: what it does, its arguments, its options."""
    assert app.registered_callback is not None
    declared = _rows(app.registered_callback.callback)
    codes = ["| exit code | meaning |", "|---|---|", *(f"| {code} | {meaning} |" for code, meaning in MEANINGS.items())]
    head = [_HEAD, f"{app.info.help} {STREAMS}\n", *declared, "", *codes, ""]
    return "\n".join([*head, *_sections("fin-agent", app)])


def _sections(path: str, commands: typer.Typer) -> Iterator[str]:
    for command in commands.registered_commands:
        assert command.callback is not None
        name = command.name or command.callback.__name__
        lines = [f"## {path} {name}", "", " ".join((inspect.getdoc(command.callback) or "").split()), ""]
        yield "\n".join([*lines, *_rows(command.callback), ""])
    for group in commands.registered_groups:
        assert group.typer_instance is not None
        yield from _sections(f"{path} {group.name}", group.typer_instance)


def _rows(command: Callable[..., Any] | None) -> list[str]:
    """A Markdown table of the parameters, arguments first."""
    assert command is not None
    rows = ["| argument or option | what it does | default |", "|---|---|---|"]
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        kind, declared = get_args(hints[name])[:2]
        if isinstance(declared, ArgumentInfo):
            rows.append(f"| `{declared.metavar or name.upper()}` | {declared.help} | needed |")
        elif isinstance(declared, OptionInfo):
            names = ", ".join(f"`{each}`" for each in _names(declared) or [f"--{name.replace('_', '-')}"])
            value = "" if kind is bool else f" `{declared.metavar or _metavar(kind)}`"
            rows.append(f"| {names}{value} | {declared.help} | {_default(parameter.default)} |")
    return rows


def _names(option: OptionInfo) -> list[str]:
    # Within Annotated, Typer keeps the first name where a default would stand.
    given = [option.default, *(option.param_decls or ())]
    return [name for name in given if isinstance(name, str) and name.startswith("-")]


def _metavar(kind: Any) -> str:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "` or `".join(str(each.value) for each in kind)
    return "N"


def _default(default: Any) -> str:
    if default is inspect.Parameter.empty:
        return "needed"
    if default is None or default is False:
        return ""
    return f"`{default.value if isinstance(default, Enum) else default}`"


if __name__ == "__main__":
    sys.stdout.write(reference())
