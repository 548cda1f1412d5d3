"""Replies as bodies of /v1/chat/completions: one object, or server-sent events."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence

from tests.models.openai_server.exchange import ChatRequest, HttpError, Json, Reply, ToolCall

CREATED = 1_700_000_000
"""Seconds since 1970; the same for all answers, so that runs can be compared."""
CHARACTERS_PER_TOKEN = 4
_PIECES = 6


def whole(request: ChatRequest, replies: Sequence[Reply]) -> bytes:
    """The body of an answer that is not streamed."""
    choices: list[Json] = [
        {"index": index, "message": _message(reply), "logprobs": None, "finish_reason": reply.finish_reason}
        for index, reply in enumerate(_numbered(request, replies))
    ]
    answer: dict[str, Json] = {**_head(request, "chat.completion"), "choices": choices}
    if replies[0].tells_usage:
        answer["usage"] = usage(request, replies)
    return _bytes(answer)


def events(request: ChatRequest, replies: Sequence[Reply]) -> Iterator[bytes]:
    """The events of an answer that is streamed, `[DONE]` last."""
    options = request.body.get("stream_options")
    wanted = isinstance(options, dict) and options.get("include_usage") is True and replies[0].tells_usage
    head = _head(request, "chat.completion.chunk")
    tail: dict[str, Json] = {"usage": None} if wanted else {}
    for index, reply in enumerate(_numbered(request, replies)):
        for delta, finish in _deltas(reply):
            choice: Json = {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}
            yield event({**head, "choices": [choice], **tail})
    if wanted:
        yield event({**head, "choices": [], "usage": usage(request, replies)})
    yield b"data: [DONE]\n\n"


def event(written: Mapping[str, Json]) -> bytes:
    """One server-sent event."""
    return b"data: " + _bytes(written) + b"\n\n"


def error_body(error: HttpError) -> bytes:
    """An error as OpenAI words it."""
    if error.body is not None:
        return error.body
    told: Json = {"message": error.message, "type": error.type, "param": error.param, "code": error.code}
    return _bytes({"error": told})


def usage(request: ChatRequest, replies: Sequence[Reply]) -> dict[str, Json]:
    """Tokens of a request and of all its choices."""
    first = replies[0]
    prompt = first.prompt_tokens if first.prompt_tokens is not None else tokens(json.dumps(request.body["messages"]))
    said = sum(_said(reply) for reply in replies)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": said,
        "total_tokens": prompt + said,
        "prompt_tokens_details": {"cached_tokens": first.cached_tokens, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": first.reasoning_tokens, "audio_tokens": 0},
    }


def tokens(text: str) -> int:
    """About how many tokens a text is; every server counts in its own way."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def _said(reply: Reply) -> int:
    if reply.completion_tokens is not None:
        return reply.completion_tokens
    spoken = [reply.content or "", reply.refusal or "", *(call.name + call.written() for call in reply.tool_calls)]
    return sum(map(tokens, spoken)) + reply.reasoning_tokens


def _numbered(request: ChatRequest, replies: Sequence[Reply]) -> Iterator[Reply]:
    """Replies with every field settled: cut to the tokens allowed, calls with ids, a reason why they end."""
    for index, reply in enumerate(replies):
        content, finish = reply.content, reply.finish_reason
        allowed = request.most_tokens
        if allowed is not None and content is not None and tokens(content) > allowed:
            content, finish = content[: allowed * CHARACTERS_PER_TOKEN], finish or "length"
        calls = tuple(
            dataclasses.replace(call, id=call.id or f"call_{request.number:04}_{index}_{place}")
            for place, call in enumerate(reply.tool_calls)
        )
        finish = finish or ("tool_calls" if calls else "stop")
        yield dataclasses.replace(reply, content=content, tool_calls=calls, finish_reason=finish)


def _message(reply: Reply) -> dict[str, Json]:
    message: dict[str, Json] = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
    if reply.tool_calls:
        message["tool_calls"] = [_call(call) for call in reply.tool_calls]
    return {**message, "annotations": []}


def _call(call: ToolCall) -> dict[str, Json]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.written()}}


def _deltas(reply: Reply) -> Iterator[tuple[dict[str, Json], str | None]]:
    yield {"role": "assistant", "content": None if reply.content is None else "", "refusal": None}, None
    for name, text in (("content", reply.content), ("refusal", reply.refusal)):
        for piece in _pieces(text or ""):
            yield {name: piece}, None
    for index, call in enumerate(reply.tool_calls):
        opened = _call(dataclasses.replace(call, arguments=""))
        yield {"tool_calls": [{"index": index, **opened}]}, None
        for piece in _pieces(call.written()):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}, None
    yield {}, reply.finish_reason


def _pieces(text: str) -> Iterator[str]:
    size = max(1, -(-len(text) // _PIECES))
    return (text[start : start + size] for start in range(0, len(text), size))


def _head(request: ChatRequest, kind: str) -> dict[str, Json]:
    return {
        "id": f"chatcmpl-{request.number:06}",
        "object": kind,
        "created": CREATED,
        "model": request.model,
        "service_tier": "default",
        "system_fingerprint": "fp_test",
    }


def _bytes(written: Mapping[str, Json]) -> bytes:
    # A lone surrogate cannot travel as UTF-8; as an escape it can.
    try:
        return json.dumps(written, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(written).encode()
