"""Answers judged by a chat model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BaseModel

from fin_agent.analyst.model.model_client import ModelClient, role_models
from fin_agent.analyst.model.replies import Correctness, TextJudgeReply
from fin_agent.answering.answer import Answer
from fin_agent.config import Settings
from fin_agent.models.call import Role
from fin_agent.models.callers_by_role import Callers
from fin_agent.models.errors import ModelError
from fin_agent.models.metering import Meter, metered

ReplyT = TypeVar("ReplyT", bound=BaseModel)


class Judge:
    """A chat model that judges within a budget of its own."""

    def __init__(self, client: ModelClient, meter: Meter, notify: Callable[[str], None]) -> None:
        """Set the client, and the budget; failures go to `notify`."""
        self._client, self.meter, self._notify = client, meter, notify

    @classmethod
    def of(cls, model: str | None, role: Role, settings: Settings, notify: Callable[[str], None]) -> Judge | None:
        """Return the judge that uses this model for a role, with the limits of `settings`, or None without a model.

        Raises ModelSetupError and PromptError.
        """
        if model is None:
            return None
        named = role_models(settings)
        callers = Callers(named.model_copy(update={"roles": {**named.roles, role: model}}))
        client = ModelClient(callers, prompts=settings.prompts)
        client.require(role.value.replace("-", "_"))
        return cls(client, Meter(settings.models.batch_budget, of="benchmark's judge"), notify)

    def ask(self, named: str, prompt: str, output: type[ReplyT], **shown: Any) -> ReplyT | None:
        """Return the judge's reply about the item `named`, shown by placeholder; None if the call failed."""
        try:
            with metered(self.meter):
                return self._client.value(prompt, output, **shown)
        except ModelError as failure:
            self._notify(f"{named}: not judged: {failure.what}")
            return None

    def is_right(self, question: str, reference: str, answer: Answer) -> bool | None:
        """Return whether an answer says the same as `reference`, in any style; None if it was not judged."""
        if answer.refused:
            return False
        shown = {"question": question, "reference": reference, "answer": answer.answer.text.strip() or "(no answer)"}
        reply = self.ask(answer.id or question, "text_judge", TextJudgeReply, **shown)
        return None if reply is None else reply.verdict is Correctness.CORRECT
