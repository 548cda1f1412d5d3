"""Answers from tables and covers: figures announced for a later year, registered securities."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fin_agent.analyst.reasoning_result import Reasoning
from fin_agent.analyst.rules.reasoning.sentence_splitting import split_sentences
from fin_agent.analyst.rules.reasoning.term_coverage import Term, coverage, stems_in
from fin_agent.answering.answer import Citation
from fin_agent.evidence.evidence import Evidence
from fin_agent.evidence.intent import Intent
from fin_agent.filings.tables.cells import scale_of
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.lexicon.words import finds, listed
from fin_agent.vocabulary.amount_formatting import amount_with_unit
from fin_agent.vocabulary.dates import printed_years
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Cell, Row, Table

_ROWS, _COVER = "row_words", "cover_words"
_MOST_CELLS = 6
_MIN_COVERAGE = 0.75
"""Share of the question's word weight that an announcement and its columns must cover."""
_LONGEST_SYMBOL = 8
_MOST_LISTED, _COVERS = 60, 2
_TITLE = re.compile(r"^(?:[A-Z][A-Z’'&-]+\s+){2,}|^(?:[A-Z][\w’'-]*\s+){2,}(?=(?:The|Our|We|As|At|In|These)\s+[a-z])")
"""A title that continues into the sentence below it."""
_IN_BRACKETS = re.compile(r"\s*\([^()]*(?:\)|$)")


@dataclass(frozen=True, slots=True)
class PlacedTable:
    """A table on a page of the evidence."""

    doc_id: str
    table: Table
    facts: Mapping[Box, Fact]
    """The facts of its cells, by box."""

    def cell_citation(self, row: Row, column: int) -> Citation:
        """Return the citation of a cell with the words of its row and column."""
        cell, head = row.cells[column], self.column_name(column)
        assert cell is not None
        text = f"{plain_label(row)}{f', {head}' if head else ''}: {self.format_figure(cell)}"
        return Citation(doc_id=self.doc_id, page=self.table.page, text=text, box=cell.box)

    def format_figure(self, cell: Cell) -> str:
        """Return a figure with its unit and scale: `$1,097 million`, `12.5%`. A bare number among dollars is money."""
        fact, scale = self.facts.get(cell.box), scale_of(self.table.unit_line)
        if cell.percent or (fact and fact.unit not in ("USD", "count", "shares")):
            return cell.printed
        bare = fact is None or fact.unit == "count"
        in_dollars = self._is_in_dollars if fact is None or bare else fact.unit == "USD"
        scale = scale if fact is None or bare else fact.scale or scale
        return amount_with_unit(cell.amount, scale or 1, "USD" if in_dollars else "count")

    def column_name(self, column: int) -> str:
        """Return the period of a column, `FY2022` or `Q2 FY2022`; its heading if it is no period."""
        period = next(iter(self.table.periods[column:]), None)
        if period is None:
            return next(iter(self.table.columns[column:]), "")
        return f"Q{period.quarter} FY{period.fiscal_year}" if period.quarter else f"FY{period.fiscal_year}"

    @property
    def _is_in_dollars(self) -> bool:
        cells = [cell for row in self.table.rows for cell in row.cells if cell]
        signs = any(cell.dollar or (cell.box in self.facts and self.facts[cell.box].unit == "USD") for cell in cells)
        return signs or "dollar" in self.table.unit_line.lower()


def answers_from_tables(
    intent: Intent, terms: Sequence[Term], evidence: Sequence[Evidence], index: FilingIndex
) -> Reasoning | None:
    """Return the figures of a later year that the question names; None for other questions."""
    asked = max((period.fiscal_year for period in intent.periods), default=None)
    later = {str(year) for year in printed_years(intent.core) if asked is not None and year > asked}
    return _announced_figures(terms, tables_of(evidence, index), later) if later else None


def tables_of(evidence: Sequence[Evidence], index: FilingIndex) -> list[PlacedTable]:
    """Return the tables on the pages of the evidence, page by page, without duplicates."""
    keys = list(dict.fromkeys(PageKey(kept.passage.doc_id, kept.passage.page) for kept in evidence))
    placed: list[PlacedTable] = []
    for key in keys:
        facts = {each.fact.box: each.fact for each in index.facts([key.doc_id], pages=[key])}
        placed += [PlacedTable(key.doc_id, table, facts) for table in index.tables([key])]
    return placed


