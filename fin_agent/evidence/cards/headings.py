"""Headings: the title over a passage."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fin_agent.evidence.cards.sources import PassageSource
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.lexicon.words import word_lists

_MOST_CHARACTERS = 120
_LONGEST_LINE = 90
_FEWEST_LETTERS = 4
_LINES_LOOKED_AT = 60
_CAPITALISED = 0.6
"""Share of a heading's longer words that begin with a capital letter."""
_MOST_HEADINGS = 3
_TITLE_LINES = 15

_LETTERS = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")
_SENTENCES = re.compile(r"(?:(?<=[a-z0-9)”\"][.:;])|(?<=[.][”\"]))\s+(?=[A-Z“\"(])")
_CONTENTS = re.compile(r"^(?:(?:table of contents|index|part [iv]+)\s+)+", re.IGNORECASE)
_FOOTER = re.compile(
    r"annual report on form|quarterly report on form|\bform (?:10|8|20)-|all rights reserved|see accompanying notes"
    r"|^(?:part [iv]+ ?)?item [\d.]+[abc]?$|^part [iv]+$|^notes to (?:the )?(?:\w+ ){0,3}financial statements"
)
_FIGURES = re.compile(r"(?:[($]*\d[\d,.]*[)%]*\s*){2,}$")
"""The end of a row of a table."""
_SPACE = re.compile(r"\s+")


def heading_of(source: PassageSource) -> str:
    """The title over a passage, on a line of at most 120 characters: of its table, else its note, else its page."""
    company = source.identity.company.lower().strip(" .,")
    if source.page.statement is not None and (title := _statement_title(source)):
        return title
    if source.table is not None and (caption := _title_in(source.table.caption, company)):
        return caption
    if source.note is not None and _is_named(source.note.title):
        return _cut(source.note.title)
    if not source.is_table:
        own = next(headings_in(source), None)
        if own is not None:
            return own
    title = _plain(source.page.title)
    if title and _is_heading(title, company):
        return _cut(title)
    return ""


def _statement_title(source: PassageSource) -> str:
    """The line on the page of a primary statement that says which it is; empty where several begin on the page."""
    if source.page.further_statements:
        return ""
    lines = map(_plain, source.page.text.split("\n", _TITLE_LINES)[:_TITLE_LINES])
    statement = source.page.statement
    return next((_cut(line) for line in lines if line and load_lexicon().statement_of_title(line) is statement), "")


def headings_in(source: PassageSource) -> Iterator[str]:
    """Lines of the passage's running text that are set as headings, in order, at most three."""
    company = source.identity.company.lower().strip(" .,")
    found = 0
    before = ""
    for line in source.passage.text.split("\n", _LINES_LOOKED_AT)[:_LINES_LOOKED_AT]:
        stripped = line.strip()
        if len(stripped) <= _LONGEST_LINE and not before.endswith((",", "-")) and _is_heading(stripped, company):
            yield _plain(stripped).rstrip(" :")
            found += 1
            if found == _MOST_HEADINGS:
                return
        before = stripped


def _title_in(caption: str, company: str) -> str:
    """The last part of a caption that is set as a title; else its last sentence, which leads over to the table."""
    text = _CONTENTS.sub("", _plain(caption[-4 * _MOST_CHARACTERS :]))
    if not text:
        return ""
    parts: list[str] = [part.strip() for part in _SENTENCES.split(text)]
    parts = [part for part in parts if part[:1] != "(" and part.lower().strip(" .:") not in _no_headings()]
    if not parts:
        return ""
    for part in reversed(parts):
        if len(part) <= _LONGEST_LINE and _is_heading(part, company):
            return part.rstrip(" :")
    last = parts[-1].lower()
    leads = any(word in last for word in word_lists("heading_words")["lead over"])
    return _cut(parts[-1].rstrip(" :")) if leads and _is_named(last) else ""


def _is_named(title: str) -> bool:
    return sum(map(str.isalpha, title)) >= _FEWEST_LETTERS


def _is_heading(line: str, company: str) -> bool:
    if len(line) < _FEWEST_LETTERS or line[-1] in ".,;-–—%" or line[0] in "([$•*%©" or line[0].islower():
        return False
    words = _LETTERS.findall(line)
    letters = sum(map(len, words))
    if letters < _FEWEST_LETTERS or 2 * letters < len(line):
        return False
    if line.count("(") != line.count(")") or _FIGURES.search(line):
        return False
    low = _plain(line).lower().strip(" .,:")
    if low in _no_headings() or _FOOTER.search(low) or low.startswith(company or "\0"):
        return False
    longer = [word for word in words if len(word) > 3]
    return bool(longer) and sum(not word[0].islower() for word in longer) >= _CAPITALISED * len(longer)


def _no_headings() -> frozenset[str]:
    return word_lists("heading_words")["no headings"]


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def _cut(text: str, most: int = _MOST_CHARACTERS) -> str:
    """At most `most` characters, ended at a word."""
    line = _plain(text)
    if len(line) <= most:
        return line
    head, _, _ = line[:most].rpartition(" ")
    return head or line[:most]
