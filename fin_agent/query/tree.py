"""The Query: a question as a typed tree, whether made by rules, a chat model or an edit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from enum import StrEnum
from functools import partial, reduce
from itertools import chain
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from fin_agent.lexicon.company_mentions import CompanyMention
from fin_agent.lexicon.fiscal_periods import FiscalPeriod


class Kind(StrEnum):
    """The kind of request."""

    VALUE = "value"
    CHANGE = "change"
    """How a measure moved between periods: by an amount, a rate, or whether at all."""
    COMPARISON = "comparison"
    """Companies, parts, periods or measures compared with each other."""
    RANKING = "ranking"
    AGGREGATE = "aggregate"
    """A total or an average over companies, parts or periods."""
    CLAIM = "claim"
    """Yes or no, decided by figures."""
    REASON = "reason"
    DEFINITION = "definition"
    WHEN = "when"
    WHERE = "where"
    DESCRIPTION = "description"
    """Any other question in words."""
    FORECAST = "forecast"
    """A figure of a future time: no filing states it."""


FIGURE_KINDS = frozenset({Kind.VALUE, Kind.CHANGE, Kind.COMPARISON, Kind.RANKING, Kind.AGGREGATE, Kind.CLAIM})
"""Kinds that figures answer; the others are answered in words, or not at all."""


class _Node(BaseModel):
    model_config = ConfigDict(frozen=True)


class Period(_Node):
    """A requested time, in the filer's own numbering of years; `fiscal_year` None means the latest one filed."""

    fiscal_year: int | None = None
    quarter: int | None = None
    months: int = 12
    """Length: 12, 9, 6 or 3; 0 for an instant. A quarter is 3, a half-year 6, `year to date` -1 (as long as filed)."""
    half: int | None = None
    end: date | None = None
    """The last day, if the question prints it."""
    opening: bool = False
    """Whether the balance sheet before it is meant: of a day, that before its fiscal year."""

    @classmethod
    def of(cls, named: FiscalPeriod) -> Period:
        """Return a fiscal period as a requested one."""
        months = named.months or (3 if named.quarter else 12)
        return cls(fiscal_year=named.fiscal_year, quarter=named.quarter, months=months)

    def __str__(self) -> str:
        year = "latest" if self.fiscal_year is None else f"FY{self.fiscal_year}"
        if self.quarter:
            year = f"Q{self.quarter} {year}"
        elif self.half:
            year = f"H{self.half} {year}"
        elif self.months not in (0, 12):
            year = f"{self.months}M {year}" if self.months > 0 else f"YTD {year}"
        return f"{'start of ' * self.opening}{year}"


Operator = Literal["+", "-", "*", "/", "^"]
HowMoved = Literal["change", "growth", "cagr"]
Way = Literal["above", "below", "at-least", "at-most", "equal", "rose", "fell"]
Balance = Literal["closing", "opening", "average"]


class Line(_Node):
    """A printed line: `words` is the phrase of the question without company, period and part.

    `metric` is an id of the lexicon if the phrase names one, with its synonyms, labels and signs.
    """

    node: Literal["line"] = "line"
    words: str
    metric: str | None = None
    part: str | None = None
    """Segment, region or product of this line, as filings print it; None for the question's own.

    `*` means each member of the family that `Query.parts` selects.
    """
    whole: bool = False
    """Whether it is for the whole company, although the question names a part."""
    company: str | None = None
    """Key of this line's own company."""
    period: Period | None = None
    """This line's own period."""
    shift: int = 0
    """Shift in periods from the requested one: -1 for `prior year revenue`."""
    balance: Balance | None = None
    """The end of the period for a balance; None for that of the lexicon and the formula."""
    place: str = ""
    """Location of its figure (`place_of` of fact search), if determined; empty for any."""


class Number(_Node):
    """A constant in the question: `365`, `1,000`, `$5 billion`."""

    node: Literal["number"] = "number"
    value: float
    unit: str = ""
    """`USD`, `percent`, `days`, `shares`; empty for a plain number."""
    within: float = 0.0
    """Half of its last digit as written, in the same unit: the rounding tolerance."""


class Operation(_Node):
    """`left operator right`."""

    node: Literal["operation"] = "operation"
    operator: Operator
    left: Measure
    right: Measure


class Function(_Node):
    """A function of measures: the mean of several, the absolute value of one."""

    node: Literal["function"] = "function"
    name: Literal["mean", "sum", "abs", "sqrt"]
    of: tuple[Measure, ...]


class NamedFormula(_Node):
    """A formula of the lexicon by id; the other fields are as in Line."""

    node: Literal["named"] = "named"
    words: str
    formula: str
    closing: bool = False
    """Whether its balances are those at the end of the period, in place of averages."""
    part: str | None = None
    company: str | None = None
    period: Period | None = None
    shift: int = 0


class Move(_Node):
    """The movement of a measure from one period to another.

    If `start` is None, the periods of the query apply: first and last, or the only one and the one before it.
    """

    node: Literal["move"] = "move"
    of: Measure
    how: HowMoved
    start: Period | None = None
    end: Period | None = None


