"""What a chat model sent back, read from LangChain's message or from the error of a client that looked inside."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fin_agent.models.call import Finish
from fin_agent.models.keys import without_keys
from fin_agent.models.usage import Usage

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>\s*|\Z)", re.S | re.I)
_FINISHES = {
    Finish.STOP: {"stop", "end_turn", "stop_sequence", "eos", "completed", "complete"},
    Finish.LENGTH: {"length", "max_tokens", "max_output_tokens", "model_length", "incomplete"},
    Finish.FILTERED: {"content_filter", "refusal", "safety", "recitation", "blocklist", "prohibited_content", "spii"},
    Finish.TOOLS: {"tool_calls", "tool_use", "function_call"},
}
_FINISH_NAMES = ("finish_reason", "stop_reason", "done_reason", "status")


@dataclass(frozen=True, slots=True)
class Received:
    """One answer of a server."""

    text: str
    """Without thoughts that stand before it."""
    finish: Finish
    usage: Usage | None
    """None where the server says nothing of it."""
    refusal: str = ""
    """What the model said instead, where it declined."""
    tools: tuple[str, ...] = ()
    """Names of tools that it called."""
    held_key: bool = False
    """Whether it held a key, which was taken out: such an answer is not kept."""


def received(message: AIMessage) -> Received:
    """A message of LangChain; a merged stream as well."""
    metadata = message.response_metadata
    refusal = message.additional_kwargs.get("refusal")
    blocks = message.content if isinstance(message.content, list) else []
    refusals = [str(block["refusal"]) for block in blocks if isinstance(block, dict) and block.get("refusal")]
    invalid = getattr(message, "invalid_tool_calls", [])
    said = cleaned(str(message.text))
    text = without_keys(said)
    return Received(
        text=without_thoughts(text),
        held_key=text != said,
        finish=_finish(metadata),
        usage=_usage(message.usage_metadata),
        refusal=str(refusal) if refusal else " ".join(refusals),
        tools=tuple(str(call.get("name") or "unnamed") for call in (*message.tool_calls, *invalid)),
    )


def received_in(exception: Exception) -> Received | None:
    """The answer that a client found cut off or filtered, and raised instead of returning; None where there is none.

    OpenAI's does so as soon as a schema is asked for; what was paid for would be lost with it.
    """
    completion = getattr(exception, "completion", None)
    choices = getattr(completion, "choices", None)
    if not choices:
        return None
    reason = str(getattr(choices[0], "finish_reason", "") or "")
    message = getattr(choices[0], "message", None)
    counted = getattr(completion, "usage", None)
    usage = None
    if counted is not None:
        usage = Usage(
            input=_number(counted, "prompt_tokens"),
            cached_input=_number(getattr(counted, "prompt_tokens_details", None), "cached_tokens"),
            output=_number(counted, "completion_tokens"),
            reasoning=_number(getattr(counted, "completion_tokens_details", None), "reasoning_tokens"),
        )
    said = cleaned(str(getattr(message, "content", None) or ""))
    text = without_keys(said)
    return Received(
        text=without_thoughts(text),
        held_key=text != said,
        finish=_finish({"finish_reason": reason}),
        usage=usage,
        refusal=str(getattr(message, "refusal", None) or ""),
    )


def cleaned(text: str) -> str:
    """A text without what no file and no terminal should get: halves of characters, and controls but line ends.

    >>> cleaned("net\\n sales\\x1b[2J\\ud800")
    'net\\n sales[2J'
    """
    return text if text.isprintable() else "".join(sign for sign in text if sign in "\n\t" or _is_fit(sign))


def _is_fit(sign: str) -> bool:
    return unicodedata.category(sign) not in ("Cc", "Cs", "Cn")


def without_thoughts(text: str) -> str:
    """A text without the thoughts that some models write before it; none at all while they still think.

    >>> without_thoughts("<think>Is it 4?</think>\\nIt is 5."), without_thoughts("<thi"), without_thoughts("<think>Hm")
    ('It is 5.', '', '')
    """
    opening = text.lstrip().lower()
    if opening and any(mark.startswith(opening) for mark in ("<think>", "<thinking>")):
        return ""
    return _THOUGHTS.sub("", text)


def _finish(metadata: Mapping[str, object]) -> Finish:
    for name in _FINISH_NAMES:
        reason = metadata.get(name)
        if isinstance(reason, str) and reason:
            plain = reason.lower().rsplit(".", 1)[-1]
            return next((finish for finish, names in _FINISHES.items() if plain in names), Finish.UNKNOWN)
    return Finish.UNKNOWN


def _usage(counted: Mapping[str, object] | None) -> Usage | None:
    if not counted:
        return None
    total, output = _count(counted, "input_tokens"), _count(counted, "output_tokens")
    cached = _count(counted.get("input_token_details"), "cache_read")
    reasoning = _count(counted.get("output_token_details"), "reasoning")
    if not total and not output:
        return None
    return Usage(input=total, cached_input=min(cached, total), output=output, reasoning=min(reasoning, output))


def _count(holder: object, name: str) -> int:
    value = holder.get(name) if isinstance(holder, Mapping) else None
    return value if isinstance(value, int) and value > 0 else 0


def _number(holder: object, name: str) -> int:
    value = getattr(holder, name, None)
    return value if isinstance(value, int) and value > 0 else 0
