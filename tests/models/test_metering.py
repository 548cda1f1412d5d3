"""Budgets and records."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context

import pytest
from pydantic import ValidationError

from fin_agent.models import (
    Budget,
    BudgetExceededError,
    Caller,
    CallRecord,
    Meter,
    PriceTable,
    Role,
    Usage,
    current_meter,
    metered,
)
from fin_agent.models.metering import Price
from fin_agent.models.settings import ModelSettings
from tests.models.scripted import asked, loaded, text_call

PRICES = PriceTable({"openai:scripted": Price(input=10_000, output=100_000)})
"""A call of 100 tokens in and 10 out costs 2 dollars."""


def record(*, from_cache: bool = False) -> CallRecord:
    return CallRecord(role=Role.INTENT, model="openai:x", prompt="intent", prompt_version="1", usage=Usage(input=10),
                      dollars=0.5, seconds=1, from_cache=from_cache)  # fmt: skip


def test_the_meter_holds_inside_its_block_only() -> None:
    with metered(Meter()) as outer:
        with metered(Meter()) as inner:
            assert current_meter() is inner
        assert current_meter() is outer
    assert current_meter() is None


def test_a_record_says_what_a_call_took() -> None:
    with metered(Meter()) as meter:
        Caller(loaded("Yes."), prices=PRICES).reply(text_call())
    (kept,) = meter.records
    assert (kept.role, kept.model, kept.prompt, kept.prompt_version) == (
        Role.REASONING, "openai:scripted", "reasoning", "1"
    )  # fmt: skip
    assert kept.usage == Usage(input=100, cached_input=40, output=10, reasoning=2)
    assert kept.dollars == pytest.approx(2) and not kept.from_cache
    assert CallRecord.model_validate({**kept.model_dump(), "attempts": 1}) == kept, "as earlier versions wrote it"


@pytest.mark.parametrize(
    ("budget", "calls", "told"),
    [
        (Budget(calls=2), 2, "may take 2 calls"),
        (Budget(tokens=150), 2, r"may take 150 tokens \(220 are spent or under way\)"),
        (Budget(tokens=5), 0, "may take 5 tokens"),
        (Budget(dollars=3), 2, r"may take 3 dollars \(4.0000 are spent or under way\)"),
        (Budget(seconds=0), 0, "may take 0 seconds"),
        (Budget(calls=0), 0, "may take 0 calls"),
    ],
)
def test_each_limit_stops_the_call_that_would_pass_it(budget: Budget, calls: int, told: str) -> None:
    model = loaded("Yes.")
    caller = Caller(model, prices=PRICES)
    with metered(Meter(budget)) as meter:
        with pytest.raises(BudgetExceededError, match=told):
            for _ in range(5):
                caller.reply(text_call())
        assert len(asked(model)) == len(meter.records) == calls
        assert len(meter.calls_not_made) == 1 and "reasoning" in meter.calls_not_made[0]


def test_seconds_count_from_the_start_of_the_meter(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("fin_agent.models.metering.monotonic", lambda: now[0])
    meter = Meter(Budget(seconds=5))
    assert meter.seconds_left() == 5
    now[0] = 104
    with metered(meter):
        Caller(loaded("Yes.")).reply(text_call())
        now[0] = 105
        with pytest.raises(BudgetExceededError, match="5 seconds"):
            Caller(loaded("Yes.")).reply(text_call())
    assert meter.seconds_left() == 0


def test_what_a_killed_batch_had_spent_counts() -> None:
    batch = Meter(Budget(calls=3), [record(), record(), record(from_cache=True)], of="batch")
    assert batch.spent().calls == 2 and batch.spent().tokens == 20 and batch.spent().dollars == 1
    model = loaded("Yes.")
    with metered(Meter(Budget(calls=5), within=batch)) as question:
        Caller(model).reply(text_call())
        with pytest.raises(BudgetExceededError, match="the batch may take 3 calls"):
            Caller(model).reply(text_call())
    assert len(asked(model)) == 1 and len(batch.records) == len(question.records) == 1
    assert question.calls_not_made and batch.spent().calls == 3


def test_a_question_that_is_refused_takes_no_room_in_the_batch() -> None:
    batch = Meter(Budget(calls=1), of="batch")
    with metered(Meter(Budget(calls=0), within=batch)), pytest.raises(BudgetExceededError, match="the question"):
        Caller(loaded("Yes.")).reply(text_call())
    with metered(Meter(within=batch)):
        assert Caller(loaded("Yes.")).reply(text_call()).text == "Yes."


def test_dollars_cannot_be_kept_where_the_price_is_not_known() -> None:
    model = loaded("Yes.", base_url="http://own/v1")
    with metered(Meter(Budget(dollars=1))), pytest.raises(BudgetExceededError, match="price in a file of prices"):
        Caller(model).reply(text_call())
    assert not asked(model)
    with metered(Meter()) as meter:
        Caller(model).reply(text_call())
    assert meter.records[0].dollars is None and meter.spent().dollars is None


def test_calls_at_once_cannot_pass_a_budget_together() -> None:
    model = loaded("Yes.", base_url="http://together/v1", seconds=0.02)
    caller = Caller(model, ModelSettings(at_once=8))
    meter = Meter(Budget(calls=3))

    def ask() -> None:
        with suppress(BudgetExceededError):
            caller.reply(text_call())

    with metered(meter), ThreadPoolExecutor(8) as pool:
        for waiting in [pool.submit(copy_context().run, ask) for _ in range(8)]:
            waiting.result()
    assert len(asked(model)) == len(meter.records) == 3 and len(meter.calls_not_made) == 5


def test_a_thread_has_the_meter_only_where_it_is_carried() -> None:
    with metered(Meter()) as meter, ThreadPoolExecutor(1) as pool:
        assert pool.submit(current_meter).result() is None
        assert pool.submit(copy_context().run, current_meter).result() is meter


@pytest.mark.parametrize("wrong", [{"calls": -1}, {"tokens": -1}, {"dollars": -0.1}, {"minutes": 5}])
def test_limits_that_make_no_sense(wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Budget.model_validate(wrong)
