"""Answers from rows of a table: the extreme rows, and figures announced for a later year."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from fin_agent.analyst.protocol import Reasoning
from fin_agent.analyst.rules.reasoning.answer_candidates import AnswerTarget
from fin_agent.analyst.rules.reasoning.ranking_questions import (
    STATEMENTS_OF,
    RankingRequest,
    measure_stems,
    parse_ranking,
)
from fin_agent.analyst.rules.reasoning.sentence_splitting import split_sentences
from fin_agent.analyst.rules.reasoning.term_coverage import coverage, stems_in
from fin_agent.answering.answer import Citation
from fin_agent.evidence.evidence import Evidence
from fin_agent.evidence.intent import Intent
from fin_agent.filings.tables.cells import scale_of
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.text_normalization import singular, words_in
from fin_agent.lexicon.words import finds, word_lists
from fin_agent.vocabulary.dates import printed_years
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Cell, Row, Table

_SCALES = {1_000: "thousand", 1_000_000: "million", 1_000_000_000: "billion"}
_ROWS = "row_words"
_TITLE = re.compile(r"^(?:[A-Z][A-Z’'&-]+\s+){2,}|^(?:[A-Z][\w’'-]*\s+){2,}(?=(?:The|Our|We|As|At|In|These)\s+[a-z])")
"""A title that continues into the sentence below it."""
_BESIDE = frozenset({"total", "and", "operating", "cost", "the"})
"""Words that a heading may have in addition to the ranked ones: `Costs and expenses`."""
_MOST_SUMMANDS, _FEWEST_SUMMANDS, _ROUNDING = 20, 2, 2
_FEWEST, _MOST_CELLS = 2, 6
_CAPTION = 320
_MIN_COVERAGE = 0.75
"""Share of the question's word weight that an announcement and its columns must cover."""


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
        cell = row.cells[column]
        assert cell is not None
        head = self.period(column)
        text = (
            f"{plain_label(row)}, {head}: {self.format_figure(cell)}"
            if head
            else f"{plain_label(row)}: {self.format_figure(cell)}"
        )
        return Citation(doc_id=self.doc_id, page=self.table.page, text=text, box=cell.box)

    def format_figure(self, cell: Cell) -> str:
        """Return a figure with its unit and scale: `$1,097 million`, `12.5%`."""
        fact = self._fact(cell)
        if cell.percent or (fact and fact.unit not in ("USD", "count", "shares")):
            return cell.printed
        money = fact.unit == "USD" if fact else "dollar" in self.table.unit_line.lower() or self._has_dollars()
        scale = _SCALES.get((fact.scale if fact else scale_of(self.table.unit_line)) or 1, "")
        return f"{'-' if cell.amount < 0 else ''}{'$' if money else ''}{abs(cell.amount):,} {scale}".strip()

    def period(self, column: int) -> str:
        """Return the period of a column, `FY2022` or `Q2 FY2022`; its heading if it is no period."""
        period = self.table.periods[column] if column < len(self.table.periods) else None
        if period is None:
            return self.table.columns[column] if column < len(self.table.columns) else ""
        return f"Q{period.quarter} FY{period.fiscal_year}" if period.quarter else f"FY{period.fiscal_year}"

    def _fact(self, cell: Cell) -> Fact | None:
        """Return the fact of a cell; a bare number among amounts of money is money too."""
        fact = self.facts.get(cell.box)
        if cell.percent or (fact is not None and fact.unit != "count"):
            return fact
        place = next((number for row in self.table.rows for number, other in enumerate(row.cells) if other is cell), 0)
        beside = (row.cells[place] for row in self.table.rows)
        known = [each for other in beside if other and (each := self.facts.get(other.box)) and each.unit != "count"]
        return known[0] if len({(each.unit, each.scale) for each in known}) == 1 else fact

    def _has_dollars(self) -> bool:
        return any(cell.dollar for row in self.table.rows for cell in row.cells if cell)


