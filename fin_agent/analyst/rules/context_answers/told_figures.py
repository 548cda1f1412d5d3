"""Figures that the text tells: the one a question is about, or one for each period it names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fin_agent.analyst.rules.context_answers.asked import Asked
from fin_agent.analyst.rules.context_answers.looking_up import RESPECTIVELY
from fin_agent.analyst.rules.context_answers.period_names import PeriodName, periods_in, spanned
from fin_agent.analyst.rules.context_answers.sentences import Sentence, ranked
from fin_agent.analyst.rules.context_answers.wording import telling_stems


@dataclass(frozen=True, slots=True)
class Told:
    """Parts of a sentence that answer, as printed."""

    spans: tuple[str, ...]
    coverage: float


def figures_told(asked: Asked, sentences: Sequence[Sentence]) -> Told | None:
    """The figures of the text that the question asks for, one for each period it names."""
    for fit in ranked(asked, sentences, lambda text: _FIGURE_BONUS if figures_in(text) else 0.0)[:_TRIED]:
        if fit.coverage < ENOUGH:
            return None
        spans = _figures(asked, fit.sentence.text)
        if spans:
            return Told(spans, fit.coverage)
    return None


def figures_by_period(asked: Asked, sentences: Sequence[Sentence]) -> tuple[tuple[str, ...], float]:
    """One figure of one sentence for each period that the question names or spans, and how well it fits."""
    for fit in ranked(asked, sentences, lambda text: _FIGURE_BONUS if figures_in(text) else 0.0)[:_TRIED]:
        if fit.coverage < _MOST_OF_IT:
            break
        periods = asked.periods
        if asked.whole_range and len(periods) > 1:
            periods = spanned((periods[0], periods[-1]), periods_in(fit.sentence.text))
        spans = _aligned(periods, fit.sentence.text, figures_in(fit.sentence.text))
        if len(spans) > 1:
            return spans, fit.coverage
    return (), 0.0


def told_change(asked: Asked, sentences: Sequence[Sentence]) -> Told | None:
    """`the increase in X in 2019` as a sentence says it; none where the question compares two periods."""
    if len(asked.periods) > 1 or not _NAMED_MOVE.search(asked.text):
        return None
    for fit in ranked(asked, sentences, lambda text: _FIGURE_BONUS if _MOVED.search(text) else 0.0)[:_TRIED]:
        found = [match for match in figures_in(fit.sentence.text) if match[0].strip() not in asked.text]
        percent = re.search(r"per ?cent|%", asked.text, re.I) is not None
        fitting = [match for match in found if (_kind(match[0]) == "percent") is percent]
        if fit.coverage >= _MOST and _MOVED.search(fit.sentence.text) and fitting:
            return Told((_nearest(asked, fit.sentence.text, fitting),), fit.coverage)
    return None


def figures_in(text: str) -> list[re.Match[str]]:
    """Amounts, percentages and counts; years, dates and footnote marks are none."""
    return [match for match in _FIGURE.finditer(text) if not _NO_FIGURE.match(match[0])]


def _figures(asked: Asked, text: str) -> tuple[str, ...]:
    found = [match for match in figures_in(text) if match[0].strip() not in asked.text]
    if not found:
        return ()
    periods = periods_in(text)
    if len(asked.periods) > 1 or RESPECTIVELY.search(asked.text):
        return _aligned(asked.periods, text, found)
    if asked.periods and len(periods) > 1:
        told = _aligned(asked.periods, text, found)
        if told:
            return told
    if not _MOVED.search(asked.text) and (reached := _REACHED.search(text)):
        after = [match for match in found if match.start() >= reached.end() - 1]
        if after:
            return (after[0][0].strip(),)
    return (_nearest(asked, text, found),)


def _aligned(asked: Sequence[PeriodName], text: str, found: Sequence[re.Match[str]]) -> tuple[str, ...]:
    """`$3 million and $5 million in 2019 and 2018, respectively`: the figure of each period asked for."""
    years = [period.year for period in periods_in(text)]
    for start in range(len(found)):
        run = _run(text, found, start)
        if len(run) > 1 and len(run) <= len(years):
            by_year = dict(zip(_years_beside(text, run, years), run, strict=False))
            figures = [by_year.get(period.year) for period in asked]
            if figures and all(figures):
                return tuple(match[0].strip() for match in figures if match)
    return ()


def _years_beside(text: str, run: Sequence[re.Match[str]], years: Sequence[str]) -> list[str]:
    """The years told after a run of figures, else those before it."""
    after = [period.year for period in periods_in(text[run[-1].end() :])]
    if len(after) >= len(run):
        return after[: len(run)]
    before = [period.year for period in periods_in(text[: run[0].start()])]
    return before[-len(run) :] if len(before) >= len(run) else list(years)


def _run(text: str, found: Sequence[re.Match[str]], start: int) -> list[re.Match[str]]:
    run = [found[start]]
    for match in found[start + 1 :]:
        if not _BETWEEN.fullmatch(text[run[-1].end() : match.start()]):
            break
        run.append(match)
    return run


def _nearest(asked: Asked, text: str, found: Sequence[re.Match[str]]) -> str:
    """The figure of the kind asked for that stands closest to the question's words."""
    words = {*asked.words, *asked.operation}
    places = [
        (token.start() + token.end()) / 2
        for token in TOKEN.finditer(text)
        if words.intersection(telling_stems(token[0])) or token[0] in asked.text
    ]
    wanted = _kind_wanted(asked)
    fitting = [match for match in found if wanted is None or _kind(match[0]) == wanted] or list(found)

    def distance(match: re.Match[str]) -> float:
        middle = (match.start() + match.end()) / 2
        return sum(1 / (1 + abs(place - middle) / _NEAR) for place in places)

    best = max(fitting, key=lambda match: (round(distance(match), 6), -match.start()))
    return best[0].strip()


