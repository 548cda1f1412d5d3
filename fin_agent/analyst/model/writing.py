"""The writer of search strategies that is a chat model: hypothetical passages, the next thought."""

from __future__ import annotations

from fin_agent.analyst.model.calls import call_of
from fin_agent.models.call import Role
from fin_agent.models.callers import Callers
from fin_agent.prompts import FilledPrompt

WRITING_ROLES = (Role.HYDE, Role.MULTI_HYDE, Role.THOUGHT)
_MOST_TOKENS = 2_000
"""Of a text, the thoughts of a model that reasons included."""


class ModelWriter:
    """See `fin_agent.retrieval.strategies.protocol.Writer`; each prompt is written by the model of its role."""

    def __init__(self, callers: Callers) -> None:
        """Raises ModelSetupError where a model of these roles cannot be set up."""
        self._callers = {role: callers.of(role) for role in WRITING_ROLES}

    def write(self, prompt: FilledPrompt) -> str:
        """See Writer.write."""
        call = call_of(prompt, max_output_tokens=_MOST_TOKENS)
        return self._callers[call.role].reply(call).text
