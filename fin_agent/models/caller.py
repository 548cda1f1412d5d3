"""A chat model that is asked: the one way in which all roles call one.

A call is answered from kept replies, or made within the budget, in a form that the server takes; a reply that cannot be
used is corrected once. Requests that fail for reasons that pass are made again by the provider's client.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from fin_agent.models.call import NO_USAGE, Call, Finish, Message, OutputT, PromptIdentity, Reply, Role, Usage
from fin_agent.models.costs import PriceTable
from fin_agent.models.errors import (
    BudgetExceededError,
    CallsStoppedError,
    ModelError,
    ModelTimeoutError,
    RequestRefusedError,
    exception_text,
    model_error,
)
from fin_agent.models.loading import LoadedModel
from fin_agent.models.metering import CallRecord, Meter, current_meter
from fin_agent.models.replies import (
    ServerReply,
    StreamedReply,
    correction,
    from_langchain_message,
    instruction,
    response_format,
    schema_text,
    validated_value,
)
from fin_agent.models.response_cache import ResponseCache, cache_key
from fin_agent.models.settings import CALLS_AT_ONCE, OutputMode
from fin_agent.models.tokens import approximate_tokens, message_tokens

if TYPE_CHECKING:
    from langchain_core.language_models import LanguageModelInput
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import Runnable

ResultT = TypeVar("ResultT")
OnText = Callable[[str], None]
"""Is told the text of a reply as far as it is written. One that does not go on from the text before is another try."""

_MORE_ROOM = 2
"""How many times the limit of tokens a reply may take that was cut off before."""
_TAKE_A_SCHEMA = frozenset(
    {
        "anthropic", "azure_openai", "deepseek", "fireworks", "google_genai", "google_vertexai", "groq", "mistralai",
        "ollama", "openai", "openrouter", "together", "xai",
    }
)  # fmt: skip
"""Providers whose LangChain model takes OpenAI's `response_format`, in its own words or translated."""
_OPENAI_CLIENTS = frozenset({"openai-chat", "azure-openai-chat"})
_LIMIT_NAMES = {
    "google_genai": "max_output_tokens",
    "google_vertexai": "max_output_tokens",
    "ollama": "num_predict",
}
_ESTIMATED = "the server told no tokens: they are estimated"


