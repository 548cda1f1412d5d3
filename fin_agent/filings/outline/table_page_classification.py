"""Classify pages that are mostly a table but not a primary statement."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from fin_agent.lexicon.entry_loading import Entries
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import Note, PageContent, TableKind


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
        elif _STANDS_ALONE.match(token):
            figures += 1
    return Density(figures, words)


def may_be_table(text: str) -> bool:
    """Return False only for pages that are certainly not tables, by their share of digits; a quick test."""
    digits = sum(map(text.count, "0123456789"))
    return digits >= _MIN_FIGURES_OF_TABLE and digits * _MAX_CHARACTERS_PER_DIGIT >= len(text)


_STANDS_ALONE = re.compile(r"[$(]*\d[\d,.]*[%)]*$|[—–-]$")
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
    notes about segments and the parent company.

    Args:
        pages: Pages of the filing.
        form: Its form.
        statements: Numbers of the pages with primary statements.
        items: Item of each page.
        notes: Notes from `notes_of`.
        note_of_page: Note of each page number, from `notes_of`.
    """
    place = _Place(
        form,
        frozenset(note.number for note in notes if _titles().segment.search(_plain(note.title))),
        frozenset(note.number for note in notes if _titles().parent_only.search(_plain(note.title))),
    )
    kinds: dict[int, TableKind] = {}
    before: TableKind | None = None
    for page, item in zip(pages, items, strict=True):
        kind: TableKind | None = None
        if page.number not in statements:
            note = (note_of_page or {}).get(page.number, "")
            kind = TableKind.PARENTHETICAL if _is_parenthetical(page.text) else None
            if kind is None and _mostly_table(page):
                kind = _kind_of_table(_Head.of(page.text), place, item, note, before)
        if kind is not None:
            kinds[page.number] = kind
        before = kind
    return kinds


class _Place(NamedTuple):
    form: Form
    segment_notes: frozenset[str]
    parent_notes: frozenset[str]


def _kind_of_table(head: _Head, place: _Place, item: str | None, note: str, before: TableKind | None) -> TableKind:
    titles = _titles()
    goes_on = before is TableKind.PARENT_ONLY and not note and not head.names(_OTHER_SCHEDULE)
    if goes_on or note in place.parent_notes or head.names(titles.parent_only):
        return TableKind.PARENT_ONLY
    if note in place.segment_notes:
        return TableKind.SEGMENT
    if note:
        return TableKind.OTHER
    if (item and item == _SELECTED_DATA.get(place.form)) or head.names(titles.selected_data):
        return TableKind.SELECTED_DATA
    if item and item == _DISCUSSION.get(place.form):
        return TableKind.MDNA
    return TableKind.SEGMENT if head.names(titles.segment) else TableKind.OTHER


_SELECTED_DATA = {Form.TEN_K: "6", Form.ANNUAL_REPORT: "6"}
_DISCUSSION = {Form.TEN_K: "7", Form.ANNUAL_REPORT: "7", Form.TEN_Q: "2"}
_OTHER_SCHEDULE = re.compile(
    r"schedule (?:ii|iii|iv|v)\b|exhibit|valuation and qualifying|signature|report of independent"
)
_PARENTHETICAL_WITHIN = 900
_PARENTHETICAL = re.compile(
    r"(?:statements?|sheets?|position|condition)\b[^\n]{0,80}\n?[^\n]{0,40}\(?[ ]?parenthetical", re.I
)
_MIN_DIGITS = 4
_WORDS_PER_FIGURE = 5
_CHARACTERS_PER_DIGIT = 20
_MIN_FIGURES = 12


def _is_parenthetical(text: str) -> bool:
    head = text[:_PARENTHETICAL_WITHIN]
    if "arenthetical" not in head and "ARENTHETICAL" not in head:
        return False
    return _PARENTHETICAL.search(head) is not None and sum(map(text.count, "0123456789")) >= _MIN_DIGITS


def _mostly_table(page: PageContent) -> bool:
    text = page.text
    if not may_be_table(text):
        return False
    digits = sum(map(text.count, "0123456789"))
    if digits * _CHARACTERS_PER_DIGIT < len(text) - text.count("."):
        return False
    figures, words = density_of(page)
    return figures >= _MIN_FIGURES and words <= _WORDS_PER_FIGURE * figures


class _Head(NamedTuple):
    """The lines at the top of a page that look like headings."""

    lines: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> _Head:
        """Return short lines among the first ones, in plain words, up to the first row of figures."""
        lines: list[str] = []
        printed = [plain for line in text[:_HEAD_CHARACTERS].split("\n") if (plain := _plain(line))]
        for plain, after in pairwise([*printed, ""]):
            if len(plain) < _MIN_HEAD_LENGTH or _FIGURE.search(plain) or _FIGURE.match(after):
                continue
            if len(plain) > _MAX_HEAD_LENGTH or len(lines) == _HEAD_LINES:
                break
            lines.append(plain)
        return cls(tuple(lines))

    def names(self, titles: re.Pattern[str]) -> bool:
        """Return whether a heading contains one of the titles and is not a sentence about it."""
        return any(titles.search(line) is not None and _CITES.search(line) is None for line in self.lines)


_MIN_HEAD_LENGTH = 5
_MAX_HEAD_LENGTH = 110
_HEAD_LINES = 6
_HEAD_CHARACTERS = 1200
_FIGURE = re.compile(r"\$ ?(?:\d|$)|\(?\d{1,3},\d{3}|\(?\d+\.\d\b")
"""A row of a table, and no heading."""
_CITES = re.compile(r"\b(?:see|refer to|included in|presented in|following|accompanying|is|are|was|were)\b")
_DASHES_AND_SPACES = re.compile(r"[\s\u00a0‐‑–—-]+")


def _plain(text: str) -> str:
    return _DASHES_AND_SPACES.sub(" ", text.lower()).strip()


class _Titles(NamedTuple):
    parent_only: re.Pattern[str]
    segment: re.Pattern[str]
    selected_data: re.Pattern[str]


@lru_cache(maxsize=1)
def _titles() -> _Titles:
    entries = Entries()
    entries.read_built_in("page_kinds")
    return _Titles(*(_any_of(entries.lists[name]) for name in _TITLE_LISTS))


_TITLE_LISTS = ("parent_only_titles", "segment_titles", "selected_data_titles")


def _any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    words = sorted({_plain(phrase) for phrase in phrases}, key=lambda phrase: (-len(phrase), phrase))
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b")
