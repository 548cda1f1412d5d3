"""No request to a provider's model, for as long as a test runs."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from langchain_core.language_models import BaseChatModel, BaseLanguageModel, BaseLLM

from fin_agent.errors import FinAgentError
from fin_agent.testing.attempts import Attempts, told_at_the_end

_WAYS_IN = {
    BaseChatModel: ("generate", "agenerate", "stream", "astream", "_chat_model_stream_v3", "_achat_model_stream_v3"),
    BaseLLM: ("generate", "agenerate", "stream", "astream"),
}
_STAND_INS = ("fin_agent.testing.", "langchain_core.language_models.fake")
_REMEDY = "Use a ScriptedChatModel, replay a RecordedChatModel, or name the model's class in `allow`"


class ForbiddenModelRequestError(FinAgentError):
    """A provider's model was asked where no model requests are allowed."""


@dataclass(frozen=True, slots=True)
class _Guard:
    allowed: tuple[type, ...]
    attempts: Attempts


_guards: list[_Guard] = []
_patches: list[Any] = []
_lock = threading.Lock()


@contextmanager
def no_model_requests(*, allow: tuple[type, ...] = ()) -> Iterator[Attempts]:
    """Forbids every LangChain model but stand-ins (this package's, langchain-core's fakes) and the classes in `allow`.

    The request raises ForbiddenModelRequestError, in all threads; the end of the guard raises it again where code under
    test caught it, as code does that falls back to rules. A recording model may not ask the model it records either.

    >>> from fin_agent.testing import RecordedChatModel, ScriptedChatModel
    >>> with no_model_requests():
    ...     ScriptedChatModel(["yes"]).invoke("Is this allowed?").content
    'yes'
    """
    attempts = Attempts()
    guard = _Guard(allow, attempts)
    with told_at_the_end(attempts, ForbiddenModelRequestError, _REMEDY):
        _enter(guard)
        try:
            yield attempts
        finally:
            _leave(guard)


def permit(model: BaseLanguageModel[Any]) -> None:
    """Raises ForbiddenModelRequestError where a guard is on and the model is no stand-in."""
    for guard in reversed(_guards):
        if not _is_stand_in(type(model)) and not isinstance(model, guard.allowed):
            named = _described(model)
            guard.attempts.append(f"a request to {named}")
            raise ForbiddenModelRequestError(f"a request to {named} was tried", remedy=_REMEDY)


def _enter(guard: _Guard) -> None:
    with _lock:
        _guards.append(guard)
        if len(_guards) > 1:
            return
        for owner, names in _WAYS_IN.items():
            for name in names:
                if hasattr(owner, name):  # the last two differ between versions of langchain-core
                    _patches.append(mock.patch.object(owner, name, _permitted(getattr(owner, name))))
                    _patches[-1].start()


def _leave(guard: _Guard) -> None:
    with _lock:
        _guards.remove(guard)
        while _patches and not _guards:
            _patches.pop().stop()


def _permitted(real: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(real)
    def permitted(self: Any, *args: Any, **named: Any) -> Any:
        permit(self)
        return real(self, *args, **named)

    return permitted


def _is_stand_in(kind: type) -> bool:
    return any(f"{each.__module__}.".startswith(_STAND_INS) for each in kind.__mro__)


def _described(model: BaseLanguageModel[Any]) -> str:
    name = getattr(model, "model_name", None) or getattr(model, "model", None)
    return f"{type(model).__name__} {name!r}" if isinstance(name, str) else type(model).__name__
