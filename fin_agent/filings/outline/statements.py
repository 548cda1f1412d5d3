"""Which pages carry the primary consolidated statements, found by title and by their typical rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import yaml

from fin_agent.errors import LexiconError
from fin_agent.filings.filing import PageContent, Statement


def statements_of(pages: Sequence[PageContent]) -> dict[int, Statement]:
    """Page number -> statement, for pages of the primary consolidated statements only.

    A page counts when a title stands on it and enough of that statement's rows follow. Tables elsewhere may look
    alike (selected data, notes, parent-only schedules); the primary statements stand together, so the run of pages
    with most statements is taken. Pages that go on with a statement without repeating its title belong to it.
    """
    candidates = [found for page, after in _with_next(pages) if (found := _candidate(page, after)) is not None]
    chosen = _together(candidates)
    result = {found.page: found.statement for found in chosen}
    by_number = {page.number: page for page in pages}
    for found in chosen:
        number = found.page + 1
        while number not in result and number in by_number and _goes_on(by_number[number], result[number - 1]):
            result[number] = result[number - 1]
            number += 1
    return dict(sorted(result.items()))


def statement_titled(text: str) -> Statement | None:
    """The statement whose title the line or caption `text` is, or None."""
    return _titles().match(_squeeze(text))


@dataclass(frozen=True, slots=True)
class _Candidate:
    page: int
    statement: Statement
    hits: int


@dataclass(frozen=True, slots=True)
class _Kind:
    statement: Statement
    rows: tuple[re.Pattern[str], ...]
    at_least: int


class _Titles:
    """The titles file, compiled."""

    def __init__(self, entries: Mapping[str, Any]) -> None:
        try:
            qualifiers = "|".join(sorted((_squeeze(word) for word in entries["qualifiers"]), key=len, reverse=True))
            endings = "|".join(sorted((_squeeze(word) for word in entries["endings"]), key=len, reverse=True))
            self.kinds: dict[Statement, _Kind] = {}
            self._patterns: list[tuple[Statement, re.Pattern[str], re.Pattern[str]]] = []
            for name, kind in entries["statements"].items():
                statement = Statement(name)
                rows = tuple(re.compile(row, re.M) for row in kind["rows"])
                self.kinds[statement] = _Kind(statement, rows, int(kind["at_least"]))
                titles = "|".join(sorted({_squeeze(title) for title in kind["titles"]}, key=len, reverse=True))
                bare, words = rf"(?:{titles})(?:{endings})*$", f"(?:{qualifiers})"
                whole = re.compile(f"^{words}*{bare}")
                around = re.compile(f"^{words}+(?:{titles})(?:{endings})*.{{3,60}}$|^.{{3,60}}?{words}+{bare}")
                self._patterns.append((statement, whole, around))
            self._never = re.compile("|".join(_squeeze(word) for word in entries["not_titles"]))
            self.not_pages = re.compile("|".join(re.escape(word) for word in entries["not_pages"]))
        except (KeyError, TypeError, ValueError, AttributeError, re.error) as error:
            raise LexiconError(
                f"`{_FILE}` is not valid ({error})", subject="lexicon", remedy="Restore the file or fix the entry named"
            ) from error

    def match(self, squeezed: str) -> Statement | None:
        if len(squeezed) > 150 or not _TITLE_WORD.search(squeezed) or self._never.search(squeezed):
            return None
        for statement, whole, _ in self._patterns:
            if whole.match(squeezed):
                return statement
        for statement, _, around in self._patterns:
            if around.match(squeezed):
                return statement
        return None


_FILE = "statement_titles.yaml"
_TITLE_WORD = re.compile("statement|balancesheet")
_NUMERIC = re.compile(r"^[$(]*\d[\d,.]*[%)]*$|^[—–-]$")
_NOT_LETTERS = re.compile(r"[^a-z]+")
_FEWEST_NUMBERS = 12
_TITLE_PAGE_WORDS = 30
_TOP_LINES = 45
_NEAR = 3
"""Most pages from one statement to the next within a set of statements."""


@cache
def _titles() -> _Titles:
    text = resources.files("fin_agent.lexicon.entries").joinpath(_FILE).read_text(encoding="utf-8")
    try:
        entries = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise LexiconError(
            f"`{_FILE}` cannot be read ({error})", subject="lexicon", remedy="Restore the file"
        ) from error
    return _Titles(entries)


def _squeeze(text: str) -> str:
    return _NOT_LETTERS.sub("", text.lower())


def _with_next(pages: Sequence[PageContent]) -> Iterator[tuple[PageContent, PageContent | None]]:
    for index, page in enumerate(pages):
        yield page, pages[index + 1] if index + 1 < len(pages) else None


def _candidate(page: PageContent, after: PageContent | None) -> _Candidate | None:
    text = page.text
    if not text or not _TITLE_WORD.search(_squeeze(text[:3000])):
        return None
    lines = [line.strip() for line in text.split("\n", 400)[:400]]
    titled = _title_among(lines)
    if titled is None:
        return None
    statement, at = titled
    if len(page.words) < _TITLE_PAGE_WORDS and after is not None and _title_among(after.text.split("\n")[:60]) is None:
        # A wide table may have been pushed to the next page, away from its title.
        page, text, at = after, after.text, 0
    if not _dense(page) or _titles().not_pages.search(" ".join(lines[: at + 8]).lower()):
        return None
    hits = _hits(text, statement)
    return _Candidate(page.number, statement, hits) if hits >= _titles().kinds[statement].at_least else None


def _title_among(lines: Sequence[str]) -> tuple[Statement, int] | None:
    titles = _titles()
    seen = 0
    for index, line in enumerate(lines):
        if not line:
            continue
        seen += 1
        if seen > _TOP_LINES:
            return None
        if len(line) > 160:
            continue
        squeezed = _squeeze(line)
        if len(squeezed) < 8:
            continue
        statement = titles.match(squeezed)
        if statement is None and index + 1 < len(lines) and _WRAPPED.search(squeezed):
            statement = titles.match(squeezed + _squeeze(lines[index + 1]))
        if statement is not None:
            return statement, index
    return None


_WRAPPED = re.compile(
    "(?:statements?|statementsof|statementof|consolidated|consolidatedbalance|and|in|cash|comprehensive|"
    "shareholders|stockholders|shareowners|changesin)$"
)


def _dense(page: PageContent) -> bool:
    """Whether a page is mostly a table."""
    numbers = letters = 0
    for word in page.words:
        if _NUMERIC.match(word.text):
            numbers += 1
        elif word.text[:1].isalpha():
            letters += 1
    return numbers >= _FEWEST_NUMBERS and letters <= 9 * numbers


def _hits(text: str, statement: Statement) -> int:
    low = text.lower()
    return sum(1 for row in _titles().kinds[statement].rows if row.search(low))


def _together(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    runs: list[list[_Candidate]] = []
    for found in candidates:
        if runs and found.page - runs[-1][-1].page <= _NEAR:
            runs[-1].append(found)
        else:
            runs.append([found])
    if not runs:
        return []
    return max(
        runs, key=lambda run: (len({found.statement for found in run}), sum(found.hits for found in run), -run[0].page)
    )


def _goes_on(page: PageContent, statement: Statement) -> bool:
    if _NOTES.search(page.text[:400]) or not _dense(page):
        return False
    if page.words and sum(1 for word in page.words if word.text[:1].isalpha()) > 450:
        return False
    needed = 4 if statement is Statement.EQUITY else 3
    return _hits(page.text, statement) >= needed and _title_among(page.text.split("\n")[:60]) is None


_NOTES = re.compile(
    r"\bnotes? to\b|\bnote \d|\breport of\b|\bnon-gaap\b|\breconciliation\b|\bsegment\b|\bsupplemental financial\b",
    re.I,
)
