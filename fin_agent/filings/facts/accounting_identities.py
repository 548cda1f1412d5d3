"""Accounting identities of a filing's statements: a failure means a misread figure or an unusual filing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import combinations, product

from fin_agent.filings.facts.statement_check import (
    Check,
    Column,
    Figure,
    Outcome,
    Sum,
    figure_of,
    not_checkable,
    place_of,
    run_check,
    statement_columns,
)
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.figure_agreement import last_place
from fin_agent.vocabulary.page import Statement

_CASH_ROWS_TRIED = 4
"""Most rows between the totals that may be part of a sum; with more, misread figures could match by chance."""


_DAYS_A_YEAR_VARIES = 10


def closing_cash_check(column: Column, columns: Sequence[Column], balance: Sequence[Column]) -> Check | None:
    """Check that opening cash and the net change add up to closing cash; None for a column with none of the three.

    A row that the column lacks is taken from where else it is printed: the closing cash is the next year's opening
    cash, the opening cash is the previous year's closing cash, both may be the balance sheet's cash, and the net change
    may be a row without a metric. If a sum made this way does not match, the column is not checkable.
    """
    opening, change, closing = _opening(column), column.facts_of("net_change_in_cash"), _closing(column)
    if opening and change and closing:
        return run_check("cash", column.period, _closing_sums(column, opening, change, closing))
    held = (*opening[:1], *change[:1], *closing[:1])
    if not held:
        return None
    named = (("opening cash", opening), ("net change in cash", change), ("closing cash", closing))
    old = opening or _elsewhere(column, columns, balance, years=-1)
    new = closing or _elsewhere(column, columns, balance, years=0)
    net = change or _before_opening(column, opening)
    check = run_check("cash", column.period, (Sum(((a, 1), (b, 1)), c) for a, b, c in product(old, net, new)))
    if check is not None and check.outcome is Outcome.HOLDS:
        return check
    missing = " and no ".join(name for name, found in named if not found)
    return not_checkable("cash", column.period, f"no {missing} was read on the cash flow statement", held)


def flows_check(column: Column) -> Check | None:
    """Check that operating, investing and financing flows (and the exchange-rate effect) add up to the net change."""
    flows = [column.facts_of(f"cash_from_{name}") for name in ("operations", "investing", "financing")]
    change = column.facts_of("net_change_in_cash")
    if not all(flows) or not change:
        return None
    return run_check("cash flows", column.period, _flow_sums(column, flows, change))


def opening_balance_check(column: Column, columns: Sequence[Column]) -> Check | None:
    """Check that opening cash is the closing cash of the previous year's column, where both are printed."""
    before = [other for other in columns if _years_later(other, column, -1)]
    return run_check("opening cash", column.period, (each for other in before for each in _carried_sums(column, other)))


def _carried_sums(column: Column, before: Column) -> Iterator[Sum]:
    for old, new in product(_closing(before), _opening(column)):
        yield Sum(((old, 1),), new)
        # Cash held for sale, taken off at the end of one year, is part of the opening cash of the next.
        for net in before.facts_of("net_change_in_cash"):
            above = [fact for fact in before.facts if place_of(fact) < place_of(net) and fact.metric is None]
            for fact in above[-_CASH_ROWS_TRIED:]:
                yield Sum(((old, 1), (fact, -1)), new)


def _opening(column: Column) -> tuple[Fact, ...]:
    dated = _dated_cash(column)
    if dated:
        return tuple(fact for fact in dated if not _at_end(fact, column))
    return column.facts_of("cash_at_beginning_of_period")


def _closing(column: Column) -> tuple[Fact, ...]:
    dated = _dated_cash(column)
    if dated:
        return tuple(fact for fact in dated if _at_end(fact, column))
    return column.facts_of("cash_at_end_of_period")


def _dated_cash(column: Column) -> list[Fact]:
    """Return cash whose tag has a date: opening and closing cash are one concept on two days."""
    cash = column.facts_of("cash_at_beginning_of_period", "cash_at_end_of_period", "cash_and_cash_equivalents")
    return [fact for fact in cash if fact.tag is not None and fact.tag.start is None and fact.tag.end is not None]


def _at_end(fact: Fact, column: Column) -> bool:
    return fact.tag is not None and fact.tag.end == column.period.end


def _closing_sums(
    column: Column, opening: Sequence[Fact], change: Sequence[Fact], closing: Sequence[Fact]
) -> Iterator[Sum]:
    """Yield sums in the order of rows: rows between the net change and the cash are not part of that change."""
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
        for chosen in _subsets(apart[:_CASH_ROWS_TRIED]):
            yield Sum((*base, *((fact, 1) for fact in chosen)), new)
            if chosen:
                yield Sum((*base, *((fact, -1) for fact in chosen)), new)
        for effect in column.facts_of("exchange_rate_effect_on_cash"):
            yield Sum((*base, (effect, 1)), new)


