"""A recorded run: one question, the settings and index it was asked with, and the whole answer with its trace."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from fin_agent.answering.answer import Answer, PagePlace, RoleUsage, Usage
from fin_agent.config import Settings
from fin_agent.distribution import installed_version
from fin_agent.index.opening import place_of
from fin_agent.index.protocol import FilingIndex

RULES = "rules"
"""The analyst that needs no model."""
MODEL = "llm"
"""The analyst that calls chat models; the settings of the run name them."""


def run_id(started: datetime) -> str:
    """Return a new id: the milliseconds of its time, then two random digits."""
    return f"{int(started.timestamp() * 1_000):011x}{secrets.token_hex(1)}"


class Run(BaseModel):
    """A run as it is recorded. Id and times are not part of the answer, so that answers can be compared."""

    model_config = ConfigDict(frozen=True)

    id: str
    started: datetime
    """UTC."""
    question: str
    settings: Settings
    analyst: str = RULES
    version: str
    """The version of fin-agent."""
    index: IndexState
    doc_ids: tuple[str, ...] = ()
    """Filings the search was restricted to; empty if it was not restricted."""
    pages: tuple[PagePlace, ...] = ()
    """Pages the search was restricted to; empty if it was not restricted."""
    answer: Answer
    steps: tuple[StepTime, ...] = ()
    """The time of each step of the trace, in its order; empty if it was not measured."""

    @classmethod
    def of(
        cls,
        answer: Answer,
        settings: Settings,
        index: IndexState,
        *,
        started: datetime,
        doc_ids: Sequence[str] = (),
        steps: Sequence[StepTime] = (),
    ) -> Run:
        """Return the run that gave `answer`, with a new id."""
        return cls(
            id=run_id(started),
            started=started,
            question=answer.question,
            settings=settings,
            analyst=MODEL if settings.by_model else RULES,
            version=installed_version(),
            index=index,
            doc_ids=tuple(doc_ids),
            answer=answer,
            steps=tuple(steps),
        )

    @property
    def seconds(self) -> float:
        """Seconds from question to answer."""
        return self.answer.seconds


class IndexState(BaseModel):
    """The index that was asked, and its state at that time."""

    model_config = ConfigDict(frozen=True)

    path: str
    filings: int
    fingerprint: str
    """A hash that changes when a filing is added, removed or changed."""


class StepTime(BaseModel):
    """The time that one step took."""

    model_config = ConfigDict(frozen=True)

    node: str
    seconds: float


def canonical(answer: Answer) -> str:
    """Return the answer as JSON without its id, its seconds and the usage of its calls.

    The text is the same, byte for byte, whenever the same question was asked and the models replied the same.
    """
    return comparable(answer).model_dump_json(exclude={"id", "seconds"})


def comparable(answer: Answer) -> Answer:
    """Return the answer with its usage reduced to which roles called which models.

    Tokens, cost and corrections are dropped: cached replies cost nothing, and servers count tokens differently.
    """
    usage = answer.usage
    if usage == _NO_CALLS and not any(step.calls for step in answer.trace):
        return answer
    roles = tuple(
        RoleUsage(role=role.role, model=role.model, calls=1, input_tokens=0, output_tokens=0) for role in usage.roles
    )
    called = Usage(model_calls=min(1, usage.model_calls + usage.cached_calls), roles=roles, left_out=usage.left_out)
    trace = tuple(step.model_copy(update={"calls": _asked(step.calls)}) for step in answer.trace)
    return answer.model_copy(update={"usage": called, "trace": trace})


def _asked(calls: Sequence[str]) -> tuple[str, ...]:
    """Return each `curation by openai:x: 812 tokens in, ...` once, as `curation by openai:x`."""
    return tuple(dict.fromkeys(line.partition(": ")[0] for line in calls))


_NO_CALLS = Usage()


Run.model_rebuild()


_DIGITS = 16


def index_state(index: FilingIndex, folder: Path) -> IndexState:
    """Return the state of the index in `folder`; the order in which filings were added does not matter."""
    entries = index.entries()
    digest = hashlib.sha256()
    for entry in entries:
        digest.update(f"{entry.content_hash} {entry.doc_id}\n".encode("utf-8", "surrogatepass"))
    return IndexState(path=place_of(index, folder), filings=len(entries), fingerprint=digest.hexdigest()[:_DIGITS])
