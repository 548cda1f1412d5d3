"""Calling a chat model: the one code path of all roles.

A call is served from the cache or made within the budget, in a form that the server accepts. A reply that cannot be
used is corrected once. Requests that fail for transient reasons are repeated by the provider's client.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager
from contextvars import copy_context
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import ValidationError

from fin_agent.atomic_write import create_private_file
from fin_agent.lexicon.words import load_yaml
from fin_agent.models import errors, replies
from fin_agent.models.call import NO_USAGE, Call, Finish, Message, OutputT, PromptIdentity, Reply, Role, Usage
from fin_agent.models.errors import ModelError, ModelSetupError
from fin_agent.models.loading import LoadedModel, load_chat_model
from fin_agent.models.metering import CallRecord, Meter, PriceTable, current_meter
from fin_agent.models.replies import ServerReply, from_langchain_message
from fin_agent.models.settings import ModelSettings, OutputMode
from fin_agent.models.tokens import approximate_tokens, message_tokens

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel, LanguageModelInput
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import Runnable

ResultT = TypeVar("ResultT")
OnText = Callable[[str], None]
"""Is called with the text of a reply so far. A text that does not continue the last one belongs to a new attempt."""

_MORE_ROOM = 2
"""Factor by which the token limit grows after a reply was cut off."""
_BUSY_SECONDS = 10.0
"""How long the file of cached replies is waited for."""
_SCHEMA = "CREATE TABLE IF NOT EXISTS cached_replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) STRICT"
_LOG = logging.getLogger(__name__)


class Caller:
    """Calls one chat model for any number of roles and threads.

    The meter of the enclosing `metered` block records each call and enforces its budget. A failure is a ModelError.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        settings: ModelSettings | None = None,
        *,
        cache: ResponseCache | None = None,
        prices: PriceTable | None = None,
    ) -> None:
        """Prepare the caller; nothing is sent yet.

        The settings say how replies are made to match their type (`output`) and limit the calls to the provider over
        all callers of this process (`at_once`). Calls found in the `cache` cost nothing; without one, every call is
        made. By default, prices are the published ones.
        """
        settings = settings or ModelSettings()
        self.model = loaded
        """The chat model."""
        self.mode = settings.output
        self._slots = _call_slots(loaded.provider, loaded.base_url, settings.at_once)
        self._prices = prices or PriceTable()
        self._cache = cache
        self._peculiar = load_yaml("providers", __package__).get(loaded.provider, {})
        in_words = self.mode is OutputMode.AUTO and not self._peculiar.get("schema")
        self.left_out = frozenset({"schema"} if in_words or self.mode is OutputMode.JSON else ())
        """Settings of a request that the server does not accept: `schema`, `temperature`, `stream`.

        In mode `auto`, the first call may add `schema`.
        """

    def reply(self, call: Call[OutputT]) -> Reply:
        """Make a call and return its reply, which matches the type if the call names one. Raises ModelError."""
        return self._made(call, None)[1]

    def value(self, call: Call[OutputT], on_text: OnText | None = None) -> tuple[OutputT, Reply]:
        """Make a call that names an output type (else ValueError); return its value and the reply. Raises ModelError.

        `on_text` is called with the unchecked text so far while the reply is streamed, or once with a cached reply. If
        that reply cannot be used, the text of another attempt follows, or an error is raised. What it raises ends the
        call.
        """
        value, reply = self._made(call, on_text)
        if value is None:
            raise ValueError(f"the call of role {call.role} names no output type: use `reply`")
        return value, reply

    def dollars(self, usage: Usage) -> float | None:
        """Return the price of tokens in dollars; None if it is unknown."""
        price = self._prices.price(self.model.name, self.model.priced_at)
        return None if price is None else price.dollars(usage)

    def error(self, exception: Exception, role: Role) -> ModelError:
        """Return the ModelError for an exception of the provider's client."""
        return errors.model_error(exception, f"role `{role}` by {self.model.name}", self.model.base_url)

    @contextmanager
    def turn(self, meter: Meter, role: Role, input_tokens: int) -> Iterator[None]:
        """Hold a free slot, within the budget, while the block makes a call. Raises ModelError if none is allowed."""
        dollars = self.dollars(Usage(input=input_tokens))
        with meter.reserve(role, input_tokens, dollars, model=self.model.name), self._slots:
            yield

    def record(self, role: Role, prompt: PromptIdentity, usage: Usage, **more: Any) -> CallRecord:
        """Return the record of a call for the meter."""
        more = {"dollars": self.dollars(usage), "seconds": 0.0, "prompt_version": prompt.version, **more}
        return CallRecord(role=role, model=self.model.name, usage=usage, prompt=prompt.name, **more)

    def _made(self, call: Call[OutputT], on_text: OnText | None) -> tuple[OutputT | None, Reply]:
        meter = current_meter() or Meter()
        key = cache_key(call, self.model.name, self.model.base_url, self.mode) if self._cache is not None else ""
        if self._cache is not None and (kept := self._cache.get(key)) is not None:
            try:
                value = replies.validated_value(call, ServerReply(kept.text, kept.finish))
            except ModelError:  # it no longer matches the type
                pass
            else:
                meter.add(self.record(call.role, call.prompt, kept.usage, dollars=0.0, from_cache=True))
                if on_text is not None:
                    on_text(kept.text)
                return value, kept.model_copy(update={"from_cache": True})
        requests = Meter(within=meter)
        value, answer = _Exchange(self, call, requests, on_text).outcome()
        usage = sum((record.usage for record in requests.records), NO_USAGE)
        reply = Reply(text=answer.text, usage=usage, model=self.model.name, finish=answer.finish)
        if self._cache is not None and not answer.held_key:
            self._cache.put(key, reply)
        return value, reply

    def _bound(
        self, call: Call, further: tuple[Message, ...], most: int | None, left_out: frozenset[str]
    ) -> tuple[Runnable[LanguageModelInput, AIMessage], list[tuple[str, str]]]:
        """Return the model bound to the settings of a request, and the messages."""
        model = self.model.model
        options: dict[str, object] = {} if "temperature" in left_out else {"temperature": call.temperature}
        if most is not None:
            options[self._peculiar.get("limit", "max_tokens")] = most
        if self.model.provider == "ollama":  # takes these as fields only
            model, options = model.model_copy(update=options), {}
        messages: list[tuple[str, str]] = [*call.messages, *further]
        if call.output is not None and "schema" not in left_out:
            wanted: dict[str, object] = {"response_format": replies.response_format(call.output)}
            # Not as a named option: OpenAI's client would parse the reply, and lose one that is cut off with its usage.
            options |= {"extra_body": wanted} if model._llm_type.endswith("openai-chat") else wanted
        elif call.output is not None:
            (kind, text), told = messages[0], replies.instruction(call.output)
            messages[:1] = [(kind, f"{text}\n\n{told}")] if kind == "system" else [("system", told), (kind, text)]
        role = call.role.value  # for whatever traces the calls
        return model.bind(**options).with_config(metadata={"role": role}, tags=[f"role:{role}"]), messages


