"""Replies kept: nothing is paid for twice, and a broken file stands in nobody's way."""

from __future__ import annotations

import dataclasses
import logging
import multiprocessing
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from fin_agent.models import (
    Call,
    Caller,
    Finish,
    Meter,
    PromptIdentity,
    Reply,
    ResponseCache,
    UnusableReplyError,
    metered,
)
from fin_agent.models.call import Usage
from fin_agent.models.caller import cache_key
from tests.models.scripted import Figure, HttpStatusError, asked, loaded, text_call, value_call

GOOD = '{"value": 5}'


def rows(file: Path) -> list[tuple[str]]:
    with closing(sqlite3.connect(file)) as opened:
        return opened.execute("SELECT key FROM cached_replies").fetchall()


def kept(text: str) -> Reply:
    return Reply(text=text, usage=Usage(input=3), model="openai:x", finish=Finish.STOP)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "replies.sqlite"


def test_a_batch_that_starts_again_pays_for_nothing_twice(file: Path) -> None:
    first = loaded(HttpStatusError(400, "no response_format"), "no", GOOD)
    with nullcontext(ResponseCache(file)) as cache, metered(Meter()) as meter:
        paid = Caller(first, cache=cache).value(value_call())
    assert meter.spent().calls == 2
    second = loaded(AssertionError("asked again"))
    with nullcontext(ResponseCache(file)) as cache, metered(Meter()) as meter:
        value, reply = Caller(second, cache=cache).value(value_call())
    assert value == paid[0] and reply.from_cache and reply.usage == paid[1].usage and not asked(second)
    assert meter.spent().calls == 0 and meter.spent().tokens == 0
    assert meter.records[0].from_cache and meter.records[0].dollars == 0


def test_what_failed_is_not_kept(file: Path) -> None:
    with nullcontext(ResponseCache(file)) as cache:
        with pytest.raises(UnusableReplyError):
            Caller(loaded("no"), cache=cache).value(value_call())
        assert not rows(file)
        assert Caller(loaded(GOOD), cache=cache).value(value_call())[0].value == 5


def test_every_part_of_a_call_counts() -> None:
    class Other(Figure):
        note: str = ""

    call = value_call()
    others: list[Call[Figure]] = [
        dataclasses.replace(call, prompt=PromptIdentity("program", "4")),
        dataclasses.replace(call, prompt=PromptIdentity("other", "3")),
        dataclasses.replace(call, messages=(("user", "What was revenue?"),)),
        dataclasses.replace(call, temperature=0.5),
        dataclasses.replace(call, output=None),
        dataclasses.replace(call, output=Other),
    ]
    keys = [cache_key(each, "openai:x", None, "auto") for each in (call, *others)]
    keys += [cache_key(call, "openai:y", None, "auto"), cache_key(call, "openai:x", "http://own/v1", "auto")]
    keys += [cache_key(call, "openai:x", None, "json")]
    assert len(set(keys)) == len(keys)
    assert keys[0] == cache_key(value_call(), "openai:x", None, "auto")


def test_a_kept_reply_that_no_longer_fits_is_asked_for_anew(file: Path) -> None:
    model = loaded(GOOD)
    with nullcontext(ResponseCache(file)) as cache:
        caller = Caller(model, cache=cache)
        cache.put(cache_key(value_call(), "openai:scripted", None, "auto"), kept('{"value": "old"}'))
        assert caller.value(value_call())[0].value == 5 and len(asked(model)) == 1


@pytest.mark.parametrize("damage", ["garbage", "cut", "header"])
def test_a_damaged_file_is_left_and_stands_in_nobodys_way(
    file: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    with nullcontext(ResponseCache(file)) as cache:
        for number in range(50):
            cache.put(f"k{number}", kept("x" * 1_000))
    whole = file.read_bytes()
    broken = {"garbage": b"not a database" * 500, "cut": whole[:5_000], "header": whole[:100] + b"\xff" * 8_000}
    file.write_bytes(broken[damage])
    model = loaded(GOOD)
    with nullcontext(ResponseCache(file)) as cache, caplog.at_level(logging.WARNING):
        assert Caller(model, cache=cache).value(value_call())[0].value == 5
        assert cache.get("k1") is None
    assert file.read_bytes() == broken[damage] and caplog.text.count("No replies are cached") == 1


def test_the_database_of_something_else_is_left_as_it_is(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    file.parent.mkdir()
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE theirs (a)")
    other.close()
    before = file.read_bytes()
    model = loaded(GOOD)
    with nullcontext(ResponseCache(file)) as cache, caplog.at_level(logging.WARNING):
        caller = Caller(model, cache=cache)
        assert [caller.value(value_call())[0].value for _ in range(2)] == [5, 5]
    assert file.read_bytes() == before and "No replies are cached" in caplog.text and len(asked(model)) == 2


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    with nullcontext(ResponseCache(tmp_path / "file" / "replies.sqlite")) as cache, caplog.at_level(logging.WARNING):
        cache.put("k", kept("x"))
        assert cache.get("k") is None
    assert caplog.text.count("No replies are cached") == 1


def test_a_locked_file_is_passed_over(
    file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("fin_agent.models.caller._BUSY_SECONDS", 0.01)
    with nullcontext(ResponseCache(file)) as cache:
        cache.put("k", kept("x"))
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with caplog.at_level(logging.WARNING):
            cache.put("k2", kept("x"))
        other.execute("ROLLBACK")
        other.close()
        assert "not used now" in caplog.text
        assert cache.get("k") == kept("x") and cache.get("k2") is None
        cache.put("k2", kept("x"))
        assert cache.get("k2") == kept("x")


def test_threads_share_one(file: Path) -> None:
    with nullcontext(ResponseCache(file)) as cache, ThreadPoolExecutor(8) as pool:
        for waiting in [pool.submit(cache.put, f"k{n}", kept(str(n))) for n in range(100)]:
            waiting.result()
        assert [found.text for n in range(100) if (found := cache.get(f"k{n}"))] == [str(n) for n in range(100)]


def test_processes_share_one(file: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_thirty, args=(file, number)) for number in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert len(rows(file)) == 60


def _write_thirty(file: Path, writer: int) -> None:
    with nullcontext(ResponseCache(file)) as cache:
        for number in range(30):
            cache.put(f"{writer}:{number}", kept("x"))


def test_without_a_cache_every_call_is_made() -> None:
    model = loaded("Yes.")
    for _ in range(2):
        Caller(model).reply(text_call())
    assert len(asked(model)) == 2


def test_prompts_are_not_kept(file: Path) -> None:
    with nullcontext(ResponseCache(file)) as cache:
        Caller(loaded("Yes."), cache=cache).reply(text_call(question="What of the secret merger?"))
    assert b"secret merger" not in file.read_bytes() and b"Yes." in file.read_bytes()
