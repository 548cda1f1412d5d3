"""`fin-agent batch`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr, ValidationError

from fin_agent.cli.answers import AnswersFile, attempt
from fin_agent.cli.exits import ExitCode
from fin_agent.cli.indexes import opened
from fin_agent.cli.progress import Progress
from fin_agent.cli.recording import recorder_for
from fin_agent.cli.streams import say, show, show_json, warn
from fin_agent.config import settings_from_environment
from fin_agent.errors import QuestionError
from fin_agent.graphs.answer.context import AnswerContext

_SHOWN = 60
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class AskedQuestion(BaseModel):
    """A line of the input; other fields are left alone."""

    model_config = ConfigDict(frozen=True)

    question: Annotated[StrictStr, Field(pattern=r"\S")]
    id: Annotated[StrictStr | None, BeforeValidator(lambda given: str(given) if type(given) is int else given)] = None
    doc_ids: tuple[StrictStr, ...] | None = None


@dataclass(frozen=True, slots=True)
class FailedLine:
    """A line that got no answer, and why."""

    line: int
    reason: str


def answer_batch(
    questions: Path,
    out: Path,
    given: Path | None,
    *,
    strategy: str,
    record: bool = True,
    as_json: bool,
    debug: bool,
) -> ExitCode:
    """Answer every line of `questions` into `out`; SOME_FAILED where a line failed.

    A line that is no question gets no line in `out`. One that is, but whose answering fails (an unknown `doc_ids`),
    gets a refusal that says so, so that answers stay beside their questions.
    """
    started = time.perf_counter()
    settings = settings_from_environment(strategy=strategy)
    lines = list(_lines(questions))
    if out.exists() and out.samefile(questions):
        raise QuestionError("the answers would replace the questions", subject=str(out), remedy="Give another --out")
    failures: list[FailedLine] = []
    refused = 0
    with opened(given) as workspace, recorder_for(workspace, given, settings, record) as recorder:
        context = AnswerContext.by_rules(workspace, settings, notify=warn)
        with AnswersFile(out) as answers, Progress(len(lines), "answering", "questions") as progress:
            for number, line in lines:
                asked = read_line(line)
                if isinstance(asked, str):
                    failures.append(FailedLine(number, asked))
                    progress.step(f"line {number}: failed: {asked}", problem=True)
                    continue
                begun = datetime.now(UTC)
                tried = attempt(asked.question, context, doc_ids=asked.doc_ids, question_id=asked.id, debug=debug)
                answers.write(tried.answer)
                if tried.failure:
                    failures.append(FailedLine(number, tried.failure))
                    progress.step(f"line {number}: failed: {tried.failure}", problem=True)
                else:
                    recorder.record(tried.answer, started=begun, doc_ids=asked.doc_ids or ())
                    refused += tried.answer.refused
                    outcome = "refused" if tried.answer.refused else "answered"
                    progress.step(f"{outcome} in {tried.answer.seconds:.2f} s: {_short(asked)}")
    seconds = time.perf_counter() - started
    answered = len(lines) - len(failures) - refused
    if as_json:
        show_json(
            {
                "questions": len(lines),
                "answered": answered,
                "refused": refused,
                "failed": [{"line": failure.line, "reason": failure.reason} for failure in failures],
                "out": str(out),
                "seconds": round(seconds, 3),
            }
        )
    else:
        show(f"{answered} answered, {refused} refused, {len(failures)} failed, in {seconds:.1f} s. Answers: {out}")
    if not failures:
        return ExitCode.DONE
    named = ", ".join(str(failure.line) for failure in failures)
    say(f"{len(failures)} of {len(lines)} lines of {questions} failed: {named}")
    return ExitCode.SOME_FAILED


def read_line(line: bytes) -> AskedQuestion | str:
    """The question of a line, or what is wrong with the line."""
    try:
        return AskedQuestion.model_validate_json(line)
    except ValidationError as failure:
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


def _lines(questions: Path) -> Iterator[tuple[int, bytes]]:
    """(line number from 1, line) of every line that is not blank. Raises QuestionError where there is none."""
    content = questions.read_bytes().removeprefix(_BYTE_ORDER_MARK)
    found = [(number, line.strip()) for number, line in enumerate(content.split(b"\n"), start=1) if line.strip()]
    if not found:
        raise QuestionError(
            "no questions", subject=str(questions), remedy='Give one JSON object a line: {"question": "..."}'
        )
    yield from found


def _short(asked: AskedQuestion) -> str:
    text = " ".join(asked.question.split())
    return asked.id or (text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")
