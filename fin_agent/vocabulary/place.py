"""Positions on a page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Box(NamedTuple):
    """A rectangle in points; origin at the top left of the page."""

    x0: float
    y0: float
    x1: float
    y1: float

    @classmethod
    def around(cls, boxes: Iterable[Box | Word]) -> Box:
        """Return the smallest box that holds all of `boxes`, at least one."""
        x0, y0, x1, y1 = zip(*(box[:4] for box in boxes), strict=True)
        return cls(min(x0), min(y0), max(x1), max(y1))

    def spans_height_of(self, other: Box) -> bool:
        """Return whether the vertical middle of `other` is between the top and bottom of this box."""
        return self.y0 <= (other.y0 + other.y1) / 2 <= self.y1

    def contains_center_of(self, other: Box) -> bool:
        """Return whether the center of `other` is in this box, or at most a point outside."""
        across, down = (other.x0 + other.x1) / 2, (other.y0 + other.y1) / 2
        return self.x0 - 1 <= across <= self.x1 + 1 and self.y0 - 1 <= down <= self.y1 + 1


class Word(NamedTuple):
    """A word and its position in points; origin at the top left of the page."""

    x0: float
    y0: float
    x1: float
    y1: float
    text: str

    @property
    def across(self) -> float:
        """The x coordinate of its center."""
        return (self.x0 + self.x1) / 2
