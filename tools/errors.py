"""What a tool cannot do with what it was given, and what to give instead."""

from __future__ import annotations

from fin_agent.errors import FinAgentError
from fin_agent.prompts.untrusted_text import on_a_line, quoted_text


class ToolInputError(FinAgentError):
    """A tool was given something it cannot use. Whoever called it, a model most often, reads what to give instead."""


def quoted_name(words: str) -> str:
    """What a filing, a file or a model calls something, in a message: on a line, in quotes, with no marks of ours."""
    return repr(on_a_line(quoted_text(words))[:80])
