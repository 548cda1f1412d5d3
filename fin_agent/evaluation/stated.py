"""Whether an answer states a gold figure as its own figure: stricter than the published rule."""

from __future__ import annotations

import re

from fin_agent.answering.numerals import Numeral, NumeralKind
from fin_agent.evaluation.gold_figures import answering_figures, gold_figures
from fin_agent.evaluation.metrics import is_within_tolerance, restated_in_unit_of


def stated_match(value: float | None, unit: str | None, text: str, gold: str, question: str = "") -> bool:
    """Whether the value, or a figure in the first sentence of the text, is within 3% of a figure of the gold answer.

    By the published rule a long text of many numbers may match by chance. Here percentages are compared with
    percentages only, other amounts with other amounts, in base units where both sides say their scale; and what the
    question itself says (`more than 20% of revenue`) is no match while the gold answer has other figures. False where
    the gold answer has no figure.
    """
    said = gold_figures(first_sentence(text))
    return any(
        _is(value, unit, figure, question) or any(_says(ours, figure) for ours in said)
        for figure in answering_figures(gold, question)
    )


def first_sentence(text: str) -> str:
    """What a text says up to the end of its first sentence; an abbreviation (`Inc.`, `No.`, an initial) ends none."""
    return _END.split(text.strip(), maxsplit=1)[0]


_END = re.compile(
    r"(?<=[.?!])(?<!\b[A-Z]\.)(?<!\b(?:Co|Dr|Mr|Ms|No|St)\.)(?<!\b(?:Inc|Ltd|Mrs)\.)(?<!\bCorp\.)[\"”)]?\s+(?=[A-Z0-9“\"$•])"
)


_SHARES = ("percent", "percentage points", "ratio")
"""Units of a value that a percentage may be given in."""


def _is(value: float | None, unit: str | None, gold: Numeral, question: str) -> bool:
    is_amount, is_share = bool(gold.currency or gold.scale), gold.kind is NumeralKind.PERCENT
    if unit and (is_amount if unit in _SHARES else is_share):
        return False
    return any(is_within_tolerance(ours, gold.value) for ours in restated_in_unit_of(gold, value, unit, question))


def _says(ours: Numeral, gold: Numeral) -> bool:
    if (ours.kind is NumeralKind.PERCENT) is not (gold.kind is NumeralKind.PERCENT):
        return False
    if ours.scale and gold.scale:
        return is_within_tolerance(ours.in_base_units, gold.in_base_units)
    return any(
        is_within_tolerance(left, right)
        for left in (ours.value, ours.in_base_units)
        for right in (gold.value, gold.in_base_units)
    )
