"""Phrases of a conversation: which kind a message is of, and what is left when its opening is taken off."""

from __future__ import annotations

import re
from functools import lru_cache

from fin_agent.lexicon.words import word_lists
from fin_agent.retrieval.search_terms import stopwords

_LISTS = "follow_up_words"
_EDGES = " \t\n,.;:!?-–—…"


def phrases(kind: str) -> frozenset[str]:
    """The phrases of a kind, as `follow_up_words.yaml` has them."""
    return word_lists(_LISTS)[kind]


def simplified(text: str) -> str:
    """A text as the lists have it: small letters, one space between words, nothing of punctuation at its ends."""
    return " ".join(text.replace("’", "'").lower().split()).strip(_EDGES)


def is_phrase(text: str, kind: str) -> bool:
    """Whether the text is a phrase of this kind as a whole."""
    return simplified(text) in phrases(kind)


def only_says(text: str, kind: str) -> bool:
    """Whether the text is made of phrases of this kind and of filler alone: `Thanks a lot, that helps!`."""
    plain = re.sub(r"[^\w' ]+", " ", simplified(text))
    rest = " ".join(plain.split())
    said = False
    while rest:
        found = _opening(kind).match(rest)
        if found is None and said:
            found = _opening("filler").match(rest)
        if found is None:
            return False
        said = True
        rest = rest[found.end() :].strip()
    return said


def says_of(text: str, kind: str) -> bool:
    """Whether the text names something of this kind, and no word of content but `KIND words`."""
    return found_in(text, kind) is not None and has_no_other_words(text, f"{kind} words")


def has_no_other_words(text: str, kind: str) -> bool:
    """Whether every word of content is one of this kind."""
    words = re.findall(r"\w+(?:'\w+)?", simplified(text))
    known = stopwords() | phrases(kind)
    return all({word, word.removesuffix("n't"), word.split("'")[0]} & known for word in words)


def without_opening(text: str, *kinds: str) -> str:
    """The text without the phrases of these kinds that it begins with: `And what about 2021?` leaves `2021?`."""
    rest = text.strip()
    while True:
        for kind in kinds:
            found = _opening(kind).match(rest)
            if found is not None:
                rest = rest[found.end() :].lstrip(_EDGES)
                break
        else:
            return rest


def found_in(text: str, kind: str) -> re.Match[str] | None:
    """The first phrase of this kind in the text; the longest at its place."""
    return _anywhere(kind).search(text)


def all_in(text: str, kind: str) -> list[tuple[int, int]]:
    """(start, end) of every phrase of this kind in the text."""
    return [found.span() for found in _anywhere(kind).finditer(text)]


@lru_cache(maxsize=32)
def _opening(kind: str) -> re.Pattern[str]:
    return re.compile(rf"\W*(?:{_either(kind)})(?![\w'’])", re.I)


@lru_cache(maxsize=32)
def _anywhere(kind: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'’])(?:{_either(kind)})(?![\w'’])", re.I)


def _either(kind: str) -> str:
    longest_first = sorted(phrases(kind), key=lambda phrase: (-len(phrase), phrase))
    return "|".join(re.escape(phrase).replace("'", "['’]").replace(r"\ ", r"\s+") for phrase in longest_first)
