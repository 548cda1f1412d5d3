"""What stands before every call over HTTP: its name, origin, token and size are looked at before anything else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any, TypeAlias

from fin_agent.serving.access import TOKEN_VARIABLE, Access
from fin_agent.serving.problems import Problem

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
"""As ASGI has them."""

MOST_BYTES = 1_000_000
SECONDS_TO_SEND = 30.0


_FROM_OTHER_PAGES = ("cross-site", "same-site")
"""`Sec-Fetch-Site` of what a page elsewhere loads as a picture or a script, without an `Origin`."""


class Guard:
    """An ASGI application before another: lets through what `access` allows, whole and at most `most_bytes` long.

    `open_paths` need no token.
    """

    def __init__(
        self,
        app: App,
        access: Access,
        *,
        open_paths: Collection[str] = (),
        most_bytes: int = MOST_BYTES,
        seconds: float = SECONDS_TO_SEND,
    ) -> None:
        self._app = app
        self._access = access
        self._open_paths = frozenset(open_paths)
        self._most_bytes = most_bytes
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        refusal = self._refused(scope)
        if refusal is None:
            body = await self._body(receive, _header(scope, b"content-length"))
            if isinstance(body, tuple):
                refusal = body
            else:
                await self._app(scope, _given_again(body, receive), send)
                return
        await _answer(send, *refusal)

    def _refused(self, scope: Scope) -> tuple[int, Problem] | None:
        host = _header(scope, b"host") or ""
        if not self._access.answers_to(host):
            return 421, Problem(
                what="this server does not go by the name it was called by",
                subject=host[:100],
                remedy="Call it by 127.0.0.1 or localhost; whoever runs it adds names with --allow-host",
            )
        origin = _header(scope, b"origin")
        if not self._access.lets_in(origin, host):
            return 403, Problem(
                what="pages of other origins may not call this server",
                subject=(origin or "")[:100],
                remedy="Call it from a program of yours that the page asks",
            )
        if _header(scope, b"sec-fetch-site") in _FROM_OTHER_PAGES:
            return 403, Problem(
                what="pages of other origins may not load from this server",
                remedy="Call it from a program of yours that the page asks",
            )
        if scope["path"] not in self._open_paths and not self._access.admits(_header(scope, b"authorization")):
            return 401, Problem(
                what="the token is missing or wrong",
                remedy=f"Send the header Authorization: Bearer TOKEN, with what {TOKEN_VARIABLE} holds at the server",
            )
        return None

    async def _body(self, receive: Receive, declared: str | None) -> bytes | tuple[int, Problem]:
        """All that is sent; a refusal where it is too long, or takes too long to arrive."""
        too_long = (
            413,
            Problem(what=f"more than {self._most_bytes:,} bytes were sent", remedy="Send a question, not a filing"),
        )
        if declared is not None and declared.isdigit() and int(declared[:20]) > self._most_bytes:
            return too_long
        body = bytearray()
        try:
            async with asyncio.timeout(self._seconds):
                while True:
                    message = await receive()
                    body += message.get("body", b"")
                    if len(body) > self._most_bytes:
                        return too_long
                    if message["type"] != "http.request" or not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            return 408, Problem(what="the call did not arrive in time", remedy="Send it again")


def _header(scope: Scope, name: bytes) -> str | None:
    values = [value for each, value in scope["headers"] if each.lower() == name]
    # Two of them are one too many: who reads the first and who reads the last would not agree.
    return ", ".join(value.decode("latin-1") for value in values) if values else None


def _given_again(body: bytes, receive: Receive) -> Receive:
    """What was read, then whatever comes: that the caller has gone."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _answer(send: Send, status: int, problem: Problem) -> None:
    body = problem.model_dump_json().encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
