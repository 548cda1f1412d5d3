"""Normalize words, so that `Stockholders’ equity` and `shareholder's equity` become the same label."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_TYPOGRAPHY = str.maketrans(
    {"‘": "'", "’": "'", "ʼ": "'", "`": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "‒": "-", "–": "-",
     "—": "-", "―": "-", "−": "-", "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u00ad": "", "\u200b": ""}
)  # fmt: skip
_SAME = {"stockholder": "shareholder", "shareowner": "shareholder", "shareholding": "shareholder"}
_JOINED = re.compile(
    r"\b(non|pre|anti)[ -]"
    r"(?=controlling|operating|current|interest|gaap|cash|service|trade|tax|redeemable|vested|dilutive)"
)


def plain(text: str) -> str:
    """Return the text in lower case with straight quotes and hyphens; its length changes only with soft hyphens."""
    return (text if text.isascii() and "`" not in text else text.translate(_TYPOGRAPHY)).lower()


def join_compounds(text: str) -> str:
    """Return `non-controlling` as `noncontrolling`, `pre-tax` as `pretax`, and `cashflow` as `cash flow`."""
    text = text.replace("cashflow", "cash flow")
    return _JOINED.sub(r"\1", text) if "non" in text or "pre" in text else text


def collapse_spaces(text: str, longest: int) -> str:
    r"""Collapse runs of white space and truncate a text before it is matched by patterns.

    The time of many patterns grows with the square or cube of consecutive blanks. Labels, headings and names have none.

    >>> collapse_spaces("Net \t\n  sales", 7)
    'Net sal'
    """
    return " ".join(text[: 8 * longest].split())[:longest]


def mask_spans(text: str, spans: Iterable[tuple[int, int]], mark: str = " ") -> str:
    """Return the text with a mark over each character of these spans; the others keep their position.

    >>> mask_spans("Nike sales", [(0, 4)])
    '     sales'
    """
    letters = list(text)
    for start, end in spans:
        letters[start:end] = mark * (end - start)
    return "".join(letters)


def words_in(text: str) -> list[str]:
    """Return the words of a text, without numbers and marks.

    >>> words_in("It's 5 non-GAAP items.")
    ['It', 's', 'non', 'GAAP', 'items']
    """
    return _WORD.findall(text)


_WORD = re.compile(r"[^\W\d_]+")


def bare_words(text: str) -> list[str]:
    """Return the words and numbers of a text without the marks around them.

    >>> bare_words('"R&D", up 5.5%.')
    ['R&D', 'up', '5.5']
    """
    return [word for word in (each.strip(_AROUND) for each in text.split()) if word]


_AROUND = ".,;:!?()[]{}|$€£%*—–-/'\"“”‘’"


def places_of(words: str, text: str) -> list[tuple[int, int]]:
    """Return (start, end) of each occurrence of `words` in the text, over any white space.

    >>> places_of("sales", "sales by sales channel")
    [(0, 5), (9, 14)]
    """
    return [found.span() for found in re.finditer(re.escape(words).replace(r"\ ", r"\s+"), text)]


MAX_LABEL_LENGTH = 400
"""Characters of a label, a heading or a name that are read; the longest in filings have 300."""


@lru_cache(maxsize=65536)
def singular(word: str) -> str:
    """Return one form for singular and plural, and for stockholder and shareholder."""
    if len(word) > 3 and word.endswith("s"):
        if word.endswith("ies") and len(word) > 4:
            word = word[:-3] + "y"
        elif word.endswith(("sses", "xes", "ches", "shes")):
            word = word[:-2]
        elif not word.endswith(("ss", "us", "is")):
            word = word[:-1]
    return _SAME.get(word, word)