def answers_from_tables(target: AnswerTarget, evidence: Sequence[Evidence], index: FilingIndex) -> Reasoning | None:
    """Return the extreme row, or the figures of a later year that the question names; None for other questions."""
    ranked = parse_ranking(target.intent.core)
    years = later_years(target.intent)
    beyond = _BEYOND.search(target.intent.core)
    if ranked is None and not years and not beyond:
        return None
    placed = tables_of(evidence, index)
    if beyond:
        if _other_kinds().intersection(stems_in(beyond["of"])):
            return None  # parts that add up to the total are segments, not customers
        return _parts_beyond_share(float(beyond[3]), target, placed, below=beyond[2].lower() in _BELOW)
    return (ranked and _extreme_rows(ranked, target, placed)) or (
        _announced_figures(target, placed, years) if years else None
    )


def later_years(intent: Intent, latest: int | None = None) -> set[str]:
    """Return the years in the question after those of its filings, or after `latest`: `in 2024`, as of 2021."""
    asked = [period.fiscal_year for period in intent.periods]
    filed = [min(max(asked), latest)] if asked and latest else asked or ([latest] if latest else [])
    named = map(str, printed_years(_REPORT_OF.sub(" ", intent.core)))
    return {year for year in named if filed and int(year) > max(filed)}


_REPORT_OF = re.compile(
    r"\b(?:19|20)\d\d\s+(?:10-?k|10-?q|annual report|(?:earnings |results )?release|report|filing)\b"
    r"|\b[A-Z][a-z]{2,8}\.?\s+(?:\d{1,2},?\s+)?(?:19|20)\d\d\b"
)
"""A report or a day: `the March 2023 release`."""


def tables_of(evidence: Sequence[Evidence], index: FilingIndex) -> list[PlacedTable]:
    """Return the tables on the pages of the evidence, page by page, without duplicates."""
    keys = list(dict.fromkeys(PageKey(kept.passage.doc_id, kept.passage.page) for kept in evidence))
    statements = {page.key: page.statement for page in index.outline({key.doc_id for key in keys})}
    placed: list[PlacedTable] = []
    for key in keys:
        facts = {each.fact.box: each.fact for each in index.facts([key.doc_id], pages=[key])}
        shown = statements.get(key)
        statement = Statement(shown) if shown else None
        placed += [PlacedTable(key.doc_id, table, statement, facts) for table in index.tables([key])]
    return placed


_BEYOND = re.compile(
    r"\b(?:any|which|what)\s+(?P<of>[^?]*?)\b(?:(more|over|above|less|under|below|greater|exceed\w*))\s*(?:than\s+)?"
    r"(\d+(?:\.\d+)?)\s*(?:%|percent)\s+of\s+[^?]*?\b(?:revenues?|sales)\b",
    re.I,
)
_BELOW = ("less", "under", "below")
_IN_ALL = 0.02


@lru_cache(maxsize=1)
def _other_kinds() -> frozenset[str]:
    """Return stems of sources of revenue other than segments and products: customers, regions."""
    return frozenset(stem for word in word_lists("question_words")["not segments"] for stem in stems_in(word))


