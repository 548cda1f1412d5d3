"""Determine the unit and scale of printed figures, in cells and inside labels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import Any

from fin_agent.filings.tables.cells import (
    is_of_money,
    is_unit_line_exception,
    parse_number,
    scale_of,
    share_scale_of,
    unit_line_in,
)
from fin_agent.lexicon.text_normalization import collapse_spaces
from fin_agent.lexicon.words import patterns, word_lists
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.runs import grouped
from fin_agent.vocabulary.table import Cell, Row, Table

_PATTERNS = patterns("figure_patterns")


def fact_of_cell(
    table: Table, row: Row, index: int, unit: str, unit_line: str, period: FactPeriod, **meaning: Any
) -> Fact:
    """Return the fact of the figure in column `index` of a row; `meaning` are further fields, such as its metric.

    Its scale is that of `unit_line`, unless its row has another.
    """
    cell = row.cells[index]
    assert cell is not None
    return Fact(
        label=row.label,
        amount=cell.amount,
        scale=scale_of_cell(unit, cell, row, unit_line),
        unit=unit,
        period=period,
        page=table.page,
        box=cell.box,
        section=row.section,
        line=row.line,
        column=table.columns[index],
        column_path=table.column_path(index),
        **meaning,
    )


def unit_of_cell(cell: Cell, row: Row, part: str, usual: str) -> str:
    """Return the unit of a cell, from its signs, its column (`part`) and its row; otherwise `usual`."""
    if cell.percent:
        return "percent"
    if cell.printed.endswith(_TIMES):
        return "ratio"
    if cell.printed.endswith(_POINTS):
        return "count"
    priced = bool(part and _PATTERNS["column of prices"].search(part))
    texts = (row.label, *reversed(row.section))
    if cell.dollar:
        per_share = any(_measures_in(text)[1] for text in texts) and not _plain_amount(cell)
        return "USD per share" if priced or per_share else "USD"
    if part and _PATTERNS["column of shares"].search(part) and not _PATTERNS["per share"].search(part):
        return "shares"
    if priced:
        return "USD per share"
    headings = row.section[-1:] if abs(cell.amount) < _LONGEST_TIME else ()
    if any(map(_PATTERNS["in time"].search, (part, row.label, *headings))):
        return "count"
    for text in texts:
        shares, per_share, percent = _measures_in(text)
        if shares or _counts_in_thousands(text):
            return "shares" if shares else "count"
        if per_share or percent:
            plain = _plain_amount(cell) if per_share else abs(cell.amount) >= 10_000
            return "USD" if plain else "USD per share" if per_share else "percent"
    if _PATTERNS["ratio"].search(row.label):
        return "ratio"
    return "count" if _counts(row.label) else usual


def _counts(label: str) -> bool:
    return bool(_PATTERNS["count"].search(label) and not _PATTERNS["priced count"].search(label))


_LONGEST_TIME = 100
"""Years or months of a term; below a heading that names one, larger figures are others."""


def is_measure(part: str) -> bool:
    """Return whether a column's name is a measure rather than a part of the company: `Number of shares`, `Price`."""
    return bool(_PATTERNS["column of numbers"].search(part) or _PATTERNS["column of prices"].search(part))


@lru_cache(maxsize=16_384)  # a label and its headings stand over every cell of their rows
def _measures_in(text: str) -> tuple[bool, bool, bool]:
    """Return whether a label or heading counts shares, is per share, is a percentage."""
    shares = _PATTERNS["shares"].search(text) and not _PATTERNS["priced shares"].search(text)
    return bool(shares), bool(_PATTERNS["per share"].search(text)), bool(_PATTERNS["percent"].search(text))


@lru_cache(maxsize=16_384)
def _counts_in_thousands(text: str) -> bool:
    """Return whether a label or heading gives a scale for counts: `Connections ('000)`."""
    return bool(unit_line_in(text)) and not is_of_money(text) and not _COUNTED.isdisjoint(text.lower().split())


_COUNTED = word_lists("fact_words")["counted"]


def _plain_amount(cell: Cell) -> bool:
    """Return True for amounts such as (728) in `Dividends declared ($0.47 per share)`, which are not per share."""
    return "," in cell.printed or ("." not in cell.printed and abs(cell.amount) >= 100)


