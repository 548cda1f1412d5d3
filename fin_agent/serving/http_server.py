"""Serving over HTTP: who may call (names, origins, a token), how much may be sent, and uvicorn until a signal."""

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

from fin_agent.redaction import is_loopback
from fin_agent.serving.problem_details import Problem, ServingError

if TYPE_CHECKING:
    import uvicorn
    from starlette.authentication import AuthenticationError
    from starlette.requests import HTTPConnection
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_VARIABLE = "FIN_AGENT_TOKEN"
MIN_TOKEN_LENGTH = 16
MAX_BYTES = 1_000_000
MAX_UPLOADED = 64_000_000
"""Bytes of a filing that is sent to be read; the largest 10-K of a big bank has about 20 million."""
INDEXES = "/indexes/"
"""What the paths of a further index begin with: its name and the path within follow."""
_UPLOADS = re.compile(rf"(?:{INDEXES}[^/]+)?/uploads/")
SECONDS_TO_SEND = 30.0
_MAKE_ONE = "Make one: export FIN_AGENT_TOKEN=\"$(python3 -c 'import secrets; print(secrets.token_urlsafe(32))')\""
SECONDS_TO_END = 5
SECONDS_TO_START = 120
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_FROM_OTHER_PAGES = ("cross-site", "same-site")
"""`Sec-Fetch-Site` of what a page elsewhere loads as a picture or a script, without an `Origin`."""


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
                "other machines could call the server, and no token is set",
                subject=open_to_others[0],
                remedy=f"{_MAKE_ONE}, or serve on 127.0.0.1",
            )
        if token is not None and (len(token) < MIN_TOKEN_LENGTH or not token.isascii() or not token.isprintable()):
            raise ServingError(
                f"a token has at least {MIN_TOKEN_LENGTH} characters, all of them printable ASCII",
                subject=TOKEN_VARIABLE,
                remedy=_MAKE_ONE,
            )
        return cls(host, tuple(name.lower() for name in names), token)

    @property
    def answers_to(self) -> tuple[str, ...] | None:
        """The names it goes by, whatever the port; None for any: the names of an open address are not known here."""
        if not is_loopback(self.host) and not self.names:
            return None
        own = f"[{self.host}]" if ":" in self.host else self.host.lower()
        return tuple(dict.fromkeys((*_LOOPBACK_NAMES, *self.names, own)))

    def refusal(self, headers: Mapping[str, str], *, is_open: bool = False) -> tuple[int, Problem] | None:
        """The status and problem of a call that may not be made. `is_open`: without the token as well.

        No page of another origin may call, only one that this server itself gave out.

        >>> Access().refusal({"host": "localhost:8400", "origin": "http://localhost:8400"}) is None
        True
        """
        origin, host = headers.get("origin"), headers.get("host", "").lower()
        elsewhere = origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}")
        followed = (
            is_open and headers.get("sec-fetch-mode") == "navigate"
        )  # a link to the workspace, which no frame shows
        if elsewhere or (headers.get("sec-fetch-site") in _FROM_OTHER_PAGES and not followed):
            return 403, Problem(
                what="pages of other origins may not call this server, or load from it",
                subject=(origin or "")[:100],
                remedy="Call it from a program of yours that the page asks",
            )
        if self.token is not None and not is_open and not self._admits(headers.get("authorization", "")):
            return 401, Problem(
                what="the token is missing or wrong",
                remedy=f"Send the header Authorization: Bearer TOKEN, with what {TOKEN_VARIABLE} holds at the server",
            )
        return None

    def _admits(self, authorization: str) -> bool:
        scheme, _, given = authorization.partition(" ")
        # In constant time: how much of it is right cannot be found by trying.
        same = hmac.compare_digest(given.strip().encode("utf-8", "replace"), (self.token or "").encode())
        return same and scheme.lower() == "bearer"


