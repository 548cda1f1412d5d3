"""The error for tool input that cannot be used, and how it quotes names."""

from __future__ import annotations

from fin_agent.errors import FinAgentError
from fin_agent.prompts.untrusted_text import quoted_text, single_line


class ToolInputError(FinAgentError):
    """Tool input cannot be used; the remedy says what to pass instead, for a caller that is usually a model."""


def quoted_name(words: str) -> str:
    """Return a name given by a filing, file or model for use in a message: one line, in quotes, marks neutralized."""
    return repr(single_line(quoted_text(words))[:80])
