"""A page followed from top to bottom, as by a reader who runs what it shows."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.docs import config_blocks as config
from tests.docs.blocks import ROOT, Block
from tests.docs.commands import FINE, Printed, difference, run, typed_in, understood
from tests.docs.kinds import (
    MODULES_OF_EXTRAS,
    STATED,
    Command,
    Kind,
    UnknownKindError,
    commands_in,
    joined_lines,
    kind_of,
)
from tests.docs.python_blocks import run_doctest, run_python

OWN_FILINGS = {"AAPL_2023_10K.pdf": "harborlight_2023_10k.pdf", "NIKE_2023_10K.pdf": "tellurond_2024_8k.pdf"}
"""What lies in `~/filings`: file -> the sample filing that it is a copy of."""
COLUMNS = "110"


@dataclass(slots=True)
class Followed:
    """What was done with the blocks of a page."""

    ran: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    """Reason -> how many commands and blocks."""
    wrong: list[str] = field(default_factory=list)


FOLLOWED: dict[str, Followed] = {}
"""By page, of this run of the tests: told at its end."""


class Reader:
    """A folder with the sample filings, an index, and what the page has made so far."""

    def __init__(self, folder: Path, index: Path, patch: pytest.MonkeyPatch, blocks: list[Block]) -> None:
        self.folder = folder
        self.index = folder / "index"
        self.patch = patch
        self.blocks = blocks
        self.names: dict[str, Any] = {}
        self.printed: list[Printed] = []
        self.done = Followed()
        shutil.copytree(index, self.index)
        (folder / "my-index").symlink_to(self.index)
        for name in ("examples", "benchmarks", "langgraph.json"):
            (folder / name).symlink_to(ROOT / name)
        shutil.copytree(index, folder / ".fin-agent" / "my-index")
        (folder / ".fin-agent" / "demo-index").symlink_to(self.index)
        own = folder / "home" / "filings"
        own.mkdir(parents=True)
        for name, sample in OWN_FILINGS.items():
            shutil.copyfile(ROOT / "examples" / "filings" / sample, own / name)
        patch.chdir(folder)
        patch.setenv("HOME", str(folder / "home"))
        patch.setenv("PWD", str(folder))
        patch.setenv("FIN_AGENT_INDEX", str(self.index))
        self._lay_out()

    def follow(self) -> Followed:
        """Every block in turn. What goes wrong is kept, and the next one follows."""
        for block in self.blocks:
            self._kept(block, lambda block=block: self._take(block))
        return self.done

    def _kept(self, block: Block, doing: Callable[[], None]) -> None:
        try:
            doing()
        except Exception as error:  # of whatever kind: each block and command that fails is to be told
            said = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
            self.done.wrong.append(said if block.page in said else f"{block.place}: {said}")

    def _lay_out(self) -> None:
        """Files that commands and Python of the page read, from the blocks that show them."""
        for block in self.blocks:
            if block.label == "yaml":
                (self.folder / "my_lexicon").mkdir(exist_ok=True)
                if set(config.yaml.safe_load(block.text)) <= config.LEXICON:
                    (self.folder / "my_lexicon" / f"line{block.line}.yaml").write_text(block.text, encoding="utf-8")

    def _take(self, block: Block) -> None:
        kind = kind_of(block)
        stated = block.note("not run")
        if stated:
            assert stated[0] in STATED, f"{block.place}: {stated[0]!r} is no reason that tests/docs/kinds.py lists"
            self.done.left[STATED[stated[0]]] += 1
            return
        for line in block.note("first"):
            for command in commands_in(line):
                self._run(command, block)
        match kind:
            case Kind.SHELL:
                for line in joined_lines(block.text):
                    for command in commands_in(line):
                        self._kept(block, lambda command=command: self._command(command, block))
            case Kind.TRANSCRIPT:
                for line, shown in _entries(block.text):
                    commands = commands_in(line)
                    for command in commands[:-1]:
                        self._command(command, block)
                    self._kept(block, lambda command=commands[-1], shown=shown: self._command(command, block, shown))
            case Kind.OUTPUT:
                self._output(block)
            case Kind.PYTHON if missing := extra_missing(block):
                self.done.left[f"needs the extra `{missing}`: run with the extras"] += 1
            case Kind.PYTHON:
                run_python(block.text, self.names, block.place)
                self.done.ran["python"] += 1
            case Kind.DOCTEST:
                run_doctest(block.text, {}, block.place)
                self.done.ran["python"] += 1
            case Kind.SIGNATURE:
                self.done.left["a signature: tests/docs/test_api.py compares it"] += 1
            case Kind.DRAWING:
                assert block.text.split()[0] in ("graph", "flowchart", "sequenceDiagram", "stateDiagram-v2"), (
                    block.place
                )
                self.done.left["a drawing"] += 1
            case _:
                self._file(block, kind)

    def _file(self, block: Block, kind: Kind) -> None:
        read = {
            Kind.TOML: lambda: config.read_toml(block, self.folder),
            Kind.YAML: lambda: config.read_yaml(block, self.folder),
            Kind.JSON: lambda: config.read_json(block),
            Kind.JSON_LINES: lambda: config.read_json_lines(block),
        }[kind]()
        self.done.ran[f"file: {read}"] += 1

    def _command(self, command: Command, block: Block, shown: str = "") -> None:
        if command.program in ("", "export"):
            for word in [*command.arguments, *(f"{name}={value}" for name, value in command.environment.items())]:
                name, _, value = word.partition("=")
                self.patch.setenv(name, os.path.expandvars(value))
            return
        reason = command.not_run or self.leaves(command)
        if command.program == "fin-agent":
            understood(command, block.place)
        if reason is not None:
            self.done.left[reason] += 1
            return
        self._run(command, block, shown)

    def leaves(self, command: Command) -> str | None:
        """Why this reader does not run a command that could be run; others do."""
        if command.asks_a_model:
            return "asks a model: run with the extra `chat`"
        if command.needs_an_extra:
            return "needs vectors or a report: run with the extras"
        return None

    def _run(self, command: Command, block: Block, shown: str = "") -> None:
        self.patch.setenv("COLUMNS", (block.note("columns") or [COLUMNS])[0])
        self._questions_for(command, block)
        typed = typed_in(shown) if command.typed is None else command.typed
        ran = run(command, self.folder, self.index, typed=typed)
        self.printed.append(ran)
        said = shlex.join(["fin-agent", *command.arguments])
        if shown.strip():
            differs = [difference(shown, each) for each in (ran.out, ran.output)]
            assert None in differs, f"{block.place}: {said}\n{differs[1]}"
        else:
            assert ran.code in FINE, f"{block.place}: {said} ends with {ran.code}: {ran.output[-600:]}"
        self.done.ran["commands"] += 1
        self.done.ran["commands whose output is compared"] += bool(shown.strip())

    def _questions_for(self, command: Command, block: Block) -> None:
        """`questions.jsonl` as the page shows it: of a batch for `batch`, else of a benchmark; the nearest."""
        if "questions.jsonl" not in command.arguments:
            return
        wanted = "questions of a batch" if command.name == "batch" else "questions of a benchmark"
        shown = [
            each
            for each in self.blocks
            if kind_of(each) == Kind.JSON_LINES and config.read_json_lines(each) in (wanted, "objects")
        ]
        shown = [each for each in shown if config.read_json_lines(each) == wanted]
        assert shown, f"{block.place}: {wanted} are read, and the page shows none"
        nearest = min(shown, key=lambda each: abs(each.line - block.line))
        (self.folder / "questions.jsonl").write_text(nearest.text + "\n", encoding="utf-8")

    def _output(self, block: Block) -> None:
        """What stands alone was printed by a command before it, or by one that is known not to be run."""
        if any(f"\n{block.text.strip()}" in f"\n{each.output}" for each in self.printed):
            self.done.ran["output"] += 1
            return
        before = [
            each for each in self.blocks if each.line < block.line and kind_of(each) in (Kind.SHELL, Kind.TRANSCRIPT)
        ]
        commands = (
            [each for line in joined_lines(before[-1].text) for each in commands_in(line.removeprefix("$ "))]
            if before
            else []
        )
        reasons = [command.not_run for command in commands]
        if reasons and reasons[-1] is not None:
            self.done.left[f"output of a command that {reasons[-1]}"] += 1
            return
        raise UnknownKindError(f"{block.place}: no command before it printed this, and it is of no known kind")


def extra_of(block: Block) -> str | None:
    """The extra whose modules Python of a page imports."""
    imported = re.findall(r"^\s*(?:from|import) (\w+)", block.text, re.M)
    return next((MODULES_OF_EXTRAS[name] for name in imported if name in MODULES_OF_EXTRAS), None)


def extra_missing(block: Block) -> str | None:
    """The same, where a module of it is not installed."""
    imported = re.findall(r"^\s*(?:from|import) (\w+)", block.text, re.M)
    there = all(find_spec(name) is not None for name in imported if name in MODULES_OF_EXTRAS)
    return None if there else extra_of(block)


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """(command, what is shown below it) of a transcript."""
    parts = f"\n{text}".split("\n$ ")
    assert not parts[0].strip(), f"a transcript begins with a command, not with {parts[0]!r}"
    for part in parts[1:]:
        joined = part.replace("\\\n", " ")
        line, _, shown = joined.partition("\n")
        yield line, shown
