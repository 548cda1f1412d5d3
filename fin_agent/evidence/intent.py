"""Intent: the fields of a question, aligned with those of the evidence."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel

from fin_agent.evidence.cards.card import Use
from fin_agent.evidence.report_selection import RequestedReport
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.query.tree import Query
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import Statement

OutputUnit = Literal[
    "USD", "USD thousands", "USD millions", "USD billions", "USD per share", "percent", "percentage points", "ratio",
    "days", "years", "shares", "count",
]  # fmt: skip


class Relation(StrEnum):
    """What a question asks about the measure over its periods."""

    EACH = "each"
    """The figure of every requested period."""
    GROWTH = "growth"
    ANNUAL_GROWTH = "annual-growth"
    """Compound annual growth rate."""
    CHANGE = "change"
    AVERAGE = "average"
    TOTAL = "total"
    TREND = "trend"
    """Whether it rose or fell: yes or no, with the figures."""
    EVERY_YEAR = "every-year"
    """Whether it moved in one direction every year: yes or no, with the figures."""
    YEARS_COUNTED = "years-counted"
    """The number of years in which it moved in the requested direction."""
    EXPLANATION = "explanation"
    """The answer is text, not a figure."""


class Comparison(StrEnum):
    """How the companies are compared; HIGHEST and LOWEST also compare periods or measures of one company."""

    NONE = "none"
    DIFFERENCE = "difference"
    RATIO = "ratio"
    HIGHEST = "highest"
    LOWEST = "lowest"
    TOTAL = "total"
    AVERAGE = "average"
    EXCESS = "excess"
    """The percentage by which the first exceeds the second."""
    RANK = "rank"
    """All of them in descending order."""
    FILTER = "filter"
    """Those for which the claim is true."""


class Intent(BaseModel, frozen=True):
    """A question as the engine understands it."""

    question: str
    query: Query | None = None
    """The parsed query; None if the question was not parsed completely."""
    core: str
    """The question without instructions and definitions; the text for search."""
    companies: tuple[RequestedCompany, ...] = ()
    assumed: tuple[str, ...] = ()
    """Assumptions about what the question leaves open."""
    ask_back: str = ""
    """What to ask the user if the question has several readings; empty if it has one."""
    unknown_companies: tuple[str, ...] = ()
    """Companies in the question that the index lacks."""
    unsupported: tuple[str, ...] = ()
    """Requirements that cannot be met whatever is indexed, described for the user."""
    ambiguous: bool = False
    """Whether several figures fit a question that was understood, or its periods do not compare: words would guess."""
    beyond_rules: tuple[str, ...] = ()
    """Requirements that the rules cannot compute, described for the user; only a program by a model may answer them."""
    periods: tuple[FiscalPeriod, ...] = ()
    """Requested fiscal periods, ascending; empty if the question names none."""
    dates: tuple[date, ...] = ()
    forms: tuple[Form, ...] = ()
    """Forms that the question names (`8k filing`)."""
    relation: Relation = Relation.EXPLANATION
    comparison: Comparison = Comparison.NONE
    place: int = 1
    """Position from the extreme: 2 for the second highest or lowest."""
    top: int | None = None
    """The number of members that a ranking tells, the first ones; None for all."""
    apart: bool = False
    """Whether the size of a difference is asked for: between two periods, or of an extreme from the next."""
    losses: bool = False
    """Whether negative figures are compared by size, as losses or declines: the largest is the most negative."""
    measure: str = ""
    """The measure in the question's words."""
    expression: str = ""
    """The measure over metrics, in the grammar of `evidence.expressions`; empty if the question asks for text."""
    measure_unit: str = ""
    """Unit of the expression's value before conversion: `USD`, `percent`, `ratio`, `days` ..."""
    unit: OutputUnit | None = None
    """The requested unit."""
    further: tuple[RequestedMeasure, ...] = ()
    """Additional measures for the same companies and periods: `revenue and net income`."""
    decimals: int | None = None
    statements: tuple[Statement, ...] = ()
    """Statements that the question names as the source."""
    use: Use = Use.LOOKUP
    """The use of the evidence, in the terms of the cards."""
    claim: Claim | None = None
    """The claim of a yes-or-no question about the figures."""
    selection: Selection | None = None
    """The ranking that selects one company: `of the company with the highest revenue`."""
    parts: tuple[str, ...] = ()
    """Segments, products or regions that limit the figures, as filings print them; none for the whole company."""
    report: RequestedReport | None = None
    """The report whose figures are requested; None if the question does not specify one."""
    asks: tuple[str, ...] = ()
    """Simpler questions that together are equivalent, each parsed by rules; empty if the question is parsed as one."""
    beside: tuple[str, ...] = ()
    """What the answer to the request before quotes, if this one is to be answered from there and around it."""
    topics: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    """Search terms: words of the core question."""
    expansions: tuple[str, ...] = ()
    """Search terms that filings use for the same concepts."""
    names_metric: bool = False
    """Whether the question names a metric of the lexicon, even one limited to a part (`iPhone revenue`)."""
    asks_figure: bool = False
    """Whether the question asks for a number (`how much`), with or without a known measure."""

    @property
    def numeric(self) -> bool:
        """Whether the answer is computed from figures."""
        return bool(self.expression) and self.relation is not Relation.EXPLANATION

    @property
    def measures(self) -> tuple[RequestedMeasure, ...]:
        """All requested measures, in order; `Term.measure` is an index into them."""
        first = RequestedMeasure(
            words=self.measure, expression=self.expression, measure_unit=self.measure_unit, unit=self.unit
        )
        return (first, *self.further)

    def of_measure(self, measure: RequestedMeasure) -> Intent:
        """Return the intent limited to one measure."""
        own = measure.model_dump(include={"expression", "measure_unit", "unit"})
        return self.model_copy(update={**own, "measure": measure.words, "further": ()})


class RequestedMeasure(BaseModel, frozen=True):
    """One of several measures, with its own fields of an Intent."""

    words: str
    expression: str
    measure_unit: str
    unit: OutputUnit | None = None
    """Requested unit, if it fits this measure."""


class RequestedCompany(BaseModel, frozen=True):
    """An indexed company that the question names, or one of several parts of it that are compared."""

    key: str
    name: str
    confidence: float = 1.0
    part: str | None = None
    """The part as filings print it; None for the whole company, or if `Intent.parts` has the only one."""
    period: FiscalPeriod | None = None
    """Its own period, if each company is requested in a different one."""


class Claim(BaseModel, frozen=True):
    """The claim of a yes-or-no question about its figures."""

    above: bool | None
    """Whether the figure is claimed to be above the bound, else below; None if it is claimed to equal the bound."""
    bound: float | None = None
    """In base units of the measure; None if the bound is the figure of the other companies."""
    equal: bool = False
    """Whether a figure equal to the bound meets the claim."""
    within: float = 0.0
    """Tolerance for a claim of equality, since the bound may be rounded."""


class Selection(BaseModel, frozen=True):
    """The ranking that selects one company."""

    extreme: Comparison
    """HIGHEST or LOWEST."""
    measure: str
    expression: str
    measure_unit: str
    relation: Relation = Relation.EACH
    """EACH, or a relation such as GROWTH for `the fastest revenue growth`."""
    periods: tuple[FiscalPeriod, ...] = ()
    """Periods of the ranking; empty for those of the question."""


Intent.model_rebuild()
