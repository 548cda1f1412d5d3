"""Answers judged by a chat model, beside what is measured without one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

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

ReplyT = TypeVar("ReplyT")
_PATIENCE = 3
"""Answers in a row for which the judge may be out of reach before it is asked no more."""
_MOST_OF_VERDICT = 3_000
_NO_ANSWER = "(no answer)"


class ModelTextJudge:
    """Says whether an answer says what the reference says: content alone, not style."""

    def __init__(self, caller: Caller, folder: Path | None = None) -> None:
        """`folder` may hold a `text_judge.md` of the user's own. Raises PromptError."""
        self._caller = caller
        self._prompt = load_prompt("text_judge", folder=folder)

    def judge(self, question: str, reference: str, answer: str) -> TextJudgeReply:
        """The verdict, with a reason. Raises ModelError."""
        filled = self._prompt.filled(question=question, reference=reference, answer=answer.strip() or _NO_ANSWER)
        reply, _ = self._caller.value(prompt_to_call(filled, output=TextJudgeReply, max_output_tokens=_MOST_OF_VERDICT))
        return reply


def judge_caller(model: str, settings: Settings, role: Role = Role.TEXT_JUDGE) -> Caller:
    """The caller of a model named to judge, asked as `settings` say. Raises ModelSetupError."""
    named = role_models(settings)
    return Callers(named.model_copy(update={"roles": {**named.roles, role: model}})).of(role)


class JudgeCalls:
    """Calls of a model that judges: what fails is told, and one out of reach is not asked for ever."""

    def __init__(self, meter: Meter, notify: Callable[[str], None]) -> None:
        self._meter = meter
        self._notify = notify
        self._lost = 0

    def ask(self, named: str, ask: Callable[[], ReplyT]) -> ReplyT | None:
        """What the judge replies about what is `named`; None where it could not be had."""
        try:
            if self._lost >= _PATIENCE:
                raise ModelError("the judge was out of reach before, and is not asked any more")
            with metered(self._meter):
                reply = ask()
        except ModelError as failure:
            self._lost = 0 if isinstance(failure, UnusableReplyError | RefusedByModelError) else self._lost + 1
            self._notify(f"{named}: not judged: {failure.what}")
            return None
        self._lost = 0
        return reply


class Judgement:
    """Says of one answer after another whether it is right."""

    def __init__(self, judge: ModelTextJudge, meter: Meter, notify: Callable[[str], None]) -> None:
        self._judge = judge
        self._calls = JudgeCalls(meter, notify)

    def __call__(self, question: str, reference: str, answer: Answer) -> bool | None:
        """Whether an answer is right by `reference`; a refusal is not. None where the model could not judge."""
        if answer.refused:
            return False
        text = answer.answer.text
        reply = self._calls.ask(answer.id or question, lambda: self._judge.judge(question, reference, text))
        return None if reply is None else reply.verdict is Correctness.CORRECT
