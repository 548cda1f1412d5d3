"""Answer in words by extraction: the sentences and table rows that hold most of what the question is about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fin_agent.analyst.protocol import Reasoning
from fin_agent.answering.answer import Citation
from fin_agent.evidence.evidence import Evidence
from fin_agent.evidence.intent import Intent
from fin_agent.filings.filing import PassageKind
from fin_agent.index.protocol import FilingIndex
from fin_agent.retrieval.terms import search_terms, stems_of, weights_of

_SENTENCE = re.compile(r"(?<=[.?!;])[\"”)]?\s+(?=[A-Z“\"(•])|\s*•\s*|\n\s*\n")
_MOST_SENTENCES = 3
_EXPANSION = 0.3
_FIGURE_BONUS = 1.2
_WORTH_OF_THE_BEST = 0.6
_LONGEST = 600
_EVIDENCE_DECAY = 0.93


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    evidence: int
    position: int
    score: float


def reason(intent: Intent, evidence: Sequence[Evidence], index: FilingIndex) -> Reasoning:
    """The best few sentences of the evidence, in reading order, each cited. Empty where none shares a telling word."""
    asked = set(stems_of(" ".join(search_terms(intent.keywords))))
    related = set(stems_of(" ".join(search_terms(intent.expansions)))) - asked
    pages = index.page_count()
    weights = weights_of(asked, index.document_frequencies(asked), pages)
    weights |= {
        term: _EXPANSION * weight
        for term, weight in weights_of(related, index.document_frequencies(related), pages).items()
    }
    sentences = list(_scored(intent, evidence, weights))
    if not sentences:
        return Reasoning(text="", citations=())
    sentences.sort(key=lambda sentence: (-round(sentence.score, 9), sentence.evidence, sentence.position))
    best = sentences[0].score
    chosen = _distinct(sentence for sentence in sentences if sentence.score >= _WORTH_OF_THE_BEST * best)
    chosen.sort(key=lambda sentence: (sentence.evidence, sentence.position))
    citations = [
        Citation(doc_id=passage.doc_id, page=passage.page, text=sentence.text, box=passage.box)
        for sentence in chosen
        for passage in (evidence[sentence.evidence].passage,)
    ]
    return Reasoning(text=" ".join(sentence.text for sentence in chosen), citations=tuple(citations))


def _scored(intent: Intent, evidence: Sequence[Evidence], weights: Mapping[str, float]) -> Iterator[_Sentence]:
    total = sum(weights.values()) or 1.0
    for number, kept in enumerate(evidence):
        parts = _rows(kept.passage.text) if kept.passage.kind is PassageKind.TABLE else sentences_of(kept.passage.text)
        for position, text in enumerate(parts):
            stems = stems_of(text)
            held = sum(weights.get(term, 0.0) for term in set(stems))
            if not held:
                continue
            score = held / total / (1 + len(stems) / 60)
            if intent.asks_figure and re.search(r"\d", re.sub(r"\b(?:19|20)\d\d\b", "", text)):
                score *= _FIGURE_BONUS
            yield _Sentence(text, number, position, score * _EVIDENCE_DECAY**number)


def sentences_of(text: str) -> list[str]:
    """Sentences of running text; lines broken by the page are joined, runs of figures are left out."""
    joined = re.sub(r"(?<![.:;?!])\n(?=\S)", " ", text)
    found: list[str] = []
    for part in _SENTENCE.split(joined):
        sentence = " ".join((part or "").split())[:_LONGEST]
        letters = sum(character.isalpha() for character in sentence)
        if letters >= 20 and letters > 0.5 * len(sentence):
            found.append(sentence)
    return found


def _rows(table: str) -> list[str]:
    """Rows of a table passage as `label: column value; column value`."""
    lines = table.split("\n")
    header = next((line.split(" | ") for line in lines if line.startswith(" | ")), [""])
    found: list[str] = []
    for line in lines:
        label, *cells = line.split(" | ")
        if label and any(cells):
            pairs = zip([*header[1:], *[""] * len(cells)], cells, strict=False)
            values = "; ".join(f"{column} {cell}".strip() for column, cell in pairs if cell)
            found.append(f"{label}: {values}")
    return found


def _distinct(sentences: Iterator[_Sentence]) -> list[_Sentence]:
    """The first few that do not repeat one another."""
    chosen: list[_Sentence] = []
    seen: list[set[str]] = []
    for sentence in sentences:
        stems = set(stems_of(sentence.text))
        if any(len(stems & other) > 0.7 * min(len(stems), len(other)) for other in seen):
            continue
        chosen.append(sentence)
        seen.append(stems)
        if len(chosen) == _MOST_SENTENCES:
            break
    return chosen
