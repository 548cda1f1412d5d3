"""A chat model that says what it is told to, as LangChain has them: no network, and every request kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import BaseModel, PrivateAttr

from fin_agent.models import Call, LoadedModel, Message, PromptIdentity, Role

Said = str | AIMessage | Exception | Callable[["Request"], "Said"]

INPUT_TOKENS = 100
OUTPUT_TOKENS = 10


class Request:
    """What a model was asked."""

    def __init__(self, messages: Sequence[BaseMessage], options: dict[str, Any]) -> None:
        self.messages = [(message.type, str(message.text)) for message in messages]
        self.options = options


class ScriptedModel(BaseChatModel):
    """Gives its replies in turn, the last one for ever. A function makes the reply, an exception is raised."""

    replies: list[Any]
    seconds: float = 0.0
    """That a reply takes."""
    _asked: list[Request] = PrivateAttr(default_factory=list)
    _under_way: list[int] = PrivateAttr(default_factory=list)
    _guard: Any = PrivateAttr(default_factory=threading.Lock)

    @property
    def asked(self) -> list[Request]:
        return self._asked

    @property
    def most_at_once(self) -> int:
        return max(self._under_way)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _message(self, messages: Sequence[BaseMessage], options: dict[str, Any]) -> AIMessage:
        request = Request(messages, {name: value for name, value in options.items() if name != "stop"})
        with self._guard:
            self._asked.append(request)
            said: Said = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        while callable(said):
            said = said(request)
        if isinstance(said, Exception):
            raise said
        return answer(said) if isinstance(said, str) else said

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with self._guard:
            self._under_way.append((self._under_way[-1] if self._under_way else 0) + 1)
        time.sleep(self.seconds)
        try:
            return ChatResult(generations=[ChatGeneration(message=self._message(messages, kwargs))])
        finally:
            with self._guard:
                self._under_way.append(self._under_way[-1] - 1)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        message = self._message(messages, kwargs)
        pieces = str(message.text).split("|")
        for place, piece in enumerate(pieces):
            if piece == "BREAK":
                raise ConnectionResetError("peer has gone")
            last = place == len(pieces) - 1
            chunk = AIMessageChunk(content=piece, usage_metadata=message.usage_metadata if last else None)
            if last:
                chunk.response_metadata = message.response_metadata
            yield ChatGenerationChunk(message=chunk)


def answer(text: str, finish: str = "stop", *, usage: bool = True, **more: Any) -> AIMessage:
    """A message as a provider gives it."""
    counted = {
        "input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS, "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
        "input_token_details": {"cache_read": 40}, "output_token_details": {"reasoning": 2},
    }  # fmt: skip
    return AIMessage(
        content=text, response_metadata={"finish_reason": finish}, usage_metadata=counted if usage else None, **more
    )


class HttpStatusError(Exception):
    """An error as clients of providers raise them: with a status, and with the response."""

    def __init__(self, status: int, said: str = "", **headers: str) -> None:
        super().__init__(said or f"Error code: {status}")
        self.status_code = status
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.response = SimpleNamespace(status_code=status, headers=named)


class Figure(BaseModel):
    """What tests ask for."""

    value: int
    unit: str = "USD"


def loaded(
    *replies: Said, name: str = "openai:scripted", base_url: str | None = None, seconds: float = 0
) -> LoadedModel:
    return LoadedModel(name, ScriptedModel(replies=list(replies), seconds=seconds), base_url)


def asked(model: LoadedModel) -> list[Request]:
    """The requests that came to a model of `loaded`."""
    assert isinstance(model.model, ScriptedModel)
    return model.model.asked


def value_call(*messages: Message, most: int | None = None) -> Call[Figure]:
    said = messages or (("system", "You read filings."), ("user", "What was revenue?"))
    return Call(Role.REASONING, said, PromptIdentity("reasoning", "3"), output=Figure, max_output_tokens=most)


def text_call(*, question: str = "What was revenue?", role: Role = Role.REASONING) -> Call:
    return Call(role, (("system", "You read filings."), ("user", question)), PromptIdentity("reasoning", "1"))