Measure = Annotated[Line | Number | Operation | Function | NamedFormula | Move, Field(discriminator="node")]


class Axis(StrEnum):
    """The dimension of a comparison."""

    COMPANIES = "companies"
    PERIODS = "periods"
    PARTS = "parts"
    MEASURES = "measures"


class Combination(StrEnum):
    """What is requested of the things compared."""

    EACH = "each"
    """List them."""
    DIFFERENCE = "difference"
    RATIO = "ratio"
    EXCESS = "excess"
    """The percentage by which the first exceeds the second."""
    HIGHEST = "highest"
    LOWEST = "lowest"
    RANK = "rank"
    """All of them in order."""
    TOTAL = "total"
    AVERAGE = "average"
    COUNT = "count"
    """The number of them for which the claim is true."""
    EVERY = "every"
    """Whether the claim is true for all of them."""
    FILTER = "filter"
    """Those for which the claim is true: `which regions shrank`."""


class Comparison(_Node):
    """A comparison along one dimension."""

    axis: Axis
    how: Combination = Combination.EACH
    descending: bool = True
    """For HIGHEST, RANK and `nth`: whether to start from the largest."""
    nth: int | None = None
    """2 for `the second largest`; counted after removing `Parts.without`."""
    top: int | None = None
    """3 for `the three largest`."""
    apart: bool = False
    """Whether the value asked for is how far the first member is from the next: `which is higher, and by how much`."""


class Parts(_Node):
    """Parts of a company: named ones, or a family by the word for its kind."""

    names: tuple[str, ...] = ()
    """As filings print them."""
    kind: str | None = None
    """`segment`, `region`, `country`, `product`, `customer` ...: every member of the family."""
    called: str = ""
    """The question's own words for the kind, where a table may be called by them: `service offering`."""
    without: tuple[str, ...] = ()
    """Members to leave out: `after the United States`, `excluding eliminations`."""
    count: int = 0
    """How many members the question says there are: `all four regions`; 0 if it does not."""


class Company(_Node):
    """An indexed company."""

    key: str
    name: str
    confidence: float = 1.0


class Claim(_Node):
    """The claim of a yes-or-no question about the measure or its movement."""

    way: Way
    bound: Number | None = None
    """None for the thing compared with, or zero."""


class Query(_Node):
    """A question as the engine understands it.

    >>> Query(question="Apple revenue in 2024?", measures=(Line(words="revenue", metric="revenue"),)).kind.value
    'value'
    """

    question: str
    kind: Kind = Kind.VALUE
    measures: tuple[Measure, ...] = ()
    """Several if several are requested or compared."""
    companies: tuple[Company, ...] = ()
    unknown_companies: tuple[str, ...] = ()
    parts: Parts | None = None
    periods: tuple[Period, ...] = ()
    """In the order of the question; ranges are expanded, and `respectively` pairs periods with companies."""
    respectively: bool = False
    comparison: Comparison | None = None
    chosen_by: Measure | None = None
    """The measure that selects one member, of which another measure is requested; `comparison` is the selection."""
    claim: Claim | None = None
    unit: str | None = None
    """Unit of the answer: `USD millions`, `percent`, `basis points`, `ratio`, `days` ..."""
    decimals: int | None = None
    report: str | None = None
    """The report whose figures are requested, in the question's words: `as originally reported`."""
    assumed: tuple[str, ...] = ()
    """Assumptions about what the question leaves open."""
    unread: tuple[str, ...] = ()
    """Content words that the tree does not cover: such a reading is not answered."""

    @property
    def asks_figures(self) -> bool:
        """Whether figures answer the question."""
        return self.kind in FIGURE_KINDS and bool(self.measures)

    @property
    def tells_difference(self) -> bool:
        """Whether its answer gives the difference as well: of a change, or of companies or parts that are ranked."""
        chosen = self.comparison
        if chosen is None:
            return self.kind is Kind.CHANGE
        return chosen.how in (Combination.HIGHEST, Combination.LOWEST) and chosen.axis in (Axis.COMPANIES, Axis.PARTS)

    @property
    def only_measure(self) -> Measure | None:
        """The measure, if there is one alone."""
        return self.measures[0] if len(self.measures) == 1 else None

    @property
    def only_part(self) -> str | None:
        """The named part, if there is one alone."""
        named = self.parts.names if self.parts is not None and not self.parts.kind else ()
        return named[0] if len(named) == 1 else None

    @property
    def axis(self) -> Axis | None:
        """The dimension of the comparison; None without one."""
        return self.comparison.axis if self.comparison is not None else None

    @property
    def combined(self) -> Combination | None:
        """How the things compared are combined; None without a comparison."""
        return self.comparison.how if self.comparison is not None else None

    def lines(self) -> Iterator[Line | NamedFormula]:
        """Yield every printed line and named formula of the measures, left to right."""
        for measure in (*self.measures, *((self.chosen_by,) if self.chosen_by else ())):
            yield from lines_of(measure)

    def with_lines(self, changed: Callable[[Line | NamedFormula], Measure]) -> Query | None:
        """Return the query with `changed` applied to each line of its measures; None if that changes nothing."""
        measures = tuple(with_lines(one, changed) for one in self.measures)
        return self.model_copy(update={"measures": measures}) if measures != self.measures else None


