"""Several periods of one company set against each other: `which year had the highest revenue`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from fin_agent.analyst.rules.claims import has_bound
from fin_agent.analyst.rules.measures import Measure
from fin_agent.evidence.intent import Comparison, Relation
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.lexicon.periods import parse_periods

_HIGHEST = (
    r"highest|largest|biggest|greatest|most|maximum|max|peak(?:ed)?|best|strongest|fastest|record(?=\s+(?:high|year))"
)
_LOWEST = r"lowest|smallest|least|fewest|minimum|min|trough|worst|weakest|slowest"
_SUPERLATIVE = re.compile(rf"\b(?:(?P<highest>{_HIGHEST})|(?P<lowest>{_LOWEST}))\b(?! recent)", re.I)
_COMPARATIVE = re.compile(
    r"\b(?:(?P<highest>higher|larger|bigger|greater|more|better|stronger)"
    r"|(?P<lowest>lower|smaller|less|fewer|worse|weaker))\b",
    re.I,
)
_WHICH_PERIOD = re.compile(
    r"\b(?:which|what)\s+(?:of\s+(?:the|these|those)\s+)?(?:\w+\s+){0,2}?(?:years?|quarters?)\b|^\W*(?:which|what)\s+one\b",
    re.I,
)
_ONE_OR_THE_OTHER = re.compile(r"^\W*(?:is|are|was|were|did|does|do|has|had)\b.*\bor\b", re.I | re.S)
_BY_TASTE = re.compile(r"best|worst|better|worse|strong(?:er|est)|weak(?:er|est)|record|top", re.I)
_MORE_IS_BETTER = re.compile(
    r"margin|profit|income|earnings|revenue|sales|cash flow|\beps\b|return|ebitda|\bfcf\b", re.I
)
_LESS_IS_BETTER = re.compile(r"\b(?:costs?|cogs|expenses?|tax(?:es)?|debt|liabilit\w+|loss(?:es)?)\b", re.I)
_GROWING = re.compile(r"\b(?:growth|gr[eo]w|grown|fastest|slowest)\b|\byoy\b|\byear[- ]over[- ]year\b", re.I)
_MOVING = re.compile(
    r"\b(?:grow|grew|grown|growth|increas\w*|ris(?:e|en)|rose|improv\w*|expand\w*|declin\w*|decreas\w*|f[ae]ll\w*|drop\w*"
    r"|shr[iau]nk|worsen\w*|deteriorat\w*|go(?:ne)?\s+(?:up|down)|went\s+(?:up|down))\b",
    re.I,
)
_HOW_MANY_YEARS = re.compile(
    r"\b(?:in|for|during)?\s*how\s+many\s+(?:of\s+)?(?:the\s+|its\s+|those\s+|these\s+)?(?:\w+\s+){0,4}?years\b", re.I
)
_EVERY_YEAR = re.compile(
    r"\b(?:every|each)\s+(?:single\s+|of\s+(?:the|these|those)\s+)?(?:\w+\s+){0,3}?years?\b"
    r"|\b(?:consistently|steadily|continuously|continually|without\s+interruption|year\s+after\s+year)\b",
    re.I,
)
_YES_OR_NO = re.compile(r"^\W*(?:is|are|was|were|did|does|do|has|have|had)\b", re.I)
_FROM_ONE_TO_ANOTHER = re.compile(r"\b(?:from|between|since)\b", re.I)


def ranking_of(core: str, asked: str, measure: Measure, companies: int, years: int) -> Comparison:
    """HIGHEST or LOWEST where one company's periods are ranked, else NONE.

    `core` with the measure's own words blanked out, `asked` as it was asked; `years` is how many periods it names.
    """
    if companies > 1 or years < 2:
        return Comparison.NONE
    found = next((one for one in _SUPERLATIVE.finditer(core) if _fits(one, measure)), None)
    if found is None and (_WHICH_PERIOD.search(core) or _ONE_OR_THE_OTHER.search(asked)):
        found = _COMPARATIVE.search(core)
    if found is None or not _fits(found, measure):
        return Comparison.NONE
    return Comparison.HIGHEST if found.group("highest") else Comparison.LOWEST


def _fits(found: re.Match[str], measure: Measure) -> bool:
    """Whether it is plain which end is meant: the `best` cost is not."""
    if _BY_TASTE.fullmatch(found.group()) is None:
        return True
    return _MORE_IS_BETTER.search(measure.words) is not None and _LESS_IS_BETTER.search(measure.words) is None


def both_ends(core: str) -> bool:
    """Whether the highest and the lowest are asked for at once."""
    found = list(_SUPERLATIVE.finditer(core))
    return any(one.group("highest") for one in found) and any(one.group("lowest") for one in found)


def names_no_years(core: str, companies: int, years: int) -> bool:
    """Whether a year is asked for and nothing says among which."""
    return companies < 2 and years < 2 and bool(_WHICH_PERIOD.search(core) and _SUPERLATIVE.search(core))


def over_years(core: str, companies: int, years: int) -> Relation | None:
    """Whether years are counted in which the measure moved, or all of them are to have moved one way; None else."""
    if companies > 1:
        return None
    if _HOW_MANY_YEARS.search(core) and (_MOVING.search(core) or has_bound(core)):
        return Relation.YEARS_COUNTED
    if years > 1 and _EVERY_YEAR.search(core) and _MOVING.search(core) and _YES_OR_NO.match(core):
        return Relation.EVERY_YEAR
    return None


def growth_ranked(core: str, measure: Measure) -> Measure | None:
    """`the highest revenue growth`: the growth of each year as a measure of its own; None where it has none."""
    moved = moved_most(core)
    if moved is not None and not _GROWING.search(core):
        return _change_of(measure, percent=_IN_PERCENT.search(core) is not None)
    if not _GROWING.search(core):
        return measure
    if not re.fullmatch(r"[a-z][a-z0-9_]*", measure.expression) or measure.unit != "USD":
        return None
    name = measure.expression
    words = re.sub(r"\s+growth(?: rate)?$", "", measure.words, flags=re.I)
    expression = f"100 * change({name}) / abs({name} - change({name}))"
    return replace(measure, words=f"{words} growth", expression=expression, unit="percent")


def _change_of(measure: Measure, *, percent: bool) -> Measure | None:
    """The change of each year as a measure of its own, in money or in percent."""
    name = measure.expression
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or measure.unit != "USD":
        return None
    if percent:
        expression = f"100 * change({name}) / abs({name} - change({name}))"
        return replace(measure, words=f"{measure.words} growth", expression=expression, unit="percent")
    return replace(measure, words=f"change in {measure.words}", expression=f"change({name})")


_IN_PERCENT = re.compile(r"\bpercent(?:age)?\b(?!\s+points?)|%|\bpct\b", re.I)


def moved_most(core: str) -> Literal["up", "down", "either"] | None:
    """Which way a movement goes whose size is compared: `the biggest drop in`, `rose the most`; None for levels."""
    found = _SIZE_OF_A_MOVE.search(core) or _MOVED_BY_HOW_MUCH.search(core)
    if found is None:
        return None
    if re.search(_DOWN, found.group(), re.I):
        return "down"
    return "up" if re.search(_UP, found.group(), re.I) else "either"


_DOWN = r"(?:drop|declin|decreas|f[ae]ll|reduc|shr[iau]nk|plunge|slump|contraction)"
_UP = r"(?:increas|ris|rose|gain|jump|climb|expan)"
_SIZE_OF_A_MOVE = re.compile(
    rf"\b(?:{_HIGHEST}|{_LOWEST}|larger|bigger|greater|smaller|steep(?:er|est)|sharp(?:er|est))\s+(?:[a-z-]+\s+){{0,3}}?"
    rf"(?:{_DOWN}|{_UP}|chang)[a-z]*",
    re.I,
)
_MOVED_BY_HOW_MUCH = re.compile(
    rf"\b(?:{_DOWN}|{_UP}|chang)[a-z]*\s+(?:by\s+)?(?:the\s+)?(?:most|least|more|less|furthest|further|sharpest)\b",
    re.I,
)


def ranked_years(core: str, periods: Sequence[FiscalPeriod], *, moving: bool) -> tuple[FiscalPeriod, ...]:
    """All years that are ranked: `between 2018 and 2022` takes those between in.

    Where moves are asked of each year (`moving`), the year before the first is needed too, unless the question counts
    from one year to another.
    """
    years = [period.fiscal_year for period in periods]
    parsed = parse_periods(core)
    if not years or any(period.quarter for period in periods) or parsed.since is not None:
        return tuple(periods)
    span = parsed.span
    if span is not None and span.form != "list" and (span.first, span.last) == (years[0], years[-1]):
        years = list(range(years[0], years[-1] + 1))
    if moving and (len(years) < 2 or not _FROM_ONE_TO_ANOTHER.search(core)):
        years = [years[0] - 1, *years]
    return tuple(FiscalPeriod(fiscal_year=year) for year in years)
