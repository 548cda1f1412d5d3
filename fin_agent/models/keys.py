"""Keys and passwords taken out of whatever is shown, logged or kept."""

from __future__ import annotations

import os
import re

_SECRET_NAMES = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)S?$", re.I)
_SHORTEST_SECRET = 8
_LOOKS_SECRET = re.compile(
    r"\b(?:sk|pk|gsk|xai|hf|key)[-_][\w*.\-]{6,}"  # keys as providers make them, also half hidden
    r"|\bAIza[\w\-]{10,}"
    r"|\bBearer\s+\S+"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)",  # user:password@ in an address
    re.I,
)
_MOST_CHARACTERS = 400


def redacted(text: str) -> str:
    """A text on one line, shortened, without keys: those in the environment, and whatever looks like one.

    >>> redacted("Incorrect API key provided: sk-proj-abcdef123456.\\nSee the manual")
    'Incorrect API key provided: [key] See the manual'
    """
    for value in _secrets():
        text = text.replace(value, "[key]")
    text = _LOOKS_SECRET.sub("[key]", text)
    line = "".join(sign if sign.isprintable() else " " for sign in text)
    line = " ".join(line.split())
    return line if len(line) <= _MOST_CHARACTERS else f"{line[: _MOST_CHARACTERS - 3]}..."


def _secrets() -> list[str]:
    """Longest first, so that no part of one is left where another begins like it."""
    found = {
        value for name, value in os.environ.items() if _SECRET_NAMES.search(name) and len(value) >= _SHORTEST_SECRET
    }
    return sorted(found, key=lambda value: (-len(value), value))
