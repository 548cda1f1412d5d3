"""A chat model that replies from a script, for tests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import BaseModel, PrivateAttr

from fin_agent.errors import FinAgentError
from fin_agent.prompts.prompt import prompt_of_role
from fin_agent.testing.stand_in_base import ModelCall, StandInChatModel, plain, tokens

Reply: TypeAlias = str | AIMessage | BaseModel | Mapping[str, object] | Exception
"""A text, a whole message, a value (sent as JSON or as the requested tool call), or an error to raise."""
Answer: TypeAlias = Reply | Callable[[ModelCall], Reply]
Script: TypeAlias = (
    str
    | AIMessage
    | Exception
    | Callable[[ModelCall], Reply]
    | Sequence[Answer]
    | Mapping[str, Answer | Sequence[Answer]]
)

ANY_ROLE = "*"
_FORCED = ("any", "required", True)


class ScriptError(FinAgentError):
    """A scripted model was called more often than its script allows, or less often than it requires."""


@dataclass(slots=True)
class _Replies:
    """Replies to give in turn, or one to repeat."""

    answers: tuple[Answer, ...]
    endless: bool
    said: int = 0

    @property
    def left(self) -> int:
        return 0 if self.endless else len(self.answers) - self.said


class ScriptedChatModel(StandInChatModel):
    """A chat model that replies from a script.

    The script is a list of replies in turn, a mapping by role, a function of the call, or one reply to repeat. A role
    is a prompt of this package: its name, or the role that a call names in its metadata (`role`) or tags (`role:...`),
    as every call of this package does. Each role has one reply to repeat or a list of replies in turn; `"*"` stands for
    all other calls.

    >>> model = ScriptedChatModel(["Revenue was 5.", {"answer": 5}])
    >>> model.invoke("What was revenue?").content, model.invoke("As JSON, please").content
    ('Revenue was 5.', '{"answer": 5}')
    >>> try:
    ...     model.invoke("And once more?")
    ... except ScriptError as error:
    ...     print(error)
    the script has 2 replies and was asked for one more. The prompt: And once more?

    >>> by_role = ScriptedChatModel({"hyde": "Net sales were $5 million.", "judge": ["[1, 2]", "[2, 1]"]})
    >>> by_role.invoke("Invent a passage.", {"metadata": {"role": "hyde"}}).content
    'Net sales were $5 million.'
    >>> [call.role for call in by_role.calls]
    ['hyde']

    >>> model = ScriptedChatModel(lambda call: f"{len(call.text)} characters")
    >>> "".join(piece.content for piece in model.stream("Hello"))
    '5 characters'
    """

    tells_usage: bool = True
    """Whether messages carry token counts, at four characters to a token."""

    _calls: list[ModelCall] = PrivateAttr(default_factory=list)
    _errors: list[ScriptError] = PrivateAttr(default_factory=list)
    _script: dict[str, _Replies] = PrivateAttr(default_factory=dict)
    _by_role: bool = PrivateAttr(default=False)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, script: Script, *, model_name: str = "scripted", tells_usage: bool = True) -> None:
        super().__init__(model_name=model_name, tells_usage=tells_usage)  # type: ignore[call-arg]
        self._by_role = isinstance(script, Mapping)
        by_role = script if isinstance(script, Mapping) else {ANY_ROLE: script}
        self._script = {prompt_of_role(role) or role: _replies(written) for role, written in by_role.items()}

    @property
    def calls(self) -> list[ModelCall]:
        """Every call so far, in order."""
        return list(self._calls)

    def verify(self) -> None:
        """Check that every reply was used and none was missing.

        Raises:
            ScriptError: A call had no reply, even if the caller caught that error, or replies are left over.
        """
        if self._errors:
            raise self._errors[0]
        left = {role: replies.left for role, replies in self._script.items()}
        unsaid = [f"{count} of {role!r}" if self._by_role else str(count) for role, count in left.items() if count]
        if unsaid:
            raise ScriptError(f"replies were not requested: {', '.join(unsaid)}")

    def _answered(self, call: ModelCall) -> ChatResult:
        try:
            with self._lock:
                self._calls.append(call)
                answer = self._next(call)
        except ScriptError as error:
            self._errors.append(error)
            raise
        # Outside the lock: a reply that waits, or calls another model, must not block other calls.
        reply = answer(call) if callable(answer) else answer
        if isinstance(reply, Exception):
            raise reply
        message = self._message(reply, call)
        finish = "tool_calls" if message.tool_calls else "stop"
        known = {"model_name": self.model_name, "finish_reason": finish, **message.response_metadata}
        message = message.model_copy(update={"response_metadata": known})
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _next(self, call: ModelCall) -> Answer:
        role = call.role if call.role is not None and call.role in self._script else ANY_ROLE
        if role not in self._script:
            asked = f"the role {call.role!r}" if call.role else "a call of no known role"
            raise ScriptError(
                f"the script has no reply for {asked}, only for {', '.join(sorted(self._script))}",
                remedy=f"The prompt: {call.head()}",
            )
        replies = self._script[role]
        if replies.endless:
            return replies.answers[0]
        if not replies.left:
            of = f" for the role {role!r}" if self._by_role else ""
            many = "1 reply" if replies.said == 1 else f"{replies.said} replies"
            raise ScriptError(
                f"the script has {many}{of} and was asked for one more", remedy=f"The prompt: {call.head()}"
            )
        replies.said += 1
        return replies.answers[replies.said - 1]

    def _message(self, reply: Reply, call: ModelCall) -> AIMessage:
        if isinstance(reply, AIMessage):
            message = reply
        elif isinstance(reply, str):
            message = AIMessage(content=reply)
        elif (tool := _tool_asked_for(call)) is not None:
            number = f"call_{len(self._calls)}"
            message = AIMessage(content="", tool_calls=[{"name": tool, "args": plain(reply), "id": number}])
        else:
            message = AIMessage(content=json.dumps(plain(reply), ensure_ascii=False))
        if message.usage_metadata is None and self.tells_usage:
            said = str(message.text) + "".join(json.dumps(each["args"]) for each in message.tool_calls)
            asked, answered = tokens(call.text), tokens(said)
            counted = UsageMetadata(input_tokens=asked, output_tokens=answered, total_tokens=asked + answered)
            message = message.model_copy(update={"usage_metadata": counted})
        return message


def _replies(written: Answer | Sequence[Answer]) -> _Replies:
    if isinstance(written, Sequence) and not isinstance(written, str):
        return _Replies(tuple(written), endless=False)
    return _Replies((written,), endless=True)


def _tool_asked_for(call: ModelCall) -> str | None:
    """Return the tool that the call must use, or None if it has a choice."""
    choice, tools = call.options.get("tool_choice"), call.tools
    if isinstance(choice, Mapping):
        function = choice.get("function")
        choice = function.get("name") if isinstance(function, Mapping) else choice.get("name")
    if isinstance(choice, str) and choice in tools:
        return choice
    return tools[0] if choice in _FORCED and len(tools) == 1 else None
