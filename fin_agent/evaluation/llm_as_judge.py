"""Answers judged by a chat model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fin_agent.analyst.model.model_client import prompt_to_call
from fin_agent.analyst.model.models_by_role import role_models
from fin_agent.analyst.model.replies import Correctness, TextJudgeReply
from fin_agent.answering.answer import Answer
from fin_agent.config import Settings
from fin_agent.models.call import Role
from fin_agent.models.caller import Caller
from fin_agent.models.callers_by_role import Callers
from fin_agent.models.errors import ModelError, RefusedByModelError, UnusableReplyError
from fin_agent.models.metering import Meter, metered
from fin_agent.prompts import load_prompt

_PATIENCE = 3
"""Consecutive failures after which an unreachable judge is no longer called."""
_MOST_OF_VERDICT = 3_000
_NO_ANSWER = "(no answer)"


class ModelTextJudge:
    """Judges whether an answer has the same content as the reference, whatever its style."""

    def __init__(self, caller: Caller, folder: Path | None = None) -> None:
        """Load the prompt; `folder` may contain the user's own `text_judge.md`. Raises PromptError."""
        self._caller = caller
        self._prompt = load_prompt("text_judge", folder=folder)

    def judge(self, question: str, reference: str, answer: str) -> TextJudgeReply:
        """Return the verdict with a reason. Raises ModelError."""
        filled = self._prompt.filled(question=question, reference=reference, answer=answer.strip() or _NO_ANSWER)
        reply, _ = self._caller.value(prompt_to_call(filled, output=TextJudgeReply, max_output_tokens=_MOST_OF_VERDICT))
        return reply


def judge_caller(model: str, settings: Settings) -> Caller:
    """Return the caller of a model that judges, with the limits of `settings`. Raises ModelSetupError."""
    named = role_models(settings)
    return Callers(named.model_copy(update={"roles": {**named.roles, Role.TEXT_JUDGE: model}})).of(Role.TEXT_JUDGE)


class Judgement:
    """Judges whether answers are right; a judge that cannot be reached is no longer called."""

    def __init__(self, judge: ModelTextJudge, meter: Meter, notify: Callable[[str], None]) -> None:
        """Count the calls by `meter`; failures are reported to `notify`."""
        self._judge = judge
        self._meter = meter
        self._notify = notify
        self._lost = 0

    def __call__(self, question: str, reference: str, answer: Answer) -> bool | None:
        """Return whether an answer is right by `reference`; a refusal is not. None if the model could not judge."""
        if answer.refused:
            return False
        try:
            if self._lost >= _PATIENCE:
                raise ModelError("the judge could not be reached before and is no longer called")
            with metered(self._meter):
                reply = self._judge.judge(question, reference, answer.answer.text)
        except ModelError as failure:
            self._lost = 0 if isinstance(failure, UnusableReplyError | RefusedByModelError) else self._lost + 1
            self._notify(f"{answer.id or question}: not judged: {failure.what}")
            return None
        self._lost = 0
        return reply.verdict is Correctness.CORRECT
