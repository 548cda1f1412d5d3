"""Ways in which a model's server fails, by name: of the wire, of the protocol, and of what the model says."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import TypeAlias

from tests.models.openai_server.exchange import (
    BrokenStream,
    ChatRequest,
    Cut,
    Dripping,
    Dropped,
    Failure,
    HttpError,
    Json,
    Late,
    Raw,
    Reply,
    Stalled,
)

Failing: TypeAlias = Callable[[Reply], Reply | Failure]
"""What becomes of a reply that would have been given."""

PATIENCE = 30.0
"""Seconds that a late server lets its client wait: longer than any test's timeout."""
HUGE = 4_000_000
"""Characters of a huge output."""


@dataclass(frozen=True, slots=True)
class Chance:
    """Lets requests fail at random. What becomes of a request depends on it, on how often it came, and on the seed:
    not on the order in which concurrent requests arrive."""

    probability: float
    seed: int = 0
    among: tuple[str, ...] = ()
    """Names in FAILURES; all that need no waiting where it is empty."""

    def drawn(self, request: ChatRequest) -> str:
        """The name of the failure; empty where the request is answered."""
        body = json.dumps(request.body, sort_keys=True)
        source = f"{self.seed} {request.repeat} {hashlib.sha256(body.encode()).hexdigest()}"
        draw = random.Random(source)
        if draw.random() >= self.probability:
            return ""
        return draw.choice(self.among or tuple(name for name in sorted(FAILURES) if name not in SLOW))


def rate_limited(after: float | datetime | None = None) -> HttpError:
    """429, to be tried again after so many seconds, or not before a date; or nothing is said of it."""
    told = format_datetime(after.astimezone(UTC), usegmt=True) if isinstance(after, datetime) else str(after)
    return HttpError(
        429,
        "Rate limit reached for this model on tokens per min (TPM): Limit 30000, Used 29986, Requested 812.",
        "tokens",
        "rate_limit_exceeded",
        headers=() if after is None else (("Retry-After", told),),
    )


def unsupported_response_format(kind: str = "json_schema") -> HttpError:
    """400 of a model that does not do structured output."""
    return HttpError(
        400,
        f"Invalid parameter: 'response_format' of type '{kind}' is not supported with this model.",
        "invalid_request_error",
        param="response_format",
    )


def unauthorized() -> HttpError:
    """401. The key is told in part only, as OpenAI does."""
    return HttpError(
        401,
        "Incorrect API key provided: sk-wr***ong. You can find your API key in your account's settings.",
        "invalid_request_error",
        "invalid_api_key",
    )


def no_such_model(name: str) -> HttpError:
    """404 of a model that is not there."""
    return HttpError(
        404,
        f"The model `{name}` does not exist or you do not have access to it.",
        "invalid_request_error",
        "model_not_found",
    )


def _gateway(status: int, title: str) -> HttpError:
    """Proxies in front of a model's server answer in HTML."""
    page = f"<html><head><title>{status} {title}</title></head><body><h1>{status} {title}</h1></body></html>\r\n"
    return HttpError(status, body=page.encode())


def _content(change: Callable[[str], str]) -> Failing:
    """A change of what the model says, be it the content or the arguments of its calls."""

    def failing(reply: Reply) -> Reply:
        if reply.tool_calls:
            first, *others = reply.tool_calls
            return replace(reply, tool_calls=(replace(first, arguments=change(first.written())), *others))
        return replace(reply, content=change(reply.content or ""), refusal=None)

    return failing


