"""Progress of long work: a bar with count, rate and time left on a terminal, a line per step elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import TracebackType

from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.progress import Task as BarTask
from rich.text import Text

from fin_agent.cli.streams import messages
from fin_agent.presentation.plain import plain


class Progress:
    """Counts `total` of something, on standard error."""

    def __init__(self, total: int, doing: str, noun: str) -> None:
        self._total = total
        self._done = 0
        self._console = messages()
        self._bar: Bar | None = None
        if self._console.is_terminal:
            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(bar_width=32),
                MofNCompleteColumn(),
                _Rate(noun),
                TimeRemainingColumn(),
                TextColumn("left"),
                console=self._console,
                transient=True,
            )
            self._task = self._bar.add_task(doing, total=total)

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say(self, line: str) -> None:
        """Something worth knowing while nothing is done."""
        self._console.print(Text(_on_one_line(line), style="dim"), soft_wrap=True)

    def step(self, line: str, *, problem: bool = False, warnings: Sequence[str] = ()) -> None:
        """One more is done. `line` is printed where there is no bar, and above the bar where it tells of a problem.

        `warnings` are printed below it, and with a bar as well.
        """
        self._done += 1
        if self._bar is None:
            self._console.print(Text(_on_one_line(f"[{self._done}/{self._total}] {line}")), soft_wrap=True)
        elif problem:
            self._console.print(Text(_on_one_line(line), style="red"), soft_wrap=True)
        for warning in warnings:
            self._console.print(Text(_on_one_line(f"warning: {warning}"), style="yellow"), soft_wrap=True)
        if self._bar is not None:
            self._bar.advance(self._task)


def _on_one_line(said: str) -> str:
    """Names may hold line ends; blanks in them are left as they are."""
    return re.sub(r"[\n\t]+", " ", plain(said))


class _Rate(ProgressColumn):
    def __init__(self, noun: str) -> None:
        self._noun = noun
        super().__init__()

    def render(self, task: BarTask) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:.1f} {self._noun}/s")
