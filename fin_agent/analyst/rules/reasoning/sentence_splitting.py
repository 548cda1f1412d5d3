"""Split the text of a passage into sentences and list items under their headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from fin_agent.lexicon.words import finds

_SENTENCE = re.compile(
    r"(?<=[.?!;])(?<!\b[A-Z]\.)(?<!\b(?:Mr|Ms|Dr|St|No|vs)\.)(?<!\b(?:Mrs|Inc|Ltd)\.)[\"”)]?\s+(?=[A-Z“\"•]|\(\w{1,3}\))"
    r"|\s*•\s*"
)
"""An initial or a title ends no sentence (`Rolf H. Anselm`), and neither does text before parentheses (`Inc. (the`)."""
_ITEM = re.compile(r"^\s*(?:[•●▪◦■‣·∙]|[-–—*](?=\s)|\((?:\d{1,2}|[a-z]|[ivx]{1,4})\)(?=\s)|\d{1,2}\)(?=\s))\s*")
_TAIL = 12
"""Characters of the first cell of a table below a sentence."""
_ENDS = (".", "?", "!", ":", ";", ".”", '."', ".)", "!”")
_PAIRS = (("(", ")"), ("“", "”"))
_FIRST_WORDS = 40
_MAX_LENGTH = 600
_SHORT_ITEM = 60
_HEADING = 0.5
"""A line shorter than this share of the longest is a heading, unless it ends a sentence."""
_LAST_LINE = 0.8
"""A line shorter than this share of the longest that ends a sentence ends its paragraph."""
_MAX_FIGURES = 0.3
_MIN_PLAIN_WORDS = 3
_MIN_LETTERS = 20


@dataclass(frozen=True, slots=True)
class Paragraph:
    """The text between two headings or bullets."""

    sentences: tuple[str, ...]
    heading: str = ""
    item: bool = False
    """Whether it is an item of a list."""


@lru_cache(maxsize=1024)
def paragraphs_of(text: str) -> tuple[Paragraph, ...]:
    """Return the paragraphs of a page's text: lines joined, headers, footers and table cells removed."""
    found = []
    for heading, item, words in _blocks(text):
        sentences = _sentences(words, item=item)
        if sentences:
            found.append(Paragraph(tuple(sentences), heading, item))
    return tuple(found)


def is_complete_sentence(sentence: str) -> bool:
    """Return whether a text begins and ends like a sentence; a page break may cut it at either end.

    >>> is_complete_sentence("We have two segments."), is_complete_sentence("and those wrongdoers use their power;")
    (True, False)
    """
    first = sentence[:_FIRST_WORDS]
    cut = any(0 <= first.find(closing) < (first + opening).find(opening) for opening, closing in _PAIRS)
    return sentence.endswith(_ENDS) and not sentence[:1].islower() and not cut


def _blocks(text: str) -> Iterator[tuple[str, bool, str]]:
    """Yield (heading, whether it is a list item, words) of each paragraph."""
    lines = [line for line in text.split("\n") if not _is_furniture(line.strip()) or _is_cell(line)]
    width = max(map(len, lines), default=0)
    heading, item = "", False
    block: list[str] = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        stripped = line.strip()
        bullet = _ITEM.match(line)
        if bullet or not stripped or _is_cell(line):
            if block:
                yield heading, item, _joined(block)
            elif not bullet and not stripped and item:
                continue  # an empty line between a bullet and its words
            block, item = (
                ([stripped[bullet.end() :]] if stripped[bullet.end() :] else []) if bullet else [],
                bool(bullet),
            )
            continue
        short = len(line) < _HEADING * width and not stripped.endswith((".", ",", ";", ":", "-", "–", "—"))
        if not block and not item and short and (_is_cell(following) or following.strip()[:1].isupper()):
            if not _is_cell(following) and not finds(stripped, "unit lines", "row_words"):
                heading = stripped
            continue
        if short and _is_cell(following) and not item:
            if block:
                yield heading, item, _joined(block)
            block = []
            continue
        block.append(stripped)
        ended = stripped.endswith(_ENDS) and len(line) < _LAST_LINE * width
        goes_on = sum(map(len, block)) > width and not stripped.endswith(_ENDS)  # a line break inside a sentence
        if ((short and not goes_on) or ended) and following.strip()[:1].isupper():
            yield heading, item, _joined(block)
            block, item = [], False
    if block:
        yield heading, item, _joined(block)


def _joined(lines: Sequence[str]) -> str:
    """Join lines; a word broken at a hyphen is joined (`forward-` and `looking`)."""
    return re.sub(r"(?<=[a-z])- (?=[a-z])(?!- (?:and|or|to)\b)", "-", " ".join(lines))


