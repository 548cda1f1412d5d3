"""The caller with langchain-openai, against a server that speaks OpenAI's protocol and fails as it is told."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from fin_agent.models import (
    Budget,
    BudgetExceededError,
    Caller,
    KeyRefusedError,
    Meter,
    ModelError,
    ModelTimeoutError,
    ResponseCache,
    Role,
    ServerUnreachableError,
    UnknownModelError,
    load_chat_model,
    metered,
)
from fin_agent.models.settings import ModelSettings, OutputMode
from tests.models.scripted import Figure, text_call, value_call

pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
serving = pytest.importorskip("tests.models.openai_server", reason="the test server is not there")

GOOD = '{"value": 5, "unit": "USD"}'


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[serving.OpenAIServer]:  # type: ignore[name-defined]
    monkeypatch.setenv("OPENAI_API_KEY", serving.KEY)
    monkeypatch.delenv("FIN_AGENT_API_KEY", raising=False)
    monkeypatch.setattr("openai._base_client.BaseClient._calculate_retry_timeout", lambda *given, **more: 0.002)
    with serving.OpenAIServer(lambda request: serving.Reply(GOOD, prompt_tokens=90, completion_tokens=9)) as started:
        yield started


def caller(server: object, mode: str = "auto", *, cache: ResponseCache | None = None, timeout: float = 20) -> Caller:
    address = str(server.url)  # type: ignore[attr-defined]
    model = load_chat_model("openai:gpt-4o-mini", base_url=address, timeout=timeout, max_retries=1)
    return Caller(model, ModelSettings(output=OutputMode(mode)), cache=cache)


@pytest.mark.parametrize("mode", ["schema", "json"])
def test_a_value_in_both_modes(server: serving.OpenAIServer, mode: str) -> None:  # type: ignore[name-defined]
    value, reply = caller(server, mode).value(value_call(most=200))
    assert value == Figure(value=5) and reply.usage.input == 90 and reply.usage.output == 9
    (request,) = server.requests
    assert ("response_format" in request.body) == (mode == "schema")
    assert request.body["temperature"] == 0.01 and request.body["max_completion_tokens"] == 200


def test_auto_finds_out_what_the_server_offers(server: serving.OpenAIServer) -> None:  # type: ignore[name-defined]
    server.offers = frozenset()
    asking = caller(server)
    for _ in range(2):
        assert asking.value(value_call())[0].value == 5
    assert ["response_format" in request.body for request in server.requests][-2:] == [False, False]
    assert "schema" in asking.left_out and len(server.log) == 3


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("mode", ["schema", "json"])
@pytest.mark.parametrize("name", sorted(set(serving.FAILURES) - set(serving.SLOW)))
def test_every_failure_ends_in_a_value_or_a_typed_error(
    server: serving.OpenAIServer,  # type: ignore[name-defined]
    name: str,
    mode: str,
    streamed: bool,
) -> None:
    asking = caller(server, mode)
    heard: list[str] = []
    on_text = heard.append if streamed else None
    for times in (4, 1):
        server.fail_next(*[name] * times)
        with metered(Meter()) as meter:
            try:
                value, reply = asking.value(value_call(), on_text)
            except ModelError as error:
                assert error.remedy and serving.KEY not in str(error)
            else:
                assert value == Figure(value=5) and (not streamed or heard[-1] == reply.text)
                assert sum(record.usage.total for record in meter.records) == reply.usage.total > 0
        server._failing.clear()
    assert asking.value(value_call(), on_text)[0].value == 5, "the caller is as good as before"


def test_a_request_that_fails_for_a_reason_that_passes_is_made_again(server: serving.OpenAIServer) -> None:  # type: ignore[name-defined]
    server.fail_next("500")
    with metered(Meter()) as meter:
        assert caller(server).value(value_call())[0].value == 5
    assert len(server.log) == 2 and len(meter.records) == 1


@pytest.mark.parametrize("mode", ["schema", "json"])
def test_a_streamed_value_takes_the_tokens_of_one_that_is_not(
    server: serving.OpenAIServer,  # type: ignore[name-defined]
    mode: str,
) -> None:
    heard: list[str] = []
    value, reply = caller(server, mode).value(value_call(), heard.append)
    other, whole = caller(server, mode).value(value_call())
    assert (value, reply.text, reply.usage) == (other, whole.text, whole.usage)
    assert len(heard) > 2 and heard[-1] == GOOD
    assert [request.body.get("stream", False) for request in server.requests] == [True, False]


@pytest.mark.parametrize("name", sorted(serving.SLOW - serving.ENDLESS))
def test_a_server_that_does_not_answer_in_time(server: serving.OpenAIServer, name: str) -> None:  # type: ignore[name-defined]
    server.fail_next(name)
    value, _ = caller(server, timeout=0.3).value(value_call())
    assert value.value == 5 and len(server.log) == 2


def test_a_wrong_key_and_a_wrong_name(
    server: serving.OpenAIServer,  # type: ignore[name-defined]
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(UnknownModelError, match="the model's name"):
        Caller(load_chat_model("openai:none", base_url=server.url)).reply(text_call())
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-0123456789")
    with pytest.raises(KeyRefusedError, match="Check the key") as raised:
        caller(server).reply(text_call())
    assert "sk-w" not in str(raised.value)


def test_nobody_listens_there() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
    asking = Caller(load_chat_model("openai:x", base_url=address, max_retries=0))
    with pytest.raises(ServerUnreachableError, match="Check that the server is running"):
        asking.reply(text_call())


def test_a_batch_broken_off_pays_for_nothing_twice(server: serving.OpenAIServer, tmp_path: Path) -> None:  # type: ignore[name-defined]
    questions = [text_call(question=f"What was revenue in {year}?", role=Role.CURATION) for year in range(2000, 2020)]
    with nullcontext(ResponseCache(tmp_path / "kept.sqlite")) as cache, metered(Meter()) as meter:
        asking = caller(server, cache=cache)
        for call in questions[:12]:
            asking.reply(call)
    with nullcontext(ResponseCache(tmp_path / "kept.sqlite")) as cache, metered(Meter(earlier=meter.records)) as again:
        asking = caller(server, cache=cache)
        for call in questions:
            asking.reply(call)
    assert len(server.requests) == 20 and again.spent().calls == 20
    assert sum(record.from_cache for record in again.records) == 12


@pytest.mark.parametrize("streamed", [False, True])
def test_a_server_that_drips_is_left(server: serving.OpenAIServer, streamed: bool) -> None:  # type: ignore[name-defined]
    on_text = (lambda text: None) if streamed else None
    model = load_chat_model("openai:gpt-4o-mini", base_url=server.url, timeout=0.5, max_retries=0)
    caller(server).value(value_call(), on_text)  # a first call takes time for its imports as well
    server.fail_next("drip")
    with pytest.raises(ModelTimeoutError, match="in time"):
        Caller(model).value(value_call(), on_text)
    assert caller(server).value(value_call(), on_text)[0].value == 5


@pytest.mark.parametrize("streamed", [False, True])
def test_no_reply_is_waited_for_beyond_the_budget(server: serving.OpenAIServer, streamed: bool) -> None:  # type: ignore[name-defined]
    on_text = (lambda text: None) if streamed else None
    asking = caller(server, timeout=60)
    asking.value(value_call(), on_text)
    server.fail_next("drip")
    with (
        metered(Meter(Budget(seconds=0.5))) as meter,
        pytest.raises(BudgetExceededError, match="time limit of all calls ended before"),
    ):
        asking.value(value_call(), on_text)
    assert len(server.log) == 2 and len(meter.records) == 1
