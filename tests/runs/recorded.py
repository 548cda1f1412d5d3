"""Runs for tests, without an index."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from fin_agent.answering.answer import Answer, AnswerValue
from fin_agent.config import Settings
from fin_agent.distribution import installed_version
from fin_agent.runs.run import MODEL, RULES, IndexState, Run, StepTime, run_id

INDEX = IndexState(path="/an/index", filings=2, fingerprint="0" * 16)
BEGAN = datetime(2026, 5, 4, 12, 30, 0, 123_000, tzinfo=UTC)


def run(
    question: str = "What was revenue?", *, at: int = 0, said: str = "It was $5.", settings: Settings | None = None
) -> Run:
    """A run that began `at` seconds after `BEGAN`."""
    answer = Answer(question=question, answer=AnswerValue(text=said), rounds=1, seconds=0.25)
    return run_of(answer, settings, at=at)


def run_of(answer: Answer, settings: Settings | None = None, *, at: int = 0, steps: tuple[StepTime, ...] = ()) -> Run:
    """The run of an answer that began `at` seconds after `BEGAN`."""
    began = BEGAN + timedelta(seconds=at)
    return Run(
        id=run_id(began),
        started=began,
        question=answer.question,
        settings=settings or Settings(),
        analyst=MODEL if settings is not None and settings.by_model else RULES,
        version=installed_version(),
        index=INDEX,
        answer=answer,
        steps=steps,
    )


def noise(kilobytes: int, seed: int = 0) -> str:
    """Text that takes so much room even when it is packed."""
    return random.Random(seed).randbytes(kilobytes * 1_000).hex()
