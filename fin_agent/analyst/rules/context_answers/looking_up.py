"""Figures of the table that are asked for as they are printed, one or several."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fin_agent.analyst.rules.context_answers.asked import Asked, Asks
from fin_agent.analyst.rules.context_answers.grid import Cell
from fin_agent.analyst.rules.context_answers.lines import Line, Lines, Match
from fin_agent.analyst.rules.context_answers.period_names import PeriodName, spanned, without_periods
from fin_agent.analyst.rules.context_answers.wording import telling_stems


@dataclass(frozen=True, slots=True)
class LookedUp:
    """Cells in the order asked for."""

    cells: tuple[Cell, ...]
    coverage: float
    """Share of the question's words that say which figures are meant, 0 to 1."""
    label_said: float
    """Share of the row's own words that the question says."""


def look_up(asked: Asked, lines: Lines) -> LookedUp | None:
    """The printed figures; None where no line is named."""
    if RESPECTIVELY.search(asked.text) and (listed := _listed(asked, lines)):
        return listed
    if len(asked.periods) > 1:
        return _over_periods(asked, lines)
    period = asked.periods[0] if asked.periods else None
    found = _matches(asked, lines, period)
    if not found and period and not any(cell.periods for cell in lines.grid.cells):
        found = _matches(asked, lines, None)
        period = None
    if not found or found[0].score <= 0:
        return None
    match = found[0]
    cell = match.line.at(period) if period else _latest(match.line)
    return LookedUp((cell,), match.coverage, _label_said(match.line, asked)) if cell else None


def _matches(asked: Asked, lines: Lines, period: PeriodName | None) -> list[Match]:
    words = (*asked.words, *asked.operation) if asked.asks is not Asks.TOTAL else asked.words
    return lines.matches(words, operation=asked.operation, at=period)


def _over_periods(asked: Asked, lines: Lines) -> LookedUp | None:
    for loose in (False, True):
        for match in lines.matches((*asked.words, *asked.operation), loose=loose):
            if match.score <= 0:
                break
            periods = asked.periods
            if asked.whole_range:
                periods = spanned((periods[0], periods[-1]), match.line.periods)
            cells = tuple(cell for period in periods if (cell := match.line.at(period)))
            if len(cells) == len(periods) and len(match.line.cells) > 1:
                return LookedUp(cells, match.coverage, _label_said(match.line, asked))
    return None


def _listed(asked: Asked, lines: Lines) -> LookedUp | None:
    """Several measures of one period: `the revenue of Apple and Huawei in 2017, respectively`."""
    if len({period.year for period in asked.periods}) > 1 or len(asked.periods) > 1:
        return None
    period = asked.periods[0] if asked.periods else None
    text = without_periods(RESPECTIVELY.sub(" ", asked.text)).strip(" ?.")
    best: LookedUp | None = None
    top = 0.0
    opened = _OPENING.match(text)
    body = text[opened.end() :] if opened else text
    for joint in (_COMMAS, _AND):
        parts = [part for part in joint.split(body) if telling_stems(part)]
        if len(parts) < 2:
            continue
        whole = telling_stems(body)
        cells: list[Cell] = []
        score = coverage = 0.0
        for part in parts:
            own = telling_stems(part)
            found = lines.matches(own, also=whole, at=period)
            if not found or found[0].coverage < _ENOUGH:
                break
            cell = found[0].line.at(period) if period else _latest(found[0].line)
            if cell is None or cell in cells:
                break
            cells.append(cell)
            score += found[0].score
            coverage += found[0].coverage
        if len(cells) == len(parts) and score / len(parts) > top:
            top = score / len(parts)
            best = LookedUp(tuple(cells), coverage / len(parts), 1.0)
    return best


def _latest(line: Line) -> Cell:
    return line.at(line.periods[-1]) or line.cells[0] if line.periods else line.cells[0]


def _label_said(line: Line, asked: Asked) -> float:
    said = {*asked.words, *asked.operation}
    return len(line.label & said) / len(line.label) if line.label else 0.0


RESPECTIVELY = re.compile(r"\brespective(?:ly)?\b", re.I)
_OPENING = re.compile(
    r"^\W*(?:what|how much|how many)\s+(?:is|are|was|were|did)?\s*(?:the\s+)?(?:respective\s+)?", re.I
)
_COMMAS = re.compile(r"\s*,\s*(?:and\s+)?(?:the\s+)?|\s+and\s+(?:the\s+)?", re.I)
_AND = re.compile(r"\s+and\s+(?:the\s+)?", re.I)
_ENOUGH = 0.5
