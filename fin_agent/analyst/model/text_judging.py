"""Answers in words judged by a chat model against a reference (HiREC: accuracy of textual answers)."""

from __future__ import annotations

from pathlib import Path

from fin_agent.analyst.model.answer_replies import TextJudgeReply
from fin_agent.analyst.model.calls import call_of
from fin_agent.analyst.model.role_models import role_models
from fin_agent.config import Settings
from fin_agent.models.call import Role
from fin_agent.models.caller import Caller
from fin_agent.models.callers import Callers
from fin_agent.prompts import load_prompt

_MOST_TOKENS = 3_000
_NO_ANSWER = "(no answer)"


class ModelTextJudge:
    """Says whether an answer says what the reference says: content alone, not style."""

    def __init__(self, caller: Caller, folder: Path | None = None) -> None:
        """`folder` may hold a `text_judge.md` of the user's own. Raises PromptError."""
        self._caller = caller
        self._prompt = load_prompt("text_judge", folder=folder)

    def judged(self, question: str, reference: str, answer: str) -> TextJudgeReply:
        """The verdict, with a reason. Raises ModelError."""
        filled = self._prompt.filled(question=question, reference=reference, answer=answer.strip() or _NO_ANSWER)
        reply, _ = self._caller.value(call_of(filled, output=TextJudgeReply, max_output_tokens=_MOST_TOKENS))
        return reply


def judge_named(model: str, settings: Settings) -> Caller:
    """The caller of a model named to judge, asked as `settings` say. Raises ModelSetupError."""
    named = role_models(settings)
    return Callers(named.model_copy(update={"roles": {**named.roles, Role.TEXT_JUDGE: model}})).of(Role.TEXT_JUDGE)