def last_levels(table: Table) -> list[str]:
    """Return the innermost header of each column; empty for one without a header."""
    return ["".join(table.column_path(index)[-1:]) for index in range(len(table.columns))]


def units_of_columns(table: Table, unit_line: str) -> list[str]:
    """Return the unit line of each column: its own, otherwise that of the table."""
    own = list(map(unit_line_in, last_levels(table)))
    return [each or (table.unit_line if any(own) else unit_line) for each in own]


def usual_units(table: Table, unit_line: str) -> list[str]:
    """Return the default unit of each column; one without a name beside prices per share counts the shares.

    A total of rows that all count something counts as well.
    """
    priced = any(map(_PATTERNS["column of prices"].search, table.columns))
    named = [row.label for row in table.rows if any(row.cells) and not _PATTERNS["bare total"].match(row.label.lower())]
    counted = bool(named) and all(map(_counts, named))

    def unit_of_column(index: int) -> str:
        dollars = any(cell.dollar for row in table.rows if (cell := row.cells[index]) is not None)
        if _PATTERNS["shares alone"].search(unit_line) or (priced and not table.columns[index] and not dollars):
            return "shares"
        if counted and not dollars:
            return "count"
        return "USD" if in_money or any(map(is_of_money, table.column_path(index))) else "count"

    in_money = bool(unit_line) or any(cell and cell.dollar for row in table.rows for cell in row.cells)
    return [unit_of_column(index) for index in range(len(table.columns))]


def scale_of_cell(unit: str, cell: Cell, row: Row, unit_line: str) -> int:
    """Return the scale of a cell's amount: from its row's own unit line, otherwise from that of its table."""
    if unit in ("percent", "USD per share", "ratio"):
        return 1
    own = next((found for text in (row.label, *reversed(row.section)) if (found := unit_line_in(text))), "")
    if own and scale_of(own):
        return scale_of(own) or 1
    if unit == "count" and _is_counted_in_thousands(row, unit_line):
        return scale_of(unit_line) or 1
    if unit == "count" or _PATTERNS["in dollars"].search(row.label):
        return 1
    if unit == "shares":
        return _share_scale(cell.amount, unit_line)
    scale = scale_of(unit_line) or 1
    in_cents = is_in_cents(cell.amount) and scale <= _LARGEST_FOR_CENTS  # prices, yields, values of a unit
    return 1 if in_cents or is_unit_line_exception(row.label, unit_line) else scale


def _is_counted_in_thousands(row: Row, unit_line: str) -> bool:
    """Return whether a row counts in the scale of a table that is not in money: members, but not employees."""
    named = any(map(_PATTERNS["counted in thousands"].search, (row.label.lower(), *map(str.lower, row.section[-1:]))))
    return named and not (_PATTERNS["in money"].search(unit_line) or is_unit_line_exception(row.label, unit_line))


_LARGEST_FOR_CENTS = 1_000_000
"""No table in thousands or millions prints cents of a thousand or a million; one in billions does."""


def is_in_cents(amount: Decimal) -> bool:
    """Return whether an amount is printed with two decimals.

    >>> is_in_cents(Decimal("122.30")), is_in_cents(Decimal("122.3"))
    (True, False)
    """
    return amount.as_tuple().exponent == -2


def _share_scale(amount: Decimal, unit_line: str) -> int:
    """Return the unit line's scale for shares, unless the size of the figure shows that it does not apply.

    Fewer than 100,000 shares are not printed in full: `100 shares authorized` in a table in millions are 100 million.
    """
    said = share_scale_of(unit_line) or 1
    if said == 1 and 0 < abs(amount) < 100_000:
        return scale_of(unit_line) or 1
    return 1 if abs(amount) * said > 10**12 else said


_TIMES = ("x", "×")
_POINTS = ("bps", "pts")


def facts_in_labels(tables: Sequence[Table], statements: Mapping[int, Statement]) -> list[Fact]:
    """Return facts stated in the row labels of balance sheets, in order.

    `Common stock, $0.01 par value; 100 shares authorized; 52 and 50 shares issued, respectively` states a par value and
    an authorization for every column, and the shares issued per column.
    """
    found: list[Fact] = []
    for table in tables:
        dated = zip(table.columns, table.periods, strict=True)
        balances = [(name, period) for name, period in dated if period and not period.months]
        if balances and statements.get(table.page) is Statement.BALANCE_SHEET:
            for row in table.rows:
                found.extend(_facts_in_label(row, table, balances))
    return found


