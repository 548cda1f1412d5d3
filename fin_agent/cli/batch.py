"""`fin-agent batch`."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr
from rich.console import RenderableType

from fin_agent.answering.answer import Answer
from fin_agent.atomic_write import atomic_write, require_writable_path
from fin_agent.cli.answer_jobs import answer_json, attempt, recorder_for, results_as_completed, with_reply_cache
from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import AnswerOptions, IndexOptions, NoRecord, command
from fin_agent.cli.streams import Progress, say, warn
from fin_agent.config import Settings
from fin_agent.distribution import installed_version
from fin_agent.errors import QuestionError
from fin_agent.evaluation.benchmark import AnsweredQuestion, PartialResults, parsed_records
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.models.costs import usage_of
from fin_agent.models.metering import Meter, metered
from fin_agent.presentation.answers import usage_view
from fin_agent.presentation.terminal_text import one_line
from fin_agent.process_pool import end_with_parent, exclude_current_folder
from fin_agent.runs.run import index_state

_JOBS_BY_MODEL = 4
"""Questions at once with a model, since most of the time is spent waiting for it."""


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

    @property
    def label(self) -> str:
        """Its id, else the beginning of its text."""
        return self.id or one_line(self.question, 60)


@command
def batch(
    questions: Path,
    out: Path,
    on: IndexOptions,
    models: AnswerOptions,
    jobs: Annotated[int | None, typer.Option(min=1, max=64)] = None,
    no_cache: bool = False,
    no_record: NoRecord = False,
) -> ExitCode:
    """Answer a file of questions. A line that cannot be answered is reported with its number, and the batch goes on.

    A batch that was stopped resumes if it is run again with the same --out.

    On the command line:
        questions (QUESTIONS.jsonl): One JSON object per line: `question`, and optionally `id` and `doc_ids` (the
            filings to search).
        out (--out ANSWERS.jsonl): File for the answers, one line of JSON per question, in order.
        jobs (--jobs N): Questions at once: by rules in processes, one per core at most. By default 1 by rules, 4 by a
            model.
        no_cache (--no-cache): Neither store replies of models nor reuse them; otherwise `replies.sqlite` next to the
            index stores them.
    """
    started = time.perf_counter()
    settings = with_reply_cache(models.settings(), on, wanted=not no_cache)
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
        answers: dict[int, Answer] = {}
        for number, asked in lines.items():
            if (answer := kept.take(asked.key)) is not None:
                answers[number] = answer.model_copy(update={"id": asked.id})
        if reused := len(answers):
            say(f"{reused} answers are reused from {kept.path}")
        for number, reason in failures.items():
            say(f"line {number}: failed: {reason}")
        left = [(number, asked) for number, asked in lines.items() if number not in answers]
        try:
            progress = Progress(len(left))
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
                    progress.step(f"{outcome} in {tried.answer.seconds:.2f} s: {asked.label}")
        except BaseException:
            say(f"the answers so far are in {kept.path}; run the same command again to continue")
            raise
        in_order = [answer for _, answer in sorted(answers.items())]
        atomic_write(out, "".join(f"{answer_json(answer)}\n" for answer in in_order).encode())
        kept.finish()
    failures = dict(sorted(failures.items()))
    told = {"questions": total, "kept": reused, "out": str(out)}
    _show(answers, failures, told, meter, time.perf_counter() - started, on)
    if not failures:
        return ExitCode.DONE
    say(f"{len(failures)} of {total} lines of {questions} failed: {', '.join(map(str, failures))}")
    return ExitCode.SOME_FAILED


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
"""A line of the file with its number, from 1."""
_LineResult = tuple[int, datetime, AnsweredQuestion]
"""The number of a line, when it was asked in UTC, and its answer."""


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
        return results_as_completed(here, lines, jobs)
    # Fork from a server process without threads that has imported everything once.
    forked = "forkserver" in multiprocessing.get_all_start_methods()
    started_by = multiprocessing.get_context("forkserver" if forked else "spawn")
    started_by.set_forkserver_preload([__name__])
    there = partial(_answer_in_process, on.chosen.place, settings.model_dump_json())
    processes = partial(ProcessPoolExecutor, mp_context=started_by, initializer=_initialize_process)
    return results_as_completed(there, lines, jobs, processes)


def _initialize_process() -> None:
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
    lines = {number: each for number, each in found.items() if not isinstance(each, str)}
    faults = {number: each for number, each in found.items() if isinstance(each, str)}
    if not lines and not faults:
        raise QuestionError(
            "no questions", subject=str(questions), remedy='Give one JSON object per line: {"question": "..."}'
        )
    return lines, faults
