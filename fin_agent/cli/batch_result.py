"""What came of a batch, for people and as JSON."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from fin_agent.answering.answer import Answer
from fin_agent.cli.streams import show, show_json
from fin_agent.models.costs import usage_of
from fin_agent.models.metering import CallRecord
from fin_agent.presentation.answers import usage_line, usage_view

_MOST_WARNINGS = 5
_QUOTED = re.compile(r"(?<=: )['\"].*['\"]$")
_SPENT = re.compile(r" \([\d.,]+ are spent or under way\)?")
"""Another number for each call that was left out."""


@dataclass(frozen=True, slots=True)
class FailedLine:
    """A line that got no answer, and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class BatchResult:
    """All answers, and what they took."""

    lines: int
    answers: tuple[Answer, ...]
    """In the order of the lines; refusals in place of those that failed are among them."""
    kept: int
    """How many of them an interrupted batch had left."""
    failures: tuple[FailedLine, ...]
    calls: tuple[CallRecord, ...]
    """Made now."""
    earlier_calls: tuple[CallRecord, ...]
    """Made by the batch that was interrupted."""

    @property
    def refused(self) -> int:
        """Refusals, those left out that stand for a failure. (A line that is no question has no answer.)"""
        return sum(answer.refused for answer in self.answers) - self._stand_ins

    @property
    def answered(self) -> int:
        """Lines that were neither refused nor failed."""
        return self.lines - len(self.failures) - self.refused

    @property
    def _stand_ins(self) -> int:
        return len(self.answers) - (self.lines - len(self.failures))

    @property
    def cut_short(self) -> tuple[Answer, ...]:
        """Answers for which calls were left out because a budget did not allow them."""
        return tuple(answer for answer in self.answers if answer.usage.left_out)

    @property
    def warned(self) -> tuple[Answer, ...]:
        """Answers that carry warnings."""
        return tuple(answer for answer in self.answers if answer.warnings)


def show_result(result: BatchResult, out: Path, seconds: float, *, as_json: bool) -> None:
    """On standard output."""
    usage = usage_of([*result.earlier_calls, *result.calls], _left_out(result))
    if as_json:
        show_json(
            {
                "questions": result.lines,
                "answered": result.answered,
                "refused": result.refused,
                "failed": [{"line": failure.line, "reason": failure.reason} for failure in result.failures],
                "kept": result.kept,
                "warned": len(result.warned),
                "cut_short": len(result.cut_short),
                "out": str(out),
                "seconds": round(seconds, 3),
                "usage": usage.model_dump(mode="json"),
                "usage_now": usage_of(result.calls).model_dump(mode="json"),
            }
        )
        return
    counts = f"{result.answered} answered, {result.refused} refused, {len(result.failures)} failed"
    show(f"{counts}, in {seconds:.1f} s. Answers: {out}")
    if result.warned:
        carry = "answer carries" if len(result.warned) == 1 else "answers carry"
        show(f"{len(result.warned)} {carry} warnings: rules answered where a model failed, or said otherwise.")
        told = _most_common_warnings(result)
        show(*(f"  {count} x {warning}" for warning, count in told[:_MOST_WARNINGS]))
        if len(told) > _MOST_WARNINGS:
            show(f"  and {len(told) - _MOST_WARNINGS} others, which the answers have")
        if result.calls and not any(call.usage.output for call in (*result.calls, *result.earlier_calls)):
            show("No call of a model was answered: rules gave all answers. `fin-agent doctor` says what to do.")
    if result.cut_short:
        show(f"{len(result.cut_short)} answers were cut short by a budget, and rules did what it left out:")
        show(*(f"  {line}" for line in usage.left_out))
    if usage.roles:
        show("", usage_view(usage, questions=len(result.answers)))
        if result.earlier_calls:
            show(f"Of these, before the batch was stopped: {usage_line(usage_of(result.earlier_calls))}.")


def _most_common_warnings(result: BatchResult) -> list[tuple[str, int]]:
    """Each warning and how many answers have it, the most common first; what only a quote tells apart is one."""
    counted = Counter(
        warning for answer in result.warned for warning in dict.fromkeys(_QUOTED.sub("...", w) for w in answer.warnings)
    )
    return sorted(counted.items(), key=lambda each: (-each[1], each[0]))


def _left_out(result: BatchResult) -> list[str]:
    """What budgets did not allow, by role and reason: `reasoning: 12 calls (the batch may take 5 dollars)`."""
    counted: Counter[tuple[str, str]] = Counter()
    for answer in result.cut_short:
        for line in answer.usage.left_out:
            role, _, reason = line.partition(" (")
            counted[role, _SPENT.sub("", reason.partition(";")[0].removesuffix(")"))] += 1
    return [
        f"{role}: {count} call{'' if count == 1 else 's'} ({reason})"
        for (role, reason), count in sorted(counted.items())
    ]