def _announced_figures(terms: Sequence[Term], tables: Sequence[PlacedTable], years: set[str]) -> Reasoning | None:
    """Return the figures of a later year in the row below the sentence that announces them; None if several fit."""
    found: list[Reasoning] = []
    for placed in tables:
        caption = placed.table.caption.removesuffix(placed.table.unit_line).strip()
        sentence = _TITLE.sub("", split_sentences(caption)[-1])
        rows = [row for row in placed.table.rows if row.label.lower().removeprefix("fiscal ").strip(" :.*") in years]
        for row in rows if finds(sentence, "announcing a table", _ROWS) else ():
            cells = {at: cell for at, cell in enumerate(row.cells) if cell is not None}
            names = [placed.table.columns[at] for at in cells]
            covered = coverage(terms, stems_in(f"{sentence} {' '.join(names)} {row.label}"))
            if len(cells) > _MOST_CELLS or covered < _MIN_COVERAGE:
                continue
            figures = map(placed.format_figure, cells.values())
            told = "; ".join(f"{name} {figure}".strip() for name, figure in zip(names, figures, strict=True))
            cited = tuple(placed.cell_citation(row, at) for at in cells)
            found.append(Reasoning(text=f"{sentence} {row.label}: {told}.", citations=cited))
    return found[0] if len({each.text for each in found}) == 1 else None


def plain_label(row: Row) -> str:
    """Return the label of a row without text in brackets."""
    label = _IN_BRACKETS.sub("", row.label) or row.label
    return label.partition(", less ")[0].partition(", net of ")[0].strip(" :,")


def registered_securities(
    intent: Intent, evidence: Sequence[Evidence], index: FilingIndex, filings: Sequence[str]
) -> Reasoning | None:
    """Return the listed securities, if the question asks for them; if it asks for debt, that of them or that none is.

    A list that continues elsewhere is not used.
    """
    if not (finds(intent.core, "securities", _COVER) and finds(intent.core, "exchange asked", _COVER)):
        return None
    of_debt = finds(intent.core, "debt asked", _COVER)
    for doc_id, page, text in _texts(intent, evidence, index, filings):
        securities = list(_registered_in(text))
        debt = [each for each in securities if of_debt and finds(each, "debt", _COVER)]
        taken = debt or securities
        if taken and len(taken) <= _MOST_LISTED:
            rows = "; ".join(taken)
            told = f"None: the cover page lists only {rows}." if of_debt and not debt else f"{rows}."
            cited = tuple(Citation(doc_id=doc_id, page=page, text=each) for each in taken)
            return Reasoning(text=told, citations=cited, read=(PageKey(doc_id, page),))
    return None


def _texts(
    intent: Intent, evidence: Sequence[Evidence], index: FilingIndex, filings: Sequence[str]
) -> Iterator[tuple[str, int, str]]:
    """Yield (filing, page, text) of the evidence of the years asked about, and of the first pages of annual reports."""
    years = {period.fiscal_year for period in intent.periods}
    for kept in evidence:
        if not years or kept.card is None or kept.card.identity.fiscal_year in {None, *years}:
            yield *kept.passage.on_page, kept.passage.text
    annual = [doc_id for doc_id in filings if index.filing(doc_id).identity.form is Form.TEN_K][:_COVERS]
    for stored in index.pages([PageKey(doc_id, number) for doc_id in annual for number in range(_COVERS)]):
        yield stored.doc_id, stored.page.number, stored.page.text


def _registered_in(text: str) -> Iterator[str]:
    """Yield the securities of a cover with symbol and exchange: `Common Stock (GIS), New York Stock Exchange`."""
    begins = listed(_COVER, "list begins").search(text)
    ends = listed(_COVER, "list ends").search(text, begins.end()) if begins else None
    first, *lines = text[begins.end() : ends.start()].split("\n") if begins and ends else [""]
    title, symbol = "", ""
    for line in map(str.strip, () if "continued" in first.lower() else lines):
        if not any(map(str.isalnum, line)) or finds(line, "heads", _COVER):
            continue
        if finds(line, "exchanges", _COVER):
            if title:
                yield f"{title}{f' ({symbol})' if symbol else ''}, {line.strip(' *')}"
            title, symbol = "", ""
        elif title and not symbol and _is_symbol(line):
            symbol = line
        elif not line.startswith("("):
            title = f"{title} {line}".strip()


def _is_symbol(line: str) -> bool:
    letters = line.replace(".", "").replace("/", "")
    upper = letters[:-1].upper() == letters[:-1]
    return len(line) <= _LONGEST_SYMBOL and letters.isalnum() and line[0].isupper() and upper
