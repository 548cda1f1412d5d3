"""Answers judged by a chat model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

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
from fin_agent.prompts import Quoted, load_prompt

ReplyT = TypeVar("ReplyT", bound=BaseModel)
_PATIENCE = 3
"""Consecutive failures after which an unreachable judge is no longer called."""
_MOST_OF_VERDICT = 3_000


class Judge:
    """A chat model that judges, by the prompt of its role; one that cannot be reached is no longer called."""

    def __init__(
        self, caller: Caller, role: Role, meter: Meter, notify: Callable[[str], None], folder: Path | None = None
    ) -> None:
        """Load the prompt; `folder` may contain the user's own. Failures go to `notify`. Raises PromptError."""
        self.meter = meter
        self._caller = caller
        self._prompt = load_prompt(role.value.replace("-", "_"), folder=folder)
        self._notify = notify
        self._lost = 0

    @classmethod
    def of(cls, model: str | None, role: Role, settings: Settings, notify: Callable[[str], None]) -> Judge | None:
        """Return the judge that uses this model, with the limits of `settings`, or None. Raises ModelSetupError."""
        if model is None:
            return None
        named = role_models(settings)
        caller = Callers(named.model_copy(update={"roles": {**named.roles, role: model}})).of(role)
        meter = Meter(settings.models.batch_budget, of="benchmark's judge")
        return cls(caller, role, meter, notify, settings.prompts)

    def ask(self, named: str, output: type[ReplyT], **shown: str | Sequence[Quoted]) -> ReplyT | None:
        """Return the judge's reply about the item `named`, shown by placeholder; None if the call failed."""
        try:
            if self._lost >= _PATIENCE:
                raise ModelError("the judge could not be reached before and is no longer called")
            call = prompt_to_call(self._prompt.filled(**shown), output=output, max_output_tokens=_MOST_OF_VERDICT)
            with metered(self.meter):
                reply, _ = self._caller.value(call)
        except ModelError as failure:
            self._lost = 0 if isinstance(failure, UnusableReplyError | RefusedByModelError) else self._lost + 1
            self._notify(f"{named}: not judged: {failure.what}")
            return None
        self._lost = 0
        return reply

    def is_right(self, question: str, reference: str, answer: Answer) -> bool | None:
        """Return whether an answer says the same as `reference`, in any style; None if it was not judged."""
        if answer.refused:
            return False
        text = answer.answer.text.strip() or "(no answer)"
        reply = self.ask(answer.id or question, TextJudgeReply, question=question, reference=reference, answer=text)
        return None if reply is None else reply.verdict is Correctness.CORRECT
