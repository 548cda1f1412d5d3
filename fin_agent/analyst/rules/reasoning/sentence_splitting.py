"""Split the text of a passage into sentences and list items under their headings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import filterfalse, takewhile

from fin_agent.lexicon.words import patterns

_PATTERNS = patterns("sentence_patterns")
_ENDS = (".", "?", "!", ":", ";", ".”", '."', ".)", "!”")
_GOES_ON = (".", ",", ";", ":", "-", "–", "—")
"""Ends of a line that is no heading."""
_FIRST_WORDS = 40
_MAX_LENGTH = 600
_HEADING, _LAST_LINE = 0.5, 0.8
"""A line shorter than these shares of the longest is a heading, or ends its paragraph if it ends a sentence."""
_MAX_FIGURES = 0.3
_MIN_PLAIN_WORDS, _SHORT_WORD = 3, 3
_MIN_LETTERS, _MIN_LETTERS_OF_ITEM = 20, 3
_MAX_LIST_LENGTH = 900
_MAX_ITEM_LENGTH = 110
_MAX_ITEMS = 20


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
    made = (Paragraph(tuple(_sentences(words, item=item)), heading, item) for heading, item, words in _blocks(text))
    return tuple(paragraph for paragraph in made if paragraph.sentences)


def is_complete_sentence(sentence: str) -> bool:
    """Return whether a text begins and ends like a sentence; a page break may cut it at either end.

    >>> is_complete_sentence("We have two segments."), is_complete_sentence("and those wrongdoers use their power;")
    (True, False)
    """
    first = sentence[:_FIRST_WORDS]
    cut = -1 < first.find(")") < (first + "(").find("(")
    return sentence.endswith(_ENDS) and begins_sentence(sentence) and not cut


def begins_sentence(text: str) -> bool:
    """Return whether a text begins with a capital, or a name with one inside, such as `iPad`."""
    return not text[:1].islower() or text[1:2].isupper()


def _blocks(text: str) -> Iterator[tuple[str, bool, str]]:
    """Yield (heading, whether it is a list item, words) of each paragraph."""
    lines = list(filterfalse(_is_furniture, text.split("\n")))
    width = max(map(len, lines), default=0)
    heading, item = "", False
    block: list[str] = []
    for at, (line, following) in enumerate(zip(lines, [*lines[1:], ""], strict=True)):
        stripped = line.strip()
        bullet = _PATTERNS["item"].match(line)
        if bullet or not any(map(str.isalpha, line)):
            if item and not (block or bullet or stripped):
                continue  # an empty line between a bullet and its words
            yield heading, item, _joined(block)
            words = stripped[bullet.end() :] if bullet else ""
            block, item = [words] if words else [], bullet is not None
            continue
        above_capital = any(map(str.isupper, following.strip()[:2]))
        short = len(line) < _HEADING * width and not stripped.endswith(_GOES_ON)
        if short and _is_heading(stripped, [*lines[at + 1 :], ""], width) and not (item or block):
            heading = stripped
            continue
        block.append(stripped)
        # A line break inside a sentence does not end its paragraph.
        ends = stripped.endswith(_ENDS)
        if above_capital and (len(line) < _LAST_LINE * width if ends else short and sum(map(len, block)) <= width):
            yield heading, item, _joined(block)
            block, item = [], False
    yield heading, item, _joined(block)


def _is_heading(line: str, behind: Sequence[str], width: int) -> bool:
    """Return whether a line stands over a text: over a capital, or in capitals apart from the long lines of a text."""
    if behind[0].strip():
        return any(map(str.isupper, behind[0].strip()[:2]))
    text = next(filter(str.strip, behind), "")
    titled = not any(word[0].islower() and len(word) > _SHORT_WORD for word in line.split())
    return titled and len(text) > _HEADING * width and sum(map(str.islower, text.split())) >= _MIN_PLAIN_WORDS


def _joined(lines: Sequence[str]) -> str:
    """Join lines; a word broken at a hyphen is joined (`forward-` and `looking`)."""
    return _PATTERNS["hyphen"].sub("-", " ".join(lines))


def _sentences(paragraph: str, *, item: bool) -> list[str]:
    """Return the sentences of a paragraph, without runs of table cells and fragments; the first of an item stays."""
    found: list[str] = []
    for part in split_sentences(paragraph):
        sentence = " ".join(part.split())[:_MAX_LENGTH]
        words = sentence.split()
        letters = sum(map(str.isalpha, sentence))
        figures = sum(any(map(str.isdigit, word)) for word in words)
        cells = figures > _MAX_FIGURES * len(words) and not sentence.endswith(".")
        prose = letters >= _MIN_LETTERS and sum(map(str.islower, words)) >= _MIN_PLAIN_WORDS and not cells
        begins_item = item and not found and letters >= _MIN_LETTERS_OF_ITEM
        if letters > 0.5 * len(sentence) and (begins_item or prose):
            found.append(sentence)
    return found


def split_sentences(text: str) -> list[str]:
    """Return the pieces of a text between ends of sentences and bullets."""
    return _PATTERNS["end"].split(text)


def _is_furniture(line: str) -> bool:
    """Return whether a line repeats on every page."""
    return line.strip().lower() in ("table of contents", "index") or line.strip().startswith("©")


@dataclass(frozen=True, slots=True)
class PrintedList:
    """List items with the sentence that announces them."""

    lead: str
    items: tuple[str, ...]
    heading: str
    position: int
    """Position of the lead among the passage's sentences."""

    @property
    def text(self) -> str:
        """The whole list as one sentence; the items of a long one are shortened."""
        items = [item.removesuffix(" and").removesuffix(" or").strip(" .,;") for item in self.items]
        if sum(map(len, items)) > _MAX_LIST_LENGTH:
            items = [item if len(item) <= _MAX_ITEM_LENGTH else f"{item[:_MAX_ITEM_LENGTH]} …" for item in items]
        return f"{self.lead} {'; '.join(items[:_MAX_ITEMS])}."


def printed_lists(paragraphs: Sequence[Paragraph]) -> Iterator[PrintedList]:
    """Yield the items after each sentence that ends in a colon."""
    position = 0
    for place, paragraph in enumerate(paragraphs):
        position += len(paragraph.sentences)
        lead = paragraph.sentences[-1]
        if not paragraph.item and lead.endswith(":"):
            items = takewhile(lambda one: one.item, paragraphs[place + 1 :])
            printed = tuple(one.sentences[0] for one in items)
            if printed:
                yield PrintedList(lead, printed, paragraph.heading, position - 1)


def is_enumeration(sentence: str) -> bool:
    """Return whether a sentence announces several things and names them.

    >>> is_enumeration("There are two reportable segments: Consumer and Business."), is_enumeration("We have segments.")
    (True, False)
    """
    return _PATTERNS["enumeration"].search(sentence) is not None
