"""The weight of each page feature."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import resources

import yaml

from fin_agent.retrieval.page_features import MEANINGS

PageWeights = Mapping[str, float]
"""Weights by feature name: all of `MEANINGS`, none negative."""


@lru_cache(maxsize=2)
def packaged_weights(*, with_vectors: bool = False) -> PageWeights:
    """Return the weights of this package, fitted without `likeness` or with it."""
    name = "page_weights_with_vectors.yaml" if with_vectors else "page_weights.yaml"
    weights: dict[str, float] = yaml.safe_load(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))
    return weights


def weights_text(weights: PageWeights) -> str:
    """Return `weights` as YAML, as in the packaged files, with the meaning of each feature as a comment."""
    return "".join(f"# {MEANINGS[name]}\n{name}: {weight:.2f}\n" for name, weight in weights.items())
