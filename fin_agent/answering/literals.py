"""A program's numbers as they are read: each with the role it plays."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from fin_agent.answering.numerals import NumeralKind


class Role(StrEnum):
    """What a number does where it stands."""

    FIGURE = "figure"
    """Stands for a figure: assigned, listed, passed on, returned."""
    FACTOR = "factor"
    """Multiplies or divides."""
    EXPONENT = "exponent"
    ADDED = "added"
    SUBTRACTED = "subtracted"
    COMPARED = "compared"
    """Compared with, or a bound of `min` and `max`."""
    POSITION = "position"
    """Index, slice, key, range or number of digits."""
    TEXT = "text"
    """Written in a text of the program."""


@dataclass(frozen=True, slots=True)
class Literal:
    """One number of a program."""

    value: Decimal
    source: str
    line: int
    role: Role
    variable: str | None = None
    """The name that the number is given to, as it is or times `multiplier`."""
    multiplier: Decimal = Decimal(1)
    """Power of a thousand that the program multiplies it with in the same breath: `6489 * 1_000_000`."""
    declared_scale: int | None = None
    """By the comment of its line (`# USD millions`) or its variable's name (`revenue_millions`)."""
    declared_ratio: bool = False
    """The comment says `# ratio`: a printed 21.6% is written 0.216."""
    closed_group: int | None = None
    """Numbers of one expression that holds nothing but numbers share a group: such an expression is a number itself."""
    terms: int | None = None
    """For a divisor: how many terms the sum that it divides has."""
    numeral: NumeralKind | None = None
    """Of a number in a text: what kind of number it is there."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A place that can bring in a number that is not written down."""

    line: int
    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class ProgramNumbers:
    """Everything in a program that a number can come from."""

    literals: tuple[Literal, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    names: frozenset[str] = frozenset()
    """Every variable that is assigned or used."""
    accumulators: frozenset[str] = frozenset()
    """Variables changed in place (`total += ...`): they may start from 0 or 1."""
    rescaled: frozenset[str] = frozenset()
    """Variables multiplied or divided by a power of a thousand somewhere."""