def companies_of(mentions: Iterable[CompanyMention]) -> tuple[Company, ...]:
    """Return the companies that a question mentions, each once, in order."""
    named = {one.company.key: one for one in mentions}
    return tuple(Company(key=key, name=one.company.name, confidence=one.confidence) for key, one in named.items())


def lines_of(measure: Measure) -> Iterator[Line | NamedFormula]:
    """Yield the printed lines and named formulas of a measure, left to right."""
    match measure:
        case Line() | NamedFormula():
            yield measure
        case Operation(left=left, right=right):
            yield from chain(lines_of(left), lines_of(right))
        case Function(of=parts):
            yield from chain.from_iterable(map(lines_of, parts))
        case Move(of=of):
            yield from lines_of(of)


def with_lines(measure: Measure, changed: Callable[[Line | NamedFormula], Measure]) -> Measure:
    """Return the measure with `changed` applied to each printed line and named formula."""
    match measure:
        case Line() | NamedFormula():
            return changed(measure)
        case Operation(left=left, right=right):
            return measure.model_copy(update={"left": with_lines(left, changed), "right": with_lines(right, changed)})
        case Function(of=parts):
            return measure.model_copy(update={"of": tuple(with_lines(part, changed) for part in parts)})
        case Move(of=of):
            return measure.model_copy(update={"of": with_lines(of, changed)})
        case _:
            return measure


def without_move(measure: Measure) -> Measure:
    """Return the measure that moves; any other measure unchanged."""
    return measure.of if isinstance(measure, Move) else measure


def operation(operator: Operator, left: Measure, right: Measure) -> Operation:
    """Return `left operator right`."""
    return Operation(operator=operator, left=left, right=right)


def line_of_metric(metric: str) -> Line:
    """Return the line of a metric, in the words of its name."""
    return Line(words=metric.replace("_", " "), metric=metric)


def percentage(part: Measure, whole: Measure) -> Operation:
    """Return one measure in percent of another; a part that the whole of the same line bears is that of the first."""
    of_one = isinstance(part, Line) and isinstance(whole, Line) and part.part is None and part.words == whole.words
    if isinstance(whole, Line) and whole.part is not None and of_one:
        part, whole = part.model_copy(update={"part": whole.part}), whole.model_copy(update={"part": None})
    return operation("/", operation("*", Number(value=100, unit="percent"), part), whole)


def total_of(measures: Iterable[Measure]) -> Measure:
    """Return the sum of measures."""
    return reduce(partial(operation, "+"), measures)


def share_of(measure: Measure | None) -> tuple[Measure, Measure] | None:
    """Return the part and the whole of one measure in percent of another; None for any other measure."""
    match measure:
        case Operation(
            operator="/", left=Operation(operator="*", left=Number(value=100, unit="percent"), right=part), right=whole
        ):
            return part, whole
        case _:
            return None


def measure_text(measure: Measure, above: int = 0) -> str:
    """Return the measure as text with the fewest parentheses: `(net income + interest) / total assets`."""
    match measure:
        case Number(value=value, unit="USD") if value >= _MILLION:
            size, name = (1000 * _MILLION, "billion") if value >= 1000 * _MILLION else (_MILLION, "million")
            return f"${value / size:,g} {name}"
        case Number(value=value, unit=unit):
            shown = f"{int(value):,}" if float(value).is_integer() else f"{value:,}"
            return f"{shown}%" if unit == "percent" else shown
        case Operation() if (pair := share_of(measure)) is not None:
            part, whole = pair
            if isinstance(part, Line) and whole == part.model_copy(update={"whole": True}):
                return f"share of {measure_text(part, above)}"
            return measure_text(operation("/", part, whole), above)
        case Operation(operator=operator, left=left, right=right):
            rank = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}[operator]
            text = f"{measure_text(left, rank)} {operator} {measure_text(right, rank + 1)}"
            return f"({text})" if rank < above else text
        case Function(name=name, of=parts):
            return f"{name}({', '.join(measure_text(part) for part in parts)})"
        case Move(of=of, how=how):
            return f"{how} of {measure_text(of, 4)}"
        case Line() | NamedFormula():
            ahead = {"average": "average ", "opening": "opening ", "closing": "closing "}
            lead = ahead.get(getattr(measure, "balance", None) or "", "")
            lead += "prior " if measure.shift == -1 else ""
            of_part = f"{measure.part} " if measure.part not in (None, "*") else ""
            period = f" {measure.period}" if measure.period else ""
            return f"{lead}{of_part}{measure.words}{period}"


_MILLION = 1e6

Operation.model_rebuild()
Function.model_rebuild()
Move.model_rebuild()
Query.model_rebuild()
