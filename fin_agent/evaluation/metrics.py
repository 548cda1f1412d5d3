"""Measures of retrieval and of numeric answers, as the published benchmarks define them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from decimal import Decimal

from fin_agent.answering.numerals import Numeral, NumeralKind, numerals_in
from fin_agent.evaluation.gold_figures import without_list_marks

TOLERANCE = 0.03
"""Relative; FinanceBench numeric match as Kobeissi & Langlais measure it."""

_USD_SCALES = {"USD": 1, "USD thousands": 1_000, "USD millions": 1_000_000, "USD billions": 1_000_000_000}


def numbers_in(text: str) -> list[float]:
    """A text's quantities in reading order, in base units: 2.018e9 for `$2,018mn`, -5.0 for `(5)`, 21.6 for `21.6%`.

    Calendar years, ordinals, dates and numbers that belong to names (`10-K`, `Q2`) are left out, unless the text holds
    nothing else.
    """
    return [float(numeral.in_base_units) for numeral in _quantities(text)]


def published_numeric_match(answer_text: str, gold: str) -> bool:
    """Whether some number of the answer is within 3% of some number of the gold answer.

    Numbers are compared with their sign, as printed and, where a side says millions or the like, in base units; not by
    their units (`36%` matches `$36`), nor by where they stand: see `stated_match` for both. A gold zero is matched by
    zero only. False where either side has no number.
    """
    return any(
        is_within_tolerance(ours, theirs)
        for numeral in _quantities(gold)
        for theirs in _readings(numeral)
        for answered in _quantities(answer_text)
        for ours in _readings(answered)
    )


def strict_numeric_match(value: float | None, unit: str | None, gold: str, question: str = "") -> bool:
    """Whether a value equals some number of the gold answer at that number's own rounding.

    The rounding is the decimals printed, without trailing zeros and never coarser than whole units: `$11588.00` is
    whole, `$4.60` has one decimal.
    Units are reconciled where the gold's unit is known: by its own words (`$2.5bn`), a percent sign, the question
    (`in USD millions`), or a dollar amount of a million and more, which is in dollars. Otherwise the value must equal
    the gold as printed.
    """
    for numeral in _quantities(gold):
        half = Decimal(5).scaleb(-numeral.decimals - 1)
        for restated in restated_in_unit_of(numeral, value, unit, question):
            if abs(restated - numeral.value) <= half:
                return True
    return False


def restated_in_unit_of(gold: Numeral, value: float | None, unit: str | None, question: str = "") -> list[Decimal]:
    """A value in the unit of a number of the gold answer, found as `strict_numeric_match` says; empty without a value.

    More than one reading where the gold's unit is not known.
    """
    return [] if value is None else _restated(Decimal(repr(float(value))), unit, gold, question)


def is_within_tolerance(ours: Decimal, theirs: Decimal) -> bool:
    """Whether a number is within `TOLERANCE` of a gold number; a gold zero is met by zero only."""
    return abs(ours - theirs) <= abs(theirs) * Decimal(str(TOLERANCE))


def page_recall(
    retrieved: Sequence[Hashable], gold: Sequence[Hashable], k: int, *, also: Sequence[Hashable] = ()
) -> float:
    """Share of a question's gold pages that are among the first `k` retrieved (Kobeissi & Langlais).

    Pages are (doc_id, number) pairs, best first. The benchmark's figure is the mean over its questions. Any page of
    `also` holds the same evidence alone: one of them among the first `k` is 1. Raises ValueError without gold pages.
    """
    wanted = set(gold)
    if not wanted:
        raise ValueError("recall needs at least one gold page")
    if not set(also).isdisjoint(retrieved[:k]):
        return 1.0
    return len(wanted.intersection(retrieved[:k])) / len(wanted)


def page_hit(retrieved: Sequence[Hashable], gold: Sequence[Hashable], k: int) -> bool:
    """Whether any gold page is among the first `k` retrieved; its mean over questions is the hit rate."""
    return not set(gold).isdisjoint(retrieved[:k])


def page_precision(retrieved: Sequence[Hashable], gold: Sequence[Hashable], k: int) -> float:
    """Share of the distinct pages among the first `k` retrieved that are gold; 0 where nothing is retrieved."""
    found = set(retrieved[:k])
    return len(found.intersection(gold)) / len(found) if found else 0.0


def document_recall(retrieved: Sequence[Hashable], gold: Sequence[Hashable], k: int) -> float:
    """Share of a question's gold filings that are among the first `k` retrieved. Raises ValueError without any."""
    return page_recall(retrieved, gold, k)


def percentile(values: Sequence[float], percent: float) -> float:
    """Value below which `percent` of the values lie, interpolated linearly. Raises ValueError without values."""
    if not values or not 0 <= percent <= 100:
        raise ValueError("a percentile needs values and a share from 0 to 100")
    ordered = sorted(values)
    position = (len(ordered) - 1) * percent / 100
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


_QUANTITIES = (NumeralKind.AMOUNT, NumeralKind.PERCENT, NumeralKind.SPAN)


def _quantities(text: str) -> tuple[Numeral, ...]:
    numerals = numerals_in(without_list_marks(text))
    quantities = tuple(numeral for numeral in numerals if numeral.kind in _QUANTITIES)
    return quantities or (numerals if len(numerals) == 1 and numerals[0].printed == text.strip() else ())


def _readings(numeral: Numeral) -> set[Decimal]:
    return {numeral.value, numeral.in_base_units}


_UNIT_ASKED = re.compile(
    r"\b(?:USD|US[$]|dollars?|[$])\s*(?:in\s+)?(thousand|million|billion)s?\b"
    r"|\bin\s+(thousand|million|billion)s(?:\s+of)?(?:\s+(?:USD|US[$]|dollars))?\b",
    re.IGNORECASE,
)


def _scale_asked(question: str) -> int | None:
    asked = _UNIT_ASKED.search(question)
    return None if asked is None else _USD_SCALES[f"USD {(asked[1] or asked[2]).lower()}s"]


def _restated(value: Decimal, unit: str | None, gold: Numeral, question: str) -> list[Decimal]:
    """The value in the gold's unit: one reading where that is known, the value as it is otherwise."""
    scale = _USD_SCALES.get(unit or "")
    if scale is not None and gold.kind is not NumeralKind.PERCENT:
        gold_scale = gold.scale or _scale_asked(question)
        if gold_scale is None and gold.currency and abs(gold.value) >= 1_000_000:
            gold_scale = 1
        return [value] if gold_scale is None else [value * scale / gold_scale]
    if unit == "ratio" and gold.kind is NumeralKind.PERCENT:
        return [value * 100]
    if unit in ("percent", "percentage points") and gold.kind is not NumeralKind.PERCENT:
        # `0.66` may be 66% as a ratio, `10.3` percents that the question asks for.
        return [value, value / 100]
    if scale is None and gold.scale is not None and gold.kind is not NumeralKind.PERCENT:
        return [value / gold.scale]
    return [value]
