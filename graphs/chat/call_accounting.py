"""Middleware around the agent's calls: model calls are counted, limited and retried; tool calls emit events."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse, ToolCallRequest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from fin_agent.analyst.events import StepBegun, emit
from fin_agent.graphs.chat.state import CORRECTION
from fin_agent.models.call import NO_USAGE, PromptIdentity, Role, Usage
from fin_agent.models.caller import Caller
from fin_agent.models.metering import CallRecord, Meter, current_meter
from fin_agent.models.replies import from_langchain_message
from fin_agent.models.tokens import approximate_tokens
from fin_agent.redaction import redact_reply

_ROLE = Role.ASSISTANT


class CallAccountingMiddleware(AgentMiddleware[Any, Any]):  # type: ignore[misc]
    """Treats the agent's model calls like those of every other role: limited by the budget, and recorded."""

    def __init__(self, caller: Caller, prompt: str, version: str) -> None:
        super().__init__()
        self._caller = caller
        self._prompt = PromptIdentity(prompt, version)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Make one model call, and another if its tool calls cannot be parsed.

        Raises ModelError if the call fails, in place of the provider's own error.
        """
        response = self._call_once(request, handler)
        if unread := _unread(response):
            asked = HumanMessage(unread, additional_kwargs={CORRECTION: True})
            response = self._call_once(request.override(messages=[*request.messages, asked]), handler)
        response.result = [_provider_message(message) for message in response.result]
        return response

    def _call_once(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        meter, caller = current_meter() or Meter(), self._caller
        estimate = approximate_tokens(_message_text(request.messages))
        with caller.turn(meter, _ROLE, estimate):
            started = time.perf_counter()
            try:
                response = handler(request)
            except GraphBubbleUp:
                raise
            except Exception as exception:  # each provider has its own errors: `Caller.error` converts them
                if meter.stopped:
                    raise
                error = caller.error(exception, _ROLE)
                meter.add(self._record(NO_USAGE, time.perf_counter() - started, error.what))
                raise error from exception
            message = next((each for each in reversed(response.result) if isinstance(each, AIMessage)), None)
            usage = from_langchain_message(message).usage if message is not None else None
            output = approximate_tokens(_message_text(response.result))
            usage = usage or Usage(input=estimate, output=output, approximate=True)
            meter.add(self._record(usage, time.perf_counter() - started))
            return response

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """Call one tool, and emit an event that it started."""
        emit(StepBegun(node=str(request.tool_call["name"]), round=1))
        return handler(request)

    def _record(self, usage: Usage, seconds: float, note: str = "") -> CallRecord:
        return self._caller.record(_ROLE, self._prompt, usage, seconds=seconds, note=note)


def _unread(response: ModelResponse[Any]) -> str:
    """Return the message to a model whose tool calls cannot be parsed and that returned nothing else."""
    for message in response.result:
        if isinstance(message, AIMessage) and message.invalid_tool_calls and not message.tool_calls:
            if message.text.strip():
                return ""
            calls = "; ".join(
                f"{call['name']}({(call['args'] or '')[:200]}): {call['error'] or 'no JSON object'}"
                for call in message.invalid_tool_calls
            )
            return f"These calls of tools could not be read: {calls}. Call again, with arguments as one JSON object."
    return ""


def _provider_message(message: BaseMessage) -> BaseMessage:
    """Return the message in the form that providers accept, without keys that a server gives back.

    Every tool call gets its own id, and calls that cannot be parsed are dropped, since they get no result.
    """
    if not isinstance(message, AIMessage):
        return message
    has_key = redact_reply(str(message.content)) != str(message.content)
    ids: set[str] = set()
    calls = []
    for call in message.tool_calls:
        given = call["id"]
        own = given if given and given not in ids else f"call_{uuid4().hex[:24]}"
        ids.add(own)
        calls.append({**call, "id": own, "args": _cleaned(call["args"])})
    content = redact_reply(message.text) if has_key else message.content
    return message.model_copy(update={"content": content, "tool_calls": calls, "invalid_tool_calls": []})


def _cleaned(given: Any) -> Any:
    if isinstance(given, str):
        return redact_reply(given)
    if isinstance(given, dict):
        return {name: _cleaned(value) for name, value in given.items()}
    return [_cleaned(each) for each in given] if isinstance(given, list) else given


def _message_text(messages: Sequence[BaseMessage]) -> str:
    return "\n".join(message.text for message in messages)
