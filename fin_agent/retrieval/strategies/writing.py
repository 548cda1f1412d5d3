"""One who writes: text in, text out. What a chat model writes is searched with, never shown as true."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from fin_agent.models.errors import ModelError
from fin_agent.prompts import FilledPrompt

_WORD = re.compile(r"[^\W\d_]{2,}")
_FEWEST_WORDS = 3
_MOST_CHARACTERS = 4000


class Writer(Protocol):
    """Writes a text that a prompt asks for. Safe to share between threads."""

    def write(self, prompt: FilledPrompt) -> str:
        """The text. Raises ModelError where none can be had."""


def written(writer: Writer, prompt: FilledPrompt, notify: Callable[[str], None]) -> str:
    """What the writer wrote; empty, with a note of why, where that is nothing that can be searched with."""
    try:
        text = writer.write(prompt).strip()
    except ModelError as failure:
        notify(f"{failure.subject or 'the chat model'}: {failure.what}; the question itself is searched with")
        return ""
    if len(_WORD.findall(text)) < _FEWEST_WORDS:
        notify(f"the chat model wrote {text[:40]!r}, which is no text; the question itself is searched with")
        return ""
    return text[:_MOST_CHARACTERS]
