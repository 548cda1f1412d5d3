"""Arithmetic over figures of the text: `were $3 million and $5 million in 2019 and 2018, respectively`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from fin_agent.analyst.rules.context_answers.asked import Asked, Asks
from fin_agent.analyst.rules.context_answers.computing import Computed
from fin_agent.analyst.rules.context_answers.formula import difference, mean, relative_change, total, value_of
from fin_agent.analyst.rules.context_answers.grid import Cell
from fin_agent.analyst.rules.context_answers.sentences import Sentence
from fin_agent.analyst.rules.context_answers.told_figures import figures_by_period


def compute_from_text(asked: Asked, sentences: Sequence[Sentence]) -> tuple[Computed, str] | None:
    """The computation and the scale of its figures; None where no sentence tells a figure for each period."""
    if len(asked.periods) < 2 or asked.asks not in _OVER_PERIODS:
        return None
    spans, coverage = figures_by_period(asked, sentences)
    cells = [cell for span in spans if (cell := _cell(span, asked))]
    scales = {scale_told(span) for span in spans}
    if len(cells) < 2 or len(cells) < len(spans) or len(scales) != 1:
        return None
    ends = sorted(zip(asked.periods, cells, strict=False), key=lambda pair: pair[0])
    new, old = ends[-1][1], ends[0][1]
    match asked.asks:
        case Asks.TOTAL:
            computed = Computed(total(cells), False, coverage)
        case Asks.AVERAGE:
            computed = Computed(mean(cells), False, coverage)
        case Asks.PERCENT_CHANGE:
            computed = Computed(relative_change(new, old), True, coverage)
        case _:
            computed = Computed(difference(new, old), False, coverage)
    return (computed, scales.pop()) if value_of(computed.formula) is not None else None


def scale_told(figure: str) -> str:
    """The scale that a figure of the text is told in: `$1.3 billion`, `21%`."""
    match = _SCALE.search(figure)
    if match is None:
        return ""
    word = match[0].lower()
    return word if word in ("thousand", "million", "billion") else "percent"


def _cell(span: str, asked: Asked) -> Cell | None:
    match = _NUMBER.search(span)
    if match is None:
        return None
    amount = Decimal(match[0].replace(",", ""))
    label = " ".join((*asked.words, "told"))
    return Cell(-1, -1, span, -amount if span.startswith("(") else amount, "%" in span, label, "", "", (), False)


_OVER_PERIODS = frozenset({Asks.TOTAL, Asks.AVERAGE, Asks.CHANGE, Asks.PERCENT_CHANGE, Asks.DIFFERENCE})
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_SCALE = re.compile(r"thousand|million|billion|%|per ?cent", re.I)
