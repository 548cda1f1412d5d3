"""A line over the periods that a question names: which line, which periods, which figures."""

from __future__ import annotations

from collections.abc import Sequence

from fin_agent.analyst.rules.context_answers.asked import Asked
from fin_agent.analyst.rules.context_answers.formula import Formula, mean
from fin_agent.analyst.rules.context_answers.grid import Cell
from fin_agent.analyst.rules.context_answers.lines import Line, Lines, Match
from fin_agent.analyst.rules.context_answers.period_names import PeriodName, spanned


def best_line(asked: Asked, lines: Lines, at: PeriodName | None = None) -> Match | None:
    """The line that the whole question names best, of those with a figure for the period."""
    found = lines.matches(asked.words, operation=asked.operation, at=at)
    return found[0] if found and found[0].score > 0 else None


def line_over(asked: Asked, lines: Lines) -> Match | None:
    """The best line that has a figure for each period asked for, or several periods where none is."""
    for loose in (False, True):
        for match in lines.matches(asked.words, operation=asked.operation, loose=loose):
            if match.score <= 0:
                break
            if len(match.line.cells) > 1 and all(match.line.at(period) for period in asked.periods):
                return match
    return None


def ends_of(asked: Asked, line: Line) -> tuple[PeriodName, PeriodName] | None:
    """(later, earlier) period of a change: the two asked for, else the one asked for and the one before it."""
    known = line.periods
    if len(asked.periods) > 1:
        ordered = sorted(set(asked.periods))
        return ordered[-1], ordered[0]
    if asked.periods:
        later = asked.periods[0]
        before = [period for period in known if period < later and not period.fits(later)]
        if before:
            return later, before[-1]
    return (known[-1], known[0] if len(known) == 2 else known[-2]) if len(known) > 1 else None


def averaged_at(line: Line, period: PeriodName) -> Formula | None:
    """The mean of a period's figure and the one before it."""
    now = line.at(period)
    before = [earlier for earlier in line.periods if earlier < period and not earlier.fits(period)]
    past = line.at(before[-1]) if before else None
    return mean((now, past)) if now and past and now != past else None


def figures_over(asked: Asked, line: Line) -> tuple[Cell, ...]:
    """The figures of the periods asked for; of all that the line has where none is."""
    periods: Sequence[PeriodName] = asked.periods or tuple(reversed(line.periods))
    if asked.whole_range and len(asked.periods) > 1:
        periods = spanned((asked.periods[0], asked.periods[-1]), line.periods)
    cells = [line.at(period) for period in periods]
    return tuple(dict.fromkeys(cell for cell in cells if cell))
