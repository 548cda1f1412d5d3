"""Which pages carry the primary consolidated statements, found by title and by their typical rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from fin_agent.filings.outline.density import density_of, may_be_table
from fin_agent.lexicon.statement_titles import StatementTitles, built_in_statement_titles, squeezed
from fin_agent.vocabulary.page import PageContent, Statement


def statements_of(pages: Sequence[PageContent], titles: StatementTitles | None = None) -> dict[int, Statement]:
    """Page number -> the statement that comes first on it, for pages of the primary consolidated statements only."""
    return {page: statements[0] for page, statements in statements_on(pages, titles).items()}


def statements_on(
    pages: Sequence[PageContent], titles: StatementTitles | None = None
) -> dict[int, tuple[Statement, ...]]:
    """Page number -> the primary consolidated statements that it carries, in the order printed.

    A page counts when a title stands on it and enough of that statement's rows follow. Tables elsewhere may look
    alike (selected data, notes, parent-only schedules); the primary statements stand together, so the run of pages
    with most statements is taken. Pages that go on with a statement without repeating its title belong to it. A
    statement of comprehensive income with the rows of an income statement is both, where the filing has no other.
    `titles` are those of a lexicon with a user's own; without it, the built-in ones.
    """
    titles = titles or built_in_statement_titles()
    chosen = _chosen([found for index in range(len(pages)) if (found := _candidate(pages, index, titles)) is not None])
    result = {found.page: found.statements for found in chosen}
    by_number = {page.number: page for page in pages}
    for found in chosen:
        number = found.page + 1
        while (
            number not in result and number in by_number and _goes_on(by_number[number], found.statements[-1], titles)
        ):
            result[number] = (found.statements[-1],)
            number += 1
    if not any(Statement.INCOME in statements for statements in result.values()):
        for number, statements in result.items():
            if Statement.COMPREHENSIVE_INCOME in statements and _has_rows(by_number[number], Statement.INCOME, titles):
                result[number] = (Statement.INCOME, *statements)
    return dict(sorted(result.items()))


def statement_titled(text: str) -> Statement | None:
    """The statement whose title the line or caption `text` is, or None."""
    return built_in_statement_titles().match(text)


@dataclass(frozen=True, slots=True)
class _Candidate:
    page: int
    statements: tuple[Statement, ...]
    hits: int
    formal: bool
    """Whether a title names the statement, and not only a heading that may stand elsewhere too."""


@dataclass(frozen=True, slots=True)
class _Title:
    statement: Statement
    line: str
    start: int
    formal: bool


_TOP_LINES = 45
_LONGEST_LINE = 160
_STACKED = 200
"""Titles this many characters or less apart head one table."""
_LISTED = 3
_MOST_TITLES = 20
"""More on a page are not read: no page carries as many statements."""
_NEAR = 3
"""Most pages from one statement to the next within a set of statements."""
_PRIMARY = (Statement.INCOME, Statement.BALANCE_SHEET, Statement.CASH_FLOW)
_MOST_WORDS = 450
"""A page with more words is not the untitled rest of a statement, whatever rows it shows."""
_HEAD = 300


def _candidate(pages: Sequence[PageContent], index: int, titles: StatementTitles) -> _Candidate | None:
    page = pages[index]
    found = list(islice(_titles_on(page.text, titles), _MOST_TITLES))
    if not found or _is_list(found):
        return None
    head = page.text[: found[0].start]
    if _OF_NOTES.search(head[-_HEAD:]):
        return None
    begins = head.count("\n")
    first_lines = " ".join(page.text.split("\n", begins + 9)[: begins + 8]).lower()
    if titles.other_pages.search(" ".join(first_lines.split())):
        return None
    shown: dict[Statement, int] = {}
    for place, title in enumerate(found):
        end = found[place + 1].start if place + 1 < len(found) else len(page.text)
        if end - title.start <= _STACKED:
            end = len(page.text)
        start = title.start if place else 0  # some PDFs hold the first rows before the title
        hits = titles.rows[title.statement].hits(page.text[start:end].lower())
        if hits >= titles.rows[title.statement].at_least + (not title.formal):
            shown.setdefault(title.statement, hits)
            if title.statement is Statement.INCOME and "comprehensive" in squeezed(title.line):
                shown.setdefault(Statement.COMPREHENSIVE_INCOME, 0)
    if shown and density_of(page).table:
        return _Candidate(page.number, tuple(shown), max(shown.values()), any(title.formal for title in found))
    return _pushed_away(pages, index, found[-1], titles)


def _is_list(found: Sequence[_Title]) -> bool:
    """Whether the titles are entries of a contents page: several in a row with no room for rows between them."""
    close = sum(1 for one, other in pairwise(found) if other.start - one.start <= _STACKED)
    return len({title.statement for title in found}) >= _LISTED and close >= _LISTED - 1


def _pushed_away(pages: Sequence[PageContent], index: int, title: _Title, titles: StatementTitles) -> _Candidate | None:
    """A wide table may have been pushed to the next page, away from its title."""
    if index + 1 == len(pages) or not title.formal or len(pages[index].text) - title.start > 2 * _STACKED:
        return None
    after = pages[index + 1]
    if next(_titles_on(after.text, titles), None) is not None or not density_of(after).table:
        return None
    hits = titles.rows[title.statement].hits(after.text.lower())
    if hits < titles.rows[title.statement].at_least:
        return None
    return _Candidate(after.number, (title.statement,), hits, True)


def _titles_on(text: str, titles: StatementTitles) -> Iterator[_Title]:
    """Titles on a page, the first of them among its top lines."""
    low = text.lower()
    places = [place for part in _TELLING for place in _places(low, part)]
    places += [found.start() for found in _SPACED.finditer(low, 0, _SPACED_WITHIN)]
    if not places:
        return
    places.sort()
    any_found, done = False, -1
    for place in places:
        start = text.rfind("\n", 0, place) + 1
        if start <= done:
            continue
        if not any_found and not _in_top(text, start):
            return
        end = text.find("\n", place)
        done = end = len(text) if end < 0 else end
        line = text[start:end].strip()
        if not _SHORTEST_LINE <= len(line) <= _LONGEST_LINE or line[0].islower():
            continue
        if _PARENTHETICAL.match(text, end):
            continue
        title = _title(line, text[end + 1 : end + 1 + _LONGEST_LINE].partition("\n")[0], titles)
        if title is not None:
            any_found = True
            yield _Title(title[0], line, start, title[1])


def _places(text: str, part: str) -> Iterator[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + len(part))


def _in_top(text: str, start: int) -> bool:
    if text.count("\n", 0, start) < _TOP_LINES:
        return True
    return sum(1 for line in text[:start].split("\n") if line.strip()) < _TOP_LINES


def _title(line: str, after: str, titles: StatementTitles) -> tuple[Statement, bool] | None:
    if (statement := titles.match(line)) is not None:
        return statement, True
    if _WRAPPED.search(squeezed(line)) and (statement := titles.match(f"{line} {after}")) is not None:
        return statement, True
    statement = titles.match_bare(line)
    return None if statement is None else (statement, False)


_SHORTEST_LINE = 8
_PARENTHETICAL = re.compile(r"\W{0,20}parenthetical", re.I)
_TELLING = ("tatem", "heet", "onsolidated")
"""Part of every title, even where a space has slipped into a word."""
_SPACED = re.compile(r"[a-z] [a-z] [a-z] [a-z] [a-z] [a-z] ")
_SPACED_WITHIN = 600
_WRAPPED = re.compile(
    "(?:statements?|statementsof|statementof|consolidated|consolidatedbalance|and|in|cash|comprehensive|"
    "shareholders|stockholders|shareowners|changesin|redeemable|financial|loss)$"
)
_OF_NOTES = re.compile(
    r"^(?!.*\b(?:see|refer|accompanying|integral)\b).*\bnotes? to (?:the )?(?:unaudited |condensed |consolidated |"
    r"interim |combined )*financial statements",
    re.I | re.M,
)


def _chosen(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """The run of pages with most statements, and a primary statement that it lacks from elsewhere."""
    runs: list[list[_Candidate]] = []
    for found in candidates:
        if runs and found.page - runs[-1][-1].page <= _NEAR:
            runs[-1].append(found)
        else:
            runs.append([found])
    if not runs:
        return []
    best = max(runs, key=lambda run: (_variety(run, True), _variety(run, False), _hits(run), -run[0].page))
    formal = {statement for found in best if found.formal for statement in found.statements}
    chosen = [found for found in best if found.formal or not formal.issuperset(found.statements)]
    for statement in _PRIMARY:
        if not any(statement in found.statements for found in chosen):
            others = [found for found in candidates if found.formal and found.statements[0] is statement]
            if others:
                chosen.append(max(others, key=lambda found: (found.hits, -abs(found.page - best[0].page))))
    return sorted(chosen, key=lambda found: found.page)


def _variety(run: Sequence[_Candidate], formal: bool) -> int:
    return len({statement for found in run if found.formal or not formal for statement in found.statements})


def _hits(run: Sequence[_Candidate]) -> int:
    return sum(found.hits for found in run)


def _goes_on(page: PageContent, statement: Statement, titles: StatementTitles) -> bool:
    head = page.text[:400].lower()
    if _OTHER_HEADS.search(head) or titles.other_pages.search(" ".join(head.split())) or not may_be_table(page.text):
        return False
    density = density_of(page)
    if not density.table or density.words > _MOST_WORDS:
        return False
    if next(_titles_on(page.text, titles), None) is not None:
        return False
    return _has_rows(page, statement, titles, 4 if statement is Statement.EQUITY else 3)


def _has_rows(page: PageContent, statement: Statement, titles: StatementTitles, needed: int = 0) -> bool:
    rows = titles.rows[statement]
    return rows.hits(page.text.lower()) >= (needed or rows.at_least)


_OTHER_HEADS = re.compile(
    r"\bnotes? to\b|\bnote \d|\breport of\b|\bnon-gaap\b|\breconciliation\b|\bsegment\b|\bsupplemental financial\b|"
    r"\bparenthetical\b"
)
