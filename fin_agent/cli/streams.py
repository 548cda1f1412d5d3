"""The two streams: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from typing import Any, TextIO

from rich.console import Console, RenderableType
from rich.text import Text

from fin_agent.cli.hints import with_index
from fin_agent.presentation.plain import plain

_PIPED_WIDTH = 100


def show(*renderables: RenderableType) -> None:
    """Print for people, on standard output."""
    console = _console(sys.stdout)
    if console.is_terminal:
        console.print(*renderables, sep="\n")
        return
    with console.capture() as captured:
        console.print(*renderables, sep="\n")
    # Rich fills lines up to the width: of no use in a file.
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in captured.get().rstrip("\n").split("\n"))


def show_json(document: Any) -> None:
    """Print one JSON document as one line, on standard output."""
    show_json_line(json.dumps(document, ensure_ascii=False))


def show_json_line(line: str) -> None:
    """Print a line that is JSON already; characters the stream cannot carry are escaped."""
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    sys.stdout.write(f"{line if encoding == 'utf8' else _ascii(line)}\n")


def say(line: str) -> None:
    """Print one line on standard error: between words over several where a terminal is too narrow, else as it is.

    Commands that it names work on the index in use.
    """
    console = messages()
    style = "bold red" if line.startswith("error:") else "yellow" if line.startswith("warning:") else ""
    said = plain(with_index(line))
    if sys.stderr.isatty():
        said = "\n".join(_wrapped(each, console.width) for each in said.split("\n"))
    console.print(Text(said, style=style), soft_wrap=True)


def _wrapped(line: str, width: int) -> str:
    """A path longer than a line stays in one piece: it may be copied."""
    return textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False) if len(line) > width else line


def warn(what: str) -> None:
    """Print a warning on standard error."""
    say(f"warning: {what}")


def messages() -> Console:
    """The console on standard error."""
    return _console(sys.stderr)


def _console(stream: TextIO) -> Console:
    width = None if stream.isatty() or "COLUMNS" in os.environ else _PIPED_WIDTH
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def _ascii(line: str) -> str:
    return json.dumps(json.loads(line), ensure_ascii=True)
