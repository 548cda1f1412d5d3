"""Ratios of several years at once: sums over sums, and no sum of ratios."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from fin_agent.analyst.rules.measures import Measure, without_asides
from fin_agent.errors import LexiconError
from fin_agent.evidence.expressions import parse_formula
from fin_agent.evidence.intent import Comparison, Relation
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.mentions import Mention


def sums_over_sums(
    asked: str, bare: str, measure: Measure, periods: Sequence[FiscalPeriod], lexicon: Lexicon
) -> Measure | None:
    """`aggregate gross margin`, `sum of profits divided by sum of revenues`: of the years, sums over sums; else None.

    `asked` is the question with its definitions still in it, `bare` what it asks for without companies and periods.
    Only of what flows through a year: balances of several years are not added up.
    """
    if len(periods) < 2 or any(period.quarter for period in periods):
        return None
    years = [period.fiscal_year for period in periods]
    if _BETWEEN.search(asked):
        years = list(range(years[0], years[-1] + 1))
    text = without_asides(bare)
    mentions = lexicon.mentions(text)
    two = next((pair for pair in pairwise(mentions) if _is_over(text, *pair)), None)
    if two is not None:
        above, below = (one.id for one in two)
        hundred = _IN_PERCENT.search(asked) is not None
    else:
        formula = next((one.id for one in mentions if one.kind == "formula"), "")
        entry = lexicon.formulas.get(formula)
        quotient = _QUOTIENT.fullmatch(entry.expression) if entry else None
        if entry is None or quotient is None or not (_POOLED.search(text) or _SUM_OVER_SUM.search(asked)):
            return None
        above, below, hundred = quotient.group("above"), quotient.group("below"), entry.unit == "percent"
    sums = [_summed(expression, years, lexicon) for expression in (above, below)]
    if None in sums:
        return None
    expression = f"{'100 * ' if hundred else ''}({sums[0]}) / ({sums[1]})"
    try:
        parse_formula(expression)
    except LexiconError:
        return None
    words = f"{two[0].phrase} over {two[1].phrase}" if two else measure.words
    unit = "percent" if hundred else "ratio"
    return replace(measure, words=" ".join(words.split()), expression=expression, unit=unit)


def changes_between(bare: str, measure: Measure, periods: Sequence[FiscalPeriod]) -> Measure | None:
    """A formula of the question over changes, asked from one year to another: the changes between these; else None."""
    if len(periods) != 2 or any(period.quarter for period in periods) or not measure.stated:
        return None
    first, last = (period.fiscal_year for period in periods)
    expression, changes = _CHANGE.subn(rf"(\1[{last}] - \1[{first}])", measure.expression)
    if not changes or _NAME.search(_PINNED.sub("", expression)):
        return None
    added = re.search(rf"\b((?:incremental|marginal)\s+){re.escape(measure.words)}", bare, re.I)
    return replace(measure, words=f"{added.group(1) if added else ''}{measure.words}", expression=expression)


_CHANGE = re.compile(r"\bchange\(([a-z][a-z0-9_]*)\)")
_PINNED = re.compile(r"\b[a-z][a-z0-9_]*\[\d+\]")


def sums_of_ratios(measure: Measure | None, relation: Relation, comparison: Comparison) -> tuple[str, ...]:
    """What is asked where ratios would be added up, which is no figure of anything."""
    if measure is None or measure.unit not in ("percent", "ratio", "days"):
        return ()
    if relation is Relation.TOTAL or (comparison is Comparison.TOTAL and relation is Relation.EACH):
        return (f"the total of {measure.words}: ratios are not added up",)
    return ()


_POOLED = re.compile(r"\b(?:aggregate[ds]?|cumulative(?:ly)?|pooled|combined)\b", re.I)
_BETWEEN = re.compile(r"\bbetween\b", re.I)
_SUM = r"(?:(?:the\s+)?(?:total|aggregate|cumulative|combined|sums?(?:\s+of)?)\s+)"
_SUM_OVER_SUM = re.compile(rf"\b{_SUM}(?:of\s+)?[^()/?]+?(?:/|\bdivided\s+by\b|\bover\b)\s*{_SUM}", re.I)
_DIVIDING = re.compile(
    r"(?:\b(?:divided\s+by|over|relative\s+to|as\s+an?\s+(?:%|share|percent(?:age)?|proportion|fraction)\s+of)|/)"
    rf"\s*(?:its\s+)?{_SUM}(?:of\s+)?(?:its\s+|the\s+)?$",
    re.I,
)
_IN_PERCENT = re.compile(r"%|\b(?:percent|percentage|share|proportion|fraction)\b", re.I)
_QUOTIENT = re.compile(r"(?:100 \* )?(?P<above>[a-z][a-z0-9_]*) / (?P<below>[a-z][a-z0-9_]*)")
_SUM_BEFORE = re.compile(rf"\b{_SUM}(?:of\s+)?(?:its\s+|the\s+)?$", re.I)
_NAME = re.compile(r"\b[a-z][a-z0-9_]*\b(?!\s*\()")
_OF_OTHER_YEARS = re.compile(r"\b(?:avg|prior|change)\(")


def _is_over(text: str, first: Mention, second: Mention) -> bool:
    said = [re.match(r"total\s+", one.phrase, re.I) for one in (first, second)]
    starts = [one.start + (found.end() if found else 0) for one, found in zip((first, second), said, strict=True)]
    return (
        first.id != second.id
        and _SUM_BEFORE.search(text[: starts[0]]) is not None
        and _DIVIDING.search(text[first.end : starts[1]]) is not None
    )


def _summed(expression: str, years: Sequence[int], lexicon: Lexicon) -> str | None:
    """The sum over the years; None where it is of balances, or of figures of other years."""
    opened = _opened(expression, lexicon)
    names = set(_NAME.findall(opened))
    if _OF_OTHER_YEARS.search(opened) or not all(
        name in lexicon.metrics and lexicon.metrics[name].period == "duration" for name in names
    ):
        return None
    plain = opened if opened in names else f"({opened})"
    return " + ".join(_NAME.sub(rf"\g<0>[{year}]", plain) for year in years)


def _opened(expression: str, lexicon: Lexicon) -> str:
    def put(found: re.Match[str]) -> str:
        entry = lexicon.formulas.get(found.group())
        return f"({_opened(entry.expression, lexicon)})" if entry else found.group()

    return _NAME.sub(put, expression)
