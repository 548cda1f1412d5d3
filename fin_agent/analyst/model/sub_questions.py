"""A question taken apart by a chat model, into questions that each ask for one figure or one fact."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fin_agent.analyst.model.calls import call_of
from fin_agent.analyst.model.grounding import on_a_line
from fin_agent.analyst.model.question_replies import SubQuestionsReply
from fin_agent.models.caller import Caller
from fin_agent.prompts import Quoted, load_prompt

_MOST_TOKENS = 2_000
_LONGEST = 300
"""Characters of a question."""


class ModelSubQuestions:
    """Sub-questions; what they name is for the caller to check."""

    def __init__(self, caller: Caller, folder: Path | None = None) -> None:
        """`folder` may hold a `sub_questions.md` of the user's own. Raises PromptError."""
        self._caller = caller
        self._prompt = load_prompt("sub_questions", folder=folder)

    def questions(self, question: str, companies: Sequence[str], most: int) -> tuple[str, ...]:
        """At most `most` questions, each once; `companies` of the index have names like those asked about.

        Raises ModelError.
        """
        filled = self._prompt.filled(
            question=question,
            companies=[Quoted(company) for company in companies],
            most=str(most),
        )
        call = call_of(filled, output=SubQuestionsReply, max_output_tokens=_MOST_TOKENS, check=_asks_something)
        reply, _ = self._caller.value(call)
        asked = (on_a_line(each)[:_LONGEST] for each in reply.questions)
        return tuple(dict.fromkeys(each for each in asked if any(map(str.isalpha, each))))[:most]


def _asks_something(reply: SubQuestionsReply) -> str | None:
    return None if any(any(map(str.isalpha, each)) for each in reply.questions) else "it holds no question"
