"""Query: a question as one typed tree, whoever read it (rules, a chat model, an edit by hand)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Kind(StrEnum):
    """What is asked for."""

    VALUE = "value"
    CHANGE = "change"
    """How a measure moved between periods: by an amount, a rate, or whether at all."""
    COMPARISON = "comparison"
    """Companies, parts, periods or measures put against each other."""
    RANKING = "ranking"
    AGGREGATE = "aggregate"
    """A total or an average over companies, parts or periods."""
    CLAIM = "claim"
    """Yes or no, by figures."""
    REASON = "reason"
    LIST = "list"
    DEFINITION = "definition"
    POLICY = "policy"
    WHO = "who"
    WHEN = "when"
    WHERE = "where"
    COUNT = "count"
    """How many of something that is no figure of a statement: employees, stores, subsidiaries."""
    DESCRIPTION = "description"
    """Any other question in words."""
    FORECAST = "forecast"
    """A figure of a time to come: no filing states it."""
    MARKET = "market"
    """Needs a market price."""
    SMALL_TALK = "small-talk"
    """No question of filings: greetings, the weather."""
    OTHER_LANGUAGE = "other-language"


FIGURE_KINDS = frozenset({Kind.VALUE, Kind.CHANGE, Kind.COMPARISON, Kind.RANKING, Kind.AGGREGATE, Kind.CLAIM})
"""Kinds that figures answer; the others are answered in words, or not at all."""


class _Node(BaseModel):
    model_config = ConfigDict(frozen=True)


class Period(_Node):
    """A time asked about, by the filer's own naming of years unless `calendar`.

    `fiscal_year` None stands for the latest that is filed; `shift` counts periods of the same length in other years
    (-1: the year before, the year-ago quarter).
    """

    fiscal_year: int | None = None
    quarter: int | None = None
    months: int = 12
    """Length: 12, 9, 6 or 3; 0 for an instant. A quarter is 3, a half-year 6, `year to date` -1 (as long as filed)."""
    half: int | None = None
    end: date | None = None
    """The last day, where the question prints it."""
    calendar: bool = False
    """Whether the question says `calendar year`."""
    trailing: bool = False
    """Twelve months to `end` or to the end of the quarter, not a fiscal year."""
    shift: int = 0

    def __str__(self) -> str:
        year = "latest" if self.fiscal_year is None else f"FY{self.fiscal_year}"
        if self.quarter:
            year = f"Q{self.quarter} {year}"
        elif self.half:
            year = f"H{self.half} {year}"
        elif self.months not in (0, 12):
            year = f"{self.months}M {year}" if self.months > 0 else f"YTD {year}"
        return f"{year}{self.shift:+d}" if self.shift else year


Operator = Literal["+", "-", "*", "/", "^"]
HowMoved = Literal["change", "growth", "cagr"]
Way = Literal["above", "below", "at-least", "at-most", "equal", "rose", "fell", "exists"]
Balance = Literal["closing", "opening", "average"]


class Line(_Node):
    """A line as filings print it: `words` is the phrase of the question without company, period and part.

    `metric` is an id of the lexicon where the phrase names one: a source of synonyms, labels and signs.
    """

    node: Literal["line"] = "line"
    words: str
    metric: str | None = None
    basis: str | None = None
    """What narrows it in words: `attributable`, `adjusted`, `current portion`, `due within one year`, `per share`."""
    part: str | None = None
    """Segment, region, product as filings print it, where this line alone is of it; `*` for each member of the family
    that `Query.parts` selects; None: what the question says of all lines."""
    whole: bool = False
    """Of the whole company, although the question names a part."""
    company: str | None = None
    """Key of the company, where this line alone is of it."""
    period: Period | None = None
    """Where this line alone is of it."""
    shift: int = 0
    """Periods before the one asked about: -1 for `prior year revenue`."""
    balance: Balance | None = None
    """Which end of the period a balance is of; None: as the lexicon and the formula say."""
    place: str = ""
    """Where its figure stands (`place_of` of fact search), where that is settled; empty: wherever it is found."""


class Number(_Node):
    """A constant of the question: `365`, `1,000`, `$5 billion`."""

    node: Literal["number"] = "number"
    value: float
    unit: str = ""
    """`USD`, `percent`, `days`, `shares`; empty for a plain number."""
    within: float = 0.0
    """Half of its last digit as written, in the same unit: what it may be rounded by."""


class Operation(_Node):
    """`left operator right`."""

    node: Literal["operation"] = "operation"
    operator: Operator
    left: Measure
    right: Measure


class Function(_Node):
    """A function of measures: the mean of several, the absolute value of one."""

    node: Literal["function"] = "function"
    name: Literal["mean", "sum", "abs", "sqrt", "min", "max"]
    of: tuple[Measure, ...]


class NamedFormula(_Node):
    """A formula of the lexicon by its id; the fields below are as in Line."""

    node: Literal["named"] = "named"
    words: str
    formula: str
    closing: bool = False
    """Whether its balances are those at the end of the period where the formula averages them."""
    part: str | None = None
    company: str | None = None
    period: Period | None = None
    shift: int = 0


class Move(_Node):
    """How a measure moved from one period to another.

    Where `start` is None the periods of the query are meant: first and last, or the only one and the one before it.
    """

    node: Literal["move"] = "move"
    of: Measure
    how: HowMoved
    start: Period | None = None
    end: Period | None = None


Measure = Annotated[Line | Number | Operation | Function | NamedFormula | Move, Field(discriminator="node")]


class Axis(StrEnum):
    """What is put against each other."""

    COMPANIES = "companies"
    PERIODS = "periods"
    PARTS = "parts"
    MEASURES = "measures"


class Combination(StrEnum):
    """What is asked of things put against each other."""

    EACH = "each"
    """Side by side."""
    DIFFERENCE = "difference"
    RATIO = "ratio"
    EXCESS = "excess"
    """By what percentage the first exceeds the second."""
    HIGHEST = "highest"
    LOWEST = "lowest"
    RANK = "rank"
    """All of them in order."""
    SHARE = "share"
    TOTAL = "total"
    AVERAGE = "average"
    COUNT = "count"
    """In how many of them the claim holds."""
    EVERY = "every"
    """Whether the claim holds in all of them."""
    FILTER = "filter"
    """Those of which the claim holds: `which regions shrank`."""


class Comparison(_Node):
    """How things are put against each other."""

    axis: Axis
    how: Combination = Combination.EACH
    descending: bool = True
    """For HIGHEST, RANK and `nth`: from the largest down."""
    nth: int | None = None
    """2 for `the second largest`; among those that are left after `Parts.without`."""
    top: int | None = None
    """3 for `the three largest`."""


class Parts(_Node):
    """Parts of a company: named ones, or a family of them by the word for its kind."""

    names: tuple[str, ...] = ()
    """As filings print them."""
    kind: str | None = None
    """`segment`, `region`, `country`, `product`, `customer` ...: each member of the family is meant."""
    without: tuple[str, ...] = ()
    """Members left out: `after the United States`, `excluding eliminations`."""


class Company(_Node):
    """A company that the index holds."""

    key: str
    name: str
    confidence: float = 1.0


class Claim(_Node):
    """What a yes-or-no question says of the measure (or of its move)."""

    way: Way
    bound: Number | None = None
    """None: what it is compared with, or zero."""


class Query(_Node):
    """A question as the engine understands it.

    >>> Query(question="Apple revenue in 2024?", measures=(Line(words="revenue", metric="revenue"),)).kind.value
    'value'
    """

    question: str
    kind: Kind = Kind.VALUE
    measures: tuple[Measure, ...] = ()
    """Several where several are asked for side by side, or put against each other."""
    companies: tuple[Company, ...] = ()
    unknown_companies: tuple[str, ...] = ()
    parts: Parts | None = None
    periods: tuple[Period, ...] = ()
    """In the order of the question; a range is filled up, `respectively` pairs them with the companies."""
    respectively: bool = False
    comparison: Comparison | None = None
    chosen_by: Measure | None = None
    """What one member is chosen by, where another measure is then asked of it; `comparison` says how it is chosen."""
    claim: Claim | None = None
    unit: str | None = None
    """Unit of the answer: `USD millions`, `percent`, `basis points`, `ratio`, `days` ..."""
    decimals: int | None = None
    report: str | None = None
    """Which report's statement of the figures is meant, as the question says it: `as originally reported`."""
    statements: tuple[str, ...] = ()
    """Primary statements named as the source."""
    topics: tuple[str, ...] = ()
    """Words of a question in words: what it is about, without company and period."""
    assumed: tuple[str, ...] = ()
    """What the question leaves open and was settled without it."""
    unread: tuple[str, ...] = ()
    """Content words that no part of this tree says: such a reading is not answered."""

    @property
    def asks_figures(self) -> bool:
        """Whether figures answer it."""
        return self.kind in FIGURE_KINDS and bool(self.measures)

    def lines(self) -> Iterator[Line | NamedFormula]:
        """Every printed line and named formula of the measures, left to right."""
        for measure in (*self.measures, *((self.chosen_by,) if self.chosen_by else ())):
            yield from lines_of(measure)


def lines_of(measure: Measure) -> Iterator[Line | NamedFormula]:
    """The printed lines and named formulas of a measure, left to right."""
    match measure:
        case Line() | NamedFormula():
            yield measure
        case Operation(left=left, right=right):
            yield from lines_of(left)
            yield from lines_of(right)
        case Function(of=parts):
            for part in parts:
                yield from lines_of(part)
        case Move(of=of):
            yield from lines_of(of)
        case _:
            return


def with_lines(measure: Measure, changed: Callable[[Line | NamedFormula], Measure]) -> Measure:
    """The measure with each printed line and named formula as `changed` gives it."""
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


def measure_text(measure: Measure, above: int = 0) -> str:
    """The measure as people write it, with the fewest parentheses: `(net income + interest) / total assets`."""
    match measure:
        case Number(value=value, unit=unit):
            shown = f"{int(value):,}" if float(value).is_integer() else f"{value:,}"
            return f"{shown}%" if unit == "percent" else shown
        case Operation(operator="/", left=Operation(left=Number(value=100, unit="percent"), right=part), right=whole):
            return measure_text(Operation(operator="/", left=part, right=whole), above)
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


Operation.model_rebuild()
Function.model_rebuild()
Move.model_rebuild()
Query.model_rebuild()
