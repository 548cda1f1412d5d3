"""Time series for charts: a row of a statement over the years, or a line found by its words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from fin_agent.index.protocol import FilingIndex, PageKey, SourcedFact
from fin_agent.lexicon.company_mentions import Company
from fin_agent.lexicon.text_normalization import plain
from fin_agent.presentation.filings import statements_on
from fin_agent.retrieval.fact_search import FactQuery, find_facts
from fin_agent.retrieval.search_query import Scope
from fin_agent.serving.filing_resources import Json, page_of, record_of
from fin_agent.serving.problem_details import NotThereError
from fin_agent.tools.argument_resolution import resolve_company
from fin_agent.tools.context import ToolContext
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.figure_agreement import magnitudes_agree
from fin_agent.vocabulary.page import Statement
from fin_agent.web.views import ANNUAL_FORMS, figure_shown, in_a_cell

_MAX_FOUND = 400
_NEAR = 0.05
"""Largest distance of a score from the best one for figures of the same line."""


class SeriesRequest(BaseModel):
    """A request for a line over the years: by its words for the named companies, or by a row of a statement.

    With a row, the same statement of other companies is searched for similar lines.
    """

    model_config = ConfigDict(extra="forbid")

    phrase: Annotated[str, Field(min_length=1, max_length=300)]
    company: Annotated[list[Annotated[str, Field(max_length=300)]], Field(max_length=8)] = []
    doc_id: Annotated[str, Field(max_length=500)] = ""
    """The filing of the row; empty to find the line by its words."""
    page_number: Annotated[int, Field(ge=1)] = 1
    line: Annotated[int, Field(ge=1)] = 1


def series_shown(context: ToolContext, asked: SeriesRequest) -> Json:
    """Return one figure with its place for each company and fiscal year; the company of a row comes first.

    A row of a statement is continued by the same row of that statement in the company's other filings. Lines of other
    companies are those whose words are closest to the phrase, on the same statement if a row is given.

    Raises:
        ToolInputError: A company is not in the index.
        NotThereError: The filing or the row does not exist.
    """
    workspace, index = context.workspace, context.workspace.index
    series: list[Json] = []
    row, own = None, None
    if asked.doc_id:
        row = _row_at(asked, context)
        own = workspace.directory.by_key[workspace.directory.owners[asked.doc_id]]
        series.append(_series(own, _continued(row, _rows_of(own, row.lead.statement, context)), index))
    for company in (resolve_company(name, workspace) for name in asked.company):
        if company != own:
            query = FactQuery(asked.phrase)
            scope = Scope(context.within)
            found = find_facts(workspace, query, company=company.key, scope=scope, limit=_MAX_FOUND).hits
            fitting = [hit for hit in found if not hit.missing and _fits(hit.sourced.fact, row)]
            best = max((hit.score for hit in fitting), default=0.0)
            points = _by_year((hit.sourced for hit in fitting if hit.score >= best - _NEAR), index)
            series.append(_series(company, points, index))
    return {"phrase": asked.phrase, "series": series}


def _series(company: Company, points: Iterable[SourcedFact], index: FilingIndex) -> Json:
    shown = list(points)
    index.check_rows({each.doc_id for each in shown}, words=False)
    return {"company": company.name, "points": [figure_shown(each.fact, each.doc_id) for each in shown]}


@dataclass(frozen=True, slots=True)
class _Row:
    """The figures of a statement's row that have one unit, length of period and segment."""

    doc_id: str
    lead: Fact
    """The newest figure, of the whole company if there is one."""
    by_year: dict[int, SourcedFact]

    @classmethod
    def of(cls, figures: Sequence[SourcedFact], like: Fact | None = None) -> _Row | None:
        """Return the figures of the kind of `like`, or else of the leading figure; None if there are none."""
        dated = [each for each in figures if each.fact.period.fiscal_year and (like is None or _alike(each.fact, like))]
        if not dated:
            return None
        lead = max(dated, key=_leads)
        alike = [each for each in sorted(dated, key=_leads, reverse=True) if _alike(each.fact, lead.fact)]
        by_year: dict[int, SourcedFact] = {}
        for each in alike:
            by_year.setdefault(each.fact.period.fiscal_year, each)
        return cls(lead.doc_id, lead.fact, by_year)

    @property
    def values(self) -> dict[int, Decimal]:
        """Values by fiscal year."""
        return {year: each.fact.value for year, each in self.by_year.items()}


def _leads(sourced: SourcedFact) -> tuple[bool, int, date, float]:
    fact = sourced.fact
    return fact.scope is None, fact.period.fiscal_year, fact.period.end or date.min, -fact.box.x0


def _alike(fact: Fact, other: Fact) -> bool:
    def kind(one: Fact) -> tuple[object, ...]:
        return one.unit, one.period.months, one.period.quarter, one.scope

    return kind(fact) == kind(other)


