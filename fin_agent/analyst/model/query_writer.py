"""Search text written by a chat model: queries, hypothetical passages, sub-questions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fin_agent.analyst.model.grounding import printable_line
from fin_agent.analyst.model.model_client import prompt_to_call
from fin_agent.analyst.model.replies import SubQuestionsReply
from fin_agent.models.call import Role
from fin_agent.models.caller import Caller
from fin_agent.models.callers_by_role import Callers
from fin_agent.prompts import FilledPrompt, Quoted, load_prompt

WRITING_ROLES = (Role.HYDE, Role.MULTI_HYDE, Role.THOUGHT)
_MOST_OF_TEXT = 2_000
"""Tokens of a text, including reasoning."""


class ModelWriter:
    """See `fin_agent.retrieval.strategies.protocol.Writer`; the model of each prompt's role writes it."""

    def __init__(self, callers: Callers) -> None:
        """Set up the callers. Raises ModelSetupError if a model of these roles cannot be set up."""
        self._callers = {role: callers.of(role) for role in WRITING_ROLES}

    def write(self, prompt: FilledPrompt) -> str:
        """See Writer.write."""
        call = prompt_to_call(prompt, max_output_tokens=_MOST_OF_TEXT)
        return self._callers[call.role].reply(call).text


_MOST_OF_QUESTIONS = 2_000
_MAX_QUESTION_LENGTH = 300
"""Characters of a question."""


class ModelSubQuestions:
    """Sub-questions by a model; the caller checks the names in them."""

    def __init__(self, caller: Caller, folder: Path | None = None) -> None:
        """Load the prompt; `folder` may contain the user's `sub_questions.md`. Raises PromptError."""
        self._caller = caller
        self._prompt = load_prompt("sub_questions", folder=folder)

    def questions(self, question: str, companies: Sequence[str], most: int) -> tuple[str, ...]:
        """Return at most `most` distinct questions. Raises ModelError.

        `companies` are names of the companies in the question, as indexed.
        """
        filled = self._prompt.filled(
            question=question,
            companies=[Quoted(company) for company in companies],
            most=str(most),
        )
        call = prompt_to_call(
            filled, output=SubQuestionsReply, max_output_tokens=_MOST_OF_QUESTIONS, check=_asks_something
        )
        reply, _ = self._caller.value(call)
        asked = (printable_line(each)[:_MAX_QUESTION_LENGTH] for each in reply.questions)
        return tuple(dict.fromkeys(each for each in asked if any(map(str.isalpha, each))))[:most]


def _asks_something(reply: SubQuestionsReply) -> str | None:
    return None if any(any(map(str.isalpha, each)) for each in reply.questions) else "it contains no question"
