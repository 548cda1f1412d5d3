"""Keys and passwords: normalized for requests, found in what users write, and removed from what is shown or stored."""

from __future__ import annotations

import ipaddress
import os
import re
from urllib.parse import urlsplit

NAMED_FOR_KEYS: set[str] = set()
"""Further variables that hold keys, as settings name them."""
_KEY_VARIABLES = re.compile(r"API_?(?:KEY|TOKEN)S?$|^FIN_AGENT_(?:ES_PASSWORD|TOKEN)$", re.I)
MIN_SECRET_LENGTH = 8
"""Shorter values can be parts of words: removing them would garble messages and reveal the secret by its gaps."""
REDACTED = "[key]"
_SENT = re.compile(
    r"\b(ApiKey\s+)[^\s'\"\[]\S*|\b(Bearer\s+)(?=\S*\d)\S{8,}|\b(Basic\s+)(?=\S*[\d=+/])[\w+/]{8,}={0,2}|(?<=://)[^/\s:@]+:\S+(?=@)"
)
"""Secrets as they appear in request headers and in addresses."""
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
_ENDS_OF_A_FILE = "\r\n\ufeff"
"""Characters that a secret read from a file may carry: line ends and the byte order mark."""


def normalize_secret(value: str, *, blanks: bool = False) -> str:
    r"""Return a secret without line ends and byte order marks; with `blanks`, also without spaces and tabs around it.

    >>> normalize_secret("sesame open\r\n"), normalize_secret(" sesame \n", blanks=True)
    ('sesame open', 'sesame')
    """
    return value.strip(_ENDS_OF_A_FILE + " \t") if blanks else value.strip(_ENDS_OF_A_FILE)


def unsendable_reason(value: str, *, ascii_only: bool = True) -> str:
    r"""Return why a secret cannot be sent, without quoting it; empty if it can be sent.

    >>> unsendable_reason("ses\name"), unsendable_reason("sesäme"), unsendable_reason("sesäme", ascii_only=False)
    ('it contains a control character, such as a line end', 'it contains a character that is not ASCII', '')
    """
    if any(ord(sign) < 32 or 127 <= ord(sign) < 160 for sign in value):
        return "it contains a control character, such as a line end"
    if ascii_only and not value.isascii():
        return "it contains a character that is not ASCII"
    if any("\ud800" <= sign <= "\udfff" for sign in value):
        return "it contains bytes that are not UTF-8"
    return ""


def is_loopback(host: str) -> bool:
    """Return whether a host name or address is reachable from this machine only.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "192.168.0.4", "")]
    [True, True, True, False, False, False]
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_plaintext(address: str) -> bool:
    """Return whether an address would expose a key on the network: plain HTTP to another machine.

    >>> [is_plaintext(each) for each in ("http://example.com/v1", "https://example.com/v1", "http://localhost:8000")]
    [True, False, False]
    """
    parts = urlsplit(address)
    return parts.scheme == "http" and not is_loopback(parts.hostname or "")


def redact_secrets(text: str) -> str:
    r"""Return a message without the keys, tokens and passwords of the environment and of request headers.

    >>> redact_secrets("Invalid header value b'ApiKey sesame123\\n'")
    "Invalid header value b'ApiKey [key]"
    """
    return _SENT.sub(lambda found: f"{found[1] or found[2] or found[3] or ''}{REDACTED}", redact_reply(text))


def secrets_set(named: re.Pattern[str] = _KEY_VARIABLES) -> list[str]:
    """Return the secrets of the environment, of variables that hold keys or are `named` so; short ones are left out.

    Each as it is set, as it is sent and as a traceback prints it. The longest come first, so that replacing one leaves
    no rest of a longer one.
    """
    values = (value for name, value in os.environ.items() if name in NAMED_FOR_KEYS or named.search(name))
    forms = {form for each in values for form in (each, normalize_secret(each, blanks=True), repr(each)[1:-1])}
    return sorted((form for form in forms if len(form) >= MIN_SECRET_LENGTH), key=lambda form: (-len(form), form))


def holds_key(text: str) -> bool:
    """Return whether a user's text contains a key, or a password in an address: one that is set, or one by its form.

    >>> holds_key("openai:sk-abcdefghijklmnop1234"), holds_key("openai:gpt-5.4"), holds_key("key-figures-of-2023.yaml")
    (True, False, False)
    """
    return bool(_HOLDS_KEY.search(text)) or redact_reply(text) != text


def redact_reply(text: str, named: re.Pattern[str] = _KEY_VARIABLES) -> str:
    """Return a model's text without the keys that are sent to servers, as the environment gives them."""
    for key in secrets_set(named):
        text = text.replace(key, REDACTED)
    return text


def redact_keys(text: str) -> str:
    r"""Return a text on one line, shortened, without keys: those in the environment, and those by their form.

    >>> redact_keys("Incorrect API key provided: sk-proj-abcdef123456.\nSee the manual")
    'Incorrect API key provided: [key] See the manual'
    """
    text = _LOOKS_SECRET.sub(REDACTED, redact_reply(text, _SECRET_NAMES))
    line = "".join(sign if sign.isprintable() else " " for sign in text)
    line = " ".join(line.split())
    return line if len(line) <= _MAX_CHARACTERS else f"{line[: _MAX_CHARACTERS - 3]}..."
