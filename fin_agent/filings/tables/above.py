"""What stands above a table's first row: its header, title and unit line."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.filings.tables.cells import Column, Token
from fin_agent.filings.tables.headers import phrases_of
from fin_agent.filings.tables.lines import Line
from fin_agent.filings.tables.units import unit_line_in

REACH = 46.0
"""Most white space, in points, between two lines of one table."""


def top_of_header(
    lines: Sequence[Line],
    heads: Sequence[bool],
    seeds: Sequence[list[Token]],
    columns: Sequence[Column],
    start: int,
    floor: int,
    known: bool,
) -> int:
    """First line of the header (or of the headings above the first row).

    `known` says that all lines from `floor` on are of one real table, however much room is between them.
    """
    top = start
    seen = False
    labels = 0
    for index in range(start - 1, floor - 1, -1):
        line = lines[index]
        if seeds[index] or (lines[index + 1].middle - line.middle > REACH and not known):
            break
        if heads[index]:
            seen = True
        elif over_columns(line, columns) or (unit_line_in(line.text) and len(line.words) <= 14):
            pass
        elif seen or line.x1 > columns[0].core + 10 or labels >= 4:
            break
        else:
            labels += 1
        top = index
    if not seen:
        # Headings without a dated header above them belong to the caption as much as to the body; keep the nearest.
        nearest = start
        for index in range(start - 1, max(top, start - _MOST_HEADER_LINES) - 1, -1):
            names = over_columns(lines[index], columns) and not is_title(lines[index], lines[start], columns)
            if not names and index < start - 2:
                break
            nearest = index
        top = nearest
    return top


_MOST_HEADER_LINES = 6


def is_title(line: Line, row: Line, columns: Sequence[Column]) -> bool:
    """Whether a line is centred over the whole table, its labels included, as titles and unit lines are."""
    middle = (row.x0 + columns[-1].right) / 2
    one = len(phrases_of(line)) == 1
    return one and (
        bool(unit_line_in(line.text)) or (len(line.words) >= 3 and abs((line.x0 + line.x1) / 2 - middle) < 15)
    )


def caption_above(
    lines: Sequence[Line],
    heads: Sequence[bool],
    seeds: Sequence[list[Token]],
    columns: Sequence[Column],
    top: int,
    floor: int,
) -> tuple[str, str]:
    """(title lines above the header, unit line among them)."""
    parts: list[str] = []
    unit_line = ""
    bound = lines[top].middle if top < len(lines) else 0.0
    for index in range(top - 1, max(floor, top - 7) - 1, -1):
        line = lines[index]
        if seeds[index] or bound - line.middle > REACH:
            break
        bound = line.middle
        text = line.text
        unit_line = unit_line or unit_line_in(text)
        parts.append(text)
        prose = len(line.words) > 12
        if prose and ((text[:1].isupper() and index + 1 < top) or len(parts) >= 4):
            break
    parts.reverse()
    return " ".join(parts)[-600:], unit_line


def over_columns(line: Line, columns: Sequence[Column]) -> bool:
    """Whether a line stands over the columns, and not where labels stand."""
    left = columns[0].left
    if line.x0 > left - 30 and line.x0 > 0.5 * left:
        return True
    phrases = phrases_of(line)
    fewest = 2 if line.cells else 3
    if phrases[0].x1 < left and unit_line_in(phrases[0].text):
        phrases, fewest = phrases[1:], 1
    over = sum(phrase.x1 > left for phrase in phrases)
    short = line.cells or all(len(phrase.text) <= 30 for phrase in phrases)
    return len(phrases) >= fewest and 2 * over >= len(phrases) and short
