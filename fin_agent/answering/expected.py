"""What a program was to be written of, held against what it is written of: figures, their scale, the other numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from fin_agent.answering.literals import Literal, ProgramNumbers, Role
from fin_agent.answering.program_reader import read_numbers
from fin_agent.vocabulary.fact import Fact


@dataclass(frozen=True, slots=True)
class Expectation:
    """What the plan says of a program: nothing is expected where nothing is given."""

    figures: Mapping[str, Fact] = field(default_factory=dict)
    """Variable -> the fact it stands for."""
    scale: int | None = None
    """What every dollar and share figure is in, in base units; None for any scale that an expected figure has."""
    constants: tuple[Decimal, ...] | None = None
    """All other numbers, in reading order; None where the formula is not known."""


def constants_of(code: str, figures: Collection[str]) -> tuple[Decimal, ...]:
    """The numbers of a program besides the figures given to these variables, in reading order: 100, then 4."""
    return tuple(literal.value for literal in _others(read_numbers(code).literals, figures))


@dataclass(frozen=True, slots=True)
class Departure:
    """Where a program is not what it was to be."""

    literal: str
    line: int
    variable: str | None
    reason: str


def departures(numbers: ProgramNumbers, expected: Expectation) -> Iterator[Departure]:
    """Every way in which a program's variables and constants are not the expected ones."""
    judged = {literal.variable for literal in numbers.literals if literal.role is Role.FIGURE}
    for name, fact in sorted(expected.figures.items(), key=lambda pair: pair[0]):
        what = f"`{name}` stands for {fact.label}"
        if name not in judged:
            yield Departure(name, 1, name, f"{what} but is never given its figure")
        elif numbers.names.given.get(name, 0) > 1:
            yield Departure(name, 1, name, f"{what} but is given a value {numbers.names.given[name]} times")
        elif name not in numbers.names.used:
            yield Departure(name, 1, name, f"{what} but nothing is computed with it")
    if expected.constants is not None:
        yield from _other_constants(_others(numbers.literals, expected.figures), expected.constants)


def _others(literals: Sequence[Literal], figures: Collection[str]) -> list[Literal]:
    return [
        literal
        for literal in literals
        if literal.role is not Role.TEXT and not (literal.role is Role.FIGURE and literal.variable in figures)
    ]


def _other_constants(found: Sequence[Literal], expected: Sequence[Decimal]) -> Iterator[Departure]:
    for literal, value in zip(found, expected, strict=False):
        if literal.value != value:
            yield Departure(literal.source, literal.line, literal.variable, f"the formula holds {value:f} here")
            return
    for literal in found[len(expected) :]:
        yield Departure(literal.source, literal.line, literal.variable, "the formula holds no such number")
    for value in expected[len(found) :]:
        yield Departure(f"{value:f}", 1, None, f"the formula's {value:f} is left out")
