"""What people at a terminal see: warnings wrapped, progress as a bar. Programs get lines."""

from __future__ import annotations

import io
import sys

import pytest

from fin_agent.cli.streams import Progress, warn

LONG = "the index has Tellurond Semiconductor Corporation; Harborlight Instruments, Inc.; Quillmark Stores, Inc."


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")


def test_a_long_warning_is_wrapped_between_words_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    warn(LONG)
    lines = terminal.getvalue().splitlines()
    assert len(lines) > 2 and max(map(len, lines)) <= 40
    assert " ".join(line.strip() for line in lines) == f"warning: {LONG}"


def test_a_word_longer_than_a_line_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    path = "/a/very/long/path/" + "x" * 60
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    warn(f"it is in {path}")
    assert path in terminal.getvalue()


def test_it_is_one_line_where_it_is_piped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", piped := io.StringIO())
    warn(LONG)
    assert piped.getvalue() == f"warning: {LONG}\n"


def test_a_terminal_shows_a_bar_with_rate_and_time_left_and_problems_above_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    progress = Progress(2)
    progress.step("a.pdf: added")
    progress.step("b.pdf: failed", problem=True)
    lines = [line for written in terminal.getvalue().split("\n") for line in written.split("\r") if line.strip()]
    assert [line.split()[1] for line in lines if "━" in line] == ["1/2", "2/2"]
    assert all("/s" in line and "left" in line for line in lines if "━" in line)
    assert "[2/2] b.pdf: failed" in terminal.getvalue() and "a.pdf" not in terminal.getvalue()


def test_a_pipe_gets_a_line_per_item(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", piped := io.StringIO())
    progress = Progress(2)
    progress.step("a.pdf: added", warnings=["no cover"])
    assert piped.getvalue() == "[1/2] a.pdf: added\nwarning: no cover\n"
