"""Where roles are put to chat models: a prompt filled, a reply of its type, held against what it must be true to."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
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
from fin_agent.analyst.model.grounding import on_a_line
from fin_agent.models.call import Call, OutputT, PromptIdentity, Role
from fin_agent.models.callers_by_role import Callers
from fin_agent.models.errors import (
    BudgetExceededError,
    KeyRefusedError,
    ModelError,
    ModelSetupError,
    ModelTimeoutError,
    QuotaUsedUpError,
    RateLimitedError,
    ServerFailedError,
    ServerUnreachableError,
    UnknownModelError,
)
from fin_agent.prompts import FilledPrompt, Prompt, load_prompt
from fin_agent.prompts.prompt import Value, prompt_roles

ReplyT = TypeVar("ReplyT", bound=BaseModel)

MAX_OUTPUT: Mapping[Role, int] = MappingProxyType(
    {
        Role.INTENT: 2_000,
        Role.QUERY: 1_000,
        Role.LISTWISE: 3_500,
        Role.CURATION: 3_000,
        Role.REASONING: 4_000,
    }
)
"""Tokens of a reply at most, a model's thoughts among them."""
_LASTING = (
    KeyRefusedError,
    ModelSetupError,
    ModelTimeoutError,
    QuotaUsedUpError,
    RateLimitedError,
    ServerFailedError,
    ServerUnreachableError,
    UnknownModelError,
)
"""Failures that the next call would meet as well."""
_REST_SECONDS = 30.0


class ModelClient:
    """Asks for roles. What a model fails to give is told in the journal, and None: whoever asks does without.

    Safe to share between threads. A model whose server is down, or whose key is refused, is left alone for half a
    minute, so that a question does not wait for every role in turn.
    """

    def __init__(
        self,
        callers: Callers,
        *,
        prompts: Path | None = None,
        seed: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`prompts` may hold prompts of the user's own; `seed` goes into the marks around quoted text."""
        self._callers = callers
        self._folder = prompts
        self._seed = seed
        self._clock = clock
        self._resting: dict[str, float] = {}
        """Model -> until when it is left alone."""
        self._prompt = lru_cache(maxsize=None)(self._load_prompt)

    def require(self, *names: str) -> None:
        """Load prompts, so that what is wrong with one is said at once. Raises PromptError."""
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
        """The reply to the prompt `name`, filled with `values`; None, with a warning, where none can be used.

        `fault` says what is wrong with a reply beyond its form; the model is told once, and asked again. The field
        `drafted` of the reply is told as a draft while it is written, to whoever listens.
        """
        filled = self._prompt(name).filled(self._seed, **values)
        hearing = current_listener()
        drafting = DraftStream(drafted if hearing.drafts and hearing.listener is not None else None)
        call = prompt_to_call(filled, role, output, MAX_OUTPUT.get(role), check=drafting.withdraw_on_fault(fault))
        subject = f"the {role.value} of the model"
        model = ""
        try:
            model = self._callers.name(role)
            if self._clock() < self._resting.get(model, 0.0):
                record_warning(f"{subject} was left out: {model} is left alone for {_REST_SECONDS:.0f} seconds")
                return None
            value, _ = self._callers.of(role).value(call, drafting.text_callback)
        except BudgetExceededError as failure:
            drafting.withdraw(f"{subject} was left out")
            record_warning(f"{subject} was left out: {failure.what}")
            return None
        except ModelError as failure:
            drafting.withdraw(f"{subject} could not be had")
            told = f"{subject} could not be had: {failure.what}"
            lasting = isinstance(failure, _LASTING)
            record_warning(f"{told}. {failure.remedy}" if lasting and failure.remedy else told)
            if lasting:
                self._resting[model] = self._clock() + _REST_SECONDS
            return None
        drafting.finish(value)
        return value

    def _load_prompt(self, name: str) -> Prompt:
        return load_prompt(name, folder=self._folder)


_MAX_DRAFT_LENGTH = 2_000
_MAX_REPLY_LENGTH = 60_000
_STEP = 12
"""Characters of a reply that come in between two looks at it."""


class DraftStream:
    """Tells one field of a reply as drafts. What is told is not checked, and never the answer."""

    def __init__(self, field: str | None) -> None:
        """Without a field nothing is told."""
        self._name = field or ""
        self._key = re.compile(rf'(?<!\\)"{re.escape(self._name)}"\s*:')
        self._closed = re.compile(rf'{self._key.pattern}\s*"(?:[^"\\]|\\.)*"')
        self._reply = ""
        self._looked = 0
        self._drafted = ""

    @property
    def text_callback(self) -> Callable[[str], None] | None:
        """What a caller is to tell of the reply as it grows; None where nobody wants to know."""
        return self._receive if self._name else None

    def withdraw_on_fault(self, fault: Callable[[ReplyT], str | None]) -> Callable[[ReplyT], str | None]:
        """The check of a reply, which withdraws the draft of one that has a fault."""

        def checked(reply: ReplyT) -> str | None:
            if (wrong := fault(reply)) is not None:
                self.withdraw(wrong)
            return wrong

        return checked

    def finish(self, reply: BaseModel) -> None:
        """The reply is whole and holds; a draft of nothing is withdrawn."""
        if any(map(str.isalnum, str(getattr(reply, self._name, None) or ""))):
            self._emit_new_text(whole=True)
        else:
            self.withdraw("the model gives no answer")

    def withdraw(self, why: str) -> None:
        """What was told is void. Nothing is told where nothing was."""
        if self._drafted:
            emit(DraftWithdrawn(why=why))
        self._reply, self._looked, self._drafted = "", 0, ""

    def _receive(self, reply: str) -> None:
        """The reply as far as it is written; one that does not go on from the last is another try."""
        if not reply.startswith(self._reply):
            self.withdraw("it is written anew")
        self._reply = reply
        if self._looked + _STEP <= len(reply) <= _MAX_REPLY_LENGTH and len(self._drafted) < _MAX_DRAFT_LENGTH:
            self._emit_new_text()

    def _emit_new_text(self, *, whole: bool = False) -> None:
        self._looked = len(self._reply)
        text = self._field_text()[:_MAX_DRAFT_LENGTH]
        if not (whole or self._closed.search(self._reply)):
            text = text[: text.rfind(" ") + 1]  # a number of which a part is there is another number
        if len(text) > len(self._drafted) and text.startswith(self._drafted):
            emit(Draft(text=text[len(self._drafted) :]))
            self._drafted = text

    def _field_text(self) -> str:
        """The field as far as it is written; empty where it has not begun, or is no text."""
        from langchain_core.utils.json import parse_partial_json

        if (begins := self._key.search(self._reply)) is None:
            return ""
        # From the field on: what stands before it is not read anew with every piece.
        rest = self._reply[begins.start() : begins.start() + 2 * _MAX_DRAFT_LENGTH]
        try:
            found = parse_partial_json("{" + rest)
        except (ValueError, RecursionError):
            return ""
        value = found.get(self._name) if isinstance(found, dict) else None
        return on_a_line(value) if isinstance(value, str) else ""


def prompt_to_call(
    filled: FilledPrompt,
    role: Role | None = None,
    output: type[OutputT] | None = None,
    max_output_tokens: int | None = None,
    *,
    check: Callable[[OutputT], str | None] | None = None,
) -> Call[OutputT]:
    """The call that says what a prompt says: its system part as the system, its user part as the user.

    The role is the prompt's own where none is named. `check` tells what is wrong with a value of the right type. Signs
    of injection in the material, and what was taken out of it, are noted in the journal.
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
