"""Accounting identities of a filing's statements: a failure means a misread figure or an unusual filing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from itertools import combinations, product
from typing import NamedTuple

from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.figure_agreement import last_place
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.runs import runs_of


@dataclass(frozen=True, slots=True)
class Column:
    """One period of one statement."""

    period: FactPeriod
    facts: tuple[Fact, ...]
    """In the order of pages and lines; consolidated company only."""

    def facts_of(self, *metrics: str) -> tuple[Fact, ...]:
        """Return its facts of these metrics, in the order of the metrics, then of the lines; at most four of each."""
        return tuple(fact for metric in metrics for fact in [each for each in self.facts if each.metric == metric][:4])

    def between(self, first: Fact, last: Fact) -> tuple[Fact, ...]:
        """Return amounts of money printed on lines between `first` and `last`."""
        above, below = place_of(first), place_of(last)
        return tuple(fact for fact in self.facts if above < place_of(fact) < below and fact.unit == "USD")


def statement_columns(facts: Iterable[Fact], statement: Statement) -> tuple[Column, ...]:
    """Return the columns of a filing's `statement`, by page, then left to right; adjacent pages are one statement.

    In a statement of durations, an instant (cash dated by its tag) belongs to the column that it is printed in.
    """
    whole = [fact for fact in facts if fact.statement is statement and fact.scope is None]
    whole.sort(key=lambda fact: (fact.page, fact.line, fact.box.x0))
    columns: list[Column] = []
    for sheet in runs_of(whole, lambda run, fact: fact.page - run[-1].page > 1):
        by_period: dict[FactPeriod, list[Fact]] = {}
        for fact in sheet:
            of_column = fact
            if statement is not Statement.BALANCE_SHEET and not fact.period.months:
                beside = [other for other in sheet if other.page == fact.page and other.period.months]
                if near := min(beside, key=lambda other: (abs(other.box.x1 - fact.box.x1), other.box.x1), default=None):
                    of_column = replace(fact, period=near.period)
            by_period.setdefault(replace(of_column.period, end=None), []).append(of_column)
        for held in by_period.values():
            dated = next((fact.period for fact in held if fact.period.end is not None), held[0].period)
            columns.append(Column(dated, tuple(held)))
    return tuple(columns)


def place_of(fact: Fact) -> tuple[int, int]:
    """Return (page, line), both from 0."""
    return fact.page, fact.line


class Outcome(StrEnum):
    """The result of a check."""

    HOLDS = "holds"
    FAILS = "fails"
    """A figure was misread, or the filing is inconsistent there; compare with the page."""
    NOT_CHECKABLE = "not checkable"
    """A figure that the check needs is missing."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure compared by a check."""

    label: str
    """As printed, with the heading above where the row's words alone are ambiguous."""
    value: Decimal
    """As printed, in base units."""
    scale: int
    """Factor from the printed amount to base units."""
    unit: str
    page: int
    """0-based."""
    line: int
    """From 0."""
    weight: int = 1
    """1 if added, -1 if subtracted, 0 for the expected total."""


@dataclass(frozen=True, slots=True)
class Check:
    """One identity of one column, and whether the printed figures satisfy it."""

    name: str
    """`balance`, `liabilities and equity`, `cash`, `cash flows`, `opening cash`,
    `gross profit`, `income after taxes`, `net income`, `basic earnings per share`, `diluted earnings per share`."""
    period: FactPeriod | None
    """None where no column of the filing can be checked."""
    figures: tuple[Figure, ...]
    """Figures that are added or subtracted (or multiplied: earnings per share and shares), then the expected total."""
    difference: Decimal | None
    """The computed minus the printed total, in base units; None where not checkable."""
    tolerance: Decimal
    """The largest difference that rounding explains, in base units."""
    outcome: Outcome
    sentence: str
    """A sentence for people, without figures and pages: what is compared and the result, or what is missing."""

    @property
    def pages(self) -> tuple[int, ...]:
        """Pages of the figures, 0-based, ascending; empty where there are none."""
        return tuple(sorted({figure.page for figure in self.figures}))


class Sum(NamedTuple):
    """One variant of a check: the weighted `parts` should add up to `whole`."""

    parts: tuple[tuple[Fact, int], ...]
    whole: Fact


