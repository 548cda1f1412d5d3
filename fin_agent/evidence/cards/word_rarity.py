"""Which words set a passage apart from the rest of its filing."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from heapq import nsmallest

from fin_agent.lexicon.words import word_lists

_MOST_WORDS = 10
_MOST_CHARACTERS = 8_000
_OFTEN = 3
_ENOUGH = 20
"""Words that stand in a passage more than once, from which those that stand there once are left out."""
_WORD = re.compile(r"[a-z]{4,24}")


class WordRarity:
    """Words of the passages of one filing, and in how many of them each stands."""

    def __init__(self, texts: Mapping[int, str]) -> None:
        """`texts` are passages in lower case, by ordinal."""
        stopwords = word_lists("stopwords")["words"]
        self._words = {at: Counter(_WORD.findall(text, 0, _MOST_CHARACTERS)) for at, text in texts.items()}
        held: Counter[str] = Counter()
        for words in self._words.values():
            held.update(words.keys())
        whole = len(texts) + 1
        self._weights = {word: 0.0 if word in stopwords else math.log(whole / count) for word, count in held.items()}

    def telling(self, ordinal: int) -> Iterable[str]:
        """At most ten words of a passage: often in it, seldom elsewhere in the filing; best first."""
        words: Mapping[str, int] = self._words.get(ordinal, {})
        often = [(word, times) for word, times in words.items() if times > 1]
        taken = often if len(often) >= _ENOUGH else words.items()
        weights = self._weights
        scored = [(-min(times, _OFTEN) * weights[word], word) for word, times in taken]
        return [word for score, word in nsmallest(_MOST_WORDS, scored) if score]
