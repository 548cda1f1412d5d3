"""Determine the unit and scale of printed figures, in cells and inside labels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

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
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Cell, Row, Table

_PATTERNS = patterns("figure_patterns")


def unit_of_cell(cell: Cell, row: Row, part: str, usual: str) -> str:
    """Return the unit of a cell, from its signs, its column (`part`) and its row; otherwise `usual`."""
    if cell.percent:
        return "percent"
    if cell.printed.endswith(_TIMES):
        return "ratio"
    if cell.printed.endswith(_POINTS):
        return "count"
    if (
        part
        and not cell.dollar
        and _PATTERNS["column of shares"].search(part)
        and not _PATTERNS["per share"].search(part)
    ):
        return "shares"
    if part and _PATTERNS["column of prices"].search(part):
        return "USD per share"
    if not cell.dollar and any(map(_PATTERNS["in time"].search, (part, row.label))):
        return "count"
    for text in (row.label, *reversed(row.section)):
        shares, per_share, percent = _measures_in(text)
        if shares and not cell.dollar:
            return "shares"
        if not cell.dollar and _counts_in_thousands(text):
            return "count"
        if per_share:
            return "USD per share" if not _plain_amount(cell) else "USD"
        if percent and not cell.dollar:
            return "percent" if abs(cell.amount) < 10_000 else "USD"
    if not cell.dollar and _PATTERNS["ratio"].search(row.label):
        return "ratio"
    if not cell.dollar and _PATTERNS["count"].search(row.label) and not _PATTERNS["priced count"].search(row.label):
        return "count"
    return "USD" if cell.dollar else usual


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


def units_of_columns(table: Table, unit_line: str) -> list[str]:
    """Return the unit line of each column: its own, otherwise that of the table."""
    own = [unit_line_in("".join(table.column_path(index)[-1:])) for index in range(len(table.columns))]
    return [each or (table.unit_line if any(own) else unit_line) for each in own]


def usual_units(table: Table, unit_line: str) -> list[str]:
    """Return the default unit of each column's figures: that of the unit line, or of a currency above.

    A column without a name next to prices per share counts these shares, unless it has a currency sign.
    """
    priced = any(map(_PATTERNS["column of prices"].search, table.columns))

    def unit_of_column(index: int) -> str:
        dollars = any(cell.dollar for row in table.rows if (cell := row.cells[index]) is not None)
        if _PATTERNS["shares alone"].search(unit_line) or (priced and not table.columns[index] and not dollars):
            return "shares"
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
    if unit == "count" or _PATTERNS["in dollars"].search(row.label):
        return 1
    if unit == "shares":
        return _share_scale(cell, unit_line)
    if is_unit_line_exception(row.label, unit_line):
        return 1
    return scale_of(unit_line) or 1


def _share_scale(cell: Cell, unit_line: str) -> int:
    """Return the unit line's scale for shares, unless the size of the figure shows that it does not apply."""
    said, amounts = share_scale_of(unit_line) or 1, scale_of(unit_line) or 1
    if said == 1 and 0 < abs(cell.amount) < 100_000:
        return amounts
    if abs(cell.amount) * said > 10**12:
        return 1
    return said


_TIMES = ("x", "×")
_POINTS = ("bps", "pts")


def facts_in_labels(tables: Sequence[Table], statements: Mapping[int, Statement]) -> list[Fact]:
    """Return facts stated in the row labels of balance sheets, in order.

    `Common stock, $0.01 par value; 100 shares authorized; 52 and 50 shares issued, respectively` states a par value and
    an authorization for every column, and the shares issued per column. Share counts have the scale that the table's
    unit line gives for shares, unless printed in full; amounts of money have the scale of the table.
    """
    found: list[Fact] = []
    for table in tables:
        if statements.get(table.page) is not Statement.BALANCE_SHEET:
            continue
        dated = [(name, period) for name, period in zip(table.columns, table.periods, strict=True) if period]
        balances = [(name, period) for name, period in dated if period.months == 0]
        if balances:
            scale = _share_scale_of_table(table)
            for row in table.rows:
                found.extend(_facts_of(row, table, balances, scale))
    return found