def run_check(name: str, period: FactPeriod, sums: Iterable[Sum]) -> Check | None:
    """Return the first of `sums` that matches, otherwise the first as a failed check; None where there is none.

    Filers order and sign the rows around a total in several ways; misread figures match one of them only by chance.
    """
    first: Check | None = None
    for parts, whole in sums:
        difference = sum((fact.value * weight for fact, weight in parts), -whole.value)
        # Half a printed step for every figure, because each is rounded independently.
        tolerance = sum((last_place(fact) for fact, _ in parts), last_place(whole)) / 2
        holds = abs(difference) <= tolerance
        if holds or first is None:
            added = " + ".join(fact.label for fact, weight in parts if weight > 0)
            taken = "".join(f" - {fact.label}" for fact, weight in parts if weight < 0)
            said = f"{added}{taken} {'is' if holds else 'should be'} {whole.label}."
            figures = tuple(figure_of(fact, weight) for fact, weight in (*parts, (whole, 0)))
            outcome = Outcome.HOLDS if holds else Outcome.FAILS
            first = Check(name, period, figures, difference, tolerance, outcome, said)
        if holds:
            break
    return first


def not_checkable(name: str, period: FactPeriod | None, why: str, facts: Sequence[Fact] = ()) -> Check:
    """Return a check that lacks a figure; `why` says which, as a clause without a period, and `facts` are available."""
    figures = tuple(figure_of(fact, 1) for fact in facts)
    return Check(name, period, figures, None, Decimal(0), Outcome.NOT_CHECKABLE, f"Cannot be checked: {why}.")


def figure_of(fact: Fact, weight: int) -> Figure:
    """Return a fact as a figure of a check."""
    return Figure(fact.label, fact.value, fact.scale, fact.unit, fact.page, fact.line, weight)


def check_facts(facts: Sequence[Fact]) -> tuple[Check, ...]:
    """Return the checks of one filing's primary statements, column by column: balance sheet, cash flow, income.

    `balance` and `cash` are always included, as not checkable with the reason where no column can be checked.
    """
    kinds = (Statement.BALANCE_SHEET, Statement.CASH_FLOW, Statement.INCOME)
    balance, cash, income = (statement_columns(facts, statement) for statement in kinds)
    return (
        *_or_reason("balance", "balance sheet", balance, _balance_checks(balance)),
        *_or_reason("cash", "cash flow statement", cash, _cash_checks(cash)),
        *(check for check in _income_checks(income) if check),
        *(check for column in cash if (check := _net_income(column, income))),
    )


def _or_reason(name: str, statement: str, columns: Sequence[Column], checks: Iterator[Check | None]) -> Iterator[Check]:
    """Yield `checks` and, where none of them is called `name`, the reason."""
    found = [check for check in checks if check]
    yield from found
    if not any(check.name == name for check in found):
        unread = f"none of the {statement}'s totals was read, only rows above them"
        rows = columns[0].facts[-1:] if columns else ()
        yield not_checkable(name, None, unread if columns else f"no {statement} was found", rows)


_Parts = tuple[tuple[Fact, int], ...]


def _sums(base: _Parts, apart: Sequence[Fact], whole: Fact, signs: Sequence[int] = (1,)) -> Iterator[Sum]:
    """Yield sums of `base` and any of the rows `apart`, each with one of `signs`; fewer further rows come first."""
    for size in range(len(apart) + 1):
        for chosen in combinations(apart, size):
            for weights in product(signs, repeat=size):
                yield Sum((*base, *zip(chosen, weights, strict=True)), whole)


_ROWS_TRIED = 4
"""Most rows between the totals that may be part of a sum; with more, misread figures could match by chance."""


def _balance_checks(columns: Sequence[Column]) -> Iterator[Check | None]:
    for column in columns:
        yield _balance(column)
        totals = column.facts_of("total_liabilities_and_equity")
        claims = (each for whole in totals for each in _claim_sums(column, whole))
        yield run_check("liabilities and equity", column.period, claims)


def _balance(column: Column) -> Check | None:
    """Check that total assets equal total liabilities and equity, or the sum of its parts where that is not printed."""
    assets, total = column.facts_of("total_assets"), column.facts_of("total_liabilities_and_equity")
    if assets and total:
        return run_check("balance", column.period, (Sum(((each, 1),), whole) for each, whole in product(assets, total)))
    made = run_check("balance", column.period, (each for whole in assets for each in _claim_sums(column, whole)))
    held = (*assets[:1], *total[:1])
    if made is not None or not held:
        return made
    missing = "total liabilities and equity" if assets else "total assets"
    return not_checkable("balance", column.period, f"no {missing} was read", held)


def _claim_sums(column: Column, whole: Fact) -> Iterator[Sum]:
    """Yield sums of liabilities and equity; redeemable and other noncontrolling interests may count between them."""
    interests = column.facts_of("redeemable_noncontrolling_interests", "noncontrolling_interests")
    liabilities, equity = column.facts_of("total_liabilities"), column.facts_of("total_equity", "shareholders_equity")
    for owed, owned in product(liabilities, equity):
        apart = dict.fromkeys((*interests, *column.between(owed, owned)[:_CLAIMS_TRIED]))
        yield from _sums(((owed, 1), (owned, 1)), list(apart), whole)


