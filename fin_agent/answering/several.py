"""The answer to a question with several measures: each with its figures, or the one that stands out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fin_agent.answering.amounts import rounded, shown
from fin_agent.answering.answer import AnswerValue
from fin_agent.answering.program import Program, in_unit
from fin_agent.answering.result_units import known_unit, unit_of_result
from fin_agent.answering.subjects import capital, moved_measure, plain, subject_of
from fin_agent.answering.verdicts import asked_to_rise
from fin_agent.evidence.intent import Comparison, Intent, Relation
from fin_agent.evidence.plan import Plan, Term, by_company, by_measure


def of_each_measure(intent: Intent, plan: Plan, program: Program, numbers: Sequence[float]) -> AnswerValue:
    """`Revenue of Acme for FY2020: $90 million; net income: $5 million.`, with no one value.

    Where it is asked which measure stands out, that one's figure is the value.
    """
    told = list(_told(intent, plan, program, numbers))
    if intent.comparison in (Comparison.HIGHEST, Comparison.LOWEST):
        return _standing_out(intent, told)
    if len(told[0].companies) > 1:
        text = " ".join(f"{capital(moved_measure(one.intent))}{one.span}: {one.listed}." for one in told)
    elif intent.relation is Relation.TREND:
        text = _moved(intent, told)
    else:
        first = told[0]
        subject = subject_of(first.intent, first.plan) if len(first.figures) == 1 else _of_company(first)
        others = (f"{moved_measure(one.intent)}: {one.listed}" for one in told[1:])
        text = f"{capital(subject)}: {'; '.join((first.listed, *others))}."
    return AnswerValue(text=text)


@dataclass(frozen=True, slots=True)
class _Figure:
    name: str
    """Of its company, and its period where several are told."""
    value: float
    text: str
    unit: str


@dataclass(frozen=True, slots=True)
class _Told:
    """One measure with its figures."""

    intent: Intent
    """The question about it alone."""
    plan: Plan
    figures: tuple[_Figure, ...]

    @property
    def companies(self) -> list[str]:
        """Names of the companies, in their order."""
        return list(dict.fromkeys(term.company.name for term in self.plan.terms))

    @property
    def periods(self) -> list[str]:
        """The periods, in their order."""
        return list(dict.fromkeys(str(term.period) for term in self.plan.terms))

    @property
    def span(self) -> str:
        """` for FY2021`, where the figures do not name their periods themselves."""
        if self.intent.relation is Relation.EACH:
            return ""
        return f" for {self.periods[0]}" + (f" to {self.periods[-1]}" if len(self.periods) > 1 else "")

    @property
    def listed(self) -> str:
        """The figures in words."""
        if len(self.companies) > 1:
            return ", ".join(f"{figure.name}: {figure.text}" for figure in self.figures)
        if len(self.figures) == 1:
            return self.figures[0].text
        held = zip(self.figures, self.periods, strict=True)
        return ", ".join(f"{figure.text} in {period}" for figure, period in held)


def _told(intent: Intent, plan: Plan, program: Program, numbers: Sequence[float]) -> Iterator[_Told]:
    place = 0
    for measure, terms in zip(intent.measures, by_measure(plan.terms), strict=True):
        alone = intent.of_measure(measure)
        computed = unit_of_result(alone)
        figures = []
        for name, number in zip(program.names[place : place + _how_many(intent, terms)], numbers[place:], strict=False):
            value, unit = in_unit(number, computed, program.scale, alone.unit)
            value = rounded(value, intent.decimals)
            figures.append(_Figure(name, value, shown(value, unit, intent.decimals), unit))
        place += len(figures)
        yield _Told(alone, Plan(tuple(terms), ()), tuple(figures))


def _how_many(intent: Intent, terms: Sequence[Term]) -> int:
    """Figures told of a measure: one per company where its periods are put together, else one per term."""
    return len(terms) if intent.relation in (Relation.EACH, Relation.TREND) else len(by_company(terms))


def _of_company(one: _Told) -> str:
    return f"{moved_measure(one.intent)} of {one.companies[0]}"


def _moved(intent: Intent, told: Sequence[_Told]) -> str:
    """`No: revenue of Acme rose from $3 million in FY2018 to $4 million in FY2019; net income fell from ...`"""
    rising = asked_to_rise(intent.core)
    first, last = told[0].periods[0], told[0].periods[-1]
    parts = []
    for place, one in enumerate(told):
        before, after = one.figures[0], one.figures[-1]
        way = "rose" if after.value > before.value else "fell" if after.value < before.value else "did not change,"
        subject = f"{plain(one.intent)}{'' if place else f' of {one.companies[0]}'}"
        parts.append(f"{subject} {way} from {before.text} in {first} to {after.text} in {last}")
    said = "; ".join(parts)
    if not _YES_OR_NO.match(intent.core) or _OR.search(intent.core):
        return f"{capital(said)}."
    moves = (one.figures[-1].value - one.figures[0].value for one in told)
    held = all(move != 0 and (move > 0) == rising for move in moves)
    return f"{'Yes' if held else 'No'}: {said}."


_OR = re.compile(r"\bor\b", re.I)
_YES_OR_NO = re.compile(r"^\W*(?:is|are|was|were|did|does|do|has|have|had)\b", re.I)


_BY_SIZE = re.compile(r"\b(?:larg|bigg|great|small)(?:er|est)\b", re.I)


def _standing_out(intent: Intent, told: Sequence[_Told]) -> AnswerValue:
    """`Net income of Acme for FY2020: $5 million (dividends: $3 million). Of these it is the higher.`"""
    if _BY_SIZE.search(intent.core) and any(one.figures[0].value < 0 for one in told):
        said = "; ".join(f"{moved_measure(one.intent)}: {one.figures[0].text}" for one in told)
        return AnswerValue(text=f"Some are below zero, so none is called the larger. {capital(said)}.")
    pick = max if intent.comparison is Comparison.HIGHEST else min
    best = pick(told, key=lambda one: one.figures[0].value)
    figure = best.figures[0]
    others = "; ".join(f"{moved_measure(one.intent)}: {one.figures[0].text}" for one in told if one is not best)
    degree = intent.comparison.value
    if len(told) == 2:
        degree = {Comparison.HIGHEST: "higher", Comparison.LOWEST: "lower"}[intent.comparison]
    level = sum(one.figures[0].value == figure.value for one in told) > 1
    said = "They are level." if level else f"Of these it is the {degree}."
    text = f"{capital(subject_of(best.intent, best.plan))}: {figure.text} ({others}). {said}"
    return AnswerValue(value=figure.value, unit=known_unit(figure.unit), text=text)