class Caller:
    """Calls one chat model, for any number of roles and threads.

    What a call took is recorded by the meter of the block (`metered`), whose budget is kept. A failure is a ModelError.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        *,
        mode: OutputMode | str = OutputMode.AUTO,
        at_once: int = CALLS_AT_ONCE,
        cache: ResponseCache | None = None,
        prices: PriceTable | None = None,
    ) -> None:
        """`at_once` calls at most are under way to the provider, whoever in this process makes them.

        Without a `cache` every call is made; with one, a call made before is answered from it and costs nothing.
        """
        self.model = loaded
        """The model that is called."""
        self._mode = OutputMode(mode)
        self.turns = _call_slots(loaded.provider, loaded.base_url, at_once)
        """Places for calls under way, of all callers in this process to the same address."""
        self._prices = prices or PriceTable()
        self._cache = cache
        in_words = self._mode is OutputMode.JSON or (
            self._mode is OutputMode.AUTO and loaded.provider not in _TAKE_A_SCHEMA
        )
        self.left_out = frozenset({"schema"} if in_words else ())
        """Settings of a request that the server was found not to take: `schema`, `temperature`, `stream`."""

    def __repr__(self) -> str:
        return f"Caller({self.model!r}, mode={self._mode.value!r})"

    @property
    def schema_in_use(self) -> bool:
        """Whether the server is held to enforce schemas; in mode `auto` this may change with the first call."""
        return "schema" not in self.left_out

    def reply(self, call: Call[OutputT]) -> Reply:
        """The reply; one that fits the type where the call names one. Raises ModelError."""
        return self._made(call, None)[1]

    def value(self, call: Call[OutputT], on_text: OnText | None = None) -> tuple[OutputT, Reply]:
        """The value of the type that the call names, and the reply. Raises ModelError.

        With `on_text` the reply is streamed where the server does that, and its text so far told as it grows; a reply
        that is kept is told at once. What is told is not checked: after a text that breaks off, or cannot be used,
        another is told from its beginning, or an error raised. What `on_text` raises ends the call.
        """
        value, reply = self._made(call, on_text)
        if value is None:
            raise ValueError(f"the call of role {call.role} names no output type: use `reply`")
        return value, reply

    def dollars(self, usage: Usage) -> float | None:
        """What tokens cost; None where the price is not known."""
        price = self._prices.price(self.model.name, self.model.priced_at)
        return None if price is None else price.dollars(usage)

    def error(self, exception: Exception, role: Role) -> ModelError:
        """What an exception of the provider's client means for a role."""
        return model_error(exception, f"role `{role}` by {self.model.name}", self.model.base_url)

    def _made(self, call: Call[OutputT], on_text: OnText | None) -> tuple[OutputT | None, Reply]:
        meter = current_meter() or Meter()
        key = "" if self._cache is None else cache_key(call, self.model.name, self.model.base_url, self._mode)
        if (kept := self._cached_reply(call, key, meter)) is not None:
            if on_text is not None:
                on_text(kept[1].text)
            return kept
        value, reply, held_key = _Exchange(self, call, meter, on_text).outcome()
        if self._cache is not None and not held_key:
            self._cache.put(key, reply)
        return value, reply

    def _cached_reply(self, call: Call[OutputT], key: str, meter: Meter) -> tuple[OutputT | None, Reply] | None:
        """What was kept of the same call; None where nothing was, or where it no longer fits."""
        kept = None if self._cache is None else self._cache.get(key)
        if kept is None:
            return None
        try:
            value = validated_value(call, ServerReply(kept.text, kept.finish, kept.usage))
        except ModelError:
            return None
        meter.add(self.record(call.role, call.prompt, kept.usage, dollars=0.0, from_cache=True))
        return value, kept.model_copy(update={"from_cache": True})

    def record(self, role: Role, prompt: PromptIdentity, usage: Usage, **more: Any) -> CallRecord:
        """What a call took, as it is accounted for."""
        return CallRecord(
            role=role,
            model=self.model.name,
            prompt=prompt.name,
            prompt_version=prompt.version,
            usage=usage,
            **{"dollars": self.dollars(usage), "seconds": 0.0, **more},
        )

    def estimate(self, call: Call[OutputT], further: tuple[Message, ...] = ()) -> int:
        """Tokens of input that a call would take, approximately, with those of the schema."""
        schema = 0 if call.output is None else approximate_tokens(schema_text(call.output))
        return schema + message_tokens(text for _, text in (*call.messages, *further))

    def bound(
        self, call: Call[OutputT], further: tuple[Message, ...], most: int | None, left_out: frozenset[str]
    ) -> tuple[Runnable[LanguageModelInput, AIMessage], list[tuple[str, str]]]:
        """The model with the settings of a request, and the messages; `most` bounds the reply, in tokens."""
        model, provider = self.model.model, self.model.provider
        own: dict[str, object] = {} if "temperature" in left_out else {"temperature": call.temperature}
        if most is not None:
            own[_LIMIT_NAMES.get(provider, "max_tokens")] = most
        messages: list[tuple[str, str]] = [*call.messages, *further]
        options: dict[str, object] = {}
        if provider == "ollama":  # takes these as fields only
            model = model.model_copy(update=own)
        else:
            options.update(own)
        if call.output is not None and "schema" not in left_out:
            wanted: dict[str, object] = {"response_format": response_format(call.output)}
            # Named to it, OpenAI's client reads the reply itself, and one that is cut off is lost with what it cost.
            options.update({"extra_body": wanted} if model._llm_type in _OPENAI_CLIENTS else wanted)
        elif call.output is not None:
            (kind, text), told = messages[0], instruction(call.output)
            messages[:1] = [(kind, f"{text}\n\n{told}")] if kind == "system" else [("system", told), (kind, text)]
        # The role, for whatever traces the calls.
        role = call.role.value
        return model.bind(**options).with_config(metadata={"role": role}, tags=[f"role:{role}"]), messages

    def reduced_request(
        self, left_out: frozenset[str], failure: Exception, call: Call[OutputT]
    ) -> frozenset[str] | None:
        """What to leave out after a server refused a request; None where nothing is left to leave out."""
        if type(self.error(failure, call.role)) is not RequestRefusedError:
            return None
        about = exception_text(failure)
        for setting in ("temperature", "stream"):
            if setting not in left_out and setting in about:
                return left_out | {setting}
        if "schema" not in left_out and call.output is not None and self._mode is OutputMode.AUTO:
            return left_out | {"schema"}
        return None

    def learn(self, left_out: frozenset[str]) -> None:
        """The server took a request without these after it had refused a fuller one: that one is not tried again."""
        self.left_out |= left_out


