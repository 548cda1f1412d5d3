"""A text as it is written."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial

from fin_agent.models.call import Call, OutputT, Reply
from fin_agent.models.deadlines import pieces_within
from fin_agent.models.errors import ModelError
from fin_agent.models.exchange import Line, Tally, counted, keep, kept_reply, pause_before_retry, replied
from fin_agent.models.failures import failure_of
from fin_agent.models.gathering import Gathered
from fin_agent.models.judging import judged
from fin_agent.models.metering import Meter, current_meter
from fin_agent.models.steps import Pause, bound, followed
from fin_agent.models.usage import Usage


def streamed(line: Line, call: Call[OutputT]) -> Iterator[str | Reply]:
    """Pieces of the text, then the reply. Requests that fail before the first piece are made again."""
    meter = current_meter() or Meter()
    if (kept := followed(kept_reply(line, call, meter))) is not None:
        yield kept[1].text
        yield kept[1]
        return
    tally = Tally()
    estimate = line.estimate(call)
    with meter.place(call.role, estimate, line.dollars(Usage(input=estimate)), model=line.loaded.name):
        while True:
            written = Gathered()
            failure: Exception | None = None
            try:
                yield from _pieces(line, call, meter, written, tally)
            except GeneratorExit:
                _record(line, call, written, meter, tally, "left before its end")
                raise
            except Exception as raised:  # every provider raises errors of its own
                failure = raised
            if failure is None:
                if rest := written.rest():
                    yield rest
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
    followed(keep(line, call, answer, reply))
    yield reply


def _pieces(line: Line, call: Call[OutputT], meter: Meter, written: Gathered, tally: Tally) -> Iterator[str]:
    form = line.dialect.form
    model, options = line.dialect.settings(line.loaded.model, call, call.max_output_tokens, form)
    tally.attempts += 1
    with line.slots.held():
        began = time.perf_counter()
        try:
            begin = partial(bound(model, call.role, options).stream, line.dialect.messages(call, (), form))
            with closing(pieces_within(line.allowed(meter), begin)) as chunks:
                for chunk in chunks:
                    if piece := written.add(chunk):
                        yield piece
        finally:
            tally.seconds += time.perf_counter() - began


def _record(line: Line, call: Call[OutputT], written: Gathered, meter: Meter, tally: Tally, note: str) -> Usage:
    """Add the record of a stream, whole or not; what it took."""
    usage, estimated = counted(line, call, (), written.answer())
    if estimated:
        tally.notes.append(estimated)
    told = "; ".join(filter(None, (note, estimated)))
    meter.add(line.record(call, usage, seconds=tally.seconds, attempts=tally.attempts, note=told))
    return usage


def _broken_off(error: ModelError, usage: Usage) -> ModelError:
    return type(error)(f"the reply broke off: {error.what}", subject=error.subject, remedy=error.remedy, usage=usage)
