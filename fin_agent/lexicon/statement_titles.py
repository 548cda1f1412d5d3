"""Recognize the titles and rows of primary statements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from fin_agent.errors import LexiconError
from fin_agent.lexicon.entry_loading import Entries, StatementNames
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.page import Statement


class StatementTitles:
    """Titles and typical rows of the primary statements, compiled from the lexicon.

    >>> titles = built_in_statement_titles()
    >>> titles.match("Statement of Consolidated Income (Unaudited)")
    <Statement.INCOME: 'income'>
    >>> titles.match("Consolidated Balance Sheets (Parenthetical)") is None
    True
    """

    def __init__(self, names: Mapping[str, StatementNames], lists: Mapping[str, Sequence[str]]) -> None:
        """Compile the titles; `lists` are the words around titles. Raises LexiconError for an invalid row pattern."""
        qualifiers = _any_of(map(letters_only, lists["title_qualifiers"]))
        endings = _any_of(map(letters_only, lists["title_endings"]))
        self._moved = re.compile(f"(statementof(?:changesin)?)((?:{qualifiers})+)")
        self.rows: dict[Statement, StatementRows] = {}
        self._whole: list[tuple[Statement, re.Pattern[str]]] = []
        self._around: list[tuple[Statement, re.Pattern[str]]] = []
        self._bare: list[tuple[Statement, re.Pattern[str]]] = []
        # Comprehensive income first, because its titles end like those of income.
        for name in sorted(names, key=lambda name: name != Statement.COMPREHENSIVE_INCOME):
            statement, kind = Statement(name), names[name]
            self.rows[statement] = StatementRows(_compiled(name, kind.rows), kind.at_least)
            titles, words = _any_of(map(_folded, map(letters_only, kind.titles))), f"(?:{qualifiers})"
            bare = rf"(?:{titles})(?:{endings})*$"
            around = f"^{words}+(?:{titles})(?:{endings})*.{{3,60}}$|^.{{3,60}}?{words}+{bare}"
            self._whole.append((statement, re.compile(f"^{words}*{bare}")))
            self._around.append((statement, re.compile(around)))
            if kind.bare_titles:
                phrases = _any_of(map(_folded, map(letters_only, kind.bare_titles)))
                heading = f"^{words}+(?:{phrases})(?:{endings})*(?:(?:for|at|asof).*)?$"
                self._bare.append((statement, re.compile(heading)))
        self._never = re.compile("|".join(letters_only(word) for word in lists["not_statements"]))
        self.other_pages = re.compile("|".join(re.escape(word) for word in lists["not_statement_pages"]))
        """Found in the lower-case words at the head of a page that shows no primary statement."""

    def match(self, line: str) -> Statement | None:
        """Return the statement whose title a line or caption is; parenthetical and parent-only ones do not count."""
        text = letters_only(line)
        fits = _MIN_LENGTH <= len(text) <= _MAX_LENGTH and _TITLE_WORD.search(text)
        if not fits or self._never.search(text):
            return None
        text = self._moved.sub(r"\2\1", _folded(text))
        ways = (*self._whole, *self._around)
        return next((statement for statement, pattern in ways if pattern.match(text)), None)

    def match_bare(self, line: str) -> Statement | None:
        """Return the statement that a heading such as "Consolidated Results of Operations" may announce."""
        text = letters_only(line)
        if len(text) > _MAX_LENGTH or self._never.search(text):
            return None
        text = _folded(text)
        return next((statement for statement, pattern in self._bare if pattern.match(text)), None)


@dataclass(frozen=True, slots=True)
class StatementRows:
    """Typical rows of a statement, and the minimum number of kinds on one of its pages."""

    patterns: tuple[re.Pattern[str], ...]
    at_least: int

    def hits(self, lower_text: str) -> int:
        """Return how many kinds of rows occur in a text in lower case."""
        return sum(1 for row in self.patterns if row.search(lower_text))


_MAX_LENGTH = 150
_MIN_LENGTH = 8
_TITLE_WORD = re.compile("statement|balancesheet|profitandlossaccount")
_NOT_LETTERS = re.compile(r"[^a-z]+")


def letters_only(text: str) -> str:
    """Return the letters of a text in lower case."""
    return _NOT_LETTERS.sub("", text.lower())


@lru_cache(maxsize=1)
def built_in_statement_titles() -> StatementTitles:
    """Return the statement titles of the package's own lexicon, without loading the rest. Raises LexiconError."""
    entries = Entries()
    entries.read_built_in("statements")
    return StatementTitles(entries.checked("statements", StatementNames), entries.lists)


def _folded(text: str) -> str:
    for fold, pattern in patterns("title_folds").items():
        text = pattern.sub(fold, text)
    return text


def _any_of(phrases: Iterable[str]) -> str:
    return "|".join(sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase)))


def _compiled(name: str, rows: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    try:
        return tuple(re.compile(row, re.M) for row in rows)
    except re.error as error:
        remedy = "Correct it; it is matched against the page's text in lower case"
        what = f"a row is not a regular expression ({error})"
        raise LexiconError(what, subject=f"statements {name}", remedy=remedy) from error
