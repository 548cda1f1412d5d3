"""Decide whether a fact is the one that a slot asks for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.entry_loading import Metric
from fin_agent.lexicon.slots import Slot, slot_metric
from fin_agent.lexicon.words import patterns
from fin_agent.retrieval.fact_terms import is_of_acquisition
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.page import Statement

_PATTERNS = patterns("address_patterns")


def fills_slot(sourced: SourcedFact, slot: Slot, metrics: Mapping[str, Metric], owners: Mapping[str, str]) -> bool:
    """Return whether the company, metric, scope and period of the fact are those of the slot.

    A metric of the primary statements is taken from them, or from a table that repeats one of their figures; tagged
    facts carry their own concept. Facts for a slot that is searched carry the slot's name, because fact search has
    already compared part and period. `owners` has the company key of each filing: a figure counts for its filer only.
    """
    fact = sourced.fact
    if slot.is_searched:
        return fact.metric == slot.fact_name and owners.get(sourced.doc_id) == slot.company
    metric = slot_metric(slot, metrics)
    home = metric.statement
    return (
        fact.metric == slot.metric
        and is_of_part(fact, slot.part)
        and (metric.period != "instant" or may_be_balance(fact, home))
        and fact.unit == metric.unit
        and not (fact.section and _PATTERNS["non-GAAP"].search(fact.section[-1]))
        and (fact.tied or home is None or fact.tag is not None)
        and (fact.tag is not None or not is_of_acquisition(fact))
        and owners.get(sourced.doc_id) == slot.company
        and covers_period(fact, slot, home)
    )


def may_be_balance(fact: Fact, home: Statement | None) -> bool:
    """Return whether the fact may be a balance although its column covers months, as in balance tables with years.

    Tagged facts have exact dates, so they are not reinterpreted; rows of statements of flows, or under their headings,
    are changes.
    """
    if not fact.period.months:
        return True
    if fact.tag is not None or fact.statement not in (None, Statement.BALANCE_SHEET, home):
        return False
    return not any(_PATTERNS["flows"].search(heading) for heading in fact.section)


def is_of_part(fact: Fact, part: str | None) -> bool:
    """Return whether the fact is a figure of `part` (None is the whole company), by its name as printed or tagged.

    A figure of two parts at once (footwear of one brand) belongs to neither of them, unless the name contains both.
    """
    if part is None or fact.scope is None:
        return part is fact.scope
    axes = fact.tag.axes if fact.tag else ()
    if len(axes) > 1:
        return fact.scope.count(",") >= len(axes) - 1 and same_part(fact.scope, part)
    named = (fact.label, fact.column) if axes else ()
    return same_part(fact.scope, part) or any(same_part(name, part) for name in named)


def same_part(one: str | None, other: str | None) -> bool:
    """Return whether two names denote the same part of a company (None is the whole), ignoring spacing and footnotes.

    A name may be printed by its initials.

    >>> same_part("I Phone", "iPhone"), same_part("Client Computing Group (1)", "Client Computing Group segment")
    (True, True)
    >>> same_part("CCG", "Client Computing Group"), same_part("US", "Unified Software of America")
    (True, False)
    """
    if one is None or other is None:
        return one is other
    return _plain_part(one) == _plain_part(other) or _abbreviates(one, other) or _abbreviates(other, one)


def _abbreviates(short: str, name: str) -> bool:
    """Return whether one is in capitals, and has the initials of the other: `FLNA` of `Frito-Lay North America`."""
    if not (short.isalpha() and short.isupper() and 1 < len(short) < len(name)):
        return False
    words = "".join(mark if mark.isalpha() else " " for mark in name).split()
    return len(words) > 1 and short == "".join(word[0] for word in words if word[0].isupper())


@lru_cache(maxsize=8192)
def _plain_part(name: str) -> str:
    words = _PATTERNS["part endings"].sub("", _PATTERNS["footnotes"].sub(" ", name.casefold()))
    words = _PATTERNS["united states"].sub("united states", words)
    return "".join(mark for mark in words.replace("&", "and") if mark.isalnum())


def covers_period(fact: Fact, slot: Slot, home: Statement | None) -> bool:
    """Return whether the fact's period is that of the slot.

    Cash flows of a quarter are printed for the year to date only; those of the first quarter are the quarter's own.
    """
    period = fact.period
    if period.fiscal_year != slot.fiscal_year:
        return False
    if slot.months in (6, 9):
        return period.months == slot.months and period.quarter in (None, slot.quarter)
    if slot.quarter is None:
        return period.quarter is None and period.months in (0, 12)
    if period.quarter == slot.quarter:
        return period.months in (0, 3)
    return home is Statement.CASH_FLOW and slot.quarter == 1 and period.months == 3
