"""From the places of cards in several rounds to one score each."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from statistics import fmean
from typing import TypeVar

from fin_agent.evidence.tournament.settings import Aggregation

Key = TypeVar("Key", bound=Hashable)


def aggregated(rounds: Sequence[Sequence[Sequence[Key]]], by: Aggregation, top_k: int) -> dict[Key, float]:
    """A score from 0 to 1 for each card, higher is better; every round ranks every card in one of its lists."""
    places: dict[Key, list[tuple[int, int]]] = {}
    for lists in rounds:
        for ranked in lists:
            for place, key in enumerate(ranked):
                places.setdefault(key, []).append((place, len(ranked)))
    if by is Aggregation.BORDA:
        return {key: fmean(borda(place, of) for place, of in held) for key, held in places.items()}
    if by is Aggregation.VOTES:
        return {key: fmean(place < top_k for place, _ in held) for key, held in places.items()}
    longest = max((of for held in places.values() for _, of in held), default=1)
    return {key: 1.0 - fmean(place for place, _ in held) / longest for key, held in places.items()}


def borda(place: int, of: int) -> float:
    """Share of a list's other cards that stand below this place, counted from 0.

    >>> [borda(place, 5) for place in range(5)]
    [1.0, 0.75, 0.5, 0.25, 0.0]
    """
    return (of - 1 - place) / (of - 1) if of > 1 else 1.0


def in_order(scores: Mapping[Key, float], before: Sequence[Key]) -> list[Key]:
    """The keys of `scores`, best first; equals in the order of `before`, which holds them all."""
    places = {key: place for place, key in enumerate(before)}
    return sorted(scores, key=lambda key: (-round(scores[key], 9), places[key]))


def jaccard(one: Sequence[Key], other: Sequence[Key]) -> float:
    """Share of all members that both have (Jaccard 1912); 1 where both are empty."""
    first, second = set(one), set(other)
    return len(first & second) / len(first | second) if first | second else 1.0
