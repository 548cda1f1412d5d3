"""Which measures a sentence is about: not those that another is a share of, but the share where both are said."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.mentions import Mention

_SHARE_OF = re.compile(
    r"(?:%|\bpercent(?:age)?|\bshare|\bportion)\s+of\s+(?:(?:our|its|the|total|consolidated)\s+){0,2}$", re.I
)
_RATIO = re.compile(r"^\s*100 \* (\w+) / (\w+)\s*$")
_AS_PRINTED = "_reported"


class Explained:
    """The measures that words are about, in their order."""

    def __init__(self, text: str, lexicon: Lexicon) -> None:
        mentions = sorted(lexicon.mentions(text), key=lambda mention: (mention.start, -mention.end, mention.id))
        bases = [mention for mention in mentions if _SHARE_OF.search(text[: mention.start])]
        self.named = [_measure(mention, lexicon) for mention in mentions if mention not in bases]
        """`Gross margin was 57.7% of revenues` is about gross margin and not about revenues."""
        self.nothing = not mentions
        self._bases = {mention.id for mention in bases}
        self._lexicon = lexicon

    @property
    def first(self) -> str:
        """The first measure; empty where there is none."""
        return next(iter(self.named), "")

    def is_about(self, measure: str) -> bool:
        """Whether a measure is named, or said as a share: `gross profit was 37.1% of net sales` for gross margin."""
        return measure in self.named or measure in self._shares()

    def begins_with(self, measure: str) -> bool:
        """Whether it is the first measure, or the share that the first is given as."""
        return measure == self.first or (
            measure in self._shares() and ratio_of(measure, self._lexicon)[0] == self.first
        )

    def _shares(self) -> Iterator[str]:
        for name in self._lexicon.formulas:
            part, whole = ratio_of(name, self._lexicon)
            if part and part in self.named and whole in self._bases:
                yield name


def first_measure(text: str, lexicon: Lexicon) -> str:
    """The measure that a question names first; empty where it names none."""
    return Explained(text, lexicon).first


def ratio_of(name: str, lexicon: Lexicon) -> tuple[str, str]:
    """The part and the whole of a measure that is one metric in percent of another; two empty names for any other.

    >>> from fin_agent.lexicon.lexicon import load_lexicon
    >>> ratio_of("gross_margin", load_lexicon())
    ('gross_profit', 'revenue')
    """
    formula = lexicon.formulas.get(name)
    found = _RATIO.match(formula.expression) if formula else None
    return (found[1], found[2]) if found else ("", "")


def _measure(mention: Mention, lexicon: Lexicon) -> str:
    """Its id; that of the formula where filings print what the formula computes."""
    computed = mention.id.removesuffix(_AS_PRINTED)
    return computed if computed in lexicon.formulas else mention.id
