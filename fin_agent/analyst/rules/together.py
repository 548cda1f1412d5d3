"""One question out of several that differ in their measure alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

from fin_agent.analyst.rules.listed_measures import ListedMeasures
from fin_agent.evidence.intent import CompanyAsked, Comparison, Intent, MeasureAsked, Relation

_TOLD_OF_EACH = (
    Relation.EACH,
    Relation.GROWTH,
    Relation.ANNUAL_GROWTH,
    Relation.CHANGE,
    Relation.AVERAGE,
    Relation.TREND,
)
_FIRST_AND_LAST = 2
_T = TypeVar("_T")


def put_together(
    question: str,
    core: str,
    listed: ListedMeasures,
    each: Sequence[Intent],
    named: tuple[tuple[CompanyAsked, ...], tuple[str, ...]],
) -> Intent | None:
    """The question with all of its measures; None where one alone is not computed, or they are asked differently.

    `each` is what is asked of each measure alone, `named` the companies of the whole question: indexed, and not.
    """
    first = each[0]
    if not all(one.numeric and not one.unsupported and not one.further for one in each):
        return None
    if len({one.expression for one in each}) < len(each) or not _asked_alike(each, named):
        return None
    if first.relation not in _TOLD_OF_EACH or first.comparison is not Comparison.NONE or first.selection is not None:
        return None
    if any(one.claim is not None for one in each):
        return None
    if listed.extreme is not Comparison.NONE and not _can_be_ranked(each):
        return None
    if first.relation is Relation.TREND and (len(first.companies) > 1 or len(first.periods) > _FIRST_AND_LAST):
        return None
    if _IN_TURN.search(core) and (len(first.periods) > 1 or len(first.companies) > 1):
        return None
    words = [_words(one, member) for one, member in zip(each, listed.members, strict=True)]
    further = tuple(
        MeasureAsked(words=own, expression=one.expression, measure_unit=one.measure_unit, unit=one.unit)
        for one, own in zip(each[1:], words[1:], strict=True)
    )
    return first.model_copy(
        update={
            "question": question,
            "core": core,
            "measure": words[0],
            "further": further,
            "comparison": listed.extreme,
            "assumed": _all(one.assumed for one in each),
            "statements": _all(one.statements for one in each),
            "topics": _all(one.topics for one in each),
            "keywords": _all(one.keywords for one in each),
            "expansions": _all(one.expansions for one in each),
        }
    )


_IN_TURN = re.compile(r"\brespectively\b", re.I)


def _words(asked: Intent, member: str) -> str:
    """The name of a measure without what goes with all of them: `share repurchases` of `spend on share repurchases`."""
    lead = asked.measure[: -len(member)].strip()
    return member if asked.measure.endswith(member) and _SPENDING.fullmatch(lead) else asked.measure


_SPENDING = re.compile(r"(?:spen[dt]\w*|pa(?:y|id)\w*)(?:\s+\w+)?", re.I)


def _asked_alike(each: Sequence[Intent], named: tuple[tuple[CompanyAsked, ...], tuple[str, ...]]) -> bool:
    keys = {company.key for company in named[0]}
    return all(
        {company.key for company in one.companies} == keys
        and one.unknown_companies == named[1]
        and (one.periods, one.dates, one.relation, one.comparison, one.decimals, one.report)
        == (each[0].periods, each[0].dates, each[0].relation, each[0].comparison, each[0].decimals, each[0].report)
        for one in each
    )


def _can_be_ranked(each: Sequence[Intent]) -> bool:
    """One figure of one company for each, in one unit."""
    first = each[0]
    if len(first.companies) + len(first.unknown_companies) != 1:
        return False
    if first.relation is Relation.EACH:
        return len(first.periods) < _FIRST_AND_LAST and len({(one.measure_unit, one.unit) for one in each}) == 1
    return (
        first.relation is Relation.GROWTH and len(first.periods) <= _FIRST_AND_LAST and not _FALLING.search(first.core)
    )


_FALLING = re.compile(r"declin|decreas|f[ae]ll|drop|reduc|shr[iau]nk|contract", re.I)


def _all(values: Iterable[tuple[_T, ...]]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(value for several in values for value in several))
