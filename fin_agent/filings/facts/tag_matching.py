"""Match inline XBRL tags with the figures read: a printed figure keeps its row and gains the tag's meaning."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from fin_agent.filings.facts.table_facts import UnitOf
from fin_agent.filings.facts.units_and_scales import fact_of_cell
from fin_agent.filings.tables.cells import clean_label, parse_number
from fin_agent.filings.tables.column_periods import FiscalCalendar
from fin_agent.vocabulary.fact import UNDATED, Fact, FactPeriod, Tag
from fin_agent.vocabulary.page import PageContent, Statement
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.runs import grouped
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

    Period, unit, scale and scope come from the tag; label, section, column and the printed sign from the table. A
    metric named by a row of a primary statement is kept, because people ask for what is printed; elsewhere, and for a
    part (`Services` is revenue of services), it is the concept's. Outside the statements, a public concept without a
    metric means that the row has none (`Total liabilities` measured at fair value). A tag without members belongs to
    the whole company. Hidden tags, and tags without a known period, make no fact.
    """
    tags_on = grouped((tag.page, (tag, tag.box)) for tag in tags if tag.numeric and tag.page is not None and tag.box)

    def inside(page: int, box: Box) -> list[Tag]:
        """Return numeric tags whose center is in `box`."""
        return [tag for tag, place in tags_on.get(page, ()) if place and box.contains_center_of(place)]

    joined: list[Fact] = []
    taken: set[int] = set()
    for fact in facts:
        if fact.source == "label":
            continue  # figures in labels have their own tags
        found = inside(fact.page, fact.box)
        if not found:
            joined.append(fact)
        for tag in found:
            taken.add(id(tag))
            joined.append(_joined(fact, tag, calendar, concept_of, unit_of))
    if calendar is not None:
        for cell in _cells_without_facts(tables, facts, statements):
            for tag in inside(cell.page, cell.box):
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

    Lengths are rounded to months: 53 weeks are 12. A year that is not the fiscal year has the quarter in which it ends.
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


def _cells_without_facts(
    tables: Sequence[Table], facts: Sequence[Fact], statements: Mapping[int, Statement]
) -> Iterator[Fact]:
    """Yield cells of columns without a period, as facts that a tag may date."""
    read = {(fact.page, fact.box) for fact in facts}
    for table in tables:
        for row in table.rows:
            for index, cell in enumerate(row.cells):
                if cell is not None and (table.page, cell.box) not in read:
                    unit = "percent" if cell.percent else ""
                    yield fact_of_cell(table, row, index, unit, "", UNDATED, statement=statements.get(table.page))


def _joined(fact: Fact, tag: Tag, calendar: FiscalCalendar | None, concept_of: ConceptOf, unit_of: UnitOf) -> Fact:
    amount, scale, unit = _amount_scale_unit(tag, fact.amount, fact.unit)
    if tag.value is None and not tag.nil and fact.period is not UNDATED:
        # A tag that cannot be parsed does not change the printed figure.
        amount, scale, unit = fact.amount, fact.scale, fact.unit
    metric = _metric(tag, unit, concept_of, unit_of)
    public = tag.concept.partition(":")[0] in _PUBLIC
    if fact.statement is not None and not tag.of_part:
        chosen = fact.metric or metric
    elif metric or tag.members or fact.statement is not None or not public or concept_of(tag.concept) is not None:
        chosen = metric or fact.metric
    else:
        chosen = None  # the concept contradicts the metric that the row names
    # Print and the tag that gives the metric may differ in sign: `Other (income) expense` is income. On cash flow
    # statements they do for other reasons: their concepts treat an increase of inventories as positive.
    signed = chosen != fact.metric and fact.statement is not Statement.CASH_FLOW and fact.amount and tag.value
    return replace(
        fact,
        amount=amount,
        scale=scale,
        unit=unit,
        period=period_of(tag.start, tag.end, calendar) if calendar and tag.end else fact.period,
        metric=chosen,
        scope=None if not tag.members else fact.scope or _scope_of(tag),
        source="ixbrl",
        tied=fact.tied or (metric is not None and not tag.members),
        inverted=fact.inverted or (bool(signed) and (fact.amount < 0) != ((tag.value or 0) < 0)),
        tag=tag,
    )


_PUBLIC = frozenset(("us-gaap", "ifrs-full"))


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
    lines, middle = pages[tag.page].lines, (tag.box.y0 + tag.box.y1) / 2
    line = max(0, bisect_right(lines, middle, key=lambda line: line.y0) - 1)
    in_table = bool(lines) and lines[line].table is not None
    label = ""
    if in_table and tag.box.x0 >= (first := lines[line].words[0]).x1 and any(map(str.isalpha, first.text)):
        label = clean_label(first.text)[:_MAX_LABEL_LENGTH]  # the row's first words, unless the tag is among them
    yield Fact(
        label=label or label_of(tag.concept),
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
