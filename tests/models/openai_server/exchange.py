"""What passes between a client and the test server: a request, and what is answered to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model asks for; `arguments` given as text are sent as they are, whole JSON or not."""

    name: str
    arguments: Mapping[str, object] | str
    id: str = ""
    """The server numbers those that have none."""

    def written(self) -> str:
        """The arguments as they travel: text."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says. Tokens that are not given are counted, four characters to one."""

    content: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    refusal: str | None = None
    finish_reason: str = ""
    """`tool_calls` or `stop` where it is empty; `length` where `max_completion_tokens` cuts the content."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    tells_usage: bool = True


@dataclass(frozen=True, slots=True)
class HttpError:
    """An answer with an error's status; the body is OpenAI's, or `body` where one is given."""

    status: int
    message: str = "The server had an error while processing your request."
    type: str = "server_error"
    code: str | None = None
    param: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Late:
    """Nothing for so many seconds, then the answer. A server that stops does not wait for it."""

    seconds: float
    then: Reply | HttpError


@dataclass(frozen=True, slots=True)
class Dropped:
    """The connection is closed; nothing was answered."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection is closed in the midst of the answer, be it one body or a stream."""

    reply: Reply
    share: float = 0.5
    """Of the body's bytes, or of the stream's events, that are sent."""


@dataclass(frozen=True, slots=True)
class Stalled:
    """Half of the answer, so many seconds of nothing, then the rest."""

    reply: Reply
    seconds: float


@dataclass(frozen=True, slots=True)
class Dripping:
    """A blank, a comment of a stream, every so many seconds, and never an end: each read has something to read."""

    seconds: float


@dataclass(frozen=True, slots=True)
class BrokenStream:
    """Half of the events, then an event that tells an error. Without streaming: an error 500."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes in place of the answer; `make` gets the body, or one event of it, that should have been sent."""

    make: Callable[[bytes], bytes]
    reply: Reply
    content_type: str = "application/json"


Failure: TypeAlias = HttpError | Late | Dropped | Cut | Stalled | Dripping | BrokenStream | Raw
Outcome: TypeAlias = list[Reply] | Failure
"""What goes over the wire: the choices, or what happens in their place."""
Said: TypeAlias = Reply | Failure | str | Sequence[Reply]
"""Several replies are the choices of a request with `n`; fewer than that are repeated."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """POST /v1/chat/completions: the body as it came, and what is often asked of it."""

    body: Mapping[str, Json]
    headers: Mapping[str, str]
    """Names in small letters."""
    number: int
    """The first request of a server is 1."""
    repeat: int
    """How many requests with the same body came before."""

    @property
    def model(self) -> str:
        return str(self.body["model"])

    @property
    def messages(self) -> list[dict[str, Json]]:
        return [message for message in _listed(self.body["messages"]) if isinstance(message, dict)]

    @property
    def text(self) -> str:
        """The texts of all messages, a blank line between two."""
        return "\n\n".join(text_of(message) for message in self.messages)

    @property
    def streams(self) -> bool:
        return self.body.get("stream") is True

    @property
    def n(self) -> int:
        wanted = self.body.get("n")
        return wanted if isinstance(wanted, int) else 1

    @property
    def tools(self) -> list[str]:
        """Names of the tools that may be called."""
        functions = [tool.get("function") for tool in _listed(self.body.get("tools")) if isinstance(tool, dict)]
        return [str(function["name"]) for function in functions if isinstance(function, dict)]

    @property
    def response_format(self) -> str:
        """`text`, `json_object` or `json_schema`."""
        wanted = self.body.get("response_format")
        return str(wanted["type"]) if isinstance(wanted, dict) else "text"

    @property
    def schema(self) -> Json:
        """The JSON schema that the content must meet, if one was sent."""
        wanted = self.body.get("response_format")
        named = wanted.get("json_schema") if isinstance(wanted, dict) else None
        return named.get("schema") if isinstance(named, dict) else None

    @property
    def most_tokens(self) -> int | None:
        wanted = self.body.get("max_completion_tokens", self.body.get("max_tokens"))
        return wanted if isinstance(wanted, int) else None


@dataclass(slots=True)
class Logged:
    """A request as it came over the wire, and how it was answered."""

    method: str
    path: str
    headers: dict[str, str]
    """Names in small letters; the key is in `authorization`."""
    body: bytes
    number: int
    status: int = 0
    """0 while nothing, or nothing whole, was answered."""
    failure: str = ""
    """What was made to fail, by its name or kind; empty where nothing was."""
    chat: ChatRequest | None = field(default=None, repr=False)
    """Where the request was one for a chat completion, and a valid one."""


def text_of(message: Mapping[str, Json]) -> str:
    """The text of a message, whether it came as one string or in parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _listed(written: Json) -> list[Json]:
    return written if isinstance(written, list) else []
