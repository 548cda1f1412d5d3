"""Figures with one true value each, questions about them with the expected answer, and the judging of answers."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import partial
from statistics import fmean
from typing import Any, NamedTuple

from fin_agent.answering.answer import Answer
from fin_agent.evaluation import Family, QuestionKind
from fin_agent.evaluation.answer_scoring import USD_SCALES
from fin_agent.evaluation.benchmark import Row, row_of
from fin_agent.evaluation.xbrl_truth import TaggedFiling, TrueTag, values_agree
from fin_agent.evidence.expressions import Constant, Function, Node, Operation, Quantity, parse_formula
from fin_agent.lexicon.company_names import Company
from fin_agent.lexicon.entry_loading import expression_inputs
from fin_agent.lexicon.fiscal_periods import ANNUAL_FORMS
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.words import load_yaml
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.runs import grouped
from fin_agent.workspace import Workspace


class SlotKey(NamedTuple):
    """The company, metric, period and part of a figure."""

    company: str
    """Company key in the directory of the index."""
    metric: str
    fiscal_year: int
    """As the filer names it."""
    quarter: int | None = None
    part: str = ""
    """A segment, product or region as its table prints it; empty for the whole company."""


class PartKind(StrEnum):
    """How a company is divided."""

    SEGMENT = "segment"
    PRODUCT = "product"
    REGION = "region"


@dataclass(frozen=True, slots=True)
class StatedFigure:
    """A figure, and every filing that states it."""

    slot: SlotKey
    value: Decimal
    """In base units, with the usual sign: outflows and costs are positive."""
    step: Decimal
    """The coarsest rounding in which it is printed."""
    doc_ids: tuple[str, ...]
    """The filings, the one whose own year is closest first."""
    kind: PartKind | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A place that states a figure."""

    doc_id: str
    own_year: int
    """The fiscal year of the filing."""
    value: Decimal
    step: Decimal
    """The value of the last accurate digit; 0 if exact."""
    in_table: bool = True
    part: str = ""
    kind: PartKind | None = None

    @classmethod
    def of(cls, filing: TaggedFiling, tag: TrueTag, part: str = "", kind: PartKind | None = None) -> Source:
        """Return a tag as a source."""
        return cls(filing.doc_id, filing.fiscal_year, tag.value, tag.step, tag.table is not None, part, kind)


def agreed_figures(stated: Mapping[SlotKey, Sequence[Source]]) -> Iterable[StatedFigure]:
    """Yield the figure of each slot on which all sources agree, up to rounding.

    Zeros are left out, since people do not ask for them.
    """
    for slot, sources in stated.items():
        first = min(sources, key=lambda each: (each.step, each.doc_id, each.part))
        if first.value and all(values_agree(first.value, first.step, each.value, each.step) for each in sources):
            by_distance = sorted((abs(each.own_year - slot.fiscal_year), each.doc_id) for each in sources)
            step = max((Decimal(1), *(each.step for each in sources if each.in_table)))
            doc_ids = tuple(dict.fromkeys(doc_id for _, doc_id in by_distance))
            yield StatedFigure(slot._replace(part=first.part), first.value, step, doc_ids, first.kind)


class Figures:
    """Figures of companies by metric and period on which all sources agree."""

    def __init__(self, figures: Iterable[StatedFigure], named: Iterable[SlotKey]) -> None:
        """Index the figures; `named` are the slots for which any figure was stated, agreed or not."""
        self._by_slot = {figure.slot: figure for figure in figures}
        self._named = frozenset(named)
        self._periods = grouped(((of.company, of.metric), (of.fiscal_year, of.quarter)) for of in self._by_slot)

    def figure(self, company: str, metric: str, year: int, quarter: int | None = None) -> StatedFigure | None:
        """Return the agreed figure, or None."""
        return self._by_slot.get(SlotKey(company, metric, year, quarter))

    def years(self, company: str, metric: str) -> tuple[int, ...]:
        """Return the fiscal years with a figure, ascending."""
        return tuple(sorted(year for year, quarter in self._periods.get((company, metric), ()) if quarter is None))

    def quarters(self, company: str, metric: str) -> tuple[tuple[int, int], ...]:
        """Return (fiscal year, quarter) pairs with a figure, ascending."""
        periods = self._periods.get((company, metric), ())
        return tuple(sorted((year, quarter) for year, quarter in periods if quarter is not None))

    def is_named(self, company: str, metric: str, year: int, quarter: int | None = None) -> bool:
        """Return whether any source states the metric and period, agreed or not."""
        return SlotKey(company, metric, year, quarter) in self._named

    def metrics(self, company: str) -> frozenset[str]:
        """Return the metrics for which any figure is stated."""
        return frozenset(slot.metric for slot in self._named if slot.company == company)


