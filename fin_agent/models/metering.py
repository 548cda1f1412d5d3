"""Metering calls: records, budgets, and the meter of a question or of a batch."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import NamedTuple

from pydantic import BaseModel, Field

from fin_agent.models.call import Role, Usage
from fin_agent.models.errors import BudgetExceededError, CallsStoppedError


class Budget(BaseModel, frozen=True, extra="forbid"):
    """Limits of the calls of a question or of a batch. None is no limit.

    Limits are checked before each call, with an estimate of its input. Calls in progress are completed, so that their
    replies may exceed the limits of tokens and dollars.
    """

    tokens: int | None = Field(default=None, ge=0, description="tokens in and out")
    calls: int | None = Field(default=None, ge=0, description="calls of a model; retries of one are not counted")
    seconds: float | None = Field(default=None, ge=0, description="seconds from the start; no call begins later")
    dollars: float | None = Field(default=None, ge=0, description="dollars; models of unknown price are refused")

    def within(self, other: Budget) -> Budget:
        """Return the lower of both limits, one by one.

        >>> Budget(calls=8, tokens=1_000).within(Budget(calls=20, dollars=0.1))
        Budget(tokens=1000, calls=8, seconds=None, dollars=0.1)
        """
        both = {name: (getattr(self, name), getattr(other, name)) for name in type(self).model_fields}
        return Budget(
            **{name: min((one for one in pair if one is not None), default=None) for name, pair in both.items()}
        )


class CallRecord(BaseModel, frozen=True, extra="ignore"):  # records of earlier versions have more fields
    """The record of one call, without text and keys."""

    role: Role
    model: str
    prompt: str
    prompt_version: str
    usage: Usage
    dollars: float | None
    """None if the price is unknown."""
    seconds: float
    from_cache: bool = False
    """Whether the call was served from the cache and cost nothing; its tokens are those of the original call."""
    note: str = ""
    """Irregularities of the call."""


class Spending(NamedTuple):
    """What calls took, without cached ones."""

    calls: int
    tokens: int
    dollars: float
    """Dollars of the calls with a known price."""
    unpriced_calls: int


class Meter:
    """Adds up what calls take, and stops calls that a budget does not allow. Thread-safe.

    >>> batch = Meter(Budget(dollars=5), of="batch")
    >>> question = Meter(Budget(calls=8), within=batch)
    >>> with metered(question):
    ...     current_meter() is question
    True
    """

    def __init__(
        self,
        budget: Budget | None = None,
        earlier: Iterable[CallRecord] = (),
        *,
        of: str = "question",
        within: Meter | None = None,
        on_begun: Callable[[Role, str], None] = lambda role, model: None,
        on_ended: Callable[[CallRecord], None] = lambda record: None,
    ) -> None:
        """Start the meter.

        Args:
            budget: The limits.
            earlier: Records of earlier steps, which count against the limits.
            of: Whose budget it is, as errors name it.
            within: The meter that contains this one.
            on_begun: Is called with role and model when a call has its slot, from the thread that makes it.
            on_ended: Is called with the record of each call, failed and cached ones included.
        """
        self.budget = budget or Budget()
        self._of = of
        self._within = within
        self._on_begun, self._on_ended = on_begun, on_ended
        self._stopped = False
        self._paid = [record for record in earlier if not record.from_cache]
        """Calls that count, with earlier ones."""
        self._started = monotonic() - sum(record.seconds for record in self._paid)
        self._records: list[CallRecord] = []
        self._reserved: list[tuple[int, float]] = []
        """Tokens and dollars of the calls under way, as estimated."""
        self._left_out: list[str] = []
        self._guard = threading.RLock()

    @property
    def records(self) -> tuple[CallRecord, ...]:
        """The calls recorded here, in the order in which they ended, without earlier ones."""
        return tuple(self._records)

    @property
    def calls_not_made(self) -> tuple[str, ...]:
        """Calls that were not made, each with the limit that prevented it."""
        return tuple(self._left_out)

    def spent(self) -> Spending:
        """Return what was spent so far, including earlier records."""
        made = tuple(self._paid)
        return Spending(
            calls=len(made),
            tokens=sum(record.usage.total for record in made),
            dollars=sum(record.dollars or 0.0 for record in made),
            unpriced_calls=sum(record.dollars is None and record.usage.total > 0 for record in made),
        )

    @property
    def stopped(self) -> bool:
        """Whether this meter, or one that contains it, was stopped."""
        return self._stopped or (self._within is not None and self._within.stopped)

    def stop(self) -> None:
        """Stop all calls: none begins from now on, also in meters within this one; streamed replies are abandoned."""
        self._stopped = True

    def seconds_left(self) -> float | None:
        """Return the seconds until no further call may begin; None if there is no such limit."""
        if self.stopped:
            return 0.0
        own = None if self.budget.seconds is None else max(0.0, self.budget.seconds + self._started - monotonic())
        outer = None if self._within is None else self._within.seconds_left()
        return min((left for left in (own, outer) if left is not None), default=None)

    def add(self, record: CallRecord) -> None:
        """Record a call, here and in the meters that contain this one."""
        self._records.append(record)
        if not record.from_cache:
            self._paid.append(record)
        if self._within is not None:
            self._within.add(record)
        self._on_ended(record)

    @contextmanager
    def reserve(self, role: Role, input_tokens: int, dollars: float | None, *, model: str = "") -> Iterator[None]:
        """Reserve the budget of one call while the block runs, here and in the meters that contain this one.

        Input and dollars are estimated; `dollars` is None if the price is unknown. Raises BudgetExceededError where the
        call would exceed a limit, or dollars are limited and its price is unknown, and CallsStoppedError where the
        meter was stopped.
        """
        with ExitStack() as reserved:
            try:
                with self._guard:
                    self._check(role, input_tokens, dollars)
                    self._reserved.append(place := (input_tokens, dollars or 0.0))
                    reserved.callback(self._reserved.remove, place)
                if self._within is not None:
                    reserved.enter_context(self._within.reserve(role, input_tokens, dollars, model=model))
            except BudgetExceededError as refusal:
                self._left_out.append(f"{role} ({refusal.what})")
                raise
            self._on_begun(role, model)
            yield

    def _check(self, role: Role, input_tokens: int, dollars: float | None) -> None:
        if self._stopped:
            raise CallsStoppedError(f"the call of role `{role}` was not made: the caller stopped waiting")
        budget, spent = self.budget, self.spent()
        calls = spent.calls + len(self._reserved)
        tokens = spent.tokens + sum(tokens for tokens, _ in self._reserved)
        cost = spent.dollars + sum(dollars for _, dollars in self._reserved)
        passed, remedy = "", "Allow more, or ask for less"
        if budget.calls is not None and calls >= budget.calls:
            passed = f"take {budget.calls:,} call{'' if budget.calls == 1 else 's'}"
        elif budget.tokens is not None and tokens + input_tokens > budget.tokens:
            passed = f"take {budget.tokens:,} tokens ({tokens:,} are spent or under way)"
        elif budget.seconds is not None and monotonic() - self._started >= budget.seconds:
            passed = f"take {budget.seconds:g} seconds"
        elif budget.dollars is not None and (dollars is None or spent.unpriced_calls):
            passed = f"cost {budget.dollars:g} dollars, and the price of the model is unknown"
            remedy = "Give its price in a file of prices (0 if it is free), or limit tokens instead"
        elif budget.dollars is not None and cost + (dollars or 0.0) > budget.dollars:
            passed = f"take {budget.dollars:g} dollars ({cost:.4f} are spent or under way)"
        if passed:
            left_out = f"the call of role `{role}`, about {input_tokens:,} tokens of input, was not made"
            raise BudgetExceededError(f"the {self._of} may {passed}; {left_out}", remedy=remedy)


_CURRENT: ContextVar[Meter | None] = ContextVar("fin_agent_meter", default=None)


@contextmanager
def metered(meter: Meter) -> Iterator[Meter]:
    """Record the calls of the block with this meter. Tasks started inside inherit it."""
    token = _CURRENT.set(meter)
    try:
        yield meter
    finally:
        _CURRENT.reset(token)


@contextmanager
def abandonable_calls() -> Iterator[Meter]:
    """Meter the calls of the block, also of threads that it starts; none begins after the block was left."""
    with metered(Meter(within=current_meter())) as meter:
        try:
            yield meter
        finally:
            meter.stop()


def current_meter() -> Meter | None:
    """Return the meter of the enclosing `metered` block, or None."""
    return _CURRENT.get()
