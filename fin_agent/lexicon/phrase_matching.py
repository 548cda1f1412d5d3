"""Match a question's words to metrics and formulas: longest phrases first, left to right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from fin_agent.lexicon.text_normalization import plain, singular

Kind = Literal["metric", "formula"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A metric or formula named in a text; `text[start:end] == phrase`."""

    kind: Kind
    id: str
    start: int
    end: int
    phrase: str


@dataclass(frozen=True, slots=True)
class Token:
    """A normalized word and its position; `follows` is the punctuation between it and the previous word."""

    word: str
    start: int
    end: int
    follows: Literal["", ",", "."]


IGNORED = "passed over"
"""Kind of a phrase that does not name a metric."""


class PhraseIndex:
    """Finds known phrases in a text: the longest at each position, without overlaps."""

    def __init__(self) -> None:
        self._phrases: dict[tuple[str, ...], tuple[bool, str, str]] = {}
        self._longest: dict[str, int] = {}
        """First word -> the most words of a phrase that begins with it."""
        self._plural_only: set[str] = set()
        self._by_roots: dict[tuple[str, ...], tuple[bool, str, str]] = {}
        """Phrases of several words by the roots of those that say something: `repurchas stock`."""

    def add(self, phrase: str, kind: str, name: str) -> tuple[str, str] | None:
        """Add a phrase as a name of an entry; return the (kind, name) that already has it, if another does."""
        tokens = tokenize(phrase)
        if not tokens:
            return None
        words = tuple(token.word for token in tokens)
        crosses = any(token.follows for token in tokens[1:])
        held = self._phrases.get(words)
        # "earnings", "assets" and "sales" name figures; "earning", "asset" and "sale" are everyday words.
        if len(words) == 1:
            plural = phrase.strip().lower().endswith("s") and len(words[0]) < len(phrase.strip())
            if plural and held is None:
                self._plural_only.add(words[0])
            elif not plural:
                self._plural_only.discard(words[0])
        if held is not None and held[1:] != (kind, name):
            return held[1:]
        self._phrases[words] = (crosses or (held is not None and held[0]), kind, name)
        roots = tuple(_root(word) for word in words if word not in _LIGHT)
        if len(roots) > 1:
            self._by_roots.setdefault(roots, (crosses, kind, name))
        self._longest[words[0]] = max(len(words), self._longest.get(words[0], 0))
        return None

    def find(self, text: str) -> list[tuple[str, str, int, int]]:
        """Return (kind, name, start, end) of each phrase found in the text."""
        tokens = tokenize(text)
        words = [token.word for token in tokens]
        found: list[tuple[str, str, int, int]] = []
        place = 0
        while place < len(tokens):
            hit = self._longest_at(place, tokens, words) or self._done_at(place, tokens)
            denied = words[max(0, place - 1)] == "non" and text[tokens[place].start - 1] == "-"  # `non-income taxes`
            if denied or hit is None or self._is_overridden(hit, place, tokens, words):
                place += 1
                continue
            size, kind, name = hit
            found.append((kind, name, tokens[place].start, tokens[place + size - 1].end))
            place += size
        return found

    def _longest_at(self, place: int, tokens: Sequence[Token], words: Sequence[str]) -> tuple[int, str, str] | None:
        """Return (number of words, kind, name) of the longest phrase that begins at a position."""
        for size in range(min(self._longest.get(words[place], 0), len(words) - place), 0, -1):
            held = self._phrases.get(tuple(words[place : place + size]))
            if held is None:
                continue
            crosses, kind, name = held
            barriers = {token.follows for token in tokens[place + 1 : place + size]} - {""}
            if barriers and not (crosses and barriers == {","}):
                continue
            only_plural = size == 1 and words[place] in self._plural_only
            is_plural = tokens[place].end - tokens[place].start > len(words[place])
            return None if only_plural and not is_plural else (size, kind, name)
        return None

    def _done_at(self, place: int, tokens: Sequence[Token]) -> tuple[int, str, str] | None:
        """Return the same for a phrase in verbal form: `repurchasing its own stock`, `paying dividends`."""
        if not tokens[place].word.endswith("ing"):
            return None
        roots: list[str] = []
        found, parted = None, False
        for size, one in enumerate(tokens[place : place + _MAX_DONE], start=1):
            if size > 1 and one.follows == ".":
                break
            parted = parted or (size > 1 and one.follows == ",")
            if one.word in _LIGHT:
                continue
            roots.append(_root(one.word))
            crosses, kind, name = self._by_roots.get(tuple(roots), (False, "", ""))
            if kind and (crosses or not parted):
                found = (size, kind, name)
        return found

    def _is_overridden(
        self, hit: tuple[int, str, str], place: int, tokens: Sequence[Token], words: Sequence[str]
    ) -> bool:
        """Return whether another phrase that begins inside is meant.

        A phrase that names nothing only introduces a longer one that does (`in cash and equivalents`); a `total` does
        not take away a word from a name that continues (`total capital spending`).
        """
        size, kind, _ = hit
        inside = [(within, self._longest_at(within, tokens, words)) for within in range(place + 1, place + size)]
        named = [(within, other) for within, other in inside if other is not None and other[1] != IGNORED]
        if kind == IGNORED:
            return any(other[0] > size for _, other in named)
        goes_on = [
            within - place
            for within, other in named
            if (end := within + other[0]) > place + size and not (words[end - 1] == "total" and tokens[end - 1].follows)
        ]
        return (words[place] == "total" and 1 in goes_on) or (words[place] in _MOVES and 2 in goes_on)


