"""No request to a provider's model, and no connection to another machine, for as long as a test runs."""

from __future__ import annotations

import functools
import ipaddress
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from langchain_core.language_models import BaseChatModel, BaseLanguageModel, BaseLLM

from fin_agent.errors import FinAgentError

_WAYS_IN = {
    BaseChatModel: ("generate", "agenerate", "stream", "astream", "_chat_model_stream_v3", "_achat_model_stream_v3"),
    BaseLLM: ("generate", "agenerate", "stream", "astream"),
}
_STAND_INS = ("fin_agent.testing.", "langchain_core.language_models.fake")
_REMEDY = "Use a ScriptedChatModel, or name the model's class in `allow`"


class Attempts(list[str]):
    """What was tried, in words. A test that tries it on purpose clears the list."""


@contextmanager
def report_forbidden_attempts(attempts: Attempts, error: type[FinAgentError], remedy: str) -> Iterator[Attempts]:
    """Raises where attempts are left at the end and nothing else went wrong: code that falls back hides failures."""
    yield attempts
    if attempts:
        counted = f"{len(attempts)} times" if len(attempts) > 1 else "once"
        raise error(f"tried {counted} inside the guard: {'; '.join(dict.fromkeys(attempts))}", remedy=remedy)


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
    test caught it, as code does that falls back to rules.

    >>> from fin_agent.testing import ScriptedChatModel
    >>> with no_model_requests():
    ...     ScriptedChatModel(["yes"]).invoke("Is this allowed?").content
    'yes'
    """
    attempts = Attempts()
    guard = _Guard(allow, attempts)
    with report_forbidden_attempts(attempts, ForbiddenModelRequestError, _REMEDY):
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


# Connections


_LOCAL_NAMES = frozenset({"", "localhost", "localhost.localdomain", "ip6-localhost"})
_CONNECTING = ("connect", "connect_ex", "sendto", "sendmsg")
_RESOLVING = ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "create_connection")
_OF_NETWORK = "Let the test use a stand-in or a server on 127.0.0.1"


class ForbiddenConnectionError(FinAgentError):
    """A connection to another machine was tried where only loopback is allowed."""


@contextmanager
def loopback_only() -> Iterator[Attempts]:
    """Forbids connections and look-ups of names beyond this machine, in all threads, and with asyncio as well.

    Each raises ForbiddenConnectionError, which is no OSError, so that a client does not take it for a passing fault;
    the end of the guard raises it again where code under test caught it. Child processes and libraries with sockets of
    their own, outside Python's, are not held back.

    >>> import socket
    >>> with loopback_only() as tried:
    ...     try:
    ...         socket.create_connection(("api.openai.com", 443))
    ...     except ForbiddenConnectionError as error:
    ...         print(error.what)
    ...     tried.clear()
    a connection to api.openai.com was tried
    """
    attempts = Attempts()
    with report_forbidden_attempts(attempts, ForbiddenConnectionError, _OF_NETWORK), ExitStack() as patched:
        for name in _CONNECTING:
            guard = _guarded_method(getattr(socket.socket, name), name, attempts)
            patched.enter_context(mock.patch.object(socket.socket, name, guard))
        for name in _RESOLVING:
            patched.enter_context(mock.patch.object(socket, name, _guarded(getattr(socket, name), attempts)))
        yield attempts


def is_local(host: object) -> bool:
    """Whether a host, by name or number, is this machine.

    >>> [is_local(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "8.8.8.8", "example.com")]
    [True, True, True, True, False, False]
    """
    name = host.decode("ascii", "replace") if isinstance(host, bytes | bytearray) else host
    if name is None or not isinstance(name, str) or name.lower() in _LOCAL_NAMES:
        return name is None or isinstance(name, str)
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return name.lower() == socket.gethostname().lower()
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    address = mapped or address
    return address.is_loopback or address.is_unspecified


def _guarded_method(real: Callable[..., Any], name: str, attempts: Attempts) -> Callable[..., Any]:
    def guarded(self: socket.socket, *args: Any, **named: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            address = args[3] if name == "sendmsg" and len(args) > 3 else args[-1] if name != "sendmsg" else None
            if isinstance(address, tuple) and not is_local(address[0]):
                raise _forbidden(address[0], attempts)
        return real(self, *args, **named)

    return guarded


def _guarded(real: Callable[..., Any], attempts: Attempts) -> Callable[..., Any]:
    def guarded(*args: Any, **named: Any) -> Any:
        asked = args[0] if args else named.get("host", named.get("address"))
        host = asked[0] if isinstance(asked, tuple) else asked
        if not is_local(host):
            raise _forbidden(host, attempts)
        return real(*args, **named)

    return guarded


def _forbidden(host: object, attempts: Attempts) -> ForbiddenConnectionError:
    named = host.decode("ascii", "replace") if isinstance(host, bytes | bytearray) else str(host)
    attempts.append(f"a connection to {named}")
    return ForbiddenConnectionError(f"a connection to {named} was tried", remedy=_OF_NETWORK)