def _kind_wanted(asked: Asked) -> str | None:
    if re.search(r"\bper ?cent(?:age)?\b|%|\brate\b", asked.text, re.I):
        return "percent"
    if re.search(r"\bhow many (?!million|percent)", asked.text, re.I):
        return "count"
    if re.search(r"\bhow long\b|\bduration\b|\b(?:over )?how many years\b", asked.text, re.I):
        return "years"
    if re.search(
        r"\bhow much\b|\bamounts?\b|\bexpenses?\b|\bcosts?\b|\bincome\b|\brevenues?\b|\bprice\b"
        r"|\bfees?\b|\bcharges?\b",
        asked.text,
        re.I,
    ):
        return "money"
    return None


def _kind(figure: str) -> str:
    if re.search(r"%|per ?cent", figure):
        return "percent"
    if re.search(r"years?|months?|days?|weeks?", figure):
        return "years"
    if re.search(r"[$€£]|RMB|million|billion", figure):
        return "money"
    return "count"


_FIGURE_BONUS = 0.2
ENOUGH = 0.3
_TRIED = 3
_MOST_OF_IT = 0.6
_MOST = 0.75
_NEAR = 20
_NAMED_MOVE = re.compile(r"\b(?:increase|decrease|decline|reduction|growth|change)\b(?!\s*/)", re.I)
_MOVED = re.compile(r"\b(?:chang|increas|decreas|declin|grow|reduc)", re.I)
_REACHED = re.compile(
    r"\b(?:increas|decreas|declin|gr[eo]w|reduc|r[io]se"
    r"|fell)\w*\b[^.;]{0,80}?\bto (?=(?:approximately )?(?:US|S|A|C)?[$€£]?\d)(?!(?:19"
    r"|20)\d\d\b)",
    re.I,
)
"""`decreased by $8 million to`: the figure reached follows."""
TOKEN = re.compile(r"[^\s]+")
_FIGURE = re.compile(
    r"(?<![\w.,/-])(?:\((?=[$€£]?\d[\d,.]*\)))?(?:(?:US|AU|S|A|C|NT|HK)?\s?[$€£]|RMB"
    r"|AU )?\s?(?:\d[\d,]*\d|\d)(?:\.\d+)?\)?"
    r"(?:\s?(?:%|p\b|cents?\b|per ?cent\b|percentage points?\b|percent\b|thousand\b|million\b"
    r"|billion\b|trillion\b|years?\b(?! ended)|months?\b|days?\b|weeks?\b))*"
    r"(?![\w/])",
    re.I,
)
_NO_FIGURE = re.compile(r"^(?:(?:19|20)\d\d|\(\d{1,2}\)|[1-3]?\d,?)$")
_BETWEEN = re.compile(r"\s*(?:,|and|,\s*and|or|to)?\s*(?:approximately\s+)?", re.I)
