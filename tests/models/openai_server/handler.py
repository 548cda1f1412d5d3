"""One connection of the test server: requests read, answers and failures put on the wire."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterable, Sequence
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, ClassVar

from tests.models.openai_server import bodies
from tests.models.openai_server.exchange import (
    BrokenStream,
    ChatRequest,
    Cut,
    Dripping,
    Dropped,
    HttpError,
    Json,
    Late,
    Outcome,
    Raw,
    Reply,
    Stalled,
)

if TYPE_CHECKING:
    from tests.models.openai_server.server import OpenAIServer

_CHAT = "/v1/chat/completions"
_MODELS = "/v1/models"
_SSE = "text/event-stream; charset=utf-8"
_CLOSE_AT_ONCE = struct.pack("ii", 1, 0)
_OVERLOADED = HttpError(500, "The server is overloaded or not ready yet.")


class _HangUpError(Exception):
    """The connection is to be closed as it is."""


class Handler(BaseHTTPRequestHandler):
    """Reads requests of one connection; a server makes a class of its own of it."""

    served: ClassVar[OpenAIServer]
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 120

    def do_POST(self) -> None:
        """A chat completion; there is nothing else to be had by POST."""
        self._serve("POST")

    def do_GET(self) -> None:
        """The models, all or one."""
        self._serve("GET")

    def setup(self) -> None:
        super().setup()
        self.served.opened(self.connection)

    def finish(self) -> None:
        self.served.closed(self.connection)
        try:
            super().finish()
        except OSError:
            return  # the client has gone

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on the terminal: the server keeps its log."""

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    def _serve(self, method: str) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._entry = self.served.logged(method, self.path, headers, body)
        try:
            if (refused := self.served.lets_in(self._entry)) is not None:
                self._error(refused)
            elif method == "POST" and self.path == _CHAT:
                self._put(*self.served.chat(self._entry))
            elif method == "GET" and (self.path == _MODELS or self.path.startswith(f"{_MODELS}/")):
                self._models(self.path.removeprefix(_MODELS).lstrip("/"))
            else:
                told = f"Unknown request URL: {method} {self.path}. Please check the URL for typos."
                self._error(HttpError(404, told, "invalid_request_error", "unknown_url"))
        except _HangUpError:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _CLOSE_AT_ONCE)
            self.close_connection = True

    def _models(self, name: str) -> None:
        listed: list[Json] = [
            {"id": each, "object": "model", "created": bodies.CREATED, "owned_by": "tests"}
            for each in self.served.models
        ]
        if not name:
            self._whole(json.dumps({"object": "list", "data": listed}).encode())
        elif name in self.served.models:
            self._whole(json.dumps(listed[self.served.models.index(name)]).encode())
        else:
            self._error(
                HttpError(404, f"The model '{name}' does not exist", "invalid_request_error", "model_not_found")
            )

    def _put(self, outcome: Outcome, request: ChatRequest | None) -> None:
        if isinstance(outcome, HttpError) or request is None:
            self._error(outcome if isinstance(outcome, HttpError) else HttpError(400))
        elif isinstance(outcome, list):
            self._said(request, outcome)
        elif isinstance(outcome, Dropped):
            raise _HangUpError
        elif isinstance(outcome, Late):
            self._wait(outcome.seconds)
            self._put([outcome.then] if isinstance(outcome.then, Reply) else outcome.then, request)
        elif isinstance(outcome, Dripping):
            self._drip(request, outcome)
        elif isinstance(outcome, Raw):
            self._raw(request, outcome)
        elif isinstance(outcome, BrokenStream) and not request.streams:
            self._error(_OVERLOADED)
        else:
            self._in_part(request, outcome)

    def _said(self, request: ChatRequest, replies: Sequence[Reply]) -> None:
        if request.streams:
            self._stream(bodies.events(request, replies))
        else:
            self._whole(bodies.whole(request, replies))

    def _raw(self, request: ChatRequest, outcome: Raw) -> None:
        if request.streams:
            self._stream(map(outcome.make, bodies.events(request, [outcome.reply])))
        else:
            self._whole(outcome.make(bodies.whole(request, [outcome.reply])), content_type=outcome.content_type)

    def _drip(self, request: ChatRequest, outcome: Dripping) -> None:
        self._head(200, _SSE if request.streams else "application/json", ("Transfer-Encoding", "chunked"))
        while True:
            self._send(b": wait\n\n" if request.streams else b" ", chunked=True)
            self._wait(outcome.seconds)

    def _in_part(self, request: ChatRequest, outcome: Cut | Stalled | BrokenStream) -> None:
        """The first part of an answer; then its end, an error, or nothing."""
        if request.streams:
            parts = list(bodies.events(request, [outcome.reply]))
            self._head(200, _SSE, ("Transfer-Encoding", "chunked"))
        else:
            body = bodies.whole(request, [outcome.reply])
            parts = [body[place : place + 1] for place in range(len(body))]
            self._head(200, "application/json", ("Content-Length", str(len(body))))
        sent = int(len(parts) * (outcome.share if isinstance(outcome, Cut) else 0.5))
        self._send(b"".join(parts[:sent]), chunked=request.streams)
        if isinstance(outcome, Cut):
            # Closed in order, so that what was sent is read and the end still missed.
            self.close_connection = True
            return
        if isinstance(outcome, Stalled):
            self._wait(outcome.seconds)
            self._send(b"".join(parts[sent:]), chunked=request.streams)
        else:
            told: Json = {"message": _OVERLOADED.message, "type": "server_error", "param": None, "code": None}
            self._send(bodies.event({"error": told}), chunked=True)
        self._ended(b"0\r\n\r\n" if request.streams else b"")

    def _stream(self, events: Iterable[bytes]) -> None:
        self._head(200, _SSE, ("Transfer-Encoding", "chunked"))
        for written in events:
            self._send(written, chunked=True)
        self._ended(b"0\r\n\r\n")

    def _send(self, written: bytes, *, chunked: bool) -> None:
        if written:  # a chunk of no bytes would end the stream
            self.wfile.write(f"{len(written):x}\r\n".encode() + written + b"\r\n" if chunked else written)
            self.wfile.flush()

    def _ended(self, rest: bytes, status: int = 200) -> None:
        """The last of an answer. The log is written first: a client may look at it as soon as it has the answer."""
        self._entry.status = status
        try:
            self.wfile.write(rest)
        except OSError:
            self._entry.status = 0
            raise

    def _error(self, error: HttpError) -> None:
        kind = "text/html" if error.body is not None else "application/json"
        self._whole(bodies.error_body(error), error.status, kind, error.headers)

    def _whole(
        self,
        body: bytes,
        status: int = 200,
        content_type: str = "application/json",
        headers: Iterable[tuple[str, str]] = (),
    ) -> None:
        self._head(status, content_type, ("Content-Length", str(len(body))), *headers)
        self._ended(body, status)

    def _head(self, status: int, content_type: str, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        fields = (("Content-Type", content_type), ("x-request-id", f"req_{self._entry.number:06}"), *headers)
        for name, value in fields:
            self.send_header(name, value)
        self.end_headers()

    def _wait(self, seconds: float) -> None:
        """Waits, unless the server is closed meanwhile."""
        if self.served.closing.wait(seconds):
            raise _HangUpError
