"""What a server sends beside a reply that is in order: another address, more than anyone reads, odd forms."""

from __future__ import annotations

import asyncio
import gzip
import json
import warnings
from collections.abc import Callable, Iterator

import pytest

from fin_agent.models import Caller, ModelError, Retrying, ServerFailedError, ServerUnreachableError, load_chat_model
from fin_agent.models.http_clients import MOST_BYTES
from tests.models.openai_server import KEY, HttpError, OpenAIServer, Reply
from tests.models.scripted import text_call, value_call

pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")

GOOD = '{"value": 5, "unit": "USD"}'
WAYS: dict[str, Callable[[Caller], object]] = {
    "value": lambda caller: caller.value(value_call()),
    "avalue": lambda caller: asyncio.run(caller.avalue(value_call())),
    "stream": lambda caller: list(caller.stream(text_call())),
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("FIN_AGENT_API_KEY", raising=False)
    with OpenAIServer(lambda request: Reply(GOOD)) as started:
        yield started


def caller(server: OpenAIServer) -> Caller:
    model = load_chat_model("openai:gpt-4o-mini", base_url=server.url, timeout=20)
    return Caller(model, mode="json", retrying=Retrying(attempts=2, first_wait=0))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(server: OpenAIServer, status: int, way: str) -> None:
    with OpenAIServer() as other:
        server.fail_next(HttpError(status, headers=(("Location", f"{other.url}/chat/completions"),)))
        with pytest.raises(ServerUnreachableError, match="give the final address") as raised:
            WAYS[way](caller(server))
        assert other.url in str(raised.value) and not other.log and len(server.log) == 1


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("way", WAYS)
def test_a_body_that_unpacks_to_too_much_is_not_read(server: OpenAIServer, way: str, status: int) -> None:
    packed = gzip.compress(b" " * (MOST_BYTES + 1_000_000))
    server.fail_next(HttpError(status, body=packed, headers=(("Content-Encoding", "gzip"),)))
    with pytest.raises(ServerFailedError, match="longer than 20 MB"):
        WAYS[way](caller(server))
    assert len(server.log) == 1


@pytest.mark.parametrize("way", ["value", "avalue"])
def test_a_packed_reply_is_read(server: OpenAIServer, way: str) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": GOOD}, "finish_reason": "stop"}
    packed = gzip.compress(json.dumps({"id": "x", "choices": [choice]}).encode())
    server.fail_next(HttpError(200, body=packed, headers=(("Content-Encoding", "gzip"),)))
    WAYS[way](caller(server))
    assert server.log[0].headers["accept-encoding"] == "gzip" and len(server.log) == 1


@pytest.mark.parametrize("encoding", ["gzip", "br", "gzip, gzip"])
def test_a_body_that_cannot_be_unpacked_is_a_typed_error(server: OpenAIServer, encoding: str) -> None:
    server.fail_next(HttpError(200, body=b"neither of them", headers=(("Content-Encoding", encoding),)))
    with pytest.raises(ServerFailedError, match="packed"):
        caller(server).value(value_call())


@pytest.mark.parametrize("failure", ["choices-of-another-type", "body-is-a-list", "null-choices"])
def test_odd_bodies_are_no_noise(server: OpenAIServer, failure: str) -> None:
    with warnings.catch_warnings(record=True) as noise:
        warnings.simplefilter("always")
        asking = caller(server)
        server.fail_next(failure, failure)
        with pytest.raises(ModelError):
            asking.value(value_call())
    assert not [each for each in noise if "Pydantic" in str(each.message)]
