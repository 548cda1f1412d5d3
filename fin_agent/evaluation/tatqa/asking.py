"""Put TAT-QA's questions to the rules, score the answers, and say how a wrong one is wrong."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from fin_agent.analyst.rules.context_answers.context import AnswerKind, Context, ContextAnswer
from fin_agent.evaluation.tatqa.benchmark import TatContext, TatQuestion
from fin_agent.evaluation.tatqa.metric import number, score

Answering = Callable[[str, Context], ContextAnswer]


class Miss(StrEnum):
    """How an answer is wrong."""

    NONE = ""
    NO_GOLD = "no gold answer"
    NOTHING = "nothing answered"
    KIND = "other kind of answer"
    SCALE = "right figure, other scale"
    SIGN = "right figure, other sign"
    FIGURE = "other figure"
    PART = "more or less than the gold words"
    WORDS = "other words"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question, its answer and its score."""

    id: str
    context: str
    answer_type: str
    source: str
    question: str
    gold: tuple[str, ...]
    gold_scale: str
    answer: tuple[str, ...]
    scale: str
    kind: str
    exact: float
    f1: float
    miss: Miss
    program: str
    seconds: float


def ask_tatqa(context: TatContext, answering: Answering) -> list[Outcome]:
    """Every question of a context answered and scored."""
    return [_asked(question, context, answering) for question in context.questions]


def answer_strings(answer: ContextAnswer) -> tuple[str, ...]:
    """The answer's parts as a prediction file has them."""
    if answer.spans:
        return answer.spans
    return () if answer.value is None else (f"{answer.value:f}",)


def _asked(question: TatQuestion, context: TatContext, answering: Answering) -> Outcome:
    started = time.perf_counter()
    answer = answering(question.question, context.context)
    seconds = time.perf_counter() - started
    said = answer_strings(answer)
    scored = score(question.answer, question.scale, question.answer_type, said, answer.scale)
    return Outcome(
        id=question.id,
        context=context.id,
        answer_type=question.answer_type,
        source=question.source,
        question=question.question,
        gold=question.answer,
        gold_scale=question.scale,
        answer=said,
        scale=answer.scale,
        kind=answer.kind.value,
        exact=scored.exact,
        f1=scored.f1,
        miss=Miss.NONE if scored.exact == 1 else _miss(question, answer, said, scored.f1),
        program=answer.program,
        seconds=seconds,
    )


def _miss(question: TatQuestion, answer: ContextAnswer, said: tuple[str, ...], f1: float) -> Miss:
    if not question.answer:
        return Miss.NO_GOLD
    if not said:
        return Miss.NOTHING
    gold, told = _amounts(question.answer), _amounts(said)
    if gold and told and len(gold) == len(told):
        if gold == told:
            return Miss.SCALE
        if [abs(each) for each in gold] == [abs(each) for each in told]:
            return Miss.SIGN
        return Miss.FIGURE if (question.answer_type in _KINDS[answer.kind]) else Miss.KIND
    if f1 > 0 and question.answer_type in ("span", "multi-span"):
        return Miss.PART
    return Miss.WORDS if question.answer_type in _KINDS[answer.kind] else Miss.KIND


def _amounts(parts: tuple[str, ...]) -> list[float]:
    """The parts as numbers, sorted; empty where one is none."""
    amounts = [number(part.replace("%", "")) for part in parts]
    known = [round(amount, 2) for amount in amounts if amount is not None]
    return sorted(known) if len(known) == len(parts) else []


_KINDS: dict[AnswerKind, frozenset[str]] = {
    AnswerKind.SPAN: frozenset({"span", "multi-span"}),
    AnswerKind.SPANS: frozenset({"span", "multi-span"}),
    AnswerKind.COMPUTED: frozenset({"arithmetic"}),
    AnswerKind.COUNT: frozenset({"count"}),
    AnswerKind.NONE: frozenset(),
}
