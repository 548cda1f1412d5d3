"""Arithmetic over cells: its value, and the program that shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, DivisionByZero, InvalidOperation
from typing import TypeAlias

from fin_agent.analyst.rules.context_answers.grid import Cell


@dataclass(frozen=True, slots=True)
class Operation:
    """Two parts joined by `+`, `-`, `*` or `/`."""

    sign: str
    left: Formula
    right: Formula


Formula: TypeAlias = "Cell | int | Operation"
"""An int is a constant of the arithmetic: a count of terms, or 100."""


def total(parts: Sequence[Formula]) -> Formula:
    """The sum of at least one part."""
    summed = parts[0]
    for part in parts[1:]:
        summed = Operation("+", summed, part)
    return summed


def mean(parts: Sequence[Formula]) -> Formula:
    """The arithmetic mean of at least one part."""
    return Operation("/", total(parts), len(parts))


def difference(left: Formula, right: Formula) -> Formula:
    """`left` less `right`."""
    return Operation("-", left, right)


def relative_change(new: Formula, old: Formula) -> Formula:
    """Change from `old` to `new` in percent of `old`."""
    return Operation("*", Operation("/", difference(new, old), old), 100)


def value_of(formula: Formula) -> Decimal | None:
    """The exact value; None where something is divided by zero."""
    match formula:
        case Operation(sign, left, right):
            one, other = value_of(left), value_of(right)
            if one is None or other is None:
                return None
            try:
                return _apply(sign, one, other)
            except (DivisionByZero, InvalidOperation):
                return None
        case int():
            return Decimal(formula)
        case Cell():
            return formula.amount


def cells_of(formula: Formula) -> tuple[Cell, ...]:
    """The cells used, each once, in the order they stand in the formula."""
    return tuple(dict.fromkeys(_cells(formula)))


def program_of(formula: Formula) -> str:
    """Python with `solution()`: a named variable per cell, its place as a comment, then the arithmetic."""
    names: dict[Cell, str] = {}
    lines: list[str] = []
    for cell in cells_of(formula):
        name = _name(cell, set(names.values()))
        names[cell] = name
        place = "in the text" if cell.row < 0 else f"row {cell.row + 1}, column {cell.column + 1}"
        lines.append(f"{name} = {cell.amount:f}  # {cell.printed!r}, {place}")
    lines.append(f"return {_written(formula, names, 0)}")
    return "def solution():\n" + "\n".join(f"    {line}" for line in lines) + "\n"


def _apply(sign: str, one: Decimal, other: Decimal) -> Decimal:
    match sign:
        case "+":
            return one + other
        case "-":
            return one - other
        case "*":
            return one * other
        case _:
            return one / other


def _cells(formula: Formula) -> Iterator[Cell]:
    match formula:
        case Operation(_, left, right):
            yield from _cells(left)
            yield from _cells(right)
        case Cell():
            yield formula
        case _:
            return


def _name(cell: Cell, taken: set[str]) -> str:
    words = re.findall(r"[a-z0-9]+", f"{cell.label or cell.section} {cell.header}".lower())[:_MOST_WORDS]
    name = "_".join(words) or "figure"
    name = f"figure_{name}" if name[0].isdigit() else name
    unused, number = name, 2
    while unused in taken:
        unused, number = f"{name}_{number}", number + 1
    return unused


_MOST_WORDS = 8


def _written(formula: Formula, names: dict[Cell, str], above: int) -> str:
    match formula:
        case Operation(sign, left, right):
            rank = 1 if sign in "+-" else 2
            text = f"{_written(left, names, rank)} {sign} {_written(right, names, rank + 1)}"
            return f"({text})" if rank < above else text
        case Cell():
            return names[formula]
        case _:
            return str(formula)
