"""Locate the primary statements: pages by title, rows and position, and the tables on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice, pairwise

from fin_agent.filings.outline.table_page_classification import density_of, may_be_table
from fin_agent.lexicon.statement_titles import StatementTitles, built_in_statement_titles, letters_only
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.page import Page, PageContent, Statement
from fin_agent.vocabulary.runs import grouped, runs_of
from fin_agent.vocabulary.table import Table

_PATTERNS = patterns("outline_patterns")

_MAX_TITLE_LENGTH = 120
_MAX_SENTENCE_LENGTH = 320


@dataclass(frozen=True, slots=True)
class StatementPart:
    """A table of a statement with the title above it."""

    table: Table
    title: str
    """As printed; empty where the page continues without one."""


def parts_of_statement(
    wanted: Statement, pages: Sequence[Page], tables: Sequence[Table], titles: StatementTitles
) -> list[StatementPart]:
    """Return the tables of `wanted` among those of `pages`, in order.

    A page belongs to the statement it begins with, up to a table under the title of another.
    """
    of_page = grouped((table.page, table) for table in tables)
    parts = []
    for page in pages:
        shown = page.statement
        for table in of_page.get(page.number, ()):
            lines = reversed(caption_lines(table.caption, page.text))
            title = next((line for line in lines if titles.match(line) is not None), "")  # the nearest
            shown = (titles.match(title) if title else None) or shown
            if shown is wanted:
                parts.append(StatementPart(table, title))
    return parts


def caption_lines(caption: str, page_text: str) -> list[str]:
    """Return a caption split into its printed lines, as far as the page's text shows them."""
    lines = {" ".join(line.split()) for line in page_text.split("\n")} - {""}
    printed = sorted((f"{line} " for line in lines), key=len, reverse=True)
    found: list[str] = []
    loose = ""
    rest = " ".join([*caption.split(), ""])
    while rest:
        line = next((line for line in printed if rest.startswith(line)), "")
        if line:
            found += [loose.strip(), line.strip()]
            loose, rest = "", rest[len(line) :]
        else:
            word, _, rest = rest.partition(" ")
            loose += f"{word} "
    return [line for line in [*found, loose.strip()] if line]


def heading_of(caption: str, page_text: str) -> str:
    """Return a name for a table: the last lines of its caption, up to the length of a heading, or a whole sentence.

    A sentence that ends above a heading belongs to the paragraph before.
    """
    heading = ""
    for line in reversed(caption_lines(caption, page_text)):
        begun = heading[:1].isupper() or len(line) + len(heading) > _MAX_SENTENCE_LENGTH
        if heading and begun and (line.endswith(".") or len(line) + len(heading) > _MAX_TITLE_LENGTH):
            break
        if line.lower() == "table of contents":
            continue  # a link at the head of every page
        heading = f"{line} {heading}".strip()
    return heading


@dataclass(frozen=True, slots=True)
class LocatedStatements:
    """The primary statements by page number, in printed order."""

    registrant: dict[int, tuple[Statement, ...]]
    """Those of the consolidated company."""
    others: dict[int, tuple[Statement, ...]] = field(default_factory=dict)
    """Those of further registrants in the same filing, such as a subsidiary that files with its parent."""
    entities: dict[int, str] = field(default_factory=dict)
    """Name of the further registrant, as printed above its statement, by page number."""


def locate_statements(pages: Sequence[PageContent]) -> LocatedStatements:
    """Return the pages of the primary statements.

    A page counts if it has a title followed by enough rows of that statement; of the places with similar tables, it is
    the run of pages with most statements. Pages that continue a statement belong to it. Where the set starts again
    under another name, it belongs to a second registrant.
    """
    pages = _without_running_heads(pages)
    candidates = [found for index in range(len(pages)) if (found := _candidate(pages, index)) is not None]
    blank = accumulate(len(page.text) <= _BLANK or len(page.text.strip()) <= _BLANK for page in pages)
    # Blank pages do not count as distance.
    position = {page.number: page.number - count for page, count in zip(pages, blank, strict=True)}
    sets = _by_entity(_best_run(candidates, position))
    by_number = {page.number: page for page in pages}
    taken = {found.page for held in sets for found in held}
    shown = [_with_further_pages(held, by_number, taken) for held in sets] or [{}]
    registrant = shown[0]
    others: dict[int, tuple[Statement, ...]] = {}
    entities: dict[int, str] = {}
    for held, of_set in zip(shown[1:], sets[1:], strict=True):
        others |= {page: statements for page, statements in held.items() if page not in registrant}
        entities |= {page: of_set[0].entity for page in held if page not in registrant}
    return LocatedStatements(dict(sorted(registrant.items())), dict(sorted(others.items())), entities)