_CLAIMS_TRIED = 6


def _cash_checks(columns: Sequence[Column]) -> Iterator[Check | None]:
    for column in columns:
        yield _closing_cash(column)
        yield run_check("cash flows", column.period, _flow_sums(column))
        before = [other for other in columns if _is_year_before(other, column)]
        carried = (each for other in before for each in _carried_sums(column, other))
        yield run_check("opening cash", column.period, carried)


def _closing_cash(column: Column) -> Check | None:
    """Check that opening cash and the net change add up to closing cash; None for a column with none of the three."""
    opening, closing = _cash(column, closing=False), _cash(column, closing=True)
    change = column.facts_of("net_change_in_cash")
    if opening and change and closing:
        return run_check("cash", column.period, _closing_sums(column, opening, change, closing))
    held = (*opening[:1], *change[:1], *closing[:1])
    if not held:
        return None
    named = (("opening cash", opening), ("net change in cash", change), ("closing cash", closing))
    missing = " and no ".join(name for name, found in named if not found)
    return not_checkable("cash", column.period, f"no {missing} was read on the cash flow statement", held)


def _closing_sums(
    column: Column, opening: Sequence[Fact], change: Sequence[Fact], closing: Sequence[Fact]
) -> Iterator[Sum]:
    """Yield sums in the order of rows: rows between the net change and the cash are not part of that change."""
    effects = column.facts_of("exchange_rate_effect_on_cash")
    for net, old, new in product(change, opening, closing):
        rows = sorted((net, old, new), key=place_of)
        apart = [fact for fact in column.between(rows[0], rows[2]) if place_of(fact) > place_of(net)]
        apart = [fact for fact in apart if fact not in (*opening, *change, *closing)]
        base = ((old, 1), (net, 1))
        yield Sum((*base, *((fact, 1) for fact in apart if fact in effects)), new)
        yield from _sums(base, apart[:_ROWS_TRIED], new, (1, -1))
        yield from (Sum((*base, (effect, 1)), new) for effect in effects)


def _flow_sums(column: Column) -> Iterator[Sum]:
    """Yield sums of the three flows to the net change, in the order of rows: those right above it are part of it."""
    metrics = ("cash_from_operations", "cash_from_investing", "cash_from_financing", "net_change_in_cash")
    for *flows, net in product(*map(column.facts_of, metrics)):
        base = tuple((flow, 1) for flow in flows)
        apart = column.between(max(flows, key=place_of), net)
        yield Sum((*base, *((fact, 1) for fact in apart)), net)
        others = column.facts_of("exchange_rate_effect_on_cash", "cash_from_discontinued_operations")
        others = tuple(fact for fact in others if fact not in apart)
        yield from _sums(base, [*apart[-_ROWS_TRIED:], *others[:_ROWS_TRIED]], net)


def _carried_sums(column: Column, before: Column) -> Iterator[Sum]:
    for old, new in product(_cash(before, closing=True), _cash(column, closing=False)):
        yield Sum(((old, 1),), new)
        # Cash held for sale, taken off at the end of one year, is part of the opening cash of the next.
        for net in before.facts_of("net_change_in_cash"):
            above = [fact for fact in before.facts if place_of(fact) < place_of(net) and fact.metric is None]
            yield from (Sum(((old, 1), (fact, -1)), new) for fact in above[-_ROWS_TRIED:])


def _cash(column: Column, *, closing: bool) -> tuple[Fact, ...]:
    """Return opening or closing cash; where it is tagged, both are one concept on two days."""
    cash = column.facts_of("cash_at_beginning_of_period", "cash_at_end_of_period", "cash_and_cash_equivalents")
    days = [(fact, fact.tag.end) for fact in cash if fact.tag and fact.tag.start is None and fact.tag.end is not None]
    if not days:
        return column.facts_of("cash_at_end_of_period" if closing else "cash_at_beginning_of_period")
    return tuple(fact for fact, end in days if (end == column.period.end) is closing)


def _is_year_before(other: Column, column: Column) -> bool:
    """Return whether `other` is the year before `column`, without a transition period in between."""
    years = all(each.period.months == 12 and each.period.quarter is None for each in (other, column))
    if not years or other.period.fiscal_year != column.period.fiscal_year - 1:
        return False
    end, other_end = column.period.end, other.period.end
    return end is None or other_end is None or abs((end - other_end).days - 365) <= _DAYS_A_YEAR_VARIES


_DAYS_A_YEAR_VARIES = 10


_RESULTS = ("net_income_from_continuing_operations", "net_income", "net_income_attributable_to_parent")
_RESULT_ROWS_TRIED = 3


