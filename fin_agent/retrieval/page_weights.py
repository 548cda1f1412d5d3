"""The weight of each page feature."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from fin_agent.errors import FinAgentError
from fin_agent.retrieval.page_features import MEANINGS

_PACKAGED = "page_weights.yaml"
_PACKAGED_WITH_VECTORS = "page_weights_with_vectors.yaml"


class WeightsError(FinAgentError):
    """A file of weights cannot be used."""


PageWeights = Mapping[str, float]
"""Weights by feature name: all of `MEANINGS`, none negative."""


@lru_cache(maxsize=2)
def packaged_weights(*, with_vectors: bool = False) -> PageWeights:
    """Return the weights of this package, fitted without `likeness` or with it."""
    name = _PACKAGED_WITH_VECTORS if with_vectors else _PACKAGED
    return _checked(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"), name)


def read_weights(path: Path) -> PageWeights:
    """Read weights from a YAML file of the same form as the packaged one.

    Raises:
        WeightsError: The file cannot be read, or has an unknown feature or an invalid number.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WeightsError(f"cannot be read ({error})", subject=str(path), remedy="Name a YAML file") from error
    return _checked(text, str(path))


def weights_text(weights: PageWeights) -> str:
    """Return `weights` as YAML for `read_weights`, with the meaning of each feature as a comment."""
    lines = (f"# {MEANINGS[name]}\n{_key(name)}: {weight:.2f}\n" for name, weight in weights.items())
    return "".join(lines)


def _key(name: str) -> str:
    return str(yaml.safe_dump(name)).split("\n", 1)[0]


_FILE = TypeAdapter(dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]])


def _checked(text: str, subject: str) -> PageWeights:
    remedy = f"Give a number of 0 or more for any of: {', '.join(MEANINGS)}"
    try:
        read = _FILE.validate_python(yaml.safe_load(text))
    except (yaml.YAMLError, ValidationError) as error:
        raise WeightsError(f"the file of weights cannot be read ({error})", subject=subject, remedy=remedy) from error
    unknown = sorted(read.keys() - MEANINGS.keys())
    if unknown:
        raise WeightsError(f"no feature is called {', '.join(unknown)}", subject=subject, remedy=remedy)
    return dict.fromkeys(MEANINGS, 0.0) | read
