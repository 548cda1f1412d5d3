"""Check a model's description of a passage against the passage's text, so that cards contain nothing else."""

from __future__ import annotations

import re

from fin_agent.lexicon.text_normalization import places_of

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def numbers_not_in(words: str, text: str) -> tuple[str, ...]:
    """Return the numbers of `words` that `text` does not contain, in order.

    >>> numbers_not_in("Net sales of 3,533, up 6%", "Net sales were $3533 million, 16% more")
    ('6',)
    """
    held = {_without_thousands_separators(number) for number in _NUMBER.findall(text)}
    lacking = [number for number in _NUMBER.findall(words) if _without_thousands_separators(number) not in held]
    odd = [sign for sign in words if sign.isnumeric() and not sign.isdecimal() and sign not in text]
    return tuple(dict.fromkeys([*lacking, *odd]))


def printable_line(words: str) -> str:
    r"""Return words on one line, without characters unfit for a terminal or file.

    >>> printable_line("net\n sales\x1b[2J\ud800")
    'net sales[2J'
    """
    return "".join(filter(str.isprintable, " ".join(words.split())))


def contains_phrase(phrase: str, text: str) -> bool:
    """Return whether a text contains a phrase word by word, ignoring case and line breaks."""
    if not any(map(str.isalnum, phrase)):
        return False
    low = text.lower()
    found = places_of(" ".join(phrase.lower().split()), low)
    return any(not any(map(str.isalnum, low[max(0, start - 1) : start] + low[end : end + 1])) for start, end in found)


def _without_thousands_separators(number: str) -> str:
    return re.sub(r",(?=\d{3}(?!\d))", "", number)
