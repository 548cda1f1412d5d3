"""Which period, which row, how many of them: answers that choose among the figures of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fin_agent.analyst.rules.context_answers.asked import Asked
from fin_agent.analyst.rules.context_answers.grid import Cell, Grid
from fin_agent.analyst.rules.context_answers.lines import Line, Lines
from fin_agent.analyst.rules.context_answers.period_names import without_periods
from fin_agent.analyst.rules.context_answers.scales import Scales
from fin_agent.analyst.rules.context_answers.thresholds import bound_in, extreme_in
from fin_agent.analyst.rules.context_answers.wording import telling_stems
from fin_agent.lexicon.words import word_lists


@dataclass(frozen=True, slots=True)
class Chosen:
    """Names of what was chosen, and the figures it was chosen by."""

    names: tuple[str, ...]
    cells: tuple[Cell, ...] = ()


def choose_periods(asked: Asked, lines: Lines, scales: Scales) -> Chosen | None:
    """The years, quarters or months for which the question's bound or superlative holds."""
    cells = _side_by_side(asked, lines) if _PARTS.search(asked.text) else ()
    named = _part_name if cells else _year_of
    cells = cells or _over_time(asked, lines)
    kept = _kept(asked, cells, scales)
    return Chosen(tuple(dict.fromkeys(named(cell) for cell in kept)), kept) if kept else None


def all_periods(grid: Grid) -> Chosen | None:
    """Every year that the columns stand for, else the rows, as they are printed in order."""
    in_columns = [cell for row in grid.rows[:_FIRST_ROWS] for cell in row.cells if cell.period_in_column]
    years = dict.fromkeys(cell.periods[0].year for cell in sorted(in_columns, key=lambda cell: cell.column))
    if not years:
        years = dict.fromkeys(cell.periods[0].year for cell in grid.cells if cell.periods)
    return Chosen(tuple(years)) if years else None


def choose_rows(asked: Asked, lines: Lines, scales: Scales) -> Chosen | None:
    """The rows (or columns) for which the question's bound or superlative holds."""
    across = _across_columns(asked, lines)
    cells = across or _down_a_column(asked, lines)
    kept = _kept(asked, cells, scales)
    if not kept:
        return None
    return Chosen(
        tuple(dict.fromkeys(_column_name(cell) if across else without_marks(cell.label) for cell in kept)), kept
    )


def listed_rows(asked: Asked, grid: Grid) -> Chosen | None:
    """Rows of the section that the question names, totals left out; all rows where it means the table."""
    words = set(asked.words)
    best, top = "", 0.0
    for section in grid.sections:
        heading = set(telling_stems(section))
        share = len(heading & words) / len(heading) if heading else 0.0
        if share > top and share >= _SAME_SECTION:
            best, top = section, share
    rows = [row for row in grid.rows if row.section == best] if best else []
    if not rows and (_IN_TABLE.search(asked.text) or not grid.sections):
        rows = list(grid.rows)
    names: list[str] = []
    for row in rows:
        stems = telling_stems(row.label)
        if (
            best
            and names
            and (not row.label or "total" in stems or ("net" in stems and set(stems) & set(telling_stems(best))))
        ):
            break  # what follows the sum of a section is no part of it
        if row.label and "total" not in stems:
            names.append(without_marks(row.label))
    return Chosen(tuple(dict.fromkeys(names))) if len(names) > 1 else None


def without_marks(label: str) -> str:
    """A label without its footnote marks: `Other benefits2`, `Tax fees (2)`."""
    return _MARK.sub("", label).strip()


def count(asked: Asked, lines: Lines, scales: Scales) -> Chosen | None:
    """What is to be counted: periods or rows that a bound holds for, else the periods or rows themselves."""
    if _TIMES.search(asked.text):
        if bound_in(asked.text):
            return choose_periods(asked, lines, scales) or Chosen(())
        return all_periods(lines.grid)
    if bound_in(asked.text):
        return choose_rows(asked, lines, scales) or Chosen(())
    return listed_rows(asked, lines.grid)


