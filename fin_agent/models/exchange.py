"""How a call is made: the cache, the budget, retries, a form that the server takes, and one correction."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from fin_agent.models.call import Call, Finish, Message, OutputT, Reply
from fin_agent.models.dialects import Dialect
from fin_agent.models.errors import BudgetExceededError, CallsStoppedError, ModelError, ModelTimeoutError
from fin_agent.models.failures import Failure, failure_of
from fin_agent.models.gathering import Gathered
from fin_agent.models.judging import Fault, correction, judged
from fin_agent.models.limits import Slots
from fin_agent.models.loading import LoadedModel
from fin_agent.models.metering import CallRecord, Meter, current_meter
from fin_agent.models.prices import PriceTable
from fin_agent.models.received import Received, received, received_in
from fin_agent.models.response_cache import KeptReply, ResponseCache, cache_key
from fin_agent.models.retrying import Retrying
from fin_agent.models.schemas import schema_text
from fin_agent.models.steps import Ask, Do, Pause, Steps
from fin_agent.models.tokens import TokenCounter
from fin_agent.models.usage import NO_USAGE, Usage

_MORE_ROOM = 2
"""How many times the limit of tokens a reply may take that was cut off before."""


@dataclass(frozen=True, slots=True)
class Line:
    """A model with all that calls of it need."""

    loaded: LoadedModel
    dialect: Dialect
    retrying: Retrying
    slots: Slots
    counter: TokenCounter
    prices: PriceTable
    cache: ResponseCache | None = None

    def subject(self, call: Call[OutputT]) -> str:
        """How errors name a call."""
        return f"role `{call.role}` by {self.loaded.name}"

    def key(self, call: Call[OutputT]) -> str:
        """Under what the reply to a call is kept."""
        return cache_key(call, self.loaded.name, self.loaded.base_url, self.dialect.mode)

    def allowed(self, meter: Meter) -> float | None:
        """Seconds that a request may take as a whole: what the settings say, or what is left of the budget."""
        limits = (self.loaded.timeout, meter.seconds_left())
        return min((limit for limit in limits if limit is not None), default=None)

    def dollars(self, usage: Usage) -> float | None:
        """What tokens cost; None where the price is not known."""
        price = self.prices.price(self.loaded.name, self.loaded.priced_at)
        return None if price is None else price.dollars(usage)

    def record(self, call: Call[OutputT], usage: Usage, *, seconds: float = 0, attempts: int = 1, note: str = "",
               from_cache: bool = False) -> CallRecord:  # fmt: skip
        """What a call took, as it is accounted for."""
        return CallRecord(
            role=call.role,
            model=self.loaded.name,
            prompt=call.prompt.name,
            prompt_version=call.prompt.version,
            usage=usage,
            dollars=0.0 if from_cache else self.dollars(usage),
            seconds=seconds,
            from_cache=from_cache,
            attempts=attempts,
            note=note,
        )

    def estimate(self, call: Call[OutputT], further: tuple[Message, ...] = ()) -> int:
        """Tokens of input, with those of the schema."""
        schema = 0 if call.output is None else self.counter.count(schema_text(call.output))
        return schema + self.counter.count_messages((*call.messages, *further))


@dataclass(slots=True)
class Tally:
    """What a call has taken until now."""

    usage: Usage = NO_USAGE
    attempts: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)


OnText = Callable[[str], None]
"""Is told the text of a reply as far as it is written. One that does not go on from the text before is another try."""


def exchange(line: Line, call: Call[OutputT], on_text: OnText | None = None) -> Steps[tuple[OutputT | None, Reply]]:
    """The value, where one is wanted, and the reply. Raises ModelError, with what was spent on it."""
    meter = current_meter() or Meter()
    if (kept := (yield from kept_reply(line, call, meter))) is not None:
        if on_text is not None:
            on_text(kept[1].text)
        return kept
    tally = Tally()
    most = call.max_output_tokens
    further: tuple[Message, ...] = ()
    fault: Fault | None = None
    for corrected in (False, True):
        try:
            answer, usage, record, broken = yield from _answered(line, call, further, most, meter, tally, on_text)
        except ModelError as failure:
            failure.usage += tally.usage
            raise
        value, fault = (None, broken) if broken is not None else judged(call, answer)
        meter.add(record if fault is None else record.model_copy(update={"note": _joined(record.note, fault.what)}))
        tally.usage += usage
        if fault is None:
            reply = replied(line, answer, tally)
            yield from keep(line, call, answer, reply)
            return value, reply
        if not corrected:
            wanted = "it was asked for again" if fault.broke_off else "a correction was asked for"
            tally.notes.append(f"{wanted}: {fault.what}")
            further = correction(call, answer, fault)
            if most is not None and answer.finish is Finish.LENGTH:
                most *= _MORE_ROOM
    assert fault is not None
    raise fault.error(line.subject(call), tally.usage)


def kept_reply(line: Line, call: Call[OutputT], meter: Meter) -> Steps[tuple[OutputT | None, Reply] | None]:
    """What was kept of the same call; None where nothing was, or where it no longer fits."""
    if line.cache is None:
        return None
    look = Do(partial(line.cache.get, line.key(call)))
    yield look
    if (kept := look.result) is None:
        return None
    value, fault = judged(call, Received(kept.text, kept.finish, kept.usage))
    if fault is not None:
        return None
    meter.add(line.record(call, kept.usage, from_cache=True, attempts=0))
    return value, Reply(kept.text, kept.usage, kept.model, kept.finish, from_cache=True, attempts=0)


def keep(line: Line, call: Call[OutputT], answer: Received, reply: Reply) -> Steps[None]:
    """Keep a good reply, where there is a cache; not one that held a key."""
    if line.cache is not None and not answer.held_key:
        kept = KeptReply(text=reply.text, usage=reply.usage, model=reply.model, finish=reply.finish)
        yield Do(partial(line.cache.put, line.key(call), kept))


def replied(line: Line, answer: Received, tally: Tally) -> Reply:
    """The reply of a call that went well."""
    if answer.held_key:
        tally.notes.append("the reply held a key, which was taken out")
    return Reply(
        text=answer.text,
        usage=tally.usage,
        model=line.loaded.name,
        finish=answer.finish,
        attempts=tally.attempts,
        seconds=tally.seconds,
        notes=tuple(tally.notes),
    )


def counted(line: Line, call: Call[OutputT], further: tuple[Message, ...], answer: Received) -> tuple[Usage, str]:
    """What an answer took, and a note where that is our own count."""
    if answer.usage is not None:
        return answer.usage, ""
    output = line.counter.count(answer.text)
    usage = Usage(input=line.estimate(call, further), output=output, approximate=True)
    return usage, "the server told no tokens: they are estimated"


def _answered(
    line: Line,
    call: Call[OutputT],
    further: tuple[Message, ...],
    most: int | None,
    meter: Meter,
    tally: Tally,
    on_text: OnText | None,
) -> Steps[tuple[Received, Usage, CallRecord, Fault | None]]:
    """One answer of the server, what it took, and the record of it, which is the caller's to add.

    The fault is that of an answer that broke off while it was streamed. Requests that fail before are made again.
    """
    estimate = line.estimate(call, further)
    with meter.place(call.role, estimate, line.dollars(Usage(input=estimate)), model=line.loaded.name):
        form = line.dialect.form
        requests = 0
        seconds = 0.0
        fault: Fault | None = None
        while True:
            model, options = line.dialect.settings(line.loaded.model, call, most, form)
            ask = Ask(
                model,
                call.role,
                line.dialect.messages(call, further, form),
                options,
                line.slots,
                on_text=on_text if form.streamed else None,
                stopped=lambda: meter.stopped,
                allowed=partial(line.allowed, meter),
            )
            requests += 1
            tally.attempts += 1
            try:
                yield ask
            except GeneratorExit:  # whoever waited for it has gone
                usage, note = _of_part(line, call, further, ask.gathered)
                meter.add(line.record(call, usage, attempts=requests, note=_joined("interrupted", note)))
                raise
            seconds += ask.seconds
            tally.seconds += ask.seconds
            if ask.left:
                usage, note = _of_part(line, call, further, ask.gathered)
                if ask.sent:
                    told = _joined("left before its end", note)
                    meter.add(line.record(call, usage, seconds=seconds, attempts=requests, note=told))
                raise CallsStoppedError("nobody waits for the reply any more", subject=line.subject(call), usage=usage)
            answer = received(ask.answer) if ask.answer is not None else _inside(ask.failure)
            if answer is not None:
                break
            assert ask.failure is not None
            failure = failure_of(ask.failure, line.subject(call), line.loaded.base_url)
            smaller = form.without(failure, call, line.dialect.mode)
            if smaller is not None:
                form = smaller
                continue
            if ask.gathered.said:
                answer, fault = ask.gathered.answer(), _broken_off(failure)
                break
            yield Pause(pause_before_retry(line, call, meter, failure, requests, seconds))
        if form != line.dialect.form:
            line.dialect.learn(form)
        usage, note = counted(line, call, further, answer)
        if note and note not in tally.notes:
            tally.notes.append(note)
        return answer, usage, line.record(call, usage, seconds=seconds, attempts=requests, note=note), fault


def _of_part(line: Line, call: Call[OutputT], further: tuple[Message, ...], part: Gathered) -> tuple[Usage, str]:
    """What an answer took that was left, as far as that is known, with a note of it."""
    return counted(line, call, further, part.answer()) if part.said else (NO_USAGE, "what it cost is not known")


def _broken_off(failure: Failure) -> Fault:
    error = failure.error
    return Fault(type(error), f"the reply broke off: {error.what}", error.remedy, broke_off=True)


def pause_before_retry(
    line: Line, call: Call[OutputT], meter: Meter, failure: Failure, requests: int, seconds: float
) -> float:
    """Seconds to wait before the request is made again. Raises the failure's error where it is not made again."""
    wait = line.retrying.wait(requests, asked=failure.asked, call=line.key(call))
    left = meter.seconds_left()
    if failure.retryable and requests < line.retrying.attempts and wait < (math.inf if left is None else left):
        return wait
    error = failure.error
    if isinstance(error, ModelTimeoutError) and left == 0:
        error = _out_of_time(error.subject, stopped=meter.stopped)
    meter.add(line.record(call, NO_USAGE, seconds=seconds, attempts=requests, note=error.what))
    if requests > 1:
        error = type(error)(f"{error.what}, {requests} requests", subject=error.subject, remedy=error.remedy)
    raise error


def _out_of_time(subject: str, *, stopped: bool) -> ModelError:
    """Of a reply that was not waited for to its end, through no fault of the server."""
    if stopped:
        return CallsStoppedError("nobody waits for the reply any more", subject=subject)
    told = "the seconds that all calls may take were over before the reply was there"
    return BudgetExceededError(told, subject=subject, remedy="Allow more, or ask for less")


def _inside(failure: Exception | None) -> Received | None:
    return None if failure is None else received_in(failure)


def _joined(*notes: str) -> str:
    return "; ".join(filter(None, notes))
