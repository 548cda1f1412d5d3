"""What a question wants of its evidence: a figure, a trend, a reason, a definition, a policy."""

from __future__ import annotations

import re

from fin_agent.evidence.cards.card import Use
from fin_agent.evidence.intent import Comparison, Relation

_DEFINITION = re.compile(
    r"\b(?:what\s+(?:does|do|did)\b.{1,80}\bmean\b|(?:the\s+)?(?:definition|meaning)\s+of\b|what\s+is\s+meant\s+by\b"
    r"|how\s+(?:does|do|did|is|are)\b.{1,80}\bdefin(?:e|ed|es)\b|what\s+is\s+(?:an?\s+)?[\"“‘'])",
    re.I,
)
_POLICY = re.compile(
    r"\baccounting\s+polic(?:y|ies)\b|\bpolic(?:y|ies)\s+(?:for|on|regarding|about|concerning|with\s+respect)\b|\bhow\s+(?:does|do|did|is|are|were)\b.{1,80}"
    r"\b(?:recogni[sz]|account(?:s|ed|ing)?\s+for|treat|valu(?:e|ed|es)\b|measur|amorti[sz]|depreciat|capitali[sz])",
    re.I,
)
_REASON = re.compile(
    r"\b(?:why|drove|driven|drives?|drivers?|caus(?:e|ed|es)|reasons?|explain(?:s|ed)?|led\s+to|due\s+to|attribut\w+|behind"
    r"|contribut\w+|resulted\s+(?:in|from)|responsible\s+for|factors?)\b",
    re.I,
)
_MOVING = re.compile(
    r"\b(?:trend\w*|improv\w+|increas\w+|decreas\w+|declin\w+|grow\w*|grew|growth|chang\w+|evolv\w+|develop(?:ed|ment)"
    r"|over\s+(?:time|the\s+(?:last|past))|year[- ](?:over|on)[- ]year|rose|fell|retain)\b",
    re.I,
)
_AGAINST = re.compile(
    r"\b(?:compar\w+|versus|vs\.?|relative\s+to|highest|lowest|largest|smallest|biggest|greatest|most|least"
    r"|more\s+than|less\s+than|higher|lower|substantially|outperform\w*|better|worse|differ\w*)\b",
    re.I,
)
_SUMMED = re.compile(r"\b(?:total|totals|aggregate|combined|cumulative|sum|average|altogether)\b", re.I)
_OVER_TIME = (
    Relation.GROWTH,
    Relation.ANNUAL_GROWTH,
    Relation.CHANGE,
    Relation.TREND,
    Relation.EVERY_YEAR,
    Relation.YEARS_COUNTED,
)


def use_of(core: str, relation: Relation, comparison: Comparison, *, computed: bool, periods: int) -> Use:
    """The use that answers `core`; `computed` where figures are worked out, over so many `periods`.

    >>> use_of("Why did margins fall?", Relation.EXPLANATION, Comparison.NONE, computed=False, periods=1).value
    'explanation'
    """
    if computed:
        if comparison in (
            Comparison.DIFFERENCE,
            Comparison.RATIO,
            Comparison.HIGHEST,
            Comparison.LOWEST,
            Comparison.EXCESS,
        ):
            return Use.COMPARISON
        if relation in (Relation.AVERAGE, Relation.TOTAL) or comparison in (Comparison.TOTAL, Comparison.AVERAGE):
            return Use.AGGREGATION
        return Use.TREND if relation in _OVER_TIME or periods > 1 else Use.LOOKUP
    if periods > 1 and _MOVING.search(core) and not _REASON.search(core):
        return Use.TREND
    for pattern, use in (
        (_DEFINITION, Use.DEFINITION),
        (_POLICY, Use.POLICY),
        (_REASON, Use.EXPLANATION),
        (_AGAINST, Use.COMPARISON),
        (_MOVING, Use.TREND),
    ):
        if pattern.search(core):
            return use
    return Use.AGGREGATION if _SUMMED.search(core) else Use.LOOKUP
