"""A chat model that is asked: the one way in which all roles call one."""

from __future__ import annotations

from collections.abc import Iterator

from fin_agent.models.call import Call, OutputT, Reply
from fin_agent.models.dialects import Dialect, OutputMode
from fin_agent.models.exchange import Line, OnText, exchange
from fin_agent.models.limits import CALLS_AT_ONCE, slots_for
from fin_agent.models.loading import LoadedModel
from fin_agent.models.prices import PriceTable
from fin_agent.models.response_cache import ResponseCache
from fin_agent.models.retrying import Retrying
from fin_agent.models.steps import afollowed, followed
from fin_agent.models.streaming import streamed
from fin_agent.models.tokens import token_counter


class Caller:
    """Calls one chat model, for any number of roles, threads and tasks.

    Requests that fail for reasons that pass are made again; a reply that cannot be used is corrected once; what it
    took is recorded by the meter of the block (`metered`), whose budget is kept. A failure is a ModelError.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        *,
        mode: OutputMode | str = OutputMode.AUTO,
        retrying: Retrying | None = None,
        at_once: int = CALLS_AT_ONCE,
        cache: ResponseCache | None = None,
        prices: PriceTable | None = None,
    ) -> None:
        """`at_once` calls at most are under way to the provider, whoever in this process makes them.

        Without a `cache` every call is made; with one, a call made before is answered from it and costs nothing.
        """
        self._line = Line(
            loaded=loaded,
            dialect=Dialect(loaded.provider, OutputMode(mode)),
            retrying=retrying or Retrying(),
            slots=slots_for(loaded.provider, loaded.base_url, at_once),
            counter=token_counter(loaded.name),
            prices=prices or PriceTable.packaged(),
            cache=cache,
        )

    def __repr__(self) -> str:
        return f"Caller({self._line.loaded!r}, mode={self._line.dialect.mode.value!r})"

    @property
    def model(self) -> LoadedModel:
        """The model that is called."""
        return self._line.loaded

    @property
    def line(self) -> Line:
        """The model with its limits, prices and retries, for whoever has to call it another way."""
        return self._line

    @property
    def schema_in_use(self) -> bool:
        """Whether the server is held to enforce schemas; in mode `auto` this may change with the first call."""
        return self._line.dialect.form.schema

    def estimate(self, call: Call[OutputT]) -> int:
        """Tokens of input that a call would take, approximately."""
        return self._line.estimate(call)

    def reply(self, call: Call[OutputT]) -> Reply:
        """The reply; one that fits the type where the call names one. Raises ModelError."""
        return followed(exchange(self._line, call))[1]

    async def areply(self, call: Call[OutputT]) -> Reply:
        """See `reply`."""
        return (await afollowed(exchange(self._line, call)))[1]

    def value(self, call: Call[OutputT], on_text: OnText | None = None) -> tuple[OutputT, Reply]:
        """The value of the type that the call names, and the reply. Raises ModelError.

        With `on_text` the reply is streamed where the server does that, and its text so far told as it grows; a reply
        that is kept is told at once. What is told is not checked: after a text that breaks off, or cannot be used,
        another is told from its beginning, or an error raised. What `on_text` raises ends the call.
        """
        return _with_value(call, *followed(exchange(self._line, call, on_text)))

    async def avalue(self, call: Call[OutputT], on_text: OnText | None = None) -> tuple[OutputT, Reply]:
        """See `value`; `on_text` is called by the event loop."""
        return _with_value(call, *(await afollowed(exchange(self._line, call, on_text))))

    def stream(self, call: Call[OutputT]) -> Iterator[str | Reply]:
        """The text in pieces as it is written, then the reply. For calls that want text.

        Raises ModelError, also after some pieces: what was cut off or broke off stands as it is, and is not corrected.
        """
        if call.output is not None:
            raise ValueError("a value is not streamed: use `value`")
        return streamed(self._line, call)


def _with_value(call: Call[OutputT], value: OutputT | None, reply: Reply) -> tuple[OutputT, Reply]:
    if value is None:
        raise ValueError(f"the call of role {call.role} names no output type: use `reply`")
    return value, reply
