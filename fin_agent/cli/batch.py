"""`fin-agent batch`."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr, ValidationError
from rich.console import RenderableType

from fin_agent.answering.answer import Answer
from fin_agent.atomic_write import atomic_write, require_writable_path
from fin_agent.cli.answer_jobs import (
    Attempt,
    answer_json,
    attempt,
    recorder_for,
    results_as_completed,
    with_reply_cache,
)
from fin_agent.cli.exit_codes import ExitCode
from fin_agent.cli.options import IndexOptions, ModelOptions, NoRecord, StrategyName, command
from fin_agent.cli.streams import Progress, say, warn
from fin_agent.config import Settings
from fin_agent.distribution import installed_version
from fin_agent.errors import QuestionError
from fin_agent.evaluation.benchmark import PartialResults
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.models.costs import usage_of
from fin_agent.models.metering import CallRecord, Meter, metered
from fin_agent.presentation.answers import usage_view
from fin_agent.process_pool import end_with_parent, exclude_current_folder
from fin_agent.runs.run import index_state
from fin_agent.runs.store import Recorder
from fin_agent.workspace import Workspace

_JOBS_BY_MODEL = 4
"""Questions at once where a model answers, and most of the time is spent waiting for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOptions:
    """How a batch is asked, beside its settings.

    Attributes:
        jobs (--jobs N): Questions at once, by rules in processes, one a core at most; not given: 1 by rules, 4 by a
            model.
        no_cache (--no-cache): Keep no replies of models and use none; else `replies.sqlite` beside the index has
            them.
    """

    jobs: Annotated[int | None, typer.Option(min=1, max=64)] = None
    no_cache: bool = False
    no_record: NoRecord = False


@command
def batch(
    questions: Path, out: Path, how: BatchOptions, on: IndexOptions, models: ModelOptions, strategy: StrategyName = None
) -> ExitCode:
    """Answer a file of questions. A line that cannot be answered is reported with its number and the rest goes on.

    A batch that was stopped, given again with the same --out, goes on where it was.

    On the command line:
        questions (QUESTIONS.jsonl): One JSON object a line: `question`, and where wanted `id` and `doc_ids` (search
            these filings only).
        out (--out ANSWERS.jsonl): Gets one line of JSON per question, in order.
    """
    started = time.perf_counter()
    settings = with_reply_cache(models.settings(strategy=strategy), on, wanted=not how.no_cache)
    lines = lines_of(questions)
    if out.exists() and out.samefile(questions):
        raise QuestionError("the answers would replace the questions", subject=str(out), remedy="Give another --out")
    with on.open_workspace() as workspace, recorder_for(workspace, on, settings, not how.no_record) as recorder:
        context = AnswerContext.from_settings(workspace, settings, notify=warn)
        require_writable_path(out)
        own = sorted(settings.prompts.rglob("*.md")) if settings.prompts is not None else []
        held = index_state(workspace.index, on.chosen.folder).fingerprint
        run = (settings.model_dump_json(), held, installed_version(), [file.read_bytes() for file in own])
        kept = PartialResults(out.with_name(f"{out.name}.part"), run, Answer)
        result = _Batch(context, settings, kept, recorder, how.jobs, on).answered(lines)
        atomic_write(out, "".join(f"{answer_json(answer)}\n" for answer in result.answers.values()).encode())
        kept.path.unlink()
    _show(result, out, time.perf_counter() - started, on)
    if not result.failures:
        return ExitCode.DONE
    named = ", ".join(map(str, result.failures))
    say(f"{len(result.failures)} of {len(lines)} lines of {questions} failed: {named}")
    return ExitCode.SOME_FAILED


@dataclass(frozen=True, slots=True)
class _LineResult:
    """What became of a line that was asked now."""

    line: Line
    begun: datetime
    tried: Attempt | None
    """None where the line is no question."""


