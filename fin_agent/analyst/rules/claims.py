"""What a yes-or-no question says of a figure: that it is positive, above a bound, higher than another company's."""

from __future__ import annotations

import re

from fin_agent.evidence.intent import Claim, Comparison, Relation
from fin_agent.lexicon.periods import parse_periods

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


def claim_of(core: str, unit: str, relation: Relation, comparison: Comparison, expression: str = "") -> Claim | None:
    """The claim of a yes-or-no question about a measure in `unit`; None where it makes none to hold figures against.

    `comparison` is between companies: the claim is then that the one named first stands out. Of a trend between two
    years (`was 2019's revenue higher than 2020's`) it is that the later year's figure lies above the earlier one's.

    >>> claim_of("Is Acme's working capital positive?", "USD", Relation.EACH, Comparison.NONE).bound
    0.0
    """
    if relation is Relation.YEARS_COUNTED:
        return bound_of(core, unit)
    if not _YES_OR_NO.match(core) or _NOT.search(core):
        return None
    if comparison in (Comparison.HIGHEST, Comparison.LOWEST):
        return None if _OR.search(core) else Claim(above=comparison is Comparison.HIGHEST)
    if (
        comparison is Comparison.DIFFERENCE
        and relation is Relation.EACH
        and _LESS.search(core)
        and not _OR.search(core)
    ):
        return Claim(above=_FEWER.search(core) is None, bound=0.0)
    if relation is Relation.TREND:
        return _of_two_years(core)
    if relation in (Relation.GROWTH, Relation.CHANGE):
        return bound_of(core, "percent" if relation is Relation.GROWTH else unit)
    if relation is not Relation.EACH:
        return None
    if _LESS.search(core) and expression.count(") - (") == 1:
        return Claim(above=_FEWER.search(core) is None, bound=0.0)
    bound = bound_of(core, unit)
    if bound is not None:
        return bound
    if _POSITIVE.search(core) and not _NEGATIVE.search(core):
        return Claim(above=True, bound=0.0)
    if _NEGATIVE.search(core) and not _POSITIVE.search(core):
        return Claim(above=False, bound=0.0)
    return None


_OR = re.compile(r"\bor\b", re.I)


def _of_two_years(core: str) -> Claim | None:
    """The year named first is set against the other; without a comparative, or with one year, there is no claim."""
    found = _LESS.search(core) or _FASTER.search(core)
    named = [mention.fiscal_year for mention in parse_periods(core).mentions]
    if found is None or len(set(named)) != 2:
        return None
    above = _FEWER.search(found.group()) is None and found.group().lower() != "slower"
    return Claim(above=above if named[0] > named[-1] else not above)


_FASTER = re.compile(r"\b(?:faster|slower)\b", re.I)
_LESS = re.compile(
    r"\b(?:higher|lower|larger|smaller|greater|bigger|more|less|fewer|better|worse|above|below|exceed(?:s|ed)?|surpass(?:es|ed)?)\b",
    re.I,
)
_FEWER = re.compile(r"\b(?:lower|smaller|less|fewer|worse|below)\b", re.I)


def has_bound(core: str) -> bool:
    """Whether figures are held against a number of the question: `exceed $50 billion`."""
    return _BOUND.search(core) is not None


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
