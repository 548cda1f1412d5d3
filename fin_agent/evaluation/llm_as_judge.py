"""Answers judged by a chat model, beside what is measured without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from fin_agent.analyst.model.replies import Correctness, TextJudgeReply
from fin_agent.answering.answer import Answer
from fin_agent.models.errors import ModelError, RefusedByModelError, UnusableReplyError
from fin_agent.models.metering import Meter, metered

ReplyT = TypeVar("ReplyT")
_PATIENCE = 3
"""Answers in a row for which the judge may be out of reach before it is asked no more."""


class TextJudge(Protocol):
    """One who judges answers in words."""

    def judge(self, question: str, reference: str, answer: str) -> TextJudgeReply:
        """The verdict. Raises ModelError."""


class JudgeCalls:
    """Calls of a model that judges: what fails is told, and one out of reach is not asked for ever."""

    def __init__(self, meter: Meter, notify: Callable[[str], None]) -> None:
        self._meter = meter
        self._notify = notify
        self._lost = 0

    def asked(self, named: str, ask: Callable[[], ReplyT]) -> ReplyT | None:
        """What the judge replies about what is `named`; None where it could not be had."""
        try:
            if self._lost >= _PATIENCE:
                raise ModelError("the judge was out of reach before, and is not asked any more")
            with metered(self._meter):
                reply = ask()
        except ModelError as failure:
            self._lost = 0 if isinstance(failure, UnusableReplyError | RefusedByModelError) else self._lost + 1
            self._notify(f"{named}: not judged: {failure.what}")
            return None
        self._lost = 0
        return reply


class Judgement:
    """Says of one answer after another whether it is right."""

    def __init__(self, judge: TextJudge, meter: Meter, notify: Callable[[str], None]) -> None:
        self._judge = judge
        self._calls = JudgeCalls(meter, notify)

    def __call__(self, question: str, reference: str, answer: Answer) -> bool | None:
        """Whether an answer is right by `reference`; a refusal is not. None where the model could not judge."""
        if answer.refused:
            return False
        text = answer.answer.text
        reply = self._calls.asked(answer.id or question, lambda: self._judge.judge(question, reference, text))
        return None if reply is None else reply.verdict is Correctness.CORRECT
