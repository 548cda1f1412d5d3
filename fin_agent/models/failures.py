"""What an exception of a provider's client means: whether to try again, and what to tell the user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fin_agent.models.errors import (
    InputTooLongError,
    KeyRefusedError,
    ModelError,
    ModelTimeoutError,
    QuotaUsedUpError,
    RateLimitedError,
    RedirectedError,
    RefusedByModelError,
    RequestRefusedError,
    ServerFailedError,
    ServerUnreachableError,
    UnknownModelError,
)
from fin_agent.models.keys import redacted
from fin_agent.models.retrying import seconds_asked

_REFUSED = frozenset({400, 415, 422, 501})
_AGAIN = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError)
"""What clients stumble over in a body that has not the form they expect."""
_MOST_LINKS = 8


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that failed."""

    error: ModelError
    retryable: bool
    asked: float | None = None
    """Seconds that the server asks to wait."""
    about: str = ""
    """What the server said, in small letters; for a request that it does not take."""

    @property
    def request_refused(self) -> bool:
        """Whether the request may be taken in another form."""
        return type(self.error) is RequestRefusedError


def failure_of(exception: Exception, subject: str, base_url: str | None) -> Failure:
    """What an exception means. `subject` names role and model in the error; no key gets into it."""
    chain = list(_chain(exception))
    status = next((status for link in chain if (status := _status(link)) is not None), None)
    said = redacted(str(exception) or type(exception).__name__)
    where = base_url or "the provider's own address"
    if (own := next((link for link in chain if isinstance(link, ModelError)), None)) is not None:
        return Failure(type(own)(own.what, subject=subject, remedy=own.remedy), retryable=False)
    if status is not None and status < 400:
        to = next((place for link in chain if (place := _header(link, "location"))), "")
        told = f"the server answered {status} and sends on to another address{f' ({redacted(to)})' if to else ''}"
        remedy = "Redirects are not followed: give the final address, if you trust it, as --base-url"
        return Failure(RedirectedError(told, subject=subject, remedy=remedy), retryable=False)
    if status is None:
        return _without_status(exception, chain, said, subject, where)
    told = f"the server answered {status} ({said})"
    about = " ".join(f"{link} {getattr(link, 'code', '')} {getattr(link, 'type', '')}" for link in chain).lower()
    if status == 401:
        remedy = "Check the key in the environment: it is missing, wrong or of another account"
        return Failure(KeyRefusedError(told, subject=subject, remedy=remedy), retryable=False)
    if status == 403:
        remedy = "See whether the key may use this model, and whether this address is allowed"
        return Failure(KeyRefusedError(told, subject=subject, remedy=remedy), retryable=False)
    if status == 404:
        remedy = f"Check the model's name, and the address ({where}): most end with /v1"
        return Failure(UnknownModelError(told, subject=subject, remedy=remedy), retryable=False)
    if status == 413 or (status in _REFUSED and _is_too_long(chain, about)):
        remedy = "Ask for fewer passages, or choose a model that reads more"
        return Failure(InputTooLongError(told, subject=subject, remedy=remedy), retryable=False)
    if status in _REFUSED and ("content_filter" in about or "content management policy" in about):
        remedy = "Another model, or the rules, may answer"
        return Failure(RefusedByModelError(told, subject=subject, remedy=remedy), retryable=False)
    if status == 429 and "insufficient_quota" in about:
        remedy = "Add credit to the account, or use another key"
        return Failure(QuotaUsedUpError(told, subject=subject, remedy=remedy), retryable=False)
    if status in _AGAIN:
        return _to_try_again(status, chain, told, subject)
    remedy = "See what the server says; the model may not know one of the settings"
    return Failure(RequestRefusedError(told, subject=subject, remedy=remedy), retryable=False, about=about)


def _to_try_again(status: int, chain: list[BaseException], told: str, subject: str) -> Failure:
    asked = next((seconds for link in chain if (seconds := _asked(link)) is not None), None)
    if asked:
        told = f"{told}; it asks to wait {round(asked, 1):,.15g} seconds"
    if status == 429:
        remedy = "Wait, or allow fewer calls at once"
        return Failure(RateLimitedError(told, subject=subject, remedy=remedy), retryable=True, asked=asked)
    if status == 408:
        remedy = "Try again later, or allow more time"
        return Failure(ModelTimeoutError(told, subject=subject, remedy=remedy), retryable=True, asked=asked)
    remedy = "Try again later; see the server's log if it is your own"
    return Failure(ServerFailedError(told, subject=subject, remedy=remedy), retryable=True, asked=asked)


def _without_status(exception: Exception, chain: list[BaseException], said: str, subject: str, where: str) -> Failure:
    names = " ".join(kind.__name__ for link in chain for kind in type(link).__mro__).lower()
    if "timeout" in names:
        remedy = "Allow more time, or ask for less; a local server may be busy or loading the model"
        return Failure(ModelTimeoutError("no answer in time", subject=subject, remedy=remedy), retryable=True)
    if any(word in names for word in ("connectionerror", "connecterror", "networkerror", "protocolerror")):
        cause = redacted(str(chain[-1])) or type(chain[-1]).__name__
        told = f"no connection to {where} ({said if cause == said else f'{said} {cause}'})"
        remedy = "Is the server running at this address, and can it be reached from here?"
        return Failure(ServerUnreachableError(told, subject=subject, remedy=remedy), retryable=True)
    told = f"the call failed ({type(exception).__name__}: {said})"
    if isinstance(exception, _UNREADABLE):
        told = f"what the server answered is no chat completion ({type(exception).__name__}: {said})"
    remedy = f"See whether a chat model answers at {where}"
    return Failure(ServerFailedError(told, subject=subject, remedy=remedy), retryable=False)


def _chain(exception: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = exception
    for _ in range(_MOST_LINKS):
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


def _asked(link: BaseException) -> float | None:
    milliseconds = _header(link, "retry-after-ms")
    if milliseconds is not None and (asked := seconds_asked(milliseconds)) is not None:
        return asked / 1_000
    seconds = _header(link, "retry-after")
    return None if seconds is None else seconds_asked(seconds)


def _header(link: BaseException, name: str) -> str | None:
    headers = getattr(getattr(link, "response", None), "headers", None)
    value = headers.get(name) if isinstance(headers, Mapping) else None
    return value if isinstance(value, str) else None


def _is_too_long(chain: list[BaseException], about: str) -> bool:
    named = any(kind.__name__ == "ContextOverflowError" for link in chain for kind in type(link).__mro__)
    return named or "context_length" in about or "context length" in about or "prompt is too long" in about
