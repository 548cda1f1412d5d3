"""Commands of a page, parsed by the command line itself, and run in this process."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner

from fin_agent.cli import app
from fin_agent.cli.exit_codes import ExitCode
from tests.docs.kinds import Command

FINE = {int(ExitCode.DONE), int(ExitCode.REFUSED)}
ELIDED = re.compile(r"\.\.\..*\.\.\.|\.\.\.|…")
"""A line that stands for any number of lines."""
_SECONDS = re.compile(r"\b\d[\d,.]* (?:s|ms|min)\b")
_WRITES = ("--image", "--out")
_PROMPT = re.compile(r"^[a-z_]+ >(?: (?P<typed>.*))?$", re.M)


def understood(command: Command, place: str) -> None:
    """Raises AssertionError where the command line does not know the command, an option, or misses an argument."""
    group: Any = typer.main.get_command(app)
    arguments = list(command.arguments)
    context = group.make_context("fin-agent", [], resilient_parsing=True)
    while hasattr(group, "commands") and arguments and not arguments[0].startswith("-"):
        name = arguments.pop(0)
        found = group.get_command(typer.Context(group), name)
        assert found is not None, f"{place}: there is no command {name!r}"
        group = found
    try:
        group.make_context(command.name, arguments, parent=context)
    except Exception as error:
        kind = type(error).__name__
        assert kind not in ("NoSuchOption", "MissingParameter", "UsageError", "BadOptionUsage"), f"{place}: {error}"


@dataclass(frozen=True, slots=True)
class Printed:
    """What a command came to."""

    code: int
    output: str
    out: str


def run(command: Command, folder: Path, index: Path, *, typed: str = "") -> Printed:
    """Run it in this process; `~` is the folder `home`, and INDEX the index."""
    words = [_meant(word, folder, index) for word in command.arguments]
    ran = CliRunner().invoke(app, words, prog_name="fin-agent", input=typed, env=command.environment)
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    for option, value in pairwise(words):
        assert option not in _WRITES or Path(value).exists() or ran.exit_code not in FINE, f"{value} was not written"
    if command.target is not None:
        target = Path(_meant(command.target, folder, index))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(ran.stdout, encoding="utf-8")
    return Printed(ran.exit_code, ran.output, ran.stdout)


def _meant(word: str, folder: Path, index: Path) -> str:
    if word == "INDEX":
        return str(index)
    return str(folder / "home") + word[1:] if word.startswith("~/") else os.path.expandvars(word)


def typed_in(shown: str) -> str:
    """What is typed at the prompts of a stepped run."""
    return "".join(f"{match['typed'] or ''}\n" for match in _PROMPT.finditer(shown))


def settled(text: str) -> list[str]:
    """Lines without what differs from run to run: seconds, and trailing blanks."""
    return [_SECONDS.sub("0 s", line.rstrip()) for line in text.strip("\n").split("\n")]


def difference(shown: str, printed: str) -> str | None:
    """Where what is shown is not what was printed; None where it is. What an elision stands for may be anything."""
    parts: list[list[str]] = [[]]
    for line in settled(shown):
        if ELIDED.fullmatch(line.strip()):
            parts.append([])
        else:
            parts[-1].append(line)
    lines = settled(printed)
    at = 0
    for number, part in enumerate(parts):
        wanted = _without_blank_ends(part)
        if not wanted:
            continue
        places = range(at, len(lines) - len(wanted) + 1)
        if number == 0:
            places = range(0, 1)
        place = next((each for each in places if lines[each : each + len(wanted)] == wanted), None)
        if place is None:
            got = lines[at : at + len(wanted)]
            lines_of = [f"  shown   {a!r}\n  printed {b!r}" for a, b in zip(wanted, got, strict=False) if a != b][:3]
            return "\n".join(lines_of) or f"  {len(wanted)} lines are shown, {len(lines) - at} printed"
        at = place + len(wanted)
    if parts[-1] and at != len(_without_blank_ends(lines)):
        return f"  more was printed: {lines[at]!r}"
    return None


def _without_blank_ends(lines: list[str]) -> list[str]:
    kept = list(lines)
    while kept and not kept[-1]:
        kept.pop()
    while kept and not kept[0]:
        kept.pop(0)
    return kept
