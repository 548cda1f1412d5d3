"""Clients of HTTP for servers that speak OpenAI's protocol: no redirects, and no body without an end."""

from __future__ import annotations

import importlib
import time
import zlib
from collections.abc import AsyncIterator, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from fin_agent.models.errors import ServerFailedError
from fin_agent.models.keys import redacted

if TYPE_CHECKING:
    import httpx

MOST_BYTES = 20_000_000
"""Of a body, after it is unpacked."""
_HEADERS = {"Accept-Encoding": "gzip"}
_GZIP = zlib.MAX_WBITS | 16


def http_clients() -> dict[str, object]:
    """The clients as `ChatOpenAI` takes them; none where the package is not installed.

    The one for event loops keeps no connection open: one that was left by a loop that has ended would be written to and
    then fail, so that a call is paid for and lost.
    """
    try:
        import openai
    except ImportError:
        return {}  # `init_chat_model` says which package is missing
    limits = openai.DEFAULT_CONNECTION_LIMITS
    unkept = type(limits)(max_connections=limits.max_connections, max_keepalive_connections=0)
    asynchronous = openai.DefaultAsyncHttpxClient(
        limits=unkept, follow_redirects=False, headers=_HEADERS, event_hooks={"response": [_abound]}
    )
    return {"http_client": _synchronous(), "http_async_client": asynchronous}


@lru_cache(maxsize=1)
def _synchronous() -> httpx.Client:
    """One for the process, so that connections are used again."""
    import openai

    client: httpx.Client = openai.DefaultHttpxClient(
        follow_redirects=False, headers=_HEADERS, event_hooks={"response": [_bound]}
    )
    return client


def _bound(response: httpx.Response) -> None:
    """Let no more be read of a body than MOST_BYTES, nor for longer than one read may take.

    So a thread whose request nobody waits for any more comes to its end as well.
    """
    stream, body = cast("httpx.SyncByteStream", response.stream), _Body(response)
    left = (response.request.extensions.get("timeout") or {}).get("read")

    def pieces() -> Iterator[bytes]:
        waited = 0.0
        began = time.monotonic()
        for piece in stream:
            waited += time.monotonic() - began
            if left is not None and waited > left:
                raise TimeoutError
            yield body.unpacked(piece)
            began = time.monotonic()

    response.stream = _stream(
        "SyncByteStream", {"__iter__": lambda self: pieces(), "close": lambda self: stream.close()}
    )


async def _abound(response: httpx.Response) -> None:
    """Let no more be read of a body than MOST_BYTES."""
    stream, body = cast("httpx.AsyncByteStream", response.stream), _Body(response)

    async def pieces() -> AsyncIterator[bytes]:
        async for piece in stream:
            yield body.unpacked(piece)

    async def close(self: object) -> None:
        await stream.aclose()

    response.stream = _stream("AsyncByteStream", {"__aiter__": lambda self: pieces(), "aclose": close})


def _stream(kind: str, methods: dict[str, object]) -> httpx.SyncByteStream | httpx.AsyncByteStream:
    """A stream of the package that openai's clients are made with: httpx, or what comes after it."""
    import openai

    package = importlib.import_module(type(openai.DEFAULT_CONNECTION_LIMITS).__module__.partition(".")[0])
    made: httpx.SyncByteStream | httpx.AsyncByteStream = type("Bound", (getattr(package, kind),), methods)()
    return made


class _Body:
    """Undoes the encoding of a body, which would else be undone whole, however large what comes of it."""

    def __init__(self, response: httpx.Response) -> None:
        encoding = response.headers.pop("content-encoding", "identity").strip().lower()
        if encoding not in ("", "identity", "gzip", "x-gzip"):
            raise _unusable(f"is packed in a way that was not asked for ({redacted(encoding)})")
        self._unpacking = zlib.decompressobj(_GZIP) if encoding.endswith("gzip") else None
        self._read = 0

    def unpacked(self, piece: bytes) -> bytes:
        """A piece as it was before it was packed. Raises ServerFailedError where there is no end to it."""
        if self._unpacking is not None:
            try:
                piece = self._unpacking.decompress(piece, MOST_BYTES + 1)
            except zlib.error:
                raise _unusable("is not packed as it says") from None
        self._read += len(piece)
        if self._read > MOST_BYTES:
            raise _unusable(f"is longer than {MOST_BYTES // 1_000_000} MB")
        return piece


def _unusable(what: str) -> ServerFailedError:
    remedy = "See whether a chat model answers at this address"
    return ServerFailedError(f"what the server answered {what}", remedy=remedy)
