"""Calls of chat models by role: fill a prompt, parse the reply, and check it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from time import monotonic
from typing import TypeVar

from pydantic import BaseModel

from fin_agent.analyst.events import (
    Draft,
    DraftWithdrawn,
    current_listener,
    emit,
    record_injection_sign,
    record_warning,
)
from fin_agent.analyst.model.grounding import printable_line
from fin_agent.models import errors
from fin_agent.models.call import Call, OutputT, PromptIdentity, Role
from fin_agent.models.callers_by_role import Callers
from fin_agent.models.errors import BudgetExceededError, ModelError
from fin_agent.prompts import FilledPrompt, load_prompt
from fin_agent.prompts.prompt import Value, prompt_roles

ReplyT = TypeVar("ReplyT", bound=BaseModel)

MAX_OUTPUT: Mapping[Role, int] = {
    **dict.fromkeys((Role.CARD, Role.CURATION), 3_000),
    Role.INTENT: 2_000,
    Role.QUERY: 1_000,
    Role.LISTWISE: 3_500,
    Role.REASONING: 4_000,
    Role.VERIFICATION: 1_500,
}
"""Most tokens of a reply, including reasoning."""
_LASTING = (
    *(errors.KeyRefusedError, errors.ModelSetupError, errors.ModelTimeoutError, errors.RateLimitedError),
    *(errors.ServerFailedError, errors.ServerUnreachableError, errors.UnknownModelError),
)
"""Failures that the next call would repeat."""
_REST_SECONDS = 30.0
_MAX_DRAFT_LENGTH = 2_000
_MAX_REPLY_LENGTH = 60_000
_STEP = 12
"""Characters of a reply between two checks for new text."""


class ModelClient:
    """Calls models for roles. Without a usable reply it records a warning and returns None.

    Safe to share between threads. A model whose server is down, or whose key is refused, is not called for half a
    minute, so that a question does not wait for every role in turn.
    """

    def __init__(self, callers: Callers, *, prompts: Path | None = None) -> None:
        """Set the callers, and the user's folder of prompts."""
        self._callers = callers
        self._resting: dict[str, float] = {}
        """Model -> time until which it is not called."""
        self._prompt = lru_cache(maxsize=None)(partial(load_prompt, folder=prompts))

    def require(self, *names: str) -> None:
        """Load prompts, so that errors in them are raised at once. Raises PromptError."""
        for name in names:
            self._prompt(name)

    def ask(
        self,
        role: Role,
        name: str,
        output: type[ReplyT],
        fault: Callable[[ReplyT], str | None] = lambda reply: None,
        *,
        drafted: str | None = None,
        **values: Value,
    ) -> ReplyT | None:
        """Fill a prompt, and return the checked reply of the role's model; None, with a warning, without a usable one.

        `fault` returns what is wrong with a reply's content, which the model may correct once; `drafted` is the field
        that is streamed to listeners as a draft.
        """
        hearing = current_listener()
        drafting = DraftStream(drafted if hearing.drafts and hearing.listener is not None else None)

        def checked(reply: ReplyT) -> str | None:
            if (wrong := fault(reply)) is not None:
                drafting.withdraw(wrong)
            return wrong

        call = prompt_to_call(self._prompt(name).filled(**values), role, output, MAX_OUTPUT.get(role), check=checked)
        subject, model = f"the {role.value} of the model", ""
        try:
            model = self._callers.name(role)
            if monotonic() < self._resting.get(model, 0.0):
                record_warning(f"{subject} was left out: {model} is left alone for {_REST_SECONDS:.0f} seconds")
                return None
            value, _ = self._callers.of(role).value(call, drafting.receive if drafting.field else None)
        except ModelError as failure:
            told = f"{subject} {'was left out' if isinstance(failure, BudgetExceededError) else 'could not be had'}"
            drafting.withdraw(told)
            lasting = isinstance(failure, _LASTING)
            record_warning(f"{told}: {failure.what}{f'. {failure.remedy}' if lasting and failure.remedy else ''}")
            if lasting:
                self._resting[model] = monotonic() + _REST_SECONDS
            return None
        drafting.finish(value)
        return value


class DraftStream:
    """Streams one field of a reply as drafts, which are unchecked and never the answer; none without a field."""

    def __init__(self, field: str | None) -> None:
        self.field = field
        self._reply = self._drafted = ""
        self._looked = 0
        """Length of the reply when it was last read."""

    def receive(self, reply: str) -> None:
        """Receive the reply so far; one that does not extend the last is a new attempt."""
        if not reply.startswith(self._reply):
            self.withdraw("it is written anew")
        self._reply = reply
        if self._looked + _STEP <= len(reply) <= _MAX_REPLY_LENGTH and len(self._drafted) < _MAX_DRAFT_LENGTH:
            self._emit_new_text()

    def finish(self, reply: BaseModel) -> None:
        """Emit the rest of a complete, valid reply; a draft without content is withdrawn."""
        if any(map(str.isalnum, str(getattr(reply, self.field or "", None) or ""))):
            self._emit_new_text(whole=True)
        else:
            self.withdraw("the model gives no answer")

    def withdraw(self, why: str) -> None:
        """Withdraw the draft, if there is one."""
        if self._drafted:
            emit(DraftWithdrawn(why=why))
        self._reply, self._looked, self._drafted = "", 0, ""

    def _emit_new_text(self, *, whole: bool = False) -> None:
        """Emit the text of the field as far as it is written."""
        from langchain_core.utils.json import parse_partial_json

        self._looked = len(self._reply)
        found = None
        if f'"{self.field}"' in self._reply:
            with suppress(ValueError, RecursionError):
                found = parse_partial_json(self._reply[max(0, self._reply.find("{")) :])
        if not isinstance(found, dict) or not isinstance(found.get(self.field), str):
            return
        text = printable_line(found[self.field])[:_MAX_DRAFT_LENGTH]
        if not whole and list(found)[-1] == self.field:
            text = text[: text.rfind(" ") + 1]  # a partial number would be another number
        if len(text) > len(self._drafted) and text.startswith(self._drafted):
            emit(Draft(text=text[len(self._drafted) :]))
            self._drafted = text


def prompt_to_call(
    filled: FilledPrompt,
    role: Role | None = None,
    output: type[OutputT] | None = None,
    max_output_tokens: int | None = None,
    *,
    check: Callable[[OutputT], str | None] | None = None,
) -> Call[OutputT]:
    """Build the call of a filled prompt, for the prompt's own role by default, with a reply in plain text by default.

    Signs of injection in the material, and removed characters, go to the journal. `check` returns what is wrong with a
    reply's content.
    """
    for report in filled.reports:
        record_injection_sign(f"{filled.name}: {report}")
    return Call(
        role=role or prompt_roles()[filled.name].name,
        messages=(("system", filled.system), ("user", filled.user)),
        prompt=PromptIdentity(filled.name, filled.version),
        output=output,
        max_output_tokens=max_output_tokens,
        check=check,
    )