def _root(word: str) -> str:
    """Return a word without the ending that derives a noun or participle from a verb.

    >>> _root("repurchasing"), _root("repurchase"), _root("payment"), _root("issuance")
    ('repurchas', 'repurchas', 'pay', 'issu')
    """
    return _ENDING.sub("", word)


_ENDING = re.compile(r"(?<=\w{3})(?:ings?|ments?|ances?|es?)$")
_LIGHT = frozenset({"a", "any", "it", "its", "of", "on", "our", "own", "some", "the", "their"})
"""Words between the verb and its object, or the noun and `of`, that name nothing."""
_MAX_DONE = 8
_MOVES = frozenset({"change", "increase", "decrease"})


_A_GAP = 4
"""More consecutive blanks than this replace something removed, such as a company's name; no phrase spans them."""
_PIECE = re.compile(r"[a-z0-9]+|[&/%]|[^a-z0-9&/%]+")
_NON = frozenset({"controlling", "operating", "current", "interest", "gaap", "cash", "service", "trade", "redeemable"})


@lru_cache(maxsize=16)  # a question is tokenized for many purposes
def tokenize(text: str) -> tuple[Token, ...]:
    """Return normalized words; `&` becomes `and`, `/` becomes `to`, and a possessive 's is dropped."""
    low = plain(text)
    if len(low) != len(text):
        low = text.lower()
    tokens: list[Token] = []
    follows: Literal["", ",", "."] = ""
    possessive = False
    for match in _PIECE.finditer(low):
        piece = match.group()
        first = piece[0]
        if first.isascii() and first.isalnum():
            if possessive and piece == "s":
                possessive = False
                continue
            possessive = False
            if tokens and not follows and tokens[-1].word == "non" and piece in _NON:
                tokens[-1] = Token("non" + piece, tokens[-1].start, match.end(), tokens[-1].follows)
            elif tokens and not follows and tokens[-1].word == "pre" and piece == "tax":
                tokens[-1] = Token("pretax", tokens[-1].start, match.end(), tokens[-1].follows)
            elif piece.startswith("cashflow"):
                tokens.append(Token("cash", match.start(), match.start() + 4, follows))
                tokens.append(Token("flow", match.start() + 4, match.end(), ""))
            else:
                tokens.append(Token(singular(piece), match.start(), match.end(), follows))
            follows = ""
        elif first in "&/%":
            tokens.append(Token({"&": "and", "/": "to", "%": "percent"}[first], match.start(), match.end(), follows))
            follows = ""
        else:
            possessive = piece == "'"
            gap = piece.isspace() and len(piece) > _A_GAP
            if gap or " - " in piece or any(mark in piece for mark in '.;:?!()[]\n"'):
                follows = "."
            elif "," in piece:
                follows = ","
    return tuple(tokens)
