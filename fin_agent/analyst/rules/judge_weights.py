"""What each aligned field of a card counts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import resources

import yaml
from pydantic import TypeAdapter, ValidationError

from fin_agent.analyst.rules.judged_fields import MEANINGS
from fin_agent.errors import LexiconError

JudgeWeights = Mapping[str, float]
"""A weight for every field of `MEANINGS`."""
_PACKAGED = "judge_weights.yaml"
_FILE = TypeAdapter(dict[str, float])


@lru_cache(maxsize=1)
def packaged_weights() -> JudgeWeights:
    """The weights of this package. Raises LexiconError where the file does not name each field once."""
    text = resources.files(__package__).joinpath(_PACKAGED).read_text(encoding="utf-8")
    remedy = f"Give a number for each of: {', '.join(MEANINGS)}"
    try:
        weights = _FILE.validate_python(yaml.safe_load(text))
    except (yaml.YAMLError, ValidationError) as error:
        raise LexiconError(f"no weights can be read from it ({error})", subject=_PACKAGED, remedy=remedy) from error
    if weights.keys() != MEANINGS.keys():
        odd = ", ".join(sorted(weights.keys() ^ MEANINGS.keys()))
        raise LexiconError(f"fields that lack or are unknown: {odd}", subject=_PACKAGED, remedy=remedy)
    return {name: weights[name] for name in MEANINGS}