class _Exchange:
    """One call on its way: the request, at most one correction, and what all of it took."""

    def __init__(self, caller: Caller, call: Call[Any], meter: Meter, on_text: OnText | None) -> None:
        self._caller = caller
        self._call = call
        self._meter = meter
        self._on_text = on_text
        self._usage = NO_USAGE
        self._seconds = 0.0
        self._notes: list[str] = []
        self._subject = f"role `{call.role}` by {caller.model.name}"
        self._over = False
        """Whether the time was over: a stream that nobody waits for any more tells nothing."""

    def outcome(self) -> tuple[Any, Reply, bool]:
        """The value, where one is wanted, the reply, and whether it held a key. Raises ModelError."""
        most = self._call.max_output_tokens
        further: tuple[Message, ...] = ()
        for corrected in (False, True):
            try:
                answer, broken = self._receive_answer(further, most)
            except ModelError as failure:
                failure.usage += self._usage
                raise
            value, fault = (None, broken) if broken is not None else self._validate_answer(answer)
            self._account(answer, further, "" if fault is None else fault.what)
            if fault is None:
                return value, self._reply(answer), answer.held_key
            if not corrected:
                again = "a correction was asked for" if broken is None else "it was asked for again"
                self._notes.append(f"{again}: {fault.what}")
                further = correction(self._call, answer, fault) if broken is None else ()
                if most is not None and answer.finish is Finish.LENGTH:
                    most *= _MORE_ROOM
        assert fault is not None
        told = f"two replies could not be used: {fault.what}"
        raise type(fault)(told, subject=self._subject, remedy=fault.remedy, usage=self._usage)

    def _validate_answer(self, answer: ServerReply) -> tuple[Any, ModelError | None]:
        try:
            return validated_value(self._call, answer), None
        except ModelError as fault:
            return None, fault

    def _reply(self, answer: ServerReply) -> Reply:
        if answer.held_key:
            self._notes.append("the reply held a key, which was taken out")
        return Reply(
            text=answer.text,
            usage=self._usage,
            model=self._caller.model.name,
            finish=answer.finish,
            seconds=self._seconds,
            notes=tuple(self._notes),
        )

    def _account(self, answer: ServerReply | None, further: tuple[Message, ...], note: str) -> Usage:
        """Record what an answer took, whole or not; nothing where none came."""
        usage, notes = NO_USAGE, [note]
        if answer is not None and answer.usage is not None:
            usage = answer.usage
        elif answer is not None:
            output = approximate_tokens(answer.text)
            usage = Usage(input=self._caller.estimate(self._call, further), output=output, approximate=True)
            notes.append(_ESTIMATED)
            self._notes += [] if _ESTIMATED in self._notes else [_ESTIMATED]
        seconds = self._seconds - self._seconds_before
        told = "; ".join(filter(None, notes))
        self._meter.add(self._caller.record(self._call.role, self._call.prompt, usage, seconds=seconds, note=told))
        self._usage += usage
        return usage

    def _receive_answer(self, further: tuple[Message, ...], most: int | None) -> tuple[ServerReply, ModelError | None]:
        """One answer of the server; with the error, where it broke off while it was streamed.

        Raises ModelError, with what was spent on this answer, which is recorded by then.
        """
        caller, call, meter = self._caller, self._call, self._meter
        estimate = caller.estimate(call, further)
        part = StreamedReply()
        self._seconds_before = self._seconds
        with (
            meter.reserve(call.role, estimate, caller.dollars(Usage(input=estimate)), model=caller.model.name),
            caller.turns,
        ):
            if meter.stopped:
                raise CallsStoppedError("the caller stopped waiting for the reply", subject=self._subject)
            began = time.perf_counter()
            try:
                return self._send_with_fallbacks(further, most, part), None
            except _ListenerStoppedError as left:
                note = "left before its end" if meter.stopped else "interrupted"
                self._account(part.answer() if part.said else None, further, note)
                raise left.cause from None
            except Exception as raised:  # every provider raises errors of its own
                failure = raised
            except BaseException:
                self._account(part.answer() if part.said else None, further, "interrupted")
                raise
            finally:
                self._seconds += time.perf_counter() - began
        # Outside the handler: what a provider raises may hold a key, and is to be no part of what is raised here.
        error = self._error(failure)
        if part.said and meter.seconds_left() != 0:
            return part.answer(), type(error)(f"the reply broke off: {error.what}", remedy=error.remedy)
        self._account(part.answer() if part.said else None, further, error.what)
        raise error

    def _send_with_fallbacks(self, further: tuple[Message, ...], most: int | None, part: StreamedReply) -> ServerReply:
        """The answer to a request in the fullest form that the server takes."""
        caller, left_out = self._caller, self._caller.left_out
        while True:
            model, messages = caller.bound(self._call, further, most, left_out)
            sent = partial(self._send_request, model, messages, part, streamed="stream" not in left_out)
            try:
                answer = with_timeout(self._meter.seconds_left(), sent)
            except _ListenerStoppedError:
                raise
            except Exception as failure:
                smaller = caller.reduced_request(left_out, failure, self._call)
                if smaller is None:
                    raise
                left_out = smaller
            else:
                caller.learn(left_out)
                return answer

    def _send_request(
        self,
        model: Runnable[LanguageModelInput, AIMessage],
        messages: list[tuple[str, str]],
        part: StreamedReply,
        *,
        streamed: bool,
    ) -> ServerReply:
        """The answer to one request, whose text is told as it grows where somebody listens."""
        if self._on_text is None or not streamed:
            return from_langchain_message(model.invoke(messages))
        pieces = model.stream(messages)
        try:
            for piece in pieces:
                self._tell(part, part.add(piece))
        finally:
            if (close := getattr(pieces, "close", None)) is not None:
                close()
        self._tell(part, part.rest())
        return part.answer()

    def _tell(self, part: StreamedReply, grown: bool) -> None:
        try:
            if grown and self._on_text is not None and not self._over:
                self._on_text(part.said)
            if self._meter.stopped:
                raise CallsStoppedError("the caller stopped waiting for the reply", subject=self._subject)
        except Exception as failure:
            raise _ListenerStoppedError(failure) from failure

    def _error(self, failure: Exception) -> ModelError:
        """What a provider's exception means; where the time was over, the server is not to blame."""
        error = self._caller.error(failure, self._call.role)
        if not isinstance(error, ModelTimeoutError) or self._meter.seconds_left() != 0:
            return error
        self._over = True
        if self._meter.stopped:
            return CallsStoppedError("the caller stopped waiting for the reply", subject=self._subject)
        told = "the seconds that all calls may take were over before the reply was there"
        return BudgetExceededError(told, subject=self._subject, remedy="Allow more, or ask for less")


class _ListenerStoppedError(Exception):
    """Whoever listens wants no more: with what the listener raised, or that the calls were stopped."""

    def __init__(self, cause: Exception) -> None:
        self.cause = cause


def with_timeout(seconds: float | None, work: Callable[[], ResultT]) -> ResultT:
    """What `work` gives. Raises TimeoutError after so many seconds; what is under way is left to itself."""
    if seconds is None:
        return work()
    result: Future[ResultT] = Future()

    def worked() -> None:
        try:
            result.set_result(work())
        except BaseException as failure:
            result.set_exception(failure)

    # A daemon: a process that is to end does not wait for a server.
    threading.Thread(target=copy_context().run, args=(worked,), name="fin-agent-request", daemon=True).start()
    return result.result(seconds)


@lru_cache(maxsize=256)
def _call_slots(provider: str, base_url: str | None, at_once: int) -> threading.Semaphore:
    """The places for calls of one provider at one address, the same for every caller that allows as many."""
    return threading.Semaphore(at_once)
