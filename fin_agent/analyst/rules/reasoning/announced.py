"""Rows of a table that a sentence announces: `are expected to be paid as follows`, with the row of the year asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fin_agent.analyst.protocol import Reasoning
from fin_agent.analyst.rules.reasoning.kinds import Kind
from fin_agent.analyst.rules.reasoning.scoring import Sought
from fin_agent.analyst.rules.reasoning.tables import PlacedTable, tables_of
from fin_agent.answering.answer import Citation
from fin_agent.evidence.evidence import Evidence
from fin_agent.index.protocol import FilingIndex
from fin_agent.retrieval.terms import stems_of
from fin_agent.vocabulary.table import Row

_KINDS = (Kind.COUNT, Kind.WORDS, Kind.LIST)
_ANNOUNCES = re.compile(
    r"\bas follows\b|\b(?:following|below) tables?\b|\btables? below\b|\b(?:set|sets) forth\b|\bsummariz\w+\b|:\s*$",
    re.I,
)
_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")
_HEADING = re.compile(r"^(?:[A-Z][A-Z’'&-]+\s+){2,}|^(?:[A-Z][\w’'-]*\s+){2,}(?=(?:The|Our|We|As|At|In|These)\s+[a-z])")
"""A title that runs on into the sentence under it."""
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_A_YEAR = re.compile(r"^\W*(?:fiscal(?: year)?\s+)?((?:19|20)\d\d)\W*$", re.I)
_ENOUGH = 0.75
"""Share by weight of the question's words that the announcement, its columns and its row must say."""
_MOST_CELLS = 6


@dataclass(frozen=True, slots=True)
class Announced:
    """Cells of one year, with the sentence over their table."""

    placed: PlacedTable
    sentence: str
    year: str
    cells: tuple[tuple[Row, int, str], ...]
    """Row, column, and what tells the cell from the others of its year."""
    coverage: float


def announced_row(sought: Sought, evidence: Sequence[Evidence], index: FilingIndex) -> Reasoning | None:
    """The figures of the year asked about, under a sentence that says what is asked; None where none or several are."""
    if sought.kind not in _KINDS or not (years := later_years(sought)):
        return None
    found = [each for placed in tables_of(evidence, index) for each in _of_table(placed, sought, years)]
    best = max((each.coverage for each in found), default=0.0)
    first = [each for each in found if each.coverage == best]
    if not first or len({_printed(each) for each in first}) > 1:
        return None
    chosen = first[0]
    said = "; ".join(
        f"{name} {chosen.placed.said(cell)}".strip()
        for row, column, name in chosen.cells
        if (cell := row.cells[column]) is not None
    )
    return Reasoning(
        text=f"{chosen.sentence} {chosen.year}: {said}.",
        citations=tuple(_cited(chosen, row, column) for row, column, _ in chosen.cells),
    )


def _cited(chosen: Announced, row: Row, column: int) -> Citation:
    """A cell by its row and column as printed: its year may be either."""
    cell = row.cells[column]
    assert cell is not None
    head = chosen.placed.table.columns[column]
    text = f"{row.label}, {head}: {chosen.placed.said(cell)}" if head else f"{row.label}: {chosen.placed.said(cell)}"
    return Citation(doc_id=chosen.placed.doc_id, page=chosen.placed.table.page, text=text, box=cell.box)


def later_years(sought: Sought) -> set[str]:
    """Years that the question names after those of its filings: `in 2024`, as of 2021."""
    filed = [period.fiscal_year for period in sought.intent.periods]
    return {year for year in _YEAR.findall(sought.intent.core) if filed and int(year) > max(filed)}


def _of_table(placed: PlacedTable, sought: Sought, years: set[str]) -> Iterator[Announced]:
    """The row or column that is called as one of `years` is, where the words over the table say the question."""
    table = placed.table
    caption = table.caption.removesuffix(table.unit_line).strip()
    sentence = _HEADING.sub("", _SENTENCE.split(caption)[-1])
    if not _ANNOUNCES.search(sentence):
        return
    for row in table.rows:
        year = _A_YEAR.match(row.label)
        cells = tuple((row, number, table.columns[number]) for number, cell in enumerate(row.cells) if cell is not None)
        if year and year[1] in years:
            yield from _if_said(Announced(placed, sentence, year[1], cells, 0.0), sought)
    for number, head in enumerate(table.columns):
        year = _A_YEAR.match(head)
        cells = tuple(
            (row, number, row.label)
            for row in table.rows
            if row.cells[number] is not None and "total" not in row.label.lower()
        )
        if year and year[1] in years:
            yield from _if_said(Announced(placed, sentence, year[1], cells, 0.0), sought)


def _if_said(announced: Announced, sought: Sought) -> Iterator[Announced]:
    """With the share of the question's words that it says, if that is enough, its commoner ones counted too."""
    names = " ".join(name for _, _, name in announced.cells)
    said = set(stems_of(f"{announced.sentence} {names}"))
    asked = [stem for stem in dict.fromkeys(stems_of(" ".join(sought.intent.keywords))) if not stem.isdigit()]
    spoken = sum(sought.telling.says(stem, said) for stem in asked)
    coverage = round(sought.telling.coverage(said), 9)
    enough = coverage >= _ENOUGH and spoken >= _ENOUGH * len(asked)
    if enough and 0 < len(announced.cells) <= _MOST_CELLS:
        yield replace(announced, coverage=coverage)


def _printed(announced: Announced) -> tuple[str, ...]:
    cells = (row.cells[column] for row, column, _ in announced.cells)
    return tuple(cell.printed.strip("$ ") for cell in cells if cell)