def with_guards(app: ASGIApp, access: Access, *, open_paths: Collection[str] = ()) -> ASGIApp:
    """The application behind Starlette's guards of names, callers and sizes; `open_paths` need no token.

    One that ends with `/*` stands for all below it. Calls of `/uploads/` may send a filing, all others a question.

    A refusal is a Problem as JSON, also where a guard of Starlette or of the MCP SDK says it in a line of text.
    """
    from starlette.authentication import AuthCredentials, AuthenticationBackend, AuthenticationError, BaseUser
    from starlette.middleware.authentication import AuthenticationMiddleware
    from starlette.middleware.body_limit import RequestBodyLimitMiddleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    open_folders = tuple(path[:-1] for path in open_paths if path.endswith("/*"))

    class RefusedError(AuthenticationError):  # type: ignore[misc]
        def __init__(self, status: int, problem: Problem) -> None:
            super().__init__(problem.what)
            self.status, self.problem = status, problem

    class Gate(AuthenticationBackend):  # type: ignore[misc]
        async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, BaseUser] | None:
            # Of a header that is there twice, who reads the first and who reads the last would not agree.
            headers = {name: ", ".join(conn.headers.getlist(name)) for name in conn.headers}
            path = conn.scope["path"]
            if refusal := access.refusal(headers, is_open=path in open_paths or path.startswith(open_folders)):
                raise RefusedError(*refusal)
            return None

    def refused(conn: HTTPConnection, error: AuthenticationError) -> Response:
        assert isinstance(error, RefusedError)
        return _told(error.status, error.problem)

    timed = _arriving_in_time(app)
    small, large = (RequestBodyLimitMiddleware(timed, most) for most in (MAX_BYTES, MAX_UPLOADED))

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        await (large if _UPLOADS.match(scope.get("path", "")) else small)(scope, receive, send)

    gate = AuthenticationMiddleware(limited, Gate(), refused)
    named = TrustedHostMiddleware(gate, access.answers_to or ["*"], www_redirect=False)
    return _in_our_words(named)


def _arriving_in_time(app: ASGIApp) -> ASGIApp:
    """The application, which is sent the whole of a call within `SECONDS_TO_SEND`: Starlette waits without end."""
    from starlette.exceptions import HTTPException

    async def timed(scope: Scope, receive: Receive, send: Send) -> None:
        end = asyncio.get_running_loop().time() + SECONDS_TO_SEND
        whole = scope["type"] != "http"

        async def received() -> Message:
            nonlocal whole
            if whole:  # what follows says that the caller has gone, and may take as long as it likes
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


REFUSED: Mapping[str, tuple[int, str, str]] = {
    "Invalid host header": (
        421,
        "this server does not go by the name it was called by",
        "Call it by 127.0.0.1 or localhost; whoever runs it adds names with --allow-host",
    ),
    "Content Too Large": (413, f"more than {MAX_BYTES:,} bytes were sent", "Send a question, not a filing"),
    "Request Timeout": (408, "the call did not arrive in time", "Send it again"),
}
"""What the guards of Starlette say -> the status, what happened and what to do."""


def _in_our_words(app: ASGIApp) -> ASGIApp:
    async def worded(scope: Scope, receive: Receive, send: Send) -> None:
        held: list[Message] = []

        async def told(message: Message) -> None:
            starts = message["type"] == "http.response.start"
            if (
                starts
                and message["status"] >= 400
                and (b"content-type", b"text/plain; charset=utf-8") in message["headers"]
            ):
                held.append(message)
                return
            if held:
                start = held.pop()
                if refusal := REFUSED.get(message.get("body", b"").decode("latin-1")):
                    status, what, remedy = refusal
                    if status == 413 and _UPLOADS.match(scope["path"]):
                        what = f"a filing of more than {MAX_UPLOADED:,} bytes was sent"
                        remedy = "Bring it in by `fin-agent ingest` on the server's machine"
                    await _told(status, Problem(what=what, remedy=remedy))(scope, receive, send)
                    return
                await send(start)
            await send(message)

        await app(scope, receive, told)

    return worded


def _told(status: int, problem: Problem) -> Response:
    from starlette.responses import JSONResponse

    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse(problem.model_dump(), status_code=status, headers=headers)


def run_application(
    app: ASGIApp | Callable[[], ASGIApp], host: str, port: int, *, ready: Callable[[str], None], workers: int = 1
) -> None:
    """Serve until a signal; `ready` is told the address once calls are taken. Raises ServingError where it is taken.

    More than one of `workers` are processes over one socket, in each of which `app` is called to make the application;
    one that ends is replaced.
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
        timeout_worker_healthcheck=SECONDS_TO_START,  # a busy machine takes its time
    )
    ready(_address(host, listening.getsockname()[1]))  # the socket listens: what connects now is answered
    if workers > 1:
        # Versions before 0.50 are told what a worker runs.
        target = {"target": uvicorn.Server(config).run} if "target" in signature(Multiprocess).parameters else {}
        Multiprocess(config, sockets=[listening], **target).run()
    else:
        uvicorn.Server(config).run(sockets=[listening])


def server_config(app: ASGIApp | Callable[[], ASGIApp], **given: object) -> uvicorn.Config:
    """How uvicorn serves: headers within a time, so many connections at once (`header_timeouts`)."""
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
    """A socket that listens there. Raises ServingError where it cannot."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=128)
    except (OSError, OverflowError) as error:
        raise ServingError(
            f"the server cannot listen here ({getattr(error, 'strerror', None) or error})",
            subject=_address(host, port),
            remedy="Choose another --port (0 takes a free one) or --host",
        ) from error
    listening.set_inheritable(True)
    return listening


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
