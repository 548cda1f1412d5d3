"""What takes too long as a whole is given up, whoever waits for it and however little comes at a time."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from datetime import UTC, datetime

import pytest

from fin_agent.models import (
    Budget,
    BudgetExceededError,
    Caller,
    Meter,
    ModelTimeoutError,
    RateLimitedError,
    Retrying,
    load_chat_model,
    metered,
)
from fin_agent.models.deadlines import pieces_within, within
from fin_agent.models.limits import slots_for
from tests.models.openai_server import KEY, OpenAIServer, Reply, rate_limited
from tests.models.scripted import text_call, value_call

SET_OUTSIDE: ContextVar[str] = ContextVar("set_outside", default="")
ONCE = Retrying(attempts=1)
GOOD = '{"value": 5, "unit": "USD"}'


def test_what_is_done_in_time_is_given_in_the_context_of_whoever_waits() -> None:
    SET_OUTSIDE.set("here")
    before = threading.active_count()
    assert within(5, SET_OUTSIDE.get) == "here"
    assert list(pieces_within(5, lambda: (SET_OUTSIDE.get() for _ in range(3)))) == ["here"] * 3
    assert threading.active_count() == before, "no thread is left"


def test_errors_are_those_of_the_work() -> None:
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 // 0)
    pieces = pieces_within(5, lambda: (1 // left for left in (1, 0)))
    assert next(pieces) == 1
    with pytest.raises(ZeroDivisionError):
        next(pieces)


def test_pieces_that_nobody_waits_for_are_not_made_and_their_source_is_closed() -> None:
    made: list[int] = []
    closed = threading.Event()

    def source() -> Iterator[int]:
        try:
            for number in range(100):
                made.append(number)
                yield number
        finally:
            closed.set()

    pieces = pieces_within(5, source)
    assert next(pieces) == 0
    pieces.close()
    assert made == [0] and closed.is_set()


def test_what_takes_too_long_is_left() -> None:
    going_on = threading.Event()
    with pytest.raises(TimeoutError):
        within(0.05, going_on.wait)
    with pytest.raises(TimeoutError):
        next(pieces_within(0.05, lambda: iter(going_on.wait, None)))
    going_on.set()


def test_seconds_of_whoever_reads_the_pieces_do_not_count() -> None:
    read: list[int] = []
    for piece in pieces_within(0.3, lambda: iter(range(4))):
        time.sleep(0.1)
        read.append(piece)
    assert read == [0, 1, 2, 3]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("FIN_AGENT_API_KEY", raising=False)
    with OpenAIServer(lambda request: Reply(GOOD)) as started:
        yield started


WAYS: dict[str, Callable[[Caller], object]] = {
    "value": lambda caller: caller.value(value_call()),
    "avalue": lambda caller: asyncio.run(caller.avalue(value_call())),
    "value as it is written": lambda caller: caller.value(value_call(), lambda text: None),
    "avalue as it is written": lambda caller: asyncio.run(caller.avalue(value_call(), lambda text: None)),
    "stream": lambda caller: list(caller.stream(text_call())),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_server_that_drips_is_left(server: OpenAIServer, way: str) -> None:
    hasty, patient = (
        Caller(load_chat_model("openai:gpt-4o-mini", base_url=server.url, timeout=timeout), retrying=ONCE)
        for timeout in (0.5, 30)
    )
    WAYS[way](patient)  # a first call takes time for its imports as well
    server.fail_next("drip")
    with pytest.raises(ModelTimeoutError, match="in time"):
        WAYS[way](hasty)
    assert slots_for("openai", server.url).taken == 0
    WAYS[way](patient)


@pytest.mark.parametrize("way", WAYS)
def test_no_reply_is_waited_for_beyond_the_budget(server: OpenAIServer, way: str) -> None:
    caller = Caller(load_chat_model("openai:gpt-4o-mini", base_url=server.url, timeout=60))
    WAYS[way](caller)
    server.fail_next("drip")
    with (
        metered(Meter(Budget(seconds=0.5))) as meter,
        pytest.raises(BudgetExceededError, match="over before the reply"),
    ):
        WAYS[way](caller)
    assert len(server.log) == 2 and len(meter.records) == 1


@pytest.mark.parametrize("after", [61, datetime(9999, 12, 31, tzinfo=UTC)])
def test_a_server_that_asks_for_too_long_a_wait_is_not_waited_for(
    server: OpenAIServer, after: float | datetime
) -> None:
    server.fail_next(rate_limited(after))
    caller = Caller(load_chat_model("openai:gpt-4o-mini", base_url=server.url, timeout=60))
    with pytest.raises(RateLimitedError, match=r"asks to wait (61|\d{3},\d{3},\d{3},\d{3}(\.\d)?) seconds"):
        caller.value(value_call())
    assert len(server.log) == 1
