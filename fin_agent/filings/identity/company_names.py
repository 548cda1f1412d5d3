"""When two prints of a company's name mean the same company."""

from __future__ import annotations

import re


def same_company(one: str, other: str) -> bool:
    """Whether two names differ in case, punctuation, `The` and the spelling of their legal ending alone.

    >>> same_company("COCA COLA CO", "The Coca-Cola Company")
    True
    >>> same_company("Lark Power Company", "Lark Gas Company")
    False
    """
    return one == other or folded(one) == folded(other)


def spelt_otherwise(one: str, other: str) -> bool:
    """Whether the letters of two names differ, not only their case and punctuation."""
    return re.sub(r"[\W_]", "", one.casefold()) != re.sub(r"[\W_]", "", other.casefold())


def folded(name: str) -> str:
    """The words of a name that tell it from others, in small letters."""
    name = re.sub(r"\s*[/\\][A-Za-z ]{2,8}[/\\]?\s*$", "", name)
    name = re.sub(r"[.'’®™/]", "", name.casefold()).replace("&", " and ")
    words = re.findall(r"\w+", name)
    if words[:1] == ["the"]:
        words = words[1:]
    while len(words) > 1 and words[-1] in _ENDINGS:
        words.pop()
    # `AMAZON COM INC` of a register is `Amazon.com, Inc.` of the cover, `COCA COLA` is `Coca-Cola`.
    return "".join(words)


_ENDINGS = frozenset(
    ("inc", "incorporated", "corp", "corporation", "co", "company", "plc", "ltd", "limited", "llc", "lp", "nv", "sa",
     "ag", "se", "as", "asa", "ab", "oyj", "spa", "bv", "the", "and")
)  # fmt: skip
