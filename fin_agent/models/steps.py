"""One course of events, followed by a thread or by an event loop: what it waits for are steps."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar

from fin_agent.models.limits import Slots
from fin_agent.models.roles import Role

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel, LanguageModelInput
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import Runnable

ResultT = TypeVar("ResultT")


class Step(Protocol):
    """Something that takes time. What comes of it is in the step afterwards."""

    def now(self) -> None:
        """Do it in this thread."""

    async def soon(self) -> None:
        """Do it while the event loop goes on."""


Steps: TypeAlias = Generator[Step, None, ResultT]


def followed(steps: Steps[ResultT]) -> ResultT:
    """What the steps come to, done in this thread."""
    try:
        while True:
            try:
                step = next(steps)
            except StopIteration as end:
                result: ResultT = end.value
                return result
            step.now()
    finally:
        steps.close()


async def afollowed(steps: Steps[ResultT]) -> ResultT:
    """What the steps come to, done by the event loop."""
    try:
        while True:
            try:
                step = next(steps)
            except StopIteration as end:
                result: ResultT = end.value
                return result
            await step.soon()
    finally:
        steps.close()


class Ask:
    """One request to a chat model, in one of the places for calls under way. A failure is kept, not raised."""

    def __init__(
        self,
        model: BaseChatModel,
        role: Role,
        messages: Sequence[tuple[str, str]],
        options: Mapping[str, object],
        slots: Slots,
    ) -> None:
        self._bound = bound(model, role, options)
        self._messages = list(messages)
        self._slots = slots
        self.answer: AIMessage | None = None
        self.failure: Exception | None = None
        self.seconds = 0.0

    def now(self) -> None:
        """See Step.now."""
        with self._slots.held():
            began = time.perf_counter()
            try:
                self.answer = self._bound.invoke(self._messages)
            except Exception as failure:  # every provider raises errors of its own
                self.failure = failure
            self.seconds = time.perf_counter() - began

    async def soon(self) -> None:
        """See Step.soon."""
        async with self._slots.aheld():
            began = time.perf_counter()
            try:
                self.answer = await self._bound.ainvoke(self._messages)
            except Exception as failure:  # every provider raises errors of its own
                self.failure = failure
            self.seconds = time.perf_counter() - began


def bound(model: BaseChatModel, role: Role, options: Mapping[str, object]) -> Runnable[LanguageModelInput, AIMessage]:
    """The model with options, and with the role for whatever traces its calls."""
    return model.bind(**options).with_config(metadata={"role": role.value}, tags=[f"role:{role.value}"])


class Pause:
    """Seconds to wait."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def now(self) -> None:
        """See Step.now."""
        time.sleep(self._seconds)

    async def soon(self) -> None:
        """See Step.soon."""
        await asyncio.sleep(self._seconds)


class Do(Generic[ResultT]):
    """Something that reads or writes a file."""

    def __init__(self, action: Callable[[], ResultT]) -> None:
        self._action = action
        self.result: ResultT | None = None

    def now(self) -> None:
        """See Step.now."""
        self.result = self._action()

    async def soon(self) -> None:
        """See Step.soon."""
        self.result = await asyncio.to_thread(self._action)
