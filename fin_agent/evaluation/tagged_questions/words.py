"""What questions made from tags are worded with: measures.yaml and wordings.yaml of this package, checked."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from fin_agent.errors import LexiconError
from fin_agent.evaluation.generated.measures import AskedNames

_Read = TypeVar("_Read", bound=BaseModel)


class FurtherMeasures(BaseModel):
    """Measures beside those of generated questions."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    metrics: dict[str, AskedNames]
    formulas: dict[str, AskedNames]
    stands_in: dict[str, str]
    in_notes: tuple[str, ...]
    of_parts: tuple[str, ...]


class TaggedWordings(BaseModel):
    """Wordings beside those of generated questions."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    years: tuple[str, ...]
    dated_years: tuple[str, ...]
    balance: tuple[str, ...]
    computed: tuple[str, ...]
    year_over_year: tuple[str, ...]
    with_the: tuple[str, ...]
    of_segment: tuple[str, ...]
    revenue_of_product: tuple[str, ...]
    revenue_of_region: tuple[str, ...]
    of_part: tuple[str, ...]
    growth_of_part: tuple[str, ...]
    share_of_part: tuple[str, ...]
    no_parts: tuple[str, ...]
    countries: dict[str, tuple[str, ...]]


@lru_cache(maxsize=1)
def further_measures() -> FurtherMeasures:
    """measures.yaml. Raises LexiconError that names the field."""
    return _read("measures", FurtherMeasures)


@lru_cache(maxsize=1)
def tagged_wordings() -> TaggedWordings:
    """wordings.yaml. Raises LexiconError that names the field."""
    return _read("wordings", TaggedWordings)


def _read(name: str, kind: type[_Read]) -> _Read:
    text = resources.files(__package__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    try:
        return kind.model_validate(yaml.safe_load(text))
    except ValidationError as failure:
        raise LexiconError(str(failure), subject=f"{name}.yaml", remedy="Correct that field") from failure
