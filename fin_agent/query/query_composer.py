"""Compose the request from a question's words: a value, a movement, a comparison, a ranking, a claim."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import reduce
from itertools import pairwise

from fin_agent.lexicon.entry_loading import expression_inputs
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.periods import DateMention, PeriodMention, parse_periods
from fin_agent.query.lexer import Amount, LexedQuestion, Token, mentions_of, periods_in
from fin_agent.query.modifier_attachment import LINES, period_of
from fin_agent.query.parsing import ParsedQuestion, percentage
from fin_agent.query.question_sentences import QuestionSentences, requested_decimals, requested_unit
from fin_agent.query.tree import (
    Axis,
    Claim,
    Combination,
    Company,
    Comparison,
    Function,
    HowMoved,
    Kind,
    Line,
    Measure,
    Move,
    NamedFormula,
    Number,
    Operation,
    Parts,
    Period,
    Query,
    Way,
    lines_of,
    with_lines,
)

_ASKS_A_VERDICT = ("yes or no", "true or false", "right or wrong")
_ASKS = ("is", "are", "was", "were", "did", "does", "do", "has", "have", "had")


@dataclass
class QueryComposer:
    """Composes measures, modifiers and frames into a Query; frames that are not consumed are unread."""

    question: str
    sentences: QuestionSentences
    lexed: LexedQuestion
    parsed: ParsedQuestion
    lexicon: Lexicon
    before: Query | None = None
    """The previous question, for what this one leaves out."""
    left: dict[str, list[Token]] = field(default_factory=dict)
    inherited_selection: Comparison | None = None
    """The selection of the previous question, about whose result this one asks."""
    counted_years: bool = False
    """Whether the question counts years from the latest filed one: `the last three years`."""
    of_one_filing: bool = False
    """Whether it names no period and is about one filing: questions over years then use the years that it prints."""

    def __post_init__(self) -> None:
        self.left = {kind: list(tokens) for kind, tokens in self.parsed.frames.items()}
        if "BY_HOW_MUCH" in self.left:
            self.left.setdefault("DIFFERENCE", []).extend(self.left.pop("BY_HOW_MUCH"))
        counted = parse_periods(self.sentences.asked)
        self.counted_years = not self.parsed.periods and bool(counted.trailing_years or counted.since)
        core = self.sentences.asked.lower().lstrip(" \"'(")
        self.yes_or_no = core.split(" ", 1)[0] in _ASKS or any(words in core for words in _ASKS_A_VERDICT)

    # Frames.

    def has_unread(self, *kinds: str) -> bool:
        """Return whether a frame of one of these kinds is unread."""
        return any(kind in self.left for kind in kinds)

    def has_frame(self, *kinds: str) -> bool:
        """Return whether the question has a frame of one of these kinds, read or not."""
        return any(kind in self.parsed.frames for kind in kinds)

    def take_frames(self, *kinds: str) -> list[Token]:
        """Return the frames of these kinds and mark them as read."""
        return [token for kind in kinds for token in self.left.pop(kind, [])]

    # The query.

    def query(self) -> Query:
        """Compose the Query from measures, companies, periods, parts and frames."""
        self._inherit_measures()
        words = self._textual_kind()
        measures = list(self.parsed.measures)
        periods = self._periods()
        unit = self._unit()
        parts = self._parts()
        companies = tuple(
            {one.company.key: Company(key=one.company.key, name=one.company.name, confidence=one.confidence)
             for one in self.lexed.companies}.values()
        )  # fmt: skip
        paired = self._pair_periods()
        if paired is not None:
            periods = paired
        if self.before is not None and not companies and not self.parsed.unknown:
            companies = self.before.companies
            parts = parts or self.before.parts
        base = Query(
            question=self.question,
            companies=companies,
            unknown_companies=tuple(dict.fromkeys(self.parsed.unknown)),
            parts=parts,
            periods=periods,
            respectively=bool(self.take_frames("RESPECTIVELY")) or paired is not None,
            unit=unit,
            decimals=requested_decimals(self.question),
        )
        if words is not None:
            topics = tuple(line.words for measure in measures for line in lines_of(measure))
            return base.model_copy(update={"kind": words, "measures": tuple(measures), "topics": topics})
        self.take_frames("WHICH") if not self.has_unread("KIND", "PERIOD_KIND") else None
        put = _MeasureReading(self, base, measures)
        return put.query()

    def _pair_periods(self) -> tuple[Period, ...] | None:
        """Return the periods in the order of the companies, if each has its own: `Acme FY24 vs Bolt FY25`."""
        if self.parsed.arithmetic and len(self.parsed.measures) > 1:
            return None
        named = [one for one in self.lexed.tokens if one.type in ("COMPANY", "PERIOD")]
        kinds = [one.type for one in named]
        pairs = len(named) // 2
        if pairs < 2 or len(named) % 2 or kinds not in (["COMPANY", "PERIOD"] * pairs, ["PERIOD", "COMPANY"] * pairs):
            return None
        mentions = [mentions_of(one) for one in named if one.type == "PERIOD"]
        if any(len(one) != 1 or isinstance(one[0], DateMention) for one in mentions):
            return None
        keys = {one.company.key for one in self.lexed.companies}
        periods = tuple(period_of(one[0]) for one in mentions)
        own = len(keys) == pairs and len(set(periods)) > 1 and all(one.fiscal_year for one in periods)
        return periods if own else None

    def _inherit_measures(self) -> None:
        """Use the measures of the previous question, if this one has none or combines one with them.

        `..., and by how much did it rise?`, `..., and what share of revenue is that?`
        """
        measures = self.parsed.measures
        if self.before is None or not self.before.measures or any(self.has_unread(frame) for frame in _IN_WORDS):
            return
        earlier = [one.of if isinstance(one, Move) else one for one in self.before.measures]
        if not measures:
            self.parsed.measures = earlier
            self.parsed.arithmetic = False
            chosen = self.before.comparison
            if self.has_unread("SHARE") and len(earlier) == 1 and isinstance(earlier[0], Line) and _is_of_parts(chosen):
                self.take_frames("SHARE", "TOTAL", "WHICH")
                self.parsed.measures = [percentage(earlier[0], earlier[0].model_copy(update={"whole": True}))]
                self.inherited_selection = chosen
            if len(earlier) > 1 and self.has_unread("TOTAL"):
                self.take_frames("TOTAL")
                self.parsed.measures = [reduce(_sum_of, earlier)]
        elif len(measures) == 1 and len(earlier) == 1 and not self.parsed.parts:
            share = self.has_unread("SHARE", "CAME_FROM") or (
                self.has_unread("PERCENT") and _refers_back(self.sentences.asked)
            )
            if share and isinstance(measures[0], Line | NamedFormula):
                self.take_frames("SHARE", "CAME_FROM", "PERCENT", "TURNED", "WHICH")
                own = measures[0]
                if self.before.parts is not None and isinstance(own, Line):
                    own = own.model_copy(update={"whole": True})
                of_it = _OF_WHAT_WAS_ASKED.search(self.sentences.asked) is not None
                self.parsed.measures = [percentage(own, earlier[0]) if of_it else percentage(earlier[0], own)]

    def _textual_kind(self) -> Kind | None:
        """Return the kind of a question that no figure answers."""
        for frame, kind in _IN_WORDS.items():
            if self.has_unread(frame):
                return kind
        figures = self.has_unread("KIND", "FASTEST", "SLOWEST", "POSITIVE", "NEGATIVE")
        return None if self.parsed.measures or figures else Kind.DESCRIPTION

    def _periods(self) -> tuple[Period, ...]:
        """Return the periods in time order, then those that end on a printed day; ranges of years are expanded."""
        mentions = list(self.parsed.periods)
        pinned = any(line.period for measure in self.parsed.measures for line in lines_of(measure))
        text = self.sentences.asked
        if not mentions and not pinned and not self.parsed.arithmetic:
            text = self.question
            mentions = [one for token in periods_in(text) for one in mentions_of(token)]
        by_day = [one for one in mentions if isinstance(one, DateMention) or one.period_end]
        found = [period_of(one) for one in mentions if one not in by_day]
        if not (self.parsed.arithmetic and not found) and not pinned:
            parsed, named = parse_periods(text), {one.fiscal_year for one in found}
            ends = {one.date.year if isinstance(one, DateMention) else one.fiscal_year for one in by_day}
            found += [Period(fiscal_year=year) for year in parsed.years if year not in named | ends]
        found.sort(key=lambda one: (one.fiscal_year or 0, one.quarter or 5))
        asked = tuple(dict.fromkeys((*found, *map(period_of, by_day))))
        if self.before is not None and not asked and not self.counted_years:
            asked = self.before.periods
            self.of_one_filing = not self.before.question and len(asked) == 1
        return self._with_relative_period(asked)

    def _with_relative_period(self, found: tuple[Period, ...]) -> tuple[Period, ...]:
        """Return the only period with the one relative to it: the year before, the year after, the quarter before."""
        if len(found) != 1:
            return found
        (only,) = found
        if self.take_frames("YEAR_BEFORE"):
            return _shift_years(only, -1), only
        if self.take_frames("NEXT_YEAR"):
            return only, _shift_years(only, 1)
        if only.quarter and not only.end and self.take_frames("QUARTER_BEFORE"):
            last = {"quarter": 4, "fiscal_year": (only.fiscal_year or 0) - 1}
            return only.model_copy(update={"quarter": only.quarter - 1} if only.quarter > 1 else last), only
        return found

    def _unit(self) -> str | None:
        points, bps = self.take_frames("POINTS"), self.take_frames("BPS")
        scales = [unit for frame, unit in _UNITS.items() if self.take_frames(frame)]
        asked = requested_unit(self.question)
        if bps:
            return "basis points"
        if points:
            return "percentage points"
        return asked or (scales[0] if scales else None)

    def _parts(self) -> Parts | None:
        kinds = [str(token.value) for token in self.left.get("KIND", [])]
        names = tuple(dict.fromkeys(self.parsed.parts))
        without: tuple[str, ...] = ()
        if kinds and self.has_unread("AFTER", "EXCEPT"):
            self.take_frames("AFTER", "EXCEPT")
            without, names = names, ()
        if names and kinds:
            self.take_frames("KIND")  # `the Marine segment`
            return Parts(names=names)
        if kinds and self.has_unread(
            "TOP", "WHICH", "RANK", "HIGHEST", "LOWEST", "FASTEST", "SLOWEST", "EACH", "BY", "WHO", "ORDINAL"
        ):
            self.take_frames("KIND", "WHICH")
            return Parts(kind=kinds[0], without=without)
        return Parts(names=names) if names else None


def _is_of_parts(comparison: Comparison | None) -> bool:
    """Return whether one of several parts was selected: `which segment was the largest`."""
    return (
        comparison is not None
        and comparison.axis is Axis.PARTS
        and comparison.how in (Combination.HIGHEST, Combination.LOWEST)
    )


def _refers_back(text: str) -> bool:
    """Return whether a question has a pronoun for the previous request."""
    return bool(_REFERRING & set(text.lower().replace("?", " ").split()))


_OF_WHAT_WAS_ASKED = re.compile(r"\bof\s+(?:it|that|this|these|those|them)\b(?!\s+(?:year|quarter|period))", re.I)
"""In `what share of it is net income`, the previous request is the whole; otherwise it is the part."""
_REFERRING = frozenset({"that", "this", "it", "those", "these", "they"})


def _sum_of(one: Measure, other: Measure) -> Measure:
    return Operation(operator="+", left=one, right=other)


def _shift_years(period: Period, years: int) -> Period:
    """Return the period in another year."""
    end, year = period.end, period.fiscal_year
    other = end and end.replace(year=end.year + years, day=28 if (end.month, end.day) == (2, 29) else end.day)
    return period.model_copy(update={"fiscal_year": year and year + years, "end": other})


_IN_WORDS = {"WHY": Kind.REASON, "DESCRIBE": Kind.DESCRIPTION, "DEFINITION": Kind.DEFINITION, "EXPECTED": Kind.FORECAST,
             "WHEN": Kind.WHEN, "WHERE": Kind.WHERE}  # fmt: skip
_UNITS = {
    "PERCENT": "percent",
    "THOUSANDS": "USD thousands",
    "MILLIONS": "USD millions",
    "BILLIONS": "USD billions",
    "DAYS_UNIT": "days",
}


@dataclass
class _MeasureReading:
    """Reads what is requested of the measures."""

    words: QueryComposer
    base: Query
    measures: list[Measure]

    def query(self) -> Query:
        """Return the first reading that fits; frames that it does not use are unread."""
        self._without_inputs()
        if len(self.measures) > 1 and len(set(self.measures)) == 1:
            self.measures = self.measures[:1]
        self.measures = [_distinct_line_share(one) if self.base.parts is None else one for one in self.measures]
        self.measures = [_told_twice(one, self.words.lexicon) for one in self.measures]
        self._share_of_whole()
        self._whole_without_part()
        self._percentage_line()
        self._average_each()
        self._without_options()
        self._net_income_as_profit()
        if self.words.inherited_selection is not None:
            self.base = self.base.model_copy(
                update={"comparison": self.words.inherited_selection, "kind": Kind.COMPARISON}
            )
            query = self.base.model_copy(update={"measures": tuple(self.measures)})
            return query.model_copy(update={"unread": self._unread()})
        update = (
            self._selected_company_measure()
            or self._conversion_ratio()
            or self._company_difference()
            or self._growth_comparison()
            or self._claim()
            or self._ranked()
            or self._movement()
            or self._compare()
            or self._plain()
        )
        query = self.base.model_copy(update={"measures": tuple(self.measures), **update})
        return query.model_copy(update={"unread": self._unread()})

    # What can be compared.

    @property
    def companies(self) -> int:
        return len(self.base.companies) + len(self.base.unknown_companies)

    @property
    def axis(self) -> Axis | None:
        """The dimension with several members: companies, parts, measures, periods."""
        parts = self.base.parts
        if len(self.measures) > 1 and all(line.company for one in self.measures for line in lines_of(one)):
            return Axis.MEASURES
        if self.companies > 1:
            return Axis.COMPANIES
        if parts is not None and (parts.kind or len(parts.names) > 1):
            return Axis.PARTS
        if len(self.measures) > 1:
            return Axis.MEASURES
        return Axis.PERIODS if len(self.base.periods) > 1 or self.words.counted_years else None

    # The measures.

    def _without_inputs(self) -> None:
        """Drop inputs named with their formula: `return on equity using average equity`."""
        if len(self.measures) < 2 or not isinstance(self.measures[0], NamedFormula):
            return
        first, *others = self.measures
        assert isinstance(first, NamedFormula)
        inputs = {name for line in _inputs(first.formula, self.words.lexicon) for name in line}
        lines = [line for one in others for line in (one.of if isinstance(one, Function) else (one,))]
        if all(isinstance(one, Line) and one.metric in inputs for one in lines):
            closing = any(one.type in ("CLOSING", "YEAR_END") for one in self.words.lexed.tokens)
            closing = (
                closing or re.search(r"\b(?:year-end|ending|closing)\b", self.words.sentences.asked, re.I) is not None
            )
            self.measures = [first.model_copy(update={"closing": closing and not self.words.has_unread("AVERAGE")})]
            self.words.take_frames("AND", "AVERAGE", "TOTAL")
            self._take_constants(first.formula)

    def _take_constants(self, formula: str) -> None:
        """Drop numbers that are constants of the formula: `... and 365 days`."""
        constants = set(re.findall(r"\d+", self.words.lexicon.formulas[formula].expression))
        bounds = self.words.left.get("BOUND", [])
        if bounds and all(isinstance(one.value, Amount) and f"{one.value.value:g}" in constants for one in bounds):
            self.words.take_frames("BOUND")

    def _share_of_whole(self) -> None:
        """Read a part's share as that of the whole company's line: `Data Center's share of revenue`."""
        words, parts = self.words, self.base.parts
        asked = words.left.get("SHARE", [])
        selected = parts is not None and bool(parts.kind) and words.has_unread("HIGHEST", "LOWEST")
        if not asked or parts is None or (len(parts.names) != 1 and not selected) or len(self.measures) != 1:
            return
        (line,) = self.measures
        # `what percentage of the total is Converse revenue`, `what percentage of revenue is Converse`
        told = (isinstance(line, Line) and line.whole) or self._part_is_subject()
        if isinstance(line, Line) and (told or not asked[0].text.lower().startswith(("what percent", "by what"))):
            words.take_frames("SHARE", "CAME_FROM")
            own, total = (line.model_copy(update={"whole": whole}) for whole in (False, True))
            self.measures = [percentage(own, total)]

    def _part_is_subject(self) -> bool:
        """Return whether a verb stands between the line and the part after it."""
        lexed = self.words.lexed
        pairs = pairwise(one for one in lexed.tokens if one.type != "PERIOD")
        return any(
            line.type in LINES
            and part.type == "PART"
            and bool(set(lexed.text[line.end : part.start].split()) & set(_ASKS))
            for line, part in pairs
        )

    def _whole_without_part(self) -> None:
        """Subtract parts from the whole: `revenue excluding Converse`."""
        words, parts = self.words, self.base.parts
        if parts is None or parts.kind or not words.has_unread("EXCEPT") or len(self.measures) != 1:
            return
        (line,) = self.measures
        if isinstance(line, Line) and self.companies < 2:
            words.take_frames("EXCEPT")
            rest: Measure = line.model_copy(update={"whole": True})
            for name in parts.names:
                rest = Operation(operator="-", left=rest, right=line.model_copy(update={"part": name}))
            self.measures = [rest]
            self.base = self.base.model_copy(update={"parts": None})

    def _percentage_line(self) -> None:
        """Read a share with one line as a printed percentage: `the average percentage of revenues of OEM`."""
        asked = self.words.left.get("SHARE", [])
        lines = [one.of if isinstance(one, Function) else (one,) for one in self.measures]
        alone = len(lines) == 1 and all(isinstance(one, Line) and not one.metric for one in lines[0])
        if alone and asked and all("percent" in one.text.lower() for one in asked):
            self.words.take_frames("SHARE")
            self.measures = [with_lines(self.measures[0], _as_percentage)]
            if not self.words.has_unread("CHANGE", "DIFFERENCE", "DOWN", "UP"):  # a rate changes by points
                self.base = self.base.model_copy(update={"unit": "percent"})

    def _average_each(self) -> None:
        """Average each of several listed balances: `average inventory and total assets`."""
        first = self.measures[0] if len(self.measures) > 1 else None
        if not isinstance(first, Line) or first.balance != "average":
            return
        if all(isinstance(one, Line) and self._is_balance(one) for one in self.measures) and self.companies < 2:
            self.measures = [one.model_copy(update={"balance": "average"}) for one in self.measures]
        else:
            self.words.parsed.apart = (*self.words.parsed.apart, "average")

    def _without_options(self) -> None:
        """Compare listed options: `among operating and financing activities, which brought in more cash`.

        If only one of them is a known measure, the others are parts: `of Express, Ground and Freight, which earned the
        least operating income`.
        """
        groups = self.words.parsed.groups
        if len(groups) < 2 or not self.words.has_unread("HIGHEST", "LOWEST", "HIGHER", "LOWER") or self.companies > 1:
            return
        named = [one for one in self.measures if not isinstance(one, Line) or one.metric]
        parts = self._parts_listed() if len(named) == 1 else ()
        if parts and isinstance(named[0], Line | NamedFormula) and named[0].words.lower() not in _MONEY:
            self.measures = named
            self.base = self.base.model_copy(update={"parts": Parts(names=parts)})
            return
        if max(groups) < 2 or not self.words.has_unread("HIGHEST", "LOWEST"):
            return
        largest = groups.index(max(groups))
        start = sum(groups[:largest])
        options = self.measures[start : start + groups[largest]]
        others = [one for one in self.measures if one not in options]
        if all(isinstance(one, Line) and (not one.metric or one.words.lower() in _MONEY) for one in others):
            self.measures = options

    def _parts_listed(self) -> tuple[str, ...]:
        """Return options that are listed by words for no measure: `Commercial or Merchant Services`."""
        listed: list[list[Token]] = [[]]
        for one in self.words.lexed.tokens:
            listed[-1].append(one) if one.type in _LISTED else listed.append([])
        names: tuple[str, ...] = ()
        for run in listed:
            between = "OR" if any(one.type == "OR" for one in run) else "AND"
            items: list[list[Token]] = [[]]
            for one in run:
                items[-1].append(one) if one.type not in (between, "COMMA") else items.append([])
            texts = (self.words.lexed.text[item[0].start : item[-1].end] for item in items if item)
            found = tuple(name.strip() for text in texts for name in text.split(",") if name.strip())
            names = found if len(found) > 1 else names
        return names

    def _net_income_as_profit(self) -> None:
        """Read profit as net income: `was it profitable`, `which made more money`."""
        words = self.words
        if self.measures or not words.has_unread("POSITIVE", "NEGATIVE"):
            return
        if self.base.parts is not None and self.base.parts.kind and words.has_unread("NEGATIVE"):
            self.measures = [Line(words="operating income", metric="operating_income")]
            return
        if words.has_unread("PERIOD_KIND"):
            self.measures = [Line(words="net income", metric="net_income")]
            return
        asked = words.left.get("POSITIVE", [])
        if words.yes_or_no or any({"more", "most"} & set(one.text.lower().split()) for one in asked):
            self.measures = [Line(words="net income", metric="net_income")]
        if not words.yes_or_no and self.measures:
            words.left.setdefault("HIGHEST", []).extend(words.take_frames("POSITIVE"))

    def _is_balance(self, line: Line) -> bool:
        return line.metric is not None and self.words.lexicon.metrics[line.metric].period == "instant"

    # The request.

    def _selected_company_measure(self) -> dict[str, object] | None:
        """Read a selection and a measure: `the revenue of the company with the highest margin`."""
        words = self.words
        extremes = [token for kind in _EXTREMES for token in words.left.get(kind, [])]
        if self.companies < 2 or len(self.measures) != 2 or len(extremes) != 1:
            return None
        if not words.has_frame("WITH_THE", "WHICH", "WHO", "AND"):
            return None
        (extreme,) = extremes
        places = words.parsed.places
        if len(places) != 2:  # ambiguous: no line is nearest to the extreme
            return None
        after = [place for place in places if place > extreme.start]
        by = places.index(after[0]) if after else len(places) - 1
        chosen_by = self._with_selection_period(self.measures[by], extreme, by)
        if chosen_by is None:
            return None
        how = Combination.HIGHEST if extreme.type in ("HIGHEST", "FASTEST") else Combination.LOWEST
        words.take_frames("WITH_THE", *_EXTREMES, "OR", "TOTAL")
        if extreme.type in ("FASTEST", "SLOWEST") or words.take_frames("GROWTH"):
            chosen_by = chosen_by if isinstance(chosen_by, Move) else Move(of=chosen_by, how="growth")
        self.measures = [self.measures[1 - by]]
        return {"kind": Kind.COMPARISON, "chosen_by": chosen_by, "comparison": Comparison(axis=Axis.COMPANIES, how=how)}

    def _with_selection_period(self, measure: Measure, extreme: Token, by: int) -> Measure | None:
        """Return the selecting measure with its period, if two are named; None if neither is next to it."""
        mentions = [one for one in self.words.parsed.periods if isinstance(one, PeriodMention)]
        if len(self.base.periods) < 2:
            return measure
        places = self.words.parsed.places
        other = places[1 - by]
        close = [one for one in mentions if (one.start > extreme.start) is (other < extreme.start)]
        if len(self.base.periods) != 2 or len(mentions) != 2 or len(close) != 1:
            return None
        (own,) = close
        (rest,) = [one for one in mentions if one is not own]
        self.words.parsed.apart = ()
        self.base = self.base.model_copy(update={"periods": (period_of(rest),)})
        if isinstance(measure, Line | NamedFormula):
            return measure.model_copy(update={"period": period_of(own)})
        return None

    def _company_difference(self) -> dict[str, object] | None:
        """Compare two companies: `Acme's revenue minus Bolt's`."""
        if (
            len(self.measures) > 1
            and len({_without_companies(one) for one in self.measures}) == 1
            and self.companies > 1
        ):
            self.measures = [_without_companies(self.measures[0])]
        if len(self.measures) != 1 or not isinstance(self.measures[0], Operation):
            return None
        whole = self.measures[0]
        how = {"-": Combination.DIFFERENCE, "/": Combination.RATIO}.get(whole.operator)
        left, right = whole.left, whole.right
        if how is None or not isinstance(left, Line | NamedFormula) or not isinstance(right, Line | NamedFormula):
            return None
        plain = [_without_companies(one).model_copy(update={"words": ""}) for one in (left, right)]
        if not (left.company and right.company) or plain[0] != plain[1]:
            return None
        order = {left.company: 0, right.company: 1}
        if {one.key for one in self.base.companies} != order.keys():
            return None
        self.measures = [left.model_copy(update={"company": None})]
        companies = tuple(sorted(self.base.companies, key=lambda one: order[one.key]))
        self.words.take_frames("RATIO", "DIFFERENCE", "AND")
        return {"kind": Kind.COMPARISON, "companies": companies, "comparison": Comparison(axis=Axis.COMPANIES, how=how)}

    def _conversion_ratio(self) -> dict[str, object] | None:
        """Read a conversion ratio: `who turned more of revenue into free cash flow`."""
        words = self.words
        if not (
            words.has_unread("TURNED")
            and len(self.measures) == 2
            and words.has_unread("HIGHER", "LOWER", "HIGHEST", "LOWEST")
        ):
            return None
        words.take_frames("TURNED", "VERSUS", "WHO")
        of, into = self.measures
        self.measures = [percentage(into, of)]
        how = Combination.LOWEST if words.take_frames("LOWER", "LOWEST") else Combination.HIGHEST
        words.take_frames("HIGHER", "HIGHEST")
        return {"kind": Kind.COMPARISON, "comparison": Comparison(axis=Axis.COMPANIES, how=how)}

    def _growth_comparison(self) -> dict[str, object] | None:
        """Read growth that itself moves, or is compared with the growth of another measure."""
        words = self.words
        grown = words.has_unread("GROWTH") or (words.has_unread("UP") and words.has_unread("FASTER", "SLOWER"))
        choice = words.has_frame("WHICH", "WHO", "OR") or " or " in words.sentences.asked.lower()
        if not grown or choice or self.companies > 1 or self.base.parts is not None:
            return None
        if len(self.measures) == 2 and words.has_unread("FASTER", "SLOWER", "DIFFERENCE", "HIGHER", "LOWER"):
            return self._growth_difference()
        if len(self.measures) != 1 or words.has_unread("BOUND", "CAGR", "PERIOD_KIND", "WHICH"):
            return None
        moves = len(self.base.periods) < 3 and words.has_unread(
            "UP", "DOWN", "CHANGE", "HIGHER", "LOWER", "FASTER", "SLOWER"
        )
        noun = words.left.get("GROWTH", []) or (words.has_unread("FASTER", "SLOWER") and len(self.base.periods) > 1)
        if len(self.base.periods) > 1 and (words.take_frames("AVERAGE") or self._averaged()):
            words.take_frames("GROWTH")
            self._move("growth")
            # The growth of the first year began in the year before it.
            if any(one.type == "FROM_WORD" for one in words.lexed.tokens):
                self.base = self.base.model_copy(update={"periods": self.base.periods[1:]})
            of_years = Comparison(axis=Axis.PERIODS, how=Combination.AVERAGE)
            return {"kind": Kind.AGGREGATE, "comparison": of_years}
        verb = (
            words.has_unread("UP", "DOWN") and not words.left.get("GROWTH") and not words.has_unread("FASTER", "SLOWER")
        )
        if not noun or not moves or verb:
            return None
        if not words.yes_or_no and not words.has_unread("DIFFERENCE") and self.base.unit != "percentage points":
            return None
        words.take_frames("GROWTH", "DIFFERENCE", "YEAR_BEFORE", "YOY")
        self._move("growth")
        down = bool(words.take_frames("DOWN", "LOWER", "SLOWER"))
        words.take_frames("UP", "HIGHER", "FASTER", "CHANGE")
        if not words.yes_or_no:
            self.measures = [Move(of=self.measures[0], how="change")]
            return {"kind": Kind.CHANGE}
        if words.has_unread("THAN", "VERSUS") and self._earlier_first():
            down = not down
        return {"kind": Kind.CLAIM, "claim": Claim(way="fell" if down else "rose")}

    def _growth_difference(self) -> dict[str, object]:
        words = self.words
        slower = bool(words.take_frames("SLOWER", "LOWER"))
        words.take_frames("FASTER", "HIGHER", "GROWTH", "UP", "DIFFERENCE", "CHANGE")
        first, second = (one if isinstance(one, Move) else self._growth_of(one) for one in self.measures)
        if isinstance(first, Move) and first.start is not None:
            self.base = self.base.model_copy(update={"periods": self.base.periods[-1:]})
        self.measures = [Operation(operator="-", left=first, right=second)]
        if not words.yes_or_no:
            return {"kind": Kind.VALUE}
        claim = Claim(way="below" if slower else "above", bound=Number(value=0))
        return {"kind": Kind.CLAIM, "claim": claim}

    def _growth_of(self, measure: Measure) -> Move:
        """Return the growth of a measure between the two periods of the question, else over its last year."""
        periods = self.base.periods
        start, end = (periods[0], periods[-1]) if len(periods) > 1 else (None, None)
        return Move(of=measure, how="growth", start=start, end=end)

    def _claim(self) -> dict[str, object] | None:
        words = self.words
        if words.has_unread("COUNT"):
            return self._count_years()
        if not words.yes_or_no:
            return self._beyond_a_bound()
        if words.has_unread("UP") and words.has_unread("DOWN") and words.has_unread("OR"):
            words.take_frames("UP", "DOWN", "OR", "YEAR_BEFORE", "FROM_WORD", "TO", "BY")
            return {"kind": Kind.CLAIM, "claim": Claim(way="rose")}
        if words.has_unread("COVERED") and len(self.measures) == 2 and self.companies < 2:
            return self._coverage_claim()
        if self.companies == 2 and words.has_unread("DIFFERENCE") and words.has_unread("HIGHER", "LOWER"):
            claim = Claim(way="below" if words.take_frames("LOWER") else "above", bound=Number(value=0))
            words.take_frames("HIGHER", "DIFFERENCE", "THAN", "VERSUS", "AND", "OR")
            return {
                "kind": Kind.CLAIM,
                "claim": claim,
                "comparison": Comparison(axis=Axis.COMPANIES, how=Combination.DIFFERENCE),
            }
        asked = reduce(lambda text, words: text.replace(words, ""), _ASKS_A_VERDICT, words.sentences.asked.lower())
        if " or " in asked and not words.has_unread("EQUAL"):
            return None
        if words.has_unread("DIFFERENCE", "EXCESS", "HOW_MANY_TIMES") or (
            len(self.measures) > 1 and words.has_unread("BOUND")
        ):
            return None
        return self._every_year() or self._sign_claim() or self._compared_claim()

    def _coverage_claim(self) -> dict[str, object]:
        """Read coverage as a ratio: `did operating income cover interest`, `was the dividend covered by FCF`."""
        (covered,) = self.words.take_frames("COVERED")[:1]
        covering, other = self.measures
        if self.words.parsed.places[0] > covered.start or covered.text.lower() == "covered":
            covering, other = other, covering
        self.words.take_frames("BY", "FROM_WORD", "CAME_FROM", "AND", "OVER")
        self.measures = [Operation(operator="/", left=covering, right=other)]
        return {"kind": Kind.CLAIM, "claim": Claim(way="above", bound=Number(value=1))}

    def _count_years(self) -> dict[str, object] | None:
        """Count the years in which a claim is true: `in how many of the years did it grow`."""
        words = self.words
        bound = self._bound()
        below, above = words.take_frames("NEGATIVE") or self._names_a_loss(), words.take_frames("POSITIVE")
        bound = Number(value=0) if below or above else bound
        down = bool(words.take_frames("DOWN", "LOWER", "AT_MOST") or below)
        if not (words.take_frames("UP", "HIGHER", "AT_LEAST", "GROWTH", "THAN") or down or above) or not self.measures:
            return None
        words.take_frames("COUNT", "FROM_WORD", "TO", "OR", "THAN")
        way: Way = ("below" if down else "above") if bound is not None else "fell" if down else "rose"
        in_years = Comparison(axis=Axis.PERIODS, how=Combination.COUNT)
        return {"kind": Kind.CLAIM, "claim": Claim(way=way, bound=bound), "comparison": in_years}

    def _beyond_a_bound(self) -> dict[str, object] | None:
        """Choose the members beyond a bound: `which segments earned over $1 billion`, `which year was negative`."""
        words = self.words
        axis = Axis.PERIODS if words.has_unread("PERIOD_KIND") else self.axis
        members = axis in (Axis.COMPANIES, Axis.PARTS) or (axis is Axis.PERIODS and words.has_frame("PERIOD_KIND"))
        loss = axis is Axis.PERIODS and self._names_a_loss() and not words.has_unread(*_EXTREMES)
        signs = words.has_unread("POSITIVE", "NEGATIVE") or loss
        if not members or len(self.measures) != 1 or not (signs or words.has_unread("BOUND")):
            return None
        claim = self._sign_claim() if signs else self._bounded_claim()
        if claim is None:
            return None
        words.take_frames("PERIOD_KIND", "OR")
        assert axis is not None
        return {**claim, "kind": Kind.RANKING, "comparison": Comparison(axis=axis, how=Combination.FILTER)}

    def _bounded_claim(self) -> dict[str, object] | None:
        """Read a claim against a number of the question; None if there is none or it is not said which way."""
        words = self.words
        bound = self._bound()
        higher, lower = words.take_frames("HIGHER", "AT_LEAST"), words.take_frames("LOWER", "AT_MOST")
        if bound is None or bool(higher) is bool(lower):
            return None
        words.take_frames("THAN")
        return {"kind": Kind.CLAIM, "claim": Claim(way=_way_of(higher, lower), bound=bound)}

    def _every_year(self) -> dict[str, object] | None:
        words = self.words
        if not (words.has_unread("EVERY") and words.has_unread("UP", "DOWN")):
            return None
        words.take_frames("EVERY")
        way: Way = "fell" if words.take_frames("DOWN") else "rose"
        words.take_frames("UP")
        in_all = Comparison(axis=Axis.PERIODS, how=Combination.EVERY)
        return {"kind": Kind.CLAIM, "claim": Claim(way=way), "comparison": in_all}

    def _sign_claim(self) -> dict[str, object] | None:
        ways: tuple[tuple[str, Way], ...] = (("POSITIVE", "above"), ("NEGATIVE", "below"))
        for frame, way in ways:
            if self.words.take_frames(frame):
                self.words.take_frames("UP", "DOWN", "CHANGE", "GROWTH")
                return {"kind": Kind.CLAIM, "claim": Claim(way=way, bound=Number(value=0))}
        if self._names_a_loss():
            return {"kind": Kind.CLAIM, "claim": Claim(way="below", bound=Number(value=0))}
        return None

    def _names_a_loss(self) -> bool:
        """Return whether the only measure is a result that the question calls a loss: `report a net loss`."""
        (line,) = self.measures if len(self.measures) == 1 else (None,)
        return isinstance(line, Line) and line.metric in _RESULTS and "loss" in line.words.lower().split()

    def _compared_claim(self) -> dict[str, object] | None:
        """Read a claim over time, against a number in the question, or against other companies, parts or periods."""
        words = self.words
        bound = self._bound()
        up, down = words.take_frames("UP"), words.take_frames("DOWN")
        change, growth = words.take_frames("CHANGE"), words.take_frames("GROWTH")
        moved = bool(up or down or change or growth)
        higher = words.take_frames("HIGHER", "AT_LEAST", "FASTER")
        lower = words.take_frames("LOWER", "AT_MOST", "SLOWER")
        words.take_frames("THAN", "VERSUS", "BY", "EQUAL", "OR")
        if moved and bound is None and self.companies < 2:
            words.take_frames("YEAR_BEFORE")
            return {"kind": Kind.CLAIM, "claim": Claim(way="fell" if down else "rose"), "comparison": None}
        if moved:
            self._move("growth" if growth or bound is None or bound.unit == "percent" else "change")
        if bound is not None:
            return {"kind": Kind.CLAIM, "claim": Claim(way=_way_of(higher, lower), bound=bound)}
        if not (higher or lower) or self.axis is None:
            return None
        way: Way = "below" if lower else "above"
        if self.axis is Axis.PERIODS:
            if self._earlier_first():
                way = "above" if lower else "below"
            return {"kind": Kind.CLAIM, "claim": Claim(way=way), "comparison": Comparison(axis=self.axis)}
        against = Comparison(axis=self.axis, how=Combination.LOWEST if lower else Combination.HIGHEST)
        return {"kind": Kind.CLAIM, "claim": Claim(way=way), "comparison": against}

    def _earlier_first(self) -> bool:
        """Return whether the question names the earlier of two years first: `was 2022 higher than 2024`."""
        years = [one.fiscal_year for one in self.words.parsed.periods if isinstance(one, PeriodMention)]
        return len(years) > 1 and years[0] < years[-1]

    def _bound(self) -> Number | None:
        found = self.words.take_frames("BOUND")
        amounts = [one.value for one in found if isinstance(one.value, Amount)]
        if len(amounts) != 1:
            self.words.left.update({"BOUND": found} if found else {})
            return None
        return Number(value=amounts[0].value, unit=amounts[0].unit, within=_last_digit(found[0].text, amounts[0].value))

    def _ranked(self) -> dict[str, object] | None:
        words = self.words
        axis = Axis.PERIODS if words.has_unread("PERIOD_KIND") else self.axis
        self._quarters_of_the_year()
        if not self._can_be_ranked(axis):
            return None
        family = axis is Axis.PARTS and self.base.parts is not None and self.base.parts.kind is not None
        choice = words.has_frame("WHO", "WHICH", "PERIOD_KIND", "OR") or " or " in words.sentences.asked.lower()
        fast = words.has_frame("FASTEST", "SLOWEST", "FASTER", "SLOWER")
        rank, ordinal, top = words.take_frames("RANK"), words.take_frames("ORDINAL"), words.take_frames("TOP")
        high = words.take_frames("FASTEST", "HIGHEST") or (choice and words.take_frames("HIGHER", "FASTER")) or []
        low = words.take_frames("SLOWEST", "LOWEST") or (choice and words.take_frames("LOWER", "SLOWER")) or []
        self._defer_follow_up_request([*high, *low, *ordinal])
        moved = [words.take_frames(frame) for frame in _MOVING]
        if not (rank or high or low or ordinal or top or (family and any(moved[:2]))):
            self._return_frames(moved)
            return None
        assert axis is not None
        words.take_frames("PERIOD_KIND", "OR", "YEAR_BEFORE")
        if family and not self.measures:
            self.measures = [Line(words="revenue", metric="revenue")]
        if len(self.base.periods) > 1 and axis in (Axis.COMPANIES, Axis.PARTS):
            self._over_periods()
        if fast or any(moved):
            self._take_lead_requests(high or low)
            grown = bool(moved[2]) or family or (bool(moved[0]) and axis is not Axis.PERIODS)
            self._rank_moves(axis, percent=fast or (grown and not self._in_dollars()))
        if rank or top:
            first = int(str(top[0].value)) if top else None
            return {"kind": Kind.RANKING, "comparison": Comparison(axis=axis, how=Combination.RANK, top=first)}
        falls = bool(moved[1])
        if not (high or low or ordinal):
            claim = Claim(way="fell" if falls else "rose")
            return {"kind": Kind.RANKING, "claim": claim, "comparison": Comparison(axis=axis, how=Combination.FILTER)}
        nth = int(str(ordinal[0].value)) if ordinal else None
        how = Combination.LOWEST if low else Combination.HIGHEST
        return {
            "kind": Kind.COMPARISON,
            "comparison": Comparison(axis=axis, how=how, nth=nth, descending=not falls),
        }

    def _quarters_of_the_year(self) -> None:
        """Read a year as its four quarters: `which quarter of 2019 had the highest revenue`."""
        asked, periods = self.words.left.get("PERIOD_KIND", []), self.base.periods
        of_year = len(periods) == 1 and periods[0].months == _MONTHS_OF_A_YEAR and not periods[0].quarter
        if of_year and any("quarter" in one.text.lower() for one in asked):
            quarters = (periods[0].model_copy(update={"quarter": quarter, "months": 3}) for quarter in (1, 2, 3, 4))
            self.base = self.base.model_copy(update={"periods": tuple(quarters)})

    def _take_lead_requests(self, extremes: Sequence[Token]) -> None:
        """`which region shrank, and by how much`: the move of the one that is found, which the ranking states."""
        asked = self.words.left.get("DIFFERENCE", [])
        if asked and all(one.text.lower().startswith("by") for one in asked) and (not extremes or self._is_last(asked)):
            self.words.take_frames("DIFFERENCE")

    def _is_last(self, tokens: Sequence[Token]) -> bool:
        """Whether only marks follow the tokens."""
        end = max(one.end for one in tokens)
        return all(one.type in ("STOP", "COMMA") for one in self.words.lexed.tokens if one.start >= end)

    def _can_be_ranked(self, axis: Axis | None) -> bool:
        both_ends = self.words.has_unread("HIGHEST") and self.words.has_unread("LOWEST")
        printed_years = self.words.of_one_filing or not self.base.periods  # `with_printed_years`
        one_period = len(self.base.periods) < 2 and not printed_years
        if axis is None or both_ends or (axis is Axis.PERIODS and one_period):
            return False
        return len(self.measures) < 2 or axis is Axis.MEASURES

    def _rank_moves(self, axis: Axis, *, percent: bool) -> None:
        """Rank the movements of the measures; in a range of years the first is the base of the next."""
        self._move("growth" if percent or self.base.unit == "percent" else "change")
        if axis is Axis.PERIODS and self._is_year_range():
            self.base = self.base.model_copy(update={"periods": self.base.periods[1:]})

    def _defer_follow_up_request(self, extremes: Sequence[Token]) -> None:
        if self._follow_up_request(extremes):
            self.words.take_frames(*_MOVING, "SHARE", "PERCENT")
            note = "the change of the one that stands out cannot be answered in the same question: ask for it by name"
            self.base = self.base.model_copy(update={"assumed": (*self.base.assumed, note)})

    def _is_year_range(self) -> bool:
        span = parse_periods(self.words.sentences.asked).span
        return span is not None and span.form != "list" and len(self.base.periods) > 2

    def _follow_up_request(self, extremes: Sequence[Token]) -> bool:
        """Return whether the result is asked about as well: `the largest country, and how fast did it grow`."""
        words = self.words
        first = max((token.end for token in extremes), default=0)
        moved = [one.start for kind in _MOVING for one in words.left.get(kind, [])]
        if not first or not moved or min(moved) < first:
            return False
        between = [one for one in words.lexed.tokens if first <= one.start < min(moved)]
        joint = max((place for place, one in enumerate(between) if one.type == "AND"), default=None)
        return joint is not None and not any(one.type in ("METRIC", "FORMULA") for one in between[joint:])

    def _in_dollars(self) -> bool:
        return "dollar" in self.words.question.lower() or (self.base.unit or "").startswith("USD")

    def _over_periods(self) -> None:
        """Rank the sum or the mean over the periods: `the highest total sales over 2022 and 2023`."""
        if self.words.take_frames("TOTAL"):
            self.measures = [Function(name="sum", of=(one,)) for one in self.measures]
        elif self.words.take_frames("AVERAGE") or self._averaged():
            self.measures = [Function(name="mean", of=(one,)) for one in self.measures]

    def _return_frames(self, taken: Sequence[list[Token]]) -> None:
        for tokens in taken:
            if tokens:
                self.words.left.setdefault(tokens[0].type, []).extend(tokens)

    def _move(self, how: HowMoved) -> None:
        self.measures = [one if isinstance(one, Move) else Move(of=one, how=how) for one in self.measures]

    def _movement(self) -> dict[str, object] | None:
        words = self.words
        if self._exceeds_an_earlier_period():
            words.take_frames("EXCESS", "HIGHER", "LOWER", "THAN", "VERSUS")
            in_time = sorted(self.base.periods, key=_place_in_time)
            self.base = self.base.model_copy(update={"periods": tuple(in_time)})
            self._move("growth")
            return {"kind": Kind.CHANGE}
        if words.take_frames("CAGR"):
            words.take_frames("UP", "GROWTH")
            self._move("cagr")
            return {"kind": Kind.CHANGE, **self._comparison()}
        if words.has_unread("GROWTH") and (
            words.parsed.arithmetic or len(words.left["GROWTH"]) > 1 or words.has_unread("AVERAGE")
        ):
            return None
        if words.has_unread("FASTER", "SLOWER") and self.companies < 2:
            return None
        if words.has_unread("HOW_MANY_TIMES") and self.companies < 2:
            return None
        growth = words.take_frames("GROWTH") or words.take_frames("YOY")
        if words.has_unread("UP", "DOWN", "CHANGE") and all(
            one.text.lower().startswith("by") for one in words.left.get("DIFFERENCE", [])
        ):
            words.take_frames("DIFFERENCE")
        if words.has_unread("UP") and words.has_unread("DOWN"):
            words.take_frames("OR")  # `up or down`
        up, down, change = words.take_frames("UP"), words.take_frames("DOWN"), words.take_frames("CHANGE")
        between = self.axis is Axis.PERIODS and words.take_frames("DIFFERENCE")
        # `what percentage change`; `R&D % of revenue` next to a change is a separate share
        of_it = len(self.measures) > 1 and any(one.text.lower().endswith(" of") for one in words.left.get("SHARE", []))
        percent = bool(up or down or change) and not of_it and words.take_frames("SHARE")
        excess = words.take_frames("EXCESS") if (up or down or change or self._is_percentage_difference()) else []
        if not (growth or up or down or change or between or excess):
            return None
        words.take_frames("YEAR_BEFORE", "TOTAL", "DIFFERENCE" if self.companies < 2 else "")
        absolute = words.take_frames("ABS", "NOT") if change or between else []
        in_percent = (not absolute and (bool(percent) or self.base.unit == "percent" or bool(excess))) or bool(
            up and _first_word(up) in _GROW and "dollar" not in words.question.lower()
        )
        in_percent = in_percent and not (up and down)
        in_points = self.base.unit in ("basis points", "percentage points")  # the change of a rate
        in_points = in_points or (not growth and all(map(_is_share, self.measures)))
        self._move("growth" if (growth or in_percent) and not in_points else "change")
        if between and not (growth or up or down or change):  # `the difference between 2018 and 2019` has no direction
            return {"kind": Kind.CHANGE, "comparison": Comparison(axis=Axis.PERIODS, how=Combination.DIFFERENCE)}
        return {"kind": Kind.CHANGE, **self._comparison()}

    def _is_percentage_difference(self) -> bool:
        """Return whether growth is asked for: `the percentage difference between 2018 and 2019`."""
        alone = self.axis is Axis.PERIODS and len(self.measures) == 1
        return alone and all(one.text.lower().endswith("difference") for one in self.words.left.get("EXCESS", ()))

    def _exceeds_an_earlier_period(self) -> bool:
        """Read a comparison with an earlier period: `by what percentage was revenue higher in 2024 than in 2023`."""
        words, named = self.words, [period_of(one) for one in self.words.parsed.periods]
        excess = words.has_unread("EXCESS") and words.has_unread("HIGHER", "LOWER") and self.axis is Axis.PERIODS
        if not excess or len(self.measures) != 1 or len(named) != 2:
            return False
        first, second = map(_place_in_time, named)
        return first > second

    def _comparison(self) -> dict[str, object]:
        """Read how companies or parts are compared, in addition to the relation over time."""
        words, axis = self.words, self.axis
        if axis not in (Axis.COMPANIES, Axis.PARTS, Axis.MEASURES):
            return {}
        for frames, how in _HOWS:
            if words.has_unread(*frames):
                words.take_frames(*frames)
                words.take_frames("HIGHER", "LOWER", "FASTER", "SLOWER", "DIFFERENCE")
                return {"comparison": Comparison(axis=axis, how=how)}
        return {}

    def _compare(self) -> dict[str, object] | None:
        words, axis = self.words, self.axis
        if axis is None and words.of_one_filing and (words.take_frames("AVERAGE") or self._averaged(flow=True)):
            return {"kind": Kind.AGGREGATE, "comparison": Comparison(axis=Axis.PERIODS, how=Combination.AVERAGE)}
        if axis is None:
            return None
        if axis is Axis.PERIODS:
            return self._compare_periods()
        together = words.left.get("TOTAL", [])
        if axis is Axis.MEASURES and (
            len(self.base.periods) > 1 or any(one.text.lower() == "total" for one in together)
        ):
            return None  # ambiguous: each of them or their sum
        if axis is Axis.COMPANIES and len(self.base.periods) < 2 and self._averaged(flow=True):
            return {"kind": Kind.COMPARISON, "comparison": Comparison(axis=axis, how=Combination.AVERAGE)}
        found = self._comparison()
        if found and axis is Axis.COMPANIES and len(self.base.periods) < 2:
            # `the ratio of the total revenues of A to those of B`: over one period it sums nothing.
            words.take_frames("TOTAL")
        return {"kind": Kind.COMPARISON, **found} if found else None

    def _compare_periods(self) -> dict[str, object] | None:
        """Read how one company's periods are combined: sum, average, ratio, list."""
        words = self.words
        for frames, how in _OVER_PERIODS:
            if words.has_unread(*frames) or (how is Combination.AVERAGE and self._averaged()):
                words.take_frames(*frames)
                return {"kind": Kind.AGGREGATE, "comparison": Comparison(axis=Axis.PERIODS, how=how)}
        later_first = words.has_unread("RATIO") and len(self.base.periods) == 2 and not self._earlier_first()
        if (words.has_unread("HOW_MANY_TIMES") or later_first) and len(self.measures) == 1:
            words.take_frames("HOW_MANY_TIMES", "RATIO", "UP", "CHANGE")
            return {"kind": Kind.COMPARISON, "comparison": Comparison(axis=Axis.PERIODS, how=Combination.RATIO)}
        if words.take_frames("VERSUS") or words.has_unread("HIGHER", "LOWER"):
            return {"comparison": Comparison(axis=Axis.PERIODS)}
        return None

    def _averaged(self, *, flow: bool = False) -> bool:
        """Return whether `average revenue` means an average over periods or companies; removes it from the measure."""
        if len(self.measures) != 1:
            return False
        (measure,) = self.measures
        if isinstance(measure, Line) and measure.balance == "average":
            if flow and (self._is_balance(measure) if measure.metric else not self.words.of_one_filing):
                return False
            self.measures = [measure.model_copy(update={"balance": None})]
            return True
        if flow:
            return False
        if isinstance(measure, Operation) and isinstance(measure.left, Operation):
            hundred, part = measure.left.left, measure.left.right
            if isinstance(hundred, Number) and isinstance(part, Line) and part.balance == "average":
                self.measures = [percentage(part.model_copy(update={"balance": None}), measure.right)]
                return True
        if isinstance(measure, Function) and measure.name == "mean" and len(measure.of) == 2:
            self.measures = [measure.of[0]]
            return True
        return False

    def _plain(self) -> dict[str, object]:
        words = self.words
        if len(self.measures) == 1 and not isinstance(self.measures[0], Line):
            words.take_frames("RATIO")
        if len(self.measures) == 1 and isinstance(self.measures[0], Operation) and self.measures[0].operator == "/":
            words.take_frames("HOW_MANY_TIMES", "COUNT", "TURNED")
        if len(self.measures) == 1 and isinstance(self.measures[0], Line | NamedFormula) and words.take_frames("TOTAL"):
            line = self.measures[0]
            self.measures = [line.model_copy(update={"words": f"total {line.words}"})]
        return {"kind": Kind.VALUE}

    def _unread(self) -> tuple[str, ...]:
        if self.measures and all(map(_is_share, self.measures)):
            if all(map(_adds_up_its_part, self.measures)):
                self.words.take_frames("TOTAL")  # `the total percentage of a and b over c`
            self.words.take_frames("SHARE")  # `the proportion of costs as a percentage of revenue` says it twice
        left = {kind: tokens for kind, tokens in self.words.left.items() if kind not in _SAYING_NOTHING}
        found = [(token.start, token.text) for tokens in left.values() for token in tokens]
        return (*(text for _, text in sorted(found)), *self.words.parsed.apart)


