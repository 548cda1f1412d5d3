"""What a yes-or-no question says of a figure: that it is positive, above a bound, higher than another company's."""

from __future__ import annotations

import re

from fin_agent.evidence.intent import Claim, Comparison

_YES_OR_NO = re.compile(r"^\W*(?:so\s+|and\s+)?(?:is|are|was|were|did|does|do|has|have|had)\b", re.I)
_POSITIVE = re.compile(r"\b(?:positive|profitable|in\s+the\s+black|above\s+zero|a\s+profit)\b", re.I)
_NEGATIVE = re.compile(
    r"\b(?:negative|unprofitable|loss[- ]making|in\s+the\s+red|below\s+zero|at\s+a\s+loss|a\s+(?:net\s+)?loss)\b", re.I
)
_NOT = re.compile(r"\b(?:not|n't|never|no\s+longer)\b", re.I)
_BOUND = re.compile(
    r"\b(?:(?P<above>above|over|exceed(?:s|ed|ing)?|more\s+than|greater\s+than|higher\s+than|larger\s+than|at\s+least|surpass(?:es|ed)?"
    r"|top(?:s|ped)?)"
    r"|(?P<below>below|under|less\s+than|lower\s+than|smaller\s+than|fewer\s+than))\s+"
    r"(?P<money>US\$|\$)?\s*(?P<number>\d[\d,]*(?:\.\d+)?)\s*(?P<scale>thousand|million|billion|trillion|k|m|mn|bn|b)?\b"
    r"\s*(?P<unit>%|percent\b|days\b|x\b|times\b)?",
    re.I,
)
_SCALES = {"thousand": 1e3, "k": 1e3, "million": 1e6, "m": 1e6, "mn": 1e6, "billion": 1e9, "bn": 1e9, "b": 1e9,
           "trillion": 1e12}  # fmt: skip
_IN_PERCENT = frozenset(("%", "percent"))
_A_YEAR = range(1900, 2101)


def claim_of(core: str, unit: str, comparison: Comparison) -> Claim | None:
    """The claim of a yes-or-no question about a measure in `unit`; None where it makes none that can be held to figures.

    `comparison` is between companies: the claim is then that the one named first stands out.

    >>> claim_of("Is Acme's working capital positive?", "USD", Comparison.NONE).bound
    0.0
    """
    if not _YES_OR_NO.match(core) or _NOT.search(core):
        return None
    if comparison in (Comparison.HIGHEST, Comparison.LOWEST):
        return None if re.search(r"\bor\b", core, re.I) else Claim(above=comparison is Comparison.HIGHEST)
    bound = bound_of(core, unit)
    if bound is not None:
        return bound
    if _POSITIVE.search(core) and not _NEGATIVE.search(core):
        return Claim(above=True, bound=0.0)
    if _NEGATIVE.search(core) and not _POSITIVE.search(core):
        return Claim(above=False, bound=0.0)
    return None


def bound_of(core: str, unit: str) -> Claim | None:
    """`above $50 billion`, `below 40%`, as a claim; None where no bound stands there, or one in another unit."""
    found = _BOUND.search(core)
    if found is None:
        return None
    number = float(found.group("number").replace(",", ""))
    scale = _SCALES.get((found.group("scale") or "").lower(), 0.0)
    if not found.group("money") and not scale and not found.group("unit") and int(number) in _A_YEAR:
        return None
    percent = (found.group("unit") or "").lower() in _IN_PERCENT
    money = bool(found.group("money") or scale)
    if money != (unit.startswith("USD") and unit != "USD per share") and not (unit == "USD per share" and not scale):
        return None
    if percent and unit == "ratio":
        number /= 100
    elif percent != (unit == "percent"):
        return None
    return Claim(above=bool(found.group("above")), bound=number * (scale or 1.0))