def _parts_beyond_share(
    percent: float, target: AnswerTarget, tables: Sequence[PlacedTable], *, below: bool
) -> Reasoning | None:
    """Return the parts above or below a share of revenue, by the first table whose parts add up to it."""
    for placed in tables:
        for rows in groups_of(placed.table.rows):
            column = _column(placed, target.intent.periods, RankingRequest("parts", "revenue", highest=True))
            totals = [
                row for row in rows if column is not None and finds(row.label, "totals", _ROWS) and row.cells[column]
            ]
            members = members_of(rows, column, parts=True) if column is not None else []
            whole = (
                totals[-1]
                if totals and finds(f"{totals[-1].label} {' '.join(rows[0].section)}", "revenue", _ROWS)
                else None
            )
            if column is None or whole is None or len(members) < _FEWEST:
                continue
            amounts = [_amount(row, column) for row in members]
            total = _amount(whole, column)
            if abs(sum(amounts) - total) > _IN_ALL * abs(total) or not total:
                continue
            chosen = [
                row
                for row, amount in zip(members, amounts, strict=True)
                if (100 * amount < percent * total if below else 100 * amount > percent * total)
            ]
            than = f"{'less' if below else 'more'} than {percent:g}%"
            of_it = f"{plain_label(whole)} ({placed.format_figure(cell) if (cell := whole.cells[column]) else ''})"
            told = [
                f"{plain_label(row)} ({placed.format_figure(one)}, {100 * _amount(row, column) / total:.1f}%)"
                for row in chosen
                if (one := row.cells[column])
            ]
            text = (
                f"Yes: {'; '.join(told)}: {than} of {of_it}"
                if told
                else (f"No: none of {len(members)} rows is {than} of {of_it}")
            )
            cited = tuple(placed.cell_citation(row, column) for row in (*(chosen or members), whole))
            return Reasoning(text=f"{text}, {placed.period(column)}.", citations=cited)
    return None


def _extreme_rows(ranked: RankingRequest, target: AnswerTarget, tables: Sequence[PlacedTable]) -> Reasoning | None:
    """Return the first rows of the ranking; None if no table is about the question, or several disagree."""
    metrics = target.lexicon.metrics if target.lexicon is not None else {}
    named = target.lexicon.metrics_in(ranked.measure) if target.lexicon is not None else ()
    if any(name in metrics and metrics[name].statement is not None for name in named):
        return None  # a ranking of parts by a line of a statement is computed from figures
    found = list(_ranked_groups(ranked, target, tables))
    if not found or len({plain_label(rows[0]).lower() for _, _, rows in found}) > 1:
        return None
    placed, column, rows = found[0]
    shown = [*rows[: ranked.count], *rows[ranked.count : ranked.count + 1]]
    figures = [f"{plain_label(row)} ({placed.format_figure(cell)})" for row in shown if (cell := row.cells[column])]
    after = f", before {figures[-1]}" if len(rows) > ranked.count else ""
    under = "".join(f" under “{heading}”" for heading in rows[0].section[-1:])
    what = f"the {ranked.word}" if ranked.count == 1 else f"the {ranked.count} {ranked.word}"
    text = f"{'; '.join(figures[: ranked.count])}: {what} of {len(rows)} rows{under}, {placed.period(column)}{after}."
    return Reasoning(text=text, citations=tuple(placed.cell_citation(row, column) for row in shown))


def _ranked_groups(
    ranked: RankingRequest, target: AnswerTarget, tables: Sequence[PlacedTable]
) -> Iterator[tuple[PlacedTable, int, list[Row]]]:
    """Yield (table, column, ranked rows) of each group of rows about what is ranked."""
    for placed in tables:
        column = _column(placed, target.intent.periods, ranked)
        if column is None:
            continue
        for rows in _balance_sheet_side(placed, ranked) or list(groups_of(placed.table.rows)):
            if not _is_about(placed, rows, column, ranked):
                continue
            members = members_of(rows, column, parts=bool(ranked.measure))
            ordered = sorted(members, key=lambda row: _amount(row, column), reverse=ranked.highest)
            level = len(ordered) > 1 and _amount(ordered[0], column) == _amount(ordered[1], column)
            if len(ordered) >= max(_FEWEST, ranked.count) and not (level and ranked.count == 1):
                yield placed, column, ordered


