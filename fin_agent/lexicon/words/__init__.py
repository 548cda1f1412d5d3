"""Word lists for reading questions; see the comments in each file."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import Any

import yaml

from fin_agent.errors import LexiconError


def load_yaml(name: str) -> dict[str, Any]:
    """Return the content of `name`.yaml."""
    text = resources.files(__package__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    held: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return held


@lru_cache(maxsize=16)
def word_lists(name: str) -> dict[str, frozenset[str]]:
    """Return the lists of `name`.yaml.

    Raises:
        LexiconError: A word is not a string; YAML reads an unquoted `on` as true.
    """
    lists = load_yaml(name)
    for kind, words in lists.items():
        for word in words:
            if isinstance(word, bool) or not isinstance(word, str | int):
                raise LexiconError(f"{word!r} in `{kind}` is not a word", subject=f"{name}.yaml", remedy="Quote it")
    return {kind: frozenset(map(str, words)) for kind, words in lists.items()}
