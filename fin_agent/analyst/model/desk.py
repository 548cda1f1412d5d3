"""Where roles are put to chat models: a prompt filled, a reply of its type, held against what it must be true to."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from pydantic import BaseModel

from fin_agent.analyst.journal import warned
from fin_agent.analyst.listening import current_hearing
from fin_agent.analyst.model.calls import call_of
from fin_agent.analyst.model.drafting import Drafting
from fin_agent.models.call import Role
from fin_agent.models.callers import Callers
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
from fin_agent.prompts import Prompt, load_prompt
from fin_agent.prompts.prompt import Value

ReplyT = TypeVar("ReplyT", bound=BaseModel)

MOST_OUTPUT: Mapping[Role, int] = MappingProxyType(
    {
        Role.INTENT: 2_000,
        Role.QUERY: 1_000,
        Role.CURATION: 3_000,
        Role.PROGRAM: 4_000,
        Role.REPAIR: 4_000,
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


class Desk:
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
        self._prompt = lru_cache(maxsize=None)(self._loaded)

    def require(self, *names: str) -> None:
        """Load prompts, so that what is wrong with one is said at once. Raises PromptError."""
        for name in names:
            self._prompt(name)

    def asked(
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
        hearing = current_hearing()
        drafting = Drafting(drafted if hearing.drafts and hearing.listener is not None else None)
        call = call_of(filled, role, output, MOST_OUTPUT.get(role), check=drafting.withdrawn_where(fault))
        subject = f"the {role.value} of the model"
        model = ""
        try:
            model = self._callers.name(role)
            if self._clock() < self._resting.get(model, 0.0):
                warned(f"{subject} was left out: {model} is left alone for {_REST_SECONDS:.0f} seconds")
                return None
            value, _ = self._callers.of(role).value(call, drafting.on_text)
        except BudgetExceededError as failure:
            drafting.withdraw(f"{subject} was left out")
            warned(f"{subject} was left out: {failure.what}")
            return None
        except ModelError as failure:
            drafting.withdraw(f"{subject} could not be had")
            told = f"{subject} could not be had: {failure.what}"
            lasting = isinstance(failure, _LASTING)
            warned(f"{told}. {failure.remedy}" if lasting and failure.remedy else told)
            if lasting:
                self._resting[model] = self._clock() + _REST_SECONDS
            return None
        drafting.ended(value)
        return value

    def _loaded(self, name: str) -> Prompt:
        return load_prompt(name, folder=self._folder)
