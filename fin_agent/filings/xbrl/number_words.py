"""Numbers written as English words: `twenty-five`, `one hundred and five thousand`, `no`."""

from __future__ import annotations

import re


def read_number_words(words: str) -> int | None:
    """The number that `words` spell, or None where they spell none. `no`, `none` and `nil` are zero."""
    tokens = [token for token in _BREAKS.split(words.strip().lower()) if token and token != "and"]
    if not tokens or len(tokens) > _MOST_WORDS:
        return None
    if len(tokens) == 1 and tokens[0] in _NOTHING:
        return 0
    total = group = 0
    for token in tokens:
        if token in _SMALL:
            group += _SMALL[token]
        elif token == "hundred":
            group = (group or 1) * 100
        elif token in _LARGE:
            total += (group or 1) * _LARGE[token]
            group = 0
        else:
            return None
    return total + group


_BREAKS = re.compile(r"[\s,‐‑‒–—-]+")
_MOST_WORDS = 40
_NOTHING = frozenset({"no", "none", "nil", "zero", "not"})
_ONES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_TEENS = ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SMALL = {word: number for number, word in enumerate([*_ONES, *_TEENS])}
_SMALL |= {word: 10 * tens for tens, word in enumerate(_TENS, start=2)}
_SMALL |= {"a": 1, "an": 1, "single": 1}
_LARGE = {word: 10 ** (3 * power) for power, word in enumerate(["thousand", "million", "billion", "trillion"], start=1)}
