"""A small Elasticsearch over HTTP for tests: what the index asks of one, and faults when a test wants them."""

from __future__ import annotations

import gzip
import json
import re
import ssl
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.index.elastic_server import administration, reads, writes
from tests.index.elastic_server.asked import Answer, Asked
from tests.index.elastic_server.conformity import Specification
from tests.index.elastic_server.node import Node
from tests.index.elastic_server.refusal import RefusalError

Handled = Callable[[Asked, Node], Answer]


@dataclass
class Fault:
    """What goes wrong, and how often: an answer given in place of the right one, or none at all."""

    path: str
    """A regular expression that `METHOD /path` has to match."""
    answer: RefusalError | None
    """None: the connection is cut after the work was done, so that the client cannot know."""
    left: int = 1
    done_all_the_same: bool = False


class ElasticServer:
    """Serves on a port of its own from `with` to its end.

    >>> with ElasticServer() as server:
    ...     server.url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(
        self,
        specification: Specification | None = None,
        *,
        api_key: str | None = None,
        password: tuple[str, str] | None = None,
        certificate: Path | None = None,
    ) -> None:
        self.node = Node()
        self.specification = specification
        self.violations: list[str] = []
        self.requests: list[str] = []
        """`METHOD /path` of every request, in order."""
        self.faults: list[Fault] = []
        self.items_refused: list[tuple[str, RefusalError, int]] = []
        """(index/id as a regular expression, why, how often) for items of bulks."""
        self.authorization = None if api_key is None else f"ApiKey {api_key}"
        if password is not None:
            self.authorization = f"Basic {b64encode(':'.join(password).encode()).decode()}"
        self._guard = threading.RLock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._http.daemon_threads = True
        self._scheme = "http"
        if certificate is not None:
            self._scheme = "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Where it is."""
        return f"{self._scheme}://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> ElasticServer:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @contextmanager
    def failing(self, path: str, answer: RefusalError | None, times: int = 1, *, done: bool = False) -> Iterator[Fault]:
        """Requests that match `path` go wrong, `times` times."""
        fault = Fault(path, answer, times, done)
        self.faults.append(fault)
        try:
            yield fault
        finally:
            self.faults.remove(fault)

    def answer(self, asked: Asked) -> Answer | None:
        """The answer to a request; None where the connection is to be cut."""
        with self._guard:
            line = f"{asked.method} /{'/'.join(asked.path)}"
            self.requests.append(line)
            if self.specification is not None:
                self.violations += self.specification.violations(asked)
            fault = next((each for each in self.faults if each.left > 0 and re.search(each.path, line)), None)
            if fault is not None:
                fault.left -= 1
                if fault.answer is None or fault.done_all_the_same:
                    self._handled(asked)
                return None if fault.answer is None else Answer(fault.answer.body, fault.answer.status)
            return self._handled(asked)

    def _handled(self, asked: Asked) -> Answer:
        try:
            if self.authorization is not None and asked.headers.get("authorization") != self.authorization:
                raise RefusalError(401, "security_exception", "unable to authenticate with provided credentials")
            if asked.path == ("_bulk",):
                return writes.bulk(asked, self.node, self._refused_item)
            return _route(asked)(asked, self.node)
        except RefusalError as error:
            return Answer(error.body, error.status)

    def _refused_item(self, index: str, id: str) -> RefusalError | None:
        for at, (pattern, refusal, left) in enumerate(self.items_refused):
            if left > 0 and re.search(pattern, f"{index}/{id}"):
                self.items_refused[at] = (pattern, refusal, left - 1)
                return refusal
        return None


_ROUTES: tuple[tuple[str, str, Handled], ...] = (
    ("GET", "", administration.root),
    ("HEAD", "_alias/*", administration.alias_exists),
    ("POST", "_search/scroll", reads.scroll),
    ("DELETE", "_search/scroll", reads.clear_scroll),
    ("PUT", "*/_doc/*", writes.put_document),
    ("PUT", "*/_create/*", writes.put_document),
    ("GET", "*/_doc/*", reads.get_document),
    ("DELETE", "*/_doc/*", writes.delete_document),
    ("POST", "*/_search", reads.search),
    ("POST", "*/_refresh", administration.refresh),
    ("POST", "*/_delete_by_query", writes.delete_by_query),
    ("GET", "*/_mapping", administration.get_mapping),
    ("PUT", "*", administration.create_index),
    ("DELETE", "*", administration.delete_index),
)


def _route(asked: Asked) -> Handled:
    for method, pattern, handled in _ROUTES:
        parts = tuple(pattern.split("/")) if pattern else ()
        if method == asked.method and len(parts) == len(asked.path) and _fits(parts, asked.path):
            return handled
    path = "/".join(asked.path)
    raise RefusalError(
        400, "illegal_argument_exception", f"no handler found for uri [/{path}] and method [{asked.method}]"
    )


def _fits(parts: tuple[str, ...], path: tuple[str, ...]) -> bool:
    return all(part in ("*", given) for part, given in zip(parts, path, strict=True))


def _handler_for(server: ElasticServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            parts = urlsplit(self.path)
            asked = Asked(
                self.command,
                tuple(unquote(part) for part in parts.path.split("/") if part),
                dict(parse_qsl(parts.query, keep_blank_values=True)),
                {name.lower(): value for name, value in self.headers.items()},
                body,
            )
            answer = server.answer(asked)
            if answer is None:
                self.close_connection = True
                self.connection.close()
                return
            self._send(answer)

        def _send(self, answer: Answer) -> None:
            written = (
                b"" if answer.body is None else json.dumps(answer.body, ensure_ascii=False).encode(errors="replace")
            )
            self.send_response(answer.status)
            self.send_header("X-Elastic-Product", "Elasticsearch")
            self.send_header("Content-Type", "application/vnd.elasticsearch+json;compatible-with=9")
            self.send_header("Content-Length", str(len(written)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(written)
            self.wfile.flush()

        def log_message(self, format: str, *arguments: Any) -> None:
            """Nothing is printed."""

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _answer  # noqa: N815

    return Handler
