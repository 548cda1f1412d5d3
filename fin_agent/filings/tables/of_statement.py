"""The tables of a primary statement: those of its pages that do not show another statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fin_agent.lexicon.statement_titles import StatementTitles
from fin_agent.vocabulary.page import Page, Statement
from fin_agent.vocabulary.table import Table

_LONGEST_TITLE = 120


@dataclass(frozen=True, slots=True)
class StatementPart:
    """A table of a statement and the title it stands under."""

    table: Table
    title: str
    """As printed; empty where the page goes on without one."""


def parts_of_statement(
    wanted: Statement, pages: Sequence[Page], tables: Sequence[Table], titles: StatementTitles
) -> list[StatementPart]:
    """The tables of `wanted` among those of `pages`, in their order.

    A page belongs to the statement it begins with; a table under the title of another statement belongs to that one,
    and so do those that follow it on the page.
    """
    of_page: dict[int, list[Table]] = {}
    for table in tables:
        of_page.setdefault(table.page, []).append(table)
    parts = []
    for page in pages:
        shown = page.statement
        for table in of_page.get(page.number, ()):
            title = title_in(table.caption, page.text, titles)
            shown = (titles.match(title) if title else None) or shown
            if shown is wanted:
                parts.append(StatementPart(table, title))
    return parts


def title_in(caption: str, page_text: str, titles: StatementTitles) -> str:
    """The line of a caption that is a statement's title, the one nearest to the table; empty where none is."""
    return next((line for line in reversed(caption_lines(caption, page_text)) if titles.match(line) is not None), "")


def caption_lines(caption: str, page_text: str) -> list[str]:
    """A caption in the lines it was printed in, as far as the page's text tells them apart."""
    printed = {line for line in (" ".join(line.split()) for line in page_text.split("\n")) if line}
    by_start: dict[str, list[str]] = {}
    for line in printed:
        by_start.setdefault(line.split()[0], []).append(line)
    words = caption.split()
    lines: list[str] = []
    loose: list[str] = []
    position = 0
    while position < len(words):
        fitting = (
            line
            for line in by_start.get(words[position], ())
            if words[position : position + line.count(" ") + 1] == line.split()
        )
        found = max(fitting, key=len, default="")
        if not found:
            loose.append(words[position])
            position += 1
            continue
        if loose:
            lines.append(" ".join(loose))
            loose = []
        lines.append(found)
        position += found.count(" ") + 1
    return [*lines, " ".join(loose)] if loose else lines


def heading_of(caption: str, page_text: str) -> str:
    """What to call a table: the last lines of its caption, together no longer than a heading is."""
    heading = ""
    for line in reversed(caption_lines(caption, page_text)):
        if heading and len(line) + len(heading) > _LONGEST_TITLE:
            break
        heading = f"{line} {heading}".strip()
    return heading