@dataclass(frozen=True, slots=True)
class _Figure:
    """One number, or one for each column, and what it measures."""

    what: str
    printed: tuple[str, ...]
    unit: str


_LIST = re.compile(r"\d\s*(?:,|and)\s*$")
"""The end of a number followed by others: more than one per column."""


_MAX_LENGTH = 1_000
"""Characters of a label with figures in it."""


def _facts_of(row: Row, table: Table, balances: Sequence[tuple[str, FactPeriod]], share_scale: int) -> Iterator[Fact]:
    label = _PATTERNS["date in a label"].sub(" ", collapse_spaces(row.label, _MAX_LENGTH))
    if not any(mark.isdigit() for mark in label) and not re.search(r"\bno(?:ne)?\b", label, re.I):
        return
    for figure in _figures(label):
        amounts = [_amount(printed) for printed in figure.printed]
        if None in amounts or len(amounts) not in (1, len(balances)):
            continue
        for position, (column, period) in enumerate(balances):
            amount = amounts[position if len(amounts) > 1 else 0] or Decimal(0)
            yield Fact(
                label=figure.what,
                amount=amount,
                scale=_scale(figure, amount, table, share_scale),
                unit=figure.unit,
                period=period,
                page=table.page,
                box=_label_box(row),
                source="label",
                section=(*row.section, _name(row.label)),
                line=row.line,
                column=column,
                statement=Statement.BALANCE_SHEET,
            )


def _label_box(row: Row) -> Box:
    cells = [cell.box.x0 for cell in row.cells if cell]
    return Box(row.box.x0, row.box.y0, max(row.box.x0, min([*cells, row.box.x1])), row.box.y1)


def _figures(label: str) -> Iterator[_Figure]:
    for par in _PATTERNS["par value"].finditer(label):
        yield _Figure("Par value per share", (par["a"] or par["b"],), "USD per share")
    counted = [*_PATTERNS["state after numbers"].finditer(label), *_PATTERNS["state before numbers"].finditer(label)]
    taken: set[str] = set()
    for match in sorted(counted, key=lambda match: match.start()):
        if _LIST.search(label, 0, match.start("numbers")):
            continue
        for state in _PATTERNS["state of shares"].findall(match["states"]):
            name = f"Shares {state.lower().replace('authorised', 'authorized')}"
            if name not in taken:
                taken.add(name)
                yield _Figure(name, _printed(match["numbers"]), "shares")
    if not taken and (treasury := _PATTERNS["treasury shares"].search(label)):
        yield _Figure("Treasury shares", _printed(treasury["numbers"] or treasury["behind"]), "shares")
    for match in _PATTERNS["allowance"].finditer(label):
        yield _Figure(_name(match["what"]), _printed(match["numbers"]), "USD")


def _printed(numbers: str) -> tuple[str, ...]:
    return tuple(_PATTERNS["number"].findall(numbers))


def _amount(printed: str) -> Decimal | None:
    if printed.strip().lower() in ("no", "none"):
        return Decimal(0)
    number = parse_number(printed)
    return number.amount if number else None


def _name(text: str) -> str:
    """Return the label's first words, up to the figure."""
    return re.split(r"[,;(]|\s[—–-]\s|\s\$|\sof\s*$", text.strip(), maxsplit=1)[0].strip().capitalize()


def _share_scale_of_table(table: Table) -> int:
    return share_scale_of(table.unit_line) or 1


def _scale(figure: _Figure, amount: Decimal, table: Table, share_scale: int) -> int:
    if figure.unit == "USD per share":
        return 1
    if figure.unit == "USD":
        return scale_of(table.unit_line) or 1
    if share_scale == 1 and 0 < amount < _MIN_IN_FULL:
        return scale_of(table.unit_line) or 1
    return 1 if amount * share_scale > _MAX_SHARES else share_scale


_MIN_IN_FULL = 100_000
"""Fewer shares than this are not printed in full: `100 shares authorized` in a table in millions are 100 million."""
_MAX_SHARES = 10**12
