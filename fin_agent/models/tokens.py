"""Token counts estimated without a network, for any model; servers report the exact ones."""

from __future__ import annotations

import re
from collections.abc import Iterable

MESSAGE_TOKENS = 4
"""Tokens of a message besides its text: its sender and its end."""


def message_tokens(texts: Iterable[str]) -> int:
    """Return the estimated tokens of messages with these texts."""
    return sum(MESSAGE_TOKENS + approximate_tokens(text) for text in texts)


def approximate_tokens(text: str) -> int:
    """Estimate the number of tokens in OpenAI's vocabulary `o200k_base`.

    The text is cut as that vocabulary cuts it, with rules fitted on pages of filings. Characters divided by a constant
    are up to 32% off, since a page of figures has 3 characters per token and prose 5.5. Vocabularies that take digits
    one by one need up to twice as many tokens for tables.

    >>> approximate_tokens("Net sales rose 6% to $5,438 million.")
    13
    """
    return round(sum(map(_tokens, _PIECE.findall(text))))


_PIECE = re.compile(r"[^\w\r\n]?[^\W\d_]+|\d{1,3}| ?[^\w\s]+[\r\n/]*|_+|\s*[\r\n]+|\s+(?!\S)|\s+")
"""Approximates how `o200k_base` cuts: words with a preceding sign, up to three digits, signs, line ends, blanks."""


def _tokens(piece: str) -> float:
    """Return the tokens of a piece: one for most words, a little more for long ones."""
    if not any(map(str.isalpha, piece)):
        is_run = len(piece) <= 3 or len(set(piece.strip() or piece)) == 1
        return 1 + len(piece) // 64 if is_run else len(piece) / 2.5
    if not piece.isascii():
        return max(1.0, len(piece.encode("utf-8", "replace")) / 3)
    if piece.isupper() and len(piece) > 3:
        return len(piece) / 3.5
    return 1 + 0.04 * max(0, len(piece) - 6)
