"""Several things at once: all come back, no more are under way than allowed, and what was begun is not lost."""

from __future__ import annotations

import _thread
import threading

import pytest

from fin_agent.cli.at_once import each_done


def test_one_after_the_other_in_this_thread() -> None:
    threads = set()

    def do(number: int) -> int:
        threads.add(threading.current_thread())
        return -number

    assert list(each_done(do, [3, 1, 2], 1)) == [-3, -1, -2]
    assert threads == {threading.main_thread()}


def test_so_many_at_once_and_no_more() -> None:
    together = threading.Barrier(3, timeout=10)  # passed by three at once only
    most = 0
    under_way: set[int] = set()
    guard = threading.Lock()

    def do(number: int) -> int:
        nonlocal most
        with guard:
            under_way.add(number)
            most = max(most, len(under_way))
        together.wait()
        with guard:
            under_way.discard(number)
        return number

    assert sorted(each_done(do, range(12), 3)) == list(range(12))
    assert most == 3


def test_what_is_raised_is_raised_here() -> None:
    def do(number: int) -> int:
        return 1 // number

    with pytest.raises(ZeroDivisionError):
        list(each_done(do, [1, 0, 2, 3], 2))


def test_stopped_from_the_keyboard_it_gives_back_what_is_under_way_and_begins_no_more() -> None:
    begun: list[int] = []
    stopped = threading.Event()

    def do(number: int) -> int:
        begun.append(number)
        if number == 2:
            _thread.interrupt_main()
            stopped.set()
        assert stopped.wait(10)
        return number

    found: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        for each in each_done(do, range(50), 3):
            found.append(each)
    assert sorted(begun) == [0, 1, 2]
    assert sorted(found) == [0, 1, 2]
