"""Classify pages that are mostly a table but not a primary statement."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from fin_agent.lexicon.entry_loading import Entries
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import Note, PageContent, TableKind

_PATTERNS = patterns("outline_patterns")


class Density(NamedTuple):
    """Counts of words on a page."""

    figures: int
    """Separate numbers and dashes."""
    words: int
    """Words that begin with a letter."""

    @property
    def table(self) -> bool:
        """Whether a page is mostly a table."""
        return self.figures >= _MIN_FIGURES_OF_TABLE and self.words <= _MAX_WORDS_PER_FIGURE * self.figures


def density_of(page: PageContent) -> Density:
    """Count the words of a page; from its text where the reader gives no positions."""
    figures = words = 0
    for token in (word.text for word in page.words) if page.words else page.text.split():
        if token[0].isalpha():
            words += 1
        elif _PATTERNS["stands alone"].match(token):
            figures += 1
    return Density(figures, words)


def may_be_table(text: str) -> bool:
    """Return False only for pages that are certainly not tables, by their share of digits; a quick test."""
    digits = sum(map(text.count, "0123456789"))
    return digits >= _MIN_FIGURES_OF_TABLE and digits * _MAX_CHARACTERS_PER_DIGIT >= len(text)


_MIN_FIGURES_OF_TABLE = 12
_MAX_WORDS_PER_FIGURE = 9
_MAX_CHARACTERS_PER_DIGIT = 40


def kinds_of(
    pages: Sequence[PageContent],
    form: Form,
    statements: Collection[int],
    items: Sequence[str | None],
    notes: Sequence[Note] = (),
    note_of_page: Mapping[int, str] | None = None,
) -> dict[int, TableKind]:
    """Return the kind by page number of pages that are mostly a table without a primary statement.

    A page headed by selected data, segments or the parent company alone is of that kind wherever it is, as are the
    notes about segments and the parent company. `items` are of each page; `notes` and `note_of_page` from `notes_of`.
    """
    titles = _titles()
    of_segments = {note.number for note in notes if titles["segment"].search(_plain(note.title))}
    of_parent = {note.number for note in notes if titles["parent_only"].search(_plain(note.title))}
    kinds: dict[int, TableKind] = {}
    for page, item in zip(pages, items, strict=True):
        if page.number in statements:
            continue
        if _is_parenthetical(page.text):
            kinds[page.number] = TableKind.PARENTHETICAL
        elif _mostly_table(page):
            note = (note_of_page or {}).get(page.number, "")
            head = _head_of(page.text)
            goes_on = kinds.get(page.number - 1) is TableKind.PARENT_ONLY and not note
            of_parent_only = note in of_parent or _names(head, titles["parent_only"])
            if of_parent_only or (goes_on and not _names(head, _PATTERNS["other schedule"])):
                kinds[page.number] = TableKind.PARENT_ONLY
            elif note:
                kinds[page.number] = TableKind.SEGMENT if note in of_segments else TableKind.OTHER
            elif (item and item == _SELECTED_DATA.get(form)) or _names(head, titles["selected_data"]):
                kinds[page.number] = TableKind.SELECTED_DATA
            elif item and item == _DISCUSSION.get(form):
                kinds[page.number] = TableKind.MDNA
            else:
                kinds[page.number] = TableKind.SEGMENT if _names(head, titles["segment"]) else TableKind.OTHER
    return kinds


_SELECTED_DATA = {Form.TEN_K: "6", Form.ANNUAL_REPORT: "6"}
_DISCUSSION = {Form.TEN_K: "7", Form.ANNUAL_REPORT: "7", Form.TEN_Q: "2"}
_PARENTHETICAL_WITHIN = 900
_MIN_DIGITS = 4
_WORDS_PER_FIGURE = 5
_CHARACTERS_PER_DIGIT = 20
_MIN_FIGURES = 12


def _is_parenthetical(text: str) -> bool:
    head = text[:_PARENTHETICAL_WITHIN]
    named = "parenthetical" in head.lower() and _PATTERNS["parenthetical"].search(head) is not None
    return named and sum(map(text.count, "0123456789")) >= _MIN_DIGITS


def _mostly_table(page: PageContent) -> bool:
    digits = sum(map(page.text.count, "0123456789"))
    if not may_be_table(page.text) or digits * _CHARACTERS_PER_DIGIT < len(page.text) - page.text.count("."):
        return False
    figures, words = density_of(page)
    return figures >= _MIN_FIGURES and words <= _WORDS_PER_FIGURE * figures


def _head_of(text: str) -> list[str]:
    """Return the lines at the top of a page that look like headings, up to the first row of figures, in plain words."""
    lines: list[str] = []
    printed = [plain for line in text[:_HEAD_CHARACTERS].split("\n") if (plain := _plain(line))]
    for plain, after in pairwise([*printed, ""]):
        if len(plain) < _MIN_HEAD_LENGTH or _PATTERNS["figure"].search(plain) or _PATTERNS["figure"].match(after):
            continue
        if len(plain) > _MAX_HEAD_LENGTH or len(lines) == _HEAD_LINES:
            break
        lines.append(plain)
    return lines


def _names(head: Sequence[str], titles: re.Pattern[str]) -> bool:
    """Return whether a heading contains one of the titles and is not a sentence about it."""
    return any(titles.search(line) is not None and _PATTERNS["sentence"].search(line) is None for line in head)


_MIN_HEAD_LENGTH = 5
_MAX_HEAD_LENGTH = 110
_HEAD_LINES = 6
_HEAD_CHARACTERS = 1200


def _plain(text: str) -> str:
    return _PATTERNS["dashes and spaces"].sub(" ", text.lower()).strip()


@lru_cache(maxsize=1)
def _titles() -> Mapping[str, re.Pattern[str]]:
    entries = Entries()
    entries.read_built_in("page_kinds")
    titles: dict[str, re.Pattern[str]] = {}
    for kind in ("parent_only", "segment", "selected_data"):
        phrases = sorted(map(_plain, entries.lists[f"{kind}_titles"]), key=lambda phrase: (-len(phrase), phrase))
        titles[kind] = re.compile(rf"\b(?:{'|'.join(map(re.escape, phrases))})\b")
    return titles
