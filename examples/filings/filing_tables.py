"""Which tables a filing prints, over which columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from filing_figures import Model, Span
from filing_layout import Grid, Line, number
from filing_notes import (
    acquisitions_table,
    debt_table,
    geographies_table,
    liquidity_table,
    restructuring_table,
    results_table,
    segments_table,
    tax_rate_table,
    taxes_table,
)
from filing_sheet import Column, Table
from filing_statements import (
    balance_sheet,
    cash_flow_statement,
    comprehensive_statement,
    equity_statement,
    income_statement,
)


def annual_tables(company: Mapping[str, Any], model: Model, year: int) -> dict[str, Table]:
    """Every table of the 10-K for a fiscal year, by the name that the template calls it."""
    three: list[Column] = [(model.years[y], model.years[y].span) for y in (year, year - 1, year - 2)]
    two: list[Column] = [(period.balance, Span(period.span.end, 0)) for period, _ in three[:2]]
    heads, spans = _heads(company, three)
    at_heads, at_spans = _heads(company, two)
    sheets = {
        "income": income_statement(company, three, heads, spans),
        "comprehensive-income": comprehensive_statement(company, three, heads, spans),
        "balance": balance_sheet(company, two, at_heads, at_spans),
        "cash-flow": cash_flow_statement(company, three, heads, spans),
        "equity": equity_statement(company, [period for period, _ in three]),
        "segments": segments_table(company, three, heads, spans),
        "geographies": geographies_table(company, three, heads, spans),
        "debt": debt_table(company, two, at_heads, at_spans, year),
        "taxes": taxes_table(company, three, heads, spans),
        "tax_rate": tax_rate_table(company, three, heads, spans),
        "restructuring": restructuring_table(company, model, three, heads, spans),
        "acquisitions": acquisitions_table(company, three, heads, spans),
        "liquidity": liquidity_table(company, three, heads, spans),
    }
    return sheets | {"results": results_table(company, three, heads)}


def interim_tables(company: Mapping[str, Any], model: Model, year: int) -> dict[str, Table]:
    """Every table of the 10-Q: quarter and year to date beside those of the year before."""
    four: list[Column] = [
        (periods[y], periods[y].span) for periods in (model.quarter, model.to_date) for y in (year, year - 1)
    ]
    to_date = four[2:]
    year_end = model.years[year - 1]
    balances: list[Column] = [
        (four[2][0].balance, Span(four[2][1].end, 0)),
        (year_end.balance, Span(year_end.span.end, 0)),
    ]
    titles = (company["quarter_span"], company["to_date_span"])
    heads = tuple(_dated(span) for _, span in four)
    spans = ((titles[0], 0, 1), (titles[1], 2, 3))
    date_heads = tuple(_dated(span) for _, span in balances)
    return {
        "income": income_statement(company, four, heads, spans),
        "comprehensive-income": comprehensive_statement(company, four, heads, spans),
        "balance": balance_sheet(company, balances, date_heads, ()),
        "cash-flow": cash_flow_statement(company, to_date, heads[2:], ((titles[1], 0, 1),)),
        "segments": segments_table(company, four, heads, spans),
        "results": results_table(company, to_date, heads[2:]),
        "debt": debt_table(company, balances, date_heads, (), year - 1),
    }


def vote_table(votes: Mapping[str, Sequence[int]]) -> Table:
    """Votes for each director: for, withheld, abstained, broker non-votes."""
    lines = tuple(Line(name, tuple(number(count) for count in counts)) for name, counts in votes.items())
    heads = (("Votes For",), ("Votes", "Against"), ("Abstentions",), ("Broker", "Non-Votes"))
    return Table("", "", Grid(heads, lines, head_left="Nominee"))


def _heads(company: Mapping[str, Any], columns: Sequence[Column]) -> tuple[Any, Any]:
    last = len(columns) - 1
    instant = columns[0][1].months == 0
    if company["column_names"] == "year":
        title = company["annual_span"].partition(" ended ")[2] if instant else company["annual_span"]
        return tuple((str(span.end.year),) for _, span in columns), ((title, 0, last),)
    heads = tuple(_dated(span) for _, span in columns)
    return heads, () if instant else ((company["annual_span"], 0, last),)


def _dated(span: Span) -> tuple[str, str]:
    return f"{span.end:%B} {span.end.day},", str(span.end.year)
