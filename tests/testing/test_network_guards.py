"""No provider's model can be asked inside the guard, in whatever way it is tried."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, FakeListChatModel, GenericFakeChatModel, SimpleChatModel
from langchain_core.language_models.llms import LLM
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from fin_agent.testing import (
    ForbiddenModelRequestError,
    ScriptedChatModel,
    no_model_requests,
)


class Provider(SimpleChatModel):
    """As good as a provider's: not a stand-in of ours or of LangChain's."""

    model_name: str = "big-one"

    def _call(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> str:
        return "paid for"

    @property
    def _llm_type(self) -> str:
        return "provider"


class OldProvider(LLM):
    def _call(
        self,
        prompt: str,
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> str:
        return "paid for"

    @property
    def _llm_type(self) -> str:
        return "old-provider"


async def _astreamed(model: BaseChatModel) -> list[Any]:
    return [piece async for piece in model.astream("Hello")]


async def _abatched(model: BaseChatModel) -> list[Any]:
    return await model.abatch(["Hello"])


async def _ainvoked(model: BaseChatModel) -> Any:
    return await model.ainvoke("Hello")


WAYS: dict[str, Callable[[Any], object]] = {
    "invoke": lambda model: model.invoke("Hello"),
    "batch": lambda model: model.batch(["Hello", "you"]),
    "stream": lambda model: list(model.stream("Hello")),
    "generate": lambda model: model.generate([[HumanMessage("Hello")]]),
    "bound": lambda model: model.bind(stop=["x"]).invoke("Hello"),
    "ainvoke": lambda model: asyncio.run(_ainvoked(model)),
    "abatch": lambda model: asyncio.run(_abatched(model)),
    "astream": lambda model: asyncio.run(_astreamed(model)),
}


@pytest.mark.parametrize("way", sorted(WAYS))
def test_a_provider_cannot_be_asked(way: str) -> None:
    with no_model_requests() as tried:
        with pytest.raises(ForbiddenModelRequestError, match=r"a request to Provider 'big-one' was tried.*Scripted"):
            WAYS[way](Provider())
        tried.clear()
    assert Provider().invoke("Hello").content == "paid for"


@pytest.mark.parametrize("way", [*sorted(WAYS), "stream_events"])
def test_openais_model_sends_nothing(way: str) -> None:
    langchain_openai = pytest.importorskip("langchain_openai", reason="the guard is held against langchain-openai")
    from tests.models.openai_server import KEY, OpenAIServer

    ways = {**WAYS, "stream_events": lambda model: list(model.stream_events("Hello", version="v3"))}
    with OpenAIServer(lambda request: "paid for") as server:
        model = langchain_openai.ChatOpenAI(model="gpt-4o", base_url=server.url, api_key=KEY)
        with no_model_requests() as tried:
            with pytest.raises(ForbiddenModelRequestError, match="ChatOpenAI 'gpt-4o'"):
                ways[way](model)
            tried.clear()
        assert server.log == []
        with no_model_requests(allow=(langchain_openai.ChatOpenAI,)):
            ways[way](model)
        assert server.log != []


def test_older_models_are_forbidden_too() -> None:
    with no_model_requests() as tried:
        with pytest.raises(ForbiddenModelRequestError, match="OldProvider"):
            OldProvider().invoke("Hello")
        tried.clear()


def test_stand_ins_and_allowed_models_are_asked() -> None:
    with no_model_requests(allow=(Provider,)):
        assert Provider().invoke("Hello").content == "paid for"
        assert FakeListChatModel(responses=["a"]).invoke("Hello").content == "a"
        assert GenericFakeChatModel(messages=iter([AIMessage("b")])).invoke("Hello").content == "b"
        assert ScriptedChatModel("c").invoke("Hello").content == "c"


def test_code_that_falls_back_does_not_hide_it() -> None:
    with pytest.raises(ForbiddenModelRequestError, match="tried once inside the guard: a request to Provider"):  # noqa: SIM117
        with no_model_requests(), contextlib.suppress(Exception):
            Provider().invoke("Hello")


def test_guards_stand_inside_each_other() -> None:
    with no_model_requests(allow=(Provider,)):
        with no_model_requests() as tried:
            with contextlib.suppress(ForbiddenModelRequestError):
                Provider().invoke("Hello")
            tried.clear()
        Provider().invoke("Hello")
    Provider().invoke("Hello")
