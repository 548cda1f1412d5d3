"""Detect sums among a table's own figures without any vocabulary: totals, differences, roll-forwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import log2
from operator import add, itemgetter, mul

from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.runs import runs_of
from fin_agent.vocabulary.table import Cell, Table

Line = Sequence[int | None]
"""Figures of one row (or column) in whole steps; None where nothing is printed or the figure is another measure."""


@dataclass(frozen=True, slots=True)
class DetectedSum:
    """A line that is the signed sum of others in most of its cells."""

    total: int
    """Position of the line."""
    parts: tuple[tuple[int, int], ...]
    """(position, 1 or -1) of each line that is added or subtracted; with a single part, the figure is printed again."""
    closing: tuple[int, ...]
    """Positions of the cells in which it is correct."""
    failing: tuple[int, ...]
    """Positions of the cells in which it is not."""

    @property
    def lines(self) -> tuple[int, ...]:
        """Positions of the total and its parts."""
        return self.total, *(position for position, _ in self.parts)


def row_sums(rows: Sequence[Sequence[Cell | None]]) -> list[DetectedSum]:
    """Return rows that are sums of rows above them; all `rows` must have equal length.

    A total printed above its parts is found as well: its last part is then the remainder. A sum is reported if chance
    would produce it in less than one of a thousand tables.
    """
    return _sums(_whole_steps(rows))


def column_sums(rows: Sequence[Sequence[Cell | None]]) -> list[DetectedSum]:
    """Return columns that are sums of adjacent ones: parts, eliminations and the total; quarters and the year."""
    lines = _whole_steps(rows)
    columns = [[line[index] for line in lines] for index in range(len(lines[0]) if lines else 0)]
    return [found for found in _sums(columns) if len(found.parts) > 1] if len(columns) > _MIN_COLUMNS else []


@dataclass(frozen=True, slots=True)
class SumEvidence:
    """Cells by (page, box)."""

    proved: set[tuple[int, Box]]
    """Cells confirmed by a sum."""
    contradicted: set[tuple[int, Box]]
    """Cells of a sum that is correct in other columns but not in theirs, unless another sum confirms them. A column
    with finer figures than those in which the sum is correct, such as prices next to numbers of shares, need not add
    up."""


def sum_evidence(tables: Sequence[Table]) -> SumEvidence:
    """Return what the sums of `tables` show about each cell; statements over several pages are read as one."""
    proofs = SumEvidence(set(), set())
    for run in runs_of(tables, _is_apart):
        placed = [(table.page, row.cells) for table in run for row in table.rows]
        rows = [cells for _, cells in placed]
        places = [_places([row[index] for row in rows]) for index in range(len(rows[0]) if rows else 0)]
        proved: set[tuple[int, int]] = set()
        failing: set[tuple[int, int]] = set()
        for down in row_sums(rows):
            finest = max(places[cell] for cell in down.closing)
            proved.update(product(down.lines, down.closing))
            failing.update(product(down.lines, [cell for cell in down.failing if places[cell] <= finest]))
        for across in column_sums(rows):
            proved.update(product(across.closing, across.lines))
            failing.update(product(across.failing, across.lines))
        for found, kept in ((proved, proofs.proved), (failing - proved, proofs.contradicted)):
            for row, column in found:
                page, cells = placed[row]
                if (cell := cells[column]) is not None:
                    kept.add((page, cell.box))
    return proofs


def _is_apart(run: Sequence[Table], table: Table) -> bool:
    """Return whether a table is not read as one with the run of tables before it."""
    dated = any(table.periods) and table.periods == run[-1].periods
    return not dated or table.page - run[-1].page > 1 or len(run) >= _MAX_IN_A_RUN


_MAX_IN_A_RUN = 4
_MIN_COLUMNS = 2
_MAX_PARTS = 60
_MAX_OPEN = 90
_MAX_SIGNED = 6
"""Most parts for which all signs are tried; with more, one may be subtracted or left out."""
_SURE = 10.0
"""Bits by which a sum must be less likely than chance."""
_SHARE_CLOSING = 0.66


def _whole_steps(rows: Sequence[Sequence[Cell | None]]) -> list[Line]:
    """Return amounts as multiples of the table's smallest step, without percentages and other precisions."""
    places = [_places(row) for row in rows]
    counted = Counter(place for place, row in zip(places, rows, strict=True) if any(row))
    usual = max(counted, key=lambda place: (counted[place], -place)) if counted else 0
    kept = max((place for place in counted if place <= usual + (usual > 0)), default=0)
    return [
        [None if cell is None or cell.percent or place > kept else int(cell.amount.scaleb(kept)) for cell in row]
        for row, place in zip(rows, places, strict=True)
    ]


def _places(row: Sequence[Cell | None]) -> int:
    exponents = (cell.amount.as_tuple().exponent for cell in row if cell is not None and not cell.percent)
    return max((-exponent for exponent in exponents if isinstance(exponent, int)), default=0)


def _sums(lines: Sequence[Line]) -> list[DetectedSum]:
    """Return sums, reading lines in order; parts are replaced by their total, so that totals of totals are found."""
    found: list[DetectedSum] = []
    opened: list[int] = []
    within: set[int] = set()
    """Parts of a total printed above them: they may count further, or the total may."""
    for position, line in enumerate(lines):
        if not any(line):
            if any(value is not None for value in line):
                opened.append(position)
            continue
        above = opened[-_MAX_OPEN:]
        best = _best(_readings(lines, above, position))
        if best is None and within.intersection(above):
            best = _best(_readings(lines, [part for part in above if part not in within], position))
        same = _best(_repetitions(lines, position))
        found += [each for each in (best, same) if each is not None]
        if best is not None:
            first, sign = min(best.parts)
            if len(best.parts) > 2 and sign > 0 and all(other < 0 for _, other in best.parts[1:]):
                within.update(part for part, other in best.parts if other < 0)
                within.add(position)
            else:
                del opened[opened.index(first) :]
                if len(best.parts) == 2 and sign > 0 > best.parts[1][1]:
                    opened.append(first)  # it may be a whole above its two parts
        elif opened and lines[opened[-1]] == line:
            opened.pop()  # the total of a single row
        opened.append(position)
    return found


