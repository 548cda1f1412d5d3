"""What tokens cost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from importlib import resources
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fin_agent.models.errors import PricesError
from fin_agent.models.usage import Usage

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
    model_config = ConfigDict(frozen=True, extra="forbid")

    read: date | None = None
    models: dict[str, Price]


class PriceTable:
    """Prices by the model's name. The user's own hold anywhere, those of the package at the provider's address only.

    >>> PriceTable.packaged().price("openai:gpt-4o-mini-2024-07-18")
    Price(input=0.15, output=0.6, cached=0.075)
    >>> PriceTable.packaged().price("openai:gpt-4o-mini", "http://localhost:8000/v1") is None
    True
    """

    def __init__(
        self, published: Mapping[str, Price], own: Mapping[str, Price] | None = None, *, read: date | None = None
    ) -> None:
        self._published = dict(published)
        self._own = dict(own or {})
        self.read = read
        """When the published prices were looked up."""

    @classmethod
    def packaged(cls) -> PriceTable:
        """The prices that come with this package."""
        return _packaged()

    def with_file(self, file: Path) -> PriceTable:
        """These prices with those of a file of the user's in front. Raises PricesError that names what is wrong."""
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as failure:
            raise PricesError(
                f"it cannot be read ({failure})", subject=str(file), remedy="Name a YAML file of prices"
            ) from failure
        return PriceTable(self._published, {**self._own, **_read(text, str(file)).models}, read=self.read)

    def price(self, model: str, base_url: str | None = None) -> Price | None:
        """The price of a model named `openai:gpt-4o` at an address; None where it is not known.

        What stands behind an address of the user's own may bear any name: no published price is taken for it.
        """
        for name in (model, _VERSION.sub("", model)):
            if (own := self._own.get(name)) is not None:
                return own
            if base_url is None and (published := self._published.get(name)) is not None:
                return published
        return None


@lru_cache(maxsize=1)
def _packaged() -> PriceTable:
    name = "prices.yaml"
    found = _read(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"), name)
    return PriceTable(found.models, read=found.read)


def _read(text: str, subject: str) -> _File:
    try:
        return _File.model_validate(yaml.safe_load(text))
    except yaml.YAMLError as failure:
        wrong = " ".join(str(failure).split())
    except ValidationError as failure:
        fault = failure.errors(include_url=False)[0]
        wrong = f"{'.'.join(map(str, fault['loc'])) or 'the whole'}: {fault['msg']}"
    raise PricesError(
        f"no prices can be read from it ({wrong})",
        subject=subject,
        remedy="Write dollars per million tokens, as models: {'openai:my-model': {input: 0.5, output: 1.5}}",
    )
