"""A batch that a model answers: nothing is paid for twice, and what it took is told."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")

from fin_agent.cli import asking
from fin_agent.cli.asking import REPLIES
from fin_agent.config import RECORDING_VARIABLES
from fin_agent.runs.store import RunStore
from tests.cli.by_model import MODEL, QUESTIONS, child, replied, settings, used
from tests.cli.running import Ran, asked, questions_file, without_seconds
from tests.loopback import no_other_host
from tests.models.openai_server import KEY, ChatRequest, OpenAIServer, Reply

__all__ = ["no_other_host"]

LINES = [asked(question, id=str(number)) for number, question in enumerate(QUESTIONS)]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(replied) as started:
        yield started


@pytest.fixture
def index(sample_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index of this test's own, with runs and replies beside it."""
    for variable in RECORDING_VARIABLES.values():
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.delenv("FIN_AGENT_API_KEY", raising=False)
    return Path(shutil.copytree(sample_index, tmp_path / "index", ignore=shutil.ignore_patterns("runs*", "replies*")))


def answers(out: Path) -> list[dict[str, object]]:
    return [without_seconds(json.loads(line)) for line in out.read_text(encoding="utf-8").splitlines()]


def batch(index: Path, folder: Path, *more: object) -> Ran:
    questions, out = questions_file(folder, *LINES), folder / "answers.jsonl"
    return Ran("batch", questions, "--out", out, "--index", index, *more)


def test_killed_half_way_and_given_again_it_repeats_no_paid_call(
    server: OpenAIServer, index: Path, tmp_path: Path
) -> None:
    questions, out = questions_file(tmp_path, *LINES), tmp_path / "answers.jsonl"
    half = len(QUESTIONS) // 2
    arguments = ("batch", questions, "--out", out, "--index", index, "--jobs", 1, "--json")
    begun = threading.Event()

    def stalling(request: ChatRequest) -> Reply:
        if request.number > half:
            begun.set()
            server.closing.wait(60)  # the process is gone before it is answered
        return replied(request)

    server.answer = stalling
    first = child(settings(server), *arguments)
    assert begun.wait(60), first.communicate()
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert first.returncode == -signal.SIGKILL and not out.exists()
    paid = [request.text for request in server.requests][:half]

    server.answer = replied
    before = len(server.requests)
    second = child(settings(server), *arguments)
    said, told = second.communicate()
    assert second.returncode == 0, told
    summary = json.loads(said)
    assert (summary["answered"], summary["kept"]) == (len(QUESTIONS), half)
    assert f"{half} answers are reused from {out}.part" in told
    again = [request.text for request in server.requests[before:]]
    assert not set(paid) & set(again)
    assert len(again) == len(set(again)) == len(QUESTIONS) - half
    assert [answer["id"] for answer in answers(out)] == [str(number) for number in range(len(QUESTIONS))]
    assert summary["usage"]["model_calls"] == len(again)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.jsonl", "index", "questions.jsonl"]