class _LeftError(BaseException):
    """The listener raised the exception that this holds, or the calls were stopped: no error of the provider."""


class _Exchange:
    """One call in progress: its requests, which the meter records, and at most one correction."""

    def __init__(self, caller: Caller, call: Call[Any], meter: Meter, on_text: OnText | None) -> None:
        self._caller, self._meter, self._on_text = caller, meter, on_text
        self._call: Call = call
        self._subject = f"role `{call.role}` by {caller.model.name}"
        self._message: AIMessage | None = None
        """What was streamed so far of the current reply."""
        self._told = ""
        """The text of it that the listener was told."""

    def outcome(self) -> tuple[Any, ServerReply]:
        """Return the value if a type is named, and the reply. Raises ModelError."""
        most = self._call.max_output_tokens
        further: tuple[Message, ...] = ()
        for corrected in (False, True):
            answer, seconds = self._receive_answer(further, most)
            value, fault = None, None
            try:
                value = replies.validated_value(self._call, answer)
            except ModelError as failure:
                fault = failure
            self._account(answer, further, seconds, "" if fault is None else fault.what)
            if fault is None:
                break
            if corrected:
                what = f"two replies could not be used: {fault.what}"
                raise type(fault)(what, subject=self._subject, remedy=fault.remedy)
            further = replies.correction(self._call, answer, fault) if answer.broken is None else ()
            if most is not None and answer.finish is Finish.LENGTH:
                most *= _MORE_ROOM
        return value, answer

    def _receive_answer(self, further: tuple[Message, ...], most: int | None) -> tuple[ServerReply, float]:
        """Return one reply of the server, and its seconds. Raises ModelError after its usage was recorded."""
        meter = self._meter
        self._message, self._told = None, ""
        with self._caller.turn(meter, self._call.role, self._estimate(further)):
            if meter.stopped:
                raise self._stopped()
            began = time.perf_counter()
            try:
                return self._send_with_fallbacks(further, most), time.perf_counter() - began
            except Exception as raised:  # every provider raises errors of its own
                error = self._error(raised)
            except BaseException as left:
                note = "left before its end" if meter.stopped else "interrupted"
                self._account(self._partial(), further, time.perf_counter() - began, note)
                raise left.args[0] if isinstance(left, _LeftError) else left from None
            seconds = time.perf_counter() - began
        # Outside the handler, so that no provider's exception, which may contain a key, is chained to this error.
        part = self._partial()
        if part is not None and meter.seconds_left() != 0:
            broken = type(error)(f"the reply broke off: {error.what}", remedy=error.remedy)
            return replace(part, broken=broken), seconds
        self._account(part, further, seconds, error.what)
        raise error

    def _partial(self) -> ServerReply | None:
        """Return what was streamed of a reply that is not complete; None if nothing was shown of it."""
        return from_langchain_message(self._message) if self._message is not None and self._told else None

    def _account(self, answer: ServerReply | None, further: tuple[Message, ...], seconds: float, note: str) -> None:
        """Record the usage of a reply, complete or not; nothing was used if there was no reply."""
        usage, notes = NO_USAGE, [note]
        if answer is not None and answer.usage is not None:
            usage = answer.usage
        elif answer is not None:
            output = approximate_tokens(answer.text)
            usage = Usage(input=self._estimate(further), output=output, approximate=True)
            notes.append("the server reported no token counts: they are estimated")
        if answer is not None and answer.held_key:
            notes.append("the reply held a key, which was taken out")
        told = "; ".join(filter(None, notes))
        self._meter.add(self._caller.record(self._call.role, self._call.prompt, usage, seconds=seconds, note=told))

    def _estimate(self, further: tuple[Message, ...]) -> int:
        """Return the approximate number of input tokens, including the schema."""
        call = self._call
        schema = 0 if call.output is None else approximate_tokens(replies.schema_text(call.output))
        return schema + message_tokens(text for _, text in (*call.messages, *further))

    def _send_with_fallbacks(self, further: tuple[Message, ...], most: int | None) -> ServerReply:
        """Return the reply to a request with as many settings as the server accepts, which are remembered."""
        left_out = self._caller.left_out
        while True:
            model, messages = self._caller._bound(self._call, further, most, left_out)
            streamed = self._on_text is not None and "stream" not in left_out
            send = partial(self._stream, model) if streamed else model.invoke
            try:
                message = with_timeout(self._meter.seconds_left(), partial(send, messages))
            except Exception as failure:
                refused = self._refused_setting(left_out, failure)
                if refused is None:
                    raise
                left_out |= {refused}
            else:
                self._caller.left_out |= left_out
                return from_langchain_message(message)

    def _refused_setting(self, left_out: frozenset[str], failure: Exception) -> str | None:
        """Return the setting to leave out after a server refused a request; None if nothing more can be left out."""
        if type(self._error(failure)) is not errors.RequestRefusedError:
            return None
        about = errors.exception_text(failure)
        named = [setting for setting in ("temperature", "stream") if setting in about]
        if self._call.output is not None and self._caller.mode is OutputMode.AUTO:
            named.append("schema")
        return next((setting for setting in named if setting not in left_out), None)

    def _stream(self, model: Runnable[LanguageModelInput, AIMessage], messages: list[tuple[str, str]]) -> AIMessage:
        """Return the reply to one request, telling its text as it grows."""
        from langchain_core.messages import AIMessage

        self._message = None
        with closing(cast("Generator[AIMessage]", model.stream(messages))) as pieces:
            for piece in pieces:
                self._message = piece if self._message is None else cast("AIMessage", self._message + piece)
                self._tell(self._message, more=True)
        if self._message is None:
            return AIMessage("")
        self._tell(self._message, more=False)
        return self._message

    def _tell(self, message: AIMessage, *, more: bool) -> None:
        """Tell the listener what is new in a reply, unless its time is over."""
        text = replies.shown_part(str(message.text), more=more)
        try:
            if self._on_text is not None and text != self._told and self._meter.seconds_left() != 0:
                self._told = text
                self._on_text(text)
        except Exception as failure:
            raise _LeftError(failure) from None
        if self._meter.stopped:
            raise _LeftError(self._stopped())

    def _stopped(self) -> ModelError:
        return errors.CallsStoppedError("the caller stopped waiting for the reply", subject=self._subject)

    def _error(self, failure: Exception) -> ModelError:
        """Return the ModelError for a provider's exception; a timeout of the budget is not the server's."""
        error = self._caller.error(failure, self._call.role)
        if not isinstance(error, errors.ModelTimeoutError) or self._meter.seconds_left() != 0:
            return error
        what = "the time limit of all calls ended before the reply arrived"
        ended = errors.BudgetExceededError(what, subject=self._subject, remedy="Allow more seconds, or ask for less")
        return self._stopped() if self._meter.stopped else ended


