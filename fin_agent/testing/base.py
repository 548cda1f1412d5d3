"""What the stand-ins for chat models share: tools, structured output, streams, tokens counted without a network."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.callbacks.manager import BaseRunManager
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.output_parsers import JsonOutputParser, PydanticOutputParser
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableBinding, RunnableMap, RunnablePassthrough
from langchain_core.runnables.config import RunnableConfig
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_json_schema, convert_to_openai_tool
from pydantic import BaseModel

from fin_agent.testing.call import ModelCall, plain, tokens
from fin_agent.testing.guards import permit
from fin_agent.testing.roles import role_of, role_told

_ROLE = "role_told"
"""An option that is no model's: LangChain hands metadata on to models that are invoked, not to those that stream."""
_WORD = re.compile(r"\s*\S+|\s+")


class StandInChatModel(BaseChatModel):
    """A chat model that asks no provider by itself. Subclasses give `_answered`."""

    model_name: str = "stand-in"
    prompts: Path | None = None
    """A folder with prompts of one's own, by which roles are recognised."""

    def _answered(self, call: ModelCall) -> ChatResult:
        raise NotImplementedError

    async def _answered_async(self, call: ModelCall) -> ChatResult:
        return self._answered(call)

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | dict[str, Any] | bool | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with tools that it may call, in OpenAI's form."""
        bound = {"tool_choice": tool_choice} if tool_choice is not None else {}
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **bound, **kwargs)

    def with_structured_output(
        self,
        schema: dict[str, Any] | type,
        *,
        include_raw: bool = False,
        method: str = "json_schema",
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, dict[str, Any] | BaseModel]:
        """Answers as `schema`: by `response_format` (`json_schema`, `json_mode`), or a call (`function_calling`)."""
        if method == "function_calling":
            return super().with_structured_output(schema, include_raw=include_raw, **kwargs)
        if method == "json_schema":
            described = convert_to_json_schema(schema)
            named = {"name": str(described.get("title", "answer")), "schema": described, "strict": True}
            wanted: dict[str, Any] = {"type": "json_schema", "json_schema": named}
        else:
            wanted = {"type": "json_object"}
        model = self.bind(response_format=wanted)
        parser: Runnable[Any, Any] = JsonOutputParser()
        if isinstance(schema, type) and issubclass(schema, BaseModel):
            parser = PydanticOutputParser(pydantic_object=schema)
        if not include_raw:
            return model | parser
        parsed = RunnablePassthrough.assign(parsed=itemgetter("raw") | parser, parsing_error=lambda _: None)
        unparsed = RunnablePassthrough.assign(parsed=lambda _: None)
        return RunnableMap(raw=model) | parsed.with_fallbacks([unparsed], exception_key="parsing_error")

    def stream(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> Iterator[AIMessageChunk]:
        """See BaseChatModel.stream. The role that the call's metadata tells is handed on."""
        return super().stream(input, config, stop=stop, **_with_role(config, kwargs))

    def astream(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[AIMessageChunk]:
        """See BaseChatModel.astream. The role that the call's metadata tells is handed on."""
        return super().astream(input, config, stop=stop, **_with_role(config, kwargs))

    def get_num_tokens(self, text: str) -> int:
        """About how many tokens a text is; no vocabulary is downloaded."""
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
        return self._answered(self._call_of(messages, stop, run_manager, kwargs))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return await self._answered_async(self._call_of(messages, stop, run_manager, kwargs))

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        result = self._generate(messages, stop, run_manager, **kwargs)
        yield from _pieces(result)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        result = await self._agenerate(messages, stop, run_manager, **kwargs)
        for piece in _pieces(result):
            yield piece

    def _call_of(
        self, messages: list[BaseMessage], stop: list[str] | None, run: BaseRunManager | None, options: dict[str, Any]
    ) -> ModelCall:
        given = {**options, **({"stop": stop} if stop else {})}
        told = given.pop(_ROLE, None) or (role_told(run.metadata, run.tags) if run else None)
        call = ModelCall(tuple(messages), told, given)
        return call if told else replace(call, role=role_of(call.text, self.prompts))


class WrappingChatModel(StandInChatModel):
    """A stand-in with another model behind it. Subclasses say what comes before and after that one is asked."""

    def _behind(self) -> BaseChatModel | None:
        raise NotImplementedError

    def _before(self, call: ModelCall) -> ChatResult | None:
        """An answer for which the other model need not be asked."""
        return None

    def _after(self, call: ModelCall, result: ChatResult) -> ChatResult:
        raise NotImplementedError

    def _answered(self, call: ModelCall) -> ChatResult:
        model = self._behind()
        known = self._before(call)
        if known is not None or model is None:
            return known or ChatResult(generations=[])
        permit(model)
        return self._after(call, model._generate(list(call.messages), **_options(model, call)))

    async def _answered_async(self, call: ModelCall) -> ChatResult:
        model = self._behind()
        known = self._before(call)
        if known is not None or model is None:
            return known or ChatResult(generations=[])
        permit(model)
        return self._after(call, await model._agenerate(list(call.messages), **_options(model, call)))


def answering_message(result: ChatResult) -> AIMessage:
    """The first answer of a result."""
    message = result.generations[0].message
    return message if isinstance(message, AIMessage) else AIMessage(content=message.content)


def _with_role(config: RunnableConfig | None, options: dict[str, Any]) -> dict[str, Any]:
    told = role_told(config.get("metadata"), config.get("tags")) if config else None
    return {**options, _ROLE: told} if told else options


def _options(model: BaseChatModel, call: ModelCall) -> dict[str, Any]:
    """Options of a call in the form that a model's `_generate` takes.

    It is not asked by `invoke`, whose callbacks would count each call and its tokens twice.
    """
    options = dict(call.options)
    if call.role is not None and isinstance(model, StandInChatModel):
        options[_ROLE] = call.role
    if "tools" not in options:
        return options
    named: dict[str, Any] = {name: options.pop(name) for name in ("tool_choice", "strict") if name in options}
    bound = model.bind_tools(cast(Sequence[dict[str, Any]], options.pop("tools")), **named)
    return {**options, **(bound.kwargs if isinstance(bound, RunnableBinding) else {})}


def _pieces(result: ChatResult) -> Iterator[ChatGenerationChunk]:
    """An answer word by word, then its calls, then what is known at the end only: why it ends, and the tokens."""
    message = answering_message(result)
    words: Sequence[Any] = _WORD.findall(message.content) if isinstance(message.content, str) else [message.content]
    for word in words:
        yield ChatGenerationChunk(message=AIMessageChunk(content=word))
    calls = [(call["name"], plain(call["args"]), call["id"]) for call in message.tool_calls]
    calls += [(call["name"] or "", call["args"], call["id"]) for call in message.invalid_tool_calls]
    for index, (name, args, number) in enumerate(calls):
        chunk = tool_call_chunk(name=name, args=_written(args), id=number, index=index)
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[chunk]))
    last = AIMessageChunk(
        content="",
        additional_kwargs=message.additional_kwargs,
        response_metadata={**(result.llm_output or {}), **message.response_metadata},
        usage_metadata=message.usage_metadata,
        chunk_position="last",
    )
    yield ChatGenerationChunk(message=last, generation_info=result.generations[0].generation_info)


def _written(args: object) -> str:

    return args if isinstance(args, str) else json.dumps(args)
