"""Chat models as the roles of the analyst call them: replies checked, failures typed, tokens and dollars counted.

    from pydantic import BaseModel

    from fin_agent.models import Budget, Call, Caller, Meter, PromptIdentity, Role
    from fin_agent.models import load_chat_model, metered, usage_table

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
    print(usage_table(meter.records).text())

A server of one's own: `load_chat_model("openai:llama-3.1-8b", base_url="http://localhost:8000/v1")`. A chat model that
is there already: `Caller(LoadedModel("openai:gpt-4o", chat_model))`. Nothing of LangChain is imported before a model is
loaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fin_agent.models.call import Call as Call
    from fin_agent.models.call import Finish as Finish
    from fin_agent.models.call import Message as Message
    from fin_agent.models.call import PromptIdentity as PromptIdentity
    from fin_agent.models.call import Reply as Reply
    from fin_agent.models.call import Role as Role
    from fin_agent.models.call import Usage as Usage
    from fin_agent.models.caller import Caller as Caller
    from fin_agent.models.callers import Callers as Callers
    from fin_agent.models.costs import Price as Price
    from fin_agent.models.costs import PriceTable as PriceTable
    from fin_agent.models.costs import UsageTable as UsageTable
    from fin_agent.models.costs import usage_table as usage_table
    from fin_agent.models.errors import BudgetExceededError as BudgetExceededError
    from fin_agent.models.errors import CallsStoppedError as CallsStoppedError
    from fin_agent.models.errors import EmptyReplyError as EmptyReplyError
    from fin_agent.models.errors import InputTooLongError as InputTooLongError
    from fin_agent.models.errors import KeyRefusedError as KeyRefusedError
    from fin_agent.models.errors import ModelError as ModelError
    from fin_agent.models.errors import ModelSetupError as ModelSetupError
    from fin_agent.models.errors import ModelTimeoutError as ModelTimeoutError
    from fin_agent.models.errors import PricesError as PricesError
    from fin_agent.models.errors import QuotaUsedUpError as QuotaUsedUpError
    from fin_agent.models.errors import RateLimitedError as RateLimitedError
    from fin_agent.models.errors import RefusedByModelError as RefusedByModelError
    from fin_agent.models.errors import RequestRefusedError as RequestRefusedError
    from fin_agent.models.errors import ServerFailedError as ServerFailedError
    from fin_agent.models.errors import ServerUnreachableError as ServerUnreachableError
    from fin_agent.models.errors import TruncatedReplyError as TruncatedReplyError
    from fin_agent.models.errors import UnknownModelError as UnknownModelError
    from fin_agent.models.errors import UnknownPriceError as UnknownPriceError
    from fin_agent.models.errors import UnusableReplyError as UnusableReplyError
    from fin_agent.models.loading import LoadedModel as LoadedModel
    from fin_agent.models.loading import load_chat_model as load_chat_model
    from fin_agent.models.metering import Budget as Budget
    from fin_agent.models.metering import CallRecord as CallRecord
    from fin_agent.models.metering import Meter as Meter
    from fin_agent.models.metering import current_meter as current_meter
    from fin_agent.models.metering import metered as metered
    from fin_agent.models.response_cache import ResponseCache as ResponseCache
    from fin_agent.models.settings import ModelSettings as ModelSettings
    from fin_agent.models.settings import OutputMode as OutputMode
    from fin_agent.models.settings import Preset as Preset
    from fin_agent.models.tokens import TokenCounter as TokenCounter
    from fin_agent.models.tokens import token_counter as token_counter

_HOMES = {
    "Call": "fin_agent.models.call",
    "Finish": "fin_agent.models.call",
    "Message": "fin_agent.models.call",
    "PromptIdentity": "fin_agent.models.call",
    "Reply": "fin_agent.models.call",
    "Role": "fin_agent.models.call",
    "Usage": "fin_agent.models.call",
    "Caller": "fin_agent.models.caller",
    "Callers": "fin_agent.models.callers",
    "Price": "fin_agent.models.costs",
    "PriceTable": "fin_agent.models.costs",
    "UsageTable": "fin_agent.models.costs",
    "usage_table": "fin_agent.models.costs",
    "BudgetExceededError": "fin_agent.models.errors",
    "CallsStoppedError": "fin_agent.models.errors",
    "EmptyReplyError": "fin_agent.models.errors",
    "InputTooLongError": "fin_agent.models.errors",
    "KeyRefusedError": "fin_agent.models.errors",
    "ModelError": "fin_agent.models.errors",
    "ModelSetupError": "fin_agent.models.errors",
    "ModelTimeoutError": "fin_agent.models.errors",
    "PricesError": "fin_agent.models.errors",
    "QuotaUsedUpError": "fin_agent.models.errors",
    "RateLimitedError": "fin_agent.models.errors",
    "RefusedByModelError": "fin_agent.models.errors",
    "RequestRefusedError": "fin_agent.models.errors",
    "ServerFailedError": "fin_agent.models.errors",
    "ServerUnreachableError": "fin_agent.models.errors",
    "TruncatedReplyError": "fin_agent.models.errors",
    "UnknownModelError": "fin_agent.models.errors",
    "UnknownPriceError": "fin_agent.models.errors",
    "UnusableReplyError": "fin_agent.models.errors",
    "LoadedModel": "fin_agent.models.loading",
    "load_chat_model": "fin_agent.models.loading",
    "Budget": "fin_agent.models.metering",
    "CallRecord": "fin_agent.models.metering",
    "Meter": "fin_agent.models.metering",
    "current_meter": "fin_agent.models.metering",
    "metered": "fin_agent.models.metering",
    "ResponseCache": "fin_agent.models.response_cache",
    "ModelSettings": "fin_agent.models.settings",
    "OutputMode": "fin_agent.models.settings",
    "Preset": "fin_agent.models.settings",
    "TokenCounter": "fin_agent.models.tokens",
    "token_counter": "fin_agent.models.tokens",
}

__all__ = sorted(_HOMES)


if not TYPE_CHECKING:  # a checker that saw it would take every name to be there

    def __getattr__(name: str) -> object:
        if name in _HOMES:
            return getattr(import_module(_HOMES[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
