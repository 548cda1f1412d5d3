"""Keys and passwords taken out of whatever is shown, logged or kept."""

from __future__ import annotations

import os
import re

from fin_agent.redaction import KEY_VARIABLES, NAMED_FOR_KEYS, REDACTED, secret_forms

_SECRET_NAMES = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD)S?$", re.I)
_LOOKS_SECRET = re.compile(
    r"\b(?:sk|pk|gsk|xai|hf|key)[-_][\w*.\-]{6,}"  # keys as providers make them, also half hidden
    r"|\bAIza[\w\-]{10,}"
    r"|\bBearer\s+\S+"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)",  # user:password@ in an address
    re.I,
)
_IS_KEY = re.compile(
    r"(?:sk|pk|gsk|xai|hf|key|nvapi)[-_](?=[\w-]*\d)[\w-]{16,}|AIza[\w-]{30,}|Bearer\s.*|.*://[^/\s:@]+:[^/\s@]+@.*",
    re.I,
)
_HOLDS_KEY = re.compile(
    r"(?<![a-z\d])(?:(?:sk|pk|gsk|xai|hf|key|nvapi)[-_][\w-]*?(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{12,}|AIza[\w-]{30,})"
    r"|\bBearer\s+\S{8,}",
    re.I,
)
"""A run of letters and digits is no word; `key-figures-of-2023` is none of these."""
_MAX_CHARACTERS = 400


def holds_key(text: str) -> bool:
    """Whether a text that a user wrote holds a key, or a password in an address: one that is set, or what looks so.

    >>> holds_key("openai:sk-abcdefghijklmnop1234"), holds_key("openai:gpt-5.4"), holds_key("key-figures-of-2023.yaml")
    (True, False, False)
    """
    written = text.strip()
    return bool(_IS_KEY.fullmatch(written) or _HOLDS_KEY.search(written)) or redact_reply(written) != written


def redact_reply(text: str) -> str:
    """A text of a model without the keys that servers are sent: those of the environment's variables for keys."""
    for key in sent_keys():
        text = text.replace(key, REDACTED)
    return text


def sent_keys() -> list[str]:
    """Keys that a server may have been sent, the longest first."""
    names = {name for name in os.environ if KEY_VARIABLES.search(name)} | NAMED_FOR_KEYS
    return secret_forms(os.environ.get(name, "") for name in names)


def register_key_variable(variable: str) -> None:
    """Let the value of a variable be taken for a key, whatever the variable is called."""
    NAMED_FOR_KEYS.add(variable)


def redact_keys(text: str) -> str:
    r"""A text on one line, shortened, without keys: those in the environment, and whatever looks like one.

    >>> redact_keys("Incorrect API key provided: sk-proj-abcdef123456.\\nSee the manual")
    'Incorrect API key provided: [key] See the manual'
    """
    for value in _secrets():
        text = text.replace(value, REDACTED)
    text = _LOOKS_SECRET.sub(REDACTED, text)
    line = "".join(sign if sign.isprintable() else " " for sign in text)
    line = " ".join(line.split())
    return line if len(line) <= _MAX_CHARACTERS else f"{line[: _MAX_CHARACTERS - 3]}..."


def _secrets() -> list[str]:
    names = {name for name in os.environ if name in NAMED_FOR_KEYS or _SECRET_NAMES.search(name)}
    return secret_forms(os.environ[name] for name in names)
