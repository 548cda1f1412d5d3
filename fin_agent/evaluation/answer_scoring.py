"""Scoring of answers: figures matched with a gold answer by the published rule and stricter ones, and retrieval."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from decimal import Decimal
from itertools import product

from fin_agent.answering.numerals import Numeral, NumeralKind, numerals_in


def gold_figures(gold: str) -> tuple[Numeral, ...]:
    """Return the figures of a gold answer in reading order; empty for an answer in words.

    A figure is an amount, a ratio, a percentage or a count. These are not figures: years, dates, lengths of time (`the
    12 months`), numbers within a name (`3M`, `10-K`, `777X`), whole numbers listed together with such a name (`737,
    777X and 787`), and numbers of places (`Note 11`, `Section 12(b)`). An answer that is nothing but a number is always
    a figure.
    """
    gold = without_list_marks(gold)
    numerals = numerals_in(gold)
    if len(numerals) == 1 and numerals[0].printed == gold.strip():
        return numerals
    figures: list[Numeral] = []
    for run in _listed_together(gold, numerals):
        names = any(numeral.kind is NumeralKind.LABEL for numeral, _ in run)
        for numeral, start in run:
            placed = numeral.printed.isdigit() and (names or _WHERE.search(gold[:start]))
            if numeral.kind in (NumeralKind.AMOUNT, NumeralKind.PERCENT) and not placed:
                figures.append(numeral)
    return tuple(figures)


def answering_figures(gold: str, question: str) -> tuple[Numeral, ...]:
    """Return the figures of a gold answer that the question does not mention; all of them if it mentions them all."""
    figures = gold_figures(gold)
    known = {numeral.in_base_units for numeral in numerals_in(question)}
    return tuple(figure for figure in figures if figure.in_base_units not in known) or figures


def without_list_marks(text: str) -> str:
    """Return a text of several lines that begin with a dash without these dashes, which are not minus signs."""
    return _LIST_MARK.sub("", text) if len(_LIST_MARK.findall(text)) > 1 else text


_LIST_MARK = re.compile(r"^[ \t]*[-–—•*][ \t]*", re.MULTILINE)
_Placed = tuple[Numeral, int]
"""A numeral and its start position."""

_LISTED = re.compile(r"[A-Z]{0,2}\s*(?:,|/|&|\b(?:and|or)\b)(?:\s|and\b|or\b)*")
"""The text between two members of a list, including the letters of a name such as `777X`."""
_WHERE = re.compile(r"\b(?:Note|Item|Section|Part|Page|Rule|Topic|Exhibit|Schedule|Table|Level|Tier)s?\s+$", re.I)


def _listed_together(text: str, numerals: Sequence[Numeral]) -> list[list[_Placed]]:
    """Group numerals that only commas and `and` separate."""
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


TOLERANCE = 0.03
"""Relative tolerance of FinanceBench's numeric match (Kobeissi & Langlais)."""

USD_SCALES = {"USD": 1, "USD thousands": 1_000, "USD millions": 1_000_000, "USD billions": 1_000_000_000}


def published_numeric_match(answer_text: str, gold: str) -> bool:
    """Return whether a number of the answer is within 3% of a number of the gold answer.

    Numbers are compared with their sign, as printed and, if a side gives a scale such as millions, in base units. Units
    and position are ignored (`36%` matches `$36`); `stated_match` considers both. A gold zero is matched by zero only.
    The result is False if either side has no number.
    """
    said, wanted = ([each for of in _quantities(text) for each in _readings(of)] for text in (answer_text, gold))
    return any(is_within_tolerance(ours, theirs) for ours, theirs in product(said, wanted))


def kobeissi_numeric_match(answer_text: str, gold: str) -> bool:
    """Return whether a number of the answer is close to a number of the gold answer, as Kobeissi & Langlais count it.

    Numbers, including years, are found by a regular expression after commas and currency signs are removed; close is
    numpy's `isclose` with absolute and relative tolerances of 0.03 (Section 3.4). `published_numeric_match` considers
    scales and has no absolute tolerance, by which 0.04 equals 0.02.
    """
    ours, theirs = _plain_numbers(answer_text), _plain_numbers(gold)
    return any(abs(one - other) <= TOLERANCE + TOLERANCE * abs(other) for other in theirs for one in ours)


_PLAIN_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def _plain_numbers(text: str) -> list[float]:
    return [float(found) for found in _PLAIN_NUMBER.findall(re.sub(r"[,$€£]", "", text))]


def strict_numeric_match(value: float | None, unit: str | None, gold: str, question: str = "") -> bool:
    """Return whether a value equals a number of the gold answer at the rounding of that number.

    The rounding is the printed decimals, without trailing zeros and at least whole units: `$11588.00` is whole, `$4.60`
    has one decimal. Units are converted if the gold's unit is known: from its own words (`$2.5bn`), a percent sign, the
    question (`in USD millions`), or a dollar amount of a million and more, which is in dollars. Otherwise the value
    must equal the gold number as printed.
    """
    return any(
        abs(restated - numeral.value) <= Decimal(5).scaleb(-numeral.decimals - 1)
        for numeral in _quantities(gold)
        for restated in convert_to_gold_unit(numeral, value, unit, question)
    )


