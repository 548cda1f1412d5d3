"""Answering many questions: answers as JSON, concurrent jobs, recording, and the cache of replies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from dataclasses import replace
from typing import TypeVar

from fin_agent.answering.answer import Answer, AnswerValue, refusal_text
from fin_agent.cli.exit_codes import sentence_of
from fin_agent.cli.options import IndexOptions
from fin_agent.cli.streams import on_one_line, warn
from fin_agent.config import Recording, Settings, SettingsError, recording_from_environment
from fin_agent.errors import FinAgentError
from fin_agent.evaluation.benchmark import AnsweredQuestion
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_question
from fin_agent.index.protocol import PageKey
from fin_agent.runs.store import Recorder
from fin_agent.workspace import Workspace


def answer_json(answer: Answer, *, trace: bool = False) -> str:
    """Return an answer as one line of JSON, with its trace only if requested."""
    return on_one_line(answer.model_dump_json(exclude=None if trace else {"trace"}))


def attempt(
    question: str,
    context: AnswerContext,
    *,
    doc_ids: Sequence[str] | None = None,
    pages: Sequence[PageKey] | None = None,
    question_id: str | None = None,
    debug: bool = False,
) -> AnsweredQuestion:
    """Answer one of many questions; an error becomes a refusal, unless `debug` is set and it is unexpected.

    Nobody can be asked back: what a question leaves open becomes an assumption. `doc_ids` and `pages` are what to
    search, None for all; `question_id` is returned with the answer.
    """
    context = replace(context, asks_back=False)
    try:
        answer = answer_question(question, context, doc_ids=doc_ids, pages=pages, question_id=question_id)
        return AnsweredQuestion(answer=answer)
    except Exception as error:  # the batch goes on; the reason becomes part of the refusal
        if debug and not isinstance(error, FinAgentError):
            raise
        failure = sentence_of(error)
    return AnsweredQuestion(answer=refusal_for(question, failure, question_id), failure=failure)


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


def results_as_completed(
    do: Callable[[Input], Result],
    given: Sequence[Input],
    jobs: int,
    pool_of: Callable[[int], Executor] = ThreadPoolExecutor,
) -> Iterator[Result]:
    """Yield results in order of completion; `jobs` run at once, or one after the other in this thread if it is 1.

    What `do` raises, or Ctrl-C, ends the iteration: no further job begins, and those in progress are waited for.
    `pool_of` creates the executor for this many jobs.
    """
    if jobs == 1:
        yield from map(do, given)
        return
    with pool_of(min(jobs, max(1, len(given)))) as pool:
        try:
            for future in as_completed([pool.submit(do, each) for each in given]):
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def recorder_for(workspace: Workspace, on: IndexOptions, settings: Settings, wanted: bool) -> Recorder:
    """Return the recorder of runs over the index in use; it records nothing if not `wanted` or if recording is off."""
    recording = Recording(enabled=False)
    if wanted:
        try:
            recording = recording_from_environment()
        except SettingsError as error:
            warn(f"runs are not recorded: {error}")
    return Recorder(workspace.index, on.chosen.folder, settings, recording, notify=warn)


FILE_NAME = "replies.sqlite"


def with_reply_cache(settings: Settings, on: IndexOptions, *, wanted: bool) -> Settings:
    """Return the settings of a batch with a cache of replies: the one in the settings, else a file next to the index.

    Without `wanted` there is no cache, and without a model none is needed.
    """
    if not settings.by_model:
        return settings
    cache = (settings.models.cache or on.chosen.folder / FILE_NAME) if wanted else None
    return settings.model_copy(update={"models": settings.models.model_copy(update={"cache": cache})})
