"""Arithmetic answers: which figures of the table, in which formula."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fin_agent.analyst.rules.context_answers.asked import Asked, Asks
from fin_agent.analyst.rules.context_answers.formula import (
    Formula,
    cells_of,
    difference,
    mean,
    relative_change,
    total,
    value_of,
)
from fin_agent.analyst.rules.context_answers.formula import Operation as Joined
from fin_agent.analyst.rules.context_answers.grid import Cell
from fin_agent.analyst.rules.context_answers.lines import Lines, Match
from fin_agent.analyst.rules.context_answers.looking_up import RESPECTIVELY
from fin_agent.analyst.rules.context_answers.over_periods import (
    averaged_at,
    best_line,
    ends_of,
    figures_over,
    line_over,
)
from fin_agent.analyst.rules.context_answers.pairs import ENOUGH, Pair, best_pair, is_pair
from fin_agent.analyst.rules.context_answers.wording import telling_stems
from fin_agent.lexicon.words import word_lists


@dataclass(frozen=True, slots=True)
class Computed:
    """A formula, whether its result is in percent, and how well the question names its figures."""

    formula: Formula
    percent: bool
    coverage: float
    plain: bool = False
    """A ratio: without a scale."""


def compute(asked: Asked, lines: Lines) -> Computed | None:
    """The computation that answers the question; None where its figures are not in the table."""
    if not lines.lines:
        return None
    found = _computed(asked, lines)
    if found and not found.percent and not found.plain and _all_outflows(cells_of(found.formula)):
        found = replace(found, formula=Joined("*", found.formula, -1))
    return found if found and value_of(found.formula) is not None else None


def _all_outflows(cells: Sequence[Cell]) -> bool:
    """Figures printed in parentheses below a label that says so already: an expense of (5) is an expense of 5."""
    return all(cell.amount < 0 and _OUTFLOW.search(cell.label) and "(" not in cell.label for cell in cells)


def _computed(asked: Asked, lines: Lines) -> Computed | None:
    match asked.asks:
        case Asks.RATIO | Asks.SHARE:
            return _ratio(asked, lines)
        case Asks.PERCENT_CHANGE | Asks.CHANGE | Asks.DIFFERENCE:
            return _change(asked, lines)
        case Asks.AVERAGE:
            return _average(asked, lines)
        case Asks.TOTAL:
            return _total(asked, lines)
        case _:
            return None


def _change(asked: Asked, lines: Lines) -> Computed | None:
    if _is_printed(asked, lines):
        return None
    several = len({period.year for period in asked.periods}) > 1 or len(asked.periods) > 1
    if not several or asked.asks is Asks.DIFFERENCE:
        pair = best_pair(asked, lines)
        single = best_line(asked, lines)
        if pair and (not several or pair.margin > _PAIR_MARGIN) and is_pair(pair, single, asked):
            return _between_two(asked, pair)
    match = line_over(asked, lines)
    if match is None:
        return None
    ends = ends_of(asked, match.line)
    if ends is None:
        return None
    new, old = ends
    if asked.averaged:
        later, earlier = (averaged_at(match.line, period) for period in (new, old))
        if later is not None and earlier is not None:
            return _as_change(asked, later, earlier, match.coverage)
    newer, older = match.line.at(new), match.line.at(old)
    if newer is None or older is None or newer == older:
        return None
    return _as_change(asked, newer, older, match.coverage)


def _is_printed(asked: Asked, lines: Lines) -> bool:
    """Whether a row is a change by its own name, and one of its figures is asked for: `net decrease in cash`."""
    if len(asked.periods) != 1 or asked.asks is Asks.PERCENT_CHANGE:
        return False
    words = (*asked.words, *asked.operation)
    found = lines.matches(words, at=asked.periods[0])
    return bool(found) and found[0].line.label <= set(words) and bool(found[0].line.label & set(asked.operation))


def _as_change(asked: Asked, new: Formula, old: Formula, coverage: float) -> Computed:
    if asked.asks is Asks.PERCENT_CHANGE and not _RATE_POINTS.search(asked.text):
        return Computed(relative_change(new, old), True, coverage)
    if asked.asks is Asks.DIFFERENCE and not _FROM_TO.search(asked.text):
        new, old = _larger_first(new, old)
    return Computed(difference(new, old), False, coverage)


def _between_two(asked: Asked, pair: Pair) -> Computed:
    one, other = pair.formulas
    if asked.asks is Asks.PERCENT_CHANGE:
        return Computed(relative_change(one, other), True, pair.coverage)
    if asked.asks is Asks.DIFFERENCE or "from" not in asked.text:
        one, other = _larger_first(one, other)
    return Computed(difference(one, other), False, pair.coverage)


def _larger_first(one: Formula, other: Formula) -> tuple[Formula, Formula]:
    """`the difference between` two figures has no sign."""
    first, second = value_of(one), value_of(other)
    if first is not None and second is not None and second > first:
        return other, one
    return one, other


def _average(asked: Asked, lines: Lines) -> Computed | None:
    match = line_over(asked, lines)
    pair = best_pair(asked, lines) if len(asked.periods) < 2 else None
    single = best_line(asked, lines, asked.periods[0] if asked.periods else None)
    if pair and pair.margin > _PAIR_MARGIN and is_pair(pair, single, asked):
        return Computed(mean(pair.formulas), False, pair.coverage)
    if len(asked.periods) == 1:
        across = _across(asked, lines)
        if _YEAR_AVERAGE.search(asked.text) and match:
            averaged = averaged_at(match.line, asked.periods[0])
            if averaged is not None:
                return Computed(averaged, False, match.coverage)
        if across:
            return across
        if match and (averaged := averaged_at(match.line, asked.periods[0])) is not None:
            return Computed(averaged, False, match.coverage)
        return None
    cells = figures_over(asked, match.line) if match else ()
    return Computed(mean(cells), False, match.coverage) if match and len(cells) > 1 else None


def _across(asked: Asked, lines: Lines) -> Computed | None:
    """The mean over rows that differ in what the question does not say: the quarters of a year."""
    if not _PER_PART.search(asked.text):
        return None
    period = asked.periods[0]
    held = [
        match
        for match in lines.matches(asked.words, operation=asked.operation, at=period)
        if match.line.label & _parts() and match.coverage >= ENOUGH
    ]
    if not held:
        return None
    header = held[0].line.header
    cells = [cell for match in held if match.line.header == header and (cell := match.line.at(period))]
    ordered = sorted(cells, key=lambda cell: (cell.row, cell.column))
    return Computed(mean(ordered), False, held[0].coverage) if len(ordered) > 1 else None


def _total(asked: Asked, lines: Lines) -> Computed | None:
    several = len(asked.periods) > 1
    if RESPECTIVELY.search(asked.text):
        return None
    match = line_over(asked, lines) if several or _ALL_PERIODS.search(asked.text) else None
    if match and match.coverage >= ENOUGH:
        cells = figures_over(asked, match.line)
        if "total" in match.line.label and not _ADDED_UP.search(asked.text) and not asked.whole_range:
            return None  # each year's total is printed
        if len(cells) > 1:
            return Computed(total(cells), False, match.coverage)
    if several:
        return None
    pair = best_pair(asked, lines)
    single = best_line(asked, lines, asked.periods[0] if asked.periods else None)
    if pair and pair.margin > 0 and is_pair(pair, single, asked):
        return Computed(total(pair.formulas), False, pair.coverage)
    return _parts_of_total(asked, lines, single)


def _parts_of_total(asked: Asked, lines: Lines, single: Match | None) -> Computed | None:
    """The sum of rows that all say what is asked for, where no row states the total itself."""
    period = asked.periods[0] if asked.periods else None
    words = [word for word in asked.words if word != "total"]
    if single is None or "total" in single.line.words or single.line.label <= set(asked.words):
        return None
    whole = [
        match
        for match in lines.matches(words, operation=asked.operation, at=period)
        if match.coverage >= 1 and "total" not in match.line.words and match.line.header == single.line.header
    ]
    cells = [match.line.at(period) if period else match.line.cells[0] for match in whole]
    held = sorted((cell for cell in cells if cell), key=lambda cell: (cell.row, cell.column))
    return Computed(total(held), False, 1.0) if len(held) > 1 else None


def _ratio(asked: Asked, lines: Lines) -> Computed | None:
    pair = best_pair(asked, lines)
    if pair is None:
        return None
    quotient = Joined("/", pair.formulas[0], pair.formulas[1])
    if asked.asks is Asks.SHARE:
        return Computed(Joined("*", quotient, 100), True, pair.coverage)
    return Computed(quotient, False, pair.coverage, plain=True)


def _parts() -> frozenset[str]:
    return frozenset(stem for word in word_lists("context_words")["parts"] for stem in telling_stems(word))


_PAIR_MARGIN = 0.2
_OUTFLOW = re.compile(r"\bexpenses?\b|\ballowances?\b|\blosses\b|\baccumulated depreciation\b", re.I)
_ADDED_UP = re.compile(r"\b(?:both|altogether|sum|combined|all|years)\b", re.I)
_FROM_TO = re.compile(r"\bfrom\b.*\bto\b", re.I)
_YEAR_AVERAGE = re.compile(
    r"\b(?:19|20)\d\d\s+(?:fiscal\s+)?averages?\b|\baverages?\s+(?:for\s+)?(?:the\s+)?beginning", re.I
)
_PER_PART = re.compile(r"\bquarter", re.I)
_ALL_PERIODS = re.compile(r"\b(?:all|both|the) (?:\w+ )?(?:years|periods|quarters)\b|\bover the\b", re.I)
_RATE_POINTS = re.compile(r"\bpercentage points?\b|\bhow many percent\b", re.I)
