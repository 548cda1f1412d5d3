"""Answering many questions: answers as JSON, concurrent jobs, recording, and the cache of replies."""

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
    """Return an answer as one line of JSON, with its trace only if requested."""
    return on_one_line(answer.model_dump_json(exclude=None if trace else {"trace"}))


@dataclass(frozen=True, slots=True)
class Attempt:
    """An answer, or a refusal with the reason if answering failed."""

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
    """Answer one of many questions; an error becomes a refusal, unless `debug` is set.

    Nobody can be asked back: what a question leaves open becomes an assumption.

    Args:
        question: The question.
        context: The index, and who answers.
        doc_ids: The filings to search; None for all.
        pages: The pages to search; None for all.
        question_id: The caller's id, returned with the answer.
        debug: Whether unexpected errors are raised.
    """
    context = replace(context, asks_back=False)
    try:
        return Attempt(answer_question(question, context, doc_ids=doc_ids, pages=pages, question_id=question_id))
    except Exception as error:  # the batch goes on; the reason becomes part of the refusal
        if debug and not isinstance(error, FinAgentError):
            raise
        failure = sentence_of(error)
    return Attempt(refusal_for(question, failure, question_id), failure)


def refusal_for(question: str, reason: str, question_id: str | None) -> Answer:
    """Return the refusal of a question that was not answered for `reason`."""
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
    """Yield results in order of completion; `jobs` run at once, or one after the other in this thread if it is 1.

    `ahead` more inputs are submitted, so that workers do not wait for the caller. What `do` raises ends the iteration.
    The first Ctrl-C starts no further job and waits for those in progress, since they may have been paid for; the
    second one ends at once.

    Args:
        do: What to do with each input.
        given: The inputs.
        jobs: Number of jobs at once.
        pool_of: Creates the executor for this many jobs.
        ahead: Number of inputs to submit in advance.
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
    """Yield an event that the first Ctrl-C in the block sets; the second one raises KeyboardInterrupt."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return

    def stop(number: int, frame: FrameType | None) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()
        with suppress(RuntimeError):  # the signal may interrupt another write to the stream
            say(f"stopping: waiting for {len(under_way)} in progress; Ctrl-C again ends at once")

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, before)


def recorder_for(workspace: Workspace, on: IndexOptions, settings: Settings, wanted: bool) -> Recorder:
    """Return the recorder of runs over the index in use; it records nothing if not `wanted` or if recording is off."""
    recording = Recording(enabled=False)
    if wanted:
        try:
            recording = recording_from_environment()
        except SettingsError as error:
            warn(f"runs are not recorded: {error}")
    return Recorder(workspace.index, on.chosen.folder, settings, recording, notify=warn)


class Stopwatch:
    """Measures the time of each step."""

    def __init__(self) -> None:
        self.steps: list[StepTime] = []
        self._last = time.perf_counter()

    def start(self) -> None:
        """Start the first step."""
        self._last = time.perf_counter()

    def step(self, node: str) -> None:
        """End a step, and start the next one."""
        now = time.perf_counter()
        self.steps.append(StepTime(node=node, seconds=round(now - self._last, 4)))
        self._last = now


FILE_NAME = "replies.sqlite"


def with_reply_cache(settings: Settings, on: IndexOptions, *, wanted: bool) -> Settings:
    """Return the settings of a batch with a cache of replies: the one in the settings, else a file next to the index.

    Without `wanted` there is no cache, and without a model none is needed.
    """
    if not settings.by_model:
        return settings
    cache = (settings.models.cache or on.chosen.folder / FILE_NAME) if wanted else None
    return settings.model_copy(update={"models": settings.models.model_copy(update={"cache": cache})})
