"""Values whose replies are told while they are written: the same value, checked the same way, at the same price."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

import pytest

from fin_agent.models import (
    Budget,
    BudgetExceededError,
    Caller,
    CallRecord,
    CallsStoppedError,
    LoadedModel,
    Meter,
    Reply,
    RequestRefusedError,
    ResponseCache,
    ServerUnreachableError,
    UnusableReplyError,
    metered,
)
from fin_agent.models.settings import ModelSettings
from fin_agent.testing import ScriptedChatModel
from tests.models.scripted import Figure, HttpStatusError, Said, answer, asked, loaded, value_call

GOOD = '{"value": |5, "unit"|: "USD"}'
WHOLE = GOOD.replace("|", "")


def way(caller: Caller, on_text: Callable[[str], None]) -> tuple[Figure, Reply]:
    return caller.value(value_call(most=50), on_text)


def test_the_text_grows_and_the_value_is_that_of_the_whole() -> None:
    heard: list[str] = []
    with metered(Meter()) as streamed:
        value, reply = way(Caller(loaded(GOOD)), heard.append)
    assert heard == ['{"value": ', '{"value": 5, "unit"', WHOLE]
    with metered(Meter()) as plain:
        other, whole = Caller(loaded(WHOLE)).value(value_call(most=50))
    assert value == other == Figure(value=5)
    assert (reply.text, reply.usage) == (whole.text, whole.usage)
    assert [record.model_copy(update={"seconds": 0}) for record in streamed.records] == [
        record.model_copy(update={"seconds": 0}) for record in plain.records
    ]


def test_a_model_that_does_not_stream_tells_all_at_once() -> None:
    heard: list[str] = []
    model = ScriptedChatModel([{"value": 5}, {"value": 5}])
    with patch.object(ScriptedChatModel, "_should_stream", return_value=False):
        value, _ = way(Caller(LoadedModel("openai:scripted", model)), heard.append)
    assert value.value == 5 and heard == ['{"value": 5}']


def test_a_reply_that_cannot_be_used_is_corrected_and_told_anew() -> None:
    heard: list[str] = []
    model = loaded('{"value": |"no figure"}', GOOD)
    value, reply = way(Caller(model), heard.append)
    assert value.value == 5 and heard[1] == '{"value": "no figure"}' and heard[2] == '{"value": '
    assert reply.usage.total == 220
    assert "could not be used" in asked(model)[1].messages[-1][1]
    with pytest.raises(UnusableReplyError):
        way(Caller(loaded("none|.", "none|.")), heard.append)


def test_one_that_breaks_off_is_asked_for_once_more_and_paid_for_both_times() -> None:
    heard: list[str] = []
    model = loaded('{"value": |BREAK|5}', GOOD)
    with metered(Meter()) as meter:
        value, reply = way(Caller(model), heard.append)
    assert value.value == 5 and heard == ['{"value": ', '{"value": ', '{"value": 5, "unit"', WHOLE]
    assert len(asked(model)[1].messages) == len(asked(model)[0].messages)
    first, second = meter.records
    assert "broke off" in first.note and first.usage.approximate and first.usage.input > 10
    assert reply.usage.total == first.usage.total + second.usage.total


def test_one_that_breaks_off_twice_is_an_error() -> None:
    model = loaded('{"value": |BREAK|5}')
    with metered(Meter()) as meter, pytest.raises(ServerUnreachableError, match="broke off"):
        way(Caller(model), lambda text: None)
    assert len(asked(model)) == 2 == len(meter.records)
    assert meter.spent().tokens > 0


def test_a_server_that_does_not_stream_is_asked_without() -> None:
    def unless_asked_whole(request: object) -> Said:
        return HttpStatusError(400, "Your organization must be verified to stream this model.")

    heard: list[str] = []
    caller = Caller(loaded(unless_asked_whole, WHOLE))
    for _ in range(2):
        value, _ = way(caller, heard.append)
        assert value.value == 5
    assert not heard
    with pytest.raises(RequestRefusedError):
        way(Caller(loaded(HttpStatusError(400, "no such setting"))), heard.append)


def test_a_kept_reply_is_told_at_once_and_one_that_was_streamed_is_kept(tmp_path: Path) -> None:
    model = loaded(GOOD)
    with nullcontext(ResponseCache(tmp_path / "kept.sqlite")) as cache:
        way(Caller(model, cache=cache), lambda text: None)
        heard: list[str] = []
        value, reply = way(Caller(model, cache=cache), heard.append)
        assert Caller(model, cache=cache).value(value_call(most=50))[1].from_cache
    assert value.value == 5 and reply.from_cache and heard == [WHOLE] and len(asked(model)) == 1


def test_thoughts_are_not_told() -> None:
    heard: list[str] = []
    value, _ = way(Caller(loaded(f"<think>|4?</think>|{WHOLE}")), heard.append)
    assert value.value == 5 and heard == [WHOLE]


def test_the_budget_holds() -> None:
    heard: list[str] = []
    with metered(Meter(Budget(calls=1))) as meter:
        way(Caller(loaded(GOOD)), heard.append)
        with pytest.raises(BudgetExceededError):
            way(Caller(loaded(GOOD)), heard.append)
    assert len(meter.records) == 1 and len(heard) == 3


def test_what_the_listener_raises_ends_the_call_which_is_accounted_for() -> None:
    def fails(text: str) -> None:
        raise KeyError(text)

    caller = Caller(loaded(GOOD, base_url="http://listener/v1"), ModelSettings(at_once=1))
    with metered(Meter()) as meter:
        with pytest.raises(KeyError):
            way(caller, fails)
        assert "interrupted" in meter.records[0].note and meter.records[0].usage.input > 10
        assert way(caller, lambda text: None)[0].value == 5, "its place was given back"


def test_once_stopped_a_stream_is_left_and_no_call_begins() -> None:
    heard: list[str] = []
    model = loaded(GOOD, base_url="http://stopped/v1")
    outer = Meter()

    def hear(text: str) -> None:
        heard.append(text)
        outer.stop()

    with metered(Meter(within=outer)) as meter:
        with pytest.raises(CallsStoppedError):
            way(Caller(model, ModelSettings(at_once=1)), hear)
        with pytest.raises(CallsStoppedError):
            way(Caller(model, ModelSettings(at_once=1)), hear)
    assert heard == ['{"value": '] and len(asked(model)) == 1 and outer.stopped
    assert "left before its end" in meter.records[0].note and meter.records[0].usage.input > 10


def test_a_call_that_waits_for_its_turn_is_not_made_once_stopped() -> None:
    meter = Meter()
    model = loaded(answer(json.dumps({"value": 5})))
    caller = Caller(model)

    ended: list[CallRecord] = []
    # Stopped when the call has its place in the budget: before it is sent.
    stopping = Meter(within=meter, on_begun=lambda role, model: meter.stop(), on_ended=ended.append)
    with metered(stopping), pytest.raises(CallsStoppedError):
        caller.value(value_call())
    assert not asked(model) and not ended


def test_a_listener_is_told_of_each_call(tmp_path: Path) -> None:
    heard: list[str] = []

    listening = Meter(
        on_begun=lambda role, model: heard.append(f"{role} by {model}"),
        on_ended=lambda record: heard.append(f"{record.usage.total}{' kept' * record.from_cache}"),
    )
    with nullcontext(ResponseCache(tmp_path / "kept.sqlite")) as cache, metered(listening):
        caller = Caller(loaded('{"value": "none"}', WHOLE), cache=cache)
        caller.value(value_call())
        caller.value(value_call())
    assert heard == ["reasoning by openai:scripted", "110", "reasoning by openai:scripted", "110", "220 kept"]
