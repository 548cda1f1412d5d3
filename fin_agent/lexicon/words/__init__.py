"""Word lists for reading questions; see the comments in each file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from importlib import resources
from typing import Any

import yaml

from fin_agent.errors import LexiconError


@lru_cache(maxsize=128)
def load_yaml(name: str, package: str = __package__) -> dict[str, Any]:
    """Return the content of `name`.yaml of a package."""
    text = resources.files(package).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    held: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return held


@lru_cache(maxsize=16)
def word_lists(name: str) -> dict[str, frozenset[str]]:
    """Return the lists of `name`.yaml.

    Raises:
        LexiconError: A word is not a string; YAML reads an unquoted `on` as true.
    """
    lists = load_yaml(name)
    for kind, words in lists.items():
        for word in words:
            if isinstance(word, bool) or not isinstance(word, str | int):
                raise LexiconError(f"{word!r} in `{kind}` is not a word", subject=f"{name}.yaml", remedy="Quote it")
    return {kind: frozenset(map(str, words)) for kind, words in lists.items()}


@lru_cache(maxsize=256)
def listed(name: str, kind: str) -> re.Pattern[str]:
    """Return a pattern for the phrases of a list, the longest first, without regard to case.

    See `any_of` for the notation of phrases.

    >>> listed("asked_words", "explanation").search("Why did it fall?")[0]
    'Why'
    """
    return any_of(word_lists(name)[kind])


def finds(text: str, kind: str, name: str = "asked_words") -> bool:
    """Return whether a text contains a phrase of a list.

    >>> finds("Why did it fall?", "explanation")
    True
    """
    return listed(name, kind).search(text) is not None


@lru_cache(maxsize=16)
def patterns(name: str) -> dict[str, re.Pattern[str]]:
    """Return the regular expressions of `name`.yaml, without regard to case unless they begin with `(?-i)`.

    In each, `{digits}` stands for the one above of that name.
    """
    written: dict[str, str] = {}
    for kind, pattern in load_yaml(name).items():
        for above, piece in written.items():
            pattern = pattern.replace(f"{{{above}}}", f"(?:{piece.removeprefix(_EXACT)})")
        written[kind] = pattern
    return {
        kind: re.compile(pattern.removeprefix(_EXACT), 0 if pattern.startswith(_EXACT) else re.I)
        for kind, pattern in written.items()
    }


_EXACT = "(?-i)"


def any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for any of the phrases; it matches nothing if there are none.

    In a phrase, `trend*` also stands for `trends`, `(the)` may be left out, `is|was` is one of the two, `*` stands for
    up to four words, `...` for up to 80 characters, `^` and `$` for the beginning and the end of the text.

    >>> any_of(["how does|did ... account for", "^among"]).search("How did it account for leases?")[0]
    'How did it account for'
    """
    longest_first = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    return re.compile("|".join(map(_spelled, longest_first)) or r"(?!)", re.I | re.S)


def _spelled(phrase: str) -> str:
    """Return the pattern of one phrase."""
    spelled = r"^\W*" if phrase.startswith("^") else ""
    words = phrase.removeprefix("^").removesuffix("$").split()
    for place, word in enumerate(words):
        ways = re.escape(word.strip("()")).replace(r"\|", "|").replace(r"\*", r"\w*").replace("'", "['’]")
        behind = r"\s+" if place < len(words) - 1 else ""
        before, after = (r"\b" if mark.isalnum() else "" for mark in (word.strip("()")[:1], word.strip("()")[-1:]))
        if word in _GAPS:
            spelled += _GAPS[word]
        elif word.startswith("("):
            spelled += rf"(?:{before}(?:{ways}){after}{behind})?"
        else:
            spelled += rf"{before}(?:{ways}){after}{behind}"
    return spelled + (r"\W*$" if phrase.endswith("$") else "")


_GAPS = {"*": r"(?:[^\s?]+\s+){0,4}?", "...": r".{0,80}?"}
