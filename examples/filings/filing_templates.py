"""The templates all companies share, with their words filled in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "templates"


def template(name: str, words: Mapping[str, str], form: str, period_end: date) -> str:
    """A template with its includes and words filled in."""
    words = dict(words)
    words["check_marks"] = _read("check-marks")
    if form == "10-K":
        # Item 1C is required from fiscal years that end on or after December 15, 2023.
        words["cybersecurity"] = _read("item-1c").format_map(words) if period_end >= date(2023, 12, 15) else ""
    text = _read(name)
    for include in [line for line in text.splitlines() if line.startswith("@include ")]:
        text = text.replace(include, _read(include.removeprefix("@include ")))
    return text.format_map(words)


def paragraphs(text: str) -> Iterator[str]:
    """Marked lines one by one; lines of running text joined up to the next blank or marked line."""
    running: list[str] = []
    for line in [*map(str.strip, text.splitlines()), ""]:
        marked = line.startswith(("@", "^", "~", "#", "- "))
        if running and (marked or not line):
            yield " ".join(running)
            running = []
        if marked:
            yield line
        elif line:
            running.append(line)


def _read(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
