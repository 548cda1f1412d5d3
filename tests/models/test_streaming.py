"""Texts as they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from fin_agent.models import (
    Caller,
    EmptyReplyError,
    Finish,
    Meter,
    ModelError,
    RateLimitedError,
    Reply,
    ResponseCache,
    Retrying,
    ServerUnreachableError,
    TruncatedReplyError,
    metered,
)
from tests.models.scripted import HttpStatusError, answer, asked, loaded, text_call

AT_ONCE = Retrying(first_wait=0)


def test_pieces_then_the_reply() -> None:
    with metered(Meter()) as meter:
        *pieces, reply = Caller(loaded("Revenue |rose |by 5%.")).stream(text_call())
    assert pieces == ["Revenue ", "rose ", "by 5%."]
    assert isinstance(reply, Reply) and reply.text == "Revenue rose by 5%." and reply.finish is Finish.STOP
    assert reply.usage.total == 110 == meter.records[0].usage.total


def test_thoughts_are_not_said_aloud() -> None:
    *pieces, reply = Caller(loaded("<th|ink>Is it |five?</think>|\n\nIt is |five.")).stream(text_call())
    assert "".join(map(str, pieces)) == "It is five." and isinstance(reply, Reply) and reply.text == "It is five."


def test_a_request_that_fails_before_its_first_piece_is_made_again() -> None:
    model = loaded(HttpStatusError(503), "BREAK", "It is five.")
    *pieces, reply = Caller(model, retrying=AT_ONCE).stream(text_call())
    assert pieces == ["It is five."] and isinstance(reply, Reply) and reply.attempts == 3
    with pytest.raises(RateLimitedError):
        list(Caller(loaded(HttpStatusError(429)), retrying=AT_ONCE).stream(text_call()))


def test_one_that_breaks_off_later_is_an_error_and_is_accounted_for() -> None:
    model = loaded("It is |BREAK|five.")
    with metered(Meter()) as meter:
        stream = Caller(model, retrying=AT_ONCE).stream(text_call())
        assert next(stream) == "It is "
        with pytest.raises(ServerUnreachableError, match="broke off") as raised:
            next(stream)
    (record,) = meter.records
    assert len(asked(model)) == 1 and record.usage == raised.value.usage
    assert record.usage.approximate and record.usage.input > 10 and "broke off" in record.note


@pytest.mark.parametrize(
    ("said", "kind"), [(answer("It is", "length"), TruncatedReplyError), (answer(""), EmptyReplyError)]
)
def test_what_cannot_be_used_is_an_error(said: str, kind: type[ModelError]) -> None:
    with metered(Meter()) as meter, pytest.raises(kind) as raised:
        list(Caller(loaded(said)).stream(text_call()))
    assert raised.value.usage.total == 110 == meter.records[0].usage.total


def test_a_stream_that_is_left_is_accounted_for_and_gives_its_place_back() -> None:
    caller = Caller(loaded("It |is |five.", base_url="http://left/v1"), at_once=1)
    with metered(Meter()) as meter:
        stream = caller.stream(text_call())
        next(stream)
        stream.close()  # type: ignore[attr-defined]
        assert "left before its end" in meter.records[0].note
        assert len(list(caller.stream(text_call()))) == 4


def test_a_kept_reply_is_streamed_whole(tmp_path: Path) -> None:
    with ResponseCache(tmp_path / "kept.sqlite") as cache, metered(Meter()) as meter:
        model = loaded("It is |five.")
        list(Caller(model, cache=cache).stream(text_call()))
        text, reply = Caller(model, cache=cache).stream(text_call())
    assert text == "It is five." and isinstance(reply, Reply) and reply.from_cache
    assert len(asked(model)) == 1 and [record.from_cache for record in meter.records] == [False, True]
