"""Where something stands on a page."""

from __future__ import annotations

from typing import NamedTuple


class Box(NamedTuple):
    """A rectangle in points; origin at the top left of the page."""

    x0: float
    y0: float
    x1: float
    y1: float

    def spans_height_of(self, other: Box) -> bool:
        """Whether the middle of `other` stands between this one's top and bottom."""
        return self.y0 <= (other.y0 + other.y1) / 2 <= self.y1


class Word(NamedTuple):
    """A word and where it stands, in points; origin at the top left of the page."""

    x0: float
    y0: float
    x1: float
    y1: float
    text: str
