"""Loading a chat model by name: `openai:gpt-4o-mini`, `ollama:llama3.1`, or any that LangChain knows.

The provider's client repeats failed requests. For servers with OpenAI's protocol, redirects are not followed, and the
size of a reply is limited.
"""

from __future__ import annotations

import importlib
import math
import os
import re
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from fin_agent.errors import how_to_install
from fin_agent.models.errors import ModelSetupError, ServerFailedError
from fin_agent.redaction import (
    NAMED_FOR_KEYS,
    holds_key,
    is_plaintext,
    normalize_secret,
    redact_keys,
    unsendable_reason,
)

if TYPE_CHECKING:
    import httpx
    from langchain_core.language_models import BaseChatModel

KEY_VARIABLE = "FIN_AGENT_API_KEY"
"""The key for the user's own server; without it, the provider's variable is used."""
BASE_URL_VARIABLES = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
_OPENAI_KEY = "OPENAI_API_KEY"
_NO_KEY = "none"
"""Placeholder for a server that needs no key, since the client requires one."""
MAX_BYTES = 20_000_000
"""Size limit of a reply's body."""
_BESIDE_THE_POINT = "This model does not support OpenAI's structured output feature|Pydantic serializer warnings"
"""Warnings of langchain-openai about a method that is not used here, and about forms that are checked here."""


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A chat model with its name and its server's address."""

    name: str
    """`PROVIDER:MODEL`."""
    model: BaseChatModel = field(repr=False)
    base_url: str | None = None
    """The server's address; None for the provider's own."""

    @property
    def provider(self) -> str:
        """The provider: `openai` of `openai:gpt-4o-mini`."""
        return self.name.partition(":")[0]

    @property
    def priced_at(self) -> str | None:
        """The address that determines prices; None for the provider's own."""
        own = self.base_url is None or urlsplit(self.base_url).hostname == "api.openai.com"
        return None if own else self.base_url


def load_chat_model(
    name: str,
    *,
    base_url: str | None = None,
    key_variable: str | None = None,
    timeout: float = 120.0,
    max_retries: int = 3,
) -> LoadedModel:
    """Load a chat model. Keys come from the environment only.

    Its name is `PROVIDER:MODEL`; `openai` stands for every server with OpenAI's protocol. Without `base_url`, the
    provider's own address is used. The key comes from the variable `key_variable`, by default
    FIN_AGENT_API_KEY if `base_url` is given, else the provider's. `timeout` is in seconds for each request as a whole.
    Raises ModelSetupError if something is missing; the message names it.
    """
    if holds_key(name) or holds_key(key_variable or ""):
        remedy = f"Set the key in the environment: {_OPENAI_KEY}, or {KEY_VARIABLE} for your own server"
        raise ModelSetupError("a name looks like a key or a password", subject="chat model", remedy=remedy)
    provider, _, model = name.strip().partition(":")
    if not re.fullmatch(r"[a-z][a-z0-9_]*:\S+", name.strip()):
        raise _error(name, "the name has no provider", _GIVE_NAME)
    from_environment = [os.environ.get(variable) for variable in BASE_URL_VARIABLES if provider == "openai"]
    given = next(filter(None, (base_url, *from_environment)), None)
    address = None if given is None else _address(given, name)
    options: dict[str, object] = {"model_provider": provider, "timeout": timeout, "max_retries": max_retries}
    if provider == "ollama":
        options = {"model_provider": provider, "client_kwargs": {"timeout": timeout}}
    if address is not None:
        options["base_url"] = address
    if provider == "openai":
        options |= {"stream_usage": True, **_http_client()}
    if (key := _key(provider, address, key_variable, name)) is not None:
        options["api_key"] = key
    return LoadedModel(name, _create_model(name, model, options), address)


_GIVE_NAME = "Give PROVIDER:MODEL, such as openai:gpt-4o-mini or ollama:llama3.1"


def _error(name: str, what: str, remedy: str) -> ModelSetupError:
    return ModelSetupError(what, subject=f"chat model {redact_keys(name)!r}", remedy=remedy)


def _create_model(name: str, model: str, options: dict[str, object]) -> BaseChatModel:
    try:
        from langchain.chat_models import init_chat_model
    except ImportError:
        install = f"Install it: {how_to_install('chat')}"
        raise _error(name, "chat models need langchain, which is not installed", install) from None
    warnings.filterwarnings("ignore", message=_BESIDE_THE_POINT, category=UserWarning)
    try:
        made: BaseChatModel = init_chat_model(model, **options)
        return made
    except ImportError as failure:
        what, remedy = f"its provider's package is not installed ({failure})", "Install the package named"
    except Exception as failure:  # a provider's own errors: no key, a setting it does not know
        what = f"it cannot be set up ({str(failure).rstrip('.') or type(failure).__name__})"
        remedy = f"{_GIVE_NAME}, and set the provider's key in the environment"
    # Not chained to the provider's exception, whose text may contain a key.
    raise _error(name, redact_keys(what), remedy)


