"""The evidence an answer was given from: what the last filter kept, and why, with its text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fin_agent.answering.answer import Answer
from fin_agent.evidence.trace import TraceStep

_FILTER = "filter_passages"
_KEPT = re.compile(r"kept (?P<doc_id>.+?) page (?P<page>\d+) passage (?P<ordinal>\d+): (?P<why>.*)", re.S)


@dataclass(frozen=True, slots=True)
class KeptPassage:
    """A passage kept as evidence."""

    doc_id: str
    page: int
    """0-based."""
    ordinal: int
    why: str
    fields: tuple[str, ...] = ()
    """Fields of its card that match the question."""
    text: str = ""

    @property
    def place(self) -> str:
        """`harborlight_2023_10k page 9 passage 12`; people count pages from 1."""
        return f"{self.doc_id} page {self.page + 1} passage {self.ordinal}"


def kept_last(answer: Answer) -> list[KeptPassage]:
    """What the last filter of a run kept, best first."""
    filters = [step for step in answer.trace if step.node == _FILTER]
    if not filters:
        return []
    texts: dict[tuple[str, int], list[str]] = {}
    for place in answer.retrieved.passages:
        texts.setdefault((place.doc_id, place.page), []).append(place.text)
    found: list[KeptPassage] = []
    for kept in _kept(filters[-1]):
        # What was kept is listed first among the passages of its page, in the same order.
        left = texts.get((kept.doc_id, kept.page)) or [""]
        found.append(
            KeptPassage(kept.doc_id, kept.page, kept.ordinal, kept.why, kept.fields, left.pop(0) if left else "")
        )
    return found


def _kept(step: TraceStep) -> list[KeptPassage]:
    """From the passages judged; a step that has none may say it in lines."""
    if step.judged:
        return [
            KeptPassage(judged.doc_id, judged.page, judged.ordinal, judged.why, judged.fields)
            for judged in step.judged
            if judged.kept
        ]
    told = [found for line in step.details if (found := _KEPT.fullmatch(line))]
    return [KeptPassage(each["doc_id"], int(each["page"]) - 1, int(each["ordinal"]), each["why"]) for each in told]
