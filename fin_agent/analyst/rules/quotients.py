"""A formula and what the question says it is taken of: `payout as a percentage of net income`, `DPO over COGS`."""

from __future__ import annotations

import re

from fin_agent.lexicon.lexicon import Lexicon


def in_percent_of(formula: str, whole: str, lexicon: Lexicon) -> str | None:
    """`payout as a percentage of net income`: that ratio in percent, where net income is what it is taken of.

    None where it is taken of something else.
    """
    entry = lexicon.formulas.get(formula)
    divided = _QUOTIENT.fullmatch(entry.expression) if entry else None
    if entry is None or divided is None or _of_company(divided.group(1)) != _of_company(whole):
        return None
    return formula if entry.unit == "percent" else f"100 * {formula}"


def option_over(formula: str, whole: str, between: str, lexicon: Lexicon) -> str | None:
    """`days payable outstanding over COGS`: of the formula's alternatives the one that divides by it; else None.

    `between` are the words between the two.
    """
    entry = lexicon.formulas.get(formula)
    if entry is None or not entry.expression.startswith("first(") or not _TAKEN_OVER.search(between):
        return None
    options = _OPTIONS_END.split(entry.expression.removeprefix("first(").removesuffix(")"))
    fitting = [one.strip() for one in options if one.endswith(f"/ {whole}")]
    return fitting[0] if len(fitting) == 1 and len(options) > 1 else None


_QUOTIENT = re.compile(r".+/\s*([a-z][a-z0-9_]*)")
_TAKEN_OVER = re.compile(r"\b(?:over|on|using|with|from|divided\s+by|relative\s+to)\s+(?:the\s+|its\s+)?$", re.I)
_OPTIONS_END = re.compile(r",\s+(?![^(]*\)\s*(?:/|,))")


def _of_company(metric: str) -> str:
    return metric.removesuffix("_attributable_to_parent")
