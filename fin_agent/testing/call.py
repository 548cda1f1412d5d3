"""A call of a chat model, as the stand-ins see it, and its one spelling as JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, JsonValue

_HEAD = 300
_TOLD = frozenset({
    "frequency_penalty", "logprobs", "max_completion_tokens", "max_tokens", "n", "parallel_tool_calls",
    "presence_penalty", "reasoning", "reasoning_effort", "response_format", "seed", "stop", "strict", "temperature",
    "tool_choice", "tools", "top_k", "top_logprobs", "top_p", "verbosity",
})  # fmt: skip
"""Options whose values make a request what it is. Of others only the names are told: they may hold keys and headers."""
_NOT_SENT = frozenset({"ls_structured_output_format", "structured_output_format", "stream", "stream_usage"})


@dataclass(frozen=True, slots=True)
class ModelCall:
    """What a chat model was asked: the messages, the role if it is known, and the options bound or given."""

    messages: Sequence[BaseMessage]
    role: str | None
    options: Mapping[str, object]

    @property
    def text(self) -> str:
        """The text of all messages, a blank line between two."""
        return "\n\n".join(str(message.text) for message in self.messages)

    @property
    def schema(self) -> JsonValue:
        """The JSON schema that the answer must meet, where one was bound as `response_format`."""
        bound = plain(self.options.get("response_format"))
        if not isinstance(bound, dict):
            return None
        named = bound.get("json_schema")
        return named.get("schema") if isinstance(named, dict) else bound if "properties" in bound else None

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools that may be called."""
        tools = self.options.get("tools")
        listed = tools if isinstance(tools, list | tuple) else []
        return tuple(str(convert_to_openai_tool(tool)["function"]["name"]) for tool in listed)

    def head(self, most: int = _HEAD) -> str:
        """The beginning of the prompt on one line, for messages to people."""
        line = " ".join(self.text.split())
        return line if len(line) <= most else f"{line[:most]}… ({len(line)} characters)"

    def written(self) -> dict[str, JsonValue]:
        """The call as JSON: no key, no header, and nothing that differs from run to run."""
        options = {name: plain(value) for name, value in self.options.items() if name in _TOLD and value is not None}
        others = sorted(set(self.options) - _TOLD - _NOT_SENT)
        return {
            "messages": [_message(message) for message in self.messages],
            "options": options,
            **({"options_not_told": cast(list[JsonValue], others)} if others else {}),
        }

    def digest(self) -> str:
        """The same for the same call, in any process."""
        return digest_of(self.written())


def digest_of(written: JsonValue) -> str:
    """A SHA-256 of JSON, whatever the order of its names."""
    return hashlib.sha256(json.dumps(written, sort_keys=True).encode()).hexdigest()


def tokens(text: str) -> int:
    """About how many tokens a text is, four characters to one; real models differ.

    >>> tokens("Net sales rose.")
    4
    """
    return -(-len(text) // 4)


def plain(value: object) -> JsonValue:
    """A value as JSON; a pydantic class as its schema. Raises TypeError for what has no such form."""
    if isinstance(value, type) and issubclass(value, BaseModel):
        return cast(JsonValue, value.model_json_schema())
    if isinstance(value, BaseModel):
        return cast(JsonValue, value.model_dump(mode="json"))
    return cast(JsonValue, json.loads(json.dumps(value, default=plain_or_fail)))


def plain_or_fail(value: object) -> JsonValue:
    """For json.dumps, where it meets what is no JSON."""
    if isinstance(value, BaseModel) or (isinstance(value, type) and issubclass(value, BaseModel)):
        return plain(value)
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _message(message: BaseMessage) -> dict[str, JsonValue]:
    written: dict[str, JsonValue] = {"type": message.type, "content": plain(message.content)}
    if message.name:
        written["name"] = message.name
    if isinstance(message, AIMessage) and message.tool_calls:
        written["tool_calls"] = [
            {"name": call["name"], "args": plain(call["args"]), "id": call["id"]} for call in message.tool_calls
        ]
    if isinstance(message, ToolMessage):
        written["tool_call_id"] = message.tool_call_id
    return written
