"""One course of events, followed by a thread or by an event loop: what it waits for are steps."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import aclosing, closing, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar

from fin_agent.models.deadlines import pieces_within, within
from fin_agent.models.gathering import Gathered
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
        *,
        on_text: Callable[[str], None] | None = None,
        stopped: Callable[[], bool] = lambda: False,
        allowed: Callable[[], float | None] = lambda: None,
    ) -> None:
        """With `on_text` the answer is streamed, and what is said so far told; what `on_text` raises is raised.

        Where `stopped` says so no request is made, and one whose answer is streamed is left. `allowed` gives the
        seconds that the request may take as a whole, once it is about to be made; None for as many as it takes.
        """
        self._bound = bound(model, role, options)
        self._messages = list(messages)
        self._slots = slots
        self._on_text = on_text
        self._stopped = stopped
        self._allowed = allowed
        self.gathered = Gathered()
        """What came of an answer that is streamed."""
        self.answer: AIMessage | None = None
        self.failure: Exception | None = None
        self.left = False
        """Whether nobody waits for the answer any more."""
        self.sent = False
        self.seconds = 0.0

    def now(self) -> None:
        """See Step.now."""
        with self._slots.held(), self._timed():
            if self._is_left():
                return
            self.sent = True
            if self._on_text is None:
                try:
                    self.answer = within(self._allowed(), partial(self._bound.invoke, self._messages))
                except Exception as failure:  # every provider raises errors of its own
                    self.failure = failure
                return
            with closing(self._pieces()) as pieces:
                for piece in pieces:
                    self._hear(piece)
                    if self._is_left():
                        return
            self._end()

    async def soon(self) -> None:
        """See Step.soon."""
        async with self._slots.aheld():
            with self._timed():
                if self._is_left():
                    return
                self.sent = True
                limit = asyncio.timeout(self._allowed())
                try:
                    async with limit:
                        await self._aanswered()
                except TimeoutError as failure:
                    if not limit.expired():
                        raise
                    self.failure = failure

    async def _aanswered(self) -> None:
        if self._on_text is None:
            try:
                self.answer = await self._bound.ainvoke(self._messages)
            except Exception as failure:  # every provider raises errors of its own
                self.failure = failure
            return
        async with aclosing(self._apieces()) as pieces:
            async for piece in pieces:
                self._hear(piece)
                if self._is_left():
                    return
        self._end()

    def _pieces(self) -> Generator[AIMessage, None, None]:
        try:
            yield from pieces_within(self._allowed(), partial(self._bound.stream, self._messages))
        except Exception as failure:  # every provider raises errors of its own
            self.failure = failure

    async def _apieces(self) -> AsyncGenerator[AIMessage, None]:
        try:
            async for piece in self._bound.astream(self._messages):
                yield piece
        except Exception as failure:  # every provider raises errors of its own
            self.failure = failure

    def _hear(self, piece: AIMessage) -> None:
        if self.gathered.add(piece) and self._on_text is not None:
            self._on_text(self.gathered.said)

    def _end(self) -> None:
        if self.failure is None:
            if self.gathered.rest() and self._on_text is not None:
                self._on_text(self.gathered.said)
            self.answer = self.gathered.message()

    def _is_left(self) -> bool:
        self.left = self._stopped()
        return self.left

    @contextmanager
    def _timed(self) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
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