def _flow_sums(column: Column, flows: Sequence[Sequence[Fact]], change: Sequence[Fact]) -> Iterator[Sum]:
    """Yield sums in the order of rows: rows between the last flow and the net change are part of that change."""
    for operations, investing, financing, net in product(*flows, change):
        three = [(operations, 1), (investing, 1), (financing, 1)]
        last = max((operations, investing, financing), key=place_of)
        apart = column.between(last, net)
        yield Sum((*three, *((fact, 1) for fact in apart)), net)
        effects = [fact for fact in column.facts_of("exchange_rate_effect_on_cash") if fact not in apart]
        others = [*effects, *column.facts_of("cash_from_discontinued_operations")]
        for chosen in _subsets([*apart[-_CASH_ROWS_TRIED:], *others[:_CASH_ROWS_TRIED]]):
            yield Sum((*three, *((fact, 1) for fact in chosen)), net)


def _subsets(facts: Sequence[Fact]) -> Iterator[tuple[Fact, ...]]:
    for size in range(len(facts) + 1):
        yield from combinations(facts, size)


def _elsewhere(column: Column, columns: Sequence[Column], balance: Sequence[Column], *, years: int) -> list[Fact]:
    """Return cash at the end of the column's year (`years` 0) or the year before (-1), printed outside the column."""
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
        found += [fact for sheet in sheets for fact in sheet.facts_of("cash_and_cash_equivalents")]
    return found


def _before_opening(column: Column, opening: Sequence[Fact]) -> list[Fact]:
    """Return the amount on the line above the opening cash, whatever its label."""
    above = [fact for old in opening for fact in column.facts if place_of(fact) < place_of(old) and fact.unit == "USD"]
    return above[-1:]


def _years_later(other: Column, column: Column, years: int) -> bool:
    """Return whether `other` is the year that many years later, without a transition period in between."""
    if not (_is_year(other) and _is_year(column)) or other.period.fiscal_year != column.period.fiscal_year + years:
        return False
    end, other_end = column.period.end, other.period.end
    return end is None or other_end is None or abs((other_end - end).days - 365 * years) <= _DAYS_A_YEAR_VARIES


def _is_year(column: Column) -> bool:
    return column.period.months == 12 and column.period.quarter is None


_RESULTS = ("net_income_from_continuing_operations", "net_income", "net_income_attributable_to_parent")
_ROWS_TRIED = 3
"""Most rows between income before taxes and net income (equity-method income, discontinued operations) that may
count."""
_APART = {"basic": Decimal("0.05"), "diluted": Decimal("0.25")}
"""Share of net income by which the income of common shares may differ: the part of participating securities and, if
diluted, the interest on notes treated as converted."""
_OTHER_HOLDERS = re.compile(r"\b(?:preferred|preference|accretion|deemed|redeemable|redemption)\b", re.I)


def income_checks(columns: Sequence[Column]) -> Iterator[Check]:
    """Yield the checks that the figures of an income statement's columns allow."""
    sign = _tax_sign(columns)
    for column in columns:
        found = (_gross_profit(column), _after_taxes(column, sign))
        yield from (check for check in found if check is not None)
        for kind in ("basic", "diluted"):
            check = _per_share(column, kind)
            if check is not None:
                yield check


def net_income_check(column: Column, income: Sequence[Column]) -> Check | None:
    """Check that net income at the top of a cash flow column is printed by the income statement for that period."""
    top = column.facts_of(*_RESULTS)
    same = [other for other in income if _same(column, other)]
    return run_check("net income", column.period, (each for other in same for each in _result_sums(top, other)))


def _result_sums(top: Sequence[Fact], income: Column) -> Iterator[Sum]:
    """Yield sums where the cash flow starts before noncontrolling interests or discontinued operations."""
    apart = income.facts_of(
        "net_income_attributable_to_noncontrolling_interests", "income_from_discontinued_operations"
    )
    stated = income.facts_of(*_RESULTS)
    for start, result in product(top, stated):
        yield Sum(((result, 1),), start)
    for start, result, other, sign in product(top, stated, apart, (1, -1)):
        yield Sum(((result, 1), (other, sign)), start)


def _gross_profit(column: Column) -> Check | None:
    parts = product(column.facts_of("revenue"), column.facts_of("cost_of_revenue"), column.facts_of("gross_profit"))
    return run_check("gross profit", column.period, _gross_sums(column, parts))


