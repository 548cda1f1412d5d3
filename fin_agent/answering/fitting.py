"""Whether a number of a program is a given fact: its digits, unit, scale, sign, year and place."""

from __future__ import annotations

import re
from decimal import Decimal

from fin_agent.answering.literals import Declaration, Literal, Role
from fin_agent.vocabulary.fact import Fact


def scale_that_fits(literal: Literal, fact: Fact) -> Decimal | None:
    """What takes the literal's variable to base units if the literal is this fact, else None.

    All that the program says of the figure must be true of the fact: the unit, scale, page and line of its comment, and
    its sign, which is the printed one unless the comment says `printed negative`.
    """
    declared = literal.declared or Declaration()
    if not (_unit_fits(declared, fact) and _place_fits(declared, fact) and _sign_fits(literal, declared, fact)):
        return None
    value, amount = abs(literal.value), abs(fact.amount)
    if declared.ratio:
        if fact.unit == "percent":
            return Decimal(1) / 100 if value * 100 == amount else None
        return Decimal(1) if value == amount else None
    if literal.declared_scale is not None and literal.role is Role.FIGURE:
        scale = Decimal(literal.declared_scale)
        if value * literal.multiplier * scale == abs(fact.value):  # the comment tells the product's unit
            return scale
        if value * scale == abs(fact.value):  # the comment tells the literal's unit
            return scale / literal.multiplier
        return None
    if value == amount:
        return Decimal(fact.scale) / literal.multiplier
    return Decimal(1) / literal.multiplier if value == abs(fact.value) else None


def is_declared_as_printed(literal: Literal, fact: Fact) -> bool:
    """False where the comment tells the unit of a product (`382456 / 1000  # USD millions`), not the printed one."""
    return literal.multiplier == 1 or literal.declared_scale in (None, fact.scale)


def year_fits(variable: str | None, fact: Fact) -> bool:
    """False where the variable's name says a year (`revenue_2019`, `revenue_fy19`) that is not the fact's."""
    matches = _YEAR.finditer((variable or "").lower())
    named = {int(match["year"] or f"20{match['short']}") for match in matches}
    period = fact.period
    return not named or not named.isdisjoint(
        {period.fiscal_year, period.end.year if period.end else period.fiscal_year}
    )


_YEAR = re.compile(r"(?<![a-z0-9])(?:(?:fy|cy|y)?(?P<year>(?:19|20)\d\d)|(?:fy|cy)_?(?P<short>\d\d))(?![0-9a-z])")
_ANY_SIGN = frozenset((Role.SUBTRACTED, Role.COMPARED, Role.TEXT))
"""`6489 - 116` takes away a printed (116)."""


def _unit_fits(declared: Declaration, fact: Fact) -> bool:
    return declared.unit in (None, fact.unit) or (declared.ratio and fact.unit == "percent")


def _place_fits(declared: Declaration, fact: Fact) -> bool:
    return declared.page in (None, fact.page + 1) and (not fact.line or declared.line in (None, fact.line + 1))


def _sign_fits(literal: Literal, declared: Declaration, fact: Fact) -> bool:
    if not literal.value or literal.role in _ANY_SIGN:
        return True
    return ((literal.value < 0) == (fact.amount < 0)) != declared.opposite
