"""An OpenAI-compatible server on loopback: the real protocol, with replies and failures that a test decides."""

from __future__ import annotations

import hashlib
import itertools
import json
import socket
import threading
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from http.server import ThreadingHTTPServer
from types import TracebackType
from typing import TypeAlias

from tests.models.openai_server.checks import fault
from tests.models.openai_server.exchange import ChatRequest, Failure, HttpError, Json, Logged, Outcome, Reply, Said
from tests.models.openai_server.failures import (
    FAILURES,
    Chance,
    Failing,
    no_such_model,
    unauthorized,
    unsupported_response_format,
)
from tests.models.openai_server.handler import Handler

Answering: TypeAlias = Callable[[ChatRequest], Said]

KEY = "sk-test-loopback-0123456789"
MODELS = ("gpt-4o", "gpt-4o-mini")
EVERYTHING = frozenset({"json_schema", "json_object", "tools"})


class OpenAIServer:
    """Answers POST /v1/chat/completions and GET /v1/models until it is closed. Safe to be asked concurrently.

    >>> with OpenAIServer(lambda request: f"You said: {request.text}") as server:
    ...     server.url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(
        self,
        answer: Answering = lambda request: "",
        *,
        key: str | None = KEY,
        models: Collection[str] = MODELS,
        offers: Collection[str] = EVERYTHING,
        chance: Chance | None = None,
    ) -> None:
        """`answer` may be replaced at any time. Without a `key` all are let in; what is not among `offers` is a 400."""
        self.answer = answer
        self.key = key
        self.models = tuple(models)
        self.offers = frozenset(offers)
        self.chance = chance
        self.log: list[Logged] = []
        """Every request, in the order of arrival."""
        self.errors: list[Exception] = []
        """What `answer` raised; closing the server raises the first of them."""
        self.closing = threading.Event()
        self._failing: list[tuple[str, Failing]] = []
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._bodies: Counter[str] = Counter()
        self._connections: set[socket.socket] = set()
        self._http = _Http(("127.0.0.1", 0), type("Bound", (Handler,), {"served": self}))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The base URL, as clients are given it."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @property
    def requests(self) -> list[ChatRequest]:
        """The chat requests that were valid, in the order of arrival."""
        return [logged.chat for logged in self.log if logged.chat is not None]

    def fail_next(self, *failures: str | Failure | Failing) -> None:
        """Let the next chat requests fail, one each: by a name in FAILURES, as said, or by a change of the reply."""
        with self._lock:
            for failure in failures:
                if isinstance(failure, str):
                    self._failing.append((failure, FAILURES[failure]))
                elif callable(failure):
                    self._failing.append((getattr(failure, "__name__", "failing"), failure))
                else:
                    self._failing.append((type(failure).__name__, _always(failure)))

    def close(self) -> None:
        """Stops at once, whatever is under way. Raises what `answer` raised."""
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        with self._lock:
            open_still = list(self._connections)
        for connection in open_still:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # the client was quicker
        if self.errors:
            raise self.errors[0]

    def __enter__(self) -> OpenAIServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self.close()
        except Exception:
            if error is None:
                raise

    def opened(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.add(connection)

    def closed(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.discard(connection)

    def logged(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Logged:
        """A request put on the log."""
        with self._lock:
            entry = Logged(method, path, headers, body, next(self._numbers))
            self.log.append(entry)
        return entry

    def lets_in(self, entry: Logged) -> HttpError | None:
        """401 where the key is not the server's."""
        if self.key is None or entry.headers.get("authorization") == f"Bearer {self.key}":
            return None
        return unauthorized()

    def chat(self, entry: Logged) -> tuple[Outcome, ChatRequest | None]:
        """What is answered to a chat request, and the request where it could be read."""
        try:
            body: Json = json.loads(entry.body)
        except ValueError:
            body = None
        if (wrong := fault(body)) is not None or not isinstance(body, dict):
            return wrong or HttpError(400), None
        with self._lock:
            repeat = self._bodies[digest := hashlib.sha256(entry.body).hexdigest()]
            self._bodies[digest] += 1
        request = ChatRequest(body, entry.headers, entry.number, repeat)
        entry.chat = request
        if request.model not in self.models:
            return no_such_model(request.model), request
        if request.response_format != "text" and request.response_format not in self.offers:
            return unsupported_response_format(request.response_format), request
        if request.tools and "tools" not in self.offers:
            return HttpError(400, "tools are not supported with this model", "invalid_request_error"), request
        return self._failed(entry, request, self._answered(request)), request

    def _answered(self, request: ChatRequest) -> Outcome:
        try:
            said = self.answer(request)
        except (
            Exception
        ) as error:  # a test's own fault: told to the client, and raised where the test closes the server
            self.errors.append(error)
            return HttpError(400, f"the test's answer raised {error!r}", "invalid_request_error")
        if isinstance(said, str):
            said = Reply(said)
        if isinstance(said, Reply):
            return [said] * request.n
        if isinstance(said, Sequence):
            return list(itertools.islice(itertools.cycle(said), request.n))
        return said

    def _failed(self, entry: Logged, request: ChatRequest, outcome: Outcome) -> Outcome:
        with self._lock:
            name, failing = self._failing.pop(0) if self._failing else ("", None)
        if failing is None and self.chance is not None and (name := self.chance.drawn(request)):
            failing = FAILURES[name]
        if failing is None or not isinstance(outcome, list):
            entry.failure = "" if isinstance(outcome, list) else type(outcome).__name__
            return outcome
        entry.failure = name
        failed = failing(outcome[0])
        return [failed, *outcome[1:]] if isinstance(failed, Reply) else failed


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def _always(failure: Failure) -> Failing:
    return lambda reply: failure
