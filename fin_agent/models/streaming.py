"""A text as it is written."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fin_agent.models.call import Call, Finish, OutputT, Reply
from fin_agent.models.errors import ModelError
from fin_agent.models.exchange import Line, Tally, counted, keep, kept_reply, pause_before_retry, replied
from fin_agent.models.failures import failure_of
from fin_agent.models.judging import judged
from fin_agent.models.metering import Meter, current_meter
from fin_agent.models.received import Received, cleaned, received, without_thoughts
from fin_agent.models.steps import Pause, bound, followed
from fin_agent.models.usage import Usage

if TYPE_CHECKING:
    from langchain_core.messages import AIMessageChunk


def streamed(line: Line, call: Call[OutputT]) -> Iterator[str | Reply]:
    """Pieces of the text, then the reply. Requests that fail before the first piece are made again."""
    meter = current_meter() or Meter()
    if (kept := followed(kept_reply(line, call, meter))) is not None:
        yield kept[1].text
        yield kept[1]
        return
    tally = Tally()
    estimate = line.estimate(call)
    with meter.place(call.role, estimate, line.dollars(Usage(input=estimate))):
        while True:
            written = _Written()
            failure: Exception | None = None
            try:
                yield from _pieces(line, call, written, tally)
            except GeneratorExit:
                _record(line, call, written, meter, tally, "left before its end")
                raise
            except Exception as raised:  # every provider raises errors of its own
                failure = raised
            if failure is None:
                break
            told = failure_of(failure, line.subject(call), line.loaded.base_url)
            form = line.dialect.form
            if not written.said and (smaller := form.without(told, call, line.dialect.mode)) is not None:
                line.dialect.learn(smaller)
            elif written.said:
                usage = _record(line, call, written, meter, tally, f"broke off: {told.error.what}")
                raise _broken_off(told.error, usage)
            else:
                Pause(pause_before_retry(line, call, meter, told, tally.attempts, tally.seconds)).now()
        answer = written.answer()
        _, fault = judged(call, answer)
        tally.usage = _record(line, call, written, meter, tally, "" if fault is None else fault.what)
    if fault is not None:
        raise fault.error(line.subject(call), tally.usage, corrected=False)
    reply = replied(line, answer, tally)
    followed(keep(line, call, reply))
    yield reply


class _Written:
    """What has come until now."""

    def __init__(self) -> None:
        self.chunks: list[AIMessageChunk] = []
        self.text = ""
        self.said = ""

    def answer(self) -> Received:
        """All of it, as an answer."""
        if not self.chunks:
            return Received("", Finish.UNKNOWN, None)
        from langchain_core.messages.ai import add_ai_message_chunks

        return received(add_ai_message_chunks(*self.chunks))


def _pieces(line: Line, call: Call[OutputT], written: _Written, tally: Tally) -> Iterator[str]:
    from langchain_core.messages import AIMessageChunk

    form = line.dialect.form
    model, options = line.dialect.settings(line.loaded.model, call, call.max_output_tokens, form)
    tally.attempts += 1
    with line.slots.held():
        began = time.perf_counter()
        try:
            for chunk in bound(model, call.role, options).stream(line.dialect.messages(call, (), form)):
                if isinstance(chunk, AIMessageChunk):
                    written.chunks.append(chunk)
                written.text += cleaned(str(chunk.text))
                said = without_thoughts(written.text)
                if piece := said[len(written.said) :]:
                    written.said = said
                    yield piece
        finally:
            tally.seconds += time.perf_counter() - began


def _record(line: Line, call: Call[OutputT], written: _Written, meter: Meter, tally: Tally, note: str) -> Usage:
    """Add the record of a stream, whole or not; what it took."""
    usage, estimated = counted(line, call, (), written.answer())
    if estimated:
        tally.notes.append(estimated)
    told = "; ".join(filter(None, (note, estimated)))
    meter.add(line.record(call, usage, seconds=tally.seconds, attempts=tally.attempts, note=told))
    return usage


def _broken_off(error: ModelError, usage: Usage) -> ModelError:
    return type(error)(f"the reply broke off: {error.what}", subject=error.subject, remedy=error.remedy, usage=usage)
