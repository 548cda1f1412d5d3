"""What can go wrong with a chat model: every kind has its type and says what to do."""

from __future__ import annotations

from fin_agent.errors import FinAgentError
from fin_agent.models.usage import NO_USAGE, Usage


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
    """A call was not made, or was left before its end, because nobody waits for it any more."""


class UnknownPriceError(ModelError):
    """Dollars are limited, and what the model costs is not known."""


class PricesError(FinAgentError):
    """A file of prices cannot be used."""
