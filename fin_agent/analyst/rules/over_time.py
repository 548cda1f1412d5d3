"""What a question asks of a measure over time, once measure, relation and periods are read: put together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from fin_agent.analyst.rules.accelerating import accelerating, growth_rate
from fin_agent.analyst.rules.claims import bound_of, has_bound
from fin_agent.analyst.rules.measures import Measure
from fin_agent.analyst.rules.rankings import both_ends, growth_ranked, over_years, ranked_years, ranking_of
from fin_agent.analyst.rules.wording import unit_asked
from fin_agent.evidence.intent import Comparison, Relation
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.period_words import number_of
from fin_agent.lexicon.periods import parse_periods


def over_time(
    asked: str,
    spans: Sequence[tuple[int, int]],
    measure: Measure,
    relation: Relation,
    named: int,
    years: int,
    periods: tuple[FiscalPeriod, ...],
    lexicon: Lexicon,
    *,
    chosen: bool,
) -> tuple[Relation, Comparison, Measure | None, tuple[FiscalPeriod, ...]]:
    """(relation, ranking of one company's periods, measure, periods) as they are to be computed.

    `spans` are where the measure's own words stand in `asked`, `named` and `years` how many companies and periods are
    named; `chosen` where a company is chosen first: its periods are not ranked.
    """
    ranking = Comparison.NONE
    ranked: Measure | None = measure
    of_growth = None if chosen else accelerating(asked, measure, relation, named, len(periods))
    if of_growth is not None:
        return *of_growth, periods
    if not chosen:
        relation, ranking, ranked, periods = _ranked(asked, spans, measure, relation, named, years, periods)
    if ranked is None:
        return relation, ranking, None, periods
    if relation is Relation.AVERAGE and re.search(r"\bgrowth\b", ranked.words, re.I) and ranked.unit != "percent":
        rate = growth_rate(ranked)
        return relation, ranking, rate, periods
    measure = _summed_up(ranked, lexicon) if relation is Relation.TOTAL else ranked
    if relation is Relation.TREND and (by := _BY_SO_MUCH.search(asked)):
        relation = Relation.GROWTH if measure.unit != "percent" and by.group("percent") else Relation.CHANGE
    if relation is Relation.TREND and _GROWTH_RATE.search(asked) and bound_of(asked, "percent") is not None:
        relation = Relation.GROWTH if measure.unit != "percent" else relation
    if relation is Relation.EACH and ranking is Comparison.NONE and named < 2 and measure.unit == "percent":
        relation = Relation.CHANGE if _IN_POINTS.search(asked) and len(periods) < 3 else relation
    if relation is Relation.CHANGE and measure.unit != "percent" and _in_percent(asked):
        relation = Relation.GROWTH
    if relation in _MOVES:
        periods = moving_years(asked, periods)
    if max(years, len(periods)) < 2 and (relation is Relation.AVERAGE or _AVERAGED.search(asked)):
        measure = _averaged_over(measure, lexicon)
    return relation, ranking, measure, periods


_BY_SO_MUCH = re.compile(
    r"\b(?:by\s+(?=.*[$%]|.*\bpercent|.*\bpoints)|(?=(?:more|less|fewer|at\s+least|over|under)\s+(?:than\s+)?[\d.,]+\s*(?:%|percent)))"
    r"(?:more|less|fewer|at\s+least|over|under)\s+(?:than\s+)?[$\d][\d.,]*\s*(?P<percent>%|percent\b)?",
    re.I,
)
_GROWTH_RATE = re.compile(r"\bgrowth\b", re.I)
_IN_POINTS = re.compile(r"\b(?:percentage|basis)\s+points?\b|\bbps\b", re.I)


def _ranked(
    asked: str,
    spans: Sequence[tuple[int, int]],
    measure: Measure,
    relation: Relation,
    named: int,
    years: int,
    periods: tuple[FiscalPeriod, ...],
) -> tuple[Relation, Comparison, Measure | None, tuple[FiscalPeriod, ...]]:
    """Where one company's periods are set against each other: relation, ranking, what is ranked, which periods."""
    over = over_years(asked, named, years)
    if over is not None:
        return over, Comparison.NONE, measure, ranked_years(asked, periods, moving=not has_bound(asked))
    text = asked
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    if both_ends(text):
        return Relation.EACH, Comparison.NONE, measure, periods
    ranking = ranking_of(text, asked, measure, named, years)
    if ranking is Comparison.NONE or relation in (Relation.AVERAGE, Relation.TOTAL, Relation.ANNUAL_GROWTH):
        return relation, Comparison.NONE, measure, periods
    return Relation.EACH, ranking, growth_ranked(text, measure), ranked_years(asked, periods, moving=False)


def _summed_up(measure: Measure, lexicon: Lexicon) -> Measure:
    """`the total free cash flow over three years` adds up free cash flows, not a row that is called `total`."""
    found = re.match(r"total\s+", measure.words, re.I)
    metric = lexicon.metrics.get(measure.expression)
    if found is None or metric is None or metric.period != "duration":
        return measure
    words = measure.words[found.end() :]
    whole = [one for one in lexicon.mentions(words) if one.phrase == words and one.id != measure.expression]
    if not whole:
        return measure
    return replace(measure, words=words, expression=whole[0].id, unit=lexicon.definition(whole[0].id).unit)


def _in_percent(asked: str) -> bool:
    """Whether a change is wanted in percent, and not in money as well."""
    percent = unit_asked(asked) == "percent" or _PERCENT_LAST.search(asked) is not None
    return percent and re.search(r"\b(?:dollars?|USD|percentage points?)\b|\$", asked) is None


_PERCENT_LAST = re.compile(r"[,(]\s*(?:percent|pct|%)\)?\W*$", re.I)


def moving_years(asked: str, periods: tuple[FiscalPeriod, ...]) -> tuple[FiscalPeriod, ...]:
    """`the 5-year growth rate ending 2020` begins in 2015: so many years of growth lie between the two."""
    counted = years_of_a_move(asked)
    span = parse_periods(asked).span
    ends = (span is None and len(periods) == 1) or (span is not None and span.form == "last")
    if counted is None or not periods or not ends:
        return periods
    last = periods[-1]
    return (last.model_copy(update={"fiscal_year": last.fiscal_year - counted}), last)


def years_of_a_move(asked: str) -> int | None:
    """How many years something is said to have moved over: 5 for `5-year growth`, `over the five years to`."""
    found = _YEARS_COUNTED.search(asked)
    counted = number_of(found.group("n")) if found else 0
    return counted if counted > 1 else None


def without_an_end(asked: str, relation: Relation, periods: Sequence[FiscalPeriod]) -> tuple[str, ...]:
    """What is lacking where years of growth are counted and nothing says which year they end in."""
    if periods or relation not in _MOVES or years_of_a_move(asked) is None:
        return ()
    return ("the year in which the years counted end: name it",)


_MOVES = (Relation.ANNUAL_GROWTH, Relation.GROWTH, Relation.CHANGE, Relation.TREND)
_YEARS_COUNTED = re.compile(
    r"(?<!each of the )(?<!each of the last )(?<!each of the past )"
    r"\b(?:(?P<n>\d{1,2}|two|three|four|five|six|seven|eight|nine|ten)[- ]?"
    r"(?:(?:full|fiscal|financial|calendar)[- ])?(?:years?|yrs?|(?<=\d)y|(?<=\d[ -])y)\b)"
    r"(?![- ](?:\w+[- ])?(?:average|avg|mean|median|total|cumulative|sum|notes?|bonds?|loans?|treasur\w+|plans?"
    r"|terms?)\b)",
    re.I,
)
_AVERAGED = re.compile(r"\b(?:average|mean)\b", re.I)


def _averaged_over(measure: Measure, lexicon: Lexicon) -> Measure:
    """`average inventory in 2020`: of a balance in one year, the mean of its opening and its closing one."""
    metric = lexicon.metrics.get(measure.expression)
    if metric is None or metric.period != "instant":
        return measure
    return replace(measure, words=f"average {measure.words}", expression=f"avg({measure.expression})")
