"""Read a question whole: lexer, grammar, and what its words together ask for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fin_agent.analyst.rules.asked_periods import periods_asked
from fin_agent.analyst.rules.wording import decimals_asked, unit_asked
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.metrics import expression_inputs
from fin_agent.lexicon.periods import DateMention, PeriodMention
from fin_agent.query.lexer import Amount, Lexed, Names, Token, lex
from fin_agent.query.modifiers import period_of
from fin_agent.query.parsing import NoReadingError, Parsed, parse, percentage
from fin_agent.query.sentences import Sentences, sentences_of
from fin_agent.query.tree import (
    Axis,
    Claim,
    Company,
    Comparison,
    Function,
    How,
    HowMoved,
    Kind,
    Line,
    Measure,
    Move,
    Named,
    Number,
    Operation,
    Parts,
    Period,
    Query,
    Way,
    lines_of,
)


def read(question: str, names: Names) -> Query:
    """The question as a Query; `unread` names the content words that no part of it says.

    Raises NoReadingError where a formula of the question cannot be read (a bracket that is not closed).
    """
    told = sentences_of(question)
    given: dict[str, Parsed] = {}
    for name, formula in reversed(told.definitions):
        _define(name, formula, given, names)
    lexed = lex(told.asked, names, tuple(given))
    used = {token.start: str(token.value) for token in lexed.tokens if token.type == "GIVEN"}
    parsed = parse(lexed.tokens, {place: given[name].measures[0] for place, name in used.items()})
    inner = {name for one in told.definitions for name in given if name != one[0] and name.lower() in one[1].lower()}
    for name in given.keys() - set(used.values()) - inner:
        _put_in_place_of_the_only_one(parsed, given[name])
    return _Composer(question, told, lexed, parsed, names.lexicon).query()


def _define(name: str, formula: str, given: dict[str, Parsed], names: Names) -> None:
    """Read the formula of `name`; names that are defined behind it may stand in it."""
    lexed = lex(formula, names, tuple(given))
    places = {one.start: given[str(one.value)].measures[0] for one in lexed.tokens if one.type == "GIVEN"}
    parsed = parse(lexed.tokens, places)
    if len(parsed.measures) != 1 or set(parsed.frames) - {"AND", "BY", "FROM_WORD"}:
        raise NoReadingError("the formula that the question gives has no reading", subject=formula[:60])
    given[name] = parsed


def _put_in_place_of_the_only_one(parsed: Parsed, formula: Parsed) -> None:
    """A formula whose name the question spells otherwise stands for the only measure it asks for."""
    if (
        len(parsed.measures) != 1
        or getattr(parsed.measures[0], "metric", None)
        or isinstance(parsed.measures[0], Named)
    ):
        raise NoReadingError("what the question defines is not what it asks for")
    parsed.measures = [formula.measures[0]]
    parsed.arithmetic = parsed.arithmetic or formula.arithmetic


_ASKS = ("is", "are", "was", "were", "did", "does", "do", "has", "have", "had")


@dataclass
class _Composer:
    """Puts measures, modifiers and frames together; frames that nothing took are unread."""

    question: str
    told: Sentences
    lexed: Lexed
    parsed: Parsed
    lexicon: Lexicon
    left: dict[str, list[Token]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.left = {kind: list(tokens) for kind, tokens in self.parsed.frames.items()}
        if "BY_HOW_MUCH" in self.left:
            self.left.setdefault("DIFFERENCE", []).extend(self.left.pop("BY_HOW_MUCH"))
        core = self.told.asked.lower().lstrip(" \"'(")
        self.yes_or_no = core.split(" ", 1)[0] in _ASKS

    # What the frames hold.

    def has(self, *kinds: str) -> bool:
        return any(kind in self.left for kind in kinds)

    def said(self, *kinds: str) -> bool:
        """Whether the question has such a frame, read or not."""
        return any(kind in self.parsed.frames for kind in kinds)

    def take(self, *kinds: str) -> list[Token]:
        """The frames of these kinds; taken, they are read."""
        return [token for kind in kinds for token in self.left.pop(kind, [])]

    # The query.

    def query(self) -> Query:
        words = self._in_words()
        measures = list(self.parsed.measures)
        periods = self._periods()
        unit = self._unit()
        parts = self._parts()
        companies = tuple(
            {one.company.key: Company(key=one.company.key, name=one.company.name, confidence=one.confidence)
             for one in self.lexed.companies}.values()
        )  # fmt: skip
        base = Query(
            question=self.question,
            companies=companies,
            unknown_companies=tuple(dict.fromkeys(self.parsed.unknown)),
            parts=parts,
            periods=periods,
            respectively=bool(self.take("RESPECTIVELY")),
            unit=unit,
            decimals=decimals_asked(self.question),
        )
        if words is not None:
            topics = tuple(line.words for measure in measures for line in lines_of(measure))
            return base.model_copy(update={"kind": words, "measures": tuple(measures), "topics": topics})
        self.take("WHICH") if not self.has("KIND", "PERIOD_KIND") else None
        put = _Asked(self, base, measures)
        return put.query()

    def _in_words(self) -> Kind | None:
        """The kind of a question that no figure answers."""
        for frame, kind in _IN_WORDS.items():
            if self.has(frame):
                return kind
        return None if self.parsed.measures or self.has("KIND", "FASTEST", "SLOWEST") else Kind.DESCRIPTION

    def _periods(self) -> tuple[Period, ...]:
        dates = [period_of(one) for one in self.parsed.periods if isinstance(one, DateMention)]
        named = [one for one in self.parsed.periods if isinstance(one, PeriodMention)]
        if self.parsed.arithmetic and not named:
            return tuple(dates)
        by_years = {(one.fiscal_year, one.quarter): one for one in named}
        found = []
        for period in periods_asked(self.told.asked, self.question):
            mention = by_years.get((period.fiscal_year, period.quarter))
            mention = mention or next(
                (one for one in named if one.fiscal_year == period.fiscal_year and one.months in (6, 9)), None
            )
            if mention is not None:
                found.append(_closing(period_of(mention), period.quarter))
            elif not any(line.period for measure in self.parsed.measures for line in lines_of(measure)):
                months = 3 if period.quarter else 12
                found.append(Period(fiscal_year=period.fiscal_year, quarter=period.quarter, months=months))
        if dates:
            found = [one for one in found if one.end is None and any(one == period_of(other) for other in named)]
        if self.has("YEAR_BEFORE") and len(found) == 1 and found[0].fiscal_year:
            self.take("YEAR_BEFORE")
            found.insert(0, found[0].model_copy(update={"fiscal_year": found[0].fiscal_year - 1}))
        return (*found, *dates)

    def _unit(self) -> str | None:
        points, bps = self.take("POINTS"), self.take("BPS")
        scales = [unit for frame, unit in _UNITS.items() if self.take(frame)]
        asked = unit_asked(self.question)
        if bps:
            return "basis points"
        if points:
            return "percentage points"
        return asked or (scales[0] if scales else None)

    def _parts(self) -> Parts | None:
        kinds = [str(token.value) for token in self.left.get("KIND", [])]
        names = tuple(dict.fromkeys(self.parsed.parts))
        without: tuple[str, ...] = ()
        if kinds and self.has("AFTER", "EXCEPT"):
            self.take("AFTER", "EXCEPT")
            without, names = names, ()
        if names and kinds:
            self.take("KIND")  # `the Marine segment`
            return Parts(names=names)
        if kinds and self.has(
            "WHICH", "RANK", "HIGHEST", "LOWEST", "FASTEST", "SLOWEST", "EACH", "BY", "WHO", "ORDINAL"
        ):
            self.take("KIND", "WHICH")
            return Parts(kind=kinds[0], without=without)
        return Parts(names=names) if names else None


def _closing(period: Period, quarter: int | None) -> Period:
    """The period with the quarter that its report closes, where its span is six or nine months."""
    return period.model_copy(update={"quarter": quarter}) if period.months in (6, 9) else period


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
class _Asked:
    """What is asked of the measures."""

    words: _Composer
    base: Query
    measures: list[Measure]

    def query(self) -> Query:
        """The first reading that fits; frames that it does not take are unread."""
        self._without_inputs()
        if len(self.measures) > 1 and len(set(self.measures)) == 1:
            self.measures = self.measures[:1]
        self._share_of_the_whole()
        update = (
            self._chosen()
            or self._turned()
            or self._between_companies()
            or self._claim()
            or self._ranked()
            or self._moved()
            or self._against()
            or self._plain()
        )
        query = self.base.model_copy(update={"measures": tuple(self.measures), **update})
        return query.model_copy(update={"unread": self._unread()})

    # Counts of what things can be set against each other.

    @property
    def companies(self) -> int:
        return len(self.base.companies) + len(self.base.unknown_companies)

    @property
    def axis(self) -> Axis | None:
        """What there are several of: companies, parts, measures, periods."""
        parts = self.base.parts
        if self.companies > 1:
            return Axis.COMPANIES
        if parts is not None and (parts.kind or len(parts.names) > 1):
            return Axis.PARTS
        if len(self.measures) > 1:
            return Axis.MEASURES
        return Axis.PERIODS if len(self.base.periods) > 1 else None

    def _without_inputs(self) -> None:
        """`return on equity using average equity`: inputs named beside their formula are what it is computed from."""
        if len(self.measures) < 2 or not isinstance(self.measures[0], Named):
            return
        first, *others = self.measures
        assert isinstance(first, Named)
        inputs = {name for line in _inputs(first.formula, self.words.lexicon) for name in line}
        lines = [line for one in others for line in (one.of if isinstance(one, Function) else (one,))]
        if all(isinstance(one, Line) and one.metric in inputs for one in lines):
            self.measures = [first]
            self.words.take("AND", "AVERAGE")

    def _share_of_the_whole(self) -> None:
        """`Data Center's share of revenue`: of the part, over the whole company."""
        words, parts = self.words, self.base.parts
        asked = words.left.get("SHARE", [])
        if not asked or parts is None or len(parts.names) != 1 or len(self.measures) != 1:
            return
        (line,) = self.measures
        if isinstance(line, Line) and not asked[0].text.lower().startswith(("what percent", "by what")):
            words.take("SHARE")
            self.measures = [percentage(line, line.model_copy(update={"whole": True}))]

    def _chosen(self) -> dict[str, object] | None:
        """`the revenue of the company with the highest margin`: what one is chosen by, and what is asked of it."""
        words = self.words
        extremes = [
            *words.left.get("HIGHEST", []),
            *words.left.get("LOWEST", []),
            *words.left.get("FASTEST", []),
            *words.left.get("SLOWEST", []),
        ]
        if self.companies < 2 or len(self.measures) != 2 or len(extremes) != 1:
            return None
        if not words.said("WITH_THE", "WHICH", "WHO", "AND"):
            return None
        if len(self.base.periods) > 1:
            return None
        (extreme,) = extremes
        places = words.parsed.places
        after = [place for place in places if place > extreme.start]
        by = places.index(after[0]) if after else len(places) - 1
        how = How.HIGHEST if extreme.type in ("HIGHEST", "FASTEST") else How.LOWEST
        words.take("WITH_THE", "HIGHEST", "LOWEST", "FASTEST", "SLOWEST", "WHICH", "WHO", "AND", "OR", "BY", "TOTAL")
        chosen_by = self.measures[by]
        if extreme.type in ("FASTEST", "SLOWEST") or words.take("GROWTH"):
            chosen_by = chosen_by if isinstance(chosen_by, Move) else Move(of=chosen_by, how="growth")
        self.measures = [self.measures[1 - by]]
        return {"kind": Kind.COMPARISON, "chosen_by": chosen_by, "comparison": Comparison(axis=Axis.COMPANIES, how=how)}

    def _between_companies(self) -> dict[str, object] | None:
        """`Acme's revenue minus Bolt's` sets the two companies against each other."""
        if len(self.measures) > 1 and len({_of_nobody(one) for one in self.measures}) == 1 and self.companies > 1:
            self.measures = [_of_nobody(self.measures[0])]
        if len(self.measures) != 1 or not isinstance(self.measures[0], Operation):
            return None
        whole = self.measures[0]
        how = {"-": How.DIFFERENCE, "/": How.RATIO}.get(whole.operator)
        left, right = whole.left, whole.right
        if how is None or not isinstance(left, Line | Named) or not isinstance(right, Line | Named):
            return None
        plain = [_of_nobody(one).model_copy(update={"words": ""}) for one in (left, right)]
        if not (left.company and right.company) or plain[0] != plain[1]:
            return None
        order = {left.company: 0, right.company: 1}
        if {one.key for one in self.base.companies} != order.keys():
            return None
        self.measures = [left.model_copy(update={"company": None})]
        companies = tuple(sorted(self.base.companies, key=lambda one: order[one.key]))
        self.words.take("RATIO", "DIFFERENCE", "AND")
        return {"kind": Kind.COMPARISON, "companies": companies, "comparison": Comparison(axis=Axis.COMPANIES, how=how)}

    def _turned(self) -> dict[str, object] | None:
        """`who turned more of revenue into free cash flow`."""
        words = self.words
        if not (words.has("TURNED") and len(self.measures) == 2 and words.has("HIGHER", "LOWER", "HIGHEST", "LOWEST")):
            return None
        words.take("TURNED", "VERSUS", "WHO")
        of, into = self.measures
        hundred = Number(value=100, unit="percent")
        self.measures = [Operation(operator="/", left=Operation(operator="*", left=hundred, right=into), right=of)]
        how = How.LOWEST if words.take("LOWER", "LOWEST") else How.HIGHEST
        words.take("HIGHER", "HIGHEST")
        return {"kind": Kind.COMPARISON, "comparison": Comparison(axis=Axis.COMPANIES, how=how)}

    def _claim(self) -> dict[str, object] | None:
        words = self.words
        either = " or " in words.told.asked.lower()
        if words.yes_or_no and words.has("UP") and words.has("DOWN") and words.has("OR"):
            words.take("UP", "DOWN", "OR", "YEAR_BEFORE", "FROM_WORD", "TO", "BY")
            return {"kind": Kind.CLAIM, "claim": Claim(way="rose")}
        if words.yes_or_no and self.companies == 2 and words.has("DIFFERENCE") and words.has("HIGHER", "LOWER"):
            claim = Claim(way="below" if words.take("LOWER") else "above", bound=Number(value=0))
            words.take("HIGHER", "DIFFERENCE", "THAN", "VERSUS", "AND", "OR")
            apart = Comparison(axis=Axis.COMPANIES, how=How.DIFFERENCE)
            return {"kind": Kind.CLAIM, "claim": claim, "comparison": apart}
        if not words.yes_or_no or either or words.has("DIFFERENCE", "EXCESS", "HOW_MANY_TIMES"):
            return None
        of_growth = words.has("GROWTH", "FASTER", "SLOWER") and words.has("UP", "DOWN", "HIGHER", "LOWER")
        if of_growth and not words.has("BOUND") and self.companies < 2:
            return None  # how growth itself moved
        if len(self.measures) > 1 and words.has("BOUND"):
            return None
        bound = self._bound()
        if words.has("EVERY") and words.has("UP", "DOWN"):
            words.take("EVERY")
            way: Way = "fell" if words.take("DOWN") else "rose"
            words.take("UP")
            return {
                "kind": Kind.CLAIM,
                "claim": Claim(way=way),
                "comparison": Comparison(axis=Axis.PERIODS, how=How.EVERY),
            }
        moved = words.take("UP"), words.take("DOWN"), words.take("CHANGE"), words.take("GROWTH")
        if words.take("POSITIVE"):
            return {"kind": Kind.CLAIM, "claim": Claim(way="above", bound=Number(value=0))}
        if words.take("NEGATIVE"):
            return {"kind": Kind.CLAIM, "claim": Claim(way="below", bound=Number(value=0))}
        higher, lower = words.take("HIGHER", "AT_LEAST", "FASTER"), words.take("LOWER", "AT_MOST", "SLOWER")
        words.take("THAN", "VERSUS", "BY")
        if any(moved) and bound is None and not (self.companies > 1):
            words.take("YEAR_BEFORE")
            return {"kind": Kind.CLAIM, "claim": Claim(way="fell" if moved[1] else "rose"), "comparison": None}
        if any(moved):
            self._move("growth" if moved[3] or bound is None or bound.unit == "percent" else "change")
        if bound is not None:
            return {"kind": Kind.CLAIM, "claim": Claim(way="below" if lower else "above", bound=bound)}
        if (higher or lower) and self.axis is not None:
            way = "below" if lower else "above"
            if self.axis is Axis.PERIODS:
                if self._earlier_first():
                    way = "above" if lower else "below"
                return {"kind": Kind.CLAIM, "claim": Claim(way=way), "comparison": Comparison(axis=self.axis)}
            against = Comparison(axis=self.axis, how=How.LOWEST if lower else How.HIGHEST)
            return {"kind": Kind.CLAIM, "claim": Claim(way=way), "comparison": against}
        return None

    def _earlier_first(self) -> bool:
        """Whether the question names the earlier of two years first: `was 2022 higher than 2024`."""
        years = [one.fiscal_year for one in self.words.parsed.periods if isinstance(one, PeriodMention)]
        return len(years) > 1 and years[0] < years[-1]

    def _bound(self) -> Number | None:
        found = self.words.take("BOUND")
        amounts = [self._amount(token) for token in found]
        if len(amounts) != 1:
            self.words.left.update({"BOUND": found} if found else {})
            return None
        return amounts[0]

    def _amount(self, token: Token) -> Number:
        amount = token.value
        assert isinstance(amount, Amount)
        return Number(value=amount.value, unit=amount.unit)

    def _ranked(self) -> dict[str, object] | None:
        words = self.words
        axis = Axis.PERIODS if words.has("PERIOD_KIND") else self.axis
        both_ends = words.has("HIGHEST") and words.has("LOWEST")
        if axis is None or both_ends or (axis is Axis.PERIODS and len(self.base.periods) < 2):
            return None
        if axis is Axis.PERIODS and words.has("UP", "DOWN", "CHANGE") and not words.has("FASTEST", "SLOWEST", "GROWTH"):
            return None  # the largest rise: which years it is reckoned between is not settled
        family = axis is Axis.PARTS and self.base.parts is not None and self.base.parts.kind is not None
        rank = words.take("RANK")
        ordinal = words.take("ORDINAL")
        choice = words.said("WHO", "WHICH", "PERIOD_KIND", "OR") or " or " in words.told.asked.lower()
        high = words.take("FASTEST", "HIGHEST") or (choice and words.take("HIGHER", "FASTER"))
        fast = words.said("FASTEST", "SLOWEST", "FASTER", "SLOWER")
        low = words.take("SLOWEST", "LOWEST") or (choice and words.take("LOWER", "SLOWER"))
        moved = words.take("UP"), words.take("DOWN"), words.take("GROWTH"), words.take("CHANGE")
        if not (rank or high or low or ordinal or (family and any(moved[:2]))):
            self._give_back(moved)
            return None
        words.take(
            "PERIOD_KIND", "WHO", "WHICH", "BY", "OR", "THAN", "VERSUS", "EACH", "YOY", "YEAR_BEFORE", "FROM_WORD"
        )
        if family and not self.measures:
            self.measures = [Line(words="revenue", metric="revenue")]
        if len(self.base.periods) > 1 and axis in (Axis.COMPANIES, Axis.PARTS):
            self._over_periods()
        if fast or any(moved):
            self._move("growth" if fast or moved[2] or moved[0] or family else "change")
        if rank:
            return {"kind": Kind.RANKING, "comparison": Comparison(axis=axis, how=How.RANK)}
        if not (high or low or ordinal):
            claim = Claim(way="fell") if moved[1] else Claim(way="rose")
            return {"kind": Kind.RANKING, "claim": claim, "comparison": Comparison(axis=axis, how=How.FILTER)}
        how = How.LOWEST if low else How.HIGHEST
        if moved[1] and not low:
            how = How.LOWEST  # `fell the most`
        nth = int(str(ordinal[0].value)) if ordinal else None
        return {"kind": Kind.COMPARISON, "comparison": Comparison(axis=axis, how=how, nth=nth)}

    def _over_periods(self) -> None:
        """`the highest total sales over 2022 and 2023`: what is ranked is the sum, or the mean, over the periods."""
        if self.words.take("TOTAL"):
            self.measures = [Function(name="sum", of=(one,)) for one in self.measures]
        elif self.words.take("AVERAGE") or self._averaged():
            self.measures = [Function(name="mean", of=(one,)) for one in self.measures]

    def _give_back(self, taken: Sequence[list[Token]]) -> None:
        for tokens in taken:
            if tokens:
                self.words.left.setdefault(tokens[0].type, []).extend(tokens)

    def _move(self, how: HowMoved) -> None:
        self.measures = [one if isinstance(one, Move) else Move(of=one, how=how) for one in self.measures]

    def _moved(self) -> dict[str, object] | None:
        words = self.words
        if words.take("CAGR"):
            words.take("FROM_WORD", "UP", "GROWTH", "BY")
            self._move("cagr")
            return {"kind": Kind.CHANGE, **self._set_against()}
        if words.yes_or_no and words.has("GROWTH", "FASTER", "SLOWER") and words.has("UP", "DOWN"):
            return None  # growth of growth
        if words.has("GROWTH") and (words.parsed.arithmetic or len(words.left["GROWTH"]) > 1 or words.has("AVERAGE")):
            return None
        if words.has("FASTER", "SLOWER") and self.companies < 2:
            return None
        growth = words.take("GROWTH") or words.take("YOY")
        if words.has("UP", "DOWN", "CHANGE") and all(
            one.text.lower().startswith("by") for one in words.left.get("DIFFERENCE", [])
        ):
            words.take("DIFFERENCE")
        up, down, change = words.take("UP"), words.take("DOWN"), words.take("CHANGE")
        if words.has("HOW_MANY_TIMES") and self.companies < 2:
            return None
        between = self.axis is Axis.PERIODS and words.take("DIFFERENCE")
        percent = bool(up or down or change) and words.take("SHARE")  # `what percentage change`
        excess = words.take("EXCESS") if (up or down or change) else []
        if not (growth or up or down or change or between):
            return None
        words.take(
            "FROM_WORD",
            "TO",
            "BY",
            "YEAR_BEFORE",
            "VERSUS",
            "YOY",
            "AND",
            "TOTAL",
            "DIFFERENCE" if self.companies < 2 else "",
            "THAN",
        )
        absolute = change and words.take("ABS", "NOT")
        in_percent = (not absolute and (bool(percent) or self.base.unit == "percent" or bool(excess))) or bool(
            up and _first_word(up) in _GROW and "dollar" not in words.question.lower()
        )
        self._move("growth" if growth or in_percent else "change")
        return {"kind": Kind.CHANGE, **self._set_against()}

    def _set_against(self) -> dict[str, object]:
        """How companies (or parts) are put against each other, beside what is asked of each over time."""
        words, axis = self.words, self.axis
        if axis not in (Axis.COMPANIES, Axis.PARTS, Axis.MEASURES):
            return {}
        for frames, how in _HOWS:
            if words.has(*frames):
                words.take(*frames)
                words.take(
                    "AND", "VERSUS", "THAN", "TO", "WHO", "BY", "HIGHER", "LOWER", "FASTER", "SLOWER", "DIFFERENCE"
                )
                return {"comparison": Comparison(axis=axis, how=how)}
        words.take("VERSUS", "AND", "WHO")
        return {}

    def _against(self) -> dict[str, object] | None:
        words, axis = self.words, self.axis
        if axis is None:
            return None
        if axis is Axis.PERIODS:
            for frames, how in _OVER_PERIODS:
                if words.has(*frames) or (how is How.AVERAGE and self._averaged()):
                    words.take(*frames)
                    words.take("AND", "BY", "FROM_WORD", "TO")
                    return {"kind": Kind.AGGREGATE, "comparison": Comparison(axis=axis, how=how)}
            if words.take("VERSUS") or words.has("HIGHER", "LOWER"):
                return {"comparison": Comparison(axis=axis)}
            words.take("AND")
            return None
        together = words.left.get("TOTAL", [])
        if axis is Axis.MEASURES and (
            len(self.base.periods) > 1 or any(one.text.lower() == "total" for one in together)
        ):
            return None  # whether each or their sum is meant is not said
        found = self._set_against()
        return {"kind": Kind.COMPARISON, **found} if found else None

    def _averaged(self) -> bool:
        """Whether an average of the periods is meant by `average revenue`: taken off the measure then."""
        if len(self.measures) != 1:
            return False
        (measure,) = self.measures
        if isinstance(measure, Line) and measure.balance == "average":
            self.measures = [measure.model_copy(update={"balance": None})]
            return True
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
        words.take("AND", "TO", "FROM_WORD", "VERSUS", "EACH", "BY", "LATEST", "CLOSING")
        if len(self.measures) == 1 and not isinstance(self.measures[0], Line):
            words.take("RATIO")
        if len(self.measures) > 1 and any(
            isinstance(one, Line) and one.balance == "average" for one in self.measures[:1]
        ):
            words.left.setdefault(
                "AVERAGE", list(words.parsed.frames.get("AVERAGE", [])) or [Token("AVERAGE", "average", 0, 0)]
            )
        if len(self.measures) == 1 and isinstance(self.measures[0], Line | Named) and words.take("TOTAL"):
            line = self.measures[0]
            self.measures = [line.model_copy(update={"words": f"total {line.words}"})]
        return {"kind": Kind.VALUE}

    def _unread(self) -> tuple[str, ...]:
        found = [(token.start, token.text) for tokens in self.words.left.values() for token in tokens]
        return (*(text for _, text in sorted(found)), *self.words.parsed.apart)


def _inputs(formula: str, lexicon: Lexicon) -> Iterator[tuple[str, ...]]:
    """Ids of what a formula is made of, those of the formulas in it as well."""
    inputs = expression_inputs(lexicon.formulas[formula].expression)
    yield inputs
    for name in inputs:
        if name in lexicon.formulas:
            yield from _inputs(name, lexicon)


def _of_nobody(measure: Measure) -> Measure:
    """The measure without the companies that its lines are of."""
    match measure:
        case Line() | Named():
            return measure.model_copy(update={"company": None})
        case Operation(left=left, right=right):
            return measure.model_copy(update={"left": _of_nobody(left), "right": _of_nobody(right)})
        case Function(of=parts):
            return measure.model_copy(update={"of": tuple(_of_nobody(part) for part in parts)})
        case _:
            return measure


_EXTREMES = ("HIGHEST", "LOWEST", "FASTEST", "SLOWEST")
_GROW = frozenset({"grow", "grew", "grown", "growing", "grows"})


def _first_word(tokens: Sequence[Token]) -> str:
    return tokens[0].text.lower()


_HOWS: tuple[tuple[tuple[str, ...], How], ...] = (
    (("HOW_MANY_TIMES", "RATIO"), How.RATIO),
    (("EXCESS",), How.EXCESS),
    (("DIFFERENCE",), How.DIFFERENCE),
    (("TOTAL",), How.TOTAL),
    (("AVERAGE",), How.AVERAGE),
)
_OVER_PERIODS: tuple[tuple[tuple[str, ...], How], ...] = ((("TOTAL",), How.TOTAL), (("AVERAGE",), How.AVERAGE))
