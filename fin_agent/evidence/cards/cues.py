"""Cue phrases: words of a passage that give away what it does and how far its figures can be trusted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from fin_agent.lexicon.words import word_lists

Cues = Mapping[str, Mapping[str, int]]
"""Kind -> cue phrase -> times it occurs, the longest phrase first."""
_MOST_OF_ONE = 3
"""Times that one phrase counts: a word repeated in every row says no more than one that is repeated thrice."""


class CueText:
    """A text that several lists of phrases are looked for in."""

    __slots__ = ("beginnings", "flat", "words")

    def __init__(self, flat: str) -> None:
        """`flat` is in lower case with single spaces and one at either end."""
        self.flat = flat
        self.words = frozenset(flat.split())
        self.beginnings = frozenset({word[:_BEGINNING] for word in self.words})


def cues_in(text: CueText, words: str) -> Cues:
    """The phrases of `words`.yaml that stand in a text, by kind; each counts three times at most."""
    flat, held = text.flat, text.words
    phrases = _phrases(words)
    found: dict[str, dict[str, int]] = {}
    for beginning in phrases.keys() & text.beginnings:
        for phrase in phrases[beginning]:
            if phrase.whole <= held and phrase.text in flat:
                found.setdefault(phrase.kind, {})[phrase.text[1:]] = min(_MOST_OF_ONE, flat.count(phrase.text))
    return {
        kind: dict(sorted(hits.items(), key=lambda hit: (-len(hit[0]), hit[0]))) for kind, hits in sorted(found.items())
    }


@lru_cache(maxsize=1024)
def cue_pattern(phrase: str) -> re.Pattern[str]:
    """Finds a cue phrase in a text in lower case, over line breaks."""
    return re.compile(r"\s+".join(map(re.escape, phrase.split())))


class _Phrase(NamedTuple):
    kind: str
    text: str
    """With a space before it: it begins a word."""
    whole: frozenset[str]
    """All its words but the last, which may go on: a text that lacks one of them cannot hold the phrase."""


_BEGINNING = 5
"""Letters of a phrase's first word by which phrases that cannot be in a text are passed over."""


@lru_cache(maxsize=8)
def _phrases(words: str) -> Mapping[str, tuple[_Phrase, ...]]:
    """Phrases by how their first word begins."""
    phrases: dict[str, list[_Phrase]] = {}
    for kind, listed in sorted(word_lists(words).items()):
        for phrase in sorted(listed):
            *whole, _ = phrase.split()
            phrases.setdefault(phrase.split()[0][:_BEGINNING], []).append(_Phrase(kind, f" {phrase}", frozenset(whole)))
    return {beginning: tuple(held) for beginning, held in phrases.items()}