def _is_about(placed: PlacedTable, rows: Sequence[Row], column: int, ranked: RankingRequest) -> bool:
    """Return whether the headings of rows name what is ranked."""
    heading = rows[0].section[-1] if rows[0].section else ""
    wanted = {STATEMENTS_OF[each] for each in stems_in(ranked.noun) if each in STATEMENTS_OF}
    if not ranked.measure:
        if wanted and placed.statement not in wanted:
            return False
        asked, headed = ({singular(word) for word in words_in(text.lower())} for text in (ranked.noun, heading))
        return bool(_balance_sheet_side(placed, ranked)) or (asked <= headed and headed - asked <= _BESIDE)
    over = set(
        stems_in(f"{' '.join(rows[0].section)} {placed.table.columns[column]} {placed.table.caption[-_CAPTION:]}")
    )
    noun = stems_in(ranked.noun)[-1:]
    return set(noun) <= over and bool(noun) and set(measure_stems(ranked.measure)) <= over


def _balance_sheet_side(placed: PlacedTable, ranked: RankingRequest) -> list[Sequence[Row]]:
    """Return all assets, or all liabilities, of a balance sheet: the rows above their total, across headings."""
    nouns = stems_in(ranked.noun)
    if placed.statement is not Statement.BALANCE_SHEET or ranked.measure or len(nouns) != 1:
        return []
    rows = placed.table.rows
    called = [plain_label(row).lower() for row in rows]
    if "total assets" not in called:
        return []
    assets = called.index("total assets")
    if nouns[0] == "asset":
        return [rows[:assets]]
    after = range(assets + 2, len(rows))
    end = next((place for place in after if called[place] == "total liabilities" or _is_equity(rows[place])), None)
    return [rows[assets + 1 : end]] if nouns[0] == "liabil" and end is not None else []


def _is_equity(row: Row) -> bool:
    words = f"{row.section[-1] if row.section else ''} {row.label}".lower()
    return any(each in words for each in ("equity", "common stock", "preferred s")) and "liabilities and" not in words


def members_of(rows: Sequence[Row], column: int, *, parts: bool) -> list[Row]:
    """Return the rows with a figure in the column that are no totals; for `parts`, also without reconciling rows."""
    return [
        row
        for place, row in enumerate(rows)
        if row.label
        and (cell := row.cells[column]) is not None
        and not cell.percent
        and not finds(row.label, "totals", _ROWS)
        and not finds(row.label, "subtracted", _ROWS)
        and not (place + 1 < len(rows) and finds(rows[place + 1].label, "subtracted", _ROWS))
        and not (parts and finds(row.label, "no part", _ROWS))
        and not _is_subtotal(rows, place, column)
    ]


def _is_subtotal(rows: Sequence[Row], place: int, column: int) -> bool:
    """Return whether a row is the sum of the rows directly above it."""
    wanted = rows[place].cells[column]
    if wanted is None or not wanted.amount:
        return False
    total, summands = 0.0, 0
    for row in reversed(rows[max(0, place - _MOST_SUMMANDS) : place]):
        cell = row.cells[column]
        if cell is None or cell.percent:
            continue
        if finds(row.label, "subtracted", _ROWS):
            return False
        total, summands = total + float(cell.amount), summands + 1
        if summands >= _FEWEST_SUMMANDS and abs(total - float(wanted.amount)) < _ROUNDING:
            return True
    return False


