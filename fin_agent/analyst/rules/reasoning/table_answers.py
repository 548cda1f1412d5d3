"""Answers from tables and covers: extreme rows, figures announced for a later year, registered securities."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from fin_agent.analyst.reasoning_result import Reasoning
from fin_agent.analyst.rules.reasoning.question_parts import (
    STATEMENTS_OF,
    RankingRequest,
    measure_stems,
    parse_ranking,
)
from fin_agent.analyst.rules.reasoning.sentence_splitting import split_sentences
from fin_agent.analyst.rules.reasoning.term_coverage import Term, coverage, stems_in
from fin_agent.answering.answer import Citation
from fin_agent.evidence.evidence import Evidence
from fin_agent.evidence.intent import Intent
from fin_agent.filings.tables.cells import scale_of
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.text_normalization import singular, words_in
from fin_agent.lexicon.words import finds, listed
from fin_agent.query.lexer import is_part_kind
from fin_agent.retrieval.fact_terms import stems, words_of
from fin_agent.vocabulary.amount_formatting import amount_with_unit
from fin_agent.vocabulary.dates import printed_years
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Cell, Row, Table

_ROWS, _COVER = "row_words", "cover_words"
_BESIDE = frozenset({"total", "and", "operating", "cost", "the"})
"""Words that a heading may have in addition to the ranked ones: `Costs and expenses`."""
_BEHIND_LIABILITIES = ("total liabilities", "equity", "common stock", "preferred s")
_FEWEST, _MOST_SUMMANDS, _ROUNDING = 2, 20, 2
_CAPTION = 320
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
    statement: Statement | None
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


_COUNTED = stems("counted")


def answers_from_tables(
    intent: Intent, terms: Sequence[Term], evidence: Sequence[Evidence], index: FilingIndex
) -> Reasoning | None:
    """Return the extreme row, or the figures of a later year that the question names; None for other questions."""
    ranked = parse_ranking(intent.core)
    if ranked is not None:
        lines = list(intent.query.lines()) if intent.query is not None else []
        of_kind = intent.query is not None and intent.query.parts is not None and bool(intent.query.parts.kind)
        if of_kind and lines and all(getattr(line, "metric", "") for line in lines):
            return None  # no table divides the measure
        return _extreme_rows(ranked, intent.periods, tables_of(evidence, index))
    asked = max((period.fiscal_year for period in intent.periods), default=None)
    later = {str(year) for year in printed_years(intent.core) if asked is not None and year > asked}
    return _announced_figures(terms, tables_of(evidence, index), later) if later else None


def tables_of(evidence: Sequence[Evidence], index: FilingIndex) -> list[PlacedTable]:
    """Return the tables on the pages of the evidence, page by page, without duplicates."""
    keys = list(dict.fromkeys(PageKey(kept.passage.doc_id, kept.passage.page) for kept in evidence))
    statements = {each.key: each.page.statement for each in index.outline({key.doc_id for key in keys})}
    placed: list[PlacedTable] = []
    for key in keys:
        facts = {each.fact.box: each.fact for each in index.facts([key.doc_id], pages=[key])}
        placed += [PlacedTable(key.doc_id, table, statements.get(key), facts) for table in index.tables([key])]
    return placed


def _extreme_rows(
    ranked: RankingRequest, periods: Sequence[FiscalPeriod], tables: Sequence[PlacedTable]
) -> Reasoning | None:
    """Return the first rows of the ranking; None if no table is about the question, or several disagree."""
    found = list(_ranked_groups(ranked, periods, tables))
    if len({plain_label(rows[0]).lower() for _, _, rows in found}) != 1:
        return None
    placed, column, rows = found[0]
    shown = rows[: ranked.count + 1]
    counts = not _COUNTED.isdisjoint(words_of(f"{ranked.measure} {ranked.noun}"))
    figures = [
        f"{plain_label(row)} ({cell.printed if counts else placed.format_figure(cell)})"
        for row in shown
        if (cell := row.cells[column])
    ]
    after = f", before {figures[-1]}" if len(rows) > ranked.count else ""
    under = "".join(f" under “{heading}”" for heading in rows[0].section[-1:])
    what = f"the {ranked.word}" if ranked.count == 1 else f"the {ranked.count} {ranked.word}"
    when = placed.column_name(column)
    text = f"{'; '.join(figures[: ranked.count])}: {what} of {len(rows)} rows{under}, {when}{after}."
    return Reasoning(text=text, citations=tuple(placed.cell_citation(row, column) for row in shown))


def _ranked_groups(
    ranked: RankingRequest, periods: Sequence[FiscalPeriod], tables: Sequence[PlacedTable]
) -> Iterator[tuple[PlacedTable, int, list[Row]]]:
    """Yield (table, column, ranked rows) of each group of rows about what is ranked."""
    for placed in tables:
        column = _column(placed.table, periods, ranked)
        if column is None:
            continue
        by_heading = (list(rows) for _, rows in groupby(placed.table.rows, key=lambda row: row.section))
        liabilities = _liabilities(placed, ranked)
        for rows in [liabilities] if liabilities else by_heading:
            if not (liabilities or _is_about(placed, rows, column, ranked)):
                continue
            members = members_of(rows, column, parts=bool(ranked.measure))
            members.sort(key=lambda row: _amount(row, column), reverse=ranked.highest)
            level = len({_amount(row, column) for row in members[:2]}) == 1
            if len(members) >= max(_FEWEST, ranked.count) and not (level and ranked.count == 1):
                yield placed, column, members


def _is_about(placed: PlacedTable, rows: Sequence[Row], column: int, ranked: RankingRequest) -> bool:
    """Return whether the headings of rows name what is ranked."""
    section = rows[0].section
    if not ranked.measure:
        wanted = {STATEMENTS_OF[each] for each in stems_in(ranked.noun) if each in STATEMENTS_OF}
        heading = section[-1] if section else ""
        asked, headed = ({singular(word) for word in words_in(text.lower())} for text in (ranked.noun, heading))
        return asked <= headed and headed - asked <= _BESIDE and (not wanted or placed.statement in wanted)
    over = set(stems_in(f"{' '.join(section)} {placed.table.columns[column]} {placed.table.caption[-_CAPTION:]}"))
    noun = () if is_part_kind(ranked.noun.split()[-1]) else stems_in(ranked.noun)[-1:]
    in_column = not set(measure_stems(ranked.measure)).isdisjoint(stems_in(placed.table.columns[column]))
    return bool(noun or in_column) and over.issuperset(noun) and over.issuperset(measure_stems(ranked.measure))


def _liabilities(placed: PlacedTable, ranked: RankingRequest) -> Sequence[Row]:
    """Return all liabilities of a balance sheet, across headings, if they are ranked: the rows down to equity."""
    if placed.statement is not Statement.BALANCE_SHEET or ranked.measure or stems_in(ranked.noun) != ("liabil",):
        return ()
    rows = placed.table.rows
    called = [f"{row.section[-1] if row.section else ''} {plain_label(row)}".lower() for row in rows]
    start = next((place + 1 for place, label in enumerate(called) if label.endswith("total assets")), len(rows))
    for end in range(start + 1, len(rows)):
        if any(word in called[end] for word in _BEHIND_LIABILITIES) and "liabilities and" not in called[end]:
            return rows[start:end]
    return ()


def members_of(rows: Sequence[Row], column: int, *, parts: bool) -> list[Row]:
    """Return the rows with a figure in the column that are no totals; for `parts`, also without reconciling rows."""
    return [
        row
        for place, row in enumerate(rows)
        if row.label
        and (cell := row.cells[column]) is not None
        and not cell.percent
        and not finds(row.label, "totals", _ROWS)
        and not any(finds(each.label, "subtracted", _ROWS) for each in rows[place : place + 2])
        and not (parts and finds(row.label, "no part", _ROWS))
        and not _is_subtotal(rows, place, column)
    ]


def _is_subtotal(rows: Sequence[Row], place: int, column: int) -> bool:
    """Return whether a row is the sum of two or more rows directly above it."""
    wanted, total = _amount(rows[place], column), 0.0
    for summands, row in enumerate(reversed(rows[max(0, place - _MOST_SUMMANDS) : place]), start=1):
        if finds(row.label, "subtracted", _ROWS):
            return False
        total += _amount(row, column)
        if wanted and summands > 1 and abs(total - wanted) < _ROUNDING:
            return True
    return False


def _column(table: Table, periods: Sequence[FiscalPeriod], ranked: RankingRequest) -> int | None:
    """Return the only column of the requested period (the latest by default), or the one named like the measure."""
    dated = [(number, period) for number, period in enumerate(table.periods) if period is not None]
    if dated:
        quarter = periods[-1].quarter if periods else None
        year = periods[-1].fiscal_year if periods else max(period.fiscal_year for _, period in dated)
        spans, quarters = ((0, 12), (None, 4)) if quarter is None else ((0, 3), (quarter,))
        if year == max(period.fiscal_year for _, period in dated) and len(named := _undated(table, ranked)) == 1:
            return named[0]  # what changed in the year, between its first and its last day
        fits = [
            number
            for number, period in dated
            if period.fiscal_year == year and period.months in spans and period.quarter in quarters
        ]
    else:
        stems = set(measure_stems(ranked.measure))
        fits = [number for number, head in enumerate(table.columns) if stems and stems <= set(stems_in(head))]
    return fits[0] if len(fits) == 1 else None


def _undated(table: Table, ranked: RankingRequest) -> list[int]:
    """Return the columns without a period that have a word of the measure."""
    stems = set(measure_stems(ranked.measure))
    return [at for at, head in enumerate(table.columns) if table.periods[at] is None and stems & set(stems_in(head))]


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


def _amount(row: Row, column: int) -> float:
    cell = row.cells[column]
    return float(cell.amount) if cell else 0.0


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
