"""Match inline XBRL tags with the figures read: a printed figure keeps its row and gains the tag's meaning."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from fin_agent.filings.facts.table_facts import UnitOf
from fin_agent.filings.tables.cells import parse_number
from fin_agent.filings.tables.column_periods import FiscalCalendar
from fin_agent.filings.tables.lines import clean_label
from fin_agent.vocabulary.fact import UNDATED, Fact, FactPeriod, Tag
from fin_agent.vocabulary.page import PageContent, PrintedLine, Statement
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Table

ConceptOf = Callable[[str], str | None]
"""Returns the metric of a concept (`us-gaap:Assets`), or None."""


def with_tags(
    facts: Sequence[Fact],
    tags: Sequence[Tag],
    pages: Sequence[PageContent],
    tables: Sequence[Table],
    statements: Mapping[int, Statement],
    calendar: FiscalCalendar | None,
    concept_of: ConceptOf,
    unit_of: UnitOf,
) -> list[Fact]:
    """Return `facts` of `tables` with the tags in their cells, and a fact for every other visible tag.

    Tags take precedence: period, unit, scale and scope come from the tag; label, section, column and the printed sign
    come from the table. A metric named by a row of a primary statement is kept, because people ask for what is printed
    (`Inventories` is tagged as finished goods by a filer without others). Elsewhere, and for a segment, product or
    region (`Services` is revenue of services), the concept's metric is used. Outside the statements, a public concept
    without a metric means that the row has none (`Total liabilities` measured at fair value). A tag without members
    belongs to the consolidated company, one with members to a part. Hidden tags, and tags without a known period, make
    no fact.
    """
    places = _Places(tags)
    joined: list[Fact] = []
    taken: set[int] = set()
    for fact in facts:
        if fact.source == "label":
            continue  # figures in labels have their own tags
        found = places.inside(fact.page, fact.box)
        if not found:
            joined.append(fact)
        for tag in found:
            taken.add(id(tag))
            joined.append(_joined(fact, tag, calendar, concept_of, unit_of))
    if calendar is not None:
        for cell in _cells_without_facts(tables, facts, statements):
            for tag in places.inside(cell.page, cell.box):
                if tag.end is not None and id(tag) not in taken:
                    taken.add(id(tag))
                    joined.append(_joined(cell, tag, calendar, concept_of, unit_of))
        by_number = {page.number: page for page in pages}
        for tag in tags:
            if tag.numeric and id(tag) not in taken:
                joined += _fact_of(tag, by_number, statements, calendar, concept_of, unit_of)
    joined.sort(key=lambda fact: (fact.page, fact.line, fact.box.x0))
    return joined


def period_of(start: date | None, end: date, calendar: FiscalCalendar) -> FactPeriod:
    """Return the filer's period for a start and an end; `start` is None for an instant.

    Lengths are rounded to months (52 and 53 weeks are 12, 13 and 14 weeks 3). A year that does not end with the fiscal
    year has the quarter it ends in, so that it is not confused with the fiscal year.
    """
    if start is None:
        return calendar.instant(end)
    months = max(1, round(((end - start).days + 1) / _DAYS_A_MONTH))
    if months == 12 and not calendar.may_end_year(end):
        return FactPeriod(calendar.fiscal_year_of(end), calendar.quarter_of(end), 12, end)
    return calendar.duration(end, months)


def label_of(concept: str) -> str:
    """Return a concept's name as words: `us-gaap:OperatingLeaseCost` is `Operating Lease Cost`."""
    return " ".join(_WORD.findall(concept.rpartition(":")[2]))


_DAYS_A_MONTH = 30.44
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_MAX_LABEL_LENGTH = 200
_SCALES = (1, 1_000, 1_000_000, 1_000_000_000)
_MEMBER_ENDING = re.compile(r"(?:Segment)?Member$|Domain$")


class _Places:
    """Numeric tags by page and height."""

    def __init__(self, tags: Iterable[Tag]) -> None:
        self._by_page: dict[int, list[tuple[float, Tag]]] = {}
        for tag in tags:
            if tag.numeric and tag.page is not None and tag.box is not None:
                self._by_page.setdefault(tag.page, []).append(((tag.box.y0 + tag.box.y1) / 2, tag))
        for placed in self._by_page.values():
            placed.sort(key=lambda pair: pair[0])

    def inside(self, page: int, box: Box) -> list[Tag]:
        """Return tags whose center is in `box`."""
        placed = self._by_page.get(page, [])
        begin = bisect_left(placed, box.y0, key=lambda pair: pair[0])
        end = bisect_right(placed, box.y1, key=lambda pair: pair[0])
        return [
            tag
            for _, tag in placed[begin:end]
            if tag.box is not None and box.x0 - 1 <= (tag.box.x0 + tag.box.x1) / 2 <= box.x1 + 1
        ]


def _cells_without_facts(
    tables: Sequence[Table], facts: Sequence[Fact], statements: Mapping[int, Statement]
) -> Iterator[Fact]:
    """Yield cells of columns without a period, as facts that a tag may date."""
    read = {(fact.page, fact.box) for fact in facts}
    for table in tables:
        for row in table.rows:
            for index, cell in enumerate(row.cells):
                if cell is not None and (table.page, cell.box) not in read:
                    yield Fact(
                        label=row.label,
                        amount=cell.amount,
                        scale=1,
                        unit="percent" if cell.percent else "",
                        period=UNDATED,
                        page=table.page,
                        box=cell.box,
                        section=row.section,
                        line=row.line,
                        column=table.columns[index],
                        column_path=table.column_path(index),
                        statement=statements.get(table.page),
                    )