class _Batch:
    """The questions of one batch, answered and kept one by one."""

    def __init__(
        self,
        context: AnswerContext,
        settings: Settings,
        kept: PartialResults[Answer],
        recorder: Recorder,
        jobs: int | None,
        on: IndexOptions,
    ) -> None:
        self._on = on
        self._settings = settings
        self._context = context
        self._kept = kept
        self._recorder = recorder
        asked = (settings.chat_model, settings.card_model, settings.judge_model)
        waits_for_models = settings.by_model or any(asked)
        jobs = jobs or (_JOBS_BY_MODEL if settings.by_model else 1)
        # What rules compute takes a processor: more processes than there are would only have to start as well.
        self._jobs = jobs if waits_for_models else min(jobs, os.cpu_count() or 1)
        # Threads serve where servers answer, and only one process adds up what they take.
        self._here = self._jobs == 1 or on.debug or waits_for_models
        self._meter = Meter(settings.models.batch_budget, of="batch")

    def answered(self, lines: Sequence[Line]) -> BatchResult:
        """All answers in the order of the lines; with what failed, and what calls took."""
        answers: dict[int, Answer] = {}
        for line in lines:
            if line.asked is not None and (answer := self._kept.take(line.asked.key)) is not None:
                answers[line.number] = answer.model_copy(update={"id": line.asked.id})
        earlier = len(answers)
        if earlier:
            say(f"{earlier} answers are reused from {self._kept.path}")
        try:
            failures = self._ask([line for line in lines if line.number not in answers], answers)
        except BaseException:
            say(f"the answers so far are in {self._kept.path}; run the same command again to continue")
            raise
        answers = {line.number: answers[line.number] for line in lines if line.number in answers}
        return BatchResult(len(lines), answers, earlier, failures, self._meter.records)

    def _ask(self, lines: Sequence[Line], answers: dict[int, Answer]) -> dict[int, str]:
        """Answer the lines, into `answers` by their number. Why others failed, by number and in order."""
        failures: dict[int, str] = {}
        here = partial(_answer_line, context=self._context, meter=self._meter, debug=self._on.debug)
        with Progress(len(lines), "answering", "questions") as progress, exclude_current_folder():
            if self._here:
                all_done = results_as_completed(here, lines, self._jobs)
            else:
                all_done = results_as_completed(
                    _answer_in_process, lines, self._jobs, self._processes, ahead=self._jobs
                )
            for done in all_done:
                if done.tried is not None:
                    answers[done.line.number] = done.tried.answer
                if reason := done.line.fault if done.tried is None else done.tried.failure:
                    failures[done.line.number] = reason
                    progress.step(f"line {done.line.number}: failed: {reason}", problem=True)
                    continue
                assert done.tried is not None and done.line.asked is not None
                answer, asked = done.tried.answer, done.line.asked
                if not _without_model(answer):
                    self._kept.add(asked.key, answer)
                self._recorder.record(answer, started=done.begun, doc_ids=asked.doc_ids or ())
                outcome = "refused" if answer.refused else "answered"
                progress.step(f"{outcome} in {answer.seconds:.2f} s: {asked.label}")
        return dict(sorted(failures.items()))

    def _processes(self, jobs: int) -> Executor:
        """Processes that share the index's file, each with its own connection."""
        # They are forked from a process that has imported all this and has no threads: imports are paid for once.
        forked = "forkserver" in multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("forkserver" if forked else "spawn")
        context.set_forkserver_preload([__name__])
        return ProcessPoolExecutor(
            jobs, context, _initialize_process, (self._on.chosen.place, self._settings.model_dump_json())
        )


_opened: AnswerContext | None = None
"""In a process that answers questions of a batch: what it answers with."""


def _initialize_process(place: Path | str, settings: str) -> None:
    global _opened
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it says when it ends
    end_with_parent()
    _opened = AnswerContext.from_settings(Workspace.open(place), Settings.model_validate_json(settings))


def _answer_in_process(line: Line) -> _LineResult:
    """As `_answer_line`, in a process of its own, where no model is called."""
    assert _opened is not None
    return _answer_line(line, _opened, Meter())


def _answer_line(line: Line, context: AnswerContext, meter: Meter, debug: bool = False) -> _LineResult:
    begun, asked = datetime.now(UTC), line.asked
    if asked is None:
        return _LineResult(line, begun, None)
    with metered(meter):
        tried = attempt(asked.question, context, doc_ids=asked.doc_ids, question_id=asked.id, debug=debug)
    return _LineResult(line, begun, tried)


def _without_model(answer: Answer) -> bool:
    """Whether rules answered as no model could be had, or no budget allowed one: to ask again pays nothing twice."""
    usage = answer.usage
    return bool(usage.left_out or answer.warnings) and not usage.input_tokens + usage.output_tokens


