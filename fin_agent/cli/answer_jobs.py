"""Answers as JSON, many of them in a row, and recorded."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from types import FrameType
from typing import TypeVar

from fin_agent.answering.answer import Answer, AnswerValue, refusal_text
from fin_agent.cli.exit_codes import sentence_of
from fin_agent.cli.options import IndexOptions
from fin_agent.cli.streams import on_one_line, say, warn
from fin_agent.config import Recording, Settings, SettingsError, recording_from_environment
from fin_agent.errors import FinAgentError
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_question
from fin_agent.index.protocol import PageKey
from fin_agent.runs.run import StepTime
from fin_agent.runs.store import Recorder
from fin_agent.workspace import Workspace


def answer_json(answer: Answer, *, trace: bool = False) -> str:
    """The published contract as one line of JSON; the audit trace is added only where asked for."""
    return on_one_line(answer.model_dump_json(exclude=None if trace else {"trace"}))


@dataclass(frozen=True, slots=True)
class Attempt:
    """An answer, or the refusal that stands in for one where answering failed, with the reason."""

    answer: Answer
    failure: str = ""


def attempt(
    question: str,
    context: AnswerContext,
    *,
    doc_ids: Sequence[str] | None = None,
    pages: Sequence[PageKey] | None = None,
    question_id: str | None = None,
    debug: bool = False,
) -> Attempt:
    """Answer one of many questions: one that fails does not end the run, unless `debug` wants to see it.

    Nobody is there to be asked back: what a question leaves open is among its assumptions.
    """
    context = replace(context, asks_back=False)
    try:
        return Attempt(answer_question(question, context, doc_ids=doc_ids, pages=pages, question_id=question_id))
    except Exception as error:  # the other questions still get their answers; the reason is kept and told
        if debug and not isinstance(error, FinAgentError):
            raise
        failure = sentence_of(error)
    return Attempt(refusal_for(question, failure, question_id), failure)


def refusal_for(question: str, reason: str, question_id: str | None) -> Answer:
    """The refusal of a question that was not answered, for `reason`."""
    return Answer(
        id=question_id,
        question=question,
        answer=AnswerValue(text=refusal_text([reason])),
        refused=True,
        missing=(reason,),
    )


Input = TypeVar("Input")
Result = TypeVar("Result")


def _threads(jobs: int) -> Executor:
    return ThreadPoolExecutor(jobs, thread_name_prefix="question")


def results_as_completed(
    do: Callable[[Input], Result],
    given: Sequence[Input],
    jobs: int,
    pool_of: Callable[[int], Executor] = _threads,
    *,
    ahead: int = 0,
) -> Iterator[Result]:
    """The results in the order in which they come: one after the other by this thread, or `jobs` at once by others.

    `ahead` more are handed over before one is done, so that nobody waits for what becomes of the results here.
    What `do` raises ends it. Stopped from the keyboard, it begins no other; those under way are ended and given back
    first, because they may have been paid for. Stopped once more, it waits for nothing.
    """
    if jobs == 1:
        yield from map(do, given)
        return
    left = enumerate(given)
    under_way: dict[Future[Result], int] = {}
    with pool_of(min(jobs, max(1, len(given)))) as pool, _stop_on_interrupt(under_way) as stopped:
        while True:
            while (
                not stopped.is_set() and len(under_way) < jobs + ahead and (following := next(left, None)) is not None
            ):
                under_way[pool.submit(do, following[1])] = following[0]
            if not under_way:
                break
            done = wait(under_way, return_when=FIRST_COMPLETED).done
            for future in sorted(done, key=under_way.__getitem__):
                del under_way[future]
                yield future.result()
        if stopped.is_set():
            raise KeyboardInterrupt


@contextmanager
def _stop_on_interrupt(under_way: dict[Future[Result], int]) -> Iterator[threading.Event]:
    """Set by the first interrupt inside the block; the second one is raised, as any is outside."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return

    def stop(number: int, frame: FrameType | None) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()
        with suppress(RuntimeError):  # in the midst of another line, no line can be written
            say(f"stopping: the {len(under_way)} under way are ended first")

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, before)


def recorder_for(workspace: Workspace, on: IndexOptions, settings: Settings, wanted: bool) -> Recorder:
    """Records over the index in use, unless it is not `wanted` or the environment switches it off."""
    recording = Recording(enabled=False)
    if wanted:
        try:
            recording = recording_from_environment()
        except SettingsError as error:
            warn(f"runs are not recorded: {error}")
    return Recorder(workspace.index, on.chosen.folder, settings, recording, notify=warn)


class Stopwatch:
    """Takes the time of each step as it ends."""

    def __init__(self) -> None:
        self.steps: list[StepTime] = []
        self._last = time.perf_counter()

    def start(self) -> None:
        """The first step begins now."""
        self._last = time.perf_counter()

    def step(self, node: str) -> None:
        """A step has ended, and the next one begins."""
        now = time.perf_counter()
        self.steps.append(StepTime(node=node, seconds=round(now - self._last, 4)))
        self._last = now


FILE_NAME = "replies.sqlite"


def with_reply_cache(settings: Settings, on: IndexOptions, *, wanted: bool) -> Settings:
    """The settings of a batch: replies are kept where the settings say, else beside the index in use.

    Where they are not `wanted`, none are kept or used. Without a model there are none.
    """
    if not settings.by_model:
        return settings
    cache = (settings.models.cache or on.chosen.folder / FILE_NAME) if wanted else None
    return settings.model_copy(update={"models": settings.models.model_copy(update={"cache": cache})})
