"""The Porter stemmer as Lucene's `porter_stem` has it (Porter 1980, with Porter's own two later departures)."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise


@lru_cache(maxsize=500_000)
def porter(word: str) -> str:
    """The stem of a lower-case word; words of up to two letters are left alone.

    >>> [porter(word) for word in ("inventories", "technology", "possibly", "10k")]
    ['inventori', 'technolog', 'possibl', '10k']
    """
    if len(word) <= 2:
        return word
    for step in (_plurals, _past, _y_to_i):
        word = step(word)
    for endings in (_DOUBLE, _LONG):
        word = _replaced(word, endings)
    return _tidied(_shortened(word))


def _vowel(word: str, at: int) -> bool:
    letter = word[at]
    if letter == "y":
        return at > 0 and not _vowel(word, at - 1)
    return letter in "aeiou"


@lru_cache(maxsize=500_000)
def _measure(stem: str) -> int:
    kinds = [_vowel(stem, at) for at in range(len(stem))]
    return sum(before and not after for before, after in pairwise(kinds))


def _has_vowel(stem: str) -> bool:
    return any(_vowel(stem, at) for at in range(len(stem)))


def _double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and not _vowel(word, len(word) - 1)


def _cvc(word: str) -> bool:
    if len(word) < 3 or word[-1] in "wxy":
        return False
    return not _vowel(word, len(word) - 1) and _vowel(word, len(word) - 2) and not _vowel(word, len(word) - 3)


def _plurals(word: str) -> str:
    for ending, by in (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")):
        if word.endswith(ending):
            return word[: len(word) - len(ending)] + by
    return word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        if word.endswith(ending) and _has_vowel(word[: -len(ending)]):
            word = word[: -len(ending)]
            if word.endswith(("at", "bl", "iz")):
                return word + "e"
            if _double(word) and word[-1] not in "lsz":
                return word[:-1]
            return word + "e" if _measure(word) == 1 and _cvc(word) else word
    return word


def _y_to_i(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and _has_vowel(word[:-1]) else word


_DOUBLE = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("logi", "log"),
)  # fmt: skip
_LONG = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_REST = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion", "tion", "ou", "ism",
    "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip


def _replaced(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    for ending, by in endings:
        if word.endswith(ending):
            stem = word[: -len(ending)]
            return stem + by if _measure(stem) > 0 else word
    return word


def _shortened(word: str) -> str:
    for ending in _REST:
        if word.endswith(ending):
            stem = word[:-3] if ending in ("sion", "tion") else word[: -len(ending)]
            return stem if _measure(stem) > 1 else word
    return word


def _tidied(word: str) -> str:
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _cvc(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word