def groups_of(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Yield groups of consecutive rows under the same heading, including rows without one up to their total."""
    start = 0
    while start < len(rows):
        end = start + 1
        while end < len(rows) and rows[end].section == rows[start].section:
            end += 1
        yield rows[start:end]
        start = end


def _column(placed: PlacedTable, periods: Sequence[FiscalPeriod], ranked: RankingRequest) -> int | None:
    """Return the only column of the requested period (the latest by default), or the one named like the measure."""
    table = placed.table
    dated = [(number, period) for number, period in enumerate(table.periods) if period is not None]
    if not dated:
        stems = set(measure_stems(ranked.measure))
        named = [number for number, head in enumerate(table.columns) if stems and stems <= set(stems_in(head))]
        return named[0] if len(named) == 1 else None
    year = periods[-1].fiscal_year if periods else max(period.fiscal_year for _, period in dated)
    quarter = periods[-1].quarter if periods else None
    lengths = (0, 12) if quarter is None else (0, 3)
    fits = [
        number
        for number, period in dated
        if period.fiscal_year == year
        and period.months in lengths
        and (period.quarter in (None, 4) if quarter is None else period.quarter == quarter)
    ]
    return fits[0] if len(fits) == 1 else None


def _announced_figures(target: AnswerTarget, tables: Sequence[PlacedTable], years: set[str]) -> Reasoning | None:
    """Return the figures of a later year below a matching sentence; None if there are none or several."""
    found: list[tuple[float, PlacedTable, str, str, list[tuple[Row, int, str]]]] = []
    for placed in tables:
        caption = placed.table.caption.removesuffix(placed.table.unit_line).strip()
        sentence = _TITLE.sub("", split_sentences(caption)[-1])
        if not finds(sentence, "announcing a table", _ROWS):
            continue
        for year, cells in _cells_by_year(placed.table, years):
            names = " ".join(name for _, _, name in cells)
            said = stems_in(f"{sentence} {names} {year}")
            borne = round(coverage(target.terms, said), 9)
            spoken = [bool(term.coverage_in(said)) for term in target.terms if not term.words.isdigit()]
            if borne >= _MIN_COVERAGE and sum(spoken) >= _MIN_COVERAGE * len(spoken) and 0 < len(cells) <= _MOST_CELLS:
                found.append((borne, placed, sentence, year, cells))
    best = [each for each in found if each[0] == max(one[0] for one in found)]
    printed = {tuple(cell.printed.strip("$ ") for row, at, _ in each[4] if (cell := row.cells[at])) for each in best}
    if len(printed) != 1:
        return None
    _, placed, sentence, year, cells = best[0]
    told = "; ".join(
        f"{name} {placed.format_figure(cell)}".strip() for row, at, name in cells if (cell := row.cells[at])
    )
    cited = []
    for row, at, _ in cells:
        cell = row.cells[at]
        assert cell is not None
        head = f", {placed.table.columns[at]}" if placed.table.columns[at] else ""
        text = f"{row.label}{head}: {placed.format_figure(cell)}"
        cited.append(Citation(doc_id=placed.doc_id, page=placed.table.page, text=text, box=cell.box))
    return Reasoning(text=f"{sentence} {year}: {told}.", citations=tuple(cited))


def _cells_by_year(table: Table, years: set[str]) -> Iterator[tuple[str, list[tuple[Row, int, str]]]]:
    """Yield (year, cells with what distinguishes them) of each row and column named by one of `years`."""
    for row in table.rows:
        year = _year_alone(row.label)
        if year in years:
            yield year, [(row, at, table.columns[at]) for at, cell in enumerate(row.cells) if cell is not None]
    for at, head in enumerate(table.columns):
        year = _year_alone(head)
        if year in years:
            rows = (row for row in table.rows if row.cells[at] is not None and "total" not in row.label.lower())
            yield year, [(row, at, row.label) for row in rows]


def _year_alone(label: str) -> str:
    """Return the year that a label consists of, `Fiscal year 2024`; empty for any other."""
    bare = label.lower().replace("fiscal", "").replace("year", "").strip(_MARKS)
    return bare if printed_years(bare) and bare.isdecimal() else ""


_MARKS = " :.,;()*-–—"


def plain_label(row: Row) -> str:
    """Return the label of a row without text in brackets."""
    label = _IN_BRACKETS.sub("", row.label) or row.label
    return label.partition(", less ")[0].partition(", net of ")[0].strip(" :,")


_IN_BRACKETS = re.compile(r"\s*\([^()]*(?:\)|$)")


def _amount(row: Row, column: int) -> float:
    cell = row.cells[column]
    return float(cell.amount) if cell else 0.0
