"""What calls took, and what they may take: records, budgets, and the meter of a question or of a batch."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from fin_agent.models.call import Role, Usage
from fin_agent.models.errors import BudgetExceededError, CallsStoppedError, UnknownPriceError


class Budget(BaseModel):
    """What the calls of a question, or of a batch, may take at most. None is no limit.

    Kept before each call, with an estimate of its input: what was begun is ended, so that tokens and dollars may be
    passed by the replies under way.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    tokens: int | None = Field(default=None, ge=0, description="tokens in and out")
    calls: int | None = Field(default=None, ge=0, description="calls of a model; retries of one are not counted")
    seconds: float | None = Field(default=None, ge=0, description="seconds from the start; no call begins later")
    dollars: float | None = Field(default=None, ge=0, description="dollars; models of unknown price are refused")

    def within(self, other: Budget) -> Budget:
        """The narrower of both limits, one by one.

        >>> Budget(calls=8, tokens=1_000).within(Budget(calls=20, dollars=0.1))
        Budget(tokens=1000, calls=8, seconds=None, dollars=0.1)
        """
        both = {name: (getattr(self, name), getattr(other, name)) for name in type(self).model_fields}
        return Budget(
            **{name: min((one for one in pair if one is not None), default=None) for name, pair in both.items()}
        )


class CallRecord(BaseModel):
    """One call as it is accounted for. Holds no text and no key."""

    model_config = ConfigDict(frozen=True, extra="ignore")  # records of earlier versions said more

    role: Role
    model: str
    prompt: str
    prompt_version: str
    usage: Usage
    dollars: float | None
    """None where the price is not known."""
    seconds: float
    from_cache: bool = False
    """Such a call cost nothing: its tokens are those of the call it saved."""
    note: str = ""
    """What did not go smoothly."""


class CallListener(Protocol):
    """Is told of calls as they begin and end, from whatever thread makes them."""

    def call_begun(self, role: Role, model: str) -> None:
        """A call has its place, and is made."""

    def call_ended(self, record: CallRecord) -> None:
        """A call is recorded, also one that failed; one that a kept reply serves has not begun."""


