"""Whether a fact is the one a slot asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.entry_loading import Metric
from fin_agent.lexicon.slots import Slot, slot_metric
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.page import Statement


def fills_slot(sourced: SourcedFact, slot: Slot, metrics: Mapping[str, Metric], owners: Mapping[str, str]) -> bool:
    """Whether company, metric, scope and period of the fact are the slot's.

    `owners` gives the company key of each filing (`CompanyDirectory.owners`): a figure counts for its own filer only.
    A metric of the primary statements is taken from them, or from a table that repeats some figure of theirs; what is
    tagged says itself what it is of. Facts for
    a slot that is searched carry its name: fact search has held part and period against it.
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
        and (fact.tied or home is None or fact.tag is not None)
        and owners.get(sourced.doc_id) == slot.company
        and covers_period(fact, slot, home)
    )


def may_be_balance(fact: Fact, home: Statement | None) -> bool:
    """Whether the fact may be a balance though its column is of some months, as balances in tables of years are.

    What a tag dates, it dates rightly; and rows of statements of flows, or under their headings, are changes.
    """
    if not fact.period.months:
        return True
    if fact.tag is not None or fact.statement not in (None, Statement.BALANCE_SHEET, home):
        return False
    return not any(_FLOWS.search(heading) for heading in fact.section)


_FLOWS = re.compile(r"\b(?:cash flows?|activities|changes? in|adjustments to reconcile)\b", re.I)


def is_of_part(fact: Fact, part: str | None) -> bool:
    """Whether the fact is a figure of that part of its company (None is the whole), by its name as printed or tagged.

    A figure of two parts at once (footwear of one brand) is a figure of neither, unless both are named.
    """
    if part is None or fact.scope is None:
        return part is fact.scope
    axes = fact.tag.axes if fact.tag else ()
    if len(axes) > 1:
        return fact.scope.count(",") >= len(axes) - 1 and same_part(fact.scope, part)
    named = (fact.label, fact.column) if axes else ()
    return same_part(fact.scope, part) or any(same_part(name, part) for name in named)


def same_part(one: str | None, other: str | None) -> bool:
    """Whether two names are of the same part of a company (None is the whole), however they are spaced and marked.

    >>> same_part("I Phone", "iPhone"), same_part("Client Computing Group (1)", "Client Computing Group segment")
    (True, True)
    """
    if one is None or other is None:
        return one is other
    return _plain_part(one) == _plain_part(other)


@lru_cache(maxsize=8192)
def _plain_part(name: str) -> str:
    words = _UNITED_STATES.sub("united states", _PART_ENDINGS.sub("", _FOOTNOTES.sub(" ", name.casefold())))
    return "".join(mark for mark in words.replace("&", "and") if mark.isalnum())


_FOOTNOTES = re.compile(r"\(\w{1,2}\)|[*†‡]")
_UNITED_STATES = re.compile(r"^\s*(?:u\.s\.?(?:a\.?)?|usa?)\s*$")
_PART_ENDINGS = re.compile(r"\s+(?:segments?|members?)\s*$")


def covers_period(fact: Fact, slot: Slot, home: Statement | None) -> bool:
    """Whether the fact's period is the slot's.

    A quarter's cash flows are printed for the year to date only: those of the first quarter are its own.
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
