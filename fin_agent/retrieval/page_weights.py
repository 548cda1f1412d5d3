"""The weight of each page feature."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Annotated

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from fin_agent.errors import FinAgentError
from fin_agent.retrieval.page_features import MEANINGS

PageWeights = Mapping[str, float]
"""Weights by feature name: all of `MEANINGS`, none negative."""

_FORM = TypeAdapter(dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]])


class WeightsError(FinAgentError):
    """A file of weights cannot be used."""


@lru_cache(maxsize=2)
def packaged_weights(*, with_vectors: bool = False) -> PageWeights:
    """Return the weights of this package, fitted without `likeness` or with it."""
    name = "page_weights_with_vectors.yaml" if with_vectors else "page_weights.yaml"
    return checked_weights(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"), name)


def checked_weights(text: str, name: str) -> PageWeights:
    """Return the weights in the YAML `text` of the file `name`; a feature that is not named counts nothing.

    Raises:
        WeightsError: A feature is unknown, or a weight is no number of 0 or more.
    """
    remedy = f"Give a number of 0 or more for any of: {', '.join(MEANINGS)}"
    try:
        weights = _FORM.validate_python(yaml.safe_load(text))
    except (yaml.YAMLError, ValidationError) as error:
        raise WeightsError(f"the file of weights cannot be read ({error})", subject=name, remedy=remedy) from error
    unknown = sorted(weights.keys() - MEANINGS.keys())
    if unknown:
        raise WeightsError(f"no feature is called {', '.join(unknown)}", subject=name, remedy=remedy)
    return dict.fromkeys(MEANINGS, 0.0) | weights


def weights_text(weights: PageWeights) -> str:
    """Return `weights` as YAML, as in the packaged files, with the meaning of each feature as a comment."""
    return "".join(f"# {MEANINGS[name]}\n{name}: {weight:.2f}\n" for name, weight in weights.items())
