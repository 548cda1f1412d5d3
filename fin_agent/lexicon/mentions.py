"""From a question's words to metrics and formulas: longest phrases first, left to right."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from fin_agent.lexicon.wording import plain, singular

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
    """A word in its common form and where it stands; `follows` is the punctuation that parts it from the last word."""

    word: str
    start: int
    end: int
    follows: Literal["", ",", "."]


class PhraseIndex:
    """Finds known phrases in a text: the longest at each place, none overlapping."""

    def __init__(self) -> None:
        self._phrases: dict[str, dict[tuple[str, ...], tuple[bool, str, str]]] = {}
        self._plural_only: set[str] = set()

    def add(self, phrase: str, kind: str, name: str) -> tuple[str, str] | None:
        """Takes a phrase as a name of an entry; returns the (kind, name) that already holds it, if another does."""
        tokens = tokenise(phrase)
        if not tokens:
            return None
        words = tuple(token.word for token in tokens)
        holders = self._phrases.setdefault(words[0], {})
        crosses = any(token.follows for token in tokens[1:])
        held = holders.get(words)
        # "earnings", "assets" and "sales" name figures; "earning", "asset" and "sale" are everyday words.
        if len(words) == 1:
            plural = phrase.strip().lower().endswith("s") and len(words[0]) < len(phrase.strip())
            if plural and held is None:
                self._plural_only.add(words[0])
            elif not plural:
                self._plural_only.discard(words[0])
        if held is not None and held[1:] != (kind, name):
            return held[1:]
        holders[words] = (crosses or (held is not None and held[0]), kind, name)
        return None

    def find(self, text: str) -> list[tuple[str, str, int, int]]:
        """(kind, name, start, end) of each phrase found in the text."""
        tokens = tokenise(text)
        words = [token.word for token in tokens]
        found: list[tuple[str, str, int, int]] = []
        place = 0
        while place < len(tokens):
            best = 0
            holders = self._phrases.get(words[place])
            if holders:
                for phrase, (crosses, kind, name) in holders.items():
                    size = len(phrase)
                    if size <= best or tuple(words[place : place + size]) != phrase:
                        continue
                    barriers = {token.follows for token in tokens[place + 1 : place + size]} - {""}
                    if barriers and not (crosses and barriers == {","}):
                        continue
                    best, hit = size, (kind, name, tokens[place].start, tokens[place + size - 1].end)
            if best == 1 and words[place] in self._plural_only and not _is_plural(tokens[place]):
                best = 0
            if best:
                found.append(hit)
                place += best
            else:
                place += 1
        return found


def _is_plural(token: Token) -> bool:
    return token.end - token.start > len(token.word)


class MentionIndex:
    """Finds metrics and formulas in questions."""

    def __init__(self, names: Iterable[tuple[str, Kind, str]], passed_over: Iterable[str]) -> None:
        """`names` are (phrase, kind, id), earlier ones win; `passed_over` are phrases that name no metric."""
        self._index = PhraseIndex()
        for phrase in passed_over:
            self._index.add(phrase, "passed over", "")
        for phrase, kind, name in names:
            self._index.add(phrase, kind, name)

    def mentions(self, text: str) -> list[Mention]:
        """Mentions in order of appearance, none overlapping."""
        return [
            Mention("metric" if kind == "metric" else "formula", name, start, end, text[start:end])
            for kind, name, start, end in self._index.find(text)
            if kind != "passed over"
        ]


_PIECE = re.compile(r"[a-z0-9]+|[&/%]|[^a-z0-9&/%]+")
_NON = frozenset({"controlling", "operating", "current", "interest", "gaap", "cash", "service", "trade", "redeemable"})


def tokenise(text: str) -> list[Token]:
    """Words in their common form; `&` reads as `and`, `/` as `to`, and a possessive 's is left out."""
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
            if any(mark in piece for mark in '.;:?!()[]\n"') or " - " in piece:
                follows = "."
            elif "," in piece:
                follows = ","
    return tokens