_Reading = tuple[DetectedSum, float]
"""A sum with the bits by which it is less likely than chance."""


def _best(readings: Iterable[_Reading]) -> DetectedSum | None:
    best, bits = max(readings, key=itemgetter(1), default=(None, 0.0))
    return best if bits >= _SURE else None


def _readings(lines: Sequence[Line], opened: Sequence[int], total: int) -> Iterator[_Reading]:
    """Yield combinations of open lines above that may add up to a line; unusual ones need more evidence."""
    target = lines[total]
    cells = [cell for cell, value in enumerate(target) if value is not None]
    goal = [target[cell] or 0 for cell in cells]
    lead = max(range(len(cells)), key=lambda place: abs(goal[place]))
    wanted = goal[lead]
    allowed = _most_failing(cells)
    added = [0] * len(cells)
    for count, part in enumerate(reversed(opened[-_MAX_PARTS:]), 1):
        last = [lines[part][cell] or 0 for cell in cells]
        added = list(map(add, added, last))
        if count == 1:
            continue
        chosen = opened[len(opened) - count :]
        running = added[lead]
        taken_off = [2 * value - whole for value, whole in zip(last, added, strict=True)]
        length = log2(count)
        for signs, reached, cost in (
            ((1,) * count, added, length),
            ((-1,) * count, [-value for value in added], length + 1),
            ((1, *(-1,) * (count - 1)), taken_off, length + 1),
        ):
            off = sum([abs(value - aim) > _SLACK for value, aim in zip(reached, goal, strict=True)])
            if off <= allowed:
                yield from _closed_sum(lines, chosen, signs, total, cells, cost)
        if 2 < count <= _MAX_SIGNED:
            # One of these cells must be correct, otherwise too many fail.
            closing = [
                _closing_signs([lines[each][cell] or 0 for each in chosen], target[cell] or 0)
                for cell in cells[: allowed + 1]
            ]
            for signs, *closes in zip(product((1, -1), repeat=count - 1), *closing, strict=True):
                if any(closes) and -1 in signs and 1 in signs:
                    yield from _closed_sum(lines, chosen, (1, *signs), total, cells, length + count)
        if count > 2 and running != wanted:
            for index, value in enumerate([lines[each][cells[lead]] or 0 for each in chosen]):
                if value and count > _MAX_SIGNED and abs(running - wanted - 2 * value) <= _SLACK:
                    signs = (*(1,) * index, -1, *(1,) * (count - index - 1))
                    yield from _closed_sum(lines, chosen, signs, total, cells, 2 * length + 1)
                elif value and abs(running - wanted - value) <= _SLACK and index:
                    others = [*chosen[:index], *chosen[index + 1 :]]
                    yield from _closed_sum(lines, others, (1,) * (count - 1), total, cells, 2 * length + 1)


def _closing_signs(values: Sequence[int], total: int) -> list[bool]:
    """Return whether each choice of signs, in the order of `product`, makes `values` add up to `total`."""
    reached = values[:1]
    for value in values[1:]:
        reached = [start + signed for start in reached for signed in (value, -value)]
    return [abs(each - total) <= _SLACK for each in reached]


def _repetitions(lines: Sequence[Line], total: int) -> Iterator[_Reading]:
    """Yield lines above with the same figures, such as assets, and liabilities with equity."""
    line = lines[total]
    cells = [cell for cell, value in enumerate(line) if value is not None]
    for part in range(total):
        if all(line[cell] == lines[part][cell] for cell in cells):
            yield from _closed_sum(lines, (part,), (1,), total, cells, log2(total + 1))


def _closed_sum(
    lines: Sequence[Line], parts: Sequence[int], signs: Sequence[int], total: int, cells: Sequence[int], cost: float
) -> Iterator[_Reading]:
    """Yield the sum, with the bits by which it is less likely than chance, if most of its cells are correct."""
    target = lines[total]
    slack = 0 if len(parts) == 1 else 1 if len(parts) < _MANY else _SLACK
    closing: list[int] = []
    failing: list[int] = []
    told: set[tuple[int, ...]] = set()
    allowed = _most_failing(cells)
    bits = -cost
    for cell in cells:
        values = [lines[part][cell] or 0 for part in parts]
        wanted = target[cell] or 0
        off = abs(sum(map(mul, signs, values)) - wanted)
        if off > slack:
            failing.append(cell)
            if len(failing) > allowed:
                return
            bits -= _COST_OF_A_MISS
            continue
        closing.append(cell)
        if wanted and (*values, wanted) not in told and (largest := max(map(abs, values))):
            # A column that repeats another adds no evidence.
            told.add((*values, wanted))
            bits += log2(1 + min(largest, abs(wanted)) / (1 + 2 * off)) - (off > 0)
    if not closing:
        return
    bits -= sum(1 for part in parts if not any(lines[part][cell] for cell in closing))
    yield DetectedSum(total, tuple(zip(parts, signs, strict=True)), tuple(closing), tuple(failing)), bits


def _most_failing(cells: Sequence[int]) -> int:
    return int(len(cells) * (1 - _SHARE_CLOSING))


_SLACK = 2
_MANY = 9
_COST_OF_A_MISS = 4.0
