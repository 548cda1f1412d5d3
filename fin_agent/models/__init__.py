"""Calls of chat models by role, with checked replies, typed errors, and counted tokens and dollars.

    from pydantic import BaseModel

    from fin_agent.models import Budget, Call, Caller, Meter, PromptIdentity, Role
    from fin_agent.models import load_chat_model, metered, usage_of

    class Metric(BaseModel):
        name: str

    caller = Caller(load_chat_model("openai:gpt-4o-mini"))
    call = Call(
        role=Role.QUERY,
        messages=(("system", "Name the metric."), ("user", "What was net income in 2023?")),
        prompt=PromptIdentity("metric", "1"),
        output=Metric,
        max_output_tokens=100,
    )
    with metered(Meter(Budget(calls=8, tokens=20_000))) as meter:
        value, reply = caller.value(call)
    print(value.name, reply.usage.total)
    print(usage_of(meter.records).roles)

For your own server: `load_chat_model("openai:llama-3.1-8b", base_url="http://localhost:8000/v1")`. For an existing chat
model: `Caller(LoadedModel("openai:gpt-4o", chat_model))`. LangChain is not imported before a model is loaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fin_agent.models.call import Call, Finish, Message, PromptIdentity, Reply, Role, Usage
    from fin_agent.models.caller import Caller
    from fin_agent.models.callers_by_role import Callers
    from fin_agent.models.costs import Price, PriceTable, usage_of
    from fin_agent.models.errors import (
        BudgetExceededError,
        CallsStoppedError,
        EmptyReplyError,
        InputTooLongError,
        KeyRefusedError,
        ModelError,
        ModelSetupError,
        ModelTimeoutError,
        PricesError,
        QuotaUsedUpError,
        RateLimitedError,
        RefusedByModelError,
        RequestRefusedError,
        ServerFailedError,
        ServerUnreachableError,
        TruncatedReplyError,
        UnknownModelError,
        UnknownPriceError,
        UnusableReplyError,
    )
    from fin_agent.models.loading import LoadedModel, load_chat_model
    from fin_agent.models.metering import Budget, CallRecord, Meter, current_meter, metered
    from fin_agent.models.response_cache import ResponseCache
    from fin_agent.models.settings import ModelSettings, OutputMode, Preset
    from fin_agent.models.tokens import approximate_tokens

__all__ = [
    "Budget", "BudgetExceededError", "Call", "CallRecord", "Caller", "Callers", "CallsStoppedError",
    "EmptyReplyError", "Finish", "InputTooLongError", "KeyRefusedError", "LoadedModel", "Message", "Meter",
    "ModelError", "ModelSettings", "ModelSetupError", "ModelTimeoutError", "OutputMode", "Preset", "Price",
    "PriceTable", "PricesError", "PromptIdentity", "QuotaUsedUpError", "RateLimitedError", "RefusedByModelError",
    "Reply", "RequestRefusedError", "ResponseCache", "Role", "ServerFailedError", "ServerUnreachableError",
    "TruncatedReplyError", "UnknownModelError", "UnknownPriceError", "UnusableReplyError", "Usage",
    "approximate_tokens", "current_meter", "load_chat_model", "metered", "usage_of",
]  # fmt: skip
_HOMES = (
    "call", "caller", "callers_by_role", "costs", "errors", "loading", "metering", "response_cache", "settings",
    "tokens",
)  # fmt: skip


if not TYPE_CHECKING:  # a type checker that saw it would accept any name

    def __getattr__(name: str) -> object:
        for home in _HOMES if name in __all__ else ():
            if hasattr(module := import_module(f"{__name__}.{home}"), name):
                return getattr(module, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
