"""Answers kept as they come: whole ones are taken up wherever the process that wrote them was killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from fin_agent.answering.answer import Answer, AnswerValue, Usage
from fin_agent.cli.answers_kept import AnswersKept
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
