"""Intent: a question abstracted over the fields that evidence has."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict

from fin_agent.evidence.cards.card import Use
from fin_agent.evidence.report_selection import RequestedReport
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.query.tree import Query
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import Statement

OutputUnit = Literal[
    "USD",
    "USD thousands",
    "USD millions",
    "USD billions",
    "USD per share",
    "percent",
    "percentage points",
    "ratio",
    "days",
    "years",
    "shares",
    "count",
]


class Relation(StrEnum):
    """What is asked of the measure over its periods."""

    EACH = "each"
    """The figure itself, of every period asked about."""
    GROWTH = "growth"
    ANNUAL_GROWTH = "annual-growth"
    """Compound annual growth rate."""
    CHANGE = "change"
    AVERAGE = "average"
    TOTAL = "total"
    TREND = "trend"
    """Did it rise or fall: yes or no, with the figures."""
    EVERY_YEAR = "every-year"
    """Did it move one way in every year: yes or no, with the figures."""
    YEARS_COUNTED = "years-counted"
    """In how many of the years it moved as asked."""
    EXPLANATION = "explanation"
    """Words are asked for, not a figure."""


class Comparison(StrEnum):
    """What is asked of the companies against each other; HIGHEST and LOWEST also of one's periods or measures."""

    NONE = "none"
    DIFFERENCE = "difference"
    RATIO = "ratio"
    HIGHEST = "highest"
    LOWEST = "lowest"
    TOTAL = "total"
    AVERAGE = "average"
    EXCESS = "excess"
    """By what percentage the first exceeds the second."""
    RANK = "rank"
    """All of them in order, the highest first."""
    FILTER = "filter"
    """Those of which the claim holds."""


class Intent(BaseModel):
    """A question as the engine understands it."""

    model_config = ConfigDict(frozen=True)

    question: str
    query: Query | None = None
    """The question read whole; None where it was not."""
    core: str
    """The question without its instructions and definitions: what is searched for."""
    companies: tuple[RequestedCompany, ...] = ()
    assumed: tuple[str, ...] = ()
    """What the question leaves open and was settled without it."""
    ask_back: str = ""
    """What to ask the person, where the question can be meant in several ways; empty where it need not be asked."""
    unknown_companies: tuple[str, ...] = ()
    """Named in the question, not in the index."""
    unsupported: tuple[str, ...] = ()
    """What is asked that cannot be answered whatever is indexed, in words."""
    beyond_rules: tuple[str, ...] = ()
    """What rules cannot compute of it, in words: only a program that a model writes may answer it."""
    periods: tuple[FiscalPeriod, ...] = ()
    """Fiscal periods asked about, ascending; empty where the question names none."""
    dates: tuple[date, ...] = ()
    forms: tuple[Form, ...] = ()
    """Kinds of document the question names (`8k filing`)."""
    relation: Relation = Relation.EXPLANATION
    comparison: Comparison = Comparison.NONE
    place: int = 1
    """2 for the second highest (or lowest)."""
    losses: bool = False
    """Whether figures below zero are asked about by their size, as losses or falls: the largest is furthest below."""
    measure: str = ""
    """The measure in words."""
    expression: str = ""
    """The measure over metrics, in the grammar of `evidence.expressions`; empty for a question of words."""
    measure_unit: str = ""
    """Unit of the expression's value before it is converted: `USD`, `percent`, `ratio`, `days` ..."""
    unit: OutputUnit | None = None
    """Unit asked for."""
    further: tuple[RequestedMeasure, ...] = ()
    """Measures asked for beside the first, of the same companies and periods: `revenue and net income`."""
    decimals: int | None = None
    statements: tuple[Statement, ...] = ()
    """Statements the question names as its source."""
    use: Use = Use.LOOKUP
    """What is wanted of the evidence, in the terms by which cards say what they serve."""
    claim: Claim | None = None
    """What a yes-or-no question says of the figures."""
    selection: Selection | None = None
    """By what one company is chosen before it is asked about: `of the company with the highest revenue`."""
    formulas: tuple[StatedFormula, ...] = ()
    """Formulas that the question itself gives."""
    parts: tuple[str, ...] = ()
    """Segments, products, regions the question narrows its figures to, as filings print them; none for the whole."""
    report: RequestedReport | None = None
    """Which report's statement of the figures is meant; None where the question does not say."""
    asks: tuple[str, ...] = ()
    """Questions that together ask what this one does, each of which rules read; empty where it is read as one."""
    topics: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    """Search terms: words of the core question."""
    expansions: tuple[str, ...] = ()
    """Search terms that filings use for the same thing."""
    names_metric: bool = False
    """Whether a metric of the lexicon is named, even one that other words narrow to a part (`iPhone revenue`)."""
    asks_figure: bool = False
    """Whether a number is asked for (`how much`), with or without a known measure."""

    @property
    def numeric(self) -> bool:
        """Whether the answer is computed from figures."""
        return bool(self.expression) and self.relation is not Relation.EXPLANATION

    @property
    def measures(self) -> tuple[RequestedMeasure, ...]:
        """All measures asked for, the first one first; a `Term` says which of them it is of."""
        first = RequestedMeasure(
            words=self.measure, expression=self.expression, measure_unit=self.measure_unit, unit=self.unit
        )
        return (first, *self.further)

    def of_measure(self, measure: RequestedMeasure) -> Intent:
        """The question about one of the measures alone."""
        return self.model_copy(
            update={
                "measure": measure.words,
                "expression": measure.expression,
                "measure_unit": measure.measure_unit,
                "unit": measure.unit,
                "further": (),
            }
        )


class RequestedMeasure(BaseModel):
    """One of several measures, with the fields of an Intent that are its own."""

    model_config = ConfigDict(frozen=True)

    words: str
    expression: str
    measure_unit: str
    unit: OutputUnit | None = None
    """Unit asked for, where it fits this measure."""


class RequestedCompany(BaseModel):
    """An indexed company the question names, or one of several parts of it that are set side by side."""

    model_config = ConfigDict(frozen=True)

    key: str
    name: str
    confidence: float = 1.0
    part: str | None = None
    """The part, as filings print it; None for a company as a whole, and where `Intent.parts` tells the only one."""
    period: FiscalPeriod | None = None
    """Its own period, where each company is asked about in another one."""


class Claim(BaseModel):
    """What a yes-or-no question says of its figures."""

    model_config = ConfigDict(frozen=True)

    above: bool | None
    """Whether the figure is said to lie above the bound, else below it; None: it is said to be the bound."""
    bound: float | None = None
    """In base units of the measure; None: the figure of the other companies."""
    equal: bool = False
    """Whether a figure that is the bound itself meets the claim."""
    within: float = 0.0
    """By how much a figure may differ from a bound that it is said to be, which may be rounded."""


class Selection(BaseModel):
    """What the companies are ranked by, so that one of them is chosen."""

    model_config = ConfigDict(frozen=True)

    extreme: Comparison
    """HIGHEST or LOWEST."""
    measure: str
    expression: str
    measure_unit: str
    relation: Relation = Relation.EACH
    """EACH, or GROWTH and its like for `the fastest revenue growth`."""
    periods: tuple[FiscalPeriod, ...] = ()
    """Periods of the ranking; those of the question where it names no others."""


class StatedFormula(BaseModel):
    """A formula of the question over metrics of the lexicon, in the grammar of `evidence.expressions`."""

    model_config = ConfigDict(frozen=True)

    name: str
    expression: str


Intent.model_rebuild()
