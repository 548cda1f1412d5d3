"""Numbers that a text spells in words: `forty-two`, `three hundred million`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from fin_agent.filings.xbrl.number_words import read_number_words

SMALLEST = 11
"""Smaller ones are words of everyday speech: `one of the largest`, `two reasons`."""


class Spelled(NamedTuple):
    """A number as it is spelled, and its value."""

    words: str
    value: int


def spelled_numbers(text: str) -> Iterator[Spelled]:
    """Numbers of at least SMALLEST that stand in words, in their order; none of the scale after digits (`$5 million`).

    >>> [each.words for each in spelled_numbers("It has forty-two stores, one of them large, and $5 million.")]
    ['forty-two']
    >>> [each.value for each in spelled_numbers("Three hundred and five thousand shares")]
    [305000]
    """
    for found in _RUN.finditer(text):
        words = found[0].strip(" -,")
        while words.lower().endswith((" and", "-and")):
            words = words[:-4].rstrip()
        value = read_number_words(words)
        if value is not None and value >= SMALLEST:
            yield Spelled(words, value)


_UNITS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    "|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
)
_RUN = re.compile(
    rf"(?<![\w.,])(?<!\d\s)(?:{_UNITS}|an?\s+(?=hundred|thousand|million|billion|trillion))"
    rf"(?:[\s‐‑-]+(?:and[\s‐‑-]+)?(?:{_UNITS}|hundred|thousand|million|billion|trillion))*(?!\w)",
    re.I,
)
