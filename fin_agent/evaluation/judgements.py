"""Answers of a benchmark judged by a chat model, beside what is measured without one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from fin_agent.analyst.model.replies import Correctness, TextJudgeReply
from fin_agent.evaluation.answer_scoring import first_sentence
from fin_agent.evaluation.financebench import Row
from fin_agent.models.errors import ModelError, RefusedByModelError, UnusableReplyError

_PATIENCE = 3
"""Answers in a row for which the judge may be out of reach before it is asked no more."""


class TextJudge(Protocol):
    """One who judges answers in words."""

    def judged(self, question: str, reference: str, answer: str) -> TextJudgeReply:
        """The verdict. Raises ModelError."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an answer is worth, and who says so."""

    id: str
    question_type: str
    verdict: Correctness | None
    """None where the model could not judge, and rules cannot tell."""
    reason: str
    by_model: bool
    automatic: bool | None
    """Whether rules hold it for right, as `by_rules` does; None where they cannot tell."""

    @property
    def told(self) -> str:
        """The verdict in a word."""
        return self.verdict.value if self.verdict is not None else "cannot be told"


@dataclass(frozen=True, slots=True)
class Judged:
    """All judgements of a benchmark."""

    judgements: tuple[Judgement, ...]
    notes: tuple[str, ...] = ()
    """Where the model could not judge, and why."""

    def count(self, verdict: Correctness | None) -> int:
        """How many verdicts are this one, whoever gave them."""
        return sum(judgement.verdict is verdict for judgement in self.judgements)

    @property
    def compared(self) -> tuple[Judgement, ...]:
        """Those that the model judged and rules can tell too."""
        return tuple(each for each in self.judgements if each.by_model and each.automatic is not None)

    def agreement(self) -> dict[str, int | float | None]:
        """How often model and rules say the same of an answer, and Cohen's kappa of it; None where none is compared."""
        table = Counter((each.verdict is Correctness.CORRECT, each.automatic is True) for each in self.compared)
        both, neither = table[True, True], table[False, False]
        only_judge, only_rules = table[True, False], table[False, True]
        total = table.total()
        share = (both + neither) / total if total else None
        return {
            "compared": total,
            "both_right": both,
            "both_wrong": neither,
            "only_the_judge": only_judge,
            "only_the_rules": only_rules,
            "share": share,
            "kappa": None if share is None else _kappa(share, both + only_judge, both + only_rules, total),
        }

    def as_json(self) -> dict[str, object]:
        """Counts and agreement."""
        return {
            "questions": len(self.judgements),
            "by_model": sum(each.by_model for each in self.judgements),
            **{verdict.value.replace("-", "_"): self.count(verdict) for verdict in Correctness},
            "cannot_be_told": self.count(None),
            "agreement": self.agreement(),
        }

    def text(self) -> str:
        """Counts and agreement in two lines."""
        agreed = self.agreement()
        counts = ", ".join(f"{self.count(verdict)} {verdict.value}" for verdict in Correctness)
        by_model = sum(each.by_model for each in self.judgements)
        lines = [f"judged: {counts}, of {len(self.judgements)} answers, {by_model} by the chat model"]
        if agreed["share"] is not None:
            kappa = "" if agreed["kappa"] is None else f", kappa {agreed['kappa']:.2f}"
            lines.append(
                f"of {agreed['compared']} that rules can judge too, both say the same of {100 * agreed['share']:.1f}%"
                f"{kappa}: {agreed['both_right']} right, {agreed['both_wrong']} not; right by the judge alone"
                f" {agreed['only_the_judge']}, by the rules alone {agreed['only_the_rules']}"
            )
        return "\n".join(lines)


def judge_rows(rows: Sequence[Row], judge: TextJudge, on_each: Callable[[Judgement], None] = lambda _: None) -> Judged:
    """Every answer judged, in the order of the rows; by rules where the model cannot."""
    judgements: list[Judgement] = []
    notes: dict[str, None] = {}
    lost = 0
    for row in rows:
        automatic = by_rules(row)
        try:
            if lost >= _PATIENCE:
                raise ModelError("the judge was out of reach before, and is not asked any more")
            reply = judge.judged(row.question, row.gold, row.text)
        except ModelError as failure:
            lost = 0 if isinstance(failure, UnusableReplyError | RefusedByModelError) else lost + 1
            notes.setdefault(f"{row.id}: judged by rules: {failure.what}")
            judgements.append(_unaided(row, automatic, failure.what))
        else:
            lost = 0
            judgements.append(Judgement(row.id, row.question_type, reply.verdict, reply.reason, True, automatic))
        on_each(judgements[-1])
    return Judged(tuple(judgements), tuple(notes))


def by_rules(row: Row) -> bool | None:
    """Whether an answer is right as far as rules can tell: by its figure, or by yes or no; None where it has neither.

    A refusal is never right.
    """
    if row.refused:
        return False
    if row.stated_match is not None:
        return row.stated_match
    gold, ours = _yes_or_no(row.gold), _yes_or_no(row.text)
    return None if gold is None or ours is None else gold == ours


def _unaided(row: Row, automatic: bool | None, why: str) -> Judgement:
    if row.refused:
        verdict: Correctness | None = Correctness.NO_ANSWER
    else:
        verdict = None if automatic is None else Correctness.CORRECT if automatic else Correctness.WRONG
    return Judgement(row.id, row.question_type, verdict, why, False, automatic)


_SAID = re.compile(r"\W*(yes|no)\b", re.I)


def _yes_or_no(text: str) -> str | None:
    found = _SAID.match(first_sentence(text))
    return None if found is None else found[1].lower()


def _kappa(share: float, by_judge: int, by_rules: int, total: int) -> float | None:
    """Agreement beyond chance; None where both always say the same thing."""
    chance = (by_judge * by_rules + (total - by_judge) * (total - by_rules)) / total**2
    return None if chance == 1 else (share - chance) / (1 - chance)
