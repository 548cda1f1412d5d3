"""`fin-agent ask` and `batch`."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr
from rich.console import RenderableType
from rich.text import Text

from fin_agent.analyst.events import CallBegun, CallEnded, Event, StepBegun, event_listener
from fin_agent.answering.answer import Answer, AnswerValue, refusal_text
from fin_agent.atomic_write import atomic_write, require_writable_path
from fin_agent.cli.exit_codes import ExitCode, sentence_of
from fin_agent.cli.options import AnswerOptions, IndexOptions, command
from fin_agent.cli.streams import Progress, messages, say, show, warn
from fin_agent.config import Recording, Settings, SettingsError, recording_from_environment
from fin_agent.distribution import installed_version
from fin_agent.errors import FinAgentError, QuestionError
from fin_agent.evaluation.benchmark import AnsweredQuestion, PartialResults, parsed_records
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_question
from fin_agent.index.protocol import PageKey
from fin_agent.models.metering import Meter, metered, usage_of
from fin_agent.presentation.answers import answer_view, rounds_view, usage_view
from fin_agent.presentation.terminal_text import one_line
from fin_agent.query.question_to_intent import known_names
from fin_agent.query.reading import read_question
from fin_agent.runs.run import StepTime, index_state
from fin_agent.runs.store import Recorder
from fin_agent.workspace import Workspace

EXPORTS = (".html", ".xlsx", ".csv")
REPLIES = "replies.sqlite"
_JOBS_BY_MODEL = 4
"""Questions at once with a model, since most of the time is spent waiting for it."""


@command
def ask(
    question: str,
    on: IndexOptions,
    models: AnswerOptions,
    doc: list[str] | None = None,
    trace: bool = False,
    explain: bool = False,
    export: Path | None = None,
    no_record: bool = False,
) -> ExitCode:
    """Answer a question with its figures, program and pages, or refuse it and say what is missing."""
    if explain:
        with on.open_workspace() as workspace:
            query = read_question(question, known_names(workspace))
        print(query.model_dump_json(exclude_none=True, ensure_ascii=True))
        return ExitCode.DONE
    settings = models.settings()
    if export is not None and export.suffix.lower() not in EXPORTS:
        raise QuestionError(
            "answers cannot be written to this kind of file",
            subject=str(export),
            remedy=f"Name a file that ends in {', '.join(EXPORTS)}",
        )
    with on.open_workspace() as workspace, recorder_for(workspace, on, settings, not no_record) as recorder:
        started, ends = datetime.now(UTC), [("", time.perf_counter())]
        context = AnswerContext.from_settings(workspace, settings, notify=warn)
        with progress_shown():
            answer = answer_question(
                question, context, doc_ids=doc, on_step=lambda node: ends.append((node, time.perf_counter()))
            )
        steps = [StepTime(node=node, seconds=round(end - begin, 4)) for (_, begin), (node, end) in pairwise(ends)]
        recorded = recorder.record(answer, started=started, doc_ids=doc or (), steps=steps)
        if export is not None:
            from fin_agent.presentation.exports import drawn_page, exported

            # A report leaves out pages that cannot be drawn, with a warning.
            picture = partial(drawn_page, workspace, notify=warn)
            atomic_write(export, exported(export.suffix.lower().removeprefix("."), [answer], picture))
            say(f"written to {export}")
        if on.as_json:
            print(answer_json(answer, trace=trace))
        else:
            rounds = [rounds_view(answer.trace, searched=answer.rounds > 0, full=True)] if trace else []
            show(answer_view(answer, workspace.index), *rounds)
    if recorded and messages().is_terminal:
        # Only on a terminal: a pipe gets the answer alone, and `runs list` lists the run.
        where = f" --index {on.index}" if on.index is not None else ""
        messages().print(Text(f"run {recorded}: fin-agent runs show last{where}", style="dim"), soft_wrap=True)
    return ExitCode.REFUSED if answer.refused else ExitCode.DONE


@contextmanager
def progress_shown() -> Iterator[None]:
    """Show on a terminal the current step and the models that are called, while the block runs."""
    console = messages()
    if not console.is_terminal:
        yield
        return
    line = ["reading the question"]

    def update(event: Event) -> None:
        update_line(line, event)
        status.update(Text(one_line(" · ".join(dict.fromkeys(line)), max(8, console.width - 3))))

    with console.status(line[0]) as status, event_listener(update):
        yield


def update_line(line: list[str], event: Event) -> None:
    """Change a line, the current step and then the models that are called, as an event tells."""
    match event:
        case StepBegun():
            again = f", round {event.round}" if event.round > 1 else ""
            line[0] = f"{event.node.replace('_', ' ')}{again}"
        case CallBegun():
            line.append(f"{event.role} by {event.model}")
        case CallEnded() if (called := f"{event.role} by {event.model}") in line:
            line.remove(called)


class BatchQuestion(BaseModel):
    """A line of the input; other fields are ignored."""

    model_config = ConfigDict(frozen=True, str_strip_whitespace=True)

    question: Annotated[StrictStr, Field(min_length=1)]
    id: Annotated[StrictStr | None, BeforeValidator(lambda given: str(given) if type(given) is int else given)] = None
    doc_ids: tuple[StrictStr, ...] | None = None

    @property
    def key(self) -> str:
        """The identity of the question in the batch: its words, and the filings to search."""
        return json.dumps([self.question, *(self.doc_ids or ())])


@command
def batch(
    questions: Path,
    out: Path,
    on: IndexOptions,
    models: AnswerOptions,
    jobs: int | None = None,
    no_cache: bool = False,
    no_record: bool = False,
) -> ExitCode:
    """Answer a file of questions. A line that cannot be answered is reported with its number, and the batch goes on.

    A batch that was stopped resumes if it is run again with the same --out.
    """
    from fin_agent.process_pool import exclude_current_folder

    started = time.perf_counter()
    settings = models.settings()
    if settings.by_model:
        cache = None if no_cache else settings.models.cache or on.chosen.folder / REPLIES
        settings = settings.model_copy(update={"models": settings.models.model_copy(update={"cache": cache})})
    lines, failures = lines_of(questions)
    total = len(lines) + len(failures)
    if out.exists() and out.samefile(questions):
        raise QuestionError("the answers would replace the questions", subject=str(out), remedy="Give another --out")
    meter = Meter(settings.models.batch_budget, of="batch")
    with on.open_workspace() as workspace, recorder_for(workspace, on, settings, not no_record) as recorder:
        context = AnswerContext.from_settings(workspace, settings, notify=warn)
        require_writable_path(out)
        own = sorted(settings.prompts.rglob("*.md")) if settings.prompts is not None else []
        held = index_state(workspace.index, on.chosen.folder).fingerprint
        run = (settings.model_dump_json(), held, installed_version(), [file.read_bytes() for file in own])
        kept = PartialResults(out.with_name(f"{out.name}.part"), run, Answer)
        answers = {
            number: answer.model_copy(update={"id": asked.id})
            for number, asked in lines.items()
            if (answer := kept.take(asked.key)) is not None
        }
        if reused := len(answers):
            say(f"{reused} answers are reused from {kept.path}")
        for number, reason in failures.items():
            say(f"line {number}: failed: {reason}")
        left = [(number, asked) for number, asked in lines.items() if number not in answers]
        progress = Progress(len(left))
        try:
            with exclude_current_folder():
                for number, begun, tried in _answered(left, context, settings, meter, jobs, on):
                    asked, answers[number] = lines[number], tried.answer
                    if tried.failure:
                        failures[number] = tried.failure
                        progress.step(f"line {number}: failed: {tried.failure}", problem=True)
                        continue
                    if not _without_model(tried.answer):
                        kept.add(asked.key, tried.answer)
                    recorder.record(tried.answer, started=begun, doc_ids=asked.doc_ids or ())
                    outcome = "refused" if tried.answer.refused else "answered"
                    label = asked.id or one_line(asked.question, 60)
                    progress.step(f"{outcome} in {tried.answer.seconds:.2f} s: {label}")
        except BaseException:
            say(f"the answers so far are in {kept.path}; run the same command again to continue")
            raise
        atomic_write(out, "".join(f"{answer_json(answers[number])}\n" for number in sorted(answers)).encode())
        kept.finish()
    told = {"questions": total, "kept": reused, "out": str(out)}
    _show(answers, dict(sorted(failures.items())), told, meter, time.perf_counter() - started, on)
    if failures:
        say(f"{len(failures)} of {total} lines of {questions} failed: {', '.join(map(str, sorted(failures)))}")
    return ExitCode.SOME_FAILED if failures else ExitCode.DONE


def _show(
    answers: Mapping[int, Answer],
    failures: Mapping[int, str],
    told: Mapping[str, Any],
    meter: Meter,
    seconds: float,
    on: IndexOptions,
) -> None:
    """Show the counts, what went wrong with models, and the usage of this run."""
    refused = sum(answer.refused for number, answer in answers.items() if number not in failures)
    answered = told["questions"] - len(failures) - refused
    warned = sum(bool(answer.warnings) for answer in answers.values())
    cut_short = [answer.usage.left_out for answer in answers.values() if answer.usage.left_out]
    left_out = list(dict.fromkeys(line.partition(";")[0] for lines in cut_short for line in lines))
    usage = usage_of(meter.records, left_out)
    shown: list[RenderableType] = [
        f"{answered} answered, {refused} refused, {len(failures)} failed, in {seconds:.1f} s. Answers: {told['out']}"
    ]
    if warned:
        shown.append(f"{warned} with warnings: a model failed or was overruled, and rules answered.")
        if meter.records and not any(call.usage.output for call in meter.records):
            shown.append("All model calls failed, and rules gave all answers. `fin-agent doctor` finds the cause.")
    if cut_short:
        shown.append(f"{len(cut_short)} answers ran out of budget, and rules answered instead:")
        shown += [f"  {line}" for line in left_out]
    if usage.roles:
        shown += ["", usage_view(usage, questions=len(answers) - told["kept"])]
    document = {
        **told,
        "answered": answered,
        "refused": refused,
        "failed": [{"line": number, "reason": reason} for number, reason in failures.items()],
        "warned": warned,
        "cut_short": len(cut_short),
        "seconds": round(seconds, 3),
        "usage": usage.model_dump(mode="json"),
    }
    on.show(document, *shown)


_Line = tuple[int, BatchQuestion]
_LineResult = tuple[int, datetime, AnsweredQuestion]
"""The number of a line, from 1, when it was asked in UTC, and its answer."""


def _answered(
    lines: Sequence[_Line], context: AnswerContext, settings: Settings, meter: Meter, jobs: int | None, on: IndexOptions
) -> Iterator[_LineResult]:
    """Return the results of the lines as they come: by rules from processes, by models from threads."""
    waits_for_models = settings.by_model or any((settings.chat_model, settings.card_model, settings.judge_model))
    jobs = jobs or (_JOBS_BY_MODEL if settings.by_model else 1)
    # Rules are bound by the processor: more processes than cores only cost their start.
    jobs = jobs if waits_for_models else min(jobs, os.cpu_count() or 1)
    # With models, threads are enough, and one process can meter all calls.
    if jobs == 1 or on.debug or waits_for_models:
        here = partial(_answer_line, context=context, meter=meter, debug=on.debug)
        return results_as_completed(here, lines, ThreadPoolExecutor(jobs) if jobs > 1 else None)
    from concurrent.futures import ProcessPoolExecutor

    # Fork from a server process without threads that has imported everything once.
    forked = "forkserver" in multiprocessing.get_all_start_methods()
    started_by = multiprocessing.get_context("forkserver" if forked else "spawn")
    started_by.set_forkserver_preload([__name__])
    there = partial(_answer_in_process, on.chosen.place, settings.model_dump_json())
    processes = ProcessPoolExecutor(min(jobs, max(1, len(lines))), started_by, _initialize_process)
    return results_as_completed(there, lines, processes)


def _initialize_process() -> None:
    from fin_agent.process_pool import end_with_parent

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    end_with_parent()


@lru_cache(maxsize=1)
def _context_of_process(place: Path | str, settings: str) -> AnswerContext:
    return AnswerContext.from_settings(place, Settings.model_validate_json(settings))


def _answer_in_process(place: Path | str, settings: str, line: _Line) -> _LineResult:
    """Run `_answer_line` in a worker process, where no model is called."""
    return _answer_line(line, _context_of_process(place, settings), Meter())


def _answer_line(line: _Line, context: AnswerContext, meter: Meter, debug: bool = False) -> _LineResult:
    begun, (number, asked) = datetime.now(UTC), line
    with metered(meter):
        tried = attempt(asked.question, context, doc_ids=asked.doc_ids, question_id=asked.id, debug=debug)
    return number, begun, tried


def _without_model(answer: Answer) -> bool:
    """Return whether rules answered because no model was available or no budget was left, so that nothing was paid."""
    usage = answer.usage
    return bool(usage.left_out or answer.warnings) and not usage.input_tokens + usage.output_tokens


def lines_of(questions: Path) -> tuple[dict[int, BatchQuestion], dict[int, str]]:
    """Return the questions by line, from 1, and for each other line that is not blank why it is none.

    Raises QuestionError if there is no such line.
    """
    found = {number: each for _, number, each in parsed_records(questions, BatchQuestion)}
    if not found:
        raise QuestionError(
            "no questions", subject=str(questions), remedy='Give one JSON object per line: {"question": "..."}'
        )
    faults = {number: each for number, each in found.items() if isinstance(each, str)}
    return {number: each for number, each in found.items() if not isinstance(each, str)}, faults


def answer_json(answer: Answer, *, trace: bool = False) -> str:
    """Return an answer as one line of JSON in ASCII, with its trace only if requested."""
    return answer.model_dump_json(exclude=None if trace else {"trace"}, ensure_ascii=True)


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
    said = AnswerValue(text=refusal_text([reason]))
    return Answer(id=question_id, question=question, answer=said, refused=True, missing=(reason,))


Input = TypeVar("Input")
Result = TypeVar("Result")


def results_as_completed(
    do: Callable[[Input], Result], given: Sequence[Input], executor: Executor | None
) -> Iterator[Result]:
    """Yield results in order of completion, or one after the other in this thread without an executor.

    What `do` raises, or Ctrl-C, ends the iteration: no further job begins, and those in progress are waited for.
    """
    if executor is None:
        yield from map(do, given)
        return
    with executor as pool:
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
