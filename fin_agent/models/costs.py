"""What tokens cost, and what calls took by role and model (as HiREC's table 4 does for its modules)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fin_agent.models.call import NO_USAGE, Usage
from fin_agent.models.errors import PricesError
from fin_agent.models.metering import CallRecord

if TYPE_CHECKING:
    from fin_agent.answering import answer as answers

_MILLION = 1_000_000
_VERSION = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$")


class Price(BaseModel):
    """Dollars per million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    cached: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Of input that the provider still had; as any other input where none is given."""

    def dollars(self, usage: Usage) -> float:
        """What the tokens cost.

        >>> Price(input=2, output=8, cached=0.5).dollars(Usage(input=1_000_000, cached_input=500_000, output=125_000))
        2.25
        """
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input - usage.cached_input
        return (fresh * self.input + usage.cached_input * cached + usage.output * self.output) / _MILLION


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    models: dict[str, Price]


class PriceTable:
    """Prices by the model's name. The user's own hold anywhere, published ones at the provider's address only.

    Published prices are those of the package `genai-prices`, which comes with the extra `chat`: of inputs up to the
    length where a provider begins to ask more.

    >>> PriceTable().price("openai:gpt-4o-mini-2024-07-18")
    Price(input=0.15, output=0.6, cached=0.075)
    >>> PriceTable().price("openai:gpt-4o-mini", "http://localhost:8000/v1") is None
    True
    """

    def __init__(self, own: Mapping[str, Price] | None = None) -> None:
        """`own`: prices by names like `openai:my-model`, which go before the published ones."""
        self.own = dict(own or {})

    @classmethod
    def from_file(cls, file: Path | None) -> PriceTable:
        """Published prices, with those of a file in front. Raises PricesError that names what is wrong."""
        if file is None:
            return cls()
        try:
            return cls(_File.model_validate(yaml.safe_load(file.read_text(encoding="utf-8"))).models)
        except (OSError, UnicodeDecodeError) as failure:
            raise PricesError(
                f"it cannot be read ({failure})", subject=str(file), remedy="Name a YAML file of prices"
            ) from failure
        except yaml.YAMLError as failure:
            wrong = " ".join(str(failure).split())
        except ValidationError as failure:
            fault = failure.errors(include_url=False)[0]
            wrong = f"{'.'.join(map(str, fault['loc'])) or 'the whole'}: {fault['msg']}"
        raise PricesError(
            f"no prices can be read from it ({wrong})",
            subject=str(file),
            remedy="Write dollars per million tokens, as models: {'openai:my-model': {input: 0.5, output: 1.5}}",
        )

    def price(self, model: str, base_url: str | None = None) -> Price | None:
        """The price of a model named `openai:gpt-4o` at an address; None where it is not known.

        What stands behind an address of the user's own may bear any name: no published price is taken for it.
        """
        own = self.own.get(model) or self.own.get(_VERSION.sub("", model))
        return own if own is not None or base_url is not None else _published(model)


_PROVIDERS = {"azure_openai": "azure", "google_genai": "google", "google_vertexai": "google", "mistralai": "mistral",
              "xai": "x-ai"}  # fmt: skip
"""Providers that `genai-prices` calls otherwise than LangChain."""


@lru_cache(maxsize=64)
def _published(model: str) -> Price | None:
    try:
        import genai_prices  # 0.2 s
    except ImportError:
        return None
    provider, _, name = model.partition(":")
    thousands = [
        genai_prices.Usage(input_tokens=1_000),
        genai_prices.Usage(output_tokens=1_000),
        genai_prices.Usage(input_tokens=1_000, cache_read_tokens=1_000),
    ]
    try:
        found = [
            genai_prices.calc_price(each, model_ref=name, provider_id=_PROVIDERS.get(provider, provider)).total_price
            for each in thousands
        ]
    except LookupError:
        return None
    each_million = [float(price * 1_000) for price in found]
    return Price(input=each_million[0], output=each_million[1], cached=each_million[2])


def usage_of(records: Iterable[CallRecord], left_out: Iterable[str] = ()) -> answers.Usage:
    """The calls by role and model, as an answer states them; `left_out` are those that a budget did not allow.

    Calls answered from kept replies are only counted. Dollars are None where the price of one that was paid is unknown.

    >>> usage_of([]).model_calls
    0
    """
    from fin_agent.answering import answer as answers  # it stands above this room

    ordered = sorted(records, key=_role_and_model)
    by_role = tuple(
        answers.RoleUsage(role=role, model=model, **_counted(list(group)))
        for (role, model), group in groupby(ordered, key=_role_and_model)
    )
    total = _counted(ordered)
    return answers.Usage(
        model_calls=total.pop("calls"),
        approximate=any(record.usage.approximate for record in ordered if not record.from_cache),
        roles=by_role,
        left_out=tuple(left_out),
        **total,
    )


def _role_and_model(record: CallRecord) -> tuple[str, str]:
    return record.role.value, record.model


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
        # The same in whatever order calls ended; to the billionth: what binary fractions carry beyond is no money.
        "dollars": round(math.fsum(known), 9) if len(known) == len(paid) else None,
    }
