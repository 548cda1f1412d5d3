"""What a terminal shows while a question is answered: the step at work, the model asked, the draft as it grows."""

from __future__ import annotations

import threading
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from fin_agent.analyst.events import (
    AnswerPiece,
    CallBegun,
    CallEnded,
    Draft,
    DraftWithdrawn,
    Event,
    StepBegun,
)
from fin_agent.presentation.plain import one_line, plain

_MOST_LINES = 8
"""Of a draft that are shown: its last."""


class Watching:
    """Shows events in place, and nothing once the block is left; `heard` may be called by several threads.

    A draft is called one, and makes room for the answer as soon as that is verified.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._guard = threading.Lock()
        self._doing = "reading the question"
        self._asked: list[str] = []
        self._draft = ""
        self._answer = ""
        self._spinner = Spinner("dots")
        self._live = Live(console=console, transient=True, get_renderable=self.shown, refresh_per_second=8)

    def __enter__(self) -> Watching:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def heard(self, event: Event) -> None:
        """See Listener."""
        with self._guard:
            match event:
                case StepBegun():
                    again = f", round {event.round}" if event.round > 1 else ""
                    self._doing = f"{event.node.replace('_', ' ')}{again}"
                case CallBegun():
                    self._asked.append(_call(event))
                case CallEnded() if _call(event) in self._asked:
                    self._asked.remove(_call(event))
                case Draft():
                    self._draft += event.text
                case DraftWithdrawn():
                    self._draft = ""
                case AnswerPiece():
                    self._draft = ""
                    self._answer += event.text

    def shown(self) -> RenderableType:
        """What stands on the terminal now."""
        with self._guard:
            asked = "".join(f" · {call}" for call in dict.fromkeys(self._asked))
            lines: list[RenderableType] = [self._line(f"{self._doing}{asked}")]
            if self._draft:
                lines += [Text("draft, not checked yet:", style="dim"), self._last(self._draft, "dim italic")]
            elif self._answer:
                lines.append(self._last(self._answer, ""))
        return Group(*lines)

    def _line(self, text: str) -> RenderableType:
        self._spinner.update(text=Text(one_line(text, max(8, self._console.width - 3))))
        return self._spinner

    def _last(self, text: str, style: str) -> RenderableType:
        wrapped = Text(plain(text), style=style).wrap(self._console, max(1, self._console.width - 1))
        return Text("\n").join(wrapped[-_MOST_LINES:])


def _call(event: CallBegun | CallEnded) -> str:
    return f"{event.role} by {event.model}"