def _with_further_pages(
    held: Sequence[_Candidate], by_number: Mapping[int, PageContent], taken: Collection[int]
) -> dict[int, tuple[Statement, ...]]:
    """Return the pages of one set, including those that continue a statement without a title."""
    result = {found.page: found.statements for found in held}
    for found in held:
        number = found.page + 1
        while number not in taken and number in by_number:
            if len(by_number[number].text.strip()) > _BLANK:
                if not _continues(by_number[number], found.statements[-1]):
                    break
                result.setdefault(number, (found.statements[-1],))
            number += 1
    return result


def statement_titled(text: str) -> Statement | None:
    """Return the statement whose title the line or caption `text` is, or None."""
    return built_in_statement_titles().match(text)


@dataclass(frozen=True, slots=True)
class _Candidate:
    page: int
    statements: tuple[Statement, ...]
    hits: int
    formal: bool
    """Whether a title names the statement, rather than a heading that may also occur elsewhere."""
    entity: str
    """The line above the title: the owner of the statement."""
    sure: bool = True
    """Whether it has as many rows as a whole statement; half of one, on facing pages, may not."""


@dataclass(frozen=True, slots=True)
class _Title:
    statement: Statement
    line: str
    start: int
    formal: bool


_TOP_LINES = 45
_MAX_LINE_LENGTH = 160
_STACKED = 200
"""Titles at most this many characters apart belong to one table."""
_LISTED = 3
_MAX_TITLES = 20
"""Most titles of a page that are read; no page has as many statements."""
_NEAR = 3
"""Most pages from one statement to the next within a set of statements."""
_PRIMARY = (Statement.INCOME, Statement.BALANCE_SHEET, Statement.CASH_FLOW)
_HALF = 2
"""Minimum rows in half of a statement."""
_SHORT_REST = 700
_FEWEST_OF_A_REST = 6
"""Minimum figures on a page that contains only the last rows of a statement."""
_OTHER_HEAD = 400
_LINES_ABOVE = 6
_BLANK = 80
"""Most characters of a page that counts as blank."""
_MAX_NAME_LENGTH = 90
_TOP_OF_PAGE = 6
_MIN_REPEATS = 10
_SHARE_REPEATED = 0.2
_MAX_WORDS = 450
"""A page with more words is not the untitled rest of a statement, whatever its rows."""
_HEAD = 300


def _candidate(pages: Sequence[PageContent], index: int) -> _Candidate | None:
    page = pages[index]
    found = list(islice(_titles_on(page.text), _MAX_TITLES))
    if not found or _is_list(found):
        return None
    head = page.text[: found[0].start]
    if _PATTERNS["of notes"].search(head[-_HEAD:]):
        return None
    first_lines = page.text.split("\n")[: head.count("\n") + 8]
    if built_in_statement_titles().other_pages.search(" ".join(" ".join(first_lines).lower().split())):
        return None
    shown: dict[Statement, int] = {}
    sure = False
    for place, title in enumerate(found):
        end = found[place + 1].start if place + 1 < len(found) else len(page.text)
        if end - title.start <= _STACKED:
            end = len(page.text)
        start = title.start if place else 0  # some PDFs hold the first rows before the title
        rows = built_in_statement_titles().rows[title.statement]
        hits, enough = rows.hits(page.text[start:end].lower()), rows.at_least + (not title.formal)
        if hits >= enough or (title.formal and hits >= _HALF and place == 0):
            sure = sure or hits >= enough
            shown.setdefault(title.statement, hits)
            if title.statement is Statement.INCOME and "comprehensive" in letters_only(title.line):
                shown.setdefault(Statement.COMPREHENSIVE_INCOME, 0)
    if shown and density_of(page).table:
        formal = any(title.formal for title in found)
        return _Candidate(page.number, tuple(shown), max(shown.values()), formal, _entity_above(head), sure)
    return _pushed_to_next_page(pages, index, found[-1])


def _is_list(found: Sequence[_Title]) -> bool:
    """Return whether titles follow each other without space for rows, as in a table of contents."""
    close = sum(other.start - one.start <= _STACKED for one, other in pairwise(found))
    return len({title.statement for title in found}) >= _LISTED and close >= _LISTED - 1


def _pushed_to_next_page(pages: Sequence[PageContent], index: int, title: _Title) -> _Candidate | None:
    """Return the candidate for a wide table that was moved to the next page, away from its title."""
    if index + 1 == len(pages) or not title.formal or len(pages[index].text) - title.start > 2 * _STACKED:
        return None
    after = pages[index + 1]
    if next(_titles_on(after.text), None) is not None or not density_of(after).table:
        return None
    rows = built_in_statement_titles().rows[title.statement]
    hits = rows.hits(after.text.lower())
    entity = _entity_above(pages[index].text[: title.start])
    return _Candidate(after.number, (title.statement,), hits, True, entity) if hits >= rows.at_least else None


def _titles_on(text: str) -> Iterator[_Title]:
    """Yield titles on a page, the first of them among its top lines."""
    any_found = False
    above = begin = 0
    for line, after in pairwise([*text.split("\n"), ""]):
        start, begin = begin, begin + len(line) + 1
        if not any_found and above >= _TOP_LINES:
            return
        parenthetical = _PATTERNS["parenthetical of a statement"].match(text, begin - 1)
        if not parenthetical and (title := _title(line.strip(), after[:_MAX_LINE_LENGTH], start)):
            any_found = True
            yield title
        above += bool(line.strip())


