"""What a step tells beside its result: models asked, what rules did in their place, signs of planted instructions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from fin_agent.evidence.trace import TraceStep
from fin_agent.presentation.plain import one_line

_LONGEST = 300


def step_notes(step: TraceStep) -> Iterator[Text]:
    """A line each, calls first."""
    yield from (Text(f"asked: {one_line(call, _LONGEST)}", style="dim") for call in step.calls)
    yield from (Text(f"flagged: {one_line(flag, _LONGEST)}", style="magenta") for flag in step.flags)
    yield from warning_lines(step.warnings)


def warning_lines(warnings: Sequence[str], *, most: int = 0) -> Iterator[Text]:
    """A line per warning; the first so many where `most` is given, and how many more there are."""
    shown = warnings[:most] if most else warnings
    yield from (Text(f"Warning: {one_line(warning, _LONGEST)}", style="yellow") for warning in shown)
    if len(shown) < len(warnings):
        yield Text(f"… {len(warnings) - len(shown)} more warnings in the trace", style="yellow")
