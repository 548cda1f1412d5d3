"""A recorded run (a question, its settings and index, the whole answer with its trace), and how two runs differ."""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from fin_agent.answering.answer import Answer, PagePlace, RoleUsage, Usage
from fin_agent.config import Settings
from fin_agent.config_sources import leaves_of
from fin_agent.evidence.evidence import JudgedPassage
from fin_agent.evidence.slot_ledger import Entry, Figure
from fin_agent.index.opening import place_of
from fin_agent.index.protocol import FilingIndex

RULES = "rules"
"""The analyst that needs no model."""
MODEL = "llm"
"""The analyst that calls chat models; the settings of the run name them."""


def run_id(started: datetime) -> str:
    """Return a new id: the milliseconds of its time, then two random digits."""
    return f"{int(started.timestamp() * 1_000):011x}{secrets.token_hex(1)}"


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

    @property
    def seconds(self) -> float:
        """Seconds from question to answer."""
        return self.answer.seconds


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
    if usage == Usage() and not any(step.calls for step in answer.trace):
        return answer
    roles = tuple(
        RoleUsage(role=role.role, model=role.model, calls=1, input_tokens=0, output_tokens=0) for role in usage.roles
    )
    called = Usage(model_calls=min(1, usage.model_calls + usage.cached_calls), roles=roles, left_out=usage.left_out)
    # Each `curation by openai:x: 812 tokens in, ...` once, as `curation by openai:x`.
    calls = (tuple(dict.fromkeys(line.partition(": ")[0] for line in step.calls)) for step in answer.trace)
    trace = tuple(step.model_copy(update={"calls": own}) for step, own in zip(answer.trace, calls, strict=True))
    return answer.model_copy(update={"usage": called, "trace": trace})


_DIGITS = 16


def index_state(index: FilingIndex, folder: Path) -> IndexState:
    """Return the state of the index in `folder`; the order in which filings were added does not matter."""
    entries = index.entries()
    digest = hashlib.sha256()
    for entry in entries:
        digest.update(f"{entry.content_hash} {entry.doc_id}\n".encode("utf-8", "surrogatepass"))
    return IndexState(path=place_of(index, folder), filings=len(entries), fingerprint=digest.hexdigest()[:_DIGITS])


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Difference:
    """One part in which two runs differ."""

    part: str
    """`question`, `settings`, `intent`, `documents`, `ledger`, `program`, `answer` ..."""
    first: tuple[str, ...]
    """Lines that only the first run has, in its order."""
    second: tuple[str, ...]
    """Lines that only the second run has."""
    note: str = ""
    """What lines cannot show: `the same, in another order from place 3 on`."""


def run_differences(first: Run, second: Run) -> list[Difference]:
    """Return the parts in which two runs differ, those of question and settings first.

    It is empty if only id and time differ.
    """
    asked = list(_differing(_ASKED, first, second))
    # The question stands in the run and again in its answer.
    came_of_it = (each for each in answer_differences(first.answer, second.answer) if each not in asked)
    return [*asked, *came_of_it]


def answer_differences(first: Answer, second: Answer) -> list[Difference]:
    """Return the parts in which two answers differ; empty only if their canonical forms are the same."""
    if canonical(first) == canonical(second):
        return []
    found = list(_differing(_CAME_OF_IT, comparable(first), comparable(second)))
    return found or [Difference("form", (), (), "the same, but written otherwise")]


def _differing(parts: dict[str, Callable[[T], Sequence[str]]], first: T, second: T) -> Iterator[Difference]:
    for part, lines in parts.items():
        one, other = list(lines(first)), list(lines(second))
        only_one, only_other = Counter(one) - Counter(other), Counter(other) - Counter(one)
        if only_one or only_other:
            yield Difference(part, tuple(only_one.elements()), tuple(only_other.elements()))
        elif one != other:
            pairs = enumerate(zip(one, other, strict=True), start=1)
            place, pair = next((at, pair) for at, pair in pairs if pair[0] != pair[1])
            note = f"the same, in another order from place {place} on"
            yield Difference(part, pair[:1], pair[1:], note)


def setting_lines(settings: Settings) -> list[str]:
    """Return a line per setting: `strategy: default`, `models.small: openai:x`."""
    return [f"{'.'.join(place)}: {_said(value)}" for place, value in leaves_of(settings.model_dump(mode="json"))]


