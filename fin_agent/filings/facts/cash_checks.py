"""Checks of the cash flow statement: opening and closing cash, the three flows, one year's end and the next's start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from fin_agent.filings.facts.check import Check, Outcome, Sum, checked, not_checkable
from fin_agent.filings.facts.columns import Column, place_of
from fin_agent.vocabulary.fact import Fact

_ROWS_TRIED = 4
"""Rows between the totals that may or may not be part of a sum; more would let misread figures close by chance."""


_DAYS_A_YEAR_VARIES = 10


def closing_cash_check(column: Column, columns: Sequence[Column], balance: Sequence[Column]) -> Check | None:
    """Opening cash and the net change come to the closing cash; None for a column that prints none of the three.

    A row that the column lacks is looked for where else it is printed: the closing cash is the next year's opening
    cash, the opening cash the year before's closing cash, both may be the balance sheet's cash, and the net change may
    be a row that has no metric. A sum made in such a way that does not close says nothing.
    """
    opening, change, closing = _opening(column), column.named("net_change_in_cash"), _closing(column)
    if opening and change and closing:
        return checked("cash", column.period, _closing_sums(column, opening, change, closing))
    held = (*opening[:1], *change[:1], *closing[:1])
    if not held:
        return None
    named = (("opening cash", opening), ("net change in cash", change), ("closing cash", closing))
    old = opening or _elsewhere(column, columns, balance, years=-1)
    new = closing or _elsewhere(column, columns, balance, years=0)
    net = change or _before_opening(column, opening)
    check = checked("cash", column.period, (Sum(((a, 1), (b, 1)), c) for a, b, c in product(old, net, new)))
    if check is not None and check.outcome is Outcome.HOLDS:
        return check
    missing = " and no ".join(name for name, found in named if not found)
    return not_checkable("cash", column.period, f"no {missing} was read on the cash flow statement", held)


def flows_check(column: Column) -> Check | None:
    """Operating, investing and financing flows (and the exchange-rate effect) come to the net change."""
    flows = [column.named(f"cash_from_{name}") for name in ("operations", "investing", "financing")]
    change = column.named("net_change_in_cash")
    if not all(flows) or not change:
        return None
    return checked("cash flows", column.period, _flow_sums(column, flows, change))


def carried_check(column: Column, columns: Sequence[Column]) -> Check | None:
    """Opening cash is the closing cash of the column of the year before, where both are printed."""
    before = [other for other in columns if _years_later(other, column, -1)]
    return checked("opening cash", column.period, (each for other in before for each in _carried_sums(column, other)))


def _carried_sums(column: Column, before: Column) -> Iterator[Sum]:
    for old, new in product(_closing(before), _opening(column)):
        yield Sum(((old, 1),), new)
        # Cash held for sale, taken off at the end of one year, is part of the opening cash of the next.
        for net in before.named("net_change_in_cash"):
            above = [fact for fact in before.facts if place_of(fact) < place_of(net) and fact.metric is None]
            for fact in above[-_ROWS_TRIED:]:
                yield Sum(((old, 1), (fact, -1)), new)


def _opening(column: Column) -> tuple[Fact, ...]:
    dated = _dated_cash(column)
    if dated:
        return tuple(fact for fact in dated if not _at_end(fact, column))
    return column.named("cash_at_beginning_of_period")


def _closing(column: Column) -> tuple[Fact, ...]:
    dated = _dated_cash(column)
    if dated:
        return tuple(fact for fact in dated if _at_end(fact, column))
    return column.named("cash_at_end_of_period")


def _dated_cash(column: Column) -> list[Fact]:
    """Cash whose tag says of which day it is: opening and closing cash are one concept, on two days."""
    cash = column.named("cash_at_beginning_of_period", "cash_at_end_of_period", "cash_and_cash_equivalents")
    return [fact for fact in cash if fact.tag is not None and fact.tag.start is None and fact.tag.end is not None]


def _at_end(fact: Fact, column: Column) -> bool:
    return fact.tag is not None and fact.tag.end == column.period.end


def _closing_sums(
    column: Column, opening: Sequence[Fact], change: Sequence[Fact], closing: Sequence[Fact]
) -> Iterator[Sum]:
    """As the rows stand first: whatever is printed between the net change and the cash is not part of that change."""
    for net, old, new in product(change, opening, closing):
        known = {*map(place_of, opening), *map(place_of, closing), *map(place_of, change)}
        first, last = sorted((net, old, new), key=place_of)[0::2]
        apart = [
            fact
            for fact in column.between(first, last)
            if place_of(fact) not in known and place_of(fact) > place_of(net)
        ]
        outside = [fact for fact in apart if fact.metric == "exchange_rate_effect_on_cash"]
        base = ((old, 1), (net, 1))
        yield Sum((*base, *((fact, 1) for fact in outside)), new)
        for chosen in _subsets(apart[:_ROWS_TRIED]):
            yield Sum((*base, *((fact, 1) for fact in chosen)), new)
            if chosen:
                yield Sum((*base, *((fact, -1) for fact in chosen)), new)
        for effect in column.named("exchange_rate_effect_on_cash"):
            yield Sum((*base, (effect, 1)), new)


def _flow_sums(column: Column, flows: Sequence[Sequence[Fact]], change: Sequence[Fact]) -> Iterator[Sum]:
    """As the rows stand first: what is printed between the last flow and the net change is part of that change."""
    for operations, investing, financing, net in product(*flows, change):
        three = [(operations, 1), (investing, 1), (financing, 1)]
        last = max((operations, investing, financing), key=place_of)
        apart = column.between(last, net)
        yield Sum((*three, *((fact, 1) for fact in apart)), net)
        effects = [fact for fact in column.named("exchange_rate_effect_on_cash") if fact not in apart]
        others = [*effects, *column.named("cash_from_discontinued_operations")]
        for chosen in _subsets([*apart[-_ROWS_TRIED:], *others[:_ROWS_TRIED]]):
            yield Sum((*three, *((fact, 1) for fact in chosen)), net)


def _subsets(facts: Sequence[Fact]) -> Iterator[tuple[Fact, ...]]:
    for size in range(len(facts) + 1):
        yield from combinations(facts, size)


def _elsewhere(column: Column, columns: Sequence[Column], balance: Sequence[Column], *, years: int) -> list[Fact]:
    """Cash at the end of the column's year (`years` 0) or of the year before (-1), not printed in the column itself."""
    year = column.period.fiscal_year + years
    beside = columns if _is_year(column) else ()
    found = [
        fact
        for other in beside
        for fact in (_opening(other) if years == 0 else _closing(other))
        if _years_later(other, column, 1 if years == 0 else -1)
    ]
    if _is_year(column):
        sheets = [other for other in balance if (other.period.fiscal_year, other.period.quarter) == (year, None)]
        found += [fact for sheet in sheets for fact in sheet.named("cash_and_cash_equivalents")]
    return found


def _before_opening(column: Column, opening: Sequence[Fact]) -> list[Fact]:
    """The amount on the line above the opening cash, whatever it is called."""
    above = [fact for old in opening for fact in column.facts if place_of(fact) < place_of(old) and fact.unit == "USD"]
    return above[-1:]


def _years_later(other: Column, column: Column, years: int) -> bool:
    """Whether `other` is the year that many years after; a transition period between two years parts them."""
    if not (_is_year(other) and _is_year(column)) or other.period.fiscal_year != column.period.fiscal_year + years:
        return False
    end, other_end = column.period.end, other.period.end
    return end is None or other_end is None or abs((other_end - end).days - 365 * years) <= _DAYS_A_YEAR_VARIES


def _is_year(column: Column) -> bool:
    return column.period.months == 12 and column.period.quarter is None
