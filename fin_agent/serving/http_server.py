"""Serving over HTTP: access control by names, origins and a token, limits of size, and running uvicorn."""

from __future__ import annotations

import asyncio
import hmac
import os
import re
import socket
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import TYPE_CHECKING

from fin_agent.lexicon.words import load_yaml
from fin_agent.redaction import is_loopback
from fin_agent.serving.problem_details import Problem, ServingError, problem_response

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_TEXTS = load_yaml("texts", __package__)
TOKEN_VARIABLE = "FIN_AGENT_TOKEN"
MIN_TOKEN_LENGTH = 16
MAX_BYTES = 1_000_000
MAX_UPLOADED = 64_000_000
"""Bytes of a filing that is uploaded; the largest 10-K of a big bank has about 20 million."""
INDEXES = "/indexes/"
"""Path prefix of a further index; its name and the path within it follow."""
_UPLOADS = re.compile(rf"(?:{INDEXES}[^/]+)?/uploads/")
SECONDS_TO_SEND = 30.0
_MAKE_ONE = "Set one: export FIN_AGENT_TOKEN=\"$(python3 -c 'import secrets; print(secrets.token_urlsafe(32))')\""
SECONDS_TO_END = 5
SECONDS_TO_START = 120
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_FROM_OTHER_PAGES = ("cross-site", "same-site")
"""`Sec-Fetch-Site` of requests without an `Origin` that pages of other sites make for pictures and scripts."""


@dataclass(frozen=True, slots=True)
class Access:
    """Access control: loopback without a token, or any address with one.

    A page in a browser on the same machine could call a loopback server under its own host name (DNS rebinding) or from
    its own origin. Therefore only loopback names and `names` are accepted as hosts, and only the server's own origin.
    """

    host: str = "127.0.0.1"
    names: tuple[str, ...] = ()
    """Further host names, such as that of a proxy in front of the server."""
    token: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, host: str, names: Sequence[str] = (), environ: Mapping[str, str] = os.environ) -> Access:
        """Return the access control with the token of `FIN_AGENT_TOKEN`.

        Raises ServingError if the token is needed and missing, or it is too short or not printable ASCII.
        """
        token = environ.get(TOKEN_VARIABLE, "").strip() or None
        open_to_others = [each for each in (host, *names) if not is_loopback(each)]
        if open_to_others and token is None:
            raise ServingError(
                "other machines could call the server, and no token is set",
                subject=open_to_others[0],
                remedy=f"{_MAKE_ONE}, or serve on 127.0.0.1",
            )
        if token is not None and (len(token) < MIN_TOKEN_LENGTH or not token.isascii() or not token.isprintable()):
            raise ServingError(
                f"the token must have at least {MIN_TOKEN_LENGTH} characters, all printable ASCII",
                subject=TOKEN_VARIABLE,
                remedy=_MAKE_ONE,
            )
        return cls(host, tuple(name.lower() for name in names), token)

    @property
    def answers_to(self) -> tuple[str, ...] | None:
        """Accepted host names without port; None for any, since the names of a public address are not known here."""
        if not is_loopback(self.host) and not self.names:
            return None
        own = f"[{self.host}]" if ":" in self.host else self.host.lower()
        return tuple(dict.fromkeys((*_LOOPBACK_NAMES, *self.names, own)))

    def refusal(self, headers: Mapping[str, str], *, is_open: bool = False) -> tuple[int, Problem] | None:
        """Return status and problem of a call that is not allowed, or None.

        Pages of other origins may not call the server.

        Args:
            headers: Headers of the request, with lower-case names.
            is_open: Whether the path needs no token.

        >>> Access().refusal({"host": "localhost:8400", "origin": "http://localhost:8400"}) is None
        True
        """
        origin, host = headers.get("origin"), headers.get("host", "").lower()
        elsewhere = origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}")
        # A link to the workspace may be followed, since the workspace cannot be framed.
        followed = is_open and headers.get("sec-fetch-mode") == "navigate"
        status, subject = 0, ""
        if elsewhere or (headers.get("sec-fetch-site") in _FROM_OTHER_PAGES and not followed):
            status, subject = 403, (origin or "")[:100]
        elif self.token is not None and not is_open and not self._admits(headers.get("authorization", "")):
            status = 401
        if not status:
            return None
        what, remedy = _TEXTS["access"][status]
        return status, Problem(what=what, subject=subject, remedy=remedy)

    def _admits(self, authorization: str) -> bool:
        scheme, _, given = authorization.partition(" ")
        # Compared in constant time, so that timing does not reveal how much of a guess is right.
        same = hmac.compare_digest(given.strip().encode("utf-8", "replace"), (self.token or "").encode())
        return same and scheme.lower() == "bearer"


