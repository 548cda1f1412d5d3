"""What a terminal shows while a question is answered, and that nothing of it gets anywhere else."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from rich.console import Console

from fin_agent.analyst.events import (
    AnswerPiece,
    CallBegun,
    CallEnded,
    Draft,
    DraftWithdrawn,
    Event,
    StepBegun,
)
from fin_agent.cli.asking import ask_question
from fin_agent.cli.watching import Watching
from fin_agent.config import Settings
from tests.cli.running import LOOKUP


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def shown(*events: Event) -> str:
    """What stands there after these events."""
    console = Console(file=io.StringIO(), width=70, force_terminal=True, color_system=None)
    watching = Watching(console)
    for event in events:
        watching.heard(event)
    with console.capture() as captured:
        console.print(watching.shown())
    return captured.get()


STEP = StepBegun(node="answer_with_reasoning", round=2)
ASKED = CallBegun(role="reasoning", model="openai:gpt-4o")
ENDED = CallEnded(role="reasoning", model="openai:gpt-4o", input_tokens=9, output_tokens=9, dollars=None)
DRAFTS = (Draft(text="Sales rose "), Draft(text="by 42%."))


def test_the_step_and_the_model_at_work() -> None:
    assert "reading the question" in shown()
    assert "answer with reasoning, round 2 · reasoning by openai:gpt-4o" in shown(STEP, ASKED)
    assert "gpt-4o" not in shown(STEP, ASKED, ENDED)
    assert len(shown(StepBegun(node="x" * 200, round=1)).splitlines()) == 1


def test_a_draft_is_called_one_and_makes_room() -> None:
    first, second, third = shown(STEP, ASKED, *DRAFTS).splitlines()
    assert (second, third) == ("draft, not checked yet:", "Sales rose by 42%.") and "reasoning" in first
    assert "42" not in shown(STEP, *DRAFTS, DraftWithdrawn(why="no quote has 42"))
    answer = shown(STEP, *DRAFTS, AnswerPiece(text="Sales rose by 4%."))
    assert "Sales rose by 4%." in answer and "42" not in answer and "draft" not in answer


def test_a_long_draft_shows_its_end_and_no_line_is_too_wide() -> None:
    lines = shown(STEP, Draft(text=" ".join(f"word{number}" for number in range(400)))).splitlines()
    assert len(lines) == 10 and lines[-1].endswith("word399") and max(map(len, lines)) < 70


def test_a_draft_cannot_drive_the_terminal() -> None:
    assert "\x1b[2J" not in shown(STEP, Draft(text="a \x1b[2J b [bold]c[/bold]"))
    assert "[bold]c" in shown(STEP, Draft(text="[bold]c"))


@pytest.mark.parametrize("error", [io.StringIO, Terminal])
def test_standard_output_is_the_document_alone(
    sample_index: Path, monkeypatch: pytest.MonkeyPatch, error: type[io.StringIO]
) -> None:
    monkeypatch.setattr(sys, "stderr", messages := error())
    monkeypatch.setattr(sys, "stdout", out := io.StringIO())
    ask_question(LOOKUP, sample_index, Settings(), doc_ids=(), trace=False, record=False, as_json=True)
    assert out.getvalue().startswith("{") and out.getvalue().count("\n") == 1
    assert (messages.getvalue() == "") == (error is io.StringIO)
