"""What stands between the `---` lines at the head of a prompt: whose it is, its version, what it takes and gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import yaml

from fin_agent.prompts.errors import Problem

KEYS = ("role", "version", "placeholders", "output", "source")
_NEEDED = KEYS[:4]
_MARK = "---"
_HEAD = f"Begin the file with {_MARK}, the lines role, version, placeholders and output, and {_MARK}"
_SEE = "`fin-agent prompts show NAME` prints one that is right"


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The head of a prompt, with the line of each entry."""

    role: str
    version: int
    placeholders: tuple[str, ...]
    output: str
    source: str
    """The work it follows, with the section; empty where it is nobody's."""
    lines: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Divided:
    """A prompt's file, read so far."""

    head: FrontMatter | None
    body: str
    body_line: int
    """The line of the file on which the body begins."""
    problems: tuple[Problem, ...]
    """Why there is no head."""


def divided(written: str) -> Divided:
    """Head and body of a prompt's file; nothing is raised."""
    lines = written.removeprefix("\ufeff").splitlines()
    if not any(line.strip() for line in lines):
        return Divided(
            None, "", 1, (Problem(0, "it is empty", "Write it, or remove the file to use the packaged one"),)
        )
    if lines[0].rstrip() != _MARK:
        return Divided(None, written, 1, (Problem(1, "it has no head", f"{_HEAD}; {_SEE}"),))
    end = next((at for at, line in enumerate(lines[1:], start=1) if line.rstrip() == _MARK), None)
    if end is None:
        return Divided(None, written, 1, (Problem(1, "its head has no end", f"Put a line {_MARK} behind it"),))
    body, first = "\n".join(lines[end + 1 :]), end + 2
    entries, problems = _entries("\n".join(lines[1:end]))
    if problems:
        return Divided(None, body, first, problems)
    problems = tuple(_wrong(entries))
    return Divided(None if problems else _read(entries), body, first, problems)


@dataclass(frozen=True, slots=True)
class _Entry:
    value: object
    line: int


def _entries(text: str) -> tuple[dict[str, _Entry], tuple[Problem, ...]]:
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if not isinstance(node, yaml.MappingNode):
            return {}, (Problem(2, "its head holds no entries", f"Write `role: ...` and the like; {_SEE}"),)
        built = yaml.safe_load(text)
    except yaml.YAMLError as failure:
        mark = getattr(failure, "problem_mark", None)
        said = getattr(failure, "problem", None) or "it cannot be read"
        line = 2 + (mark.line if mark else 0)
        return {}, (Problem(line, f"its head is no valid YAML ({said})", "Quote values that hold a colon"),)
    found: dict[str, _Entry] = {}
    for key, _ in node.value:
        name, line = str(key.value), key.start_mark.line + 2
        if name in found:
            return {}, (Problem(line, f"`{name}` is given twice", "Keep one of the two"),)
        if name not in KEYS:
            return {}, (Problem(line, f"`{name}` is no entry of a head", f"It has these: {', '.join(KEYS)}"),)
        found[name] = _Entry(built.get(name), line)
    return found, ()


def _wrong(entries: Mapping[str, _Entry]) -> Iterator[Problem]:
    for name in _NEEDED:
        if name not in entries:
            yield Problem(1, f"its head has no `{name}`", f"Add a line `{name}: ...`; {_SEE}")
    for name, entry in entries.items():
        value, line = entry.value, entry.line
        if name in ("role", "output") and not (isinstance(value, str) and value):
            yield Problem(line, f"`{name}` is no name", f"Write one, as `{name}: text`")
        elif name == "source" and not isinstance(value, str):
            yield Problem(line, "`source` is no text", "Write the work and its section, in quotation marks")
        elif name == "version" and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            yield Problem(line, "`version` is no whole number from 1 on", "Count it up with each change: `version: 2`")
        elif name == "placeholders" and not (
            isinstance(value, list) and all(isinstance(each, str) and each for each in value)
        ):
            yield Problem(line, "`placeholders` is no list of names", "Write `placeholders: [question, passages]`")


def _read(entries: Mapping[str, _Entry]) -> FrontMatter:
    named = entries["placeholders"].value
    version = entries["version"].value
    source = entries["source"].value if "source" in entries else ""
    return FrontMatter(
        role=str(entries["role"].value),
        version=version if isinstance(version, int) else 0,
        placeholders=tuple(map(str, named)) if isinstance(named, list) else (),
        output=str(entries["output"].value),
        source=str(source),
        lines={name: entry.line for name, entry in entries.items()},
    )