_ASKED: dict[str, Callable[[Run], Sequence[str]]] = {
    "question": lambda run: [run.question],
    "settings": lambda run: setting_lines(run.settings),
    "analyst": lambda run: [run.analyst],
    "version": lambda run: [run.version],
    "index": lambda run: [f"{run.index.path}: {run.index.filings} filings, fingerprint {run.index.fingerprint}"],
    "only filings": lambda run: run.doc_ids,
    "only pages": lambda run: [f"{place.doc_id} page {place.page + 1}" for place in run.pages],
}
"""How a run was asked: part -> its lines."""


def _entry(entry: Entry) -> Iterator[str]:
    name = f"{entry.slot}{'' if entry.required else ' (optional)'}"
    yield f"{name}: {_figure(entry.figure) if entry.figure else 'empty'}"
    yield f"{name}, why: {entry.reason}"
    yield from (f"{name}, elsewhere: {_figure(other)}" for other in entry.conflicts)


def _figure(figure: Figure) -> str:
    scale = f" x {figure.scale:,}" if figure.scale != 1 else ""
    return f"{figure.amount:,}{scale} {figure.unit}, {figure.doc_id} page {figure.page + 1} line {figure.line + 1}"


def _answer(answer: Answer) -> list[str]:
    value = answer.answer
    said = ["refused" if answer.refused else "answered", value.text]
    said += [f"asked back: {answer.ask_back}"] if answer.ask_back else []
    return said if value.value is None else [*said, f"value: {value.value} {value.unit or ''}".rstrip()]


def _calls(answer: Answer) -> list[str]:
    """Return which models were called in which roles, and what a budget left out; tokens and cost are not compared."""
    called = [f"{role.role} by {role.model}" for role in answer.usage.roles]
    called = called or (["a model was asked"] if answer.usage.model_calls else [])
    return [*called, *(f"left out: {line}" for line in answer.usage.left_out)]


def _steps(answer: Answer) -> list[str]:
    """Return the lines of all steps: the summary of each, then the other things that it recorded."""
    lines: list[str] = []
    for number, step in enumerate(answer.trace, start=1):
        lines.append(f"{number}  {step.node}, round {step.round}: {step.summary}")
        recorded = step.model_dump(mode="json", exclude={"node", "round", "summary"}, exclude_defaults=True)
        lines += [f"{number}  {name}: {_said(each)}" for name, values in recorded.items() for each in values]
    return lines


def _said(value: object) -> str:
    return "none" if value is None else str(value)


_CAME_OF_IT: dict[str, Callable[[Answer], Sequence[str]]] = {
    "question": lambda answer: [answer.question],
    "intent": lambda answer: [
        line for step in answer.trace if step.node == "rewrite_query" for line in (step.summary, *step.details)
    ],
    "documents": lambda answer: answer.retrieved.documents,
    "pages": lambda answer: [f"{place.doc_id} page {place.page + 1}" for place in answer.retrieved.pages],
    "passages": lambda answer: [
        f"{place.doc_id} page {place.page + 1}: {place.text}" for place in answer.retrieved.passages
    ],
    "evidence": lambda answer: [
        f"{kept.doc_id} page {kept.page + 1} passage {kept.ordinal}: {kept.why}" for kept, _ in final_evidence(answer)
    ],
    "ledger": lambda answer: [line for entry in answer.ledger for line in _entry(entry)],
    "program": lambda answer: (answer.program or "").splitlines(),
    "rounds": lambda answer: [str(answer.rounds)],
    "answer": _answer,
    "missing": lambda answer: answer.missing,
    "citations": lambda answer: [f"{each.doc_id} page {each.page + 1}: {each.text}" for each in answer.citations],
    "assumptions": lambda answer: answer.assumptions,
    "warnings": lambda answer: answer.warnings,
    "calls": _calls,
    "steps": _steps,
}
"""What a run found: part -> its lines."""


def final_evidence(answer: Answer) -> list[tuple[JudgedPassage, str]]:
    """Return the passages that the last filter step of a run selected, best first, each with its text."""
    filters = [step for step in answer.trace if step.node == "filter_passages"]
    if not filters:
        return []
    texts: dict[tuple[str, int], list[str]] = {}
    for place in answer.retrieved.passages:
        texts.setdefault((place.doc_id, place.page), []).append(place.text)
    kept = [judged for judged in filters[-1].judged if judged.kept]
    # Selected passages are listed first among the passages of their page, in the same order.
    return [(each, (texts.get((each.doc_id, each.page)) or [""]).pop(0)) for each in kept]
