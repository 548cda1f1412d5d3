"""A program's numbers as they are read: each with the role it plays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
class Declaration:
    """What the comment behind a figure says: `# USD millions, printed negative: 'Dividends', page 70 line 12`."""

    unit: str | None = None
    """As facts name units: `USD`, `USD per share`, `shares`, `percent`, `ratio`, `count`."""
    scale: int | None = None
    """1 where a unit is named without a scale, None where neither is."""
    opposite: bool = False
    """It is printed with the other sign: a cash outflow written as a positive amount."""
    page: int | None = None
    """As people count."""
    line: int | None = None
    """As people count."""

    @property
    def ratio(self) -> bool:
        """A printed 21.6% is written 0.216."""
        return self.unit == "ratio"


@dataclass(frozen=True, slots=True)
class Literal:
    """One number of a program."""

    value: Decimal
    """With the sign in front of it."""
    source: str
    line: int
    role: Role
    variable: str | None = None
    """The name that the number is given to, as it is or times `multiplier`."""
    multiplier: Decimal = Decimal(1)
    """Power of a thousand that the program multiplies it with in the same breath: `6489 * 1_000_000`."""
    declared_scale: int | None = None
    """By the comment of its line (`# USD millions`) or its variable's name (`revenue_millions`)."""
    declared: Declaration | None = None
    """What the comment of its line says of a figure."""
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
class ProgramNames:
    """The variables of a program."""

    given: Mapping[str, int] = field(default_factory=dict)
    """How often each is given a value, parameters and loop variables included."""
    used: frozenset[str] = frozenset()
    """Those whose value is read."""
    accumulators: frozenset[str] = frozenset()
    """Those changed in place (`total += ...`): they may start from 0 or 1."""
    rescaled: frozenset[str] = frozenset()
    """Those multiplied or divided by a power of a thousand somewhere."""


@dataclass(frozen=True, slots=True)
class ProgramNumbers:
    """Everything in a program that a number can come from."""

    literals: tuple[Literal, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    names: ProgramNames = field(default_factory=ProgramNames)
