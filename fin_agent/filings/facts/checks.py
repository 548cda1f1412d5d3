"""Identities that every filing's statements keep: where one does not, a figure was misread or the filing is odd."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from fin_agent.filings.facts.cash_checks import carried_check, closing_cash_check, flows_check
from fin_agent.filings.facts.check import Check, Sum, checked, not_checkable
from fin_agent.filings.facts.columns import Column, statement_columns
from fin_agent.filings.facts.income_checks import income_checks, net_income_check
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.filing import Filing
from fin_agent.vocabulary.page import Statement

_ROWS_TRIED = 6
"""Rows beside the totals that may be part of a sum; more would let misread figures close by chance."""


def checks_of_filing(filing: Filing) -> tuple[Check, ...]:
    """The checks of a filing that was just read."""
    return check_facts(filing.facts)


def check_facts(facts: Sequence[Fact]) -> tuple[Check, ...]:
    """Checks of one filing's primary statements, column by column: balance sheet, cash flow, income statement.

    Only the consolidated company's figures are compared, as printed; a figure that is not printed is not made up.
    `balance` and `cash` are always there: not checkable, with the reason, where no column can be checked. The others
    are there where their figures are printed.
    """
    balance, cash, income = (
        statement_columns(facts, statement)
        for statement in (Statement.BALANCE_SHEET, Statement.CASH_FLOW, Statement.INCOME)
    )
    net_income = (net_income_check(column, income) for column in cash)
    return (
        *_named_or_why("balance", Statement.BALANCE_SHEET, balance, _balance_checks(balance)),
        *_named_or_why("cash", Statement.CASH_FLOW, cash, _cash_checks(cash, balance)),
        *income_checks(income),
        *(check for check in net_income if check is not None),
    )


def _balance_checks(columns: Sequence[Column]) -> Iterator[Check]:
    for column in columns:
        for check in (_balance(column), _claims(column), _current(column)):
            if check is not None:
                yield check


def _balance(column: Column) -> Check | None:
    """Total assets are total liabilities and equity; where that total is not printed, the sum of its parts."""
    assets, total = column.named("total_assets"), column.named("total_liabilities_and_equity")
    if assets and total:
        return checked("balance", column.period, (Sum(((each, 1),), whole) for each, whole in product(assets, total)))
    if assets and not total:
        made = checked("balance", column.period, (each for whole in assets for each in _claim_sums(column, whole)))
        if made is not None:
            return made
    held = (*assets[:1], *total[:1])
    if not held:
        return None
    missing = "total liabilities and equity" if assets else "total assets"
    return not_checkable("balance", column.period, f"no {missing} was read", held)


def _claims(column: Column) -> Check | None:
    """Total liabilities, what stands between them and equity, and equity come to their printed total."""
    totals = column.named("total_liabilities_and_equity")
    return checked(
        "liabilities and equity", column.period, (each for whole in totals for each in _claim_sums(column, whole))
    )


def _claim_sums(column: Column, whole: Fact) -> Iterator[Sum]:
    liabilities = column.named("total_liabilities")
    equity = column.named("total_equity", "shareholders_equity")
    between = column.named("redeemable_noncontrolling_interests")
    minority = column.named("noncontrolling_interests")
    for owed, owned in product(liabilities, equity):
        base = ((owed, 1), (owned, 1))
        apart = tuple((fact, 1) for fact in between)
        if apart:
            yield Sum((*base, *apart), whole)
        yield Sum(base, whole)
        for fact in (*minority, *column.between(owed, owned)[:_ROWS_TRIED]):
            yield Sum((*base, *apart, (fact, 1)), whole)
            yield Sum((*base, (fact, 1)), whole)


def _current(column: Column) -> Check | None:
    """Current and non-current assets come to total assets, where all three are printed."""
    return checked("current and non-current", column.period, _current_sums(column))


def _current_sums(column: Column) -> Iterator[Sum]:
    """Some filers' total of non-current assets leaves out property, printed above it, or the rows below it."""
    parts = product(column.named("current_assets"), column.named("noncurrent_assets"), column.named("total_assets"))
    for current, other, total in parts:
        base = ((current, 1), (other, 1))
        yield Sum(base, total)
        yield Sum((*base, *((fact, 1) for fact in column.between(other, total))), total)
        for fact in column.between(current, other)[:_ROWS_TRIED]:
            yield Sum((*base, (fact, 1)), total)


def _cash_checks(columns: Sequence[Column], balance: Sequence[Column]) -> Iterator[Check]:
    for column in columns:
        for check in (
            closing_cash_check(column, columns, balance),
            flows_check(column),
            carried_check(column, columns),
        ):
            if check is not None:
                yield check


def _named_or_why(
    name: str, statement: Statement, columns: Sequence[Column], checks: Iterator[Check]
) -> Iterator[Check]:
    """`checks`, and where none of them is called `name`, why."""
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
