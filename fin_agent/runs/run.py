"""A run: one question, how and over what it was asked, and the whole answer with its trace."""

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

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Base 32 without the letters that are taken for others (Crockford)."""
_READ_AS = str.maketrans("oil", "011")
_TIME_DIGITS = 9
_RANDOM_DIGITS = 3


def run_id(started: datetime) -> str:
    """A new id: nine digits of time (milliseconds), three by chance."""
    milliseconds = int(started.timestamp() * 1_000)
    chance = secrets.randbelow(32**_RANDOM_DIGITS)
    return _digits(milliseconds, _TIME_DIGITS) + _digits(chance, _RANDOM_DIGITS)


def normalize_typed_id(name: str) -> str:
    """What a person typed for an id, or its beginning, in the letters that ids have.

    >>> normalize_typed_id(" O1JD ")
    '01jd'
    """
    return name.strip().lower().translate(_READ_AS)


def _digits(number: int, count: int) -> str:
    return "".join(_ALPHABET[number >> (5 * place) & 31] for place in reversed(range(count)))


RULES = "rules"
"""The analyst that needs no model."""
MODEL = "llm"
"""The analyst that asks chat models; which ones, the settings of the run say."""


class Run(BaseModel):
    """A run as it is recorded. The id and the times are here and not in the answer, which stays comparable."""

    model_config = ConfigDict(frozen=True)

    id: str
    started: datetime
    """UTC."""
    question: str
    settings: Settings
    analyst: str = RULES
    version: str
    """Of fin-agent."""
    index: IndexState
    doc_ids: tuple[str, ...] = ()
    """Filings the search was restricted to; empty where to none."""
    pages: tuple[PagePlace, ...] = ()
    """Pages the search was restricted to; empty where to none."""
    answer: Answer
    steps: tuple[StepTime, ...] = ()
    """How long each step of the trace took, in its order; empty where nobody took the time."""

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
        """The run that gave `answer`, under an id of its own."""
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
        """From question to answer."""
        return self.answer.seconds


class IndexState(BaseModel):
    """Which index was asked, and what it held."""

    model_config = ConfigDict(frozen=True)

    path: str
    filings: int
    fingerprint: str
    """Another one where a filing came, went or changed."""


class StepTime(BaseModel):
    """How long one step took."""

    model_config = ConfigDict(frozen=True)

    node: str
    seconds: float


def canonical(answer: Answer) -> str:
    """Return the answer as JSON without its id, seconds and what calls took.

    The text is the same, byte for byte, whenever the same was asked and the models replied the same.
    """
    return comparable(answer).model_dump_json(exclude={"id", "seconds"})


def comparable(answer: Answer) -> Answer:
    """The answer with which roles were put to which models, not with what that took.

    Replies kept from before cost nothing and need no correction, and a server counts tokens as it likes: none of that
    makes another answer.
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
    """`curation by openai:x` of `curation by openai:x: 812 tokens in, ...`, once."""
    return tuple(dict.fromkeys(line.partition(": ")[0] for line in calls))


_NO_CALLS = Usage()


Run.model_rebuild()


_DIGITS = 16


def index_state(index: FilingIndex, folder: Path) -> IndexState:
    """The state of the index in `folder`: the same for the same filings, in whatever order they came."""
    entries = index.entries()
    digest = hashlib.sha256()
    for entry in entries:
        digest.update(f"{entry.content_hash} {entry.doc_id}\n".encode("utf-8", "surrogatepass"))
    return IndexState(path=place_of(index, folder), filings=len(entries), fingerprint=digest.hexdigest()[:_DIGITS])