def _way_of(higher: Sequence[Token], lower: Sequence[Token]) -> Way:
    """Return how a figure is claimed to stand to a bound, by the frames of the claim."""
    inclusive = any(one.type in ("AT_LEAST", "AT_MOST") for one in (*higher, *lower))
    if lower:
        return "at-most" if inclusive else "below"
    if higher:
        return "at-least" if inclusive else "above"
    return "equal"


def _as_percentage(line: Line | NamedFormula) -> Measure:
    return line.model_copy(update={"words": f"percentage of {line.words}"})


def _adds_up_its_part(share: Measure) -> bool:
    match share:
        case Operation(left=Operation(right=Function(name="sum"))):
            return True
        case _:
            return False


def _is_share(measure: Measure) -> bool:
    """Return whether a measure is one line in percent of another."""
    match measure:
        case Operation(operator="/", left=Operation(operator="*", left=Number(unit="percent"))):
            return True
        case _:
            return False


def _distinct_line_share(measure: Measure) -> Measure:
    """Return a share of one metric with each line by its own words: `rent / rent and other`."""
    match measure:
        case Operation(operator="/", left=Operation(operator="*", right=Line() as part), right=Line() as whole):
            apart = part.metric is not None and part.metric == whole.metric
            plain = [one.model_copy(update={"words": "", "whole": False}) for one in (part, whole)]
            if not apart or part.words.lower() == whole.words.lower() or plain[0] != plain[1]:
                return measure
            lines = [one.model_copy(update={"metric": None, "whole": False}) for one in (part, whole)]
            return percentage(*lines)
        case _:
            return measure


