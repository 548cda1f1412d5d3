"""The code blocks of a Markdown page: fenced ones, and commands set four blanks in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATED = {"docs/cli.md": "written from the commands, compared in tests/cli/test_listing.py"}
"""Pages without blocks of their own."""
_FENCE = re.compile(r"^(?P<blanks> *)(?P<fence>```+)(?P<label>[^\n`]*)$")
_INDENTED = re.compile(r"^ {4}\S")
_NOTE = re.compile(r"<!-- *(?P<key>[a-z ]+): *(?P<value>.*?) *-->")


@dataclass(frozen=True, slots=True)
class Block:
    """One block, where it stands, and what the page says about it in comments that readers do not see.

    `<!-- columns: 100 -->` before a block is the width of the terminal it shows, `<!-- first: COMMAND -->` a command
    that is run before it, `<!-- not run: REASON -->` one of the reasons in `kinds.STATED`.
    """

    page: str
    line: int
    label: str
    text: str
    notes: tuple[tuple[str, str], ...] = ()

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    def note(self, key: str) -> list[str]:
        return [value for each, value in self.notes if each == key]


def pages() -> list[Path]:
    """The README, and every guide and decision."""
    found = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "examples" / "README.md",
        *sorted((ROOT / "docs").rglob("*.md")),
    ]
    return [page for page in found if name_of(page) not in GENERATED]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks_of(page: Path) -> list[Block]:
    """In their order."""
    return list(_blocks(name_of(page), page.read_text(encoding="utf-8").split("\n")))


def _blocks(page: str, lines: list[str]) -> Iterator[Block]:
    notes: list[tuple[str, str]] = []
    at = 0
    while at < len(lines):
        opened = _FENCE.match(lines[at])
        if opened is not None:
            inside = list(_until(lines, at + 1, opened["fence"]))
            blanks = len(opened["blanks"])
            text = "\n".join(line[blanks:] if line[:blanks].isspace() else line for line in inside)
            yield Block(page, at + 1, opened["label"].strip(), text, tuple(notes))
            at, notes = at + len(inside) + 2, []
        elif _INDENTED.match(lines[at]) and (at == 0 or not lines[at - 1].strip()):
            inside = lines[at : at + _length(lines[at:])]
            yield Block(page, at + 1, "indented", "\n".join(line[4:] for line in inside), tuple(notes))
            at, notes = at + len(inside), []
        else:
            told = [(found["key"], found["value"]) for found in _NOTE.finditer(lines[at])]
            if told:
                notes += told
            elif lines[at].strip():
                notes = []
            at += 1


def _until(lines: list[str], start: int, fence: str) -> Iterator[str]:
    for line in lines[start:]:
        if line.strip() == fence:
            return
        yield line
    raise AssertionError(f"a block is not closed: {lines[start - 1]}")


def _length(lines: list[str]) -> int:
    """How many lines from the first on are set in."""
    return next((number for number, line in enumerate(lines) if not line.startswith("    ")), len(lines))
