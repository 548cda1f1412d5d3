"""A returned value as an answer: a number, a text, True or False, or a list of those."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

from fin_agent.answering.executor import ProgramScalar, ProgramValue, SandboxSettings
from fin_agent.answering.program_errors import DEFINE_SOLUTION, ProgramError

LARGEST_FIGURE = 10**18
"""No figure of a filing comes near a quintillion; beyond it floats and JSON readers lose digits without a word."""
LONGEST_LIST = 1_000


def checked_value(value: object, settings: SandboxSettings) -> ProgramValue:
    """A returned value as an answer, or ProgramError."""
    if value is None:
        raise ProgramError("`solution` returned None", remedy="Return the answer on every path.")
    if not isinstance(value, list | tuple):
        return _checked_scalar(value, settings.max_text_characters)
    members: Sequence[object] = value
    if len(members) > LONGEST_LIST:
        raise ProgramError(
            f"`solution` returned {len(members):,} values, more than {LONGEST_LIST:,}", remedy="Return the answer only."
        )
    room = settings.max_text_characters
    scalars: list[ProgramScalar] = []
    for member in members:
        scalar = _checked_scalar(member, room)
        room -= len(scalar) if isinstance(scalar, str) else 0
        scalars.append(scalar)
    return scalars


def _checked_scalar(value: object, room: int) -> ProgramScalar:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if value.startswith("<coroutine object"):
            raise ProgramError("`solution` is asynchronous", remedy=DEFINE_SOLUTION)
        if len(value) > room:
            raise ProgramError("`solution` returned a text that is too long", remedy="Return the answer only.")
        return value
    if isinstance(value, int):
        _check_size(value)
        return value
    if isinstance(value, float | Decimal):
        # Checked before any conversion: a Decimal can hold what a float cannot.
        if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):
            raise ProgramError(f"`solution` returned {value}, which is no figure", remedy="Check what it divides by.")
        _check_size(value)
        return float(value)
    raise ProgramError(
        f"`solution` returned {named(type(value).__name__)}",
        remedy="Return a number, a text, True or False, or a list of those.",
    )


def _check_size(value: int | float | Decimal) -> None:
    if not -LARGEST_FIGURE <= value <= LARGEST_FIGURE:
        raise ProgramError(
            f"`solution` returned a number beyond {LARGEST_FIGURE:.0e}, too large for any filing",
            remedy="Check the units of its figures.",
        )


def named(kind: str) -> str:
    """A type that is no answer, as a reason names it."""
    return {"dict": "a dict", "list": "a list within a list"}.get(kind, f"a value of type {kind}")