class TestReplies:
    def test_are_kept_beside_the_index_and_cost_nothing_again(
        self, server: OpenAIServer, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        used(monkeypatch, settings(server))
        first = batch(index, tmp_path, "--jobs", 3, "--json").document
        whole = answers(tmp_path / "answers.jsonl")
        assert (index / REPLIES).exists()
        assert first["usage"]["model_calls"] == len(server.requests) == len(QUESTIONS)
        assert first["usage"]["input_tokens"] == 900 * len(QUESTIONS)
        second = batch(index, tmp_path, "--json").document
        assert len(server.requests) == len(QUESTIONS)
        assert (second["usage"]["model_calls"], second["usage"]["cached_calls"]) == (0, len(QUESTIONS))
        assert [answer["answer"] for answer in answers(tmp_path / "answers.jsonl")] == [
            answer["answer"] for answer in whole
        ]

    def test_neither_kept_nor_used_where_they_are_not_wanted(
        self, server: OpenAIServer, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        used(monkeypatch, settings(server, cache=tmp_path / "named.sqlite"))
        for times in (1, 2):
            batch(index, tmp_path, "--no-cache")
            assert len(server.requests) == times * len(QUESTIONS)
        assert not (tmp_path / "named.sqlite").exists() and not (index / REPLIES).exists()

    def test_in_the_file_that_the_settings_name(
        self, server: OpenAIServer, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        used(monkeypatch, settings(server, cache=tmp_path / "named.sqlite"))
        batch(index, tmp_path)
        assert (tmp_path / "named.sqlite").exists() and not (index / REPLIES).exists()
        Ran("ask", QUESTIONS[0], "--index", index)
        assert len(server.requests) == len(QUESTIONS)

    def test_one_question_keeps_none_unless_a_file_is_named(
        self, server: OpenAIServer, index: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        used(monkeypatch, settings(server))
        for times in (1, 2):
            assert Ran("ask", QUESTIONS[0], "--index", index).code == 0
            assert len(server.requests) == times
        assert not (index / REPLIES).exists()


class TestGoingOn:
    """What an interrupted batch has left is used where it was asked for in the same way, and only there."""

    @pytest.fixture
    def stopped(self, server: OpenAIServer, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A batch that ended with its fifth question, of which one failed and one asked in vain."""
        used(monkeypatch, settings(server))
        answer_question = asking.answer_question

        def stopping(question: str, *given: Any, **named: Any) -> Any:
            if question == QUESTIONS[4]:
                raise KeyboardInterrupt
            if question == QUESTIONS[3]:
                raise ZeroDivisionError
            return answer_question(question, *given, **named)

        with monkeypatch.context() as patched:
            patched.setattr(asking, "answer_question", stopping)
            server.fail_next(lambda reply: reply, "429-quota")
            assert batch(index, tmp_path, "--jobs", 1).code == 130
        assert len(server.requests) == 2  # the server refused the second: the third was not tried
        return tmp_path / "answers.jsonl.part"

    def test_only_what_was_paid_for_is_taken_up(
        self, stopped: Path, server: OpenAIServer, index: Path, tmp_path: Path
    ) -> None:
        (index / REPLIES).unlink()
        summary = batch(index, tmp_path, "--json").document
        assert (summary["kept"], summary["answered"]) == (1, 6)
        told = [warning for answer in answers(tmp_path / "answers.jsonl") for warning in answer["warnings"]]
        assert all("gives another reason" in warning for warning in told), "nothing failed"
        assert len(server.requests) == 2 + 5
        assert summary["usage"]["model_calls"] == 5

    def test_by_another_model_nothing_is(
        self, stopped: Path, server: OpenAIServer, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        used(monkeypatch, settings(server, model="openai:gpt-4o-mini"))
        assert batch(index, tmp_path, "--json").document["kept"] == 0
        assert len(server.requests) == 2 + 6

    def test_with_other_limits_its_replies_are(
        self, stopped: Path, server: OpenAIServer, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        used(monkeypatch, settings(server, timeout=5))
        summary = batch(index, tmp_path, "--jobs", 1, "--json").document
        assert (summary["kept"], summary["usage"]["cached_calls"]) == (0, 1)
        assert len(server.requests) == 2 + 5

    def test_questions_may_come_go_and_move(
        self, stopped: Path, server: OpenAIServer, index: Path, tmp_path: Path
    ) -> None:
        questions = questions_file(tmp_path, asked(QUESTIONS[1]), asked(QUESTIONS[0], id="moved"), asked(QUESTIONS[0]))
        ran = Ran("batch", questions, "--out", tmp_path / "answers.jsonl", "--index", index, "--json")
        assert ran.document["kept"] == 2 and len(server.requests) == 2 + 1
        assert [answer["id"] for answer in answers(tmp_path / "answers.jsonl")] == [None, "moved", None]


class TestAccounts:
    def test_by_role_with_dollars(
        self, server: OpenAIServer, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        prices = tmp_path / "prices.yaml"
        prices.write_text(f"models: {{'{MODEL}': {{input: 2, output: 10}}}}", encoding="utf-8")
        used(monkeypatch, settings(server, prices=prices))
        ran = batch(index, tmp_path)
        dollars = len(QUESTIONS) * (900 * 2 + 60 * 10) / 1e6
        (row,) = [line.split() for line in ran.out.splitlines() if line.startswith("reasoning")]
        assert row == ["reasoning", MODEL, "6", "0", "5,400", "0", "360", f"{dollars:.4f}"]
        assert f"Per question: 1.0 calls, 960 tokens, ${dollars / 6:.5f}." in ran.out

    def test_an_unknown_price_is_no_price_of_nothing(
        self, server: OpenAIServer, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        used(monkeypatch, settings(server))
        ran = batch(index, tmp_path)
        assert "the price of a model is unknown" in ran.out
        assert Ran("ask", QUESTIONS[0], "--index", index).out.splitlines()[-1] == (
            "1 model call, 900 tokens in, 60 out, price unknown (reasoning 1)"
        )

    def test_once_the_budget_of_the_batch_is_used_up_rules_answer(
        self, server: OpenAIServer, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        used(monkeypatch, settings(server, batch_max_calls=2))
        ran = batch(index, tmp_path, "--jobs", 1)
        assert ran.code == 0 and len(server.requests) == 2
        assert "4 answers ran out of budget" in ran.out
        assert "  reasoning (the batch may take 2 calls" in ran.out
        given = answers(tmp_path / "answers.jsonl")
        cut_short = [any("left out" in warning for warning in answer["warnings"]) for answer in given]
        assert cut_short == [False] * 2 + [True] * 4
        by_rules = Ran("ask", QUESTIONS[5], "--index", index, "--json")
        assert given[5]["answer"] != by_rules.document["answer"] and not given[5]["refused"]

    def test_rules_alone_tell_of_no_calls(self, index: Path, tmp_path: Path) -> None:
        ran = batch(index, tmp_path, "--jobs", 4)
        assert ran.out.split()[:4] == ["6", "answered,", "0", "refused,"] and "calls" not in ran.out
        assert not (index / REPLIES).exists()
        one_by_one = [Ran("ask", question, "--index", index, "--json").document for question in QUESTIONS]
        for answer, alone in zip(answers(tmp_path / "answers.jsonl"), one_by_one, strict=True):
            assert answer == {**without_seconds(alone), "id": answer["id"]}


class TestReplays:
    def test_by_kept_replies_at_no_cost(
        self, server: OpenAIServer, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        used(monkeypatch, settings(server))
        batch(index, tmp_path)
        paid = len(server.requests)
        ran = Ran("runs", "replay", "3", "--index", index)
        assert ran.code == 0, ran.out
        assert len(server.requests) == paid
        assert "gives the same answer and the same trace again" in ran.out
        assert "Then: 1 model call" in ran.out and "Now: 1 cached reply, at no cost." in ran.out

    def test_the_model_is_not_asked_unasked(
        self, server: OpenAIServer, index: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        used(monkeypatch, settings(server))
        Ran("ask", QUESTIONS[0], "--index", index)
        refused = Ran("runs", "replay", "last", "--index", index)
        assert refused.code == 1 and "--ask-model" in refused.err and "are not stored" in refused.err
        assert len(server.requests) == 1
        assert Ran("runs", "replay", "last", "--index", index, "--ask-model").code == 0
        assert len(server.requests) == 2

    def test_a_reply_that_is_gone_is_missed(
        self, server: OpenAIServer, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        used(monkeypatch, settings(server))
        batch(index, tmp_path)
        with sqlite3.connect(index / REPLIES) as connection:
            connection.execute("DELETE FROM cached_replies")
        paid = len(server.requests)
        ran = Ran("runs", "replay", "0", "--index", index)
        assert ran.code == 1 and "replies that it needs are not stored (then: 1 model call" in ran.err
        assert len(server.requests) == paid


def test_keys_are_nowhere(server: OpenAIServer, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used(monkeypatch, settings(server, key_variable="OPENAI_API_KEY"))
    server.fail_next("401", "500")
    ran = batch(index, tmp_path)
    exported = Ran("runs", "show", "5", "--json", "--index", index)
    assert MODEL in exported.out
    with RunStore(index / "runs.sqlite") as store:
        runs = [store.run(line.id).model_dump_json() for line in store.listed()]
    assert len(runs) == len(QUESTIONS)
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 4
    for text in (*files, *(text.encode() for text in (ran.out, ran.err, exported.out, *runs))):
        assert KEY.encode() not in text
