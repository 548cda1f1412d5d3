"""Removing keys and passwords from everything that is shown, logged or stored."""

from __future__ import annotations

import re

from fin_agent.redaction import NAMED_FOR_KEYS, REDACTED, secrets_set

_SECRET_NAMES = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)S?$", re.I)
_LOOKS_SECRET = re.compile(
    r"\b(?:sk|pk|gsk|xai|hf|key)[-_][\w*.\-]{6,}"  # keys as providers make them, also half hidden
    r"|\bAIza[\w\-]{10,}"
    r"|\bBearer\s+\S+"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)",  # user:password@ in an address
    re.I,
)
_HOLDS_KEY = re.compile(
    r"(?<![a-z\d])(?:(?:sk|pk|gsk|xai|hf|key|nvapi)[-_][\w-]*?(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{12,}|AIza[\w-]{30,})"
    r"|\bBearer\s+\S{8,}|//[^/\s:@]+:[^/\s@]+@",
    re.I,
)
"""The run of letters and digits is required: `key-figures-of-2023` is not a key."""
_MAX_CHARACTERS = 400


def holds_key(text: str) -> bool:
    """Return whether a user's text contains a key, or a password in an address: one that is set, or one by its form.

    >>> holds_key("openai:sk-abcdefghijklmnop1234"), holds_key("openai:gpt-5.4"), holds_key("key-figures-of-2023.yaml")
    (True, False, False)
    """
    return bool(_HOLDS_KEY.search(text)) or redact_reply(text) != text


def redact_reply(text: str) -> str:
    """Return a model's text without the keys that are sent to servers, as the environment gives them."""
    for key in secrets_set():
        text = text.replace(key, REDACTED)
    return text


def register_key_variable(variable: str) -> None:
    """Treat the value of a variable as a key, whatever its name."""
    NAMED_FOR_KEYS.add(variable)


def redact_keys(text: str) -> str:
    r"""Return a text on one line, shortened, without keys: those in the environment, and those by their form.

    >>> redact_keys("Incorrect API key provided: sk-proj-abcdef123456.\nSee the manual")
    'Incorrect API key provided: [key] See the manual'
    """
    for value in secrets_set(_SECRET_NAMES):
        text = text.replace(value, REDACTED)
    text = _LOOKS_SECRET.sub(REDACTED, text)
    line = "".join(sign if sign.isprintable() else " " for sign in text)
    line = " ".join(line.split())
    return line if len(line) <= _MAX_CHARACTERS else f"{line[: _MAX_CHARACTERS - 3]}..."
