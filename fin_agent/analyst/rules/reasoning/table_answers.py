"""Answers from tables, covers and outlooks: figures announced for a later year, registered securities, expectations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from fin_agent.analyst.reasoning_result import Reasoning
from fin_agent.analyst.rules.reasoning.answer_candidates import (
    AnswerTarget,
    DatedPassages,
    FilingPeriod,
    has_listed_prefix,
    periods_in,
)
from fin_agent.analyst.rules.reasoning.sentence_splitting import paragraphs_of, split_sentences
from fin_agent.analyst.rules.reasoning.term_coverage import Term, coverage, stems_in, synonyms_of
from fin_agent.answering.answer import Citation
from fin_agent.evidence.evidence import Evidence
from fin_agent.evidence.intent import Intent
from fin_agent.filings.tables.cells import scale_of
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
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
_LONGEST_LABEL, _LONGEST_VALUE = 60, 80
_MOST_RELEASES = 3


@dataclass(frozen=True, slots=True)
class PlacedTable:
    """A table on a page of the evidence."""

    doc_id: str
    table: Table
    facts: Mapping[Box, Fact]
    """The facts of its cells, by box."""

    def cell_citation(self, row: Row, column: int) -> Citation:
        """Return the citation of a cell with the words of its row and column."""
        cell, period = row.cells[column], next(iter(self.table.periods[column:]), None)
        assert cell is not None
        head = next(iter(self.table.columns[column:]), "")
        if period is not None:
            head = str(FiscalPeriod(fiscal_year=period.fiscal_year, quarter=period.quarter))
        label = (_IN_BRACKETS.sub("", row.label) or row.label).partition(", less ")[0].partition(", net of ")[0]
        text = f"{label.strip(' :,')}{f', {head}' if head else ''}: {self.format_figure(cell)}"
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
    placed: list[PlacedTable] = []
    for key in dict.fromkeys(kept.passage.on_page for kept in evidence):
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


class OutlookRow(NamedTuple):
    """One line of an outlook."""

    label: str
    values: tuple[str, ...]
    """As printed: `$11.0 billion to $11.1 billion`, `no change`."""


def outlook_answer(target: AnswerTarget, passages: DatedPassages) -> Reasoning | None:
    """Return what releases expect of the lines that a question about an outlook names; None for any other.

    Each release is told with its period; those of another quarter than the one asked for are left out. All of an
    outlook for the period asked about is told where no line is named.
    """
    if not has_listed_prefix("expected", target.intent.core):
        return None
    if whole := _whole_outlook(target, passages):
        return whole
    quarters = {period.quarter for period in target.intent.periods if period.quarter}
    told: dict[str, tuple[FilingPeriod, Citation]] = {}
    for passage, filed in passages:
        if quarters and filed.quarter not in quarters:
            continue
        if target.years and filed.year is not None and not target.years & {filed.year - 1, filed.year, filed.year + 1}:
            continue  # filers call a year by that of its beginning or of its end
        heads, rows = _outlook_in(passage.text)
        if named := _named_rows(rows, target):
            text = ". ".join(_told(row, heads) for row in named)
            cited = Citation(doc_id=passage.doc_id, page=passage.page, text=text, box=passage.box)
            told.setdefault(text, (filed, cited))
    kept = sorted(told.items(), key=lambda each: (each[1][0].year or 0, each[1][0].quarter or 0))[-_MOST_RELEASES:]
    if not kept:
        return None
    return Reasoning(
        text=" ".join(f"{_released(filed)}{text}." for text, (filed, _) in kept),
        citations=tuple(cited for _, (_, cited) in kept),
        read=tuple(sorted({PageKey(cited.doc_id, cited.page) for _, (_, cited) in kept})),
    )


def _whole_outlook(target: AnswerTarget, passages: DatedPassages) -> Reasoning | None:
    """Return all of the outlook for the one period asked about; None if there is none, or if a line is named."""
    asked = {(period.fiscal_year, period.quarter) for period in target.intent.periods}
    names_none = all(has_listed_prefix("expected", term.words) for term in target.telling_terms)
    for passage, _ in passages if names_none and len(asked) == 1 else ():
        if told := _told_of(passage.text, asked):
            cited = [Citation(doc_id=passage.doc_id, page=passage.page, text=one, box=passage.box) for one in told]
            return Reasoning(text=" ".join(told), citations=tuple(cited), read=(passage.on_page,))
    return None


def _told_of(text: str, asked: set[tuple[int, int | None]]) -> list[str]:
    """Return what a text expects of a period: the rows of its outlook, or the statements under the heading of it."""
    heads, rows = _outlook_in(text)
    if rows and all(periods_in(head) == asked for head in heads[-1:]):
        return [". ".join(_told(row, heads) for row in rows) + "."]
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if line.strip() and _is_heading(line.strip()) and periods_in(line) == asked:
            items = takewhile(lambda one: one.item, paragraphs_of("\n".join(lines[at + 1 :])))
            said = (" ".join(one.sentences) for one in items)
            if told := [one for one in said if any(map(str.isdigit, one))]:
                return told
    return []


def _named_rows(rows: Sequence[OutlookRow], target: AnswerTarget) -> list[OutlookRow]:
    """Return the rows that a question names; of `comparable sales` not that of sales, if it says this only once."""
    said = [one for part in target.intent.core.split() for one in stems_in(part)]
    named = [(row, _stems_of(row)) for row in rows if _is_named(row, target)]

    def is_named_apart(row: OutlookRow, own: frozenset[str]) -> bool:
        return row.label.lower() in target.intent.core.lower() or all(said.count(one) > 1 for one in own)

    return [row for row, own in named if is_named_apart(row, own) or not any(own < other for _, other in named)]


def _released(filed: FilingPeriod) -> str:
    return f"Reporting {FiscalPeriod(fiscal_year=filed.year, quarter=filed.quarter)}: " if filed.year else ""


def _told(row: OutlookRow, heads: Sequence[str]) -> str:
    columns = heads[-len(row.values) :]
    if len(columns) < len(row.values):
        return f"{row.label}: {'; '.join(row.values)}"
    return f"{row.label}: {'; '.join(f'{value} ({head})' for head, value in zip(columns, row.values, strict=True))}"


def _outlook_in(text: str) -> tuple[list[str], list[OutlookRow]]:
    """Return the column headings of an outlook and its rows: lines that are labels, and the values behind each."""
    lines = [" ".join(line.split()) for line in text.split("\n") if line.strip()]
    first = next((at for at, line in enumerate(lines) if _is_heading(line)), None)
    if first is None:
        return [], []
    heads = [line for line in lines[first:] if _is_heading(line)]
    begun = max(at for at, line in enumerate(lines) if line in heads) + 1
    return heads, list(_rows(lines[begun:]))


def _is_heading(line: str) -> bool:
    return len(line) < _LONGEST_LABEL and line[-1] not in ".:;," and finds(line, "outlook heads", "row_words")


def _rows(lines: Sequence[str]) -> Iterator[OutlookRow]:
    """Yield the rows until the first line that is neither a label nor a value."""
    label = ""
    values: list[str] = []
    for line in [*lines, ""]:
        states = finds(line, "outlook values", "row_words") or any(map(str.isdigit, line))
        if label and len(line) < _LONGEST_VALUE and states:
            values.append(line)
            continue
        if label and values:
            yield OutlookRow(label, tuple(values))
        if not line or len(line) > _LONGEST_LABEL or any(map(str.isdigit, line)) or (label and not values):
            return
        label, values = line, []


def _is_named(row: OutlookRow, target: AnswerTarget) -> bool:
    """Return whether a question has all words of a label, or a synonym of one of its words or terms: `EPS`."""
    own, core = _stems_of(row), target.intent.core
    others = (*(term.synonyms for term in target.terms), *map(synonyms_of, core.split()))
    same = {one - _OF_ANY_LABEL for each in others for one in each}
    return bool(own) and (own <= frozenset(stems_in(core)) or own in same)


def _stems_of(row: OutlookRow) -> frozenset[str]:
    return frozenset(stems_in(row.label)) - _OF_ANY_LABEL


_OF_ANY_LABEL = frozenset(stems_in("net total diluted consolidated"))
