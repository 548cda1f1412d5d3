"""Time series for charts: a row of a statement over the years, or a line found by its words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from fin_agent.index.protocol import FilingIndex, PageKey, SourcedFact
from fin_agent.retrieval.fact_search import FactQuery, find_facts
from fin_agent.retrieval.search_query import Scope
from fin_agent.serving.filing_resources import Json, page_of, record_of
from fin_agent.serving.problem_details import NotThereError
from fin_agent.tools.argument_resolution import resolve_company
from fin_agent.tools.context import ToolContext
from fin_agent.vocabulary.fact import Fact
from fin_agent.web.views import ANNUAL_FORMS, figure_shown, in_a_cell

_MAX_FOUND = 400
_NEAR = 0.05
"""Largest distance of a score from the best one for figures of the same line."""


class SeriesRequest(BaseModel):
    """A request for a line over the years: by its words for the named companies, or by a row of a statement."""

    model_config = ConfigDict(extra="forbid")

    phrase: Annotated[str, Field(min_length=1, max_length=300)]
    company: Annotated[list[Annotated[str, Field(max_length=300)]], Field(max_length=8)] = []
    doc_id: Annotated[str, Field(max_length=500)] = ""
    """The filing of the row; empty to find the line by its words."""
    page_number: Annotated[int, Field(ge=1)] = 1
    line: Annotated[int, Field(ge=1)] = 1


def series_shown(context: ToolContext, asked: SeriesRequest) -> Json:
    """Return one figure with its place for each company and fiscal year; the company of a row comes first.

    Lines are those whose words are closest to the phrase; if a row is given, they are on the same statement, and years
    that the row itself prints are taken from it.

    Raises ToolInputError and NotThereError.
    """
    workspace, index = context.workspace, context.workspace.index
    row = _row_at(asked, context) if asked.doc_id else []
    own = [workspace.directory.by_key[workspace.directory.owners[asked.doc_id]]] if row else []
    named = [resolve_company(name, workspace) for name in asked.company]
    series: list[Json] = []
    for company in (*own, *(each for each in named if each not in own)):
        scope = Scope(context.within)
        found = find_facts(workspace, FactQuery(asked.phrase), company=company.key, scope=scope, limit=_MAX_FOUND).hits
        fitting = [hit for hit in found if not hit.missing and _fits(hit.sourced.fact, row)]
        best = max((hit.score for hit in fitting), default=0.0)
        points = _by_year((hit.sourced for hit in fitting if hit.score >= best - _NEAR), index)
        if company in own:
            points |= {each.fact.period.fiscal_year: each for each in reversed(row)}
        index.check_rows({each.doc_id for each in points.values()}, words=False)
        shown: list[Json] = [figure_shown(points[year].fact, points[year].doc_id) for year in sorted(points)]
        series.append({"company": company.name, "points": shown})
    return {"phrase": asked.phrase, "series": series}


def _row_at(asked: SeriesRequest, context: ToolContext) -> list[SourcedFact]:
    """Return the figures of the requested row that have one unit, length of period and segment, the newest first.

    The whole company goes before its segments.

    Raises NotThereError if the row does not exist, or has no figure of a fiscal year.
    """
    record = record_of(context, asked.doc_id)
    page = page_of(record, asked.page_number)
    figures = [
        each
        for each in context.workspace.index.facts([asked.doc_id], pages=[PageKey(asked.doc_id, page)])
        if each.fact.line == asked.line - 1 and in_a_cell(each.fact) and each.fact.period.fiscal_year
    ]
    figures.sort(key=_leads, reverse=True)
    if not figures:
        raise NotThereError(
            "this row has no figure of a fiscal year",
            subject=asked.phrase,
            remedy="Choose another row of the statement",
        )
    return [each for each in figures if _alike(each.fact, figures[0].fact)]


def _leads(sourced: SourcedFact) -> tuple[bool, int, date, float]:
    fact = sourced.fact
    return fact.scope is None, fact.period.fiscal_year, fact.period.end or date.min, -fact.box.x0


def _alike(fact: Fact, other: Fact) -> bool:
    def kind(one: Fact) -> tuple[object, ...]:
        return one.unit, one.period.months, one.period.quarter, one.scope

    return kind(fact) == kind(other)


def _fits(fact: Fact, row: Sequence[SourcedFact]) -> bool:
    """Return whether a figure of another company can be compared with the row, or else is of a fiscal year."""
    if row:
        return fact.statement is row[0].fact.statement and _alike(fact, row[0].fact)
    return fact.scope is None and fact.period.months in (0, 12) and fact.period.quarter in (None, 4)


def _by_year(found: Iterable[SourcedFact], index: FilingIndex) -> dict[int, SourcedFact]:
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
    return by_year
