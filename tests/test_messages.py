"""Every message of the package in one style: what happened, then what to do (CONTRIBUTING.md says the rules)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("fin_agent", "graphs", "prompts", "tools")
REFUSALS = {"UnboundError"}
"""What they say becomes the `missing` of a refusal."""
FEWEST = 240
NEVER = (
    r"\b(?:please|sorry|oops|unfortunately)\b",
    r"!(?!r\b|s\b|=)",
    r"(?<!\bthere )\bis no (?!longer|more)",
    r"\b(?:bring|brought|brings) (?:it |them |that |filings )?in\b",
    r"\bas may be\b",
    r"\b(?:is|are) (?:not )?told\b",
    r"\bsays no\b",
    r"\bwhat (?:answers|is searched|came) ",
)
"""Words that apologise, shout, or turn a sentence around."""
_PROPER = re.compile(r"(?:EDGAR|Python|PyMuPDF|Ray|SQLite|Item|XBRL|HTML|PDF)\b|[`'\"({\[<]|--")


@dataclass(frozen=True, slots=True)
class Message:
    """One error as it is raised: where, and what it says, placeholders in braces."""

    place: str
    error: str
    what: tuple[str, ...]
    remedy: tuple[str, ...]


@cache
def messages() -> tuple[Message, ...]:
    trees = {
        file: ast.parse(file.read_text(encoding="utf-8"))
        for package in PACKAGES
        for file in sorted((ROOT / package).rglob("*.py"))
    }
    kinds = _errors(trees.values())
    return tuple(
        Message(
            f"{file.relative_to(ROOT)}:{node.lineno}",
            node.func.id,
            tuple(_texts(node.args[0])),
            tuple(text for keyword in node.keywords if keyword.arg == "remedy" for text in _texts(keyword.value)),
        )
        for file, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in kinds and node.args
    )


def _errors(trees: object) -> set[str]:
    """The names of FinAgentError and of all classes that are one."""
    bases = {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for tree in trees  # type: ignore[attr-defined]
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found = {"FinAgentError", *REFUSALS}
    while more := {name for name, over in bases.items() if over & found} - found:
        found |= more
    return found


def _texts(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
        case ast.IfExp(body=body, orelse=orelse):
            yield from _texts(body)
            yield from _texts(orelse)


def test_there_are_messages_to_look_at() -> None:
    assert sum(bool(message.what) for message in messages()) >= FEWEST
    assert {message.error for message in messages()} >= REFUSALS


def test_what_happened_is_a_clause() -> None:
    """It stands behind `SUBJECT: ` and before `. REMEDY`."""
    wrong = [
        (message.place, text)
        for message in messages()
        for text in message.what
        if text.endswith((".", ";", ":")) or not (text[:1].islower() or _PROPER.match(text))
    ]
    assert wrong == []


def test_what_to_do_is_a_sentence_without_its_full_stop() -> None:
    wrong = [
        (message.place, text)
        for message in messages()
        for text in message.remedy
        if text and (text.endswith((".", ";", ":")) or not re.match(r"[A-Z`{/]|pip |`", text))
    ]
    assert wrong == []


@pytest.mark.parametrize("pattern", NEVER)
def test_nothing_is_said_in_these_words(pattern: str) -> None:
    wrong = [
        (message.place, text)
        for message in messages()
        for text in (*message.what, *message.remedy)
        if re.search(pattern, text, re.I)
    ]
    assert wrong == []
