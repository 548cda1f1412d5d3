"""Tables as the index keeps them: a page's together, as compressed JSON, since they are read whole or not at all."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal
from itertools import groupby

from fin_agent.vocabulary.fact import FactPeriod
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Cell, Row, Table


def packed_tables(tables: Iterable[Table]) -> Iterator[tuple[int, bytes]]:
    """(page, its tables packed) pairs; `tables` in order of pages."""
    for page, of_page in groupby(tables, key=lambda table: table.page):
        plain = json.dumps([_packed(table) for table in of_page], ensure_ascii=False, separators=(",", ":"))
        yield page, zlib.compress(plain.encode(), 1)


def unpacked_tables(packed: bytes, page: int) -> list[Table]:
    """The tables of `page` from what `packed_tables` made of them."""
    return [_unpacked(table, page) for table in json.loads(zlib.decompress(packed))]


_Box = list[float]
_Cell = tuple[str, str, bool, bool, _Box]
_Row = tuple[str, list[str], int, _Box, list[_Cell | None]]
_Period = tuple[int, int | None, int, str | None]
_Table = tuple[_Box, str, str, list[str], list[_Period | None], list[_Row], list[list[str]]]


def _packed(table: Table) -> _Table:
    return (
        _packed_box(table.box),
        table.caption,
        table.unit_line,
        list(table.columns),
        [_packed_period(period) if period else None for period in table.periods],
        [
            (
                row.label,
                list(row.section),
                row.line,
                _packed_box(row.box),
                [_packed_cell(cell) if cell else None for cell in row.cells],
            )
            for row in table.rows
        ],
        [list(path) for path in table.column_paths],
    )


def _packed_box(box: Box) -> _Box:
    return [round(side, 1) for side in box]


def _packed_period(period: FactPeriod) -> _Period:
    return period.fiscal_year, period.quarter, period.months, period.end.isoformat() if period.end else None


def _packed_cell(cell: Cell) -> _Cell:
    return str(cell.amount), cell.printed, cell.percent, cell.dollar, _packed_box(cell.box)


def _unpacked(packed: _Table, page: int) -> Table:
    box, caption, unit_line, columns, periods, rows, *paths = packed  # format 5 had no paths
    return Table(
        page,
        Box(*box),
        caption,
        unit_line,
        tuple(columns),
        tuple(
            FactPeriod(*period[:3], date.fromisoformat(period[3]) if period[3] else None) if period else None
            for period in periods
        ),
        tuple(
            Row(label, tuple(section), tuple(_unpacked_cell(cell) for cell in cells), line, Box(*place))
            for label, section, line, place, cells in rows
        ),
        tuple(tuple(path) for path in paths[0]) if paths else (),
    )


def _unpacked_cell(packed: _Cell | None) -> Cell | None:
    if packed is None:
        return None
    amount, printed, percent, dollar, box = packed
    return Cell(Decimal(amount), printed, percent, dollar, Box(*box))
