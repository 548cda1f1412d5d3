"""Where something stands on a page."""

from __future__ import annotations

from typing import NamedTuple


class Box(NamedTuple):
    """A rectangle in points; origin at the top left of the page."""

    x0: float
    y0: float
    x1: float
    y1: float


class Word(NamedTuple):
    """A word and where it stands, in points; origin at the top left of the page."""

    x0: float
    y0: float
    x1: float
    y1: float
    text: str