def _kept(asked: Asked, cells: Sequence[Cell], scales: Scales) -> tuple[Cell, ...]:
    if not cells:
        return ()
    if bound := bound_in(asked.text):
        return tuple(cell for cell in cells if bound.holds(cell.amount, scales.of(cell)) and not cell.dash)
    extreme = extreme_in(asked.text)
    if extreme is None:
        return ()
    wanted = extreme([cell.amount for cell in cells])
    return next(((cell,) for cell in cells if cell.amount == wanted), ())


def _over_time(asked: Asked, lines: Lines) -> tuple[Cell, ...]:
    for loose in (False, True):
        for match in lines.matches((*asked.words, *asked.operation), operation=asked.operation, loose=loose):
            if match.score <= 0:
                break
            cells = [cell for cell in match.line.cells if cell.periods]
            if len(cells) > 1 and (not asked.periods or len(asked.periods) > 1 or match.line.at(asked.periods[0])):
                return tuple(cells)
    return ()


def _side_by_side(asked: Asked, lines: Lines) -> tuple[Cell, ...]:
    """Quarters or months of a year, as columns of one row or rows of one column."""
    period = asked.periods[0] if asked.periods else None
    found = lines.matches((*asked.words, *asked.operation), at=period)
    held = [match for match in found if match.line.words & _part_stems()]
    if not held:
        return ()
    first = held[0].line
    in_rows = bool(first.label & _part_stems())
    alike = [
        match.line for match in held if _apart_from_parts(match.line, in_rows) == _apart_from_parts(first, in_rows)
    ]
    cells = [line.at(period) if period else line.cells[0] for line in alike]
    return tuple(sorted((cell for cell in cells if cell), key=lambda cell: (cell.row, cell.column)))


def _apart_from_parts(line: Line, in_rows: bool) -> frozenset[str]:
    return line.header if in_rows else line.label


def _down_a_column(asked: Asked, lines: Lines) -> tuple[Cell, ...]:
    period = asked.periods[0] if asked.periods else None
    found = lines.matches((*asked.words, *asked.operation), at=period)
    if not found:
        return ()
    said = {*asked.words, *asked.operation}
    headers = {match.line.header for match in found}
    header = max(sorted(headers, key=sorted), key=lambda words: len(words & said) - 0.3 * len(words - said))
    column: list[Cell] = []
    sections = {match.line.section for match in found if match.line.section & said}
    for match in found:
        line = match.line
        if line.header != header or "total" in line.label or (sections and line.section not in sections):
            continue
        cell = line.at(period) if period else line.cells[0]
        if cell and cell.label:
            column.append(cell)
    return tuple(sorted(column, key=lambda cell: (cell.row, cell.column)))


def _across_columns(asked: Asked, lines: Lines) -> tuple[Cell, ...]:
    """Columns of a row that the question names in full, where columns are not periods."""
    said = {*asked.words, *asked.operation}
    for row in lines.grid.rows:
        named = set(telling_stems(row.label))
        cells = [cell for cell in row.cells if not cell.period_in_column and "total" not in telling_stems(cell.header)]
        if named - {"total"} and named <= said and len(cells) > 1 and len({cell.header for cell in cells}) > 1:
            return tuple(cells)
    return ()


def _year_of(cell: Cell) -> str:
    return cell.periods[0].year if cell.periods else cell.header


def _part_name(cell: Cell) -> str:
    in_row = telling_stems(cell.label) and set(telling_stems(cell.label)) & _part_stems()
    return cell.label if in_row else _column_name(cell)


def _column_name(cell: Cell) -> str:
    return " ".join(without_periods(cell.header).split()) or cell.header


def _part_stems() -> frozenset[str]:
    return frozenset(stem for word in word_lists("context_words")["parts"] for stem in telling_stems(word))


_FIRST_ROWS = 40
_SAME_SECTION = 0.5
_PARTS = re.compile(r"\b(?:which|what|many)\s+(?:\w+\s+){0,2}(?:quarters?|months?)\b|\bquarters\b", re.I)
_MARK = re.compile(r"\s*(?:\((?:\d{1,2}|[a-z])\)|\*{1,3}|(?<=[a-z])\d)$")
_TIMES = re.compile(r"\b(?:years|quarters|months|periods)\b", re.I)
_IN_TABLE = re.compile(r"\b(?:table|listed|shown|presented)\b", re.I)