def _cut_short(reply: Reply) -> Reply:
    cut = _content(lambda text: text[: max(1, len(text) * 2 // 3)] if text else "{")(reply)
    return replace(cut, finish_reason="length") if isinstance(cut, Reply) else reply


def _wrong_types(text: str) -> str:
    """Every leaf of a JSON value as another type; text that is no JSON becomes a number."""
    try:
        return json.dumps(_turned(json.loads(text)))
    except ValueError:
        return "17"


def _turned(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _turned(each) for name, each in value.items()}
    if isinstance(value, list):
        return {str(place): _turned(each) for place, each in enumerate(value)}
    return [value, 17] if isinstance(value, str) else "seventeen"


def _twice(text: str) -> str:
    """A JSON object whose names stand twice, with another value first."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict) or not value:
        return '{"a": 1, "a": 2}'
    before = ", ".join(f"{json.dumps(name)}: {json.dumps(_turned(each))}" for name, each in value.items())
    return f"{{{before}, {json.dumps(value)[1:]}"


def _other_shape(make: Callable[[dict[str, Json]], Json]) -> Callable[[bytes], bytes]:
    """The body as JSON of another shape; the events of a stream likewise, one by one."""

    def changed(written: bytes) -> bytes:
        prefix = b"data: " if written.startswith(b"data: ") else b""
        payload = written.removeprefix(b"data: ").strip()
        if payload == b"[DONE]":
            return written
        return prefix + json.dumps(make(json.loads(payload))).encode() + (b"\n\n" if prefix else b"")

    return changed


def _spoiled_letters(written: bytes) -> bytes:
    """Latin-1 letters and half of a character of three bytes inside a string of the JSON."""
    return written.replace(b'"content": "', b'"content": "caf\xe9 \xe2\x82', 1)


FAILURES: dict[str, Failing] = {
    "429-seconds": lambda reply: rate_limited(1),
    "429-date": lambda reply: rate_limited(datetime(2001, 1, 1, tzinfo=UTC)),
    "429-silent": lambda reply: rate_limited(),
    "429-quota": lambda reply: HttpError(
        429, "You exceeded your current quota, please check your plan.", "insufficient_quota", "insufficient_quota"
    ),
    "500": lambda reply: HttpError(500),
    "502": lambda reply: _gateway(502, "Bad Gateway"),
    "503": lambda reply: _gateway(503, "Service Temporarily Unavailable"),
    "400-response-format": lambda reply: unsupported_response_format(),
    "400-context-length": lambda reply: HttpError(
        400,
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
        "invalid_request_error",
        "context_length_exceeded",
        "messages",
    ),
    "401": lambda reply: unauthorized(),
    "404": lambda reply: no_such_model("the-model"),
    "late": lambda reply: Late(PATIENCE, reply),
    "stalled": lambda reply: Stalled(reply, PATIENCE),
    "drip": lambda reply: Dripping(0.05),
    "dropped": lambda reply: Dropped(),
    "cut": lambda reply: Cut(reply),
    "broken-stream": lambda reply: BrokenStream(reply),
    "no-json": lambda reply: Raw(lambda body: b"<p>upstream said hello</p>", reply),
    "half-json": lambda reply: Raw(lambda body: body[: len(body) // 2], reply),
    "empty-body": lambda reply: Raw(lambda body: b"", reply),
    "no-choices": lambda reply: Raw(_other_shape(lambda body: {**body, "choices": []}), reply),
    "choices-of-another-type": lambda reply: Raw(_other_shape(lambda body: {**body, "choices": "none"}), reply),
    "null-choices": lambda reply: Raw(_other_shape(lambda body: {**body, "choices": None}), reply),
    "body-is-a-list": lambda reply: Raw(_other_shape(lambda body: [body]), reply),
    "not-utf-8": lambda reply: Raw(_spoiled_letters, replace(reply, content=reply.content or "")),
    "truncated": _cut_short,
    "filtered": lambda reply: Reply("", finish_reason="content_filter"),
    "refused": lambda reply: Reply(None, refusal="I'm sorry, but I can't assist with that request."),
    "empty": lambda reply: Reply(""),
    "null-content": lambda reply: Reply(None),
    "blank": lambda reply: Reply(" \n\n\t " * 40),
    "rubbish": lambda reply: Reply("Colourless green ideas sleep furiously; see the annex, or do not."),
    "wrong-types": _content(_wrong_types),
    "a-list": _content(lambda text: f"[{text or 'null'}]"),
    "fenced": _content(lambda text: f"```json\n{text}\n```"),
    "in-prose": _content(lambda text: f"Sure! Here is what you asked for:\n\n{text}\n\nLet me know if {{more}} helps."),
    "twice-the-names": _content(_twice),
    "huge": _content(lambda text: text + " and so on" * (HUGE // 10)),
    "deep": _content(lambda text: "[" * 100_000),
    "odd-letters": _content(lambda text: "\ud800\x00\x1b[2J" + text),
    "no-usage": lambda reply: replace(reply, tells_usage=False),
}
"""Every failure by its name. Those in SLOW keep a client waiting for PATIENCE seconds; those in SOUND leave a reply
that a careful client can use."""
SLOW = frozenset({"drip", "late", "stalled"})
ENDLESS = frozenset({"drip"})
"""Of SLOW, those that a client sees no pause in: a limit of seconds for each read does not help."""
SOUND = frozenset({"fenced", "in-prose", "no-usage"})


def named(names: Sequence[str]) -> list[Failing]:
    """The failures so named. Raises KeyError."""
    return [FAILURES[name] for name in names]