def _joined(fact: Fact, tag: Tag, calendar: FiscalCalendar | None, concept_of: ConceptOf, unit_of: UnitOf) -> Fact:
    amount, scale, unit = _amount_scale_unit(tag, fact.amount, fact.unit)
    if tag.value is None and not tag.nil and fact.period is not UNDATED:
        # A tag that cannot be parsed does not change the printed figure.
        amount, scale, unit = fact.amount, fact.scale, fact.unit
    period = period_of(tag.start, tag.end, calendar) if calendar and tag.end else fact.period
    metric = _metric(tag, unit, concept_of, unit_of)
    of_row = fact.statement is not None and not tag.of_part
    chosen = fact.metric or metric if of_row else metric or fact.metric
    public = tag.concept.partition(":")[0] in _PUBLIC
    if metric is None and fact.statement is None and not tag.members and public and concept_of(tag.concept) is None:
        chosen = None  # the concept contradicts the metric that the row names
    return replace(
        fact,
        amount=amount,
        scale=scale,
        unit=unit,
        period=period,
        metric=chosen,
        scope=None if not tag.members else fact.scope or _scope_of(tag),
        source="ixbrl",
        tied=fact.tied or (metric is not None and not tag.members),
        inverted=fact.inverted or (chosen != fact.metric and _is_printed_inverted(fact, tag)),
        tag=tag,
    )


_PUBLIC = frozenset(("us-gaap", "ifrs-full"))


def _is_printed_inverted(fact: Fact, tag: Tag) -> bool:
    """Return whether print and tag differ in sign (`Other (income) expense` is tagged as income).

    Cash flows are reported as printed: their concepts treat an increase of inventories as positive.
    """
    if not fact.amount or not tag.value or fact.statement is Statement.CASH_FLOW:
        return False
    return (fact.amount < 0) != (tag.value < 0)


def _fact_of(
    tag: Tag,
    pages: Mapping[int, PageContent],
    statements: Mapping[int, Statement],
    calendar: FiscalCalendar,
    concept_of: ConceptOf,
    unit_of: UnitOf,
) -> Iterator[Fact]:
    """Yield the fact of a tag that matches no figure of a table: in running text, or in a label."""
    number = parse_number(tag.text)
    if number is None and tag.value is None and not tag.nil:
        return  # neither the tag nor its text is a number: missing is not zero
    if tag.end is None or tag.page is None or tag.box is None:
        return
    amount, scale, unit = _amount_scale_unit(tag, number.amount if number else Decimal(0), "")
    line, in_table = _line_at(pages[tag.page], tag.box)
    yield Fact(
        label=(_row_label(pages[tag.page].lines[line], tag.box) if in_table else "") or label_of(tag.concept),
        amount=amount,
        scale=scale,
        unit=unit,
        period=period_of(tag.start, tag.end, calendar),
        page=tag.page,
        box=tag.box,
        metric=_metric(tag, unit, concept_of, unit_of),
        line=line,
        statement=statements.get(tag.page) if in_table else None,
        scope=_scope_of(tag) if tag.members else None,
        source="ixbrl",
        tag=tag,
    )


def _row_label(row: PrintedLine, box: Box) -> str:
    """Return the row's first words, unless the tag is among them."""
    first = row.words[0]
    if box.x0 < first.x1 or not any(mark.isalpha() for mark in first.text):
        return ""
    return clean_label(first.text)[:_MAX_LABEL_LENGTH]


def _amount_scale_unit(tag: Tag, printed: Decimal, unit: str) -> tuple[Decimal, int, str]:
    """Return (amount as printed, scale, unit), where amount times scale is the tag's value up to the printed sign."""
    named = _unit_of(tag, printed, unit)
    if tag.value is None:
        return printed, 1, named
    size = abs(tag.value) * (100 if named == "percent" else 1)
    for scale in _SCALES:
        if abs(printed) * scale == size:
            return printed, scale, named
    sign = -1 if printed < 0 or (not printed and tag.value < 0) else 1
    return sign * size, 1, named


def _unit_of(tag: Tag, printed: Decimal, unit: str) -> str:
    if tag.unit in ("pure", ""):
        hundredfold = bool(tag.value) and tag.value is not None and abs(tag.value) * 100 == abs(printed)
        return "percent" if unit == "percent" or hundredfold else unit or "ratio"
    numerator, _, denominator = tag.unit.partition("/")
    if denominator:
        return f"{numerator} per {'share' if denominator == 'shares' else denominator}"
    return tag.unit


def _metric(tag: Tag, unit: str, concept_of: ConceptOf, unit_of: UnitOf) -> str | None:
    if tag.nil or tag.value is None:
        return None
    metric = concept_of(tag.concept)
    return metric if metric is not None and unit_of(metric) == unit else None


def _scope_of(tag: Tag) -> str:
    """Return the members' names as words, joined: `Greater China`."""
    return ", ".join(label_of(_MEMBER_ENDING.sub("", member)) or label_of(member) for _, member in tag.members)


def _line_at(page: PageContent, box: Box) -> tuple[int, bool]:
    """Return (position of the line on its page, whether it is a row of a table)."""
    middle = (box.y0 + box.y1) / 2
    position = max(0, bisect_right(page.lines, middle, key=lambda line: line.y0) - 1)
    return position, bool(page.lines) and page.lines[position].table is not None
