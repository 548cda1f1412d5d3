"""A chat model that replies from a script, for tests."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.runnables.config import RunnableConfig
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, JsonValue, PrivateAttr
from pydantic_core import to_jsonable_python

from fin_agent.errors import FinAgentError
from fin_agent.prompts.prompt import prompt_of_role

ROLE_OPTION = "role_of_call"
"""Internal option that carries the role: LangChain passes metadata to models on `invoke`, but not on `stream`."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a chat model: the messages, the role if known, and the options bound or given."""

    messages: Sequence[BaseMessage]
    role: str | None
    options: Mapping[str, object]

    @property
    def text(self) -> str:
        """The text of all messages, separated by blank lines."""
        return "\n\n".join(str(message.text) for message in self.messages)

    @property
    def schema(self) -> JsonValue:
        """The JSON schema of the reply if one was bound as `response_format`, else None."""
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

    def head(self, most: int = 300) -> str:
        """Return the beginning of the prompt on one line, cut at `most` characters."""
        line = " ".join(self.text.split())
        return line if len(line) <= most else f"{line[:most]}… ({len(line)} characters)"


class StandInChatModel(BaseChatModel):
    """A chat model without a provider. Subclasses implement `_answered`."""

    model_name: str = "stand-in"

    def _answered(self, call: ModelCall) -> ChatResult:
        raise NotImplementedError

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | dict[str, Any] | bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model with tools that it may call, in OpenAI's form."""
        bound = {"tool_choice": tool_choice} if tool_choice is not None else {}
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **bound, **kwargs)

    def stream(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> Iterator[AIMessageChunk]:
        """See BaseChatModel.stream. The role in the call's metadata is passed on as an option."""
        told = role_from_metadata(config.get("metadata"), config.get("tags")) if config else None
        return super().stream(input, config, stop=stop, **kwargs, **({ROLE_OPTION: told} if told else {}))

    def get_num_tokens(self, text: str) -> int:
        """Return the estimated number of tokens of a text; no tokenizer is downloaded."""
        return tokens(text)

    @property
    def _llm_type(self) -> str:
        return f"fin-agent-{type(self).__name__}"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.model_name}

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        given = {**kwargs, **({"stop": stop} if stop else {})}
        told = given.pop(ROLE_OPTION, None) or (
            role_from_metadata(run_manager.metadata, run_manager.tags) if run_manager else None
        )
        call = ModelCall(tuple(messages), told, given)
        return self._answered(call)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        yield from _pieces(self._generate(messages, stop, run_manager, **kwargs))


def _pieces(result: ChatResult) -> Iterator[ChatGenerationChunk]:
    """Yield a reply word by word, then its tool calls, then its finish reason and token counts."""
    message = cast(AIMessage, result.generations[0].message)
    text = message.content
    for word in re.findall(r"\s*\S+|\s+", text) if isinstance(text, str) else [text]:
        yield ChatGenerationChunk(message=AIMessageChunk(content=word))
    calls = [(call["name"], json.dumps(plain(call["args"])), call["id"]) for call in message.tool_calls]
    calls += [(call["name"] or "", call["args"] or "", call["id"]) for call in message.invalid_tool_calls]
    for index, (name, args, number) in enumerate(calls):
        chunk = tool_call_chunk(name=name, args=args, id=number, index=index)
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[chunk]))
    last = AIMessageChunk(
        content="",
        additional_kwargs=message.additional_kwargs,
        response_metadata={**(result.llm_output or {}), **message.response_metadata},
        usage_metadata=message.usage_metadata,
        chunk_position="last",
    )
    yield ChatGenerationChunk(message=last, generation_info=result.generations[0].generation_info)


def tokens(text: str) -> int:
    """Return the estimated number of tokens of a text, at four characters to a token.

    >>> tokens("Net sales rose.")
    4
    """
    return -(-len(text) // 4)


def plain(value: object) -> JsonValue:
    """Convert a value to JSON types; a pydantic class becomes its schema.

    Raises:
        TypeError: The value has no JSON form.
    """

    def schema(each: object) -> object:
        if isinstance(each, type) and issubclass(each, BaseModel):
            return each.model_json_schema()
        raise TypeError(f"{type(each).__name__} cannot be written as JSON")

    return cast(JsonValue, to_jsonable_python(value, fallback=schema))


def role_from_metadata(metadata: Mapping[str, object] | None, tags: Sequence[str] | None) -> str | None:
    """Return the role named in a call's metadata, `{"role": "judge"}`, or in its tags, `role:judge`, else None.

    A role that belongs to a prompt is returned as the prompt's name.
    """
    told = (metadata or {}).get("role")
    if not (isinstance(told, str) and told):
        told = next((tag.removeprefix("role:") for tag in tags or () if tag.startswith("role:")), None)
    return None if told is None else prompt_of_role(told) or told


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
    _script: dict[str, Answer | list[Answer]] = PrivateAttr(default_factory=dict)
    """By role: replies to give in turn, or one to repeat."""
    _said: Counter[str] = PrivateAttr(default_factory=Counter)
    _by_role: bool = PrivateAttr(default=False)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def __init__(self, script: Script, *, model_name: str = "scripted", tells_usage: bool = True) -> None:
        super().__init__(model_name=model_name, tells_usage=tells_usage)  # type: ignore[call-arg]
        self._by_role = isinstance(script, Mapping)
        by_role = script if isinstance(script, Mapping) else {ANY_ROLE: script}
        written: Any
        for role, written in by_role.items():
            repeated = isinstance(written, str) or not isinstance(written, Sequence)
            self._script[prompt_of_role(role) or role] = written if repeated else list(written)

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
        left = {role: len(of) - self._said[role] for role, of in self._script.items() if isinstance(of, list)}
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
        replies, said = self._script[role], self._said[role]
        if not isinstance(replies, list):
            return replies
        if said == len(replies):
            of = f" for the role {role!r}" if self._by_role else ""
            many = "1 reply" if said == 1 else f"{said} replies"
            raise ScriptError(
                f"the script has {many}{of} and was asked for one more", remedy=f"The prompt: {call.head()}"
            )
        self._said[role] += 1
        return replies[said]

    def _message(self, reply: Reply, call: ModelCall) -> AIMessage:
        tool = _tool_asked_for(call)
        if tool is not None and isinstance(reply, str):
            with suppress(ValueError):
                reply = {**json.loads(reply)} if reply.lstrip().startswith("{") else reply
        if isinstance(reply, AIMessage):
            message = reply
        elif isinstance(reply, str):
            message = AIMessage(content=reply)
        elif tool is not None:
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


def _tool_asked_for(call: ModelCall) -> str | None:
    """Return the tool that the call must use, or None if it has a choice."""
    choice, tools = call.options.get("tool_choice"), call.tools
    if isinstance(choice, Mapping):
        function = choice.get("function")
        choice = function.get("name") if isinstance(function, Mapping) else choice.get("name")
    if isinstance(choice, str) and choice in tools:
        return choice
    return tools[0] if choice in _FORCED and len(tools) == 1 else None
