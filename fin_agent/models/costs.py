"""Prices of tokens, and usage by role and model (as HiREC's Table 4 reports it by module)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import BaseModel, Field, ValidationError

from fin_agent.lexicon.words import load_yaml
from fin_agent.models.call import NO_USAGE, Usage
from fin_agent.models.errors import PricesError
from fin_agent.models.metering import CallRecord

if TYPE_CHECKING:
    from fin_agent.answering import answer as answers

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
        """Return published prices, overridden by those of a file.

        Raises:
            PricesError: The file cannot be used; the message says why.
        """
        if file is None:
            return cls()
        try:
            return cls(_File.model_validate(yaml.safe_load(file.read_text(encoding="utf-8"))).models)
        except ValidationError as failure:
            fault = failure.errors(include_url=False)[0]
            place = ".".join(map(str, fault["loc"])) or "the whole"
            wrong = f"{place}: {fault['msg']}"
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
    peculiar = load_yaml("providers", __package__).get(provider, {})

    def per_million(tokens: Tokens) -> float:
        return float(
            calc_price(tokens, model_ref=name, provider_id=peculiar.get("prices", provider)).total_price
            * _MILLION
            / _PRICED
        )

    try:
        return Price(
            input=per_million(Tokens(input_tokens=_PRICED)),
            output=per_million(Tokens(output_tokens=_PRICED)),
            cached=per_million(Tokens(input_tokens=_PRICED, cache_read_tokens=_PRICED)),
        )
    except LookupError:
        return None


def usage_of(records: Iterable[CallRecord], left_out: Iterable[str] = ()) -> answers.Usage:
    """Aggregate calls by role and model, as an answer reports them.

    Cached replies are only counted. Dollars are None if the price of a paid call is unknown.

    Args:
        records: The calls.
        left_out: Descriptions of the calls that a budget did not allow.

    >>> usage_of([]).model_calls
    0
    """
    from fin_agent.answering import answer as answers  # it stands above this room

    records = list(records)
    groups: dict[tuple[str, str], list[CallRecord]] = {}
    for record in records:
        groups.setdefault((record.role.value, record.model), []).append(record)
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