def with_timeout(seconds: float | None, work: Callable[[], ResultT]) -> ResultT:
    """Return the result of `work`. Raises TimeoutError after `seconds`; the work then continues unobserved."""
    if seconds is None:
        return work()
    result: Future[ResultT] = Future()

    def worked() -> None:
        try:
            result.set_result(work())
        except BaseException as failure:
            result.set_exception(failure)

    # A daemon thread, so that the process can end without waiting for a server.
    threading.Thread(target=copy_context().run, args=(worked,), name="fin-agent-request", daemon=True).start()
    return result.result(seconds)


@lru_cache(maxsize=256)
def _call_slots(provider: str, base_url: str | None, at_once: int) -> threading.Semaphore:
    """Return the slots for calls of one provider at one address, shared by all callers with the same limit."""
    return threading.Semaphore(at_once)


LARGE_ROLES = frozenset((Role.REASONING, Role.VERIFICATION, Role.TEXT_JUDGE, Role.PASSAGES_JUDGE, Role.ASSISTANT))
"""Roles with few calls that decide the answer; the small model fills all other roles."""


class Callers:
    """Callers by role. Thread-safe; each model is loaded once.

    An existing chat model can be used in place of a model's name:

    >>> from fin_agent import Callers
    >>> from fin_agent.models import Role
    >>> from fin_agent.testing import ScriptedChatModel
    >>> callers = Callers.with_model(ScriptedChatModel(["Revenue rose."]), name="mine:model")
    >>> callers.name(Role.REASONING)
    'mine:model'
    """

    def __init__(
        self, settings: ModelSettings, *, load: Callable[[str, ModelSettings], LoadedModel] | None = None
    ) -> None:
        """Prepare the callers; no model is loaded yet. Raises PricesError if the file of prices cannot be used.

        `load` returns the model of a name, in place of `load_chat_model`.
        """
        self.settings = settings
        self._load = load or _as_set
        self._prices = PriceTable.from_file(settings.prices)
        self._cache = None if settings.cache is None else ResponseCache(settings.cache)
        families = {} if settings.base_url is not None else load_yaml("smaller", __package__)
        self._small: str | None = settings.small or families.get(settings.model or "")
        self._callers: dict[str, Caller] = {}
        self._guard = threading.Lock()

    @classmethod
    def with_model(cls, model: BaseChatModel, settings: ModelSettings | None = None, *, name: str = "") -> Callers:
        """Make callers that fill every role with one chat model.

        Args:
            model: The chat model.
            settings: Limits, prices and cache; the defaults where None.
            name: What the model is called in accounts.

        Returns:
            The callers.
        """
        called = name or f"{model._llm_type}:{getattr(model, 'model_name', None) or getattr(model, 'model', 'model')}"
        settings = (settings or ModelSettings()).model_copy(update={"model": called, "small": called, "roles": {}})
        return cls(settings, load=lambda asked, _: LoadedModel(asked, model, settings.base_url))

    def name(self, role: Role) -> str:
        """Return the name of the model that fills a role.

        Args:
            role: The role.

        Returns:
            `PROVIDER:MODEL`.

        Raises:
            ModelSetupError: No model is named for it.
        """
        named = self.settings.roles.get(role) or self.settings.model
        if named is None:
            remedy = "Name one, such as --model openai:gpt-5.4"
            raise ModelSetupError(f"no chat model is named for the role `{role}`", remedy=remedy)
        return named if role in LARGE_ROLES or role in self.settings.roles else self._small or named

    def of(self, role: Role) -> Caller:
        """Return the caller of a role.

        Args:
            role: The role.

        Returns:
            The caller; its model is loaded once.

        Raises:
            ModelSetupError: The model cannot be set up.
        """
        name, settings = self.name(role), self.settings
        with self._guard:
            if name not in self._callers:
                loaded = self._load(name, settings)
                self._callers[name] = Caller(loaded, settings, cache=self._cache, prices=self._prices)
            return self._callers[name]

    def load_all(self) -> None:
        """Load the models of all roles, so that errors are raised at once. Raises ModelSetupError."""
        for role in sorted(Role, key=lambda role: role not in LARGE_ROLES):  # the main model first
            self.of(role)


