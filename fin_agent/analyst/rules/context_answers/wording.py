"""Words of questions and tables as stems, and how telling each is in one table."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from fin_agent.analyst.rules.context_answers.grid import spoken
from fin_agent.lexicon.words import word_lists
from fin_agent.retrieval.terms import stem

_NOT = re.compile(r"\bnon[-‑– ](?=(\w))\1")
_STEEPNESS = 0.5
_WORD = re.compile(r"[a-z0-9]+(?:\.\d+)?(?:['’]s\b)?|%")


@lru_cache(maxsize=65_536)
def telling_stems(text: str) -> tuple[str, ...]:
    """Stems of the words that say what is meant, each once, in order; periods and footnote marks are left out."""
    empty = word_lists("context_words")["empty"]
    words = (re.sub(r"['’]s$", "", word) for word in _WORD.findall(_NOT.sub(r"non\1", spoken(text).lower())))
    return tuple(dict.fromkeys(_alike(stem(word)) for word in words if word not in empty))


def rarity(texts: Iterable[Iterable[str]]) -> dict[str, float]:
    """Weight of each stem by how many of the texts hold it."""
    held = [set(text) for text in texts]
    counts = Counter(word for words in held for word in words)
    return {word: 1 + _STEEPNESS * math.log(len(held) / count) for word, count in counts.items()}


def weight_of(words: Iterable[str], weights: Mapping[str, float], usual: float = 1.0) -> float:
    """Sum of the weights; `usual` for words that the table does not hold."""
    return sum(weights.get(word, usual) for word in words)


def _alike(word: str) -> str:
    return _same().get(word, word)


@lru_cache(maxsize=1)
def _same() -> dict[str, str]:
    """Stems that mean the same where tables are read."""
    pairs = (pair.split("=") for pair in word_lists("context_words")["same"])
    return {stem(one.strip()): stem(other.strip()) for one, other in pairs}
