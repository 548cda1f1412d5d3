"""How much of a page is figures and how much is words."""

from __future__ import annotations

import re
from typing import NamedTuple

from fin_agent.vocabulary.page import PageContent


class Density(NamedTuple):
    """Words of a page, counted."""

    figures: int
    """Numbers and dashes that stand alone."""
    words: int
    """Those that begin with a letter."""

    @property
    def table(self) -> bool:
        """Whether a page is mostly a table."""
        return self.figures >= _FEWEST_FIGURES and self.words <= _WORDS_PER_FIGURE * self.figures


def density_of(page: PageContent) -> Density:
    """Counts the words of a page, from its text where a reader gives no places."""
    figures = words = 0
    for token in (word.text for word in page.words) if page.words else page.text.split():
        if token[0].isalpha():
            words += 1
        elif _FIGURE.match(token):
            figures += 1
    return Density(figures, words)


def may_be_table(text: str) -> bool:
    """A quick test that no page which is mostly a table fails: some share of it is digits."""
    digits = sum(map(text.count, "0123456789"))
    return digits >= _FEWEST_FIGURES and digits * _CHARACTERS_PER_DIGIT >= len(text)


_FIGURE = re.compile(r"[$(]*\d[\d,.]*[%)]*$|[—–-]$")
_FEWEST_FIGURES = 12
_WORDS_PER_FIGURE = 9
_CHARACTERS_PER_DIGIT = 40
