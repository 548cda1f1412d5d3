"""Resolve prints of one figure that differ by a factor of a thousand or a million: one has a wrong unit line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fin_agent.index.protocol import SourcedFact
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.figure_agreement import PrintedFigure, magnitudes_agree

_FACTORS = (1_000, 1_000_000)


def differ_only_in_scale(one: Fact, other: Fact) -> bool:
    """Return whether two facts have the same number in scales that differ by a thousand or a million."""
    if not one.amount or not other.amount or one.scale == other.scale:
        return False
    small, large = sorted((one, other), key=lambda fact: fact.scale)
    return any(
        large.scale == small.scale * factor and magnitudes_agree(_unscaled(small), _unscaled(large))
        for factor in _FACTORS
    )


def most_plausible_scale(candidates: Sequence[SourcedFact], beside: Iterable[SourcedFact]) -> SourcedFact | None:
    """Return the first candidate in the scale with the most support; None if two scales are level.

    Tags count more than statements, and statements more than other tables; then the number of prints decides. Other
    statements of the figure (`beside`) only count as support.
    """
    first = candidates[0]
    others = [each for each in (*candidates[1:], *beside) if differ_only_in_scale(first.fact, each.fact)]
    if not others:
        return first
    same = [first, *(each for each in (*candidates[1:], *beside) if magnitudes_agree(each.fact, first.fact))]
    here, there = _weight(same), _weight(others)
    if here == there:
        return None
    return first if here > there else next((each for each in others if each in candidates), None)


def _weight(prints: Iterable[SourcedFact]) -> tuple[int, int, int]:
    places = {(each.doc_id, each.fact.page, each.fact.line): each.fact for each in prints}
    facts = list(places.values())
    return (
        sum(fact.tag is not None for fact in facts),
        sum(fact.statement is not None for fact in facts),
        len(facts),
    )


def _unscaled(fact: Fact) -> PrintedFigure:
    return replace(fact, scale=1)
