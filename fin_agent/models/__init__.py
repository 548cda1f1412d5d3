"""Calls of chat models by role, with checked replies, typed errors, and counted tokens and dollars.

    caller = Caller(load_chat_model("openai:gpt-4o-mini"))
    messages = (("system", "Name the metric."), ("user", "What was net income in 2023?"))
    with metered(Meter(Budget(calls=8))) as meter:
        value, reply = caller.value(Call(Role.QUERY, messages, PromptIdentity("metric", "1"), output=Metric))
    print(value.name, reply.usage.total, usage_of(meter.records).roles)

`Metric` is a pydantic type of yours. For your own server: `load_chat_model("openai:llama-3.1-8b",
base_url="http://localhost:8000/v1")`. LangChain is not imported before a model is loaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fin_agent.models.call import Call, Finish, Message, PromptIdentity, Reply, Role, Usage
    from fin_agent.models.caller import Caller, Callers, ResponseCache
    from fin_agent.models.errors import (
        BudgetExceededError,
        CallsStoppedError,
        KeyRefusedError,
        ModelError,
        ModelSetupError,
        ModelTimeoutError,
        PricesError,
        RateLimitedError,
        RefusedByModelError,
        RequestRefusedError,
        ServerFailedError,
        ServerUnreachableError,
        TruncatedReplyError,
        UnknownModelError,
        UnusableReplyError,
    )
    from fin_agent.models.loading import LoadedModel, load_chat_model
    from fin_agent.models.metering import Budget, CallRecord, Meter, Price, PriceTable, current_meter, metered, usage_of
    from fin_agent.models.settings import ModelSettings, OutputMode, Preset
    from fin_agent.models.tokens import approximate_tokens

__all__ = [
    "Budget", "BudgetExceededError", "Call", "CallRecord", "Caller", "Callers", "CallsStoppedError",
    "Finish", "KeyRefusedError", "LoadedModel", "Message", "Meter",
    "ModelError", "ModelSettings", "ModelSetupError", "ModelTimeoutError", "OutputMode", "Preset", "Price",
    "PriceTable", "PricesError", "PromptIdentity", "RateLimitedError", "RefusedByModelError",
    "Reply", "RequestRefusedError", "ResponseCache", "Role", "ServerFailedError", "ServerUnreachableError",
    "TruncatedReplyError", "UnknownModelError", "UnusableReplyError", "Usage",
    "approximate_tokens", "current_meter", "load_chat_model", "metered", "usage_of",
]  # fmt: skip
_HOMES = ("call", "caller", "errors", "loading", "metering", "settings", "tokens")


if not TYPE_CHECKING:  # a type checker that saw it would accept any name

    def __getattr__(name: str) -> object:
        for home in _HOMES if name in __all__ else ():
            if hasattr(module := import_module(f"{__name__}.{home}"), name):
                return getattr(module, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
