"""Metering calls: records, budgets, the meter of a question or of a batch, and prices.

Usage is added up by role and model, as HiREC's Table 4 reports it by module.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml
from pydantic import BaseModel, Field, ValidationError

from fin_agent.errors import validation_problems
from fin_agent.lexicon.words import load_yaml
from fin_agent.models.call import NO_USAGE, Role, Usage
from fin_agent.models.errors import BudgetExceededError, CallsStoppedError, PricesError
from fin_agent.vocabulary.runs import grouped

if TYPE_CHECKING:
    from fin_agent.answering import answer as answers


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
        given = {name: [limit for limit in pair if limit is not None] for name, pair in both.items()}
        return Budget(**{name: min(limits, default=None) for name, limits in given.items()})


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
    dollars: float | None
    """None if the price of a call is unknown."""


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

        Records of `earlier` steps count against the limits. `of` is whose budget it is, as errors name it, and `within`
        the meter that contains this one. `on_begun` is called with role and model when a call has its slot, from the
        thread that makes it; `on_ended` with the record of each call, failed and cached ones included.
        """
        self.budget = budget or Budget()
        self._of = of
        self._within = within
        self._on_begun, self._on_ended = on_begun, on_ended
        self._stopped = False
        self._earlier = tuple(earlier)
        self.records: list[CallRecord] = []
        """The calls recorded here, in the order in which they ended, without earlier ones."""
        self._started = monotonic() - sum(record.seconds for record in self._earlier if not record.from_cache)
        self._reserved: list[tuple[int, float]] = []
        """Tokens and dollars of the calls under way, as estimated."""
        self.calls_not_made: list[str] = []
        """Calls that were not made, each with the limit that prevented it."""
        self._guard = threading.RLock()

    def spent(self) -> Spending:
        """Return what was spent so far, including earlier records."""
        made = [record for record in (*self._earlier, *self.records) if not record.from_cache]
        tokens = sum(record.usage.total for record in made)
        known = all(record.dollars is not None for record in made if record.usage.total)
        return Spending(len(made), tokens, sum(record.dollars or 0.0 for record in made) if known else None)

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
        self.records.append(record)
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
                self.calls_not_made.append(f"{role} ({refusal.what})")
                raise
            self._on_begun(role, model)
            yield

    def _check(self, role: Role, input_tokens: int, dollars: float | None) -> None:
        if self._stopped:
            raise CallsStoppedError(f"the call of role `{role}` was not made: the caller stopped waiting")
        budget, spent = self.budget, self.spent()
        calls = spent.calls + len(self._reserved)
        tokens = spent.tokens + sum(tokens for tokens, _ in self._reserved)
        cost = (spent.dollars or 0.0) + sum(dollars for _, dollars in self._reserved)
        passed, remedy = "", "Allow more, or ask for less"
        if budget.calls is not None and calls >= budget.calls:
            passed = f"take {budget.calls:,} call{'' if budget.calls == 1 else 's'}"
        elif budget.tokens is not None and tokens + input_tokens > budget.tokens:
            passed = f"take {budget.tokens:,} tokens ({tokens:,} are spent or under way)"
        elif budget.seconds is not None and monotonic() - self._started >= budget.seconds:
            passed = f"take {budget.seconds:g} seconds"
        elif budget.dollars is not None and None in (dollars, spent.dollars):
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


def usage_of(records: Iterable[CallRecord], left_out: Iterable[str] = ()) -> answers.Usage:
    """Aggregate calls by role and model, as an answer reports them.

    Cached replies are only counted. Dollars are None if the price of a paid call is unknown. `left_out` are
    descriptions of the calls that a budget did not allow.

    >>> usage_of([]).model_calls
    0
    """
    from fin_agent.answering import answer as answers  # it stands above this room

    records = list(records)
    groups = grouped(((record.role.value, record.model), record) for record in records)
    total = _counted(records)
    return answers.Usage(
        model_calls=total.pop("calls"),
        approximate=any(record.usage.approximate for record in records if not record.from_cache),
        roles=tuple(
            answers.RoleUsage(role=role, model=model, **_counted(group))
            for (role, model), group in sorted(groups.items())
        ),
        left_out=tuple(left_out),
        **total,
    )


