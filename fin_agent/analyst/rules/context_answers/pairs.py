"""Two measures that a question holds against each other or puts together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from fin_agent.analyst.rules.context_answers.asked import Asked, Asks, splits
from fin_agent.analyst.rules.context_answers.formula import Formula, mean
from fin_agent.analyst.rules.context_answers.lines import Line, Lines, Match
from fin_agent.analyst.rules.context_answers.over_periods import averaged_at, figures_over
from fin_agent.analyst.rules.context_answers.wording import telling_stems

ENOUGH = 0.34
"""Share of a phrase's weight that a line must say to be meant."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two figures or averages, and how well the question names them."""

    formulas: tuple[Formula, Formula]
    coverage: float
    score: float
    margin: float
    """How much better two lines say the question than either line alone."""


def best_pair(asked: Asked, lines: Lines) -> Pair | None:
    """The two figures that the question names best as two; None where it names no two."""
    found = [
        replace(pair, score=pair.score + strength)
        for one, other, both, strength in islice(splits(asked), _MOST_SPLITS)
        for pair in _pairs(asked, lines, one, other, both)
    ]
    return max(found, key=lambda pair: round(pair.score, 6), default=None)


def is_pair(pair: Pair, single: Match | None, asked: Asked) -> bool:
    """Whether two measures are meant, not one whose name holds `and`."""
    return single is None or single.coverage < 1 or (_TWO.search(asked.text) is not None and pair.coverage >= 1)


def _pairs(asked: Asked, lines: Lines, one: str, other: str, both: str) -> Iterator[Pair]:
    shared = [word for word in telling_stems(both) if word not in asked.operation]
    period = asked.periods[0] if asked.periods else None
    later = asked.periods[-1] if asked.periods else None
    leading = asked.asks not in (Asks.RATIO, Asks.SHARE)
    phrases = [telling_stems(_LEADING.sub("", phrase) if leading else phrase) for phrase in (one, other)]
    if not all(lines.known(phrase) for phrase in phrases):
        return
    spoken = frozenset(phrases[0]) | frozenset(phrases[1]) | frozenset(asked.operation)
    firsts = lines.matches(phrases[0], operation=asked.operation, also=(*shared, *spoken), at=period)[:_FEW]
    seconds = lines.matches(phrases[1], operation=asked.operation, also=(*shared, *spoken), at=later)[:_FEW]
    for first in firsts:
        for second in seconds:
            if (first.line is second.line and period == later) or min(first.coverage, second.coverage) < ENOUGH:
                continue
            formulas = _both(asked, first.line, second.line)
            if formulas is None:
                continue
            alike = _alike(first.line, second.line)
            score = first.score + second.score + alike
            alone = max(first.score, second.score)
            yield Pair(formulas, min(first.coverage, second.coverage), score, score - alone)


def _both(asked: Asked, one: Line, other: Line) -> tuple[Formula, Formula] | None:
    if asked.averaged:
        averaged = [_mean_of(line, asked) for line in (one, other)]
        return (averaged[0], averaged[1]) if averaged[0] is not None and averaged[1] is not None else None
    if asked.periods:
        first, second = one.at(asked.periods[0]), other.at(asked.periods[-1])
    else:
        first, second = one.cells[0], other.cells[0]
        if one.periods and other.periods:
            first, second = one.at(one.periods[-1]) or first, other.at(one.periods[-1]) or second
    if first is None or second is None or first == second:
        return None
    return first, second


def _mean_of(line: Line, asked: Asked) -> Formula | None:
    if len(asked.periods) == 1 or (len(set(asked.periods)) == 1):
        return averaged_at(line, asked.periods[0])
    cells = figures_over(asked, line)
    return mean(cells) if len(cells) > 1 else None


def _alike(one: Line, other: Line) -> float:
    """Two figures that are held against each other stand in the same column or row, and under one heading."""
    same_column = one.header == other.header
    same_row = one.label == other.label
    return (0.5 if same_column or same_row else -0.5) + (0.3 if one.section == other.section else 0.0)


_TWO = re.compile(r"\bbetween\b.*\band\b|\bsum of\b|\bcombined\b|\baltogether\b|\brespective", re.I)
_LEADING = re.compile(r"^\W*(?:the\s+)?(?:total|sum|combined|average)\s+(?:of\s+)?(?!\S*$)", re.I)
_FEW = 8
_MOST_SPLITS = 24
