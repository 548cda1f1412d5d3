"""Views of filings, questions and time series for the workspace: values with their places, ready for JSON."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import date
from functools import cache
from typing import Annotated, cast
from urllib.parse import urlencode

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field

from fin_agent.index.protocol import FilingIndex, FilingRecord, PageKey, SourcedFact
from fin_agent.lexicon.abbreviations import expand_abbreviations
from fin_agent.lexicon.fiscal_periods import ANNUAL_FORMS, YEARS_IN_AN_ANNUAL_REPORT
from fin_agent.presentation.filings import CheckedFiling, statement_parts, statements_on, value_words
from fin_agent.presentation.json_fields import as_plain, fields_of
from fin_agent.presentation.pages import ContinuedTable, display_lines, join_tables, page_number_printed
from fin_agent.query.editing import query_for_question
from fin_agent.query.lexer import lex
from fin_agent.query.parsing import NoReadingError
from fin_agent.query.question_to_intent import known_names
from fin_agent.query.tree import Line, Period, measure_text
from fin_agent.retrieval.fact_search import FactQuery, find_facts
from fin_agent.retrieval.page_ranking import MEANINGS as PAGE_FEATURES
from fin_agent.retrieval.search_query import Scope
from fin_agent.retrieval.strategies.one_pass import SCORES
from fin_agent.serving.filing_resources import Json, page_of, record_of, with_page_numbers
from fin_agent.serving.problem_details import NotThereError
from fin_agent.tools.argument_resolution import resolve_company
from fin_agent.tools.arguments import PageSearchArguments
from fin_agent.tools.context import ToolContext
from fin_agent.tools.tool_implementations import explain_page_scores
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import Statement
from fin_agent.workspace import Workspace

_CHIPS = {"COMPANY": "company", "PERIOD": "period", "PART": "part", "METRIC": "measure", "FORMULA": "measure"}
_MEANINGS = {**SCORES, **PAGE_FEATURES}
_MAX_PARTS = 200
DocId = Annotated[str, Path(max_length=500)]


def query_view(context: ToolContext, question: Annotated[str, Query(min_length=1, max_length=2_000)]) -> Json:
    """Return how a question is read: its words in order, each with its meaning, and the Query to edit.

    A word is `company`, `measure`, `part`, `period`, or empty for a connecting word. `unread` marks a word that was not
    understood, or that no line of the company's filings prints.
    """
    workspace = context.workspace
    names = known_names(workspace)
    try:
        query = query_for_question(question, workspace)
    except NoReadingError as error:
        return {"query": None, "words": [], "problem": error.what, "remedy": error.remedy}
    lexed = lex(expand_abbreviations(question), names)
    unread = {word.lower() for phrase in query.unread for word in phrase.split()}
    lines = {line.words.lower() for line in query.lines() if isinstance(line, Line)}
    keys = [company.key for company in query.companies]
    words: list[Json] = []
    place = 0

    def add(text: str, kind: str) -> None:
        if text:
            words.append({"text": text, "kind": kind})

    for token in lexed.tokens:
        kind = _CHIPS.get(token.type, "")
        if token.type == "PHRASE" and token.text.lower() in lines:
            printed = all(names.is_printed(word, keys) for word in token.text.split())
            kind = "measure" if printed or not keys else "unread"
        elif token.text.lower() in unread:
            kind = "unread"
        if kind and token.start >= place:
            add(lexed.text[place : token.start], "")
            add(token.text, kind)
            place = token.start + len(token.text)
    add(lexed.text[place:], "")
    return {
        "words": words,
        "query": cast(Json, query.model_dump(mode="json")),
        "measures": [measure_text(measure) for measure in query.measures],
        "periods": [str(period) for period in query.periods],
        "choices": choices(workspace, keys),
    }


def choices(
    workspace: Workspace,
    company: Annotated[list[Annotated[str, Field(max_length=300)]] | None, Query(max_length=60)] = None,
) -> Json:
    """Return what can be chosen in a Query: companies, and the periods, lines and segments of these, by their keys."""
    directory, lexicon = workspace.directory, workspace.lexicon
    there = [key for key in company or () if key in workspace.years]
    filed = [workspace.years[key] for key in there or workspace.years]
    reported = {year - back for each in filed for year in each.annual for back in range(YEARS_IN_AN_ANNUAL_REPORT)}
    years = sorted(reported, reverse=True)
    quarters = sorted({quarter for each in filed for quarter in each.quarters}, reverse=True)
    periods = [Period(fiscal_year=year) for year in years]
    periods += [Period(fiscal_year=year, quarter=quarter, months=3) for year, quarter in quarters if quarter]
    doc_ids = [doc_id for key in there for doc_id in directory.by_key[key].doc_ids]
    measures: dict[str, dict[str, Json]] = {}
    for name in sorted(lexicon.metrics):
        measures[name.replace("_", " ")] = {"metric": name}
    for name in sorted(lexicon.formulas):
        measures.setdefault(name.replace("_", " "), {"formula": name})
    for label in _printed_labels(doc_ids, workspace):
        measures.setdefault(label, {})
    companies = sorted(directory.by_key.values(), key=lambda each: each.name.casefold())
    return {
        "company": [{"key": each.key, "name": each.name} for each in companies],
        "period": [{"text": str(each), "period": each.model_dump(exclude_defaults=True)} for each in periods],
        "measure": [{"text": text, **named} for text, named in measures.items()],
        "part": list(sorted(workspace.index.parts(doc_ids))[:_MAX_PARTS]) if doc_ids else [],
        "unit": ["USD millions", "USD thousands", "USD billions", "percent", "basis points"],
    }


def _printed_labels(doc_ids: Sequence[str], workspace: Workspace) -> list[str]:
    """Return the labels of the primary statements of the newest of these filings; annual reports come first.

    Rows of the statement of equity are left out, since nobody asks for them by label: they are balances at dates, and
    movements that other statements show.
    """

    def rank(doc_id: str) -> tuple[bool, int, str]:
        identity = workspace.directory.identities[doc_id]
        return identity.form in ANNUAL_FORMS, identity.fiscal_year or 0, doc_id

    newest = max(doc_ids, key=rank, default=None)
    facts = [each.fact for each in workspace.index.facts([newest])] if newest is not None else []
    asked = [fact for fact in facts if in_a_cell(fact) and not fact.scope and fact.statement is not Statement.EQUITY]
    return list(dict.fromkeys(fact.label for fact in asked))


def example(workspace: Workspace) -> Json:
    """Return a company and a fiscal year for example questions, from the newest annual report."""
    annual = [each.identity for each in workspace.index.entries() if each.identity.form is Form.TEN_K]
    found = max(annual, key=lambda each: (each.fiscal_year or 0, each.company), default=None)
    if found is None:
        return {"company": "Acme", "year": 2024}
    return {"company": _LEGAL_FORM.sub("", found.company), "year": found.fiscal_year}


_LEGAL_FORM = re.compile(r",? (?:inc|corp|corporation|company|co|ltd|plc)\b\.?,?", re.I)


def page_shown(context: ToolContext, doc_id: DocId, page_number: int) -> Json:
    """Return a page (from 1) with its printed number, place, figures and text. Raises NotThereError."""
    record, index = record_of(context, doc_id), context.workspace.index
    number = page_of(record, page_number)
    key = PageKey(doc_id, number)
    (page,) = (stored.page for stored in index.pages([key]))
    facts = [sourced.fact for sourced in index.facts([doc_id], pages=[key])]
    return {
        **fields_of(record.identity, "company form fiscal_year"),
        **fields_of(record, "doc_id pages=page_count"),
        "page_number": page_number,
        "printed_page": page_number_printed(index, key),
        **fields_of(page, "title item statement text"),
        "edgar": edgar_address(record),
        "figures": [figure_shown(fact, doc_id) for fact in facts],
    }


def pages_shown(context: ToolContext, asked: Annotated[PageSearchArguments, Query()]) -> Json:
    """Return the pages found, each with the summands of its score, largest first. Raises ToolInputError."""
    found, features = explain_page_scores(context, asked)
    pages: list[Json] = []
    for page, shares in zip(found.pages, features, strict=True):
        telling = sorted((one for one in shares if round(one[1], 3)), key=lambda one: (-abs(one[1]), one[0]))
        made_of: list[Json] = [{"name": name, "share": round(share, 3)} for name, share in telling]
        shown = cast(dict[str, Json], page.model_dump(mode="json"))
        pages.append(with_page_numbers({**shown, "features": made_of}, pictures=True))
    told = {name for shares in features for name, _ in shares}
    meanings: dict[str, Json] = {name: meaning for name, meaning in _MEANINGS.items() if name in told}
    return {"pages": pages, "notes": list(found.notes), "meanings": meanings}


def edgar_address(record: FilingRecord) -> str | None:
    """Return EDGAR's list of the company's filings on this form, by CIK or file number, without opening it."""
    identity = record.identity
    office, _, number = (identity.file_number or "").partition("-")
    known = {"CIK": identity.cik, "filenum": f"{office:0>3}-{number}" if number else None}
    named = next(({name: number} for name, number in known.items() if number), None)
    if named is None:
        return None
    asked = urlencode({"action": "getcompany", **named, "type": identity.form.value})
    return f"https://www.sec.gov/cgi-bin/browse-edgar?{asked}"


def figure_shown(fact: Fact, doc_id: str) -> Json:
    """Return a figure with its place; `box` is in points from the top left."""
    return {
        "doc_id": doc_id,
        "page_number": fact.page + 1,
        "line": fact.line + 1,
        **fields_of(fact, "box label section column unit part=scope proved"),
        **fields_of(fact.period, "fiscal_year quarter months"),
        "amount": float(fact.amount),
        "value": float(fact.value),
        "printed": value_words(fact),
    }


def statements_shown(context: ToolContext, doc_id: DocId) -> Json:
    """Return every primary statement as tables, each cell with its place. Raises NotThereError."""
    record_of(context, doc_id)
    index = context.workspace.index
    outline = [stored for stored in index.outline([doc_id]) if stored.page.statement]
    there = {name for stored in outline for name in statements_on(stored.page)}
    facts = [each.fact for each in index.facts([doc_id], pages=[stored.key for stored in outline])]
    charted = {(fact.page, fact.line) for fact in facts if in_a_cell(fact) and fact.period.fiscal_year}
    shown: list[Json] = []
    for statement in Statement:
        if statement in there:
            tables = join_tables(statement_parts(context.workspace, doc_id, statement)[1])
            shown.append({"statement": statement.value, "tables": [_table_shown(each, charted) for each in tables]})
    return {"doc_id": doc_id, "statements": shown}


def in_a_cell(fact: Fact) -> bool:
    """Return whether a figure is a cell of a primary statement, and not printed within the label of its row."""
    # A figure printed in a label has source `label`; a tagged one there has no column.
    return fact.statement is not None and fact.source != "label" and fact.column != ""


def _table_shown(table: ContinuedTable, charted: Collection[tuple[int, int]]) -> Json:
    """Return a table in display lines; a cell has its text, amount, page and box.

    Rows in `charted`, given as (page, line), have an address for a chart over the years.
    """
    lines: list[Json] = []
    for line in display_lines(table.rows, dollars=not table.unit_line):
        cells: list[Json] = []
        address: dict[str, Json] = {}
        if line.row is not None:
            row, page = table.rows[line.row], table.pages[line.row]
            if (page, row.line) in charted:
                address = {"page_number": page + 1, "line": row.line + 1}
            cells = [
                {"text": text, "amount": float(cell.amount), "page_number": page + 1, "box": as_plain(cell.box)}
                if cell
                else None
                for cell, text in zip(row.cells, line.cells, strict=True)
            ]
        lines.append({"kind": line.kind, "label": line.label, "depth": line.depth, "cells": cells, **address})
    return {"title": table.title, "unit": table.unit_line, "columns": list(table.columns), "lines": lines}


def checks_shown(context: ToolContext, doc_id: DocId) -> Json:
    """Return the results of checking the statements against their own sums. Raises NotThereError."""
    record = record_of(context, doc_id)
    checked = CheckedFiling.of(record, [each.fact for each in context.workspace.index.facts([doc_id])])
    return {
        "doc_id": doc_id,
        **fields_of(checked, "figures proved doubtful"),
        "checks": [
            {**fields_of(check, "name outcome sentence"), "page_numbers": [page + 1 for page in check.pages]}
            for check in checked.checks
        ],
    }


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


def series_shown(context: ToolContext, asked: Annotated[SeriesRequest, Query()]) -> Json:
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
        points = _by_year([hit.sourced for hit in fitting if hit.score >= best - _NEAR], index)
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
    figures.sort(
        key=lambda each: (
            each.fact.scope is None,
            each.fact.period.fiscal_year,
            each.fact.period.end or date.min,
            -each.fact.box.x0,
        ),
        reverse=True,
    )
    if not figures:
        raise NotThereError(
            "this row has no figure of a fiscal year",
            subject=asked.phrase,
            remedy="Choose another row of the statement",
        )
    return [each for each in figures if _kind(each.fact) == _kind(figures[0].fact)]


def _kind(fact: Fact) -> tuple[object, ...]:
    return fact.unit, fact.period.months, fact.period.quarter, fact.scope


def _fits(fact: Fact, row: Sequence[SourcedFact]) -> bool:
    """Return whether a figure of another company can be compared with the row, or else is of a fiscal year."""
    if row:
        return fact.statement is row[0].fact.statement and _kind(fact) == _kind(row[0].fact)
    return fact.scope is None and fact.period.months in (0, 12) and fact.period.quarter in (None, 4)


def _by_year(found: Sequence[SourcedFact], index: FilingIndex) -> dict[int, SourcedFact]:
    """Return one figure per year, preferably from its own report, all with the unit and length of the first one."""

    @cache
    def rank(doc_id: str, year: int) -> tuple[bool, int]:
        """Rank annual reports first: a balance at a quarter's end is not that of the year."""
        identity = index.filing(doc_id).identity
        return identity.form not in ANNUAL_FORMS, abs((identity.fiscal_year or 0) - year)

    by_year: dict[int, SourcedFact] = {}
    for sourced in found:
        year = sourced.fact.period.fiscal_year
        held, same = by_year.get(year), _kind(sourced.fact)[:2] == _kind(found[0].fact)[:2]
        if year and same and (held is None or rank(sourced.doc_id, year) < rank(held.doc_id, year)):
            by_year[year] = sourced
    return by_year
