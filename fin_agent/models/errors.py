"""Errors of chat models: one type per cause, each with a remedy and without keys."""

from __future__ import annotations

import re

from fin_agent.errors import FinAgentError
from fin_agent.lexicon.words import load_yaml
from fin_agent.redaction import redact_keys


class ModelError(FinAgentError):
    """A call of a chat model failed. The meter has what it spent nevertheless."""


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
    status = next((status for link in chain if (status := _status(link)) is not None), "")
    types = "; ".join(" ".join(kind.__name__ for kind in type(link).__mro__).lower() for link in chain)
    about = exception_text(exception) if status else types
    entry = next(
        each
        for each in load_yaml("errors", __package__)["errors"]
        if re.fullmatch(each["status"], str(status)) and re.search(each.get("words", ""), about)
    )
    said, cause = (redact_keys(str(link) or type(link).__name__) for link in (exception, chain[-1]))
    headers = (getattr(getattr(link, "response", None), "headers", None) or {} for link in chain)
    to = next((address for each in headers if (address := each.get("location"))), "another address")
    words = {
        "status": status,
        "said": said,
        "type": type(exception).__name__,
        "cause": said if cause == said else f"{said} {cause}",
        "where": base_url or "the provider's own address",
        "to": redact_keys(str(to)),
    }
    what = entry.get("what", "the server answered {status} ({said})").format_map(words)
    return _KINDS[entry["kind"]](what, subject=subject, remedy=entry["remedy"].format_map(words))


_KINDS = {kind.__name__: kind for kind in ModelError.__subclasses__()}


def exception_text(exception: Exception) -> str:
    """Return the text of an exception and its causes, in lower case."""
    chain = _chain(exception)
    return " ".join(
        f"{type(link).__name__} {link} {getattr(link, 'code', '')} {getattr(link, 'type', '')}" for link in chain
    ).lower()


def _chain(exception: BaseException) -> list[BaseException]:
    """Return an exception and its causes."""
    links = [exception]
    while len(links) < 8 and (link := links[-1].__cause__ or links[-1].__context__) is not None:
        links.append(link)
    return links


def _status(link: BaseException) -> int | None:
    """Return the HTTP status of an exception, under any of the names that clients use."""
    holders, names = (link, getattr(link, "response", None)), ("status_code", "code", "status")
    found = (getattr(holder, name, None) for holder in holders for name in names)
    return next((value for value in found if isinstance(value, int) and 300 <= value < 600), None)
