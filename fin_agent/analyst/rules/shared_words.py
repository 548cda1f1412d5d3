"""Measures that share words of their names: `operating, investing and financing cash flows`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fin_agent.lexicon.lexicon import Lexicon

_LONGEST_ITEM = 3
_LONGEST_HEAD = 5
_WORD = re.compile(r"[A-Za-z][\w&'’-]*")


@dataclass(frozen=True, slots=True)
class Listing:
    """Names of measures that stand beside each other in a text."""

    start: int
    end: int
    members: tuple[str, ...]
    joined: str
    """The word before the last member."""
    activities: bool = False


def with_shared_words(text: str, lexicon: Lexicon) -> Listing | None:
    """`operating, investing and financing cash flows`, `cash from operating and investing activities`."""
    mentions = lexicon.mentions(text)
    for found in re.finditer(r"(?:,\s*)?\s(?P<joined>and|or|&|as\s+well\s+as)\s+(?:(?:its|the|their)\s+)?", text, re.I):
        if any(one.start < found.start("joined") and found.end("joined") < one.end for one in mentions):
            continue
        listing = _around(text, found, lexicon)
        if listing is not None:
            return listing
    return None


def _around(text: str, joint: re.Match[str], lexicon: Lexicon) -> Listing | None:
    left = re.split(r"[;:?.!()](?=\s|$)", text[: joint.start()])[-1]
    right = _run_of_words(text, joint.end())
    chunks = left.split(",")
    place = joint.start() - len(left)
    first = 0
    while len(chunks) - first > 1 and (
        any(not chunk.strip() or len(chunk.split()) > _LONGEST_ITEM for chunk in chunks[first + 1 :])
    ):
        first += 1
    for begin in range(first, len(chunks)):
        opening = chunks[begin]
        offset = place + len(",".join(chunks[:begin])) + (1 if begin else 0)
        middle = [" ".join(chunk.split()) for chunk in chunks[begin + 1 :]]
        words = _last_words(text, offset, opening)
        for listing in _fitting(text, words, middle, right, lexicon, joint.group("joined")):
            return listing
    return None


def _fitting(
    text: str,
    words: Sequence[re.Match[str]],
    middle: Sequence[str],
    right: Sequence[re.Match[str]],
    lexicon: Lexicon,
    joined: str,
) -> Iterator[Listing]:
    """Every way to part the words into what is shared and what is listed that names a measure each time."""
    for tail in range(min(4, len(right) - 1), -1, -1):
        for size in range(1, min(_LONGEST_ITEM, len(right) - tail) + 1):
            last = [one.group() for one in right[:size]]
            after = [one.group() for one in right[size : size + tail]]
            for head in range(min(_LONGEST_HEAD, len(words) - 1), -1, -1):
                if not head and not tail:
                    continue
                for own in range(1, min(_LONGEST_ITEM, len(words) - head) + 1):
                    taken = words[len(words) - head - own :]
                    before = [one.group() for one in taken[:head]]
                    items = [" ".join(one.group() for one in taken[head:]), *middle, " ".join(last)]
                    items = [_unbroken(item, items[-1]) for item in items]
                    names = [" ".join([*before, item, *after]) for item in items]
                    known = [named_whole(name, lexicon) for name in names]
                    if None not in known and len(set(known)) == len(known):
                        yield Listing(taken[0].start(), right[size + tail - 1].end(), tuple(names), joined)


def _unbroken(item: str, last: str) -> str:
    """`short-` beside `long-term` is `short-term`; so is `short` beside it."""
    if item.endswith("-") and "-" in last:
        return f"{item}{last.split('-', 1)[1]}"
    return item


def _run_of_words(text: str, start: int) -> list[re.Match[str]]:
    """Words from `start` with nothing but one space between them."""
    found: list[re.Match[str]] = []
    for one in _WORD.finditer(text, start):
        if one.start() != start or len(found) > _LONGEST_ITEM + 4:
            break
        found.append(one)
        start = one.end() + 1 if text[one.end() : one.end() + 1] == " " else -1
    return found


def _last_words(text: str, offset: int, chunk: str) -> list[re.Match[str]]:
    found = list(_WORD.finditer(text, offset, offset + len(chunk)))
    kept: list[re.Match[str]] = []
    for one in reversed(found):
        if kept and text[one.end() : kept[0].start()] != " ":
            break
        if len(kept) >= _LONGEST_ITEM + _LONGEST_HEAD:
            break
        kept.insert(0, one)
    return kept


def named_whole(words: str, lexicon: Lexicon) -> str | None:
    """Id of the metric or formula that `words` are the name of, from the first to the last; None for none."""
    found = lexicon.mentions(words)
    return found[0].id if len(found) == 1 and (found[0].start, found[0].end) == (0, len(words)) else None
