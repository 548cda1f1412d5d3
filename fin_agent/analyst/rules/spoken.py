"""Measures that a question describes with a verb and does not name: `how much stock did it buy back`."""

from __future__ import annotations

import re
from functools import lru_cache

from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.words import word_lists

_GAP = r"\s+(?:\S+\s+){0,6}?"


def spoken_measure(text: str, lexicon: Lexicon) -> str | None:
    """The id of the metric or formula that `text` describes, None where it describes none, or more than one.

    `text` holds no names of companies and no periods.
    """
    found = [name for name, pattern in _patterns() if pattern.search(text)]
    return found[0] if len(found) == 1 and (found[0] in lexicon.metrics or found[0] in lexicon.formulas) else None


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (name, re.compile(rf"\b(?:{'|'.join(map(_pattern, sorted(phrases)))})\b", re.I))
        for name, phrases in sorted(word_lists("spoken_measures").items())
    )


def _pattern(phrase: str) -> str:
    parts = [r"\s+".join(map(re.escape, part.split())) for part in phrase.split("*")]
    return _GAP.join(parts)
