"""Errors of chat models: one type per cause, each with a remedy and without keys."""

from __future__ import annotations

from fin_agent.errors import FinAgentError
from fin_agent.models.call import NO_USAGE, Usage
from fin_agent.redaction import redact_keys


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
    """The server rejects the request as invalid or too long (400, 413 and similar)."""


class RateLimitedError(ModelError):
    """Too many calls or tokens per minute, after every retry, or the account has no credit left (429)."""


class ServerFailedError(ModelError):
    """The server failed, after every retry (500, 502, 503, 504), or its reply is not a chat completion."""


class ServerUnreachableError(ModelError):
    """The server cannot be reached, after every retry."""


class ModelTimeoutError(ModelError):
    """The server did not reply in time, after every retry. Its charge for the request is unknown."""


class UnusableReplyError(ModelError):
    """Neither the reply nor its correction matches the request; perhaps both are empty."""


class TruncatedReplyError(UnusableReplyError):
    """The token limit cut off both the reply and its correction."""


class RefusedByModelError(ModelError):
    """The model, or a content filter, declined to answer."""


class BudgetExceededError(ModelError):
    """A call was not made: it would have exceeded a limit, or dollars are limited and its price is unknown."""


class CallsStoppedError(ModelError):
    """A call was not made, or was abandoned, because the caller stopped waiting."""


class PricesError(FinAgentError):
    """A file of prices cannot be used."""


def model_error(exception: Exception, subject: str, base_url: str | None) -> ModelError:
    """Return the ModelError for an exception of a provider's client, which has made its retries by then.

    `subject` is the role and the model; `base_url` the server's address, None for the provider's own.
    """
    chain = _chain(exception)
    if (own := next((link for link in chain if isinstance(link, ModelError)), None)) is not None:
        return type(own)(own.what, subject=subject, remedy=own.remedy)
    where = base_url or "the provider's own address"
    status = next((status for link in chain if (status := _status(link)) is not None), None)
    if status is None:
        kind, what, remedy = _without_status(exception, where)
    elif status < 400:
        to = next((place for link in chain if (place := _location(link))), "another address")
        kind, what = ServerUnreachableError, f"the server answered {status} and redirects to {redact_keys(to)}"
        remedy = "Redirects are not followed: give the final address, if you trust it, as --base-url"
    else:
        what = f"the server answered {status} ({redact_keys(_said(exception))})"
        kind, remedy = _by_status(status, exception_text(exception))
    return kind(what, subject=subject, remedy=remedy.format(where=where))


def exception_text(exception: Exception) -> str:
    """Return the text of an exception and its causes, in lower case."""
    chain = _chain(exception)
    return " ".join(
        f"{type(link).__name__} {link} {getattr(link, 'code', '')} {getattr(link, 'type', '')}" for link in chain
    ).lower()


_TOO_LONG = ("contextoverflowerror", "context_length", "context length", "prompt is too long")
_BY_STATUS: dict[int, tuple[type[ModelError], str]] = {
    401: (KeyRefusedError, "Check the key in the environment: it is missing, wrong or of another account"),
    403: (KeyRefusedError, "Check whether the key gives access to this model, and whether this address is allowed"),
    404: (UnknownModelError, "Check the model's name and the address ({where}); most end with /v1"),
    408: (ModelTimeoutError, "Try again later, or allow more time"),
    429: (RateLimitedError, "Wait, or allow fewer calls at once"),
}


def _by_status(status: int, about: str) -> tuple[type[ModelError], str]:
    """Return the type and the remedy for an HTTP status."""
    refused = status in (400, 415, 422, 501)
    if status == 413 or (refused and any(words in about for words in _TOO_LONG)):
        return RequestRefusedError, "Ask for fewer passages, or choose a model with a longer context"
    if refused and ("content_filter" in about or "content management policy" in about):
        return RefusedByModelError, "Try another model, or the rules"
    if status == 429 and "insufficient_quota" in about:
        return RateLimitedError, "Add credit to the account, or use another key"
    if status == 409 or (status >= 500 and not refused):
        return ServerFailedError, "Try again later; see the server's log if it is your own"
    other = "See the server's message; the model may not support one of the settings"
    return _BY_STATUS.get(status, (RequestRefusedError, other))


def _without_status(exception: Exception, where: str) -> tuple[type[ModelError], str, str]:
    """Return type, message and remedy for an error without an HTTP status."""
    chain, said = _chain(exception), redact_keys(_said(exception))
    names = " ".join(kind.__name__ for link in chain for kind in type(link).__mro__).lower()
    if "timeout" in names:
        remedy = "Allow more time, or ask for less; a local server may be busy or loading the model"
        return ModelTimeoutError, "the server did not reply in time", remedy
    if any(word in names for word in ("connectionerror", "connecterror", "networkerror", "protocolerror")):
        cause = redact_keys(_said(chain[-1]))
        what = f"no connection to {where} ({said if cause == said else f'{said} {cause}'})"
        return ServerUnreachableError, what, "Check that the server is running at this address and can be reached"
    # Clients raise these for a body of an unexpected form.
    odd = isinstance(exception, ValueError | TypeError | LookupError | AttributeError)
    what = "the server's reply is not a chat completion" if odd else "the call failed"
    what = f"{what} ({type(exception).__name__}: {said})"
    return ServerFailedError, what, "Check that a chat model is served at {where}"


def _said(exception: BaseException) -> str:
    return str(exception) or type(exception).__name__


def _chain(exception: BaseException) -> list[BaseException]:
    """Return an exception and its causes."""
    links: list[BaseException] = []
    link: BaseException | None = exception
    while link is not None and len(links) < 8:
        links.append(link)
        link = link.__cause__ or link.__context__
    return links


def _status(link: BaseException) -> int | None:
    """Return the HTTP status of an exception, under any of the names that clients use."""
    for holder in (link, getattr(link, "response", None)):
        for name in ("status_code", "code", "status"):
            value = getattr(holder, name, None)
            if isinstance(value, int) and 300 <= value < 600:
                return value
    return None


def _location(link: BaseException) -> str:
    headers = getattr(getattr(link, "response", None), "headers", None) or {}
    return str(headers.get("location") or "")
