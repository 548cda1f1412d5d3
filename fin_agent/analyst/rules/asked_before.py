"""The question before, taken apart into what may be replaced: companies, periods, measure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from fin_agent.analyst.rules.asked_periods import periods_asked
from fin_agent.evidence.intent import Intent
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.lexicon.periods import parse_periods
from fin_agent.query.intents import intent_of_question
from fin_agent.workspace import Workspace

_BETWEEN_NAMES = re.compile(r"(?:['’]s?)?\s*(?:,|and|or|&|versus|vs\.?|,\s*(?:and|or))?\s*", re.I)
_BETWEEN_PERIODS = re.compile(
    r"\s*(?:,|and|or|to|through|until|thru|&|-|–|—|versus|vs\.?|,\s*(?:and|or))?\s*(?:in\s+)?", re.I
)


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a question: `question[start:end] == text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class AskedBefore:
    """A whole question and where its parts stand, each list from left to right."""

    question: str
    intent: Intent
    companies: tuple[Span, ...]
    """Names as written, those of companies that are not indexed among them."""
    periods: tuple[Span, ...]
    asked: tuple[FiscalPeriod, ...]
    measures: tuple[Span, ...]

    @classmethod
    def of(cls, question: str, workspace: Workspace) -> AskedBefore:
        """Take `question` apart. Raises QuestionError where it has no words or is too long."""
        directory, lexicon = workspace.directory, workspace.lexicon
        intent = intent_of_question(question, workspace)
        names = [Span(each.start, each.end, question[each.start : each.end]) for each in directory.mentions(question)]
        for unknown in intent.unknown_companies:
            names += [Span(found.start(), found.end(), found[0]) for found in re.finditer(re.escape(unknown), question)]
        names.sort(key=lambda span: span.start)
        parsed = parse_periods(question)
        periods = [Span(each.start, each.end, each.phrase) for each in parsed.mentions]
        taken = [*names, *periods]
        measures = [
            Span(each.start, each.end, each.phrase)
            for each in lexicon.mentions(question)
            if not any(each.start < span.end and span.start < each.end for span in taken)
        ]
        return cls(
            question,
            intent,
            _apart(names),
            _apart(periods),
            periods_asked(question, question),
            _apart(measures),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The companies as written, each once."""
        return tuple(dict.fromkeys(span.text for span in self.companies))

    @property
    def name_group(self) -> Span | None:
        """Where the names stand: together, or the last of them."""
        return _group(self.question, self.companies, _BETWEEN_NAMES)

    @property
    def period_group(self) -> Span | None:
        """Where the periods stand: together, or None where words stand between them."""
        group = _group(self.question, self.periods, _BETWEEN_PERIODS)
        return group if group is None or group.start == self.periods[0].start else None

    @property
    def measure(self) -> str:
        """The measure in the question's own words; empty where none is known."""
        if self.intent.measure and self.intent.measure.lower() in self.question.lower():
            place = self.question.lower().index(self.intent.measure.lower())
            return self.question[place : place + len(self.intent.measure)]
        return self.intent.measure or (self.measures[0].text if self.measures else "")

    @property
    def measure_span(self) -> Span | None:
        """Where the measure stands, if in one place."""
        measure = self.measure
        place = self.question.lower().find(measure.lower()) if measure else -1
        if place >= 0:
            return Span(place, place + len(measure), self.question[place : place + len(measure)])
        return self.measures[0] if len(self.measures) == 1 else None


def period_name(period: FiscalPeriod) -> str:
    """As questions name it: `FY2023`, `Q2 FY2023`."""
    return str(period)


def period_names(periods: Sequence[FiscalPeriod]) -> str:
    """Several: `FY2021 to FY2023` where they follow each other, else `FY2021 and FY2023`."""
    names = [period_name(period) for period in periods]
    years = [period.fiscal_year for period in periods]
    whole = all(period.quarter is None for period in periods)
    if len(names) > 2 and whole and years == list(range(years[0], years[-1] + 1)):
        return f"{names[0]} to {names[-1]}"
    return listed(names)


def listed(names: Sequence[str]) -> str:
    """`A`, `A and B`, `A, B and C`."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def _apart(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Left to right, without those that lie in another."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return tuple(kept)


def _group(question: str, spans: Sequence[Span], between: re.Pattern[str]) -> Span | None:
    if not spans:
        return None
    together = all(between.fullmatch(question[one.end : other.start]) for one, other in pairwise(spans))
    start = spans[0].start if together else spans[-1].start
    return Span(start, spans[-1].end, question[start : spans[-1].end])
