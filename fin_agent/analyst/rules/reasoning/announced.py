"""Rows of a table that a sentence announces: `are expected to be paid as follows`, with the row of the year asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fin_agent.analyst.protocol import Reasoning
from fin_agent.analyst.rules.reasoning.kinds import Kind
from fin_agent.analyst.rules.reasoning.scoring import Sought
from fin_agent.analyst.rules.reasoning.tables import PlacedTable, tables_of
from fin_agent.evidence.evidence import Evidence
from fin_agent.index.protocol import FilingIndex
from fin_agent.retrieval.terms import stems_of
from fin_agent.vocabulary.table import Row

_KINDS = (Kind.COUNT, Kind.WORDS)
_ANNOUNCES = re.compile(
    r"\bas follows\b|\b(?:following|below) tables?\b|\btables? below\b|\b(?:set|sets) forth\b|\bsummariz\w+\b|:\s*$", re.I
)
_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")
_HEADING = re.compile(r"^(?:[A-Z][\w’'-]*\s+){2,}(?=(?:The|Our|We|As|At|In|These)\s+[a-z])")
"""A title that runs on into the sentence under it."""
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_A_YEAR = re.compile(r"^\W*(?:fiscal(?: year)?\s+)?((?:19|20)\d\d)\W*$", re.I)
_ENOUGH = 0.75
"""Share by weight of the question's words that the announcement, its columns and its row must say."""
_MOST_CELLS = 6


@dataclass(frozen=True, slots=True)
class Announced:
    """A row that answers, with the sentence over its table."""

    placed: PlacedTable
    sentence: str
    row: Row
    coverage: float


def announced_row(sought: Sought, evidence: Sequence[Evidence], index: FilingIndex) -> Reasoning | None:
    """The row of the year asked about, under a sentence that says what is asked; None where none or several are."""
    if sought.kind not in _KINDS or not (years := _later_years(sought)):
        return None
    found = [each for placed in tables_of(evidence, index) for each in _rows(placed, sought, years)]
    best = max((each.coverage for each in found), default=0.0)
    first = [each for each in found if each.coverage == best]
    if not first or len({_printed(each.row) for each in first}) > 1:
        return None
    chosen = first[0]
    placed, row = chosen.placed, chosen.row
    columns = [number for number, cell in enumerate(row.cells) if cell is not None]
    said = "; ".join(_cell(placed, row, number) for number in columns)
    return Reasoning(
        text=f"{chosen.sentence} {row.label}: {said}.",
        citations=tuple(placed.cited(row, number) for number in columns),
    )


def _later_years(sought: Sought) -> set[str]:
    """Years that the question names and that are no period of its filings: `in 2024`, as of 2021."""
    filed = {str(period.fiscal_year) for period in sought.intent.periods}
    named = set(_YEAR.findall(sought.intent.core))
    return named - filed if filed else set()


def _rows(placed: PlacedTable, sought: Sought, years: set[str]) -> Iterator[Announced]:
    """Rows that are called as one of `years` is, where the words over the table and its columns say the question."""
    table = placed.table
    caption = table.caption.removesuffix(table.unit_line).strip()
    sentence = _HEADING.sub("", _SENTENCE.split(caption)[-1])
    if not _ANNOUNCES.search(sentence):
        return
    heads = set(stems_of(f"{sentence} {' '.join(table.columns)}"))
    coverage = sought.telling.coverage(heads - years)
    for row in table.rows:
        year = _A_YEAR.match(row.label)
        cells = sum(cell is not None for cell in row.cells)
        if year and year[1] in years and coverage >= _ENOUGH and 0 < cells <= _MOST_CELLS:
            yield Announced(placed, sentence, row, round(coverage, 9))


def _cell(placed: PlacedTable, row: Row, number: int) -> str:
    cell = row.cells[number]
    assert cell is not None
    head = placed.table.columns[number]
    return f"{head} {placed.said(cell)}".strip()


def _printed(row: Row) -> tuple[str, ...]:
    return tuple(cell.printed.strip("$ ") if cell else "" for cell in row.cells)