def figures_of_statements(workspace: Workspace) -> Figures:
    """Return the figures on the primary statements of the annual and quarterly reports of an index."""
    lexicon, owners = workspace.lexicon, workspace.directory.owners
    stated: dict[SlotKey, list[Source]] = {}
    named: set[SlotKey] = set()
    for entry in workspace.index.entries():
        identity, company = entry.identity, owners.get(entry.doc_id)
        for sourced in [] if company is None else workspace.index.facts([entry.doc_id]):
            fact = sourced.fact
            metric = lexicon.metrics.get(fact.metric or "")
            if company is None or metric is None:
                continue
            slot = SlotKey(company, metric.id, fact.period.fiscal_year, fact.period.quarter)
            named.add(slot)
            forms = ANNUAL_FORMS if slot.quarter is None else (Form.TEN_Q,)
            months = 0 if metric.period == "instant" else 3 if fact.period.quarter else 12
            whole = fact.tied and fact.scope is None and fact.period.months == months and fact.unit == metric.unit
            if identity.form in forms and whole and fact.statement is metric.statement is not None:
                value = abs(fact.value) if metric.sign in ("outflow", "expense") else fact.value
                step = Decimal(0 if metric.unit == "USD per share" else fact.scale)
                stated.setdefault(slot, []).append(Source(entry.doc_id, identity.fiscal_year or 0, value, step))
    return Figures(agreed_figures(stated), named)


def fewest_filings(figures: Iterable[StatedFigure]) -> tuple[str, ...]:
    """Return filings that together state all `figures`, chosen greedily by the number of remaining figures."""
    left = list(figures)
    chosen: list[str] = []
    while left:
        counts = Counter(doc_id for figure in left for doc_id in figure.doc_ids)
        chosen.append(min(counts, key=lambda doc_id: (-counts[doc_id], doc_id)))
        left = [figure for figure in left if chosen[-1] not in figure.doc_ids]
    return tuple(chosen)


@dataclass(frozen=True, slots=True)
class MeasureToAsk:
    """A metric or formula for which questions are generated."""

    id: str
    unit: str
    """Unit of its value: `USD`, `USD per share`, `percent`, `ratio`."""
    singular: Sequence[str] = ()
    """Names that are used with `was`."""
    plural: Sequence[str] = ()
    """Names that are used with `were`."""
    whole: str = ""
    """A wider metric: if a filing states another figure for it, the names could mean either."""
    is_formula: bool = False
    is_balance: bool = False
    """Whether it is a figure at a date, which cannot be summed over years."""


@dataclass(frozen=True, slots=True)
class Computed:
    """A measure of one company and year, with the stated figures it was computed from."""

    value: float
    figures: tuple[StatedFigure, ...]

    @property
    def rounding(self) -> float:
        """How far the rounding of the figures can change their sum."""
        return float(sum(figure.step for figure in self.figures))


def measures_to_ask(lexicon: Lexicon, listed: Mapping[str, Any]) -> Iterator[MeasureToAsk]:
    """Yield the listed metrics and formulas, in their order."""
    metrics = lexicon.metrics
    for name, names in listed["metrics"].items():
        yield MeasureToAsk(name, metrics[name].unit, **names, is_balance=metrics[name].period == "instant")
    for name, names in listed["formulas"].items():
        formula = lexicon.formulas[name]
        inputs = {metrics[each].period for each in expression_inputs(formula.expression) if each in metrics}
        yield MeasureToAsk(name, formula.unit, **names, is_formula=True, is_balance=inputs == {"instant"})


def compute(measure: MeasureToAsk, company: str, year: int, figures: Figures, lexicon: Lexicon) -> Computed | None:
    """Compute the measure from stated figures; None if one is missing, or if its name could mean another figure."""
    used: dict[SlotKey, StatedFigure] = {}

    def value(node: Node, of_year: int) -> float:
        match node:
            case Constant(amount):
                return float(amount)
            case Quantity(name, shift) if name in lexicon.formulas:
                return value(parse_formula(lexicon.formulas[name].expression), of_year + shift)
            case Quantity(name, shift):
                figure = figures.figure(company, name, of_year + shift)
                if figure is None:
                    raise LookupError(name)
                used[figure.slot] = figure
                return float(figure.value)
            case Operation(sign, left, right):
                return _APPLIED[sign](value(left, of_year), value(right, of_year))
            case Function("mean", parts):
                return fmean(value(part, of_year) for part in parts)
            case Function("abs", (of,)):
                return abs(value(of, of_year))
        raise LookupError("alternatives and optional parts have no single right value")

    try:
        computed = Computed(value(parse_formula(measure.id), year), tuple(used.values()))
    except (LookupError, ZeroDivisionError):
        return None
    whole = figures.figure(company, measure.whole, year)
    return computed if whole is None or all(whole.value == each.value for each in computed.figures) else None


_APPLIED: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


read_data = partial(load_yaml, package=__package__)
"""Returns the content of a YAML file of this package, by its name."""