def _gross_sums(column: Column, parts: Iterator[tuple[Fact, ...]]) -> Iterator[Sum]:
    """Yield sums in which rows between cost of revenue and gross profit may be deducted too, such as depreciation."""
    for revenue, cost, profit in parts:
        sign = -1 if cost.value > 0 else 1
        yield Sum(((revenue, 1), (cost, sign)), profit)
        apart = column.between(cost, profit)[:_ROWS_TRIED]
        for size in range(1, len(apart) + 1):
            for chosen in combinations(apart, size):
                yield Sum(((revenue, 1), (cost, sign), *((fact, sign) for fact in chosen)), profit)


def _tax_sign(columns: Sequence[Column]) -> int:
    """Return 1 where the statement shows taxes as a deduction (printed negative in a profitable year), otherwise -1."""
    closing = {
        sign: sum(1 for column in columns if any(each.closes for each in _tax_sums(column, sign))) for sign in (-1, 1)
    }
    return 1 if closing[1] > closing[-1] else -1


def _after_taxes(column: Column, sign: int) -> Check | None:
    """Check that income before taxes, taxes and the rows below them add up to net income."""
    return run_check("income after taxes", column.period, _tax_sums(column, sign))


def _tax_sums(column: Column, sign: int) -> Iterator[Sum]:
    taxes = column.facts_of("income_tax_expense", "income_tax_benefit")
    for pretax, tax, result in product(column.facts_of("income_before_taxes"), taxes, column.facts_of(*_RESULTS)):
        if not place_of(pretax) < place_of(result):
            continue
        apart = [fact for fact in column.between(pretax, result) if place_of(fact) != place_of(tax)][:_ROWS_TRIED]
        for size in range(len(apart) + 1):
            for chosen in combinations(apart, size):
                for weights in product((1, -1), repeat=size):
                    yield Sum(((pretax, 1), (tax, sign), *zip(chosen, weights, strict=True)), result)


def _per_share(column: Column, kind: str) -> Check | None:
    """Check that earnings per share times weighted shares is about net income, where there is one class of shares.

    Earnings per share apply to common shares: a column with preferred dividends is skipped unless it prints the income
    available to common shares. Participating securities may receive a part.
    """
    each, shares = column.facts_of(f"{kind}_eps"), column.facts_of(f"weighted_average_shares_{kind}")
    to_common = column.facts_of("net_income_available_to_common")
    results = (*to_common, *column.facts_of(*reversed(_RESULTS)))
    preferred = any(_OTHER_HOLDERS.search(fact.label) for fact in column.facts)
    if len(each) != 1 or len(shares) != 1 or not results or (preferred and not to_common):
        return None
    per_share, count = each[0], shares[0]
    if (per_share.unit, count.unit) != ("USD per share", "shares") or not count.value:
        return None
    product_of_both = per_share.value * count.value
    result = min(results, key=lambda fact: abs(product_of_both - fact.value))
    difference = product_of_both - result.value
    rounding = (
        abs(count.value) * last_place(per_share) + abs(per_share.value) * last_place(count) + last_place(result)
    ) / 2
    tolerance = rounding + _APART[kind] * abs(result.value)
    outcome = Outcome.HOLDS if abs(difference) <= tolerance else Outcome.FAILS
    figures = (_below_heading(per_share), _below_heading(count), figure_of(result, 0))
    verb = "is" if outcome is Outcome.HOLDS else "should be"
    said = f"{kind.capitalize()} earnings per share x {kind} weighted shares {verb} about {result.label}."
    return Check(f"{kind} earnings per share", column.period, figures, difference, tolerance, outcome, said)


def _below_heading(fact: Fact) -> Figure:
    """Return the figure with its heading, as in `Earnings per share: Basic`: the row's words alone are ambiguous."""
    figure = figure_of(fact, 1)
    return replace(figure, label=f"{fact.section[-1].rstrip(': ')}: {fact.label}") if fact.section else figure


def _same(column: Column, other: Column) -> bool:
    one, two = column.period, other.period
    return (one.fiscal_year, one.quarter, one.months) == (two.fiscal_year, two.quarter, two.months)


_BALANCE_ROWS_TRIED = 6
_MEZZANINE_ROWS_TRIED = 5
"""Most rows next to the totals that may be part of a sum; with more, misread figures could match by chance."""