def _sentences(paragraph: str, *, item: bool) -> list[str]:
    found: list[str] = []
    for part in _join_series(split_sentences(paragraph)):
        sentence = _without_cell(" ".join(part.split())[:_MAX_LENGTH])
        letters = sum(character.isalpha() for character in sentence)
        words = sentence.split()
        if item and not found and letters >= 3 and letters > 0.5 * len(sentence):
            found.append(sentence)
            continue
        figures = sum(any(mark.isdigit() for mark in word) for word in words)
        if figures > _MAX_FIGURES * len(words) and not sentence.endswith("."):
            continue  # a run of table cells, not a sentence
        plain = sum(word.islower() for word in words)
        if letters >= _MIN_LETTERS and letters > 0.5 * len(sentence) and plain >= _MIN_PLAIN_WORDS:
            found.append(sentence)
    return found


def _without_cell(sentence: str) -> str:
    """Return a sentence without the cell of a table that follows its colon."""
    said, colon, cell = sentence.rpartition(": ")
    return f"{said}." if colon and said[-1:].isalnum() and cell.isalnum() and len(cell) <= _TAIL else sentence


def split_sentences(text: str) -> list[str]:
    """Return the pieces of a text between ends of sentences and bullets."""
    return _SENTENCE.split(text)


def _join_series(parts: Sequence[str]) -> list[str]:
    """Join parts of sentences: an enumeration after a colon continues over semicolons."""
    joined: list[str] = []
    for part in parts:
        if joined and joined[-1].endswith(";") and (": " in joined[-1] or len(part) < _SHORT_ITEM):
            joined[-1] = f"{joined[-1]} {part}"
        else:
            joined.append(part)
    return joined


def _is_furniture(line: str) -> bool:
    """Return whether a line repeats on every page."""
    return (
        line.lower() in ("table of contents", "index") or line.startswith("©") or (line.isdecimal() and len(line) < 4)
    )


def _is_cell(line: str) -> bool:
    """Return whether a line has figures without words: `$`, `1,934`, `(80.4)%`."""
    return bool(line.strip()) and not any(mark.isalpha() for mark in line) and not _ITEM.match(line)


_MAX_LIST_LENGTH = 900
_MAX_ITEM_LENGTH = 110
_MAX_ITEMS = 20
_ITEM_ENDS = re.compile(r"\s[—–]\s|:\s|;|,\s+(?:which|including|that|such|where|with|as)\b|\s\(|\.\s|\.$")
_ENUMERATION = re.compile(
    r"\((?:i|1|a)\).*\((?:ii|2|b)\)|^.{30,}:\s[^.:]{3,}(?:,|;|\band\b)|\s[–—-]\s[^.:]{3,},?\sand\s"
)


@dataclass(frozen=True, slots=True)
class PrintedList:
    """List items with the text that announces them."""

    lead: str
    items: tuple[str, ...]
    heading: str
    position: int
    """Position of the lead among the passage's sentences."""
    last: int

    @property
    def text(self) -> str:
        """The whole list as one sentence; long items are shortened."""
        items = [_trimmed(item) for item in self.items]
        if sum(map(len, items)) > _MAX_LIST_LENGTH:
            items = [_opening(item) for item in self.items]
        return f"{self.lead} {'; '.join(items[:_MAX_ITEMS])}."


def printed_lists(paragraphs: Sequence[Paragraph]) -> Iterator[PrintedList]:
    """Yield the items after a sentence that ends in a colon, or after a heading."""
    position = 0
    lead: tuple[str, int] | None = None
    items: list[str] = []
    heading = ""
    for paragraph in [*paragraphs, Paragraph(("",))]:
        if paragraph.item:
            if not items:
                heading = paragraph.heading
            items.append(paragraph.sentences[0])
        else:
            if lead is not None and items and (len(items) == 1 or len(set(items)) > 1):
                yield PrintedList(lead[0], tuple(items), heading, lead[1], position - 1)
            items = []
            last = paragraph.sentences[-1]
            lead = (last, position + len(paragraph.sentences) - 1) if last.endswith(":") else None
        position += len(paragraph.sentences)


def is_enumeration(sentence: str) -> bool:
    """Return whether a sentence announces several things and names them.

    >>> is_enumeration("There are two reportable segments: Consumer and Business."), is_enumeration("We have segments.")
    (True, False)
    """
    return _ENUMERATION.search(sentence) is not None


def _trimmed(item: str) -> str:
    bare = item.removesuffix(" and").removesuffix(" or").strip()
    return bare[:-1].strip() if bare.endswith((";", ",", ".")) else bare


def _opening(item: str) -> str:
    cut = _ITEM_ENDS.split(item, maxsplit=1)[0].strip()
    if len(cut) <= _MAX_ITEM_LENGTH:
        return _trimmed(cut)
    return _trimmed(cut[:_MAX_ITEM_LENGTH].rsplit(" ", 1)[0]) + " …"
