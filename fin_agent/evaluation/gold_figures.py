"""The figures of a gold answer: its numbers that measure something."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_agent.answering.numerals import Numeral, NumeralKind, numerals_in


def gold_figures(gold: str) -> tuple[Numeral, ...]:
    """The figures of a gold answer in reading order; empty for an answer in words.

    A figure is an amount, a ratio, a percentage or a count of things. None are: years, dates, lengths of time (`the 12
    months`), numbers within a name (`3M`, `10-K`, `777X`), whole numbers listed together with such a name (`737, 777X
    and 787`), and numbers that say where something stands (`Note 11`, `Section 12(b)`). An answer that is a number and
    nothing else is a figure whatever it looks like.
    """
    gold = without_list_marks(gold)
    numerals = numerals_in(gold)
    if len(numerals) == 1 and numerals[0].printed == gold.strip():
        return numerals
    return tuple(
        numeral
        for run in _listed_together(gold, numerals)
        for numeral, start in run
        if numeral.kind in (NumeralKind.AMOUNT, NumeralKind.PERCENT)
        and not (_is_bare(numeral) and (_holds_a_name(run) or _WHERE.search(gold[:start])))
    )


def answering_figures(gold: str, question: str) -> tuple[Numeral, ...]:
    """The figures of a gold answer that the question does not say itself; all of them where it says them all."""
    figures = gold_figures(gold)
    known = {numeral.in_base_units for numeral in numerals_in(question)}
    return tuple(figure for figure in figures if figure.in_base_units not in known) or figures


def without_list_marks(text: str) -> str:
    """A text of several lines that begin with a dash, without these dashes: they are no signs of numbers."""
    return _LIST_MARK.sub("", text) if len(_LIST_MARK.findall(text)) > 1 else text


_LIST_MARK = re.compile(r"^[ \t]*[-–—•*][ \t]*", re.MULTILINE)
_Placed = tuple[Numeral, int]
"""A numeral and where it begins."""

_LISTED = re.compile(r"[A-Z]{0,2}\s*(?:,|/|&|\b(?:and|or)\b)(?:\s|and\b|or\b)*")
"""What stands between two members of a list, with the letters of a name such as `777X`."""
_WHERE = re.compile(r"\b(?:Note|Item|Section|Part|Page|Rule|Topic|Exhibit|Schedule|Table|Level|Tier)s?\s+$", re.I)


def _listed_together(text: str, numerals: Sequence[Numeral]) -> list[list[_Placed]]:
    """The numerals in runs of those that nothing but commas and `and` stands between."""
    runs: list[list[_Placed]] = []
    end = 0
    for numeral in numerals:
        start = text.index(numeral.printed, end)
        if runs and _LISTED.fullmatch(text[end:start]):
            runs[-1].append((numeral, start))
        else:
            runs.append([(numeral, start)])
        end = start + len(numeral.printed)
    return runs


def _holds_a_name(run: Sequence[_Placed]) -> bool:
    return any(numeral.kind is NumeralKind.LABEL for numeral, _ in run)


def _is_bare(numeral: Numeral) -> bool:
    """Digits alone: no sign, currency, percent, scale, separator or decimals."""
    return numeral.printed.isdigit()