@dataclass(frozen=True, slots=True)
class Spending:
    """What calls took together, those served by the cache left out."""

    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    """Since the meter was started, and those of earlier calls."""
    dollars: float = 0.0
    """Of the calls whose price is known."""
    unpriced_calls: int = 0

    def with_call(self, record: CallRecord) -> Spending:
        """The sum with one more call."""
        if record.from_cache:
            return self
        return Spending(
            calls=self.calls + 1,
            tokens=self.tokens + record.usage.total,
            seconds=self.seconds + record.seconds,
            dollars=self.dollars + (record.dollars or 0),
            unpriced_calls=self.unpriced_calls + (record.dollars is None and record.usage.total > 0),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Reservation:
    """A call under way, or about to be."""

    role: Role
    tokens: int
    dollars: float | None


class Meter:
    """Adds up what calls take and stops those that a budget does not allow. Safe to share between threads.

    A batch has a meter, with the records of an interrupted run as `earlier`; each question has one `within` it.

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
        listener: CallListener | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`of` names in errors whose budget it is; `listener` is told of each call; `clock` gives seconds."""
        self.budget = budget or Budget()
        self._of = of
        self._within = within
        self._listener = listener
        self._stopped = False
        self._clock = clock
        self._started = clock()
        self._sum = Spending()
        for record in earlier:
            self._sum = self._sum.with_call(record)
        self._seconds_before = self._sum.seconds
        self._records: list[CallRecord] = []
        self._places: list[_Reservation] = []
        self._left_out: list[str] = []
        self._guard = threading.RLock()

    @property
    def records(self) -> tuple[CallRecord, ...]:
        """What was recorded here, in the order in which calls ended; without the earlier ones."""
        with self._guard:
            return tuple(self._records)

    @property
    def calls_not_made(self) -> tuple[str, ...]:
        """Calls that were not made, each with the limit that stood against it."""
        with self._guard:
            return tuple(self._left_out)

    def spent(self) -> Spending:
        """All that was paid for until now, earlier records included."""
        with self._guard:
            return replace(self._sum, seconds=self._seconds_before + self._clock() - self._started)

    @property
    def stopped(self) -> bool:
        """Whether this meter, or one around it, was stopped."""
        return self._stopped or (self._within is not None and self._within.stopped)

    def stop(self) -> None:
        """Nobody waits any more: no call begins from now on, here and in meters within; streamed replies are left."""
        self._stopped = True

    def seconds_left(self) -> float | None:
        """Seconds until no further call may begin; None where there is no such limit."""
        if self.stopped:
            return 0.0
        own = None if self.budget.seconds is None else max(0.0, self.budget.seconds - self.spent().seconds)
        outer = None if self._within is None else self._within.seconds_left()
        return min((left for left in (own, outer) if left is not None), default=None)

    def add(self, record: CallRecord) -> None:
        """Record a call, here and in the meters around."""
        with self._guard:
            self._records.append(record)
            self._sum = self._sum.with_call(record)
        if self._within is not None:
            self._within.add(record)
        if self._listener is not None:
            self._listener.call_ended(record)

    @contextmanager
    def reserve(self, role: Role, input_tokens: int, dollars: float | None, *, model: str = "") -> Iterator[None]:
        """Room for one call of about so many tokens and dollars, kept free for it until the block is left.

        Raises BudgetExceededError where there is none, UnknownPriceError where dollars are limited and not known, and
        CallsStoppedError.
        """
        place = _Reservation(role, input_tokens, dollars)
        self._take(place)
        try:
            if self._listener is not None:
                self._listener.call_begun(role, model)
            yield
        finally:
            self._release(place)

    def _take(self, place: _Reservation) -> None:
        with self._guard:
            try:
                self._check(place)
                if self._within is not None:
                    self._within._take(place)
            except (BudgetExceededError, UnknownPriceError) as refusal:
                self._left_out.append(f"{place.role} ({refusal.what})")
                raise
            self._places.append(place)

    def _release(self, place: _Reservation) -> None:
        with self._guard:
            self._places.remove(place)
        if self._within is not None:
            self._within._release(place)

    def _check(self, place: _Reservation) -> None:
        if self._stopped:
            raise CallsStoppedError(f"the call of role `{place.role}` was not made: the caller stopped waiting")
        budget, spent = self.budget, self.spent()
        tokens = spent.tokens + sum(other.tokens for other in self._places) + place.tokens
        calls = spent.calls + len(self._places) + 1
        left_out = f"the call of role `{place.role}`, about {place.tokens:,} tokens of input, was not made"
        passed = ""
        if budget.calls is not None and calls > budget.calls:
            passed = f"{budget.calls:,} call{'' if budget.calls == 1 else 's'}"
        elif budget.tokens is not None and tokens > budget.tokens:
            passed = f"{budget.tokens:,} tokens ({tokens - place.tokens:,} are spent or under way)"
        elif budget.seconds is not None and spent.seconds >= budget.seconds:
            passed = f"{budget.seconds:g} seconds"
        elif budget.dollars is not None:
            if place.dollars is None or spent.unpriced_calls:
                raise UnknownPriceError(
                    f"the {self._of} may cost {budget.dollars:g} dollars, and what the model costs is not known; "
                    f"{left_out}",
                    remedy="Name its price in a file of prices, 0 where it costs nothing, or limit tokens instead",
                )
            dollars = spent.dollars + sum(other.dollars or 0 for other in self._places) + place.dollars
            if dollars > budget.dollars:
                passed = f"{budget.dollars:g} dollars ({dollars - place.dollars:.4f} are spent or under way)"
        if passed:
            raise BudgetExceededError(
                f"the {self._of} may take {passed}; {left_out}", remedy="Allow more, or ask for less"
            )


_CURRENT: ContextVar[Meter | None] = ContextVar("fin_agent_meter", default=None)


@contextmanager
def metered(meter: Meter | None) -> Iterator[Meter | None]:
    """Calls inside the block are recorded by this meter; by none where it is None. Tasks begun inside keep it."""
    token = _CURRENT.set(meter)
    try:
        yield meter
    finally:
        _CURRENT.reset(token)


def current_meter() -> Meter | None:
    """The meter of the block that this code runs in."""
    return _CURRENT.get()