@dataclass(frozen=True, slots=True)
class ExpectedAnswer:
    """The right answer."""

    value: float
    """In base units: dollars, shares, percent."""
    unit: str
    """`USD`, `USD per share`, `percent`, `percentage points`, `ratio`."""
    rounding: float = 0.0
    """Tolerance from the rounding of the figures."""
    signed: bool = True
    """False if the question leaves the sign open, as for a difference or a fall."""
    company: str | None = None
    """Key of the company that the answer has to name, if any."""


@dataclass(frozen=True, slots=True)
class GeneratedQuestion:
    """A question and the requirements for its answer."""

    id: str
    family: Family | QuestionKind
    kind: str
    text: str
    slots: tuple[SlotKey, ...] = ()
    """The figures it needs, sorted."""
    filings: tuple[str, ...] = ()
    """A smallest found set of filings that contain the figures."""
    expected: ExpectedAnswer | None = None
    """None for an unanswerable question."""
    missing_names: tuple[tuple[str, ...], ...] = ()
    """What a refusal has to name: at least one name of each group."""
    exact: bool = False
    """Whether the answer is one tagged figure, which has to match to the last printed digit."""


TOLERANCE, EXACT_TOLERANCE = 0.005, 1e-6
"""Relative tolerances."""
_LAST_DIGITS = {"USD per share": 0.005, "ratio": 0.005, "percent": 0.05, "percentage points": 0.05}
"""Half of the last digit that is shown."""
_MAX_ROUNDS = 3


def judge(question: GeneratedQuestion, answer: Answer, companies: Mapping[str, Company]) -> Row:
    """Return the row of one answer; `companies` are those of the index, by key.

    `full_ledger` is whether no required slot is empty after at most three rounds; `right` whether the value, and the
    company if one is asked for, are right. Both are None for an unanswerable question. `missing_named`, whether the
    refusal names what is missing, is None for an answerable one.
    """
    slots = {entry.slot: entry.figure is not None for entry in answer.ledger if entry.required}
    required = {SlotKey(of.company, of.metric, of.fiscal_year, of.quarter): filled for of, filled in slots.items()}
    asked = question.expected is not None
    full = bool(required) and all(required.values()) and answer.rounds <= _MAX_ROUNDS
    right = not answer.refused and question.expected is not None and is_right(question, answer, companies)
    figures = {
        "full_ledger": full if asked else None,
        "right": right if asked else None,
        "wrong": not right and not answer.refused if asked else None,
        "missing_named": None if asked else answer.refused and names_missing(question, answer),
        "slots_lacking": [_shown(slot) for slot in question.slots if not required.get(slot)] if asked else [],
        "filings": question.filings,
        "rounds": answer.rounds,
    }
    labels = {"family": question.family.value, "kind": question.kind}
    return row_of(question.id, question.text, _expected_text(question, companies), answer, labels, figures)


def has_failed(row: Row) -> bool:
    """Return whether an answer misses any of its requirements."""
    right = row.figures["right"]
    return not (row.figures["missing_named"] if right is None else right and row.figures["full_ledger"])


def is_right(question: GeneratedQuestion, answer: Answer, companies: Mapping[str, Company]) -> bool:
    """Return whether the requested company is the first one named, and the value, if given, is right."""
    expected, value = question.expected, answer.answer.value
    assert expected is not None
    if expected.company is not None:
        text = answer.answer.text
        named = ((text.find(name), key) for key, each in companies.items() for name in each.names if name in text)
        if min(named, default=(0, None))[1] != expected.company:
            return False
    if value is None:
        return expected.company is not None
    given, wanted = value * USD_SCALES.get(answer.answer.unit or "", 1), expected.value
    if not expected.signed:
        given, wanted = abs(given), abs(wanted)
    relative, digit = (EXACT_TOLERANCE, 0.0) if question.exact else (TOLERANCE, _LAST_DIGITS.get(expected.unit, 0.0))
    return abs(given - wanted) <= max(relative * abs(wanted), expected.rounding, digit)


def names_missing(question: GeneratedQuestion, answer: Answer) -> bool:
    """Return whether the refusal names what is missing, by one name of each group."""
    said = _plain(" ".join((*answer.missing, answer.answer.text)))
    return all(any(f" {_plain(name).strip()} " in said for name in names) for names in question.missing_names)


def _plain(text: str) -> str:
    words = re.findall(r"[a-z0-9&]+", re.sub("['\u2019]", "", text.casefold()))
    return f" {' '.join(words)} "


def _expected_text(question: GeneratedQuestion, companies: Mapping[str, Company]) -> str:
    if question.expected is None:
        named = "; ".join(names[0] for names in question.missing_names)
        return f"refused: {question.kind}, naming {named}"
    expected = question.expected
    value = f"{expected.value:,.4g}" if abs(expected.value) < 1_000 else f"{expected.value:,.0f}"
    named = f"{companies[expected.company].name}: " if expected.company else ""
    return f"{named}{value} {expected.unit}"


def _shown(key: SlotKey) -> str:
    quarter = f"Q{key.quarter} " if key.quarter else ""
    return f"{key.company} {key.metric} {quarter}FY{key.fiscal_year}"
