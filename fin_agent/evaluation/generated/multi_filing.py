"""Questions whose figures stand in no single filing."""

from __future__ import annotations

from fin_agent.evaluation.generated import between_companies, over_years
from fin_agent.evaluation.generated.drawing import Maker, Material, made
from fin_agent.evaluation.generated.question import GeneratedQuestion

_SHARES: tuple[tuple[str, Maker, int], ...] = (
    ("total", over_years.total, 15),
    ("average", over_years.average, 14),
    ("change", over_years.change, 12),
    ("growth", over_years.growth, 9),
    ("annual growth", over_years.annual_growth, 7),
    ("difference", between_companies.difference, 11),
    ("ratio", between_companies.ratio, 8),
    ("highest", between_companies.highest, 9),
    ("of highest", between_companies.of_highest, 5),
    ("faster", between_companies.faster, 4),
    ("combined", between_companies.combined, 3),
    ("highest over years", between_companies.highest_over_years, 3),
)
"""Kinds, and how many of each among a hundred."""


def multi_filing_questions(material: Material, count: int, seed: int) -> tuple[GeneratedQuestion, ...]:
    """`count` questions of all kinds, ordered by kind; fewer where the index holds no more of a kind."""
    questions: list[GeneratedQuestion] = []
    for (name, maker, _), share in zip(_SHARES, shares([each for _, _, each in _SHARES], count), strict=True):
        questions += made(material, name, maker, share, seed)
    return tuple(questions)


def shares(weights: list[int], count: int) -> list[int]:
    """`count` divided by weight: whole numbers that add up to it; the rest goes to the largest fractions."""
    exact = [count * weight / sum(weights) for weight in weights]
    counts = [int(each) for each in exact]
    order = sorted(range(len(weights)), key=lambda place: (counts[place] - exact[place], place))
    for place in order[: count - sum(counts)]:
        counts[place] += 1
    return counts
