"""Answers of a batch are kept as they come, several at once."""

from __future__ import annotations

import _thread
import threading
from pathlib import Path

import pytest

from fin_agent.answering.answer import Answer, AnswerValue, Usage
from fin_agent.cli.answer_jobs import AnswersKept, each_done
from fin_agent.models import CallRecord, Role
from fin_agent.models import Usage as Tokens

CALL = CallRecord(role=Role.REASONING, model="openai:x", prompt="reasoning", prompt_version="1",
                  usage=Tokens(input=10, output=2), dollars=0.5, seconds=1)  # fmt: skip
PAID = Usage(model_calls=1, input_tokens=10, output_tokens=2)


def answer(text: str, **fields: object) -> Answer:
    return Answer.model_validate({"question": f"What of {text}?", "answer": AnswerValue(text=text), **fields})


ANSWERS = {key: answer(text) for key, text in (("a", "\u2028 one\n"), ("b", "zwei \u20ac"), ("c", '"three"}'))}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where answers are to be published; three are kept for it."""
    with AnswersKept(tmp_path / "answers.jsonl") as kept:
        for key, each in ANSWERS.items():
            kept.note(CALL)
            kept.add(key, each)
    return tmp_path / "answers.jsonl"


def test_cut_at_any_byte_whole_answers_are_there_and_the_next_one_is_whole(out: Path) -> None:
    unfinished = out.with_name("answers.jsonl.part")
    content = unfinished.read_bytes()
    ends = [place + 1 for place, byte in enumerate(content) if byte == ord("\n")]
    assert len(ends) == 6
    for cut in range(len(content) + 1):
        unfinished.write_bytes(content[:cut])
        calls, whole = (sum(end <= cut for end in lines) for lines in (ends[::2], ends[1::2]))
        with AnswersKept(out) as kept:
            assert kept.calls == (CALL,) * calls
            found = [kept.take(key) for key in ANSWERS]
            kept.add("new", answer("new"))
        assert found == [*list(ANSWERS.values())[:whole], *[None] * (3 - whole)]
        with AnswersKept(out) as kept:
            assert kept.take("new") == answer("new")
            assert kept.left == whole


def test_an_answer_is_given_once(out: Path) -> None:
    with AnswersKept(out) as kept:
        assert kept.take("a") == ANSWERS["a"]
        assert kept.take("a") is None
        assert kept.left == 2


def test_what_is_published_has_the_order_given_and_nothing_else_is_left(out: Path) -> None:
    with AnswersKept(out) as kept:
        kept.publish([ANSWERS["c"], ANSWERS["a"]])
    read = [Answer.model_validate_json(line) for line in out.read_text(encoding="utf-8").split("\n")[:-1]]
    assert read == [ANSWERS["c"], ANSWERS["a"]]
    assert "kept" not in out.read_text(encoding="utf-8")
    assert [path.name for path in out.parent.iterdir()] == ["answers.jsonl"]


def test_a_line_of_something_else_is_left_out_and_told(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unfinished = out.with_name("answers.jsonl.part")
    _, first, _, second, _, third, _ = unfinished.read_bytes().split(b"\n")
    unfinished.write_bytes(
        b"\n".join([first, second[:-9] + b"\xff", ANSWERS["a"].model_dump_json().encode(), third, b""])
    )
    with AnswersKept(out) as kept:
        assert [kept.take(key) for key in ANSWERS] == [ANSWERS["a"], None, ANSWERS["c"]]
    assert "2 lines of" in capsys.readouterr().err


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
def test_what_no_model_was_paid_for_is_asked_again(given: Answer, taken: bool, tmp_path: Path) -> None:
    with AnswersKept(tmp_path / "answers.jsonl") as kept:
        kept.add("key", given)
    with AnswersKept(tmp_path / "answers.jsonl") as kept:
        assert (kept.take("key") == given) is taken


def test_calls_count_whether_they_came_to_an_answer_or_not_and_kept_replies_do_not(tmp_path: Path) -> None:
    with AnswersKept(tmp_path / "answers.jsonl") as kept:
        for call in (CALL, CALL.model_copy(update={"from_cache": True, "dollars": 0.0}), CALL):
            kept.note(call)
    with AnswersKept(tmp_path / "answers.jsonl") as kept:
        assert kept.calls == (CALL, CALL)


def test_a_restart_leaves_all_alone(out: Path) -> None:
    with AnswersKept(out, restart=True) as kept:
        assert kept.take("a") is None and kept.calls == ()
    with AnswersKept(out) as kept:
        assert kept.take("a") is None


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
