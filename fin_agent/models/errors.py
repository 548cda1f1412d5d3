"""What can go wrong with a chat model: every kind has its type, says what to do, and holds no key."""

from __future__ import annotations

from collections.abc import Iterator

from fin_agent.errors import FinAgentError
from fin_agent.models.call import NO_USAGE, Usage
from fin_agent.models.key_redaction import redact_keys


class ModelError(FinAgentError):
    """A chat model gave nothing that can be used. `usage` is what was spent on it all the same."""

    def __init__(self, what: str, *, subject: str = "", remedy: str = "", usage: Usage = NO_USAGE) -> None:
        self.usage = usage
        super().__init__(what, subject=subject, remedy=remedy)


class ModelSetupError(ModelError):
    """A model cannot be set up: its name, its package, its key or its address."""


class KeyRefusedError(ModelError):
    """The server refuses the key, or the key has no right to this model (401, 403)."""


class UnknownModelError(ModelError):
    """The server knows no such model, or there is nothing at the address (404)."""


class RequestRefusedError(ModelError):
    """The server does not take the request as it is (400 and its like)."""


class InputTooLongError(RequestRefusedError):
    """The messages are longer than the model reads."""


class RateLimitedError(ModelError):
    """Too many calls or tokens a minute, after every retry (429)."""


class QuotaUsedUpError(ModelError):
    """The account has no credit left (429 as well, but waiting does not help)."""


class ServerFailedError(ModelError):
    """The server failed, after every retry (500, 502, 503, 504), or what it answers is no chat completion."""


class ServerUnreachableError(ModelError):
    """No connection to the server, after every retry."""


class RedirectedError(ServerUnreachableError):
    """The server sends on to another address, which is not followed: what is sent goes where it was said to go."""


class ModelTimeoutError(ModelError):
    """No answer in time, after every retry. What the server charges for it is not known."""


class UnusableReplyError(ModelError):
    """Neither the reply nor its correction is what was asked for."""


class EmptyReplyError(UnusableReplyError):
    """Neither the reply nor its correction holds any text."""


class TruncatedReplyError(UnusableReplyError):
    """The reply and its correction were cut off by the limit of tokens."""


class RefusedByModelError(ModelError):
    """The model, or a filter in front of it, declines to answer."""


class BudgetExceededError(ModelError):
    """A call was not made, because a limit that was set would have been passed."""


class CallsStoppedError(ModelError):
    """A call was not made, or was left before its end, because the caller stopped waiting any more."""


class UnknownPriceError(ModelError):
    """Dollars are limited, and what the model costs is not known."""


class PricesError(FinAgentError):
    """A file of prices cannot be used."""


def model_error(exception: Exception, subject: str, base_url: str | None) -> ModelError:
    """What an exception of a provider's client means. `subject` names role and model in the error.

    The client has made its requests again by then, as often as it was told to.
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
        kind = RedirectedError
        told = f"the server answered {status} and sends on to another address{f' ({redact_keys(to)})' if to else ''}"
        remedy = "Redirects are not followed: give the final address, if you trust it, as --base-url"
    else:
        asked = next((seconds for link in chain if (seconds := _header(link, "retry-after"))), "")
        wait = f"; it asks to wait {redact_keys(asked)} seconds" if asked.isdecimal() else ""
        told = f"the server answered {status} ({said}){wait}"
        kind, remedy = _by_status(status, exception_text(exception), where)
    return kind(told, subject=subject, remedy=remedy)


def exception_text(exception: Exception) -> str:
    """All that an exception and its causes say, in small letters."""
    chain = _chain(exception)
    return " ".join(
        f"{type(link).__name__} {link} {getattr(link, 'code', '')} {getattr(link, 'type', '')}" for link in chain
    ).lower()


_TOO_LONG = ("contextoverflowerror", "context_length", "context length", "prompt is too long")


def _by_status(status: int, about: str, where: str) -> tuple[type[ModelError], str]:
    """The type of an HTTP error, and what to do."""
    refused = status in (400, 415, 422, 501)
    if status == 401:
        return KeyRefusedError, "Check the key in the environment: it is missing, wrong or of another account"
    if status == 403:
        return KeyRefusedError, "See whether the key may use this model, and whether this address is allowed"
    if status == 404:
        return UnknownModelError, f"Check the model's name, and the address ({where}): most end with /v1"
    if status == 413 or (refused and any(words in about for words in _TOO_LONG)):
        return InputTooLongError, "Ask for fewer passages, or choose a model that reads more"
    if refused and ("content_filter" in about or "content management policy" in about):
        return RefusedByModelError, "Another model, or the rules, may answer"
    if status == 429 and "insufficient_quota" in about:
        return QuotaUsedUpError, "Add credit to the account, or use another key"
    if status == 429:
        return RateLimitedError, "Wait, or allow fewer calls at once"
    if status == 408:
        return ModelTimeoutError, "Try again later, or allow more time"
    if status == 409 or (status >= 500 and not refused):
        return ServerFailedError, "Try again later; see the server's log if it is your own"
    return RequestRefusedError, "See what the server says; the model may not know one of the settings"


def _without_status(
    exception: Exception, chain: list[BaseException], said: str, where: str
) -> tuple[type[ModelError], str, str]:
    """Type, words and remedy of what is no answer of a server."""
    names = " ".join(kind.__name__ for link in chain for kind in type(link).__mro__).lower()
    if "timeout" in names:
        remedy = "Allow more time, or ask for less; a local server may be busy or loading the model"
        return ModelTimeoutError, "no answer in time", remedy
    if any(word in names for word in ("connectionerror", "connecterror", "networkerror", "protocolerror")):
        cause = redact_keys(str(chain[-1])) or type(chain[-1]).__name__
        told = f"no connection to {where} ({said if cause == said else f'{said} {cause}'})"
        return ServerUnreachableError, told, "Is the server running at this address, and can it be reached from here?"
    told = f"the call failed ({type(exception).__name__}: {said})"
    # What clients stumble over in a body that has not the form they expect.
    if isinstance(exception, ValueError | TypeError | LookupError | AttributeError):
        told = f"what the server answered is no chat completion ({type(exception).__name__}: {said})"
    return ServerFailedError, told, f"See whether a chat model answers at {where}"


def _chain(exception: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = exception
    for _ in range(8):
        if link is None:
            return
        yield link
        link = link.__cause__ or link.__context__


def _status(link: BaseException) -> int | None:
    """The HTTP status that an exception carries under one of the names that clients use."""
    for holder in (link, getattr(link, "response", None)):
        for name in ("status_code", "code", "status"):
            value = getattr(holder, name, None)
            if isinstance(value, int) and 300 <= value < 600:
                return value
    return None


def _header(link: BaseException, name: str) -> str:
    headers = getattr(getattr(link, "response", None), "headers", None) or {}
    return str(headers.get(name) or "")
