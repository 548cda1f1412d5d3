"""`fin-agent batch`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from fin_agent.answering.answer import Answer
from fin_agent.cli.answers import Attempt, attempt
from fin_agent.cli.answers_kept import AnswersKept
from fin_agent.cli.at_once import each_done
from fin_agent.cli.batch_lines import AskedQuestion, Line, lines_of
from fin_agent.cli.batch_result import BatchResult, FailedLine, show_result
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import chosen_index, opened
from fin_agent.cli.progress import Progress
from fin_agent.cli.recording import recorder_for
from fin_agent.cli.replies import with_replies_kept
from fin_agent.cli.streams import say, warn
from fin_agent.config import Settings
from fin_agent.errors import QuestionError
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.models.metering import Budget, CallRecord, Meter, metered
from fin_agent.runs.run import asking_fingerprint, index_state, question_fingerprint
from fin_agent.runs.store import Recorder

_JOBS_BY_MODEL = 4
"""Questions at once where a model answers, and most of the time is spent waiting for it."""


@dataclass(frozen=True, slots=True)
class HowAsked:
    """How a batch is asked, beside its settings."""

    jobs: int | None = None
    """Questions at once; None for one where rules answer, several where a model does."""
    restart: bool = False
    """Ask everything anew, whatever an interrupted batch has left."""
    cache: bool = True
    """Keep and use replies of models."""
    record: bool = True
    debug: bool = False


def answer_batch(
    questions: Path, out: Path, given: Path | None, settings: Settings, *, how: HowAsked, as_json: bool
) -> ExitCode:
    """Answer every line of `questions` into `out`; SOME_FAILED where a line failed.

    A line that is no question gets no line in `out`. One that is, but whose answering fails (an unknown `doc_ids`),
    gets a refusal that says so, so that answers stay beside their questions. What a batch that was stopped answered
    of the same questions, in the same way, is taken up.
    """
    started = time.perf_counter()
    settings = with_replies_kept(settings, given, wanted=how.cache)
    lines = lines_of(questions)
    if out.exists() and out.samefile(questions):
        raise QuestionError("the answers would replace the questions", subject=str(out), remedy="Give another --out")
    with opened(given) as workspace, recorder_for(workspace, given, settings, how.record) as recorder:
        context = AnswerContext.from_settings(workspace, settings, notify=warn)
        asking = asking_fingerprint(settings, index_state(workspace.index, chosen_index(given).folder))
        with AnswersKept(out, restart=how.restart) as kept:
            result = _Batch(context, settings, asking, kept, recorder, how).answered(lines)
    show_result(result, out, time.perf_counter() - started, as_json=as_json)
    if not result.failures:
        return ExitCode.DONE
    named = ", ".join(str(failure.line) for failure in result.failures)
    say(f"{len(result.failures)} of {len(lines)} lines of {questions} failed: {named}")
    return ExitCode.SOME_FAILED


@dataclass(frozen=True, slots=True)
class _Done:
    """What became of a line that was asked now."""

    line: Line
    asked: AskedQuestion
    key: str
    begun: datetime
    tried: Attempt


class _Batch:
    """The questions of one batch, answered and kept one by one."""

    def __init__(
        self,
        context: AnswerContext,
        settings: Settings,
        asking: str,
        kept: AnswersKept,
        recorder: Recorder,
        how: HowAsked,
    ) -> None:
        self._context = context
        self._asking = asking
        self._kept = kept
        self._recorder = recorder
        self._how = how
        self._jobs = how.jobs or (_JOBS_BY_MODEL if settings.by_model else 1)
        self._meter = _NotedMeter(settings.models.batch_budget, kept)

    def answered(self, lines: Sequence[Line]) -> BatchResult:
        """All answers in the order of the lines, published; with what failed, and what calls took."""
        answers = self._taken_up(lines)
        earlier = len(answers)
        if earlier:
            say(f"{earlier} answers are kept from {self._kept.unfinished} (--restart asks for all of them anew)")
        elif self._kept.left:
            raise QuestionError(
                f"{self._kept.unfinished} holds answers of a stopped batch that was asked in another way: with other"
                " settings, another index or other questions",
                subject=str(self._kept.unfinished),
                remedy="Ask as before to go on with it, give another --out, or --restart to begin anew without it",
            )
        failures = self._ask([line for line in lines if line.number not in answers], answers)
        in_order = [answers[line.number] for line in lines if line.number in answers]
        self._kept.publish(in_order)
        return BatchResult(
            lines=len(lines),
            answers=tuple(in_order),
            kept=earlier,
            failures=tuple(failures),
            calls=self._meter.records,
            earlier_calls=self._kept.calls,
        )

    def _taken_up(self, lines: Sequence[Line]) -> dict[int, Answer]:
        """Answers of an interrupted batch, by the number of their line now."""
        found: dict[int, Answer] = {}
        for line in lines:
            if line.asked is not None and (answer := self._kept.take(self._key(line.asked))) is not None:
                found[line.number] = answer.model_copy(update={"id": line.asked.id})
        return found

    def _ask(self, lines: Sequence[Line], answers: dict[int, Answer]) -> list[FailedLine]:
        """Answer the lines, into `answers` by their number. Gives back those that failed."""
        failures: list[FailedLine] = []
        with Progress(len(lines), "answering", "questions") as progress:

            def failed(line: Line, reason: str) -> None:
                failures.append(FailedLine(line.number, reason))
                progress.step(f"line {line.number}: failed: {reason}", problem=True)

            for done in each_done(self._one, lines, self._jobs):
                if isinstance(done, Line):
                    failed(done, done.fault)
                    continue
                answer = answers[done.line.number] = done.tried.answer
                if done.tried.failure:
                    failed(done.line, done.tried.failure)
                    continue
                self._kept.add(done.key, answer)
                self._recorder.record(answer, started=done.begun, doc_ids=done.asked.doc_ids or ())
                outcome = "refused" if answer.refused else "answered"
                progress.step(f"{outcome} in {answer.seconds:.2f} s: {done.asked.short}")
        return sorted(failures, key=lambda failure: failure.line)

    def _one(self, line: Line) -> _Done | Line:
        """The line as it was, where it is no question."""
        asked = line.asked
        if asked is None:
            return line
        begun = datetime.now(UTC)
        with metered(self._meter):
            tried = attempt(
                asked.question, self._context, doc_ids=asked.doc_ids, question_id=asked.id, debug=self._how.debug
            )
        return _Done(line, asked, self._key(asked), begun, tried)

    def _key(self, asked: AskedQuestion) -> str:
        return question_fingerprint(self._asking, asked.question, asked.doc_ids or ())


class _NotedMeter(Meter):
    """The meter of a batch, which goes on from the calls that were kept, and keeps each further one."""

    def __init__(self, budget: Budget, kept: AnswersKept) -> None:
        super().__init__(budget, kept.calls, of="batch")
        self._kept = kept

    def add(self, record: CallRecord) -> None:
        """See Meter.add."""
        super().add(record)
        self._kept.note(record)