def per_share_in_labels(cells: Sequence[Fact]) -> Iterator[Fact]:
    """Yield amounts per share that row labels of the statement of equity state beside the amounts of their cells.

    `Dividends declared ($0.47 per share)` states one for the row's period, `($2.58, $2.53 and $2.48 per share)` one for
    each of its periods, in their order.
    """
    of_equity = [one for one in cells if one.statement is Statement.EQUITY and one.period.months]
    for row in grouped(((one.page, one.line, one.label), one) for one in of_equity).values():
        stated = _PATTERNS["per share in a label"].search(row[0].label)
        printed = _PATTERNS["number"].findall(stated["numbers"]) if stated else []
        amounts = [number.amount for each in printed if (number := parse_number(each))]
        periods = list(dict.fromkeys(one.period for one in row))
        if stated and amounts and len(amounts) in (1, len(periods)):
            name = f"{_name(row[0].label[: stated.start()])} per share"
            for position, period in enumerate(periods[:1] if len(amounts) == 1 else periods):
                first = next(one for one in row if one.period == period)
                stated_fact = replace(first, label=name, amount=amounts[position], scale=1, unit="USD per share")
                yield replace(stated_fact, source="label", metric=None, scope=None, part_kind=None, column_path=())


_MAX_LENGTH = 1_000
"""Characters of a label with figures in it."""


def _facts_in_label(row: Row, table: Table, balances: Sequence[tuple[str, FactPeriod]]) -> Iterator[Fact]:
    cells = [cell.box.x0 for cell in row.cells if cell]
    box = row.box._replace(x1=max(row.box.x0, min([*cells, row.box.x1])))
    for what, printed, unit in _figures(_PATTERNS["date in a label"].sub(" ", collapse_spaces(row.label, _MAX_LENGTH))):
        plain = (_PATTERNS["none in a label"].sub("0", each) for each in printed)
        amounts = [number.amount for each in plain if (number := parse_number(each))]
        if len(amounts) < len(printed) or len(amounts) not in (1, len(balances)):
            continue
        for position, (column, period) in enumerate(balances):
            amount = amounts[position if len(amounts) > 1 else 0]
            scale = _share_scale(amount, table.unit_line) if unit == "shares" else scale_of(table.unit_line) or 1
            yield Fact(
                label=what,
                amount=amount,
                scale=1 if unit == "USD per share" else scale,
                unit=unit,
                period=period,
                page=table.page,
                box=box,
                source="label",
                section=(*row.section, _name(row.label)),
                line=row.line,
                column=column,
                statement=Statement.BALANCE_SHEET,
            )


def _figures(label: str) -> Iterator[tuple[str, list[str], str]]:
    """Yield (what is measured, its number or one for each column, unit) of each figure in a label."""
    number = _PATTERNS["number"]
    for par in _PATTERNS["par value"].finditer(label):
        yield "Par value per share", [par["a"] or par["b"]], "USD per share"
    counted = [*_PATTERNS["state after numbers"].finditer(label), *_PATTERNS["state before numbers"].finditer(label)]
    taken: set[str] = set()
    for match in sorted(counted, key=lambda match: match.start()):
        if _PATTERNS["list in a label"].search(label, 0, match.start("numbers")):
            continue
        for state in _PATTERNS["state of shares"].findall(match["states"]):
            name = f"Shares {state.lower().replace('authorised', 'authorized')}"
            if name not in taken:
                taken.add(name)
                yield name, number.findall(match["numbers"]), "shares"
    if not taken and (treasury := _PATTERNS["treasury shares"].search(label)):
        yield "Treasury shares", number.findall(treasury["numbers"] or treasury["behind"]), "shares"
    for match in _PATTERNS["allowance"].finditer(label):
        yield _name(match["what"]), number.findall(match["numbers"]), "USD"


def _name(text: str) -> str:
    """Return the label's first words, up to the figure."""
    return re.split(r"[,;(]|\s[—–-]\s|\s\$|\sof\s*$", text.strip(), maxsplit=1)[0].strip().capitalize()
