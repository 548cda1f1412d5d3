"""Who may call a server: the address it listens on, the names and origins it answers to, and its token."""

from __future__ import annotations

import hmac
import ipaddress
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from fin_agent.serving.errors import ServingError

TOKEN_VARIABLE = "FIN_AGENT_TOKEN"
SHORTEST_TOKEN = 16
_MAKE_ONE = "Make one: export FIN_AGENT_TOKEN=\"$(python3 -c 'import secrets; print(secrets.token_urlsafe(32))')\""
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Access:
    """Loopback without a token, or any address with one.

    A page in a browser on the same machine could call a server on loopback under a name of its own (DNS rebinding) or
    from its own origin: calls are answered under loopback names and `names` only, and from no other origin than the
    server's own.
    """

    host: str = "127.0.0.1"
    names: tuple[str, ...] = ()
    """Further names that it is called by, as of a proxy in front of it."""
    token: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, host: str, names: Sequence[str] = (), environ: Mapping[str, str] = os.environ) -> Access:
        """With the token that `FIN_AGENT_TOKEN` names. Raises ServingError where one is needed and not there."""
        token = environ.get(TOKEN_VARIABLE, "").strip() or None
        open_to_others = [each for each in (host, *names) if not is_loopback(each)]
        if open_to_others and token is None:
            raise ServingError(
                "others than this machine could call it, and there is no token",
                subject=open_to_others[0],
                remedy=f"{_MAKE_ONE}, or serve on 127.0.0.1",
            )
        if token is not None and (len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable()):
            raise ServingError(
                f"a token has at least {SHORTEST_TOKEN} characters, all of them printable ASCII",
                subject=TOKEN_VARIABLE,
                remedy=_MAKE_ONE,
            )
        return cls(host, tuple(name.lower() for name in names), token)

    def answers_to(self, host_header: str) -> bool:
        """Whether it goes by the name that a call gives it, whatever the port.

        >>> [Access().answers_to(host) for host in ("localhost:8400", "127.0.0.1", "[::1]:8400", "evil.example", "")]
        [True, True, True, False, False]
        """
        name = _name_of(f"//{host_header}")
        if name is None:
            return False
        if not is_loopback(self.host) and not self.names:
            return True  # by which names it is reached there is not known here; the token is asked for
        return name in (*_LOOPBACK_NAMES, *self.names, self.host.lower())

    def lets_in(self, origin: str | None, host_header: str) -> bool:
        """Whether a page of `origin` may call: only one that this server itself gave out; no page at all may.

        >>> Access().lets_in("http://localhost:8400", "localhost:8400"), Access().lets_in("null", "localhost:8400")
        (True, False)
        """
        return origin is None or origin.lower() in (f"{scheme}://{host_header.lower()}" for scheme in ("http", "https"))

    def admits(self, authorization: str | None) -> bool:
        """Whether the header holds the token, where there is one; compared in constant time."""
        if self.token is None:
            return True
        scheme, _, given = (authorization or "").partition(" ")
        same = hmac.compare_digest(given.strip().encode("utf-8", "replace"), self.token.encode())
        return same and scheme.lower() == "bearer"


def is_loopback(host: str) -> bool:
    """Whether only this machine can call what listens there, or goes by that name.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "192.168.0.4", "")]
    [True, True, True, False, False, False]
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _name_of(address: str) -> str | None:
    try:
        parts = urlsplit(address)
        _ = parts.port  # raises where it is no number
    except ValueError:
        return None
    return None if parts.username is not None or parts.path else parts.hostname
