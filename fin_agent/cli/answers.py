"""Answers as JSON, many of them in a row, and in a file that is whole once it is there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TextIO

from fin_agent.answering.answer import Answer, AnswerValue
from fin_agent.cli.exits import sentence_of
from fin_agent.cli.streams import say
from fin_agent.errors import FinAgentError
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import answer_question
from fin_agent.graphs.answer.question_scope import refusal_text
from fin_agent.index.protocol import PageKey
from fin_agent.written_file import check_place, writing


def answer_json(answer: Answer, *, trace: bool = False) -> str:
    """The published contract as one line of JSON; the audit trace is added only where asked for."""
    # U+2028 and its like end a line for some readers of JSON Lines.
    line = answer.model_dump_json(exclude=None if trace else {"trace"})
    return line.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\u0085", "\\u0085")


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
    """Answer one of many questions: one that fails does not end the run, unless `debug` wants to see it."""
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


class AnswersFile:
    """A file of answers, a line each. Written under `NAME.part` as they come; it gets its name when all are there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unfinished = path.with_name(f"{path.name}.part")
        self.written = 0
        self._file: TextIO | None = None

    def __enter__(self) -> AnswersFile:
        check_place(self.path)
        with writing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.unfinished.open("w", encoding="utf-8", newline="\n")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._file is not None
        if kind is None:
            with writing(self.path):
                self._file.close()
                self.unfinished.replace(self.path)
        else:
            with suppress(OSError):  # what a full disk did not take comes up again here
                self._file.close()
            say(f"the {self.written} answers so far are in {self.unfinished}")

    def write(self, answer: Answer) -> dict[str, object]:
        """Add a line; it is on its way to the disk when this returns. Gives back what was written."""
        assert self._file is not None
        line = answer_json(answer)
        with writing(self.path):
            self._file.write(f"{line}\n")
            self._file.flush()
        self.written += 1
        written: dict[str, object] = json.loads(line)
        return written