def _told_twice(measure: Measure, lexicon: Lexicon) -> Measure:
    """Drop a repeated share: `gross margin as a percentage of revenue` is already one."""
    match measure:
        case Operation(operator="/", left=Operation(operator="*", right=NamedFormula() as rate), right=Line() as whole):
            formula = lexicon.formulas[rate.formula]
            of_it = formula.unit == "percent" and whole.metric in expression_inputs(formula.expression)
            return rate if of_it else measure
        case _:
            return measure


def _inputs(formula: str, lexicon: Lexicon) -> Iterator[tuple[str, ...]]:
    """Yield the ids of a formula's inputs, including those of formulas in it."""
    inputs = expression_inputs(lexicon.formulas[formula].expression)
    yield inputs
    for name in inputs:
        if name in lexicon.formulas:
            yield from _inputs(name, lexicon)


def _without_companies(measure: Measure) -> Measure:
    """Return the measure without the companies of its lines."""
    match measure:
        case Line() | NamedFormula():
            return measure.model_copy(update={"company": None})
        case Operation(left=left, right=right):
            return measure.model_copy(update={"left": _without_companies(left), "right": _without_companies(right)})
        case Function(of=parts):
            return measure.model_copy(update={"of": tuple(_without_companies(part) for part in parts)})
        case _:
            return measure


