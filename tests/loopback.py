"""No connection to another machine for as long as a test runs; a fixture that a conftest imports by name."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import pytest

from fin_agent.errors import FinAgentError


class Attempts(list[str]):
    """What was tried, in words. A test that tries it on purpose clears the list."""


@contextmanager
def _reported(attempts: Attempts) -> Iterator[Attempts]:
    """Raises where attempts are left at the end and nothing else went wrong: code that falls back hides failures."""
    yield attempts
    if attempts:
        counted = f"{len(attempts)} times" if len(attempts) > 1 else "once"
        told = "; ".join(dict.fromkeys(attempts))
        raise ForbiddenConnectionError(f"tried {counted} inside the guard: {told}", remedy=_OF_NETWORK)


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
    """
    attempts = Attempts()
    with _reported(attempts), ExitStack() as patched:
        for name in _CONNECTING:
            guard = _guarded_method(getattr(socket.socket, name), name, attempts)
            patched.enter_context(mock.patch.object(socket.socket, name, guard))
        for name in _RESOLVING:
            patched.enter_context(mock.patch.object(socket, name, _guarded(getattr(socket, name), attempts)))
        yield attempts


def is_local(host: object) -> bool:
    """Whether a host, by name or number, is this machine."""
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


@pytest.fixture(autouse=True)
def no_other_host() -> Iterator[Attempts]:
    """Fails a test that connects to another host, or looks one up, even where the code under test caught that."""
    with loopback_only() as attempts:
        yield attempts
