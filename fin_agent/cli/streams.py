"""Output streams: results on standard output, messages and progress on standard error."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from textwrap import TextWrapper
from typing import Any, TextIO

from rich.console import Console, RenderableType
from rich.text import Text

from fin_agent.cli.exit_codes import with_index
from fin_agent.presentation.terminal_text import plain

_PIPED_WIDTH = 100


def show(*renderables: RenderableType) -> None:
    """Print renderables to standard output."""
    console = _console(sys.stdout)
    if console.is_terminal:
        console.print(*renderables, sep="\n")
        return
    with console.capture() as captured:
        console.print(*renderables, sep="\n")
    # Rich pads lines to the full width, which is not wanted in a file.
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in captured.get().rstrip("\n").split("\n"))


def show_json(document: Any) -> None:
    """Print a document as one line of JSON to standard output, in ASCII as every terminal and reader understands it."""
    sys.stdout.write(f"{json.dumps(document)}\n")


def say(line: str) -> None:
    """Print one line to standard error, wrapped between words on a terminal.

    Commands quoted in it get the option of the index in use.
    """
    console = messages()
    style = "bold red" if line.startswith("error:") else "yellow" if line.startswith("warning:") else ""
    said = plain(with_index(line))
    if sys.stderr.isatty():  # paths are not broken, so that they can be copied
        wrap = TextWrapper(console.width, break_long_words=False, break_on_hyphens=False, replace_whitespace=False)
        said = "\n".join(wrap.fill(each) for each in said.split("\n"))
    console.print(Text(said, style=style), soft_wrap=True)


def warn(what: str) -> None:
    """Print a warning to standard error."""
    say(f"warning: {what}")


def messages() -> Console:
    """Return the console of standard error."""
    return _console(sys.stderr)


def _console(stream: TextIO) -> Console:
    width = None if stream.isatty() or "COLUMNS" in os.environ else _PIPED_WIDTH
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


class Progress:
    """Counts items that are done on standard error: a bar with rate and remaining time on a terminal, else lines."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._begun = time.monotonic()

    def step(self, line: str, *, problem: bool = False, warnings: Sequence[str] = ()) -> None:
        """Count one item as done, and print its outcome and its warnings.

        On a terminal, a bar stands for outcomes; those that are problems are printed above it.
        """
        self._done += 1
        console = messages()
        told = [(f"[{self._done}/{self._total}] {line}", "red" if problem else "")]
        told = told if problem or not console.is_terminal else []
        told += [(f"warning: {warning}", "yellow") for warning in warnings]
        for each, style in told:
            # Line ends and tabs in names are replaced; blanks are left as they are.
            printed = Text(re.sub(r"[\n\t]+", " ", plain(each)), style=style)
            printed.pad_right(max(0, _BAR_WIDTH - printed.cell_len) if console.is_terminal else 0)
            console.print(printed, soft_wrap=True)
        if console.is_terminal:
            console.print(self._bar(), end="\r" if self._done < self._total else "\n", soft_wrap=True)

    def _bar(self) -> Text:
        rate = self._done / max(time.monotonic() - self._begun, 0.001)
        left = timedelta(seconds=round((self._total - self._done) / rate))
        bar = "━" * (_BAR * self._done // max(self._total, 1))
        return Text(f"{bar:<{_BAR}} {self._done}/{self._total}  {rate:.1f}/s  {left} left".ljust(_BAR_WIDTH))


_BAR, _BAR_WIDTH = 32, 78
"""Cells of the bar, and of it with its figures."""
