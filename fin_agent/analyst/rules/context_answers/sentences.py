"""Sentences of the paragraphs, and how much of a question each says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fin_agent.analyst.rules.context_answers.asked import Asked
from fin_agent.analyst.rules.context_answers.period_names import periods_in
from fin_agent.analyst.rules.context_answers.wording import rarity, telling_stems, weight_of

_YEAR_SAID = 0.15
_OTHER_YEAR = 0.2
_HEADING = 0.3
_FEWEST_WORDS = 5
_PER_WORD = 0.001
"""What each word of a sentence takes off: of two that say the same, the shorter one."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and its place."""

    text: str
    paragraph: int
    position: int


@dataclass(frozen=True, slots=True)
class Fit:
    """A sentence with how well it fits a question."""

    sentence: Sentence
    score: float
    coverage: float
    """Share of the question's weight of words that it says, 0 to 1."""


def sentences_in(paragraphs: Sequence[str]) -> tuple[Sentence, ...]:
    """All sentences in reading order; a line that ends in a colon goes on."""
    found: list[Sentence] = []
    for paragraph, text in enumerate(paragraphs):
        for part in _END.split(" ".join(text.split())):
            sentence = _MARK.sub("", part).strip()
            if sentence:
                found.append(Sentence(sentence, paragraph, len(found)))
    return tuple(found)


def ranked(asked: Asked, sentences: Sequence[Sentence], bonus: Callable[[str], float] = lambda text: 0.0) -> list[Fit]:
    """Sentences that share a telling word with the question, best first."""
    stems = [frozenset(telling_stems(sentence.text)) for sentence in sentences]
    weights = rarity(stems)
    words = (*asked.words, *asked.operation)
    years = {period.year for period in asked.periods}
    fits = [_fit(sentence, held, words, weights, years, bonus) for sentence, held in zip(sentences, stems, strict=True)]
    return sorted(
        (fit for fit in fits if fit.coverage > 0), key=lambda fit: (-round(fit.score, 6), fit.sentence.position)
    )


def _fit(
    sentence: Sentence,
    held: frozenset[str],
    words: Sequence[str],
    weights: Mapping[str, float],
    years: set[str],
    bonus: Callable[[str], float],
) -> Fit:
    whole = weight_of(words, weights, _UNKNOWN) or 1.0
    coverage = weight_of(held.intersection(words), weights, _UNKNOWN) / whole
    score = coverage + bonus(sentence.text) - _PER_WORD * len(sentence.text.split())
    told = {period.year for period in periods_in(sentence.text)}
    if years and told:
        score += _YEAR_SAID * len(years & told) / len(years) if years & told else -_OTHER_YEAR
    if len(sentence.text.split()) < _FEWEST_WORDS:
        score -= _HEADING
    return Fit(sentence, score, coverage)


_UNKNOWN = 1.5
"""Weight of a word that no sentence says."""
_MARK = re.compile(r"^\s*(?:\(\w{1,2}\)|\d{1,2}\.?|\*{1,3}|[A-Za-z]\))\s+(?=[A-Z])")
"""Of a footnote or a list."""
_END = re.compile(
    r"(?<=[.?!])(?<!\b[A-Z]\.)(?<!\b(?:Mr|Ms|Dr|St|No)\.)(?<!\b(?:Mrs|Inc|Ltd)\.)(?<!\bCorp\.)(?<!\bU\.S\.)[\"”’)]*\s+(?=[A-Z“\"•(])"
    r"|\s*[•●▪]\s*|;\s+(?=\(?[a-z]{1,3}\)\s)"
)