def _address(given: str, name: str) -> str:
    """Return the address without a trailing slash. Raises ModelSetupError if it is not one, or contains a password."""
    try:
        parts = urlsplit(given.strip())
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if holds_key(given) or (is_address and (parts.username or parts.password or parts.query)):
        what = "the address of its server contains a password, a key or a query"
        raise _error(name, what, f"Leave it out of the address, and set a key with {KEY_VARIABLE}")
    if not is_address:
        what = f"{redact_keys(given)!r} is not the address of a server"
        raise _error(name, what, "Give an address such as http://localhost:8000/v1")
    return given.strip().rstrip("/")


def variable_with_key(provider: str, address: str | None, key_variable: str | None = None) -> str | None:
    """Return the environment variable from which `load_chat_model` takes the key; None if none is set.

    Without one, the provider's package may still find a key of its own.
    """
    usual = ((KEY_VARIABLE, address is not None), (_OPENAI_KEY, provider == "openai"))
    looked_at = [variable for variable, applies in usual if applies] if key_variable is None else [key_variable]
    return next((each for each in looked_at if normalize_secret(os.environ.get(each, ""), blanks=True)), None)


def _key(provider: str, address: str | None, key_variable: str | None, name: str) -> str | None:
    """Return the key to pass on; None if the provider's package finds its own or reports a missing one."""
    key, told = None, "a key that its package finds"
    if (variable := variable_with_key(provider, address, key_variable)) is not None:
        NAMED_FOR_KEYS.add(variable)
        key, told = normalize_secret(os.environ[variable], blanks=True), f"the key in {variable}"
        if why := unsendable_reason(key):
            raise _error(name, f"{told} cannot be sent: {why}", f"Set {variable} to the key alone")
    elif key_variable is not None:
        what = f"its key must be in the variable {key_variable}, which is not set"
        raise _error(name, what, f"Set {key_variable} in the environment")
    elif provider == "openai" and address is None:
        remedy = f"Set {_OPENAI_KEY} in the environment, or give the base URL of a server that needs none"
        raise _error(name, f"it needs a key, and {_OPENAI_KEY} is not set", remedy)
    elif provider == "openai":
        key = _NO_KEY
    if key != _NO_KEY and address is not None and is_plaintext(address):
        what = f"{told} would be sent to {address} over plain HTTP, which anybody on the network path can read"
        remedy = "Give an address with https, or a tunnel to it on 127.0.0.1; if it needs no key, set"
        raise _error(name, what, f"{remedy} {KEY_VARIABLE}={_NO_KEY}")
    return key


@lru_cache(maxsize=1)
def _http_client() -> dict[str, object]:
    """Return the HTTP client for `ChatOpenAI`, one per process; empty if the package is not installed."""
    try:
        import openai
    except ImportError:
        return {}  # `init_chat_model` says which package is missing
    client = openai.DefaultHttpxClient(
        follow_redirects=False, headers={"Accept-Encoding": "identity"}, event_hooks={"response": [_bound]}
    )
    return {"http_client": client}


def _bound(response: httpx.Response) -> None:
    """Limit a response body to MAX_BYTES, and the total time of reading it to the read timeout."""
    stream = cast("httpx.SyncByteStream", response.stream)
    most = (response.request.extensions.get("timeout") or {}).get("read") or math.inf
    packed = response.headers.get("content-encoding", "identity").lower() != "identity"

    def pieces() -> Iterator[bytes]:
        read, waited, began = 0, 0.0, time.monotonic()
        for piece in stream:
            waited += time.monotonic() - began
            read += len(piece)
            if waited > most:
                raise TimeoutError
            if packed or read > MAX_BYTES:  # the unpacked size would have no limit
                what = f"the server's reply is compressed, or longer than {MAX_BYTES // 1_000_000} MB"
                raise ServerFailedError(what, remedy="Check that a chat model is served at this address")
            yield piece
            began = time.monotonic()

    # The stream class of the HTTP package that openai's clients use.
    base = importlib.import_module(type(response).__module__.partition(".")[0]).SyncByteStream
    methods = {"__iter__": lambda self: pieces(), "close": lambda self: stream.close()}
    response.stream = type("BoundStream", (base,), methods)()