def with_guards(app: ASGIApp, access: Access, *, open_paths: Collection[str] = ()) -> ASGIApp:
    """Wrap the application in guards for host names, callers, sizes and times.

    A refusal is a Problem as JSON, also if Starlette or the MCP SDK sends it as plain text. `open_paths` need no token;
    one that ends with `/*` covers everything below it.
    """
    from starlette.datastructures import Headers
    from starlette.middleware.body_limit import RequestBodyLimitMiddleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    open_folders = tuple(path[:-1] for path in open_paths if path.endswith("/*"))
    timed = _arriving_in_time(app)
    small, large = (RequestBodyLimitMiddleware(timed, most) for most in (MAX_BYTES, MAX_UPLOADED))

    async def admitted(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] != "lifespan":
            sent = Headers(scope=scope)
            # Join repeated headers, since some readers use the first and others the last.
            headers = {name: ", ".join(sent.getlist(name)) for name in sent}
            if refusal := access.refusal(headers, is_open=path in open_paths or path.startswith(open_folders)):
                await problem_response(*refusal)(scope, receive, send)
                return
        await (large if _UPLOADS.match(path) else small)(scope, receive, send)

    return _in_our_words(TrustedHostMiddleware(admitted, access.answers_to or ["*"], www_redirect=False))


def _arriving_in_time(app: ASGIApp) -> ASGIApp:
    """Wrap the application in a time limit for receiving a request; Starlette has none."""
    from starlette.exceptions import HTTPException

    async def timed(scope: Scope, receive: Receive, send: Send) -> None:
        end = asyncio.get_running_loop().time() + SECONDS_TO_SEND
        whole = scope["type"] != "http"

        async def received() -> Message:
            nonlocal whole
            if whole:  # only the disconnect follows, which has no time limit
                return await receive()
            try:
                async with asyncio.timeout_at(end):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408) from None
            whole = message["type"] != "http.request" or not message.get("more_body", False)
            return message

        await app(scope, received, send)

    return timed


REFUSED: Mapping[int, tuple[int, str, str]] = {
    status: (sent, what.format(most=MAX_BYTES), remedy) for status, (sent, what, remedy) in _TEXTS["guards"].items()
}
"""Status of a guard of Starlette -> the status to send, what happened, and the remedy."""


def _in_our_words(app: ASGIApp) -> ASGIApp:
    """Wrap the application so that refusals which Starlette sends as plain text are sent as a Problem."""

    async def worded(scope: Scope, receive: Receive, send: Send) -> None:
        replaced = False

        async def told(message: Message) -> None:
            nonlocal replaced
            if message["type"] == "http.response.start" and message["status"] in REFUSED:
                replaced = (b"content-type", b"text/plain; charset=utf-8") in message["headers"]
                if replaced:
                    status, what, remedy = REFUSED[message["status"]]
                    if status == 413 and _UPLOADS.match(scope["path"]):
                        what = f"a filing of more than {MAX_UPLOADED:,} bytes was sent"
                        remedy = "Add it with `fin-agent ingest` on the server's machine"
                    await problem_response(status, Problem(what=what, remedy=remedy))(scope, receive, send)
            if not replaced:
                await send(message)

        await app(scope, receive, told)

    return worded


def run_application(
    app: ASGIApp | Callable[[], ASGIApp], host: str, port: int, *, ready: Callable[[str], None], workers: int = 1
) -> None:
    """Serve until a signal. Raises ServingError if the server cannot listen on this address; port 0 is a free one.

    `ready` is called with the address once requests are accepted. Several workers need a function that creates the
    application; one that ends is replaced.
    """
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    listening = listening_socket(host, port)
    config = server_config(
        app,
        log_level="warning",
        lifespan="on",
        factory=workers > 1,
        workers=workers,
        timeout_worker_healthcheck=SECONDS_TO_START,  # workers start slowly on a busy machine
    )
    ready(_address(host, listening.getsockname()[1]))  # the socket already listens, so that connections wait for it
    if workers > 1:
        # uvicorn before 0.50 takes the target of a worker as an argument.
        target = {"target": uvicorn.Server(config).run} if "target" in signature(Multiprocess).parameters else {}
        Multiprocess(config, sockets=[listening], **target).run()
    else:
        uvicorn.Server(config).run(sockets=[listening])


def server_config(app: ASGIApp | Callable[[], ASGIApp], **given: object) -> uvicorn.Config:
    """Return uvicorn's configuration, with `header_timeouts` as the protocol."""
    import uvicorn

    settings: dict[str, object] = {
        "http": "fin_agent.serving.header_timeouts:HeaderTimeoutProtocol",
        "access_log": False,
        "server_header": False,
        "timeout_graceful_shutdown": SECONDS_TO_END,
        "ws": "none",
        **given,
    }
    return uvicorn.Config(app, **settings)


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens on this address. Raises ServingError if that fails."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=128)
    except (OSError, OverflowError) as error:
        raise ServingError(
            f"the server cannot listen here ({getattr(error, 'strerror', None) or error})",
            subject=_address(host, port),
            remedy="Choose another --port (0 for a free one) or --host",
        ) from error
    listening.set_inheritable(True)
    return listening


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
