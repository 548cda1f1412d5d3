"""Chat models as the roles of the analyst call them: replies checked, failures typed, tokens and dollars counted.

    from pathlib import Path

    from pydantic import BaseModel

    from fin_agent.models import Budget, Call, Caller, Meter, PromptIdentity, Role
    from fin_agent.models import load_chat_model, metered, usage_table

    class Title(BaseModel):
        title: str

    caller = Caller(load_chat_model("openai:gpt-4o-mini"))
    call = Call(
        role=Role.TITLE,
        messages=(("system", "You title questions."), ("user", "What was net income in 2023?")),
        prompt=PromptIdentity("title", "1"),
        output=Title,
        max_output_tokens=100,
    )
    with metered(Meter(Budget(calls=8, tokens=20_000))) as meter:
        value, reply = caller.value(call)
    print(value.title, reply.usage.total)
    print(usage_table(meter.records).text())

A server of one's own: `load_chat_model("openai:llama-3.1-8b", base_url="http://localhost:8000/v1")`. A chat model that
is there already: `Caller(LoadedModel("openai:gpt-4o", chat_model))`. Nothing of LangChain is imported before a model is
loaded, and each name below is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

# At once: the module is called as its function is, and would stand in its place.
from fin_agent.models.usage_table import UsageTable as UsageTable
from fin_agent.models.usage_table import usage_table as usage_table

if TYPE_CHECKING:
    from fin_agent.models.call import Call as Call
    from fin_agent.models.call import Finish as Finish
    from fin_agent.models.call import Message as Message
    from fin_agent.models.call import PromptIdentity as PromptIdentity
    from fin_agent.models.call import Reply as Reply
    from fin_agent.models.caller import Caller as Caller
    from fin_agent.models.callers import Callers as Callers
    from fin_agent.models.dialects import OutputMode as OutputMode
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
    from fin_agent.models.metering import carrying_meter as carrying_meter
    from fin_agent.models.metering import current_meter as current_meter
    from fin_agent.models.metering import metered as metered
    from fin_agent.models.prices import Price as Price
    from fin_agent.models.prices import PriceTable as PriceTable
    from fin_agent.models.response_cache import ResponseCache as ResponseCache
    from fin_agent.models.retrying import Retrying as Retrying
    from fin_agent.models.roles import Role as Role
    from fin_agent.models.settings import ModelSettings as ModelSettings
    from fin_agent.models.settings import Preset as Preset
    from fin_agent.models.tokens import TokenCounter as TokenCounter
    from fin_agent.models.tokens import token_counter as token_counter
    from fin_agent.models.usage import Usage as Usage

_HOMES = {
    "Budget": "fin_agent.models.metering",
    "BudgetExceededError": "fin_agent.models.errors",
    "Call": "fin_agent.models.call",
    "CallRecord": "fin_agent.models.metering",
    "Caller": "fin_agent.models.caller",
    "Callers": "fin_agent.models.callers",
    "CallsStoppedError": "fin_agent.models.errors",
    "EmptyReplyError": "fin_agent.models.errors",
    "Finish": "fin_agent.models.call",
    "InputTooLongError": "fin_agent.models.errors",
    "KeyRefusedError": "fin_agent.models.errors",
    "LoadedModel": "fin_agent.models.loading",
    "Message": "fin_agent.models.call",
    "Meter": "fin_agent.models.metering",
    "ModelError": "fin_agent.models.errors",
    "ModelSettings": "fin_agent.models.settings",
    "ModelSetupError": "fin_agent.models.errors",
    "ModelTimeoutError": "fin_agent.models.errors",
    "OutputMode": "fin_agent.models.dialects",
    "Preset": "fin_agent.models.settings",
    "Price": "fin_agent.models.prices",
    "PriceTable": "fin_agent.models.prices",
    "PricesError": "fin_agent.models.errors",
    "PromptIdentity": "fin_agent.models.call",
    "QuotaUsedUpError": "fin_agent.models.errors",
    "RateLimitedError": "fin_agent.models.errors",
    "RefusedByModelError": "fin_agent.models.errors",
    "Reply": "fin_agent.models.call",
    "RequestRefusedError": "fin_agent.models.errors",
    "ResponseCache": "fin_agent.models.response_cache",
    "Retrying": "fin_agent.models.retrying",
    "Role": "fin_agent.models.roles",
    "ServerFailedError": "fin_agent.models.errors",
    "ServerUnreachableError": "fin_agent.models.errors",
    "TokenCounter": "fin_agent.models.tokens",
    "TruncatedReplyError": "fin_agent.models.errors",
    "UnknownModelError": "fin_agent.models.errors",
    "UnknownPriceError": "fin_agent.models.errors",
    "UnusableReplyError": "fin_agent.models.errors",
    "Usage": "fin_agent.models.usage",
    "carrying_meter": "fin_agent.models.metering",
    "current_meter": "fin_agent.models.metering",
    "load_chat_model": "fin_agent.models.loading",
    "metered": "fin_agent.models.metering",
    "token_counter": "fin_agent.models.tokens",
}

__all__ = sorted([*_HOMES, "UsageTable", "usage_table"])


if not TYPE_CHECKING:  # a checker that saw it would take every name to be there

    def __getattr__(name: str) -> object:
        if name in _HOMES:
            return getattr(import_module(_HOMES[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
