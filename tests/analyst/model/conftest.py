"""Chat models that say what they are told to: no network, and every prompt kept."""

from __future__ import annotations

import pytest

from fin_agent.retrieval.strategies.writing import WritingError


class Script:
    """A Writer that gives its replies in turn, the last one for ever; an exception among them is raised."""

    def __init__(self, *replies: str | Exception) -> None:
        self.prompts: list[str] = []
        self._replies = list(replies)

    def write(self, prompt: str) -> str:
        self.prompts.append(prompt)
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if isinstance(reply, Exception):
            raise reply
        return reply


@pytest.fixture
def script() -> type[Script]:
    """See Script."""
    return Script


@pytest.fixture
def silent() -> Script:
    """A model that cannot be reached."""
    return Script(WritingError("the chat model failed (ConnectError: refused)"))