def convert_to_gold_unit(gold: Numeral, value: float | None, unit: str | None, question: str = "") -> list[Decimal]:
    """Return a value in the unit of a gold number, as `strict_numeric_match` describes; empty without a value.

    There are several readings if the gold's unit is unknown.
    """
    if value is None:
        return []
    ours, in_percent = Decimal(repr(float(value))), gold.kind is NumeralKind.PERCENT
    scale = USD_SCALES.get(unit or "")
    if in_percent:
        return [ours * 100] if unit == "ratio" else [ours]
    if scale is not None:
        asked = _UNIT_ASKED.search(question)
        gold_scale = gold.scale or (USD_SCALES[f"USD {(asked[1] or asked[2]).lower()}s"] if asked else None)
        if gold_scale is None and gold.currency and abs(gold.value) >= 1_000_000:
            gold_scale = 1
        return [ours] if gold_scale is None else [ours * scale / gold_scale]
    if unit in ("percent", "percentage points"):
        # `0.66` can be 66% as a ratio, `10.3` percent if the question asks for it.
        return [ours, ours / 100]
    return [ours] if gold.scale is None else [ours / gold.scale]


_UNIT_ASKED = re.compile(
    r"\b(?:USD|US[$]|dollars?|[$])\s*(?:in\s+)?(thousand|million|billion)s?\b"
    r"|\bin\s+(thousand|million|billion)s(?:\s+of)?(?:\s+(?:USD|US[$]|dollars))?\b",
    re.IGNORECASE,
)


def is_within_tolerance(ours: Decimal, theirs: Decimal, tolerance: float = TOLERANCE) -> bool:
    """Return whether a number is within a relative tolerance of a gold number; a gold zero matches zero only."""
    return abs(ours - theirs) <= abs(theirs) * Decimal(str(tolerance))


def page_recall(
    retrieved: Sequence[Hashable], gold: Sequence[Hashable], k: int, *, also: Sequence[Hashable] = ()
) -> float:
    """Return the share of a question's gold pages, or filings, among the first `k` retrieved (Kobeissi & Langlais).

    There is at least one gold page. One of the equivalent pages `also`, each of which contains the evidence, gives 1.
    """
    wanted = set(gold)
    if not set(also).isdisjoint(retrieved[:k]):
        return 1.0
    return len(wanted.intersection(retrieved[:k])) / len(wanted)


def page_precision(retrieved: Sequence[Hashable], gold: Sequence[Hashable], k: int) -> float:
    """Return the share of distinct pages among the first `k` retrieved that are gold; 0 if nothing is retrieved."""
    found = set(retrieved[:k])
    return len(found.intersection(gold)) / len(found) if found else 0.0


_QUANTITIES = (NumeralKind.AMOUNT, NumeralKind.PERCENT, NumeralKind.SPAN)


def _quantities(text: str) -> tuple[Numeral, ...]:
    numerals = numerals_in(without_list_marks(text))
    quantities = tuple(numeral for numeral in numerals if numeral.kind in _QUANTITIES)
    return quantities or (numerals if len(numerals) == 1 and numerals[0].printed == text.strip() else ())


def _readings(numeral: Numeral) -> set[Decimal]:
    return {numeral.value, numeral.in_base_units}


def stated_match(
    value: float | None,
    unit: str | None,
    text: str,
    gold: str,
    question: str = "",
    tolerance: float = TOLERANCE,
) -> bool:
    """Return whether the value, or a figure in the text's first sentence, is within 3% of a gold figure.

    By the published rule a long text with many numbers can match by chance. Here percentages are compared with
    percentages only, other amounts with other amounts, in base units if both sides give a scale. Figures of the
    question (`more than 20% of revenue`) do not count if the gold answer has others. The result is False if the gold
    answer has no figure.
    """
    said = gold_figures(first_sentence(text))
    return any(
        _is(value, unit, figure, question, tolerance) or any(_says(ours, figure, tolerance) for ours in said)
        for figure in answering_figures(gold, question)
    )


def first_sentence(text: str) -> str:
    """Return a text up to the end of its first sentence; abbreviations (`Inc.`, `No.`, an initial) do not end it."""
    return sentences_in(text)[0]


def sentences_in(text: str) -> list[str]:
    """Return the sentences of a text."""
    return _END.split(text.strip())


_END = re.compile(
    r"(?<=[.?!])(?<!\b[A-Z]\.)(?<!\b(?:Co|Dr|Mr|Ms|No|St)\.)(?<!\b(?:Inc|Ltd|Mrs)\.)(?<!\bCorp\.)[\"”)]?\s+(?=[A-Z0-9“\"$•])"
)


_SHARES = ("percent", "percentage points", "ratio")
"""Units of a value that can express a percentage."""


def _is(value: float | None, unit: str | None, gold: Numeral, question: str, tolerance: float) -> bool:
    is_amount, is_share = bool(gold.currency or gold.scale), gold.kind is NumeralKind.PERCENT
    if unit and (is_amount if unit in _SHARES else is_share):
        return False
    readings = convert_to_gold_unit(gold, value, unit, question)
    return any(is_within_tolerance(ours, gold.value, tolerance) for ours in readings)


def _says(ours: Numeral, gold: Numeral, tolerance: float) -> bool:
    if (ours.kind is NumeralKind.PERCENT) is not (gold.kind is NumeralKind.PERCENT):
        return False
    if ours.scale and gold.scale:
        return is_within_tolerance(ours.in_base_units, gold.in_base_units, tolerance)
    pairs = product(_readings(ours), _readings(gold))
    return any(is_within_tolerance(left, right, tolerance) for left, right in pairs)