def _income_checks(columns: Sequence[Column]) -> Iterator[Check | None]:
    # Taxes are a deduction, printed negative in a profitable year, where that makes more columns add up.
    by_sign = [
        [run_check("income after taxes", column.period, _tax_sums(column, sign)) for column in columns]
        for sign in (-1, 1)
    ]
    held = max(by_sign, key=lambda checks: sum(each is not None and each.outcome is Outcome.HOLDS for each in checks))
    for column, taxed in zip(columns, held, strict=True):
        yield run_check("gross profit", column.period, _gross_sums(column))
        yield taxed
        yield from (_per_share(column, kind) for kind in ("basic", "diluted"))


def _gross_sums(column: Column) -> Iterator[Sum]:
    """Yield sums in which rows between cost of revenue and gross profit may be deducted too, such as depreciation."""
    for revenue, cost, profit in product(*map(column.facts_of, ("revenue", "cost_of_revenue", "gross_profit"))):
        sign = -1 if cost.value > 0 else 1
        apart = column.between(cost, profit)[:_RESULT_ROWS_TRIED]
        yield from _sums(((revenue, 1), (cost, sign)), apart, profit, (sign,))


def _tax_sums(column: Column, sign: int) -> Iterator[Sum]:
    """Yield sums of income before taxes, taxes and the rows below them, such as equity-method income."""
    taxes = column.facts_of("income_tax_expense", "income_tax_benefit")
    for pretax, tax, result in product(column.facts_of("income_before_taxes"), taxes, column.facts_of(*_RESULTS)):
        if place_of(pretax) < place_of(result):
            apart = [fact for fact in column.between(pretax, result) if place_of(fact) != place_of(tax)]
            yield from _sums(((pretax, 1), (tax, sign)), apart[:_RESULT_ROWS_TRIED], result, (1, -1))


def _net_income(column: Column, income: Sequence[Column]) -> Check | None:
    """Check that net income at the top of a cash flow column is printed by the income statement for that period."""
    same = [other for other in income if replace(other.period, end=None) == replace(column.period, end=None)]
    sums = (each for other in same for each in _result_sums(column.facts_of(*_RESULTS), other))
    return run_check("net income", column.period, sums)


def _result_sums(top: Sequence[Fact], income: Column) -> Iterator[Sum]:
    """Yield sums where the cash flow starts before noncontrolling interests or discontinued operations."""
    apart = income.facts_of(
        "net_income_attributable_to_noncontrolling_interests", "income_from_discontinued_operations"
    )
    stated = income.facts_of(*_RESULTS)
    yield from (Sum(((result, 1),), start) for start, result in product(top, stated))
    for start, result, other, sign in product(top, stated, apart, (1, -1)):
        yield Sum(((result, 1), (other, sign)), start)


def _per_share(column: Column, kind: str) -> Check | None:
    """Check that earnings per share times weighted shares is about net income, if shares are of one class."""
    each, shares = column.facts_of(f"{kind}_eps"), column.facts_of(f"weighted_average_shares_{kind}")
    to_common = column.facts_of("net_income_available_to_common")
    results = (*to_common, *column.facts_of(*reversed(_RESULTS)))
    preferred = any(_OTHER_HOLDERS.search(fact.label) for fact in column.facts)
    if len(each) != 1 or len(shares) != 1 or not results or (preferred and not to_common):
        return None
    per_share, count = each[0], shares[0]
    if (per_share.unit, count.unit) != ("USD per share", "shares") or not count.value:
        return None
    computed = per_share.value * count.value
    result = min(results, key=lambda fact: abs(computed - fact.value))
    of_product = abs(count.value) * last_place(per_share) + abs(per_share.value) * last_place(count)
    tolerance = (of_product + last_place(result)) / 2 + _APART[kind] * abs(result.value)
    outcome = Outcome.HOLDS if abs(computed - result.value) <= tolerance else Outcome.FAILS
    # The words of a row alone are ambiguous: `Earnings per share: Basic`.
    named = [": ".join([*(head.rstrip(": ") for head in fact.section[-1:]), fact.label]) for fact in (per_share, count)]
    figures = [replace(figure_of(fact, 1), label=name) for fact, name in zip((per_share, count), named, strict=True)]
    verb = "is" if outcome is Outcome.HOLDS else "should be"
    said = f"{kind.capitalize()} earnings per share x {kind} weighted shares {verb} about {result.label}."
    name = f"{kind} earnings per share"
    figures.append(figure_of(result, 0))
    return Check(name, column.period, tuple(figures), computed - result.value, tolerance, outcome, said)


_APART = {"basic": Decimal("0.05"), "diluted": Decimal("0.25")}
"""Share of net income by which the income of common shares may differ: the part of participating securities and, if
diluted, the interest on notes treated as converted."""
_OTHER_HOLDERS = re.compile(r"\b(?:preferred|preference|accretion|deemed|redeemable|redemption)\b", re.I)