def _as_set(name: str, settings: ModelSettings) -> LoadedModel:
    """Load a chat model with the server, key and limits of the settings. Raises ModelSetupError."""
    server = {"base_url": settings.base_url, "key_variable": settings.key_variable}
    return load_chat_model(name, **server, timeout=settings.timeout, max_retries=settings.attempts - 1)


class ResponseCache:
    """Replies in one SQLite file. Several threads and several processes may use it at once.

    Errors of the cache never fail a call: a locked file is skipped, and a file that is damaged or cannot be written is
    no longer used, each with a warning in the log. The file contains replies, but no prompts and no keys.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     ResponseCache(Path(folder) / "replies.sqlite").get("a key") is None
    True
    """

    def __init__(self, file: Path) -> None:
        """Set the file without opening it."""
        self.file = file
        self._given_up = False

    def get(self, key: str) -> Reply | None:
        """Return the reply cached under a key of `cache_key`, or None."""
        try:
            found = self._run("SELECT reply FROM cached_replies WHERE key = ?", key)
            return None if found is None else Reply.model_validate_json(found)
        except ValidationError:
            _LOG.warning("A cached reply in %s cannot be read and is requested again", self.file)
            return None

    def put(self, key: str, reply: Reply) -> None:
        """Cache a reply, replacing one under the same key."""
        text = reply.model_dump_json(include={"text", "usage", "model", "finish"})
        self._run("INSERT OR REPLACE INTO cached_replies (key, reply) VALUES (?, ?)", key, text)

    def _run(self, statement: str, *values: str) -> str | None:
        """Return the value that a statement selects; None if there is none or the file cannot be used."""
        if self._given_up:
            return None
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            create_private_file(self.file)
            connection = sqlite3.connect(self.file, timeout=_BUSY_SECONDS, isolation_level=None)
            with closing(connection):
                tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
                if tables - {"cached_replies"}:
                    raise OSError("it is another database")
                connection.execute(_SCHEMA)
                row = connection.execute(statement, values).fetchone()
                return None if row is None else str(row[0])
        except (sqlite3.Error, OSError) as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                _LOG.warning("Cached replies in %s are not used now: %s", self.file, error)
            else:
                self._given_up = True
                _LOG.warning("No replies are cached: %s cannot be used (%s)", self.file, error)
            return None


def cache_key(call: Call[OutputT], model: str, base_url: str | None, mode: str) -> str:
    """Return the key of a reply: a hash of everything that it depends on.

    `mode` is the configured output mode, not the one in effect, which a resumed batch does not know yet.
    """
    parts = {
        "model": model,
        "base_url": base_url,
        "prompt": list(call.prompt),
        "messages": [list(message) for message in call.messages],
        "output": None if call.output is None else replies.schema_text(call.output),
        "temperature": call.temperature,
        "mode": mode,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
