"""The test server as the real clients see it: `openai` and `langchain-openai`, where they are installed."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from tests.models.openai_server import ENDLESS, FAILURES, KEY, SLOW, ChatRequest, Dropped, OpenAIServer, Reply, ToolCall
from tests.models.openai_server.exchange import Reply as Said

openai = pytest.importorskip("openai", reason="the test server is held against openai's own client")
langchain_openai = pytest.importorskip("langchain_openai", reason="the test server is held against langchain-openai")

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI

REPLY = '{"greeting": "hello", "count": 2}'
PROMPT = "Greet me as json"


class Greeting(BaseModel):
    greeting: str
    count: int


def chat(server: OpenAIServer, **more: Any) -> ChatOpenAI:
    settings = {"model": "gpt-4o-mini", "base_url": server.url, "api_key": KEY, "max_retries": 0, "timeout": 20, **more}
    return langchain_openai.ChatOpenAI(**settings)  # type: ignore[no-any-return]


@pytest.fixture
def greeting(openai_server: OpenAIServer) -> OpenAIServer:
    openai_server.answer = lambda request: REPLY
    return openai_server


def test_a_message_with_usage(greeting: OpenAIServer) -> None:
    greeting.answer = lambda request: Reply(REPLY, prompt_tokens=11, completion_tokens=5, cached_tokens=3)
    message = chat(greeting, temperature=0.01, max_tokens=50).invoke(PROMPT)
    assert message.content == REPLY
    assert message.usage_metadata is not None
    assert message.usage_metadata["input_tokens"] == 11 and message.usage_metadata["output_tokens"] == 5
    assert message.usage_metadata["input_token_details"]["cache_read"] == 3
    (request,) = greeting.requests
    assert request.most_tokens == 50 and "max_completion_tokens" in request.body
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_streams_end_with_usage(greeting: OpenAIServer) -> None:
    pieces = list(chat(greeting, stream_usage=True).stream(PROMPT))
    assert len(pieces) > 4 and "".join(str(piece.content) for piece in pieces) == REPLY
    whole = pieces[0]
    for piece in pieces[1:]:
        whole += piece  # type: ignore[assignment]
    assert whole.usage_metadata is not None and whole.usage_metadata["output_tokens"] > 0
    assert whole.response_metadata["finish_reason"] == "stop"


def test_asynchronously(greeting: OpenAIServer) -> None:
    async def all_of_them() -> list[Any]:
        model = chat(greeting)
        return await asyncio.gather(*(model.ainvoke(f"{PROMPT} {number}") for number in range(20)))

    assert {message.content for message in asyncio.run(all_of_them())} == {REPLY}
    assert len(greeting.requests) == 20


def test_tools_both_ways(greeting: OpenAIServer) -> None:
    def look_up(page: int) -> str:
        """Look up a page."""
        return ""

    def answer(request: ChatRequest) -> Reply:
        if request.messages[-1]["role"] == "tool":
            return Reply(f"page 9 says {request.messages[-1]['content']}")
        return Reply(tool_calls=(ToolCall("look_up", {"page": 9}),))

    greeting.answer = answer
    model = chat(greeting).bind_tools([look_up])
    for message in (model.invoke("Look up page 9"), _summed(model.stream("Look up page 9"))):
        (call,) = message.tool_calls
        assert (call["name"], call["args"]) == ("look_up", {"page": 9})
        from langchain_core.messages import HumanMessage, ToolMessage

        thread = [HumanMessage("Look up page 9"), message, ToolMessage("42", tool_call_id=call["id"])]
        assert model.invoke(thread).content == "page 9 says 42"


def test_structured_output_in_each_of_its_ways(greeting: OpenAIServer) -> None:
    for method in ("json_schema", "json_mode"):
        assert chat(greeting).with_structured_output(Greeting, method=method).invoke(PROMPT) == Greeting(
            greeting="hello", count=2
        )
    assert [request.response_format for request in greeting.requests] == ["json_schema", "json_object"]
    assert isinstance(greeting.requests[0].schema, dict) and "greeting" in greeting.requests[0].schema["properties"]  # type: ignore[operator]
    greeting.answer = lambda request: Reply(tool_calls=(ToolCall("Greeting", json.loads(REPLY)),))
    assert chat(greeting).with_structured_output(Greeting, method="function_calling").invoke(PROMPT).count == 2
    greeting.answer = lambda request: Reply(None, refusal="No.")
    with pytest.raises(Exception, match="No"):
        chat(greeting).with_structured_output(Greeting, method="json_schema").invoke(PROMPT)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("429-silent", "RateLimitError"), ("429-quota", "RateLimitError"), ("500", "InternalServerError"),
        ("502", "InternalServerError"), ("503", "InternalServerError"), ("401", "AuthenticationError"),
        ("404", "NotFoundError"), ("400-response-format", "BadRequestError"), ("dropped", "APIConnectionError"),
        ("cut", "APIConnectionError"), ("half-json", "JSONDecodeError"),
    ],
)  # fmt: skip
def test_each_failure_is_the_clients_own_error(name: str, error: str, greeting: OpenAIServer) -> None:
    greeting.fail_next(name)
    with pytest.raises(Exception) as failure:
        chat(greeting).invoke(PROMPT)
    assert error in {kind.__name__ for kind in type(failure.value).__mro__}
    assert KEY not in str(failure.value)


def test_a_context_too_long_has_an_error_of_its_own(greeting: OpenAIServer) -> None:
    greeting.fail_next("400-context-length")
    with pytest.raises(openai.BadRequestError, match="maximum context length"):
        chat(greeting).invoke(PROMPT)


@pytest.mark.parametrize("name", sorted(SLOW - ENDLESS))
def test_timeouts(name: str, greeting: OpenAIServer) -> None:
    greeting.fail_next(name)
    with pytest.raises(openai.APITimeoutError):
        chat(greeting, timeout=0.5).invoke(PROMPT)


def test_clients_try_again_when_they_are_told_to(greeting: OpenAIServer) -> None:
    greeting.fail_next("429-date", "500", "dropped")
    assert chat(greeting, max_retries=3).invoke(PROMPT).content == REPLY
    assert [logged.status for logged in greeting.log] == [429, 500, 0, 200]
    greeting.fail_next("400-response-format")
    with pytest.raises(openai.BadRequestError):
        chat(greeting, max_retries=3).invoke(PROMPT)
    assert len(greeting.log) == 5


def test_streams_break(greeting: OpenAIServer) -> None:
    for name in ("cut", "broken-stream"):
        greeting.fail_next(name)
        seen: list[str] = []
        with pytest.raises(Exception) as failure:
            seen.extend(str(piece.content) for piece in chat(greeting).stream(PROMPT))
        assert REPLY.startswith("".join(seen)) and "".join(seen) != REPLY
        assert isinstance(failure.value, openai.APIError) or "incomplete" in str(failure.value)


@pytest.mark.parametrize("name", [name for name in FAILURES if isinstance(FAILURES[name](Said(REPLY)), Said)])
def test_whatever_a_model_says_arrives_as_a_message(name: str, greeting: OpenAIServer) -> None:
    greeting.fail_next(name, name)
    model = chat(greeting)
    whole, summed = model.invoke(PROMPT), _summed(model.stream(PROMPT))
    assert whole.content == summed.content and isinstance(whole.content, str)
    assert whole.additional_kwargs.get("refusal") == ("I'm sorry, but I can't assist with that request."
                                                      if name == "refused" else None)  # fmt: skip


def test_models_are_listed_for_openais_client(openai_server: OpenAIServer) -> None:
    client = openai.OpenAI(base_url=openai_server.url, api_key=KEY, max_retries=0)
    assert [model.id for model in client.models.list()] == ["gpt-4o", "gpt-4o-mini"]
    openai_server.answer = lambda request: Dropped()
    with pytest.raises(openai.APIConnectionError):
        client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "x"}])


def _summed(pieces: Any) -> Any:
    first, *rest = pieces
    for piece in rest:
        first += piece
    return first
