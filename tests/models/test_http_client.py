"""What a server sends beside a reply that is in order: another address, odd forms."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import pytest

from fin_agent.models import Caller, ModelError, ServerUnreachableError, load_chat_model
from fin_agent.models.settings import ModelSettings
from tests.models.openai_server import KEY, HttpError, OpenAIServer, Reply
from tests.models.scripted import value_call

pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")

GOOD = '{"value": 5, "unit": "USD"}'
WAYS: dict[str, Callable[[Caller], object]] = {
    "value": lambda caller: caller.value(value_call()),
    "value as it is written": lambda caller: caller.value(value_call(), lambda text: None),
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("FIN_AGENT_API_KEY", raising=False)
    with OpenAIServer(lambda request: Reply(GOOD)) as started:
        yield started


def caller(server: OpenAIServer) -> Caller:
    model = load_chat_model("openai:gpt-4o-mini", base_url=server.url, timeout=20, max_retries=0)
    return Caller(model, ModelSettings(output="json"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(server: OpenAIServer, status: int, way: str) -> None:
    with OpenAIServer() as other:
        server.fail_next(HttpError(status, headers=(("Location", f"{other.url}/chat/completions"),)))
        with pytest.raises(ServerUnreachableError, match="give the final address") as raised:
            WAYS[way](caller(server))
        assert other.url in str(raised.value) and not other.log and len(server.log) == 1


@pytest.mark.parametrize("failure", ["choices-of-another-type", "body-is-a-list", "null-choices"])
def test_odd_bodies_are_no_noise(server: OpenAIServer, failure: str) -> None:
    with warnings.catch_warnings(record=True) as noise:
        warnings.simplefilter("always")
        asking = caller(server)
        server.fail_next(failure, failure)
        with pytest.raises(ModelError):
            asking.value(value_call())
    assert not [each for each in noise if "Pydantic" in str(each.message)]
