"""Growth that itself rises or falls: `did revenue growth slow in 2022`, `did it grow faster than the year before`."""

from __future__ import annotations

import re
from dataclasses import replace

from fin_agent.analyst.rules.claims import has_bound
from fin_agent.analyst.rules.measures import Measure
from fin_agent.evidence.intent import Comparison, Relation


def accelerating(
    asked: str, measure: Measure, relation: Relation, named: int, years: int
) -> tuple[Relation, Comparison, Measure | None] | None:
    """(relation, ranking, the growth rate as a measure) where growth rates of two years are compared; None elsewhere.

    The measure is None where its growth cannot be reckoned, or more than one of the `named` companies is asked about.
    """
    if relation is Relation.EXPLANATION or not _speaks_of_it(asked, named, years):
        return None
    rate = growth_rate(measure) if named < 2 else None
    if _BY_HOW_MUCH.search(asked):
        return Relation.CHANGE, Comparison.NONE, rate
    if not _YES_OR_NO.match(asked):
        return (Relation.EACH if years > 1 else Relation.TREND), Comparison.NONE, rate
    chosen = _FASTER.search(asked) if years > 1 and re.search(r"\bor\b", asked, re.I) else None
    if chosen is not None:
        slower = chosen.group("slower") is not None
        return Relation.EACH, Comparison.LOWEST if slower else Comparison.HIGHEST, rate
    return Relation.TREND, Comparison.NONE, rate


def growth_rate(measure: Measure) -> Measure | None:
    """The growth of each year as a measure of its own, in percent; None where it has none."""
    name = measure.expression
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or measure.unit == "percent":
        return None
    words = re.sub(r"\s+growth(?: rate)?$", "", measure.words, flags=re.I)
    expression = f"100 * change({name}) / abs({name} - change({name}))"
    return replace(measure, words=f"yearly growth of {words}", expression=expression, unit="percent")


def _speaks_of_it(asked: str, named: int, years: int) -> bool:
    if _ACCELERATES.search(asked) or _IN_ITS_GROWTH.search(asked):
        return True
    if _GROWTH_MOVES.search(asked) and not has_bound(asked):
        return True
    # Of two companies it is one that grew faster than the other, over all of the years.
    if _FASTER.search(asked) and ((years > 1 and named < 2) or _THE_YEAR_BEFORE.search(asked)):
        return True
    return years > 1 and len(_GROWTH.findall(asked)) > 1 and _SET_AGAINST.search(asked) is not None


_MOVES = (
    r"accelerat|decelerat|slow|quicken|cool|speed|sped|pick(?:ed|ing|s)?[ -]up|declin|decreas|increas|improv|f[ae]ll"
    r"|ris(?:e|ing|en)|rose"
    r"|drop|shr[iau]nk|weak|strength|narrow|moderat|worsen|deteriorat|chang|higher|lower|faster|go(?:ne|es|ing)?\s+(?:up|down)|went"
)
_ACCELERATES = re.compile(
    r"\b(?:re-?)?(?:ac|de)celerat\w*\b(?!\s+(?:share|stock|repurchase|depreciation|vesting|amorti[sz]ation|filer)\w*)",
    re.I,
)
_GROWTH_MOVES = re.compile(
    rf"\bgrowth(?:\s+rates?)?\b(?:\s+(?:in|of)\s+(?:[\w&'’-]+\s+){{1,5}}?|\s+(?:[\w'’-]+\s+){{0,4}}?)(?:{_MOVES})", re.I
)
_IN_ITS_GROWTH = re.compile(
    r"\b(?:slow-?down|pick-?up|improvement|decline|drop|fall|rise|change|increase|decrease|difference)\s+(?:in|of)\s+"
    r"(?:[\w&'’-]+\s+){1,5}?growth\b",
    re.I,
)
_FASTER = re.compile(
    r"\b(?:gr[eo]w\w*|increas\w*|ris(?:e|en|ing)|rose|expand\w*)\s+(?:at\s+a\s+)?(?:(?:much|even)\s+)?"
    r"(?:(?P<slower>slower|more\s+slowly|less)|faster|quicker|more\b)",
    re.I,
)
_THE_YEAR_BEFORE = re.compile(
    r"\bthan\b.*\b(?:(?:prior|previous|preceding|last)\s+(?:fiscal\s+)?year|year\s+(?:before|earlier|prior))\b", re.I
)
_GROWTH = re.compile(r"\bgrowth\b", re.I)
_SET_AGAINST = re.compile(r"\b(?:compar\w*|versus|vs\.?|against|relative\s+to|difference|than|minus|less)\b", re.I)
_BY_HOW_MUCH = re.compile(
    r"\b(?:by\s+)?how\s+(?:much|many|far)\b|\bby\s+what\b|\bdifference\b|\bminus\b|\bless\b(?!\s+than)", re.I
)
_YES_OR_NO = re.compile(r"^\W*(?:so,?\s+|and\s+)?(?:is|are|was|were|did|does|do|has|have|had)\b", re.I)
