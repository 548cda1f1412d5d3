"""Calls under way at once, for threads and event loops together."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from fin_agent.models import Caller
from fin_agent.models.limits import Slots, slots_for
from tests.models.scripted import ScriptedModel, loaded, text_call


def test_threads_and_tasks_share_the_places_of_a_provider() -> None:
    model = loaded("Yes.", base_url="http://shared/v1", seconds=0.02)
    assert isinstance(model.model, ScriptedModel)
    first, second = Caller(model, at_once=3), Caller(model, at_once=3)

    async def tasks() -> None:
        await asyncio.gather(*(second.areply(text_call(question=f"{n}?")) for n in range(9)))

    with ThreadPoolExecutor(10) as pool:
        waiting = [pool.submit(first.reply, text_call(question=f"{n}?")) for n in range(9)]
        waiting.append(pool.submit(asyncio.run, tasks()))
        for each in waiting:
            each.result()
    assert len(model.model.asked) == 18 and 2 <= model.model.most_at_once <= 3
    assert slots_for("openai", "http://shared/v1", 3).taken == 0


def test_another_address_has_places_of_its_own_and_the_lowest_limit_holds() -> None:
    slots = slots_for("openai", "http://one/v1", 5)
    assert slots_for("openai", "http://one/v1", 2) is slots and slots.most == 2
    assert slots_for("openai", "http://one/v1", 4).most == 2
    assert slots_for("openai", "http://two/v1", 4) is not slots
    with pytest.raises(ValueError, match="at least one"):
        Slots(0)


def test_places_are_given_in_the_order_they_were_asked_for() -> None:
    slots, order, started = Slots(1), list[int](), threading.Event()

    def take(number: int) -> None:
        with slots.held():
            order.append(number)

    threads: list[threading.Thread] = []
    with slots.held():
        for number in range(4):
            threads.append(threading.Thread(target=take, args=(number,)))
            threads[-1].start()
            while len(slots._waiting) <= number:
                started.wait(0.001)
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2, 3]


def test_who_stops_waiting_takes_no_place_along() -> None:
    slots = Slots(1)

    async def wait() -> None:
        async with slots.aheld():
            pass

    async def one_gives_up() -> None:
        async with slots.aheld():
            gone, stays = asyncio.create_task(wait()), asyncio.create_task(wait())
            await asyncio.sleep(0.01)
            gone.cancel()
        await stays
        await asyncio.gather(gone, return_exceptions=True)
        assert gone.cancelled()

    asyncio.run(one_gives_up())
    assert slots.taken == 0


def test_a_place_is_given_back_after_a_failure() -> None:
    slots = Slots(1)
    for _ in range(3):
        with pytest.raises(RuntimeError), slots.held():
            raise RuntimeError
    assert slots.taken == 0