def _place_in_time(period: Period) -> tuple[int, date, int]:
    end = period.end or date.min
    return period.fiscal_year or end.year, end, period.quarter or _LAST_OF_A_YEAR


_LAST_OF_A_YEAR = 5
_MONTHS_OF_A_YEAR = 12
_MOVING = ("UP", "DOWN", "GROWTH", "CHANGE")
_MONEY = ("cash", "cash flow", "money")
_LISTED = ("PHRASE", "PART", "AND", "OR", "COMMA")
_RESULTS = frozenset({"income_before_taxes", "net_income", "operating_income"})
_EXTREMES = ("HIGHEST", "LOWEST", "FASTEST", "SLOWEST")
_GROW = frozenset({"grow", "grew", "grown", "growing", "grows"})


def _first_word(tokens: Sequence[Token]) -> str:
    return tokens[0].text.lower()


_HOWS: tuple[tuple[tuple[str, ...], Combination], ...] = (
    (("HOW_MANY_TIMES", "RATIO"), Combination.RATIO),
    (("EXCESS",), Combination.EXCESS),
    (("DIFFERENCE",), Combination.DIFFERENCE),
    (("TOTAL",), Combination.TOTAL),
    (("AVERAGE",), Combination.AVERAGE),
)
_OVER_PERIODS: tuple[tuple[tuple[str, ...], Combination], ...] = (
    (("TOTAL",), Combination.TOTAL),
    (("AVERAGE",), Combination.AVERAGE),
)
_SAYING_NOTHING = frozenset(
    {
        "AND",
        "TO",
        "FROM_WORD",
        "BY",
        "WHICH",
        "WHO",
        "LATEST",
        "CLOSING",
        "EACH",
        "VERSUS",
        "THAN",
        "YOY",
        "TURNED",
        "COVERED",
    }
)
"""Frames that join or repeat; left over, they do not change the request."""


def _last_digit(written: str, value: float) -> float:
    """Return half of the last digit of a number as written: five million for `$0.54 billion`."""
    found = re.search(r"\d[\d,]*(?:\.(\d+))?", written)
    number = float(found[0].replace(",", "")) if found else 0.0
    if found is None or not number:
        return 0.5
    return abs(value) / number * 0.5 * 10.0 ** -len(found[1] or "")
