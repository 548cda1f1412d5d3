"""Of what kind a block or a command is, and why some are not run: a list of reasons, and nothing beside it."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

from tests.docs.blocks import Block


class Kind(StrEnum):
    """What is done with a block."""

    SHELL = "commands"
    TRANSCRIPT = "commands with what they print"
    PYTHON = "python"
    DOCTEST = "python with its results"
    JSON_LINES = "lines of JSON"
    JSON = "json"
    TOML = "toml"
    YAML = "yaml"
    DRAWING = "a drawing"
    SIGNATURE = "a signature"
    OUTPUT = "output"


LABELS = {
    "python": Kind.PYTHON,
    "pycon": Kind.DOCTEST,
    "toml": Kind.TOML,
    "yaml": Kind.YAML,
    "json": Kind.JSON,
    "jsonl": Kind.JSON_LINES,
    "mermaid": Kind.DRAWING,
    "pyi": Kind.SIGNATURE,
}
WORDS = {"", "shell", "sh", "bash", "console", "text", "indented"}
"""Labels of commands and of what they print."""

PROGRAMS = {
    "git": "fetches sources",
    "make": "runs what the Makefile says: .ci/run does",
    "pip": "installs",
    "python3": "makes an environment",
    ".venv/bin/python": "an example: tests/examples runs it",
    "python": "a benchmark, or a test: run by hand",
    ".": "enters an environment",
    "source": "enters an environment",
    "cd": "changes the folder",
    "mkdir": "makes a folder",
    "cp": "copies a file",
    "cat": "a count that tests/docs/test_published_systems.py makes",
    "vllm": "a server of models",
    "ollama": "a server of models",
    "llama-server": "a server of models",
    "langgraph": "a server: tests/studio starts it",
    "docker": "a server in a container",
    "curl": "asks a server",
    "elasticsearch": "a server",
    "npx": "a client of another maker",
    "uvx": "a client of another maker",
    "claude": "a client of another maker",
    "code": "a client of another maker",
    "systemctl": "the service of a machine",
    "crontab": "the timetable of a machine",
    "jupyter": "a server",
}
"""Programs that blocks name and that are not run here, and why."""

SERVING = {
    "serve": "a server: its own tests start it",
    "mcp": "a server: its own tests start it",
    "chat": "a conversation: its own tests hold it",
}
"""Commands of fin-agent that do not end by themselves."""

FETCHING = {"fetch": "asks EDGAR"}
"""Commands of fin-agent that need the network."""

MODULES_OF_EXTRAS = {
    "langchain": "chat",
    "langchain_openai": "chat",
    "langchain_community": "community",
    "sentence_transformers": "dense",
    "elasticsearch": "elastic",
    "fastapi": "serve",
    "httpx": "serve",
    "mcp": "mcp",
    "fastmcp": "mcp",
}
"""What Python of a page may import that the package itself does not bring -> the extra that does."""

LONG = {
    "eval generated": "measures for minutes: tests/evaluation measures less",
}
"""Commands of fin-agent that do more than a test should."""

STATED = {
    "needs a key": "asks a provider",
    "needs a server": "asks a server that is not there",
    "part of a file": "shows a part",
    "made up": "stands for something of the reader's own",
    "its own test": "is compared by a test of its own",
}
"""Reasons that a page may state in a comment before a block."""

NEED_DATA = {
    "$FINANCEBENCH": "FinanceBench",
    "$IXBRL": "real filings",
    "$TATQA": "TAT-QA",
    "$RESERVE": "real filings",
    "IXBRL": "real filings",
}
STANDS_FOR = re.compile(r"\$\{?[A-Z_]+\}?|[A-Z]{3,}(?:\.[a-z.]+)?|<[^>]+>")
"""Words of a command in whose place a reader puts something."""
OF_MODELS = ("--model", "--small-model", "--role", "--base-url")
OF_EXTRAS = {"train", "embed", "trees", "compare", "eval ranking", "summarize"}
DENSE = re.compile(r"dense|hybrid|splade|parent-child|page-then-chunk|hhr|hirec|rerank|hyde|ircot")
_ASSIGNMENT = re.compile(r"[A-Z_][A-Z0-9_]*=")


class UnknownKindError(AssertionError):
    """Neither run nor known not to be."""


def kind_of(block: Block) -> Kind:
    """By its label, and by what stands in it. Raises UnknownKindError for a label that nobody has thought of."""
    if block.label in LABELS:
        return LABELS[block.label]
    if block.label not in WORDS:
        raise UnknownKindError(
            f"{block.place}: blocks of the kind {block.label!r} are not known: see tests/docs/kinds.py"
        )
    lines = [line for line in block.text.split("\n") if line.strip()]
    if any(line.startswith("$ ") for line in lines):
        return Kind.TRANSCRIPT
    if lines and all(line.startswith("{") and _is_json(line) for line in lines):
        return Kind.JSON_LINES
    if lines and _program(lines[0]) in {"fin-agent", *PROGRAMS}:
        return Kind.SHELL
    if lines and "\n".join(lines).startswith("{") and _is_json(block.text):
        return Kind.JSON
    return Kind.OUTPUT


@dataclass(slots=True)
class Command:
    """One command of a block."""

    words: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    target: str | None = None
    """The file that what it prints goes to."""
    typed: str | None = None
    """What is piped into it."""

    @property
    def program(self) -> str:
        return self.words[0] if self.words else ""

    @property
    def arguments(self) -> list[str]:
        return self.words[1:]

    @property
    def name(self) -> str:
        """`ask`, `eval ranking`."""
        given = [word for word in self.arguments[:2] if re.fullmatch(r"[a-z][a-z-]*", word)]
        groups = {"eval", "runs", "prompts", "index"}
        return " ".join(given[:2]) if given and given[0] in groups else "".join(given[:1])

    @property
    def asks_a_model(self) -> bool:
        return self.program == "fin-agent" and any(word.startswith(OF_MODELS) for word in self.words)

    @property
    def needs_an_extra(self) -> bool:
        """What is searched with vectors or drawn."""
        strategies = [after for word, after in pairwise(self.words) if word in ("--strategy", "--strategies")]
        return self.program == "fin-agent" and (
            self.name in OF_EXTRAS or any(DENSE.search(each) for each in strategies)
        )

    @property
    def not_run(self) -> str | None:
        """Why not; None where it is run. Raises UnknownKindError for a program that nobody has thought of."""
        if self.program == "export" or not self.words:
            return None
        if self.program in PROGRAMS:
            return PROGRAMS[self.program]
        if self.program != "fin-agent":
            raise UnknownKindError(f"{self.program!r} is no program that tests/docs/kinds.py knows")
        if self.typed is None or self.name not in SERVING:
            known = {**SERVING, **LONG, **FETCHING}
            if self.name in known:
                return known[self.name]
        for word in self.arguments:
            of_data = next((data for start, data in NEED_DATA.items() if word.startswith(start)), None)
            if of_data or (STANDS_FOR.fullmatch(word) and word != "INDEX"):
                return f"needs {of_data or 'something of the reader’s own'}"
        return None


def commands_in(line: str) -> list[Command]:
    """The commands of a line, comments left out; of a pipe the first, or ours into which text is piped."""
    found: list[Command] = []
    for part, *piped_to in _parts(line):
        words = shlex.split(part, comments=True)
        typed = None
        if words[:1] in (["printf"], ["echo"]) and piped_to:
            typed = "".join(f"{word}\n" for word in words[1:] if word != "%s\\n")
            words = shlex.split(piped_to[0])
        environment = {}
        while words and (words[0] == "time" or _ASSIGNMENT.match(words[0])):
            name, is_assigned, value = words.pop(0).partition("=")
            if is_assigned:
                environment[name] = value
        target = None
        if ">" in words:
            at = words.index(">")
            words, target = words[:at], words[at + 1]
        if words or environment:
            found.append(Command(words, environment, target, typed))
    return found


def joined_lines(text: str) -> list[str]:
    """With what a backslash at the end joins as one line."""
    return re.sub(r"\\\n\s*", " ", text).split("\n")


def _parts(line: str) -> list[list[str]]:
    """At `&&` and `;`, and each of these at `|`, outside of quotes."""
    lexer = shlex.shlex(line, posix=False, punctuation_chars="&;|")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    parts: list[list[list[str]]] = [[[]]]
    for word in lexer:
        if word in ("&&", ";", "&"):
            parts.append([[]])
        elif word == "|":
            parts[-1].append([])
        else:
            parts[-1][-1].append(word)
    return [[" ".join(words) for words in piped] for piped in parts if piped[0]]


def _program(line: str) -> str:
    try:
        commands = commands_in(line)
    except ValueError:
        return ""
    if not commands:
        return ""
    if commands[0].program in ("export",) or not commands[0].words:
        return "fin-agent"
    return commands[0].program


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
