"""What is wrong with a prompt, and where."""

from __future__ import annotations

from dataclasses import dataclass

from fin_agent.errors import FinAgentError


class PromptError(FinAgentError):
    """A prompt is not there, cannot be read, or is not as its role needs it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a prompt's file."""

    line: int
    """As people count; 0 where it is the whole file."""
    what: str
    remedy: str

    def error(self, subject: str) -> PromptError:
        """The same as an error: `FILE, line 3: what. remedy`."""
        where = f"{subject}, line {self.line}" if self.line else subject
        return PromptError(self.what, subject=where, remedy=self.remedy)
