"""Abbreviations that filings make for names: `Commercial Airplanes (BCA)`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fin_agent.retrieval.terms import stem, stems_of

_DEFINED = re.compile(
    r"((?:[A-Z][\w&’'-]*,?\s+(?:(?:of|and|the|for|&)\s+)?){2,7})\(\s*[“\"]?([A-Z][A-Z&]{1,6})[”\"]?\s*\)"
)
_SMALL = ("of", "and", "the", "for", "&")


def abbreviations_in(texts: Iterable[str]) -> dict[str, frozenset[str]]:
    """Stems of abbreviations with the stems of the words they stand for; the filer's own name may be left out.

    >>> sorted(abbreviations_in(["Revenue of Commercial Airplanes (BCA) fell."])["bca"])
    ['airplan', 'commerci']
    """
    found: dict[str, frozenset[str]] = {}
    for text in texts:
        for name, short in _DEFINED.findall(" ".join(text.split())):
            words = [word.strip(",") for word in name.split() if word not in _SMALL]
            letters = short.replace("&", "")
            for count in range(len(words), 1, -1):
                last = words[-count:]
                initials = "".join(word[0] for word in last).upper()
                if letters.endswith(initials) and len(letters) - len(initials) <= 1:
                    found.setdefault(stem(short.lower()), frozenset(stems_of(" ".join(last))))
                    break
    return found
