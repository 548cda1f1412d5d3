"""Errors of chat models: one type per cause, each with a remedy and without keys."""

from __future__ import annotations

from collections.abc import Iterator

from fin_agent.errors import FinAgentError
from fin_agent.models.call import NO_USAGE, Usage
from fin_agent.models.key_redaction import redact_keys


class ModelError(FinAgentError):
    """A call of a chat model failed. `usage` is what it spent nevertheless."""

    def __init__(self, what: str, *, subject: str = "", remedy: str = "", usage: Usage = NO_USAGE) -> None:
        self.usage = usage
        super().__init__(what, subject=subject, remedy=remedy)


class ModelSetupError(ModelError):
    """A model cannot be set up: its name, its package, its key or its address."""


class KeyRefusedError(ModelError):
    """The server rejects the key, or the key gives no access to this model (401, 403)."""


class UnknownModelError(ModelError):
    """The server has no such model, or there is nothing at the address (404)."""


class RequestRefusedError(ModelError):
    """The server rejects the request as invalid (400 and similar)."""


class InputTooLongError(RequestRefusedError):
    """The messages exceed the model's context length."""


class RateLimitedError(ModelError):
    """Too many calls or tokens per minute, after every retry (429)."""


class QuotaUsedUpError(ModelError):
    """The account has no credit left (also 429, but waiting does not help)."""


class ServerFailedError(ModelError):
    """The server failed, after every retry (500, 502, 503, 504), or its reply is not a chat completion."""


class ServerUnreachableError(ModelError):
    """The server cannot be reached, after every retry."""


class ModelTimeoutError(ModelError):
    """The server did not reply in time, after every retry. Its charge for the request is unknown."""


class UnusableReplyError(ModelError):
    """Neither the reply nor its correction matches the request."""


class EmptyReplyError(UnusableReplyError):
    """Neither the reply nor its correction contains text."""


class TruncatedReplyError(UnusableReplyError):
    """The token limit cut off both the reply and its correction."""


class RefusedByModelError(ModelError):
    """The model, or a content filter, declined to answer."""


class BudgetExceededError(ModelError):
    """A call was not made, because it would have exceeded a limit."""


class CallsStoppedError(ModelError):
    """A call was not made, or was abandoned, because the caller stopped waiting."""


class UnknownPriceError(ModelError):
    """Dollars are limited, and the price of the model is unknown."""


class PricesError(FinAgentError):
    """A file of prices cannot be used."""


def model_error(exception: Exception, subject: str, base_url: str | None) -> ModelError:
    """Return the ModelError for an exception of a provider's client, which has made its retries by then.

    Args:
        exception: What the client raised.
        subject: Role and model, as the error names them.
        base_url: The server's address; None for the provider's own.
    """
    chain = list(_chain(exception))
    if (own := next((link for link in chain if isinstance(link, ModelError)), None)) is not None:
        return type(own)(own.what, subject=subject, remedy=own.remedy)
    said = redact_keys(str(exception) or type(exception).__name__)
    where = base_url or "the provider's own address"
    status = next((status for link in chain if (status := _status(link)) is not None), None)
    if status is None:
        kind, told, remedy = _without_status(exception, chain, said, where)
    elif status < 400:
        to = next((place for link in chain if (place := _header(link, "location"))), "")
        kind = ServerUnreachableError
        told = f"the server answered {status} and redirects to another address{f' ({redact_keys(to)})' if to else ''}"
        remedy = "Redirects are not followed: give the final address, if you trust it, as --base-url"
    else:
        asked = next((seconds for link in chain if (seconds := _header(link, "retry-after"))), "")
        wait = f"; it asks to wait {redact_keys(asked)} seconds" if asked.isdecimal() else ""
        told = f"the server answered {status} ({said}){wait}"
        kind, remedy = _by_status(status, exception_text(exception), where)
    return kind(told, subject=subject, remedy=remedy)


def exception_text(exception: Exception) -> str:
    """Return the text of an exception and its causes, in lower case."""
    chain = _chain(exception)
    return " ".join(
        f"{type(link).__name__} {link} {getattr(link, 'code', '')} {getattr(link, 'type', '')}" for link in chain
    ).lower()


_TOO_LONG = ("contextoverflowerror", "context_length", "context length", "prompt is too long")


def _by_status(status: int, about: str, where: str) -> tuple[type[ModelError], str]:
    """Return the type and the remedy for an HTTP status."""
    refused = status in (400, 415, 422, 501)
    if status == 413 or (refused and any(words in about for words in _TOO_LONG)):
        return InputTooLongError, "Ask for fewer passages, or choose a model with a longer context"
    if refused and ("content_filter" in about or "content management policy" in about):
        return RefusedByModelError, "Try another model, or the rules"
    if status == 429 and "insufficient_quota" in about:
        return QuotaUsedUpError, "Add credit to the account, or use another key"
    if status == 404:
        return UnknownModelError, f"Check the model's name and the address ({where}); most end with /v1"
    if status == 409 or (status >= 500 and not refused):
        return ServerFailedError, "Try again later; see the server's log if it is your own"
    other = RequestRefusedError, "See the server's message; the model may not support one of the settings"
    return _BY_STATUS.get(status, other)


_BY_STATUS: dict[int, tuple[type[ModelError], str]] = {
    401: (KeyRefusedError, "Check the key in the environment: it is missing, wrong or of another account"),
    403: (KeyRefusedError, "Check whether the key gives access to this model, and whether this address is allowed"),
    408: (ModelTimeoutError, "Try again later, or allow more time"),
    429: (RateLimitedError, "Wait, or allow fewer calls at once"),
}


def _without_status(
    exception: Exception, chain: list[BaseException], said: str, where: str
) -> tuple[type[ModelError], str, str]:
    """Return type, message and remedy for an error without an HTTP status."""
    names = " ".join(kind.__name__ for link in chain for kind in type(link).__mro__).lower()
    if "timeout" in names:
        remedy = "Allow more time, or ask for less; a local server may be busy or loading the model"
        return ModelTimeoutError, "the server did not reply in time", remedy
    if any(word in names for word in ("connectionerror", "connecterror", "networkerror", "protocolerror")):
        cause = redact_keys(str(chain[-1])) or type(chain[-1]).__name__
        told = f"no connection to {where} ({said if cause == said else f'{said} {cause}'})"
        return ServerUnreachableError, told, "Check that the server is running at this address and can be reached"
    told = f"the call failed ({type(exception).__name__}: {said})"
    # Clients raise these for a body of an unexpected form.
    if isinstance(exception, ValueError | TypeError | LookupError | AttributeError):
        told = f"the server's reply is not a chat completion ({type(exception).__name__}: {said})"
    return ServerFailedError, told, f"Check that a chat model is served at {where}"


def _chain(exception: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = exception
    for _ in range(8):
        if link is None:
            return
        yield link
        link = link.__cause__ or link.__context__


def _status(link: BaseException) -> int | None:
    """Return the HTTP status of an exception, under any of the names that clients use."""
    for holder in (link, getattr(link, "response", None)):
        for name in ("status_code", "code", "status"):
            value = getattr(holder, name, None)
            if isinstance(value, int) and 300 <= value < 600:
                return value
    return None


def _header(link: BaseException, name: str) -> str:
    headers = getattr(getattr(link, "response", None), "headers", None) or {}
    return str(headers.get(name) or "")