def _title(line: str, after: str, start: int) -> _Title | None:
    if not _MIN_LINE_LENGTH <= len(line) <= _MAX_LINE_LENGTH or line[0].islower():
        return None
    titles = built_in_statement_titles()
    statement = titles.match(line)
    if statement is None and _PATTERNS["wrapped title"].search(letters_only(line)):
        statement = titles.match(f"{line} {after}")
    found = statement or titles.match_bare(line)
    return _Title(found, line, start, statement is not None) if found else None


_MIN_LINE_LENGTH = 8


def _entity_above(head: str) -> str:
    """Return the name above a title; empty where the text there is not a name."""
    above = (" ".join(line.split()) for line in reversed(head.rstrip().split("\n")[-_LINES_ABOVE:]))
    text = next((text for text in above if len(letters_only(text)) >= 4 and not text.startswith("(")), "")
    return text if len(text) <= _MAX_NAME_LENGTH and not _PATTERNS["no name"].search(text) else ""


def _without_running_heads(pages: Sequence[PageContent]) -> list[PageContent]:
    """Return `pages` without lines repeated at the top of many pages, which do not describe the individual page."""
    tops = [[line.strip() for line in page.text.split("\n", 12)[:12] if line.strip()][:_TOP_OF_PAGE] for page in pages]
    seen = Counter(line for top in tops for line in set(top))
    often = max(_MIN_REPEATS, len(pages) * _SHARE_REPEATED)
    running = {
        letters_only(line)
        for line, count in seen.items()
        if count >= often and not _PATTERNS["of notes"].search(line) and built_in_statement_titles().match(line) is None
    } - {""}

    def without(text: str) -> str:
        lines = enumerate(text.split("\n"))
        return "\n".join(line for place, line in lines if place >= 12 or letters_only(line) not in running)

    return [
        replace(page, text=without(page.text)) if any(letters_only(line) in running for line in top) else page
        for page, top in zip(pages, tops, strict=True)
    ]


def _best_run(candidates: Sequence[_Candidate], position: Mapping[int, int]) -> list[_Candidate]:
    """Return the run of pages with most statements, including halves, and a missing primary one from elsewhere."""
    sure = [found for found in candidates if found.sure]
    runs = runs_of(sure, lambda run, found: position[found.page] - position[run[-1].page] > _NEAR)
    if not runs:
        return []
    best = max(runs, key=_worth)
    formal = {statement for found in best if found.formal for statement in found.statements}
    chosen = [found for found in best if found.formal or not formal.issuperset(found.statements)]
    first, last = chosen[0].page - 1, chosen[-1].page + 1
    chosen += [found for found in candidates if not found.sure and first <= found.page <= last]
    for statement in _PRIMARY:
        others = [found for found in sure if found.formal and found.statements[0] is statement]
        if others and not any(statement in found.statements for found in chosen):
            chosen.append(max(others, key=lambda found: (found.hits, -abs(found.page - best[0].page))))
    return sorted(chosen, key=lambda found: found.page)


def _by_entity(chosen: Sequence[_Candidate]) -> list[list[_Candidate]]:
    """Return the sets of statements, the registrant's first: a set ends where a statement recurs under another name."""
    sets: list[list[_Candidate]] = []
    for found in chosen:
        name = letters_only(found.entity)
        known = next((held for held in sets if name in (letters_only(other.entity) for other in held)), None)
        above = (other for held in sets for other in held if other.page < found.page and letters_only(other.entity))
        again = any(other.statements[0] is found.statements[0] for other in above)
        if name and known is not None:
            known.append(found)
        elif sets and (not name or not again):
            sets[-1].append(found)
        else:
            sets.append([found])
    return sets


def _worth(run: Sequence[_Candidate]) -> tuple[int, int, int, int]:
    """Return what a run is chosen by: statements under formal titles, all statements, rows, and an early page."""
    formal = {statement for found in run if found.formal for statement in found.statements}
    shown = {statement for found in run for statement in found.statements}
    return len(formal), len(shown), sum(found.hits for found in run), -run[0].page


def _continues(page: PageContent, statement: Statement) -> bool:
    head = _PATTERNS["see notes"].sub(" ", " ".join(page.text[:_OTHER_HEAD].lower().split()))
    if _PATTERNS["other heads"].search(head) or built_in_statement_titles().other_pages.search(head):
        return False
    density = density_of(page)
    hits = built_in_statement_titles().rows[statement].hits(page.text.lower())
    if len(page.text) < _SHORT_REST and density.figures >= _FEWEST_OF_A_REST and density.words <= 9 * density.figures:
        return hits >= _HALF
    whole = may_be_table(page.text) and density.table and density.words <= _MAX_WORDS
    return whole and hits >= (4 if statement is Statement.EQUITY else 3)