def _counted(records: Sequence[CallRecord]) -> dict[str, Any]:
    paid = [record for record in records if not record.from_cache]
    usage = sum((record.usage for record in paid), NO_USAGE)
    known = [record.dollars for record in paid if record.dollars is not None]
    return {
        "calls": len(paid),
        "cached_calls": len(records) - len(paid),
        "input_tokens": usage.input,
        "cached_input_tokens": usage.cached_input,
        "output_tokens": usage.output,
        # Independent of the order in which calls ended; rounded to a billionth against floating-point noise.
        "dollars": round(math.fsum(known), 9) if len(known) == len(paid) else None,
    }


# Prices


_MILLION = 1_000_000


class Price(BaseModel, frozen=True, extra="forbid"):
    """Dollars per million tokens."""

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    cached: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Price of cached input; None if it costs as much as other input."""

    def dollars(self, usage: Usage) -> float:
        """Return the price of tokens in dollars.

        >>> Price(input=2, output=8, cached=0.5).dollars(Usage(input=1_000_000, cached_input=500_000, output=125_000))
        2.25
        """
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input - usage.cached_input
        return (fresh * self.input + usage.cached_input * cached + usage.output * self.output) / _MILLION


class PriceTable:
    """Prices by model name. The user's own prices apply everywhere, published ones only at the provider's address.

    Published prices come from the package `genai-prices`, which the extra `chat` installs. They are those of short
    inputs, where a provider charges more for long ones.

    >>> PriceTable().price("openai:gpt-4o-mini-2024-07-18")
    Price(input=0.15, output=0.6, cached=0.075)
    >>> PriceTable().price("openai:gpt-4o-mini", "http://localhost:8000/v1") is None
    True
    """

    def __init__(self, own: Mapping[str, Price] | None = None) -> None:
        """Set the user's own prices, by names such as `openai:my-model`; they override the published ones."""
        self.own = dict(own or {})

    @classmethod
    def from_file(cls, file: Path | None) -> PriceTable:
        """Return published prices, overridden by those of a file. Raises PricesError if it cannot be used."""
        if file is None:
            return cls()
        try:
            return cls(_File.model_validate(yaml.safe_load(file.read_text(encoding="utf-8"))).models)
        except ValidationError as failure:
            wrong = validation_problems(failure, "the whole")
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as failure:
            wrong = " ".join(str(failure).split())
        remedy = "Write dollars per million tokens: models: {'openai:my-model': {input: 0.5, output: 1.5}}"
        raise PricesError(f"no prices can be read from it ({wrong})", subject=str(file), remedy=remedy)

    def price(self, model: str, base_url: str | None = None) -> Price | None:
        """Return the price of a model named `openai:gpt-4o` at an address; None if it is unknown.

        A server at the user's own address may serve any model under this name, so that published prices do not apply to
        it.
        """
        return self.own.get(model) or (_published(model) if base_url is None else None)


class _File(BaseModel):
    models: dict[str, Price]


_PRICED = 1_000
"""Tokens whose published price is looked up: few, because a provider may charge more for long inputs."""


@lru_cache(maxsize=64)
def _published(model: str) -> Price | None:
    try:
        from genai_prices import Usage as Tokens
        from genai_prices import calc_price  # 0.2 s
    except ImportError:
        return None
    provider, _, name = model.partition(":")
    seller = load_yaml("providers", __package__).get(provider, {}).get("prices", provider)
    bought = {
        "input": Tokens(input_tokens=_PRICED),
        "output": Tokens(output_tokens=_PRICED),
        "cached": Tokens(input_tokens=_PRICED, cache_read_tokens=_PRICED),
    }
    try:
        paid = {kind: calc_price(each, model_ref=name, provider_id=seller).total_price for kind, each in bought.items()}
    except LookupError:
        return None
    return Price(**{kind: float(total * _MILLION / _PRICED) for kind, total in paid.items()})
