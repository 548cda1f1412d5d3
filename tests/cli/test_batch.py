"""Answers of a batch are kept as they come, several at once."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fin_agent.answering.answer import Answer, AnswerValue, Usage
from fin_agent.cli.asking import _without_model, results_as_completed
from fin_agent.evaluation.benchmark import PartialResults

PAID = Usage(model_calls=1, input_tokens=10, output_tokens=2)


def answer(text: str, **fields: object) -> Answer:
    return Answer.model_validate({"question": f"What of {text}?", "answer": AnswerValue(text=text), **fields})


ANSWERS = {key: answer(text) for key, text in (("a", "\u2028 one\n"), ("b", "zwei \u20ac"), ("c", '"three"}'))}


def test_cut_at_any_byte_whole_answers_are_there_and_the_next_one_is_whole(tmp_path: Path) -> None:
    def opened(run: str = "run") -> PartialResults[Answer]:
        return PartialResults(tmp_path / "answers.jsonl.part", run, Answer)

    kept = opened()
    for key, each in ANSWERS.items():
        kept.add(key, each)
    path = tmp_path / "answers.jsonl.part"
    content = path.read_bytes()
    ends = [place + 1 for place, byte in enumerate(content) if byte == ord("\n")]
    assert len(ends) == 4
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        whole = max(0, sum(end <= cut + 1 for end in ends) - 1)  # a line may lack its end alone
        again = opened()
        assert [again.take(key) for key in ANSWERS] == [*list(ANSWERS.values())[:whole], *[None] * (3 - whole)]
        again.add("new", answer("new"))
        assert opened().take("new") == answer("new")
    assert opened("another run").take("new") is None


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        (answer("by rules"), True),
        (answer("by a model", warnings=("a quote is dropped",), usage=PAID), True),
        (answer("cut short", warnings=("left out",), usage=PAID.model_copy(update={"left_out": ("program",)})), True),
        (answer("no budget", usage=Usage(left_out=("reasoning",))), False),
        (answer("no model", warnings=("the server failed",), usage=Usage(model_calls=1)), False),
        (answer("left alone", warnings=("it is left alone",)), False),
    ],
)
def test_what_no_model_was_paid_for_is_asked_again(given: Answer, taken: bool) -> None:
    assert _without_model(given) is not taken


def test_one_after_the_other_in_this_thread() -> None:
    threads = set()

    def do(number: int) -> int:
        threads.add(threading.current_thread())
        return -number

    assert list(results_as_completed(do, [3, 1, 2], None)) == [-3, -1, -2]
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

    assert sorted(results_as_completed(do, range(12), ThreadPoolExecutor(3))) == list(range(12))
    assert most == 3


def test_what_is_raised_is_raised_here() -> None:
    def do(number: int) -> int:
        return 1 // number

    with pytest.raises(ZeroDivisionError):
        list(results_as_completed(do, [1, 0, 2, 3], ThreadPoolExecutor(2)))


def test_stopped_from_the_keyboard_it_waits_for_what_is_under_way_and_begins_no_more() -> None:
    begun: list[int] = []
    ended: list[int] = []
    submitted, stopped = threading.Event(), threading.Event()

    class Numbers(list[int]):
        """Says when the last was submitted: interrupted while it starts a thread, a pool never hears of that thread."""

        def __iter__(self) -> Iterator[int]:
            yield from super().__iter__()
            submitted.set()

    def do(number: int) -> int:
        begun.append(number)
        if number == 2:
            assert submitted.wait(10)
            time.sleep(0.5)  # a signal just before a lock is waited for does not end that wait
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            stopped.set()
        assert stopped.wait(10)
        time.sleep(0.2)
        ended.append(number)
        return number

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background is begun without one
    try:
        with pytest.raises(KeyboardInterrupt):
            list(results_as_completed(do, Numbers(range(50)), ThreadPoolExecutor(3)))
    finally:
        signal.signal(signal.SIGINT, before)
    assert sorted(begun) == sorted(ended) == [0, 1, 2]