def check_facts(facts: Sequence[Fact]) -> tuple[Check, ...]:
    """Return the checks of one filing's primary statements, column by column: balance sheet, cash flow, income.

    Only printed figures of the consolidated company are compared. `balance` and `cash` are always included, as not
    checkable with the reason where no column can be checked; the others only where their figures are printed.
    """
    balance, cash, income = (
        statement_columns(facts, statement)
        for statement in (Statement.BALANCE_SHEET, Statement.CASH_FLOW, Statement.INCOME)
    )
    net_income = (net_income_check(column, income) for column in cash)
    return (
        *_checks_or_reason("balance", Statement.BALANCE_SHEET, balance, _balance_checks(balance)),
        *_checks_or_reason("cash", Statement.CASH_FLOW, cash, _cash_checks(cash, balance)),
        *income_checks(income),
        *(check for check in net_income if check is not None),
    )


def _balance_checks(columns: Sequence[Column]) -> Iterator[Check]:
    for column in columns:
        for check in (_balance(column), _claims(column), _current(column)):
            if check is not None:
                yield check


def _balance(column: Column) -> Check | None:
    """Check that total assets equal total liabilities and equity, or the sum of its parts where that is not printed."""
    assets, total = column.facts_of("total_assets"), column.facts_of("total_liabilities_and_equity")
    if assets and total:
        return run_check("balance", column.period, (Sum(((each, 1),), whole) for each, whole in product(assets, total)))
    if assets and not total:
        made = run_check("balance", column.period, (each for whole in assets for each in _claim_sums(column, whole)))
        if made is not None:
            return made
    held = (*assets[:1], *total[:1])
    if not held:
        return None
    missing = "total liabilities and equity" if assets else "total assets"
    return not_checkable("balance", column.period, f"no {missing} was read", held)


def _claims(column: Column) -> Check | None:
    """Check that total liabilities, the rows between them and equity, and equity add up to their printed total."""
    totals = column.facts_of("total_liabilities_and_equity")
    return run_check(
        "liabilities and equity", column.period, (each for whole in totals for each in _claim_sums(column, whole))
    )


def _claim_sums(column: Column, whole: Fact) -> Iterator[Sum]:
    liabilities = column.facts_of("total_liabilities")
    equity = column.facts_of("total_equity", "shareholders_equity")
    between = column.facts_of("redeemable_noncontrolling_interests")
    minority = column.facts_of("noncontrolling_interests")
    for owed, owned in product(liabilities, equity):
        base = ((owed, 1), (owned, 1))
        apart = tuple((fact, 1) for fact in between)
        if apart:
            yield Sum((*base, *apart), whole)
        yield Sum(base, whole)
        for fact in (*minority, *column.between(owed, owned)[:_BALANCE_ROWS_TRIED]):
            yield Sum((*base, *apart, (fact, 1)), whole)
            yield Sum((*base, (fact, 1)), whole)
        # Redeemable interests are right below the liabilities; their names differ between filers.
        mezzanine = [(fact, 1) for fact in column.between(owed, owned)[:_MEZZANINE_ROWS_TRIED]]
        for count in range(2, len(mezzanine) + 1):
            yield Sum((*base, *mezzanine[:count]), whole)


def _current(column: Column) -> Check | None:
    """Check that current and non-current assets add up to total assets, where all three are printed."""
    return run_check("current and non-current", column.period, _current_sums(column))


def _current_sums(column: Column) -> Iterator[Sum]:
    """Yield sums; some totals of non-current assets exclude property, printed above, or the rows below."""
    parts = product(
        column.facts_of("current_assets"), column.facts_of("noncurrent_assets"), column.facts_of("total_assets")
    )
    for current, other, total in parts:
        base = ((current, 1), (other, 1))
        yield Sum(base, total)
        yield Sum((*base, *((fact, 1) for fact in column.between(other, total))), total)
        for fact in column.between(current, other)[:_BALANCE_ROWS_TRIED]:
            yield Sum((*base, (fact, 1)), total)


def _cash_checks(columns: Sequence[Column], balance: Sequence[Column]) -> Iterator[Check]:
    for column in columns:
        for check in (
            closing_cash_check(column, columns, balance),
            flows_check(column),
            opening_balance_check(column, columns),
        ):
            if check is not None:
                yield check


def _checks_or_reason(
    name: str, statement: Statement, columns: Sequence[Column], checks: Iterator[Check]
) -> Iterator[Check]:
    """Yield `checks` and, where none of them is called `name`, the reason."""
    named = False
    for check in checks:
        named = named or check.name == name
        yield check
    if named:
        return
    called = "balance sheet" if statement is Statement.BALANCE_SHEET else "cash flow statement"
    if columns:
        why = f"none of the {called}'s totals was read, only rows above them"
        yield not_checkable(name, None, why, columns[0].facts[-1:])
    else:
        yield not_checkable(name, None, f"no {called} was found")
