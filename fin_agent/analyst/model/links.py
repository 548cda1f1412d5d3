"""Whether a quote is about what it is given for: the two share a word that tells something."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.words import word_lists
from fin_agent.retrieval.terms import stems_of


class Links:
    """Words that sentences, quotes and the question share, without the names of companies.

    What the question writes small is no name: the stores of a company called so.
    """

    def __init__(self, lexicon: Lexicon, question: str, names: Iterable[str]) -> None:
        self._lexicon = lexicon
        small = (word for word in re.findall(r"\w+", question) if word.islower())
        self._names = frozenset(stems_of(" ".join(names))) - frozenset(stems_of(" ".join(small)))

    def linked(self, words: str, quotes: Collection[str]) -> bool:
        """Whether any of the quotes shares a telling word with `words`, or with what filings write for them."""
        wanted = self._telling(" ".join((words, *self._meant(words))))
        return any(wanted & self._telling(quote) for quote in quotes)

    def _meant(self, words: str) -> tuple[str, ...]:
        """Everyday words as filings put them, topics, and measures with what they are made of."""
        lexicon = self._lexicon
        return (*lexicon.filing_terms(words), *lexicon.expand((words, *lexicon.metrics_in(words))))

    def _telling(self, text: str) -> frozenset[str]:
        stems = frozenset(stems_of(text)) - self._names - _little()
        return frozenset(stem for stem in stems if len(stem) > 1 and not _YEAR.fullmatch(stem))


_YEAR = re.compile(r"(?:19|20)\d\d|fy\d+|0+")


def _little() -> frozenset[str]:
    """Stems that any two sentences of a filing may share."""
    lists = word_lists("answer_words")
    sizes = (word for words in word_lists("unit_words").values() for word in words)
    return frozenset(stems_of(" ".join((*lists["amounts"], *sizes))))