def _row_at(asked: SeriesRequest, context: ToolContext) -> _Row:
    """Return the requested row. Raises NotThereError."""
    record = record_of(context, asked.doc_id)
    page = page_of(record, asked.page_number)
    figures = [
        each
        for each in context.workspace.index.facts([asked.doc_id], pages=[PageKey(asked.doc_id, page)])
        if each.fact.line == asked.line - 1 and in_a_cell(each.fact)
    ]
    row = _Row.of(figures)
    if row is None:
        raise NotThereError(
            "this row has no figure of a fiscal year",
            subject=asked.phrase,
            remedy="Choose another row of the statement",
        )
    return row


def _rows_of(company: Company, statement: Statement | None, context: ToolContext) -> list[list[SourcedFact]]:
    """Return the rows of a statement in those filings of a company that may be read."""
    index, scope = context.workspace.index, Scope(context.within)
    pages = [each.key for each in index.outline(company.doc_ids) if scope.holds(each.key) and statements_on(each)]
    rows: dict[tuple[str, int, int], list[SourcedFact]] = defaultdict(list)
    for each in index.facts(company.doc_ids, pages=pages) if pages else ():
        if each.fact.statement is statement and in_a_cell(each.fact):
            rows[each.doc_id, each.fact.page, each.fact.line].append(each)
    return list(rows.values())


def _continued(row: _Row, rows: Iterable[list[SourcedFact]]) -> list[SourcedFact]:
    """Return the figures of a row, continued by those of the same line in other filings, the nearest years first."""
    points = dict(row.by_year)
    by_filing: dict[str, list[_Row]] = defaultdict(list)
    for figures in rows:
        other = _Row.of(figures, row.lead)
        if other is not None and _may_be_the_same(other.lead, row.lead):
            by_filing[other.doc_id].append(other)

    def distance(doc_id: str) -> tuple[bool, int, str]:
        newest = max(max(each.by_year) for each in by_filing[doc_id])
        return doc_id != row.doc_id, abs(newest - row.lead.period.fiscal_year), doc_id

    for doc_id in sorted(by_filing, key=distance):
        for year, sourced in _same_line(row, by_filing[doc_id], points).items():
            points.setdefault(year, sourced)
    return [points[year] for year in sorted(points)]


def _may_be_the_same(fact: Fact, other: Fact) -> bool:
    tagged = _concept(fact) != "" and _concept(fact) == _concept(other)
    return tagged or _called(fact) == _called(other) or (fact.metric is not None and fact.metric == other.metric)


def _called(fact: Fact) -> str:
    """Return the words of a row without a year: balances are labelled by date."""
    return " ".join(_YEAR.sub("", plain(fact.label)).split())


def _concept(fact: Fact) -> str:
    return fact.tag.concept.rpartition(":")[2] if fact.tag is not None else ""


_YEAR = re.compile(r",?\s*\b(?:19|20)\d\d\b")


def _same_line(row: _Row, rows: Sequence[_Row], points: Mapping[int, SourcedFact]) -> Mapping[int, SourcedFact]:
    """Return the figures of the one row that continues `row`; none if no row, or more than one, can.

    Equal figures for common years identify a row, even under another label, and distinguish rows of the same label. A
    row with the same words and headings may restate a year.
    """

    def rank(other: _Row) -> tuple[int, int, bool, bool, bool]:
        shared = [(each.fact, points[year].fact) for year, each in other.by_year.items() if year in points]
        agreeing = sum(magnitudes_agree(one, another) for one, another in shared if one.amount or another.amount)
        differing = sum(not magnitudes_agree(one, another) for one, another in shared)
        named = _called(other.lead) == _called(row.lead)
        placed = [plain(each) for each in other.lead.section] == [plain(each) for each in row.lead.section]
        return min(agreeing, 1) - min(differing, 1), agreeing, named and placed, named, placed

    ranked = sorted(((rank(other), other) for other in rows), key=lambda each: each[0], reverse=True)
    if not ranked:
        return {}
    (best, first), rest = ranked[0], ranked[1:]
    if (best[0] < 0 and not best[2]) or any(each == best and other.values != first.values for each, other in rest):
        return {}
    return first.by_year


def _fits(fact: Fact, row: _Row | None) -> bool:
    """Return whether a figure of another company can be compared with the row, or else is of a fiscal year."""
    if row is not None:
        return fact.statement is row.lead.statement and _alike(fact, row.lead)
    return fact.scope is None and fact.period.months in (0, 12) and fact.period.quarter in (None, 4)


def _by_year(found: Iterable[SourcedFact], index: FilingIndex) -> list[SourcedFact]:
    """Return one figure per year, preferably from its own report, all with the unit and length of the first one."""

    @cache
    def rank(doc_id: str, year: int) -> tuple[bool, int]:
        """Rank annual reports first: a balance at a quarter's end is not that of the year."""
        identity = index.filing(doc_id).identity
        return identity.form not in ANNUAL_FORMS, abs((identity.fiscal_year or 0) - year)

    by_year: dict[int, SourcedFact] = {}
    first: Fact | None = None
    for sourced in found:
        year = sourced.fact.period.fiscal_year
        first = first or sourced.fact
        if not year or (sourced.fact.unit, sourced.fact.period.months) != (first.unit, first.period.months):
            continue
        held = by_year.get(year)
        if held is None or rank(sourced.doc_id, year) < rank(held.doc_id, year):
            by_year[year] = sourced
    return [by_year[year] for year in sorted(by_year)]