_SHOWN = 60
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class BatchQuestion(BaseModel):
    """A line of the input; other fields are left alone."""

    model_config = ConfigDict(frozen=True)

    question: Annotated[StrictStr, Field(pattern=r"\S")]
    id: Annotated[StrictStr | None, BeforeValidator(lambda given: str(given) if type(given) is int else given)] = None
    doc_ids: tuple[StrictStr, ...] | None = None

    @property
    def key(self) -> str:
        """What tells it from other questions of the batch: its words, and the filings it is kept to."""
        return json.dumps([self.question, *(self.doc_ids or ())])

    @property
    def label(self) -> str:
        """What it is called where many are: its id, else how it begins."""
        text = " ".join(self.question.split())
        return self.id or (text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the file that is not blank; `number` counts all lines from 1."""

    number: int
    asked: BatchQuestion | None
    fault: str = ""
    """Why it is no question, where it is none."""


def lines_of(questions: Path) -> list[Line]:
    """All lines that are not blank. Raises QuestionError where there is none."""
    content = questions.read_bytes().removeprefix(_BYTE_ORDER_MARK)
    stripped = ((number, line.strip()) for number, line in enumerate(content.split(b"\n"), start=1))
    found = [_read(number, line) for number, line in stripped if line]
    if not found:
        raise QuestionError(
            "no questions", subject=str(questions), remedy='Give one JSON object a line: {"question": "..."}'
        )
    return found


def _read(number: int, line: bytes) -> Line:
    try:
        return Line(number, BatchQuestion.model_validate_json(line))
    except ValidationError as failure:
        return Line(number, None, _fault(failure))


def _fault(failure: ValidationError) -> str:
    first = failure.errors()[0]
    where = ".".join(map(str, first["loc"]))
    if first["type"] == "json_invalid":
        return f"not JSON ({first['msg'].removeprefix('Invalid JSON: ')})"
    if not where:
        return "not a JSON object with a `question`"
    if first["type"] == "missing":
        return f"no `{where}`"
    if first["type"] == "string_pattern_mismatch":
        return f"`{where}` is empty"
    return f"`{where}`: {first['msg'][:1].lower()}{first['msg'][1:]}"


_MAX_TOLD = 5
_VARYING = re.compile(r"(?<=: )['\"].*['\"]$| \([\d.,]+ are spent or under way\)?")
"""What is another one with each answer: a quotation, and what was spent before a call was left out."""


@dataclass(frozen=True, slots=True)
class BatchResult:
    """All answers, and what they took."""

    lines: int
    answers: Mapping[int, Answer]
    """By the number of their line, in order; refusals in place of those that failed are among them."""
    kept: int
    """How many of them an interrupted batch had left."""
    failures: Mapping[int, str]
    """Why a line got no answer, by its number."""
    calls: tuple[CallRecord, ...]
    """Made now."""

    @property
    def refused(self) -> int:
        """How many questions were refused; failures are not counted."""
        return sum(answer.refused for number, answer in self.answers.items() if number not in self.failures)

    @property
    def answered(self) -> int:
        """Lines that were neither refused nor failed."""
        return self.lines - len(self.failures) - self.refused


def _show(result: BatchResult, out: Path, seconds: float, on: IndexOptions) -> None:
    warned = [answer for answer in result.answers.values() if answer.warnings]
    cut_short = [answer for answer in result.answers.values() if answer.usage.left_out]
    left_out = _most_common(line.partition(";")[0] for answer in cut_short for line in answer.usage.left_out)
    usage = usage_of(result.calls, left_out)
    document = {
        "questions": result.lines,
        "answered": result.answered,
        "refused": result.refused,
        "failed": [{"line": number, "reason": reason} for number, reason in result.failures.items()],
        "kept": result.kept,
        "warned": len(warned),
        "cut_short": len(cut_short),
        "out": str(out),
        "seconds": round(seconds, 3),
        "usage": usage.model_dump(mode="json"),
    }
    counts = f"{result.answered} answered, {result.refused} refused, {len(result.failures)} failed"
    lines: list[RenderableType] = [f"{counts}, in {seconds:.1f} s. Answers: {out}"]
    if warned:
        carry = "answer carries" if len(warned) == 1 else "answers carry"
        lines.append(f"{len(warned)} {carry} warnings: rules answered where a model failed, or said otherwise.")
        told = _most_common(warning for answer in warned for warning in dict.fromkeys(answer.warnings))
        lines += [f"  {line}" for line in told]
        if result.calls and not any(call.usage.output for call in result.calls):
            lines.append("No call of a model was answered: rules gave all answers. `fin-agent doctor` says what to do.")
    if cut_short:
        lines.append(f"{len(cut_short)} answers were cut short by a budget, and rules did what it left out:")
        lines += [f"  {line}" for line in left_out]
    if usage.roles:
        lines += ["", usage_view(usage, questions=len(result.answers) - result.kept)]
    on.show(document, *lines)


def _most_common(lines: Iterable[str]) -> list[str]:
    """Each line with how often it was said, the most common first; what only quotes and amounts tell apart is one."""
    counted = Counter(_VARYING.sub("...", line) for line in lines)
    ordered = sorted(counted.items(), key=lambda each: (-each[1], each[0]))
    told = [f"{count} x {line}" for line, count in ordered[:_MAX_TOLD]]
    others = len(ordered) - len(told)
    return [*told, f"and {others} others, which the answers have"] if others else told
