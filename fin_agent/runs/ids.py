"""Ids of runs: short, in the order of time, easy to read out and to type."""

from __future__ import annotations

import secrets
from datetime import datetime

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Base 32 without the letters that are taken for others (Crockford)."""
_READ_AS = str.maketrans("oil", "011")
_TIME_DIGITS = 9
_RANDOM_DIGITS = 3


def run_id(started: datetime) -> str:
    """A new id: nine digits of time (milliseconds), three by chance."""
    milliseconds = int(started.timestamp() * 1_000)
    chance = secrets.randbelow(32**_RANDOM_DIGITS)
    return _digits(milliseconds, _TIME_DIGITS) + _digits(chance, _RANDOM_DIGITS)


def as_typed(name: str) -> str:
    """What a person typed for an id, or its beginning, in the letters that ids have.

    >>> as_typed(" O1JD ")
    '01jd'
    """
    return name.strip().lower().translate(_READ_AS)


def _digits(number: int, count: int) -> str:
    return "".join(_ALPHABET[number >> (5 * place) & 31] for place in reversed(range(count)))
