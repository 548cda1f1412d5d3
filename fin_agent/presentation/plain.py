"""Text of filings and questions, made safe to print."""

from __future__ import annotations

import unicodedata

_KEPT = "\n\t"
_UNSAFE = ("Cc", "Cf", "Cs")
"""Controls, invisible marks that reorder a line, lone surrogates: a filing must not be able to drive a terminal."""
_SHAPING = "\u00ad\u200c\u200d"


def plain(text: str) -> str:
    """`text` without control characters.

    >>> plain("net sales\\x1b[2J rose")
    'net sales[2J rose'
    """
    if text.isprintable():
        return text
    return "".join(
        mark for mark in text if mark in _KEPT or mark in _SHAPING or unicodedata.category(mark) not in _UNSAFE
    )


def one_line(text: str, longest: int = 0) -> str:
    """`text` on one line; cut with an ellipsis where it is longer than `longest` (0: never)."""
    joined = " ".join(plain(text).split())
    return joined if not longest or len(joined) <= longest else f"{joined[: longest - 1].rstrip()}…"
