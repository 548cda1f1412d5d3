"""The test server over plain HTTP: what it answers, what it refuses, and how it fails."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from tests.models.openai_server import (
    ENDLESS,
    FAILURES,
    KEY,
    SLOW,
    Chance,
    ChatRequest,
    Dropped,
    HttpError,
    Late,
    OpenAIServer,
    Reply,
    ToolCall,
    rate_limited,
)

HELLO = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Say hello as json"}]}
TOOLS = [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}}}]
REPLY = '{"greeting": "hello", "count": 2}'


def sent(server: OpenAIServer, body: object = HELLO, *, key: str = KEY, timeout: float = 20) -> bytes:
    written = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{server.url}/chat/completions", written, headers)
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        return bytes(answer.read())


def told(server: OpenAIServer, **more: object) -> Any:
    return json.loads(sent(server, {**HELLO, **more}))


def streamed(server: OpenAIServer, **more: object) -> list[Any]:
    lines = sent(server, {**HELLO, "stream": True, **more}).decode().split("\n\n")
    assert lines[-2:] == ["data: [DONE]", ""]
    return [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]


def refused(server: OpenAIServer, body: object, **more: str) -> tuple[int, Any]:
    with pytest.raises(urllib.error.HTTPError) as failure:
        sent(server, body, **more)
    with failure.value as answer:
        return answer.code, json.loads(answer.read())["error"]


def test_a_completion_has_every_field_of_the_protocol(openai_server: OpenAIServer) -> None:
    openai_server.answer = lambda request: f"{request.model} heard {request.text!r}"
    body = told(openai_server)
    assert body["object"] == "chat.completion" and body["id"].startswith("chatcmpl-")
    assert body["model"] == "gpt-4o-mini" and isinstance(body["created"], int)
    (choice,) = body["choices"]
    assert choice["message"] == {
        "role": "assistant", "content": "gpt-4o-mini heard 'Say hello as json'", "refusal": None, "annotations": [],
    }  # fmt: skip
    assert choice["finish_reason"] == "stop" and choice["index"] == 0
    usage = body["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["prompt_tokens"] > 0 < usage["completion_tokens"]


def test_answers_go_by_the_messages(openai_server: OpenAIServer) -> None:
    def answer(request: ChatRequest) -> str:
        return "a ranking" if "rank" in request.text else "a card"

    openai_server.answer = answer
    said = [
        told(openai_server, messages=[{"role": "user", "content": [{"type": "text", "text": text}]}])
        for text in ("please rank", "describe")
    ]
    assert [body["choices"][0]["message"]["content"] for body in said] == ["a ranking", "a card"]


def test_a_stream_says_the_same_in_pieces_and_usage_last(openai_server: OpenAIServer) -> None:
    openai_server.answer = lambda request: Reply(REPLY, cached_tokens=3)
    events = streamed(openai_server, stream_options={"include_usage": True})
    assert events[0]["choices"][0]["delta"]["role"] == "assistant"
    pieces = [event["choices"][0]["delta"].get("content") or "" for event in events if event["choices"]]
    assert "".join(pieces) == REPLY and sum(map(bool, pieces)) > 2
    assert [event["choices"][0]["finish_reason"] for event in events[:-1]] == [None] * (len(events) - 2) + ["stop"]
    assert events[-1]["choices"] == [] and all(event["usage"] is None for event in events[:-1])
    assert events[-1]["usage"] == told(openai_server)["usage"]
    assert events[-1]["usage"]["prompt_tokens_details"]["cached_tokens"] == 3
    assert not any("usage" in event for event in streamed(openai_server))


def test_tools_are_called_and_their_results_come_back(openai_server: OpenAIServer) -> None:
    def answer(request: ChatRequest) -> Reply:
        if request.messages[-1]["role"] == "tool":
            return Reply(f"it says {request.messages[-1]['content']}")
        assert request.tools == ["look_up"]
        return Reply(tool_calls=(ToolCall("look_up", {"page": 9}), ToolCall("look_up", '{"page": ', "mine")))

    openai_server.answer = answer
    (choice,) = told(openai_server, tools=TOOLS)["choices"]
    calls = choice["message"]["tool_calls"]
    assert choice["finish_reason"] == "tool_calls" and choice["message"]["content"] is None
    assert [call["function"]["arguments"] for call in calls] == ['{"page": 9}', '{"page": ']
    assert calls[0]["id"] and calls[1]["id"] == "mine"
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "42"} for call in calls]
    messages = [*HELLO["messages"], choice["message"], *results]  # type: ignore[misc]
    assert told(openai_server, tools=TOOLS, messages=messages)["choices"][0]["message"]["content"] == "it says 42"
    events = streamed(openai_server, tools=TOOLS)
    deltas = [delta for event in events for delta in event["choices"][0]["delta"].get("tool_calls", [])]
    assert "".join(delta["function"]["arguments"] for delta in deltas if delta["index"] == 0) == '{"page": 9}'
    assert [delta["function"]["name"] for delta in deltas if "id" in delta] == ["look_up", "look_up"]
    code, error = refused(openai_server, {**HELLO, "messages": messages[:3]})
    assert code == 400 and "did not have response messages: mine" in error["message"]


def test_choices_refusals_and_lengths(openai_server: OpenAIServer) -> None:
    openai_server.answer = lambda request: [Reply("one"), Reply(None, refusal="No.")]
    choices = told(openai_server, n=3)["choices"]
    assert [choice["message"]["content"] for choice in choices] == ["one", None, "one"]
    assert choices[1]["message"]["refusal"] == "No." and [choice["index"] for choice in choices] == [0, 1, 2]
    assert {event["choices"][0]["index"] for event in streamed(openai_server, n=2)} == {0, 1}
    openai_server.answer = lambda request: "a word and another"
    (cut,) = told(openai_server, max_completion_tokens=2)["choices"]
    assert cut["message"]["content"] == "a word a" and cut["finish_reason"] == "length"
    openai_server.answer = lambda request: Reply("", finish_reason="content_filter")
    assert told(openai_server)["choices"][0]["finish_reason"] == "content_filter"


def test_models_are_listed(openai_server: OpenAIServer) -> None:
    def got(path: str) -> Any:
        request = urllib.request.Request(openai_server.url + path, headers={"Authorization": f"Bearer {KEY}"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)

    assert [model["id"] for model in got("/models")["data"]] == ["gpt-4o", "gpt-4o-mini"]
    assert got("/models/gpt-4o")["object"] == "model"
    for path, said in (("/models/gpt-9", "does not exist"), ("/embeddings", "Unknown request URL")):
        with pytest.raises(urllib.error.HTTPError) as failure:
            got(path)
        with failure.value as answer:
            assert answer.code == 404 and said in json.load(answer)["error"]["message"]


STRICT = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


def formatted(schema: object, **more: object) -> dict[str, object]:
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema, **more}}}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"temprature": 1}, "Unrecognized request argument supplied: temprature"),
        ({"messages": []}, "Missing required parameter: 'messages'"),
        ({"messages": [{"role": "boss", "content": "x"}]}, "Invalid value: 'boss'"),
        ({"messages": [{"role": "user", "content": None}]}, "Invalid type for 'messages.[0].content'"),
        ({"messages": [{"role": "tool", "content": "x", "tool_call_id": "1"}]}, "must be a response to"),
        ({"temperature": 3}, "Invalid 'temperature'"),
        ({"max_tokens": 5, "max_completion_tokens": 5}, "at the same time"),
        ({"max_completion_tokens": 0}, "Expected a value >= 1"),
        ({"tools": []}, "Invalid 'tools': empty array"),
        ({"tool_choice": "auto"}, "only allowed when 'tools' are specified"),
        ({"stream_options": {"include_usage": True}}, "only allowed when 'stream' is enabled"),
        ({"messages": [{"role": "user", "content": "x"}], "response_format": {"type": "json_object"}}, "word 'json'"),
        ({"response_format": {"type": "xml"}}, "Invalid value for 'response_format.type'"),
        (formatted({**STRICT, "additionalProperties": True}, strict=True), "'additionalProperties' is required"),
        (formatted({**STRICT, "required": []}, strict=True), "including every key"),
        (formatted({**STRICT, "properties": {"a": {"default": 1}}}, strict=True), "'default' is not permitted"),
        (formatted({"anyOf": [STRICT]}, strict=True), "must be a JSON Schema of 'type"),
    ],
)
def test_what_openai_would_not_take_is_refused(
    wrong: dict[str, object], said: str, openai_server: OpenAIServer
) -> None:
    code, error = refused(openai_server, {**HELLO, **wrong})
    assert code == 400 and said in error["message"] and error["type"] == "invalid_request_error"
    assert openai_server.requests == []


def test_a_property_may_bear_the_name_of_a_keyword(openai_server: OpenAIServer) -> None:
    named = {**STRICT, "properties": {"default": {"type": "string"}}, "required": ["default"]}
    assert told(openai_server, **formatted(named, strict=True))["choices"]
    assert openai_server.requests[0].schema == named
    loose = {"type": "object", "properties": {"a": {"default": 1}}}
    assert told(openai_server, **formatted(loose))["choices"]


def test_the_key_is_asked_for_and_what_came_is_logged(serve: Callable[..., OpenAIServer]) -> None:
    server = serve(lambda request: "yes")
    code, error = refused(server, HELLO, key="sk-wrong")
    assert (code, error["code"]) == (401, "invalid_api_key")
    sent(server)
    assert [logged.status for logged in server.log] == [401, 200]
    assert [logged.headers["authorization"] for logged in server.log] == ["Bearer sk-wrong", f"Bearer {KEY}"]
    assert json.loads(server.log[1].body) == HELLO and server.log[1].path == "/v1/chat/completions"
    assert sent(serve(key=None), key="whatever")


def test_what_a_server_does_not_offer_is_a_400(serve: Callable[..., OpenAIServer]) -> None:
    server = serve(offers=["json_object"], models=["llama"])
    assert told(server, model="llama", response_format={"type": "json_object"})["choices"]
    code, error = refused(server, {**HELLO, "model": "llama", **formatted(STRICT)})
    assert code == 400 and "json_schema' is not supported with this model" in error["message"]
    code, error = refused(server, {**HELLO, "model": "llama", "tools": TOOLS})
    assert code == 400 and "tools are not supported" in error["message"]
    code, error = refused(server, HELLO)
    assert (code, error["code"]) == (404, "model_not_found")


@pytest.mark.parametrize(
    ("name", "code", "header"),
    [
        ("429-seconds", 429, "1"), ("429-date", 429, "Mon, 01 Jan 2001 00:00:00 GMT"), ("429-silent", 429, None),
        ("429-quota", 429, None), ("500", 500, None), ("502", 502, None), ("503", 503, None), ("401", 401, None),
        ("404", 404, None), ("400-response-format", 400, None), ("400-context-length", 400, None),
    ],
)  # fmt: skip
def test_errors_come_once_with_their_status(
    name: str, code: int, header: str | None, openai_server: OpenAIServer
) -> None:
    openai_server.fail_next(name)
    with pytest.raises(urllib.error.HTTPError) as failure:
        sent(openai_server)
    with failure.value as answer:
        body = answer.read()
        assert answer.code == code and answer.headers["Retry-After"] == header
        if header and "GMT" in header:
            assert parsedate_to_datetime(header).year == 2001
    assert body.startswith(b"<html>") if code in (502, 503) else json.loads(body)["error"]["message"]
    assert sent(openai_server)
    assert [(logged.status, logged.failure) for logged in openai_server.log] == [(code, name), (200, "")]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", ["dropped", "cut"])
def test_connections_break(name: str, stream: bool, openai_server: OpenAIServer) -> None:
    openai_server.answer = lambda request: REPLY
    openai_server.fail_next(name)
    with pytest.raises((ConnectionError, http.client.HTTPException, urllib.error.URLError)) as failure:
        sent(openai_server, {**HELLO, "stream": stream})
    if name == "cut":
        assert isinstance(failure.value, http.client.IncompleteRead) and failure.value.partial
    assert openai_server.log[0].status == 0
    assert sent(openai_server)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", sorted(SLOW - ENDLESS))
def test_slow_answers_outlast_a_clients_patience_and_do_not_hold_up_the_end(
    name: str, stream: bool, serve: Callable[..., OpenAIServer]
) -> None:
    server = serve(lambda request: REPLY)
    server.fail_next(name)
    with pytest.raises(TimeoutError):
        sent(server, {**HELLO, "stream": stream}, timeout=0.5)
    assert not any(logged.status for logged in server.log)


def test_late_answers_come(openai_server: OpenAIServer) -> None:
    openai_server.fail_next(Late(0.05, Reply("at last")), Late(0.05, rate_limited(2.5)))
    assert told(openai_server)["choices"][0]["message"]["content"] == "at last"
    code, error = refused(openai_server, HELLO)
    assert (code, error["code"]) == (429, "rate_limit_exceeded")


def test_an_error_in_the_midst_of_a_stream(openai_server: OpenAIServer) -> None:
    openai_server.answer = lambda request: REPLY
    openai_server.fail_next("broken-stream")
    *before, last, _ = sent(openai_server, {**HELLO, "stream": True}).split(b"\n\n")
    assert len(before) > 1 and b'"error"' in last and b"overloaded" in last


def test_bodies_that_are_none(openai_server: OpenAIServer) -> None:
    openai_server.answer = lambda request: REPLY

    def failing(name: str, **more: object) -> bytes:
        openai_server.fail_next(name)
        return sent(openai_server, {**HELLO, **more})

    for name in ("no-json", "half-json", "empty-body"):
        with pytest.raises(json.JSONDecodeError):
            json.loads(failing(name))
    assert json.loads(failing("no-choices"))["choices"] == []
    assert json.loads(failing("null-choices"))["choices"] is None
    assert isinstance(json.loads(failing("body-is-a-list")), list)
    assert isinstance(json.loads(failing("choices-of-another-type"))["choices"], str)
    for stream in (False, True):
        with pytest.raises(UnicodeDecodeError):
            failing("not-utf-8", stream=stream).decode()


def test_what_is_said_fails(openai_server: OpenAIServer) -> None:
    openai_server.answer = lambda request: REPLY

    def failing(name: str) -> Any:
        openai_server.fail_next(name)
        return told(openai_server)["choices"][0]

    truncated = failing("truncated")
    assert truncated["finish_reason"] == "length" and REPLY.startswith(truncated["message"]["content"])
    assert failing("filtered")["finish_reason"] == "content_filter"
    refusal = failing("refused")["message"]
    assert refusal["content"] is None and refusal["refusal"].startswith("I'm sorry")
    content = {name: failing(name)["message"]["content"] for name in FAILURES if _keeps_the_protocol(name)}
    assert content["empty"] == "" and content["null-content"] is None and not content["blank"].strip()
    assert json.loads(content["wrong-types"]) == {"greeting": ["hello", 17], "count": "seventeen"}
    assert json.loads(content["a-list"]) == [json.loads(REPLY)]
    assert content["fenced"] == f"```json\n{REPLY}\n```" and REPLY in content["in-prose"]
    assert json.loads(content["twice-the-names"]) == json.loads(REPLY) != content["twice-the-names"]
    assert content["twice-the-names"].count('"greeting"') == 2
    assert len(content["huge"]) > 3_000_000 and content["deep"].startswith("[[[[")
    assert "\x00" in content["odd-letters"] and "\ud800" in content["odd-letters"]
    openai_server.fail_next("no-usage")
    assert "usage" not in told(openai_server)


def test_calls_are_spoiled_in_their_arguments(openai_server: OpenAIServer) -> None:
    openai_server.answer = lambda request: Reply(tool_calls=(ToolCall("look_up", {"page": 9}),))
    openai_server.fail_next("wrong-types")
    (call,) = told(openai_server, tools=TOOLS)["choices"][0]["message"]["tool_calls"]
    assert call["function"] == {"name": "look_up", "arguments": '{"page": "seventeen"}'}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", sorted(set(FAILURES) - SLOW))
def test_every_failure_can_be_had_streamed_or_not(name: str, stream: bool, openai_server: OpenAIServer) -> None:
    openai_server.answer = lambda request: REPLY
    openai_server.fail_next(name)
    try:
        sent(openai_server, {**HELLO, "stream": stream})
    except (OSError, http.client.HTTPException):
        assert _keeps_the_protocol(name) is False
    assert openai_server.log[0].failure == name
    assert sent(openai_server)
    assert openai_server.errors == []


def test_chance_goes_by_the_request_not_by_the_order(serve: Callable[..., OpenAIServer]) -> None:
    def failures(seed: int, order: list[int]) -> dict[int, str]:
        server = serve(lambda request: REPLY, chance=Chance(0.5, seed, ("500", "empty")))
        for number in order:
            try:
                sent(server, {**HELLO, "seed": number})
            except urllib.error.HTTPError as failure:
                failure.close()
        return {int(json.loads(logged.body)["seed"]): logged.failure for logged in server.log}

    drawn = failures(1, list(range(40)))
    assert drawn == failures(1, list(range(39, -1, -1))) != failures(2, list(range(40)))
    counts = [list(drawn.values()).count(name) for name in ("", "500", "empty")]
    assert counts[0] in range(10, 31) and min(counts[1:]) > 2


def test_a_repeated_request_is_drawn_anew(serve: Callable[..., OpenAIServer]) -> None:
    server = serve(lambda request: REPLY, chance=Chance(0.5, 7, ("empty",)))
    for _ in range(20):
        sent(server)
    assert {logged.failure for logged in server.log} == {"", "empty"}
    assert [request.repeat for request in server.requests] == list(range(20))


def test_a_test_whose_answer_raises_hears_of_it() -> None:
    def answer(request: ChatRequest) -> str:
        raise KeyError("no such role")

    with pytest.raises(KeyError, match="no such role"), OpenAIServer(answer) as server:
        code, error = refused(server, HELLO)
        assert code == 400 and "the test's answer raised KeyError('no such role')" in error["message"]


def test_answers_may_be_failures_themselves(openai_server: OpenAIServer) -> None:
    openai_server.answer = lambda request: HttpError(500, "out of order") if request.number == 1 else Dropped()
    assert refused(openai_server, HELLO)[0] == 500
    with pytest.raises((ConnectionError, http.client.HTTPException, urllib.error.URLError)):
        sent(openai_server)
    assert [logged.failure for logged in openai_server.log] == ["HttpError", "Dropped"]


def test_a_closed_server_is_gone() -> None:
    with OpenAIServer() as server:
        sent(server)
    with pytest.raises(urllib.error.URLError):
        sent(server)


def _keeps_the_protocol(name: str) -> bool:
    """Whether the answer is one that a server in order could have sent."""
    from tests.models.openai_server.exchange import Reply as Said

    return isinstance(FAILURES[name](Said(REPLY)), Said)
