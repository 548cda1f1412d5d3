"""Compose the request from a question's words: a value, a movement, a comparison, a ranking, a claim."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial, reduce
from itertools import groupby, islice, pairwise
from typing import Any

from fin_agent.analyst.rules.query_to_text import shift_period
from fin_agent.lexicon.abbreviations import COUNT_WORDS
from fin_agent.lexicon.entry_loading import expression_inputs
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.periods import PeriodMention, parse_periods
from fin_agent.lexicon.text_normalization import bare_words
from fin_agent.lexicon.words import finds, patterns, word_lists
from fin_agent.query.lexer import Amount, LexedQuestion, is_stock, mentions_of, periods_in
from fin_agent.query.modifier_attachment import LINES, period_of
from fin_agent.query.parsing import ParsedQuestion
from fin_agent.query.question_sentences import QuestionSentences, requested_decimals, requested_unit
from fin_agent.query.question_splitting import split_requests
from fin_agent.query.tokens import Token, has_any, read_yaml, types_in
from fin_agent.query.tree import (
    Axis,
    Claim,
    Combination,
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
    companies_of,
    line_of_metric,
    lines_of,
    measure_text,
    operation,
    percentage,
    share_of,
    total_of,
    with_lines,
    without_move,
)
from fin_agent.retrieval.fact_search import OF_ANY_FIGURE
from fin_agent.retrieval.fact_terms import OF_TIME, OF_YEARS_TO_COME, stems, words_of
from fin_agent.retrieval.figure_families import COMPONENT, KINDS
from fin_agent.retrieval.search_terms import search_terms

_WORDS, _PATTERNS = word_lists("question_words"), patterns("question_patterns")
_IN_WORDS = {frame: Kind(kind) for frame, kind in read_yaml("frames.yaml")["in words"].items()}
_HOWS = {frame: Combination(how) for frame, how in read_yaml("frames.yaml")["combined"].items()}
_LEADS_IN = tuple(f"{words} " for words in sorted(word_lists("question_words")["leading in"]))
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
    """Frames that are unread, by type."""
    of_years_to_come: bool = False
    """Whether it ranks the years after the one that it names, by what falls due in them."""
    ranks_again: bool = False
    """Whether it holds a part against the others of the kind that the previous question is about."""
    members_told: Combination = Combination.FILTER
    """What is told of the members of which a claim is true: which they are, how many, or whether all are."""
    of_one_filing: bool = False
    """Whether it names no period and is about one filing: questions over years then use the years that it prints."""

    def __post_init__(self) -> None:
        self.left = {kind: list(tokens) for kind, tokens in self.parsed.frames.items()}
        self._rename_frames("BY_HOW_MUCH", "DIFFERENCE")
        if self.parsed.measures and _PATTERNS["fared"].match(self.sentences.asked):
            self.left.setdefault("CHANGE", [])
        counted = parse_periods(self.sentences.asked)
        self.counted_years = not self.parsed.periods and bool(counted.trailing_years or counted.since)
        asked = self.sentences.asked.lower().lstrip(" \"'(")
        # `Acme 2023: did margins fall?`, `In the year ended May 31, 2023, did margins fall?`
        led = (one for one in asked.split(", ")[1:] if not one.isdigit()) if asked.startswith(_LEADS_IN) else ()
        starts = (asked, asked.rpartition(": ")[2], *islice(led, 1))
        begins = any(text.split(" ", 1)[0] in _ASKS for text in starts)
        of_kind = begins and self._without_alternative()
        if of_kind and finds(asked, "any member"):
            begins = False  # `did any segment shrink`: which
            self.left.setdefault("WHICH", [])
            if not self.has_frame("BOUND", "THAN"):
                self._rename_frames("LOWER", "DOWN")  # `did any segment see lower sales`
                self._rename_frames("HIGHER", "UP")
        elif (quantity := self._quantity(asked, starts, asks=begins)) is not None:
            begins, self.members_told = False, quantity
            if not self.has_frame("UP", "DOWN", "BOUND"):
                self._rename_frames("GROWTH", "UP")
            self.left.setdefault("WHICH", [])
        verdict = any(words in asked for words in _WORDS["verdicts"])
        self.yes_or_no = begins or verdict or self._ends_with_a_sign()
        self.measures = self.parsed.measures
        self.base = Query(question=self.question, decimals=requested_decimals(self.question))

    def _quantity(self, asked: str, starts: Sequence[str], *, asks: bool) -> Combination | None:
        """Return what is asked of members that moved or are beyond a bound: how many they are, or whether all are."""
        said = [one for one in self.lexed.tokens if one.type not in types_in("before-members")]
        kind = next((one for one in said if one.type.startswith("KIND_")), None)
        if kind is None or not self.has_frame(*_MOVING, "BOUND", "POSITIVE", "NEGATIVE") or self.has_frame("EVERY"):
            return None
        if kind is not said[0]:  # `did sales grow in all of its regions`
            before = max(one.end for one in said if one.start < kind.start)
            return Combination.EVERY if asks and finds(self.lexed.text[before : kind.start], "each member") else None
        if any(finds(text, "number of members") for text in starts):
            return Combination.COUNT
        return Combination.EVERY if asks and finds(asked, "each member") else None

    def _without_alternative(self) -> bool:
        """Drop what the answer tells of other members anyway: `did any of them grow, or did they all shrink`.

        Return whether the question has a word for a kind of part.
        """
        if not self.has_frame("KIND"):
            return False
        said = list(self.lexed.tokens)
        at = max((place for place, one in enumerate(said) if one.type == "OR"), default=0)
        other, end = said[at + 1 :], next((one.start for one in said[at + 1 :] if one.type != "EACH"), 0)
        moved = has_any(said[:at], {*_MOVING, "POSITIVE", "NEGATIVE"})
        # `did they rise or fall` asks which way
        own = finds(self.lexed.text[said[at].end : end or len(self.lexed.text)], "other members")
        if moved and own and all(one.type in types_in("of-other-members") for one in other):
            for kind in ("OR", "EACH", "UP", "DOWN"):
                kept = [one for one in self.left.pop(kind, []) if one.start < said[at].start]
                self.left |= {kind: kept} if kept else {}
        return True

    def _ends_with_a_sign(self) -> bool:
        """Return whether a sign is asked for without a verb: `Acme free cash flow 2024: positive? (a - b)`."""
        tokens = self.lexed.tokens
        pairs = pairwise([one.type for one in tokens] + ["STOP"])
        compared = ("HIGHER", "LOWER") if len(self.lexed.companies) < 2 else ()  # `2023 vs 2022: higher?`
        kinds = ("NEGATIVE", "POSITIVE", *compared)
        signs = any(one in kinds and after in ("STOP", "LPAR") for one, after in pairs)
        return signs and not self.has_frame("KIND", "WHICH", "WHO", "PERIOD_KIND", "COUNT", *_EXTREMES)

    # Frames.

    def has_unread(self, *kinds: str) -> bool:
        """Return whether a frame of one of these kinds is unread."""
        return any(kind in self.left for kind in kinds)

    def has_frame(self, *kinds: str) -> bool:
        """Return whether the question has a frame of one of these kinds, read or not."""
        return any(kind in self.parsed.frames for kind in kinds)

    def unread(self, *kinds: str) -> list[Token]:
        """Return the unread frames of these kinds."""
        return [token for kind in kinds for token in self.left.get(kind, [])]

    def take_frames(self, *kinds: str) -> list[Token]:
        """Return the frames of these kinds and mark them as read."""
        return [token for kind in kinds for token in self.left.pop(kind, [])]

    def _rename_frames(self, kind: str, other: str) -> None:
        """Read unread frames of one kind as those of another."""
        if kind in self.left:
            self.left.setdefault(other, []).extend(self.left.pop(kind))

    @property
    def _in_dollars(self) -> bool:
        """Whether a movement is asked for in dollars."""
        asked = self.question.lower()
        return "dollar" in asked or "$ " in asked or (self.base.unit or "").startswith("USD") or self._in_amounts

    @property
    def _in_amounts(self) -> bool:
        """Whether a movement is asked for as an amount, whatever its verb: `grew most in dollar terms`."""
        return any(words in self.question.lower() for words in _WORDS["as amounts"])

    @property
    def only(self) -> Measure | None:
        """The measure, if there is one alone."""
        return self.measures[0] if len(self.measures) == 1 else None

    # The query.

    def query(self) -> Query:
        """Compose the Query from measures, companies, periods, parts and frames: the first request that fits."""
        selection = self._inherit_measures()
        self._name_kind()
        self._share_of_members()
        kind = self._textual_kind()
        self._set_base()
        if self.before is not None and self.base.periods != self.before.periods:
            self.measures = [with_lines(one, _without_figure) for one in self.measures]
        if kind is not None:
            apart = tuple(one.text for one in self.unread("KIND"))  # `why did product margins fall`
            return self._with_base(kind=kind, measures=tuple(self.measures), unread=apart)
        if not self.has_unread("KIND", "PERIOD_KIND"):
            self.take_frames("WHICH")
        self._settle_measures()
        selected: dict[str, object] = {"kind": Kind.COMPARISON, "comparison": selection}
        request = selected if selection is not None else self._first_request()
        return self._with_base(**{"measures": tuple(self.measures), "unread": self._unread(), **request})

    def _first_request(self) -> dict[str, object]:
        """Return the first request that fits: a value, if no other does."""
        requests: tuple[Callable[[], dict[str, object] | None], ...] = (
            self._selected_company_measure,
            self._conversion_ratio,
            self._company_difference,
            self._growth_comparison,
            self._claim,
            self._ranked,
            self._exceeded,
            self._movement,
            self._compare,
        )
        for read in requests:
            left = {kind: list(tokens) for kind, tokens in self.left.items()}
            request = read()
            if request:
                return request
            self.left = left  # what makes no request has read nothing
        return self._plain()

    def _with_base(self, **update: object) -> Query:
        return self.base.model_copy(update=update)

    def _set_base(self) -> None:
        """Set companies, periods, parts and unit of the query."""
        periods, unit, parts = self._periods(), self._unit(), self._parts()
        companies = companies_of(self.lexed.companies)
        earlier = self.before.companies if self.before is not None else ()
        # `Acme 2024 its share of revenue`, of the part before
        its = f" {self.lexed.text.lower()}".find(" its ")
        of_it = its >= 0 and all(one.start > its for one in self.lexed.tokens if one.type in LINES)
        again = companies == earlier and self.has_unread("SHARE") and of_it
        if self.before is not None and (again or not companies) and not self.parsed.unknown:
            companies, parts = earlier, parts or self.before.parts
        paired = self._pair_periods()
        self.base = self._with_base(
            companies=companies,
            unknown_companies=tuple(dict.fromkeys(self.parsed.unknown)),
            parts=parts,
            periods=paired or periods,
            respectively=bool(self.take_frames("RESPECTIVELY")) or paired is not None,
            unit=unit,
        )

    def _pair_periods(self) -> tuple[Period, ...] | None:
        """Return the periods in the order of the companies, if each has its own: `Acme FY24 vs Bolt FY25`."""
        named = [one for one in self.lexed.tokens if one.type in ("COMPANY", "PERIOD")]
        kinds = [one.type for one in named]
        pairs = len({one.company.key for one in self.lexed.companies})
        pairwise = kinds in (["COMPANY", "PERIOD"] * pairs, ["PERIOD", "COMPANY"] * pairs)
        if pairs < 2 or not pairwise or (self.parsed.arithmetic and len(self.measures) > 1):
            return None
        periods = tuple(period_of(mention) for one in named for mention in mentions_of(one))
        own = len(periods) == pairs and len(set(periods)) > 1 and all(one.fiscal_year or one.end for one in periods)
        return periods if own else None

    def _inherit_measures(self) -> Comparison | None:
        """Use the measures of the previous question, if this one has none or is a share of or with them.

        `..., and by how much did it rise?`, `..., and what share of revenue is that?` Return the selection of the
        previous question, if this one asks for the share of the part that it selects.
        """
        if self.before is None or not self.before.measures or self.has_unread(*_IN_WORDS):
            return None
        chosen = self.before.comparison
        ranked = chosen is not None and self.has_unread("ORDINAL")  # `which came second` is of the same movement
        ranked |= self._ranks_again()
        earlier = list(self.before.measures if ranked else map(without_move, self.before.measures))
        if chosen is not None and (chosen.axis, chosen.how) == (Axis.MEASURES, Combination.TOTAL):
            earlier, chosen = [Function(name="sum", of=tuple(earlier))], None
        if (shared := self._line_of_share(earlier)) is not None:
            self.measures, self.parsed.parts = [shared], []
        elif not self.measures:
            self.measures, self.parsed.arithmetic = self._combined(earlier), False
            if chosen is None and self.before.claim is None and len(earlier) == len(self.before.companies) == 1:
                self._rename_frames("DIFFERENCE", "CHANGE")  # of one company's measure `by how much?` asks how it moved
            line = earlier[0]
            if self._is_of_part(chosen) and len(earlier) == 1 and isinstance(line, Line) and self.take_frames("SHARE"):
                self.take_frames("TOTAL", "WHICH")
                self.measures = [percentage(line, _of_the_whole(line))]
                return chosen
        elif len(earlier) == 1:
            self._relate_to_earlier(earlier[0], of_parts=self.before.parts is not None)
        return None

    def _is_of_part(self, chosen: Comparison | None) -> bool:
        """Return whether the previous question is about one part, which it names or selects."""
        parts = self.before.parts if self.before is not None else None
        named = parts is not None and len(parts.names) == 1 and not parts.kind
        return named or (chosen is not None and chosen.axis is Axis.PARTS and chosen.how in _ENDS)

    def _line_of_share(self, earlier: Sequence[Measure]) -> Line | None:
        """Return the line of a part whose share was asked for, if its movement is: `and how fast did AWS grow`."""
        shared = share_of(earlier[0]) if len(earlier) == 1 and self.has_unread(*_MOVING) else None
        if shared is None or not isinstance(shared[0], Line) or self.before is None:
            return None
        part, own = self.before.only_part or shared[0].part, self.only
        named = bool(self.parsed.parts) and not self.measures
        if isinstance(own, Line) and part is not None:
            named = words_of(own.words) <= words_of(part)
        return shared[0].model_copy(update={"part": part}) if named else None

    def _combined(self, earlier: list[Measure]) -> list[Measure]:
        """Return the earlier measures as they are combined anew: `what was the shortfall`, `what is their total`."""
        extremes = self.unread(*_EXTREMES)
        if _ranks_results(extremes):  # `the largest by sales; was it the most profitable one`
            return [_usual_measure(extremes, self.lexed.text)]
        only = earlier[0] if len(earlier) == 1 else None
        divided = isinstance(only, Operation) and only.operator == "/" and share_of(only) is None
        if only is not None and divided and self.take_frames("DIFFERENCE"):
            return [only.model_copy(update={"operator": "-"})]
        return [total_of(earlier)] if only is None and self.take_frames("TOTAL") else earlier

    def _relate_to_earlier(self, earlier: Measure, *, of_parts: bool) -> None:
        """Read a line as what the earlier measure is divided by, or is a share of, or has a share in it."""
        asked, own = self.sentences.asked, self.only
        if isinstance(own, Line) and len(self.parsed.parts) == 1 and _PATTERNS["of which it is"].search(asked):
            own = own.model_copy(update={"part": self.parsed.parts[0]})  # `what share of Pet sales is it`
            self.measures, self.parsed.parts = [own], []
        if not isinstance(own, Line | NamedFormula) or self.parsed.parts:
            return
        if isinstance(own, Line) and words_of(own.words) <= _OF_ALL_PARTS:
            return  # `what share of the segments' total was that`: of a measure that it does not name
        refers = bool(_WORDS["referring"] & set(asked.lower().replace("?", " ").split()))
        share = self.has_unread("SHARE", "CAME_FROM") or (refers and self.has_unread("PERCENT"))
        if refers and self.take_frames("RATIO"):
            self.measures = [operation("/", earlier, own)]
        if share:
            asked_for = self.take_frames("SHARE", "CAME_FROM", "PERCENT", "WHICH")
            margin = any(one.text.lower().startswith("margin") for one in asked_for)  # of the part's own revenue
            if of_parts and isinstance(own, Line) and not margin:
                own = own.model_copy(update={"whole": True})
            pair = (own, earlier) if _PATTERNS["of what was asked"].search(asked) else (earlier, own)
            self.measures = [percentage(*pair)]

    def _textual_kind(self) -> Kind | None:
        """Return the kind of a question that no figure answers."""
        for frame, kind in _IN_WORDS.items():
            if self.has_unread(frame):
                return kind
        named = {one.company.key for one in self.lexed.companies}
        if self.has_unread("WHO") and len(named) == 1 and not self.has_unread(*_EXTREMES, "HIGHER", "LOWER", "KIND"):
            return Kind.DESCRIPTION  # `who was the CFO`: no cash from operations
        figures = self.has_unread("KIND", "FASTEST", "SLOWEST", "FASTER", "SLOWER", "POSITIVE", "NEGATIVE")
        return None if self.measures or figures else Kind.DESCRIPTION

    def _periods(self) -> tuple[Period, ...]:
        """Return the periods in time order, then those that end on a printed day; ranges of years are expanded."""
        mentions, text = list(self.parsed.periods), self.sentences.asked
        pinned = any(line.period for measure in self.measures for line in lines_of(measure))
        if not mentions and not pinned:
            text = self.question  # `Look at Acme in FY2022. Divide goodwill by total assets.`
            mentions = [one for token in periods_in(text) for one in mentions_of(token)]
        named = [period_of(one) for one in mentions]
        if not pinned and (not self.parsed.arithmetic or any(one.end is None for one in named)):
            told = {one.fiscal_year or (one.end and one.end.year) for one in named}
            named += [Period(fiscal_year=year) for year in parse_periods(text).years if year not in told]
        asked = tuple(dict.fromkeys(sorted(named, key=_days_last)))
        return self._with_relative_period(self._with_earlier_periods(asked))

    def _with_earlier_periods(self, asked: tuple[Period, ...]) -> tuple[Period, ...]:
        """Return the periods of the previous question if this one has none, or only where a movement to them began."""
        earlier = self.before.periods if self.before is not None else ()
        if self.before is not None and not asked and not self.counted_years:
            self.of_one_filing = not self.before.question and len(earlier) == 1
            return earlier
        return (*asked, *earlier) if self._starts_from(asked, earlier) else asked

    def _starts_from(self, asked: Sequence[Period], before: Sequence[Period]) -> bool:
        """Return whether the only period is where a movement to that of the previous question began.

        `What was it in 2020, and how far had it slipped from 2019?`, `did it improve on 2018?`
        """
        if len(asked) != 1 or len(before) != 1 or not self.has_unread(*_MOVING, "HIGHER", "LOWER"):
            return False
        (start,), (end,) = asked, before
        if not start.fiscal_year or not end.fiscal_year or start.fiscal_year >= end.fiscal_year:
            return False
        token = next((one for one in self.lexed.tokens if one.type == "PERIOD"), None)
        said = self.lexed.text[: token.start].lower().split()[-2:] if token is not None else []
        return not _WORDS["beginnings"].isdisjoint(said)

    def _with_relative_period(self, found: tuple[Period, ...]) -> tuple[Period, ...]:
        """Return the only period with the one relative to it: the year before, the year after, the quarter before."""
        if len(found) != 1:
            return found
        (only,) = found
        if self.take_frames("YEAR_BEFORE"):
            return shift_period(only, -1), only
        if self.take_frames("NEXT_YEAR"):
            return only, shift_period(only, 1)
        if only.quarter and not only.end and self.take_frames("QUARTER_BEFORE"):
            return shift_period(only, 0, -1), only
        return found

    def _unit(self) -> str | None:
        asked = [unit for frame, unit in read_yaml("frames.yaml")["units"].items() if self.take_frames(frame)]
        finest = next((unit for unit in asked if unit.endswith("points")), None)
        return finest or requested_unit(self.question) or next(iter(asked), None)

    def _parts(self) -> Parts | None:
        kinds, names = self.unread("KIND"), tuple(dict.fromkeys(self.parsed.parts))
        without: tuple[str, ...] = ()
        earlier = self.before.parts if self.before is not None else None
        if not kinds and earlier is not None and earlier.kind and self.take_frames("EXCEPT"):
            return Parts(kind=earlier.kind, without=names)
        second = self.has_unread("AFTER") and self.has_unread("ORDINAL")  # `the second largest platform after console`
        if kinds and self.take_frames("AFTER", "EXCEPT"):
            without, names = () if second else names, ()
        names = () if self._line_of_part(names) else names
        if earlier is not None and self.ranks_again:
            return earlier.model_copy(update={"names": names})
        if names and kinds:
            return self._named_beside_kind(names, kinds[0])
        if kinds and (self.has_unread(*_SELECTING) or self._sums_members()):
            self.take_frames("KIND", "WHICH")
            return self._family_of(kinds[0], without)
        return Parts(names=names) if names else None

    def _named_beside_kind(self, names: tuple[str, ...], kind: Token) -> Parts:
        """Return parts that are named beside a word for their kind, of which all are meant where one is held first."""
        # in another request than the one that ranks all of the kind
        named, at = {self._request_at(one.start) for one in self._tokens_of_parts()}, self._request_at(kind.start)
        apart = at in self._requests(*_RANKING) and bool(named) and at not in named
        kinds = ((one, other) for one, other in pairwise(self.lexed.tokens) if other.type.startswith("KIND"))
        # `the Business segment's customer groups`
        between = (self.lexed.text[one.end : other.start] for one, other in kinds if one.type == "PART")
        if apart or any(text.startswith("'s") for text in between):
            return Parts(names=names)
        self.take_frames("KIND")
        parts, ranks = self._tokens_of_parts(), self.unread(*_EXTREMES, "ORDINAL")
        first = len(parts) == 1 and any(parts[0].end < one.start < kind.start for one in ranks)
        if self.yes_or_no and first:  # `was Cloud the largest segment`
            return self._family_of(kind, ()).model_copy(update={"names": names})
        return Parts(names=names, called=str(kind.value) * (len(names) > 1))  # `the Marine segment`

    def _family_of(self, kind: Token, without: tuple[str, ...]) -> Parts:
        """Return all parts of a kind, by its own words where a table may be called by them."""
        words = kind.text.lower()
        own = kind.value in ("customer", "product") and (" " in words or words in _WORDS["called by tables"])
        count = self._members_counted(kind)
        return Parts(kind=str(kind.value), called=words if own else "", without=without, count=count)

    def _members_counted(self, kind: Token) -> int:
        """Return how many members of a kind there are in the words before it: `its five reportable segments`."""
        parting = ("STOP", "COMMA", "WHICH", "PERIOD", "TOP", "ORDINAL", *_EXTREMES)
        start = max(
            (one.end for one in self.lexed.tokens if one.end <= kind.start and one.type.startswith(parting)), default=0
        )
        before = self.lexed.text[start : kind.start].split()[-_WORDS_BEFORE_A_KIND:]
        counts = COUNT_WORDS[2:]  # `which one segment`
        return next((COUNT_WORDS.index(word.lower()) for word in reversed(before) if word.lower() in counts), 0)

    def _sums_members(self) -> bool:
        """Return whether one figure is to be summed over all parts of a kind: `sales of all regions together`."""
        others = ("SHARE", "CAME_FROM", "EXCEPT", "AVERAGE", "DIFFERENCE", "RATIO", *_MOVING)
        each = any(one.text.lower().endswith(("s", "regional")) for one in self.unread("KIND"))  # `market value`
        return each and self.has_unread("TOTAL") and len(self.measures) == 1 and not self.has_unread(*others)

    def _line_of_part(self, names: Sequence[str]) -> bool:
        """Read a part before what parts are ranked by as words of its line: `which region had most iPhone sales`."""
        lines = self.measures or [Line(words="")]
        one = len(names) == len(lines) == 1 and self.has_unread("KIND") and self._ranks_within_part()
        if not one or not isinstance(lines[0], Line):
            return False
        self.measures = [Line(words=f"{names[0]} {lines[0].words}".strip())]
        return True

    def _ranks_within_part(self) -> bool:
        """Return whether what is ranked is a part of the part that is named."""
        types = [one.type for one in self.lexed.tokens]
        behind = (*LINES, "PERIOD", "STOP", "COMPANY")
        ranked = any(
            part == "PART" and (before in _EXTREMES if after in behind else after.startswith("KIND_"))
            for before, part, after in zip(types, types[1:], [*types[2:], "STOP"], strict=False)
        )
        # `within the Cloud segment, which product had the most sales`, `largest product by Cloud sales`
        led = (one for one in self.lexed.tokens if one.type not in types_in("before-a-request"))
        chosen = self.has_unread("WHICH", "WHO") or has_any(islice(led, 1), (*_EXTREMES, "RANK"))
        apart = self.yes_or_no or self.has_frame("AFTER", "EXCEPT", "THAN", "VERSUS", "SHARE", "CAME_FROM", "OR")
        segments = any(one.value == "segment" for one in self.unread("KIND"))  # a part is one mostly
        pairs = list(pairwise(one.partition("_")[0] for one in types if one not in ("COMPANY", "NOISE")))
        # `which customer group of Business grew its revenue`, `was there any customer group`
        moved = self.has_unread("UP", "DOWN") and (("WHICH", "KIND") in pairs or not self.has_frame("WHICH"))
        ranked |= chosen and not apart and not segments and (moved or self.has_unread(*_EXTREMES))
        return ranked or ("KIND", "PART") in pairs

    def _name_kind(self) -> None:
        """Read what is ranked as a kind of part where no word names one: `which plant made the most X`, `top 3 Y by X`.

        Of a word for any part, and of what is ranked by nothing else, the rows that add up to it are ranked: `the
        largest item of X`, `the largest liability`.
        """
        ranking = [*self.unread(*_EXTREMES, "TOP", "ORDINAL"), *self.unread("RANK")[:1]]  # `by sales, largest first`
        left_out = [one.start for one in self.unread("EXCEPT")]
        told = self.has_frame("PERIOD_KIND") or (self.parsed.parts and not left_out) or self.parsed.unknown
        self._name_place(ranking)
        if told or len(ranking) != 1 or len({one.company.key for one in self.lexed.companies}) != 1:
            return
        if self.has_frame("KIND"):
            self._narrow_kind()
            return
        lines, places = list(self.measures), self.parsed.places
        if len(lines) == 2 and words_of(measure_text(lines[1])) <= _COMPONENTS and not self.has_frame("AND"):
            lines, places = lines[::-1], places[::-1]  # `impairment charges: biggest item`
        if len(lines) == 2 and left_out and places[0] < left_out[0] < places[1]:  # `the largest X, excluding Y`
            self.parsed.parts = [measure_text(lines.pop())]
        measure, kind = self._ranked_by(lines, ranking[0].start)
        if measure is not None:
            self.measures, self.parsed.places, self.parsed.apart = [measure], places[-1:], ()
            self.left["KIND"] = [replace(ranking[0], type="KIND", text=measure_text(lines[0]), value=kind)]

    def _name_place(self, ranking: Sequence[Token]) -> None:
        """Read `where` as the region that is ranked, or as one of the parts named: `where did sales fall the most`."""
        moved = self.has_unread(*_MOVING, "FASTEST", "SLOWEST")
        known = all(getattr(one, "metric", None) or isinstance(one, NamedFormula) for one in self.measures)
        if len(ranking) == 1 and len(self.measures) < 2 and (moved or (known and self.measures)):
            for place in self.take_frames("WHERE"):
                self.take_frames(*(() if moved else ("CAME_FROM",)))  # `where does most of its revenue come from`
                self.left.setdefault("WHICH", [])
                if not self.parsed.parts and not self.has_frame("KIND"):
                    self.parsed.frames["KIND"] = self.left["KIND"] = [replace(place, type="KIND", value="region")]

    def _ranked_by(self, lines: Sequence[Measure], extreme: int) -> tuple[Line | NamedFormula | None, str]:
        """Return by what is ranked, and what: a line beside the word that ranks, or the rows that add up to it."""
        first, *others = lines or [Number(value=0)]
        if not isinstance(first, Line) or len(others) > 1:
            return None, ""
        if not others:
            by, _, kind = first.words.partition(" by ")  # `revenue by customer location: top 3`
            return (self._line_named(by), kind) if kind else (self._sum_of_rows(first), COMPONENT)
        (other,) = others
        rows = words_of(first.words.split()[-1]) <= _COMPONENTS or first.words.lower() in KINDS
        one_request = self._request_at(self.parsed.places[-1]) == self._request_at(extreme)
        if not isinstance(other, Line | NamedFormula) or not one_request:
            return None, ""  # `which X was the largest, and what was Y`
        return (other, COMPONENT if rows else first.words) if rows or self._ranks_rows(first, extreme) else (None, "")

    def _sum_of_rows(self, line: Line) -> Line | None:
        """Return what the rows that a line names add up to: `items in X`, `X categories`, or `liability` itself."""
        first, *rest = line.words.split()
        whole = ""
        if words_of(first) <= _COMPONENTS and rest[:1] in (["of"], ["in"]):
            whole = " ".join(rest[1:])
        elif rest and words_of(rest[-1]) <= _COMPONENTS:
            whole = " ".join((first, *rest[:-1]))
        elif words_of((first, *rest)[-1]) <= _SUMS:
            return line
        return self._line_named(whole) if whole else None

    def _line_named(self, words: str) -> Line:
        """Return the line of these words, by its metric where they name one."""
        found = self.lexicon.mentions(words)
        named = [(one.phrase.lower(), one.kind) for one in found] == [(words.lower(), "metric")]
        return Line(words=words, metric=found[0].id if named else None)

    def _ranks_rows(self, ranked: Line, extreme: int) -> bool:
        """Return whether the first of two lines is what is ranked, and the other by what."""
        first, second = self.parsed.places[:2]
        by = any(first < one.start < second for one in self.unread("BY"))
        return not ranked.metric and (
            (first < extreme < second and self.has_frame("WHICH", "WHO")) or (extreme < first and by)
        )

    def _narrow_kind(self) -> None:
        """Read a line beside a word for a kind as what narrows it: `which Acme Brand region`, `regions by location`."""
        (kind, *others), text = self.left.get("KIND", [None]), self.lexed.text
        requests = {self._request_at(place) for place in (*self.parsed.places, *([kind.start] if kind else ()))}
        if kind is None or others or self.parsed.parts or len(requests) > 1 or not 0 < len(self.measures) < 3:
            return
        ranked = self.has_unread("RANK", "TOP", "ORDINAL", *_EXTREMES)  # by what follows
        for place, line in zip(self.parsed.places, self.measures, strict=False):
            if not isinstance(line, Line) or line.metric:
                continue
            before, behind = text[place + len(line.words) : kind.start], text[kind.end : place]
            if (place < kind.start and not before.strip()) or (behind.strip() == "by" and not ranked):
                self.measures = [one for one in self.measures if one is not line]
                self.parsed.places = [one for one in self.parsed.places if one != place]
                self.parsed.apart = ()
                self.left["KIND"] = [replace(kind, value=f"{line.words} {kind.value}")]
                return

    def _tokens_of_parts(self, behind: int = -1) -> list[Token]:
        return [one for one in self.lexed.tokens if one.type == "PART" and one.start > behind]

    def _ranks_again(self) -> bool:
        """Return whether a part is held against all of the kind before: `rank its segments; was Cloud first`."""
        kind = self.before.parts.kind if self.before is not None and self.before.parts is not None else None
        names = [str(one.value) for one in self._tokens_of_parts()]
        own = {one.words if isinstance(one, Line) else "" for one in self.measures} | set(self.parsed.parts)
        alone = bool(kind) and len(names) == 1 and not self.has_frame("KIND", "EXCEPT", "AFTER", "SHARE")
        if alone and own <= set(names) and self.has_frame(*_EXTREMES, "ORDINAL"):
            self.parsed.parts, self.measures, self.ranks_again = names, [], True
        return self.ranks_again

    # What can be compared.

    @property
    def companies(self) -> int:
        """The number of companies."""
        return len(self.base.companies) + len(self.base.unknown_companies)

    @property
    def family(self) -> str | None:
        """The kind of part of which each is asked about: `segment`, `region`."""
        return self.base.parts.kind if self.base.parts is not None else None

    @property
    def axis(self) -> Axis | None:
        """The dimension with several members: companies, parts, measures, periods."""
        parts = self.base.parts
        several = len(self.measures) > 1
        if several and all(line.company for one in self.measures for line in lines_of(one)):
            return Axis.MEASURES
        if self.companies > 1:
            return Axis.COMPANIES
        if self.family or (parts is not None and len(parts.names) > 1):
            return Axis.PARTS
        if several:
            return Axis.MEASURES
        return Axis.PERIODS if len(self.base.periods) > 1 or self.counted_years else None

    # The measures.

    def _without_what_is_not_due(self) -> None:
        """Keep what is due apart from what the question leaves out: `principal due in 2024? exclude interest`."""
        due, others, left_out = next(iter(self.measures), None), self.measures[1:], self.unread("EXCEPT")
        if not left_out or not others or not isinstance(due, Line) or not words_of(due.words) & OF_YEARS_TO_COME:
            return
        if all(isinstance(one, Line) for one in others) and self.parsed.places[1] > left_out[0].start:
            self.take_frames("EXCEPT")
            told = " and ".join(measure_text(one) for one in others)
            self.measures = [due.model_copy(update={"words": f"excluding {told}: {due.words}"})]

    def _without_lines(self) -> None:
        """Leave lines out of the measure before them: parts, costs, or revenue of a margin.

        `revenue without bitcoin`, `costs ex rent`, `operating margin before restructuring`.
        """
        left_out = self.unread("EXCEPT")
        lines = self._lines_behind(left_out[0]) if len(left_out) == 1 else None
        if lines is None:
            return
        whole = self.measures[0]
        costs = bool(lines) and all(map(self._is_operating_cost, lines))
        if (pair := self._lines_of_margin(whole)) is not None:
            without = self._margin_without(pair, left_out[0].start, lines, costs=costs)
        else:
            without = self._line_without(whole, left_out[0], lines, costs=costs)
        if without is not None:
            self.take_frames("EXCEPT")
            self.measures = [without]

    def _lines_behind(self, left_out: Token) -> list[Line] | None:
        """Return the lines that are left out of the first measure; None if anything else stands there."""
        start, places = left_out.start, self.parsed.places
        if not places or self.companies > 1 or self.family or places[0] > start:
            return None
        others = (*self.measures[1:], *self._costs_among_parts(start))
        lines = [one for one in others if isinstance(one, Line)]
        return None if len(lines) < len(others) or any(place < start for place in places[1:]) else lines

    def _line_without(self, whole: Measure, left_out: Token, lines: list[Line], *, costs: bool) -> Measure | None:
        """Return a line without other lines; lines of no known measure become parts of it."""
        if not isinstance(whole, Line) or not whole.metric or not lines or self.base.parts is not None:
            return None
        if costs and whole.metric in _BEFORE_TAXES:
            return total_of([whole, *lines])
        if left_out.text.lower() in _WORDS["leaving out in names"]:
            return None
        if not any(one.metric for one in lines):
            self.base = self._with_base(parts=Parts(names=tuple(one.words for one in lines)))
            self.measures = [whole]
        elif all(one.metric and self.lexicon.metrics[one.metric].sign == "expense" for one in (whole, *lines)):
            return operation("-", whole, total_of(lines))
        return None

    def _costs_among_parts(self, start: int) -> list[Line]:
        """Return costs that are left out and that a note has as a column, which are no parts: `restructuring`."""
        names = self.base.parts.names if self.base.parts is not None else ()
        told = [one.value for one in self._tokens_of_parts(start)]
        costs = [Line(words=one) for one in names if one in told and self._is_operating_cost(Line(words=one))]
        if costs:
            rest = tuple(one for one in names if one not in [cost.words for cost in costs])
            self.base = self._with_base(parts=Parts(names=rest) if rest else None)
        return costs

    def _margin_without(self, pair: tuple[Line, Line], start: int, lines: list[Line], *, costs: bool) -> Measure | None:
        """Return a margin without revenue or parts, of both its lines, or without costs, of the result."""
        result, revenue = pair
        names = self.base.parts.names if self.base.parts is not None else ()
        told = [one.value for one in self._tokens_of_parts(start)]
        left_out = [one for one in names if one in told]
        if not lines and names and len(left_out) == len(names):
            self.base = self._with_base(parts=None)
            return percentage(*(_less(one, [one.model_copy(update={"part": name}) for name in names]) for one in pair))
        if lines and not left_out and all(words_of(one.words) & _of_measures("lines of revenue") for one in lines):
            return self._margin_on_less_revenue(result, revenue, lines)
        if costs and not left_out and result.metric in _BEFORE_TAXES:
            return percentage(total_of([result, *map(_of_the_whole, lines)]), revenue)
        return None

    def _margin_on_less_revenue(self, result: Line, revenue: Line, lines: Sequence[Line]) -> Measure | None:
        """Return a margin without some revenue; of a part, that of the totals that a statement prints under its name.

        The segment of that name may sell more than they contain.
        """
        names = self.base.parts.names if self.base.parts is not None else ()
        if not names:
            return percentage(_less(result, lines), _less(revenue, lines))
        if len(names) > 1 or result.metric != "gross_profit":
            return None
        said = words_of("total") | _of_measures("lines of revenue")
        name = " ".join(word for word in names[0].lower().split() if words_of(word).isdisjoint(said))
        sales, cost = (Line(words=f"total {name} {kind}") for kind in ("revenue", "cost of revenue"))
        self.base = self._with_base(parts=None)
        self.take_frames("TOTAL")
        return percentage(_less(sales, [*lines, cost]), _less(sales, lines))

    def _lines_of_margin(self, measure: Measure) -> tuple[Line, Line] | None:
        """Return the result and the revenue that a margin divides; None for any other measure."""
        if isinstance(measure, NamedFormula):
            expression = self.lexicon.formulas[measure.formula].expression
            metrics = expression_inputs(expression)
            result = next((one for one in metrics if expression == f"100 * {one} / revenue"), None)
            return None if result is None else (line_of_metric(result), line_of_metric("revenue"))
        match share_of(measure):
            case Line(metric=str()) as part, Line(metric="revenue") as whole:
                return part, whole
            case _:
                return None

    def _is_operating_cost(self, measure: Measure) -> bool:
        """Return whether a line is a cost above operating income: a charge, no interest and no tax."""
        words = words_of(measure_text(measure))
        metric = self.lexicon.metrics.get(getattr(measure, "metric", None) or "")
        cost = words & _of_measures("lines of costs") or (metric is not None and metric.sign == "expense")
        return bool(cost) and not words & _of_measures("below operating income")

    def _join_what_is_due(self) -> None:
        """Join what falls due in years that are ranked: `its debt maturities: which year has the largest payment`.

        `How much of its debt is due in 2027` asks for the amount, as does `how much of its receivables did it sell`.
        """
        self.of_years_to_come = self.has_unread("PERIOD_KIND", "WHICH") and "future" in self.sentences.asked.lower()
        lines = [line for one in self.measures for line in lines_of(one)]
        due = [words_of(line.words) & OF_YEARS_TO_COME for line in lines]
        of, whole = share_of(self.only) or (None, None)
        if isinstance(of, Line) and whole is not None and "how much of" in self.sentences.asked.lower():
            if words_of(of.words) <= OF_YEARS_TO_COME | _of_measures("done to a line"):
                self.measures = [Line(words=f"{measure_text(whole)} {of.words}")]
        elif self.has_unread("PERIOD_KIND") and self.has_unread(*_EXTREMES) and (any(due) or self.of_years_to_come):
            self.of_years_to_come = True
            named = [line.words for line in lines if not words_of(line.words) <= _COMPONENTS]
            if len(named) > 1 or len(named) < len(lines):
                self.measures, self.parsed.apart = [Line(words=" ".join(named))], ()

    def _settle_measures(self) -> None:
        self._join_what_is_due()
        self._without_what_is_not_due()
        self._without_lines()
        self._without_inputs()
        if len(set(self.measures)) == 1:
            self.measures = self.measures[:1]
        if self.base.parts is None:
            self.measures = [_distinct_line_share(one) for one in self.measures]
        self.measures = [_told_twice(one, self.lexicon) for one in self.measures]
        if not self._share_is_apart():
            self._share_of_whole()
        self._share_left()
        self._whole_without_part()
        self._percentage_line()
        self._average_each()
        self._without_options()
        self._net_income_as_profit()

    def _without_inputs(self) -> None:
        """Drop inputs named with their formula: `return on equity using average equity`."""
        if len(self.measures) > 1 and self._is_told_by_inputs(self.measures):
            self.measures = self.measures[:-1]
            self.take_frames("POSITIVE")
        led = has_any(self.lexed.tokens[:1], {"DEFINING"})  # `based on a and b, what is the formula`
        first, *others = (self.measures[::-1] if led else self.measures) if len(self.measures) > 1 else (None,)
        if not isinstance(first, NamedFormula):
            return
        inputs, of_all = set(self.lexicon.metrics_of(first.formula)), stems("of any balance")
        told = [line for one in others for line in lines_of(one)]
        spelt = [one for one in others if isinstance(one, Operation)]
        read = (isinstance(one, Line) and (one.metric in inputs or words_of(one.words) <= of_all) for one in told)
        if not all(read) or len(spelt) > 1:
            return
        closing = _PATTERNS["year end"].search(self.sentences.asked) is not None and not self.has_unread("AVERAGE")
        closing |= any(map(_is_of_closing_balances, spelt))
        self.measures = [first.model_copy(update={"closing": closing})]
        self.take_frames("AVERAGE", "TOTAL")
        constants = set(re.findall(r"\d+", self.lexicon.formulas[first.formula].expression))
        bounds = self.unread("BOUND")
        if all(isinstance(one.value, Amount) and f"{one.value.value:g}" in constants for one in bounds):
            self.take_frames("BOUND")  # `... and 365 days`

    def _is_told_by_inputs(self, measures: Sequence[Measure]) -> bool:
        """Return whether a formula behind its own calculation adds nothing: `a exceeded b, giving positive a - b`."""
        *told, formula = measures
        compared = self.has_unread("HIGHER") and self.has_unread("POSITIVE")
        if not isinstance(formula, NamedFormula) or not (compared or isinstance(told[-1], Operation)):
            return False
        inputs = {getattr(line, "metric", None) for one in told for line in lines_of(one)}
        return inputs == set(self.lexicon.metrics_of(formula.formula))

    def _share_of_whole(self) -> None:
        """Read a part's share as that of the whole company's line: `Data Center's share of revenue`."""
        asked, parts, line = self.unread("SHARE"), self.base.parts, self.only
        if parts is None or not isinstance(line, Line) or _PATTERNS["of which it is"].search(self.sentences.asked):
            return
        # `how big was Europe within revenue, in percent`
        moved = self.has_unread(*_MOVING, "EXCESS", "FASTEST", "SLOWEST")
        in_percent = self.base.unit == "percent" and line.metric == "revenue" and not moved
        if not asked and not (in_percent and len(self.base.periods) == 1):
            return
        selected = self.family and self.has_unread(*_RANKING)
        # `what percentage of the total is Converse revenue`, `what percentage of revenue is Converse`
        told = line.whole or self._part_is_subject() or self.has_unread("EXCEPT")
        asks_of_it = not any(one.text.lower().startswith(("what percent", "by what")) for one in asked[:1])
        if (len(parts.names) == 1 or selected) and (told or asks_of_it):
            self.take_frames("SHARE", "CAME_FROM")
            self.measures = [percentage(*(line.model_copy(update={"whole": whole}) for whole in (False, True)))]

    def _share_of_members(self) -> None:
        """Read what makes up a share of each member: `in which region did Pet make up the largest share of sales`."""
        said = [one for one in self.lexed.tokens if one.type not in ("COMPANY", "PERIOD")]
        whole = self.measures[-1] if self.measures and self.has_unread("KIND") and self.has_unread("WHICH") else None
        for one, verb, extreme, share, _ in zip(said, said[1:], said[2:], said[3:], said[4:], strict=False):
            stands = one.type in ("PART", "PHRASE") and (verb.type, share.type) == ("CAME_FROM", "SHARE")
            if stands and extreme.type in _EXTREMES and isinstance(whole, Line) and len(self.measures) < 3:
                words = f"{one.text} {whole.words}" if one.type == "PART" else one.text
                self.measures = [percentage(Line(words=words), whole)]
                self.parsed.parts, self.parsed.apart = [], ()
                self.take_frames("SHARE", "CAME_FROM")
                return

    def _share_left(self) -> None:
        """Read what is left of a line as its share: `how much of each sales dollar did Acme keep after costs`."""
        left, asked = self.only, self.unread("SHARE")
        if not has_any(self.lexed.tokens, ("LEFT_AFTER",)) or not isinstance(left, Operation):
            return
        if self.base.unit == "percent" or not all(one.text.lower() == "how much of" for one in asked):
            self.measures = [percentage(left, left.left)]
        self.take_frames("SHARE")  # `how much of its cash flow was left after capex`: the amount

    def _share_is_apart(self) -> bool:
        """Return whether a share is asked for beside a ranking: `which segment grew most, and what share was it`."""
        kinds = [one.start for one in self.parsed.frames.get("KIND", [])]
        shares = [one.start for one in self.unread("SHARE")]
        joints = [one.start for one in self.lexed.tokens if one.type == "AND"]
        joined = kinds and any(kinds[0] < joint < share for joint in joints for share in shares)
        one = self.has_unread(*_RANKING) and not self.has_unread("RANK", "TOP")  # of several each has its share
        return one and (bool(joined) or len(self._requests("SHARE", *_RANKING)) > 1)

    def _part_is_subject(self) -> bool:
        """Return whether a verb stands between the line and the part after it."""
        lexed = self.lexed
        pairs = pairwise(one for one in lexed.tokens if one.type != "PERIOD")
        return any(
            line.type in LINES
            and part.type == "PART"
            and bool(set(lexed.text[line.end : part.start].split()) & set(_ASKS))
            for line, part in pairs
        )

    def _whole_without_part(self) -> None:
        """Subtract parts from the whole: `revenue excluding Converse`, `the share of revenue from outside Japan`."""
        parts, only = self.base.parts, self.only
        line, whole = share_of(only) or (only, None)
        if parts is None or parts.kind or not isinstance(line, Line) or self.companies > 1:
            return
        if self.take_frames("EXCEPT"):
            self.take_frames(*(("TOTAL",) if len(self.base.periods) < 2 else ()))  # `total revenue excluding Converse`
            rest = _less(_of_the_whole(line), [line.model_copy(update={"part": name}) for name in parts.names])
            self.measures = [rest if whole is None else percentage(rest, whole)]
            self.base = self._with_base(parts=None)

    def _percentage_line(self) -> None:
        """Read a share with one line as a printed percentage: `the average percentage of revenues of OEM`."""
        asked = self.unread("SHARE")
        if self.only is None or not asked:
            return
        due = any(words_of(line.words) & OF_YEARS_TO_COME for line in lines_of(self.only))
        if due and self.base.parts is None and all(one.text.lower() == "how much of" for one in asked):
            self.take_frames("SHARE")  # `how much of its debt falls due`: the amount
            return
        of = self.only.of if isinstance(self.only, Function) else (self.only,)
        printed = all(isinstance(one, Line) and not one.metric for one in of)
        if printed and all("percent" in one.text.lower() for one in asked):
            self.take_frames("SHARE")
            self.measures = [
                with_lines(self.only, lambda one: one.model_copy(update={"words": f"percentage of {one.words}"}))
            ]
            if not self.has_unread("CHANGE", "DIFFERENCE", "DOWN", "UP"):  # a rate changes by points
                self.base = self._with_base(unit="percent")

    def _average_each(self) -> None:
        """Average each of several listed balances: `average inventory and total assets`."""
        first = self.measures[0] if len(self.measures) > 1 else None
        if not isinstance(first, Line) or first.balance != "average":
            return
        if all(isinstance(one, Line) and self._is_balance(one) for one in self.measures) and self.companies < 2:
            self.measures = [one.model_copy(update={"balance": "average"}) for one in self.measures]
        else:
            self.parsed.apart = (*self.parsed.apart, "average")

    def _without_options(self) -> None:
        """Compare listed options: `among operating and financing activities, which brought in more cash`.

        If only one of them is a known measure, the others are parts: `of Express, Ground and Freight, which earned the
        least operating income`.
        """
        groups = self.parsed.groups
        if len(groups) < 2 or self.companies > 1 or not self.has_unread("HIGHEST", "LOWEST", "HIGHER", "LOWER"):
            return
        named = [one for one in self.measures if not isinstance(one, Line) or one.metric]
        parts = self._parts_listed() if len(named) == 1 else ()
        if parts and isinstance(named[0], Line | NamedFormula) and named[0].words.lower() not in _MONEY:
            self.measures = named
            self.base = self._with_base(parts=Parts(names=parts))
            return
        options = self._options_listed()
        called = {*_MONEY, *_WORDS["called options"]}  # `which activity used more cash`
        others = [one for one in self.measures if one not in options]
        if len(options) > 1 and all(isinstance(one, Line) and one.words.lower() in called for one in others):
            self.measures = options
            # `return more cash to shareholders through dividends or buybacks`: next to each other on purpose
            self.parsed.apart = tuple(words for words in self.parsed.apart if words != measure_text(options[0]))

    def _options_listed(self) -> list[Measure]:
        """Return the measures of the longest list; without any, those behind the first."""
        groups = self.parsed.groups
        largest = groups.index(max(groups))
        start = sum(groups[:largest])
        return self.measures[start : start + groups[largest]] if groups[largest] > 1 else self.measures[1:]

    def _parts_listed(self) -> tuple[str, ...]:
        """Return options that are listed by words for no measure: `Commercial or Merchant Services`."""
        names: tuple[str, ...] = ()
        for listed, group in groupby(self.lexed.tokens, lambda one: one.type in _LISTED):
            run = list(group)
            joints = {"COMMA", "OR" if any(one.type == "OR" for one in run) else "AND"}
            text = "".join(
                "," if one.type in joints else self.lexed.text[one.start : max(one.end, after.start)]
                for one, after in zip(run, [*run[1:], run[-1]], strict=True)
            )
            found = tuple(name.strip() for name in text.split(",") if name.strip())
            names = found if listed and len(found) > 1 else names
        return names

    def _net_income_as_profit(self) -> None:
        """Read profit as net income, of segments as operating income: `was it profitable`, `which made more money`."""
        if self.measures or not self.has_unread("POSITIVE", "NEGATIVE"):
            return
        asked = {word for one in self.unread("POSITIVE") for word in one.text.lower().split()}
        most = not asked.isdisjoint({"more", "most"})
        if self.family or self.yes_or_no or most or self.has_unread("PERIOD_KIND"):
            self.measures = [line_of_metric("operating_income" if self.family else "net_income")]
        if most and not (self.yes_or_no or self.has_unread("NEGATIVE", "PERIOD_KIND")):
            self.left.setdefault("HIGHEST", []).extend(self.take_frames("POSITIVE"))

    def _is_balance(self, line: Line) -> bool:
        return line.metric is not None and self.lexicon.metrics[line.metric].period == "instant"

    # The request.

    def _selected_company_measure(self) -> dict[str, object] | None:
        """Read a selection and a measure: `the revenue of the company with the highest margin`."""
        extremes = self.unread(*_EXTREMES)
        places = self.parsed.places
        if self.companies < 2 or not len(self.measures) == len(places) == 2 or len(extremes) != 1:
            return None
        if not self.has_frame("WITH_THE", "WHICH", "WHO", "AND"):
            return None
        (extreme,) = extremes
        by = 0 if places[0] > extreme.start else 1
        chosen_by = self._with_selection_period(self.measures[by], extreme, places[1 - by])
        if chosen_by is None:
            return None
        self.take_frames("WITH_THE", *_EXTREMES, "OR", "TOTAL")
        if extreme.type in ("FASTEST", "SLOWEST") or self.take_frames("GROWTH"):
            chosen_by = chosen_by if isinstance(chosen_by, Move) else Move(of=chosen_by, how="growth")
        self.measures = [self.measures[1 - by]]
        how = Combination.HIGHEST if extreme.type in ("HIGHEST", "FASTEST") else Combination.LOWEST
        return {**_request(Kind.COMPARISON, Axis.COMPANIES, how), "chosen_by": chosen_by}

    def _with_selection_period(self, measure: Measure, extreme: Token, other: int) -> Measure | None:
        """Return the selecting measure with its period, if two are named; None if neither is next to it.

        `other` is the position of the requested measure.
        """
        if len(self.base.periods) < 2:
            return measure
        mentions = [one for one in self.parsed.periods if isinstance(one, PeriodMention)]
        close = [(one.start > extreme.start) is (other < extreme.start) for one in mentions]
        paired = len(self.base.periods) == 2 and sorted(close) == [False, True]
        if not paired or not isinstance(measure, Line | NamedFormula):
            return None
        own, rest = mentions[close.index(True)], mentions[close.index(False)]
        self.parsed.apart = ()
        self.base = self._with_base(periods=(period_of(rest),))
        return measure.model_copy(update={"period": period_of(own)})

    def _conversion_ratio(self) -> dict[str, object] | None:
        """Read a conversion ratio: `who turned more of revenue into free cash flow`."""
        if len(self.measures) != 2 or not self.has_unread("TURNED"):
            return None
        low, high = self.take_frames("LOWER", "LOWEST"), self.take_frames("HIGHER", "HIGHEST")
        if not low and not high:
            return None
        self.measures = [percentage(*self.measures[::-1])]
        return _request(Kind.COMPARISON, Axis.COMPANIES, Combination.LOWEST if low else Combination.HIGHEST)

    def _company_difference(self) -> dict[str, object] | None:
        """Compare two companies: `Acme's revenue minus Bolt's`."""
        bare = {with_lines(one, _without_company) for one in self.measures}
        if len(self.measures) > 1 and len(bare) == 1 and self.companies > 1:
            self.measures = list(bare)
        match self.only:
            case Operation(operator="-" | "/" as sign, left=Line() | NamedFormula() as left, right=right):
                how = Combination.DIFFERENCE if sign == "-" else Combination.RATIO
            case _:
                return None
        known = {one.key: one for one in self.base.companies}
        if not isinstance(right, Line | NamedFormula) or {left.company, right.company} != known.keys():
            return None
        if _without_company(left, words="") != _without_company(right, words=""):
            return None
        self.measures = [_without_company(left)]
        self.take_frames("RATIO", "DIFFERENCE")
        companies = tuple(known[key] for key in (left.company, right.company) if key)
        return {**_request(Kind.COMPARISON, Axis.COMPANIES, how), "companies": companies}

    def _growth_comparison(self) -> dict[str, object] | None:
        """Read growth that itself moves or is averaged, or is compared with the growth of another measure."""
        compared = self.has_unread("FASTER", "SLOWER")
        grown = self.has_unread("GROWTH") or (compared and self.has_unread("UP"))
        several = self.companies > 1 or self.base.parts is not None
        if not grown or several or self._is_choice("WHICH", "WHO", "OR"):
            return None
        if len(self.measures) == 2 and (compared or self.has_unread("DIFFERENCE", "HIGHER", "LOWER")):
            return self._growth_difference()
        apart = len(self.measures) != 1 or self.has_unread("BOUND", "CAGR", "PERIOD_KIND", "WHICH")
        return None if apart else self._average_growth() or self._moving_growth(compared=compared)

    def _average_growth(self) -> dict[str, object] | None:
        if len(self.base.periods) < 2 or not (self.take_frames("AVERAGE") or self._averaged()):
            return None
        self.take_frames("GROWTH")
        self._move("growth")
        # The growth of the first year began in the year before it.
        if any(one.type == "FROM_WORD" for one in self.lexed.tokens):
            self.base = self._with_base(periods=self.base.periods[1:])
        return _request(Kind.AGGREGATE, Axis.PERIODS, Combination.AVERAGE)

    def _moving_growth(self, *, compared: bool) -> dict[str, object] | None:
        """Read growth that rises or falls: `did revenue growth slow in 2023`, `by how many points did growth slow`."""
        years = len(self.base.periods)
        noun = self.has_unread("GROWTH") or (compared and years > 1)
        moves = compared or self.has_unread("UP", "DOWN", "CHANGE", "HIGHER", "LOWER")
        asked = self.yes_or_no or self.has_unread("DIFFERENCE") or self.base.unit == "percentage points"
        if not noun or not moves or not asked or years > 2:
            return None
        self.take_frames("GROWTH", "DIFFERENCE", "YEAR_BEFORE")
        self._move("growth")
        down = bool(self.take_frames("DOWN", "LOWER", "SLOWER"))
        self.take_frames("UP", "HIGHER", "FASTER", "CHANGE")
        if not self.yes_or_no:
            self.measures = [Move(of=self.measures[0], how="change")]
            return _request(Kind.CHANGE)
        if self.has_unread("THAN", "VERSUS") and self._earlier_first():
            down = not down
        return _claimed("fell" if down else "rose")

    def _growth_difference(self) -> dict[str, object]:
        """Subtract the growths of two measures: between the two periods of the question, else over its last year."""
        slower = bool(self.take_frames("SLOWER", "LOWER"))
        self.take_frames("FASTER", "HIGHER", "GROWTH", "UP", "DIFFERENCE", "CHANGE")
        periods = self.base.periods
        start, end = (periods[0], periods[-1]) if len(periods) > 1 else (None, None)
        balances = [one for one in self.measures if isinstance(one, Line) and self._is_balance(one)]
        if len(periods) == 1 and periods[0].quarter and balances:
            self.parsed.apart = (*self.parsed.apart, measure_text(balances[0]))  # since a year ago, or the year end?
        first, second = (
            one if isinstance(one, Move) else Move(of=one, how="growth", start=start, end=end) for one in self.measures
        )
        if first.start is not None:
            self.base = self._with_base(periods=periods[-1:])
        self.measures = [operation("-", first, second)]
        return _claimed("below" if slower else "above", 0) if self.yes_or_no else _request(Kind.VALUE)

    def _is_choice(self, *frames: str) -> bool:
        return self.has_frame(*frames) or " or " in self.sentences.asked.lower()

    def _claim(self) -> dict[str, object] | None:
        """Read a yes-or-no question, a count of years, or members beyond a bound."""
        if len(self.measures) == 2 and self.has_unread("COVERED") and self.take_frames("COUNT", "HOW_MANY_TIMES"):
            return {**self._coverage_claim(), **_request(Kind.VALUE), "claim": None}  # `how many times did A cover B`
        if self.has_unread("COUNT") and not self.family:
            return self._count_years()
        of_members = self.family and self.has_unread("UP", "DOWN") and not self.has_unread("BOUND", "HIGHER", "LOWER")
        if of_members:
            return None  # `did any of them shrink`: those that did are listed
        if not self.yes_or_no:
            return self._beyond_a_bound()
        self._share_of_bound("CAME_FROM")
        if self._asks_which_way():
            return _claimed("rose")
        if len(self.measures) == 2 and self.companies < 2 and self.has_unread("COVERED"):
            return self._coverage_claim()
        if self.companies == 2 and self.has_unread("DIFFERENCE") and self.has_unread("HIGHER", "LOWER"):
            way: Way = "below" if self.take_frames("LOWER") else "above"
            self.take_frames("HIGHER", "DIFFERENCE", "OR")
            return _claimed(way, 0, Axis.COMPANIES, Combination.DIFFERENCE)
        return self._verdict()

    def _asks_which_way(self) -> bool:
        """Return whether a measure went `up or down`, got `better or worse`; its frames are taken."""
        alone = len(self.measures) == 1 and self.axis in (None, Axis.PERIODS)
        for ways in (("UP", "DOWN"), ("HIGHER", "LOWER"))[: 1 + alone]:
            if all(map(self.has_unread, (*ways, "OR"))):
                self.take_frames(*ways, "OR", "YEAR_BEFORE")
                return True
        return False

    def _verdict(self) -> dict[str, object] | None:
        """Read a yes-or-no question about one measure, unless it chooses or asks by how much."""
        asked = reduce(lambda text, words: text.replace(words, ""), _WORDS["verdicts"], self.sentences.asked.lower())
        chooses = " or " in asked
        bounded = len(self.measures) > 1 and self.has_unread("BOUND")
        if chooses or bounded or self.has_unread("DIFFERENCE", "EXCESS", "HOW_MANY_TIMES"):
            return None
        if self.has_unread("EVERY") and self.has_unread("UP", "DOWN"):
            way: Way = "fell" if self.take_frames("DOWN") else "rose"
            self.take_frames("EVERY", "UP")
            return _claimed(way, None, Axis.PERIODS, Combination.EVERY)
        return self._sign_claim() or self._compared_claim()

    def _share_of_bound(self, *frames: str) -> None:
        """Read a bound in percent of what a line or a part makes up as one of its share."""
        bounds = self.unread("BOUND")
        if not bounds or not all(map(_is_percent, bounds)) or not self.has_unread(*frames):
            return
        of, whole = self.measures[0], self.measures[-1]
        if len(self.measures) > 2 or not isinstance(whole, Line) or (of is whole and self.base.parts is None):
            return
        self.take_frames(*frames)
        self.measures = [percentage(of, whole.model_copy(update={"whole": of is whole}))]
        self.parsed.apart = ()

    def _coverage_claim(self) -> dict[str, object]:
        """Read coverage as a ratio: `did operating income cover interest`, `was the dividend covered by FCF`."""
        covered, *_ = self.take_frames("COVERED")
        covering, other = self.measures
        if self.parsed.places[0] > covered.start or covered.text.lower().startswith("covered"):
            covering, other = other, covering
        self.take_frames("CAME_FROM", "OVER")
        self.measures = [operation("/", covering, other)]
        return _claimed("above", 1)

    def _count_years(self) -> dict[str, object] | None:
        """Count the years in which a claim is true: `in how many of the years did it grow`."""
        bound = self._bound()
        below, above = self.take_frames("NEGATIVE") or self._names_a_loss(), self.take_frames("POSITIVE")
        bound = Number(value=0) if below or above else bound
        down = bool(self.take_frames("DOWN", "LOWER", "AT_MOST") or below)
        up = self.take_frames("UP", "HIGHER", "AT_LEAST", "GROWTH") or self.has_unread("THAN") or above
        if not (up or down) or not self.measures:
            return None
        self.take_frames("COUNT", "OR")
        way: Way = ("below" if down else "above") if bound is not None else "fell" if down else "rose"
        return _claimed(way, bound, Axis.PERIODS, Combination.COUNT)

    def _beyond_a_bound(self) -> dict[str, object] | None:
        """Choose the members beyond a bound: `which segments earned over $1 billion`, `which year was negative`."""
        axis = Axis.PERIODS if self.has_unread("PERIOD_KIND") else self.axis
        members = axis in (Axis.COMPANIES, Axis.PARTS) or (axis is Axis.PERIODS and self.has_frame("PERIOD_KIND"))
        loss = axis is Axis.PERIODS and self._names_a_loss() and not self.has_unread(*_EXTREMES)
        signs = loss or self.has_unread("POSITIVE", "NEGATIVE")
        if not members or len(self.measures) != 1 or not (signs or self.has_unread("BOUND")):
            return None
        if axis is Axis.PARTS:  # `which segments make up more than 20% of revenue`
            self._share_of_bound("CAME_FROM", "SHARE", "OF_WHICH")
        claim = self._sign_claim() if signs else self._bounded_claim()
        if claim is None:
            return None
        self._set_ranked_periods()
        self.take_frames("PERIOD_KIND", "OR")
        return {**claim, **self._filtered(axis)}

    def _bounded_claim(self) -> dict[str, object] | None:
        """Read a claim against a number of the question; None if there is none or it is not said which way."""
        bound = self._bound()
        higher, lower = self.take_frames("HIGHER", "AT_LEAST"), self.take_frames("LOWER", "AT_MOST")
        if bound is None or bool(higher) is bool(lower):
            return None
        down = bool(self.take_frames("DOWN"))
        if self.take_frames("UP", "GROWTH", "CHANGE") or down:
            self._move("growth" if bound.unit == "percent" else "change")
        if down:  # `fell by more than 5%`: to less than -5%
            return _claimed(_way_of(lower, higher), bound.model_copy(update={"value": -bound.value}))
        return _claimed(_way_of(higher, lower), bound)

    def _filtered(self, axis: Axis | None) -> dict[str, object]:
        """Return a request for the members of which a claim is true."""
        self.take_frames("COUNT")
        return _request(Kind.RANKING, axis, self.members_told if axis is Axis.PARTS else Combination.FILTER)

    def _sign_claim(self) -> dict[str, object] | None:
        positive, negative = self.has_unread("POSITIVE"), self.has_unread("NEGATIVE")
        if positive or negative:
            self.take_frames(*(("POSITIVE", "OR") if positive else ()), "NEGATIVE", *_MOVING)
            if positive and negative:
                return _request(Kind.VALUE)  # the sign of the figure says which
        elif not self._names_a_loss():
            return None
        return _claimed("above" if positive else "below", 0)

    def _names_a_loss(self) -> bool:
        """Return whether the only measure is a result that the question calls a loss: `report a net loss`."""
        line = self.only
        return isinstance(line, Line) and line.metric in _RESULTS and "loss" in line.words.lower().split()

    def _compared_claim(self) -> dict[str, object] | None:
        """Read a claim over time, against a number in the question, or against other companies, parts or periods."""
        bound = self._bound()
        self._turn_judgements()
        down, growth = bool(self.take_frames("DOWN")), self.take_frames("GROWTH")
        moved = bool(down or growth or self.take_frames("UP", "CHANGE"))
        if not moved or bound is not None:  # `grow faster than electric` compares
            self._rename_frames("FASTER", "HIGHER")
            self._rename_frames("SLOWER", "LOWER")
        higher, lower = self.take_frames("HIGHER", "AT_LEAST"), self.take_frames("LOWER", "AT_MOST")
        self.take_frames("OR", "CHANGE", "UP")
        if moved and bound is None and self.companies < 2:
            self.take_frames("YEAR_BEFORE")
            return _claimed("fell" if down else "rose")
        if moved:
            self._move("growth" if growth or bound is None or bound.unit == "percent" else "change")
        if bound is not None:
            return _claimed(_way_of(higher, lower), bound)
        return self._claim_of_one(is_lower=bool(lower)) if higher or lower else None

    def _claim_of_one(self, *, is_lower: bool) -> dict[str, object] | None:
        """Read a claim that one company, part, measure or period is higher or lower than the others."""
        axis = self.axis
        if axis is None:
            return None
        if axis is not Axis.PERIODS:
            how = Combination.LOWEST if is_lower else Combination.HIGHEST
            if any(one.start < self.parsed.places[0] for one in self.unread("VERSUS")):
                return _request(Kind.COMPARISON, axis, how)  # `against capex, was cash flow higher`: the second is
            return _claimed("below" if is_lower else "above", None, axis, how)
        below = is_lower is not self._earlier_first()
        return _claimed("below" if below else "above", None, axis)

    def _turn_judgements(self) -> None:
        """Read `improved` of a measure that is better when lower as a fall, and `worsened` as a rise."""
        lists = word_lists("measure_words")
        name = measure_text(self.measures[0]).lower().split(" to ")[0].split("/")[0] if self.measures else ""
        if lists["better when lower"].isdisjoint(bare_words(name)):
            return
        judged = lists["became better"] | lists["became worse"]
        for kind, opposite in (("UP", "DOWN"), ("DOWN", "UP"), ("HIGHER", "LOWER"), ("LOWER", "HIGHER")):
            turned = [one for one in self.left.get(kind, []) if one.text.lower() in judged]
            if turned and opposite not in self.left:
                rest = [one for one in self.take_frames(kind) if one not in turned]
                self.left |= {opposite: turned} | ({kind: rest} if rest else {})
                return

    def _earlier_first(self) -> bool:
        """Return whether the question names the earlier of two years first: `was 2022 higher than 2024`."""
        years = [one.fiscal_year for one in self.parsed.periods if isinstance(one, PeriodMention)]
        return len(years) > 1 and years[0] < years[-1]

    def _bound(self) -> Number | None:
        """Return the only number that the measure is compared with."""
        found = self.unread("BOUND")
        if len(found) != 1 or not isinstance(found[0].value, Amount):
            return None
        (bound,), amount = self.take_frames("BOUND"), found[0].value
        return Number(value=amount.value, unit=amount.unit, within=_last_digit(bound.text, amount.value))

    def _ranked(self) -> dict[str, object] | None:
        """Read an extreme, a place or an order among companies, parts, measures or periods."""
        axis = Axis.PERIODS if self.has_unread("PERIOD_KIND") else self.axis
        self._set_ranked_periods()
        choice = self._is_choice("WHO", "WHICH", "PERIOD_KIND", "OR")
        if axis is None or not self._can_be_ranked(axis, choice=choice):
            return None
        orders = self.take_frames("RANK")
        rank = bool(orders) or self._asks_both_ends()
        ordinal, top = self.take_frames("ORDINAL"), self.take_frames("TOP")
        high, low = self._extremes(axis, choice=choice)
        of_family = axis is Axis.PARTS and self.family is not None
        falls = self.has_unread("DOWN")
        extreme = [*high, *low, *ordinal]
        if not any((extreme, rank, top)) and not (of_family and (falls or self.has_unread("UP"))):
            return None
        self.take_frames("PERIOD_KIND", "OR", "YEAR_BEFORE")
        self.measures = self.measures or ([_usual_measure(extreme, self.lexed.text)] if axis is Axis.PARTS else [])
        self._over_periods(axis)
        self._rank_moves(axis, of_family=of_family)
        if rank or top:
            descending = not (top and low) and not _ranks_upwards(orders, falls=falls)
            return _request(Kind.RANKING, axis, Combination.RANK, top=_number(top), descending=descending)
        if not extreme:
            self.take_frames("EXCESS", "DIFFERENCE")  # `which of them grew, and by what percentage`: each is told
            return {**self._filtered(axis), "claim": Claim(way="fell" if falls else "rose")}
        return self._nth(axis, high, low, ordinal, falls=falls)

    def _nth(
        self, axis: Axis, high: Sequence[Token], low: Sequence[Token], ordinal: Sequence[Token], *, falls: bool
    ) -> dict[str, object]:
        """Choose the first or the n-th member from above or below."""
        apart = axis is not Axis.MEASURES and bool(self.take_frames("DIFFERENCE"))
        # `which came second` goes on from what was ranked before: from the lowest, from the falls
        before = self.before.comparison if self.before is not None and ordinal else None
        plain = not any("est" in one.text.lower() for one in ordinal)
        goes_on_below = plain and before is not None and before.how is Combination.LOWEST
        how = Combination.LOWEST if low or goes_on_below else Combination.HIGHEST
        descending = not falls and (bool(high) or before is None or before.descending)
        return _request(Kind.COMPARISON, axis, how, nth=_number(ordinal), descending=descending, apart=apart)

    def _extremes(self, axis: Axis, *, choice: bool) -> tuple[Sequence[Token], Sequence[Token]]:
        """Return the words for the highest and for the lowest; of two, `higher` and `lower` are these."""
        high, low = self.take_frames("FASTEST", "HIGHEST"), self.take_frames("SLOWEST", "LOWEST")
        self.take_frames(*(("WITH_THE",) if axis is Axis.PARTS else ()))
        if choice:
            high = high or self.take_frames("HIGHER", "FASTER")
            low = low or self.take_frames("LOWER", "SLOWER")
        if axis is Axis.PARTS and high and not low and self._names_a_loss():  # `the deepest operating loss`
            self.measures = [with_lines(one, _as_result) for one in self.measures]
            return [], high
        return high, low

    def _set_ranked_periods(self) -> None:
        """Read a year as its quarters (`which quarter of 2019`) and two years as all between (`which year between`)."""
        asked, periods = self.unread("PERIOD_KIND"), self.base.periods
        of_year = len(periods) == 1 and periods[0].months == _MONTHS_OF_A_YEAR and not periods[0].quarter
        if of_year and any("quarter" in one.text.lower() for one in asked):
            quarters = (periods[0].model_copy(update={"quarter": quarter, "months": 3}) for quarter in (1, 2, 3, 4))
            self.base = self._with_base(periods=tuple(quarters))
        span = parse_periods(self.sentences.asked).span if asked and len(periods) == 2 else None
        if span is not None and span.form == "between" and not any(one.quarter for one in periods):
            years = range(span.first, span.last + 1)
            self.base = self._with_base(periods=tuple(Period(fiscal_year=year) for year in years))

    def _can_be_ranked(self, axis: Axis, *, choice: bool) -> bool:
        """Return whether there are several members, of which one request asks."""
        # `with_printed_years`, `with_maturity_years`
        printed_years = self.of_one_filing or not self.base.periods or self.of_years_to_come
        if axis is Axis.PERIODS and len(self.base.periods) < 2 and not printed_years:
            return False
        # `which had the lowest margin, and how far had it slipped`
        told = (*_EXTREMES, "ORDINAL", *_MOVING, *(("HIGHER", "LOWER") if choice else ()))
        several = len(self.measures) > 1 and axis is not Axis.MEASURES
        both_ends = self.has_unread("HIGHEST") and self.has_unread("LOWEST")
        ordered = len(self._requests(*told)) < 2
        if self.has_unread("RANK"):  # `rank them by growth; who is on top`
            orders, moves = self._requests("RANK"), self._requests(*_MOVING, "FASTEST", "SLOWEST")
            ordered = len(orders) == 1 and (not moves or orders <= moves)
        return not several and ((ordered and not both_ends) or self._asks_both_ends())

    def _asks_both_ends(self) -> bool:
        """Return whether one request asks for the highest and the lowest member, or for growth and fall the most."""
        ends = [one.start for one in self.unread(*_EXTREMES)]
        falls = self._requests("DOWN")  # `and did any shrink` has no end
        fell = self.has_unread("FASTEST") and bool(falls) and falls <= self._requests(*_EXTREMES)
        both = self.has_unread("HIGHEST", "FASTEST") and self.has_unread("LOWEST", "SLOWEST")
        # `which had the highest and which the lowest X`
        shared = bool(ends) and max(ends) < min(self.parsed.places, default=0)
        one = shared or len(self._requests(*_EXTREMES)) < 2
        return fell or (both and not self.has_unread("DIFFERENCE") and one)

    def _rank_moves(self, axis: Axis, *, of_family: bool) -> None:
        """Rank the movements of the measures, if the question names one.

        In a range of years the first is the base of the next.
        """
        up, _, grown, _ = moved = [self.take_frames(frame) for frame in _MOVING]
        fast = self.has_frame("FASTEST", "SLOWEST", "FASTER", "SLOWER")
        if not fast and not any(moved):
            return
        extremes = (one.text.lower() for kind in _EXTREMES for one in self.parsed.frames.get(kind, []))
        steep = bool(up) or any(one in _WORDS["of rates"] for one in extremes)
        by_rate = bool(grown) or of_family or (steep and axis is not Axis.PERIODS)
        percent = self._moves_by_rate(moved, fast=fast, by_rate=by_rate, of_family=of_family)
        self._move("growth" if percent and not all(map(share_of, self.measures)) else "change")
        span = parse_periods(self.sentences.asked).span
        if axis is Axis.PERIODS and span is not None and span.form != "list" and len(self.base.periods) > 2:
            self.base = self._with_base(periods=self.base.periods[1:])

    def _moves_by_rate(self, moved: Sequence[Sequence[Token]], *, fast: bool, by_rate: bool, of_family: bool) -> bool:
        """Return whether ranked movements are rates: those of members are, unless amounts are asked for."""
        contributed = of_family and bool(self.take_frames("CAME_FROM"))  # `contributed the most to growth`
        # `added the most revenue`
        amounts = any(one.text.lower() in _WORDS["of amounts that move"] for some in moved for one in some)
        in_dollars = contributed or self._in_dollars or amounts
        return (fast and not self._in_amounts) or (by_rate and not in_dollars) or self.base.unit == "percent"

    def _over_periods(self, axis: Axis) -> None:
        """Rank the sum or the mean over the periods: `the highest total sales over 2022 and 2023`."""
        if axis not in (Axis.COMPANIES, Axis.PARTS) or len(self.base.periods) < 2:
            return
        if self.take_frames("TOTAL"):
            self.measures = [Function(name="sum", of=(one,)) for one in self.measures]
        elif self.take_frames("AVERAGE") or self._averaged():
            self.measures = [Function(name="mean", of=(one,)) for one in self.measures]

    def _move(self, how: HowMoved) -> None:
        self.measures = [one if isinstance(one, Move) else Move(of=one, how=how) for one in self.measures]

    def _exceeded(self) -> dict[str, object] | None:
        """Read a comparison with an earlier period: `by what percentage was revenue higher in 2024 than in 2023`."""
        named = [_place_in_time(period_of(one)) for one in self.parsed.periods]
        earlier = self.axis is Axis.PERIODS and len(named) == 2 and named[0] > named[1]
        compares = self.has_unread("HIGHER", "LOWER") and len(self.measures) == 1
        growth = bool(self.take_frames("EXCESS"))
        if not earlier or not compares or not (growth or self.take_frames("DIFFERENCE")):
            return None
        self.take_frames("HIGHER", "LOWER")
        self.base = self._with_base(periods=tuple(sorted(self.base.periods, key=_place_in_time)))
        self._move("growth" if growth else "change")
        return _request(Kind.CHANGE)

    def _movement(self) -> dict[str, object] | None:
        """Read how measures moved over time."""
        if self.take_frames("CAGR"):
            self.take_frames("UP", "GROWTH")
            self._move("cagr")
            return {"kind": Kind.CHANGE, **self._comparison()}
        if not self._may_move():
            return None
        growth = bool(self.take_frames("GROWTH", "YOY")) or self._compares_amounts_in_percent()
        directed = self.has_unread("UP", "DOWN", "CHANGE")
        if directed and all(one.text.lower().startswith("by") for one in self.unread("DIFFERENCE")):
            self.take_frames("DIFFERENCE")
        between = self.axis is Axis.PERIODS and bool(self.take_frames("DIFFERENCE"))
        excess = self._is_percentage_difference() and bool(self.take_frames("EXCESS"))
        if not (growth or directed or between or excess):
            return None
        in_percent = self._moves_in_percent(growth=growth, between=between, excess=excess)
        self._since_the_year_end()
        self._add_up_parts()
        self._move("growth" if in_percent else "change")
        self.take_frames(*_MOVING, "YEAR_BEFORE", "TOTAL", "DIFFERENCE" if self.companies < 2 else "")
        if growth or directed or not between:
            return {"kind": Kind.CHANGE, **self._comparison()}
        return _request(Kind.CHANGE, Axis.PERIODS, Combination.DIFFERENCE)  # `between 2018 and 2019`: no direction

    def _compares_amounts_in_percent(self) -> bool:
        """Return whether an amount is set against an earlier one in percent: `net sales '24 vs '23 in %`."""
        line, periods = self.only, len(self.base.periods)
        if self.axis is not Axis.PERIODS or periods != 2 or not self.has_frame("VERSUS") or self.base.unit != "percent":
            return False
        return isinstance(line, Line) and bool(line.metric) and self.lexicon.metrics[str(line.metric)].unit == "USD"

    def _since_the_year_end(self) -> None:
        """Let a balance move over half a year, or over nine months, from the end of the year before."""
        period, *others = self.base.periods or (Period(),)
        line = self.only
        if others or period.months not in (6, 9) or not period.fiscal_year or self.has_unread("YEAR_BEFORE", "YOY"):
            return
        if isinstance(line, Line) and (self._is_balance(line) if line.metric else is_stock(line.words)):
            self.base = self._with_base(periods=(Period(fiscal_year=period.fiscal_year - 1), period))

    def _may_move(self) -> bool:
        """Return whether growth is said once and of no formula, and is not compared."""
        grown = self.unread("GROWTH")
        alone = len(grown) < 2 and not (grown and (self.parsed.arithmetic or self.has_unread("AVERAGE")))
        return alone and not (self.companies < 2 and self.has_unread("FASTER", "SLOWER", "HOW_MANY_TIMES"))

    def _moves_in_percent(self, *, growth: bool, between: bool, excess: bool) -> bool:
        """Return whether a movement is asked for as a rate: as growth or in percent, and not in points."""
        up = self.unread("UP")
        either = self.has_unread("UP") and self.has_unread("DOWN")
        if either:
            self.take_frames("OR")  # `up or down`
        # `what percentage change`; `R&D % of revenue` next to a change is a separate share
        of_it = len(self.measures) > 1 and any(one.text.lower().endswith(" of") for one in self.unread("SHARE"))
        if self.has_unread(*_MOVING) and self.take_frames("EXCESS", "" if of_it else "SHARE"):
            excess = True
        percent = excess or self.base.unit == "percent"
        if (between or self.has_unread("CHANGE")) and self.take_frames("ABS", "NOT"):
            percent = False
        grows = any(one.text.lower().startswith(("grow", "grew")) for one in up[:1]) and not self._in_dollars
        if self.base.unit in _POINTS:
            return False  # the change of a rate
        return growth or ((percent or grows) and not either and not all(map(share_of, self.measures)))

    def _is_percentage_difference(self) -> bool:
        """Return whether growth is asked for: `the percentage difference between 2018 and 2019`."""
        alone = self.axis is Axis.PERIODS and len(self.measures) == 1
        return alone and all(one.text.lower().endswith("difference") for one in self.unread("EXCESS"))

    def _add_up_parts(self) -> None:
        """Add up named parts whose movement is asked for as one: `how much did sales of Ads and Cloud together rise`.

        Nothing is a total of them otherwise: that of a line is the whole company's.
        """
        names = self.base.parts.names if self.base.parts is not None and not self.family else ()
        line = self.only
        if len(names) < 2 or not isinstance(line, Line) or line.part:
            return
        line = line.model_copy(update={"whole": False})
        joined = {one.text.lower() for one in self.lexed.tokens if one.type == "TOTAL"} - {"total"}
        if joined and not self.has_frame("EACH"):
            self.base = self._with_base(parts=None)
            self.measures = [total_of(line.model_copy(update={"part": name}) for name in names)]
        else:
            self.measures = [line]

    def _comparison(self) -> dict[str, object]:
        """Read how companies, parts or measures are compared, in addition to the relation over time."""
        how = next((how for frame, how in _HOWS.items() if self.has_unread(frame)), None)
        if how is None or self.axis not in (Axis.COMPANIES, Axis.PARTS, Axis.MEASURES):
            return {}
        apart = {one.text.lower() for one in self.unread("EACH")} & {"by", "per"}
        if how is Combination.TOTAL and self.family and apart:  # `total sales by segment`
            self.take_frames("TOTAL", "EACH")
            return {}
        if self.axis is Axis.MEASURES and len(self.sentences.sentences) > 1:
            return {}  # `Add up a and b. What multiple of c is that?`: of which measures is not known here
        self.take_frames(*(frame for frame in _HOWS if _HOWS[frame] is how))
        self.take_frames("HIGHER", "LOWER", "FASTER", "SLOWER", "DIFFERENCE")
        return {"comparison": Comparison(axis=self.axis, how=how)}

    def _compare(self) -> dict[str, object] | None:
        """Read how companies, parts, measures or periods are combined."""
        axis, dated = self.axis, len(self.base.periods) > 1
        if axis is None:
            averaged = self.of_one_filing and (self.take_frames("AVERAGE") or self._averaged(flow=True))
            return _request(Kind.AGGREGATE, Axis.PERIODS, Combination.AVERAGE) if averaged else None
        if axis is Axis.PERIODS:
            return self._compare_periods()
        summed = {one.text.lower() for one in self.unread("TOTAL")} == {"total"}  # not `in total`, `combined`
        if axis is Axis.MEASURES and (dated or summed):
            return None  # ambiguous: each of them or their sum
        if axis is Axis.COMPANIES and not dated and self._averaged(flow=True):
            return _request(Kind.COMPARISON, axis, Combination.AVERAGE)
        found = self._comparison()
        if found and axis is Axis.COMPANIES and not dated:
            # `the ratio of the total revenues of A to those of B`: over one period it sums nothing.
            self.take_frames("TOTAL")
        return {"kind": Kind.COMPARISON, **found} if found else None

    def _compare_periods(self) -> dict[str, object] | None:
        """Read how one company's periods are combined: sum, average, ratio, list."""
        if self.take_frames("TOTAL"):
            return _request(Kind.AGGREGATE, Axis.PERIODS, Combination.TOTAL)
        if self.take_frames("AVERAGE") or self._averaged():
            return _request(Kind.AGGREGATE, Axis.PERIODS, Combination.AVERAGE)
        later_first = self.has_unread("RATIO") and len(self.base.periods) == 2 and not self._earlier_first()
        if len(self.measures) == 1 and (later_first or self.has_unread("HOW_MANY_TIMES")):
            self.take_frames("HOW_MANY_TIMES", "RATIO", "UP", "CHANGE")
            return _request(Kind.COMPARISON, Axis.PERIODS, Combination.RATIO)
        if self.take_frames("VERSUS") or self.has_unread("HIGHER", "LOWER"):
            return _request(Kind.VALUE, Axis.PERIODS)
        return None

    def _averaged(self, *, flow: bool = False) -> bool:
        """Return whether `average revenue` means an average over periods or companies; removes it from the measure."""
        measure = self.only
        part = measure if measure is None or flow else self._averaged_line(measure)
        if measure is not None and isinstance(part, Line) and part.balance == "average":
            if flow and (self._is_balance(part) if part.metric else not self.of_one_filing):
                return False
            own = part.model_copy(update={"balance": None})
            self.measures = [with_lines(measure, lambda line: own if line == part else line)]
            return True
        if not flow and isinstance(measure, Function) and measure.name == "mean" and len(measure.of) == 2:
            self.measures = [measure.of[0]]
            return True
        return False

    def _averaged_line(self, measure: Measure) -> Measure:
        """Return what an average is of: the part of a share, a flow that is divided (`average capex / sales`), all."""
        pair = share_of(measure)
        divided = measure.left if isinstance(measure, Operation) and measure.operator == "/" else None
        flow = isinstance(divided, Line) and divided.metric is not None and not self._is_balance(divided)
        return pair[0] if pair is not None else divided if flow and divided is not None else measure

    def _plain(self) -> dict[str, object]:
        measure = self.only
        if measure is not None and not isinstance(measure, Line):
            self.take_frames("RATIO")
        if isinstance(measure, NamedFormula) or (isinstance(measure, Operation) and measure.operator == "/"):
            self.take_frames("HOW_MANY_TIMES", "COUNT")
        if isinstance(measure, Line | NamedFormula) and self.take_frames("TOTAL"):
            self.measures = [measure.model_copy(update={"words": f"total {measure.words.removeprefix('total ')}"})]
        return _request(Kind.VALUE)

    def _unread(self) -> tuple[str, ...]:
        parts = [(share_of(one) or (None,))[0] for one in self.measures]
        if parts and all(isinstance(one, Function) and one.name == "sum" for one in parts):
            self.take_frames("TOTAL")  # `the total percentage of a and b over c`
        if self.measures and all(self._is_quotient(without_move(one)) for one in self.measures):
            self.take_frames("RATIO", "SHARE")  # `the proportion of costs as a percentage of revenue` says it twice
        left = {kind: tokens for kind, tokens in self.left.items() if kind not in types_in("saying-nothing")}
        found = [(token.start, token.text) for tokens in left.values() for token in tokens]
        return (*(text for _, text in sorted(found)), *self.parsed.apart, *self._silent_requests())

    def _is_quotient(self, measure: Measure) -> bool:
        """Return whether a measure is a ratio, spelt out or by its name."""
        if isinstance(measure, NamedFormula):
            return self.lexicon.formulas[measure.formula].unit == "percent"
        return isinstance(measure, Operation) and measure.operator == "/"

    def _requests(self, *frames: str) -> set[int]:
        """Return the numbers of the requests in which unread frames of these kinds stand."""
        return {self._request_at(one.start) for one in self.unread(*frames)}

    def _request_at(self, place: int) -> int:
        """Return the number of the request of the question in which a place is."""
        return sum(self.lexed.text.find(one.rstrip("?")) <= place for one in split_requests(self.lexed.text))

    def _silent_requests(self) -> Iterator[str]:
        """Yield requests of which no word became a token: `and how much was paid out during the year`.

        The first one needs a token only where another question told what it is about.
        """
        text = self.lexed.text
        silent = OF_TIME | OF_ANY_FIGURE | words_of(" ".join(_WORDS["asking nothing new"]))
        for request in split_requests(text)[0 if self.before is not None else 1 :]:
            asked = request.rstrip("?")
            start = text.find(asked)
            read = any(start <= one.start < start + len(asked) for one in self.lexed.tokens)
            said = words_of(" ".join(search_terms(bare_words(asked)))) - silent
            if start >= 0 and not read and said:
                yield asked


def _request(
    kind: Kind, axis: Axis | None = None, how: Combination = Combination.EACH, **compared: Any
) -> dict[str, object]:
    """Return what a request sets in the query; `compared` are further fields of its comparison."""
    return {"kind": kind, "comparison": None if axis is None else Comparison(axis=axis, how=how, **compared)}


def _claimed(
    way: Way, bound: Number | float | None = None, axis: Axis | None = None, how: Combination = Combination.EACH
) -> dict[str, object]:
    """Return what a claim sets in the query."""
    limit = bound if bound is None or isinstance(bound, Number) else Number(value=bound)
    return {**_request(Kind.CLAIM, axis, how), "claim": Claim(way=way, bound=limit)}


def _usual_measure(superlatives: Sequence[Token], text: str) -> Line:
    """Return what parts are ranked by where no measure is named: revenue; results for `most profitable`, `earned`."""
    results = _ranks_results(superlatives) or not _WORDS["of earnings"].isdisjoint(text.lower().split())
    return line_of_metric("operating_income" if results else "revenue")


def _ranks_results(superlatives: Sequence[Token]) -> bool:
    return any(word in _WORDS["of results"] for one in superlatives for word in one.text.lower().split())


def _ranks_upwards(rank: Sequence[Token], *, falls: bool) -> bool:
    """Return whether a ranking begins with the lowest figure: `smallest first`, or `steepest first` of falls."""
    first = {word for one in rank for word in one.text.lower().removeprefix("from ").removeprefix("in ").split()[:1]}
    least, worst, best = (not first.isdisjoint(_WORDS[kind]) for kind in ("the least", "the worst", "the best"))
    return worst or (falls and not least and not best) or (least and not falls)


def _number(tokens: Sequence[Token]) -> int | None:
    return int(str(tokens[0].value)) if tokens else None


def _is_percent(token: Token) -> bool:
    return isinstance(token.value, Amount) and token.value.unit == "percent"


def _way_of(higher: Sequence[Token], lower: Sequence[Token]) -> Way:
    """Return how a figure is claimed to stand to a bound, by the frames of the claim."""
    inclusive = any(one.type in ("AT_LEAST", "AT_MOST") for one in (*higher, *lower))
    if lower:
        return "at-most" if inclusive else "below"
    if higher:
        return "at-least" if inclusive else "above"
    return "equal"


def _as_result(line: Line | NamedFormula) -> Line | NamedFormula:
    """Return a result that is called a loss by the name of its metric, whatever its sign."""
    return line.model_copy(update={"words": (getattr(line, "metric", None) or line.words).replace("_", " ")})


def _without_company(line: Line | NamedFormula, **update: object) -> Line | NamedFormula:
    return line.model_copy(update={"company": None, **update})


def _distinct_line_share(measure: Measure) -> Measure:
    """Return a share of one metric with each line by its own words: `rent / rent and other`."""
    match share_of(measure):
        case Line(metric=str()) as part, Line() as whole if part.words.lower() != whole.words.lower():
            if len({one.model_copy(update={"words": "", "whole": False}) for one in (part, whole)}) == 1:
                return percentage(*(one.model_copy(update={"metric": None, "whole": False}) for one in (part, whole)))
    return measure


def _is_of_closing_balances(spelt: Operation) -> bool:
    """Return whether a formula is of what stands at the end of a period: `days of inventory, inventory over costs`."""
    means = any(isinstance(side, Function) for side in (spelt.left, spelt.right))
    return not means and all(getattr(line, "balance", None) != "average" for line in lines_of(spelt))


def _told_twice(measure: Measure, lexicon: Lexicon) -> Measure:
    """Drop a repeated share: `gross margin as a percentage of revenue` is already one."""
    over = (measure.left, measure.right) if isinstance(measure, Operation) and measure.operator == "/" else None
    rate, whole = share_of(measure) or over or (None, None)
    if not isinstance(rate, NamedFormula) or not isinstance(whole, Line):
        return measure
    formula = lexicon.formulas[rate.formula]
    return rate if formula.unit == "percent" and whole.metric in expression_inputs(formula.expression) else measure


def _less(whole: Measure, others: Sequence[Measure]) -> Measure:
    return reduce(partial(operation, "-"), others, whole)


def _of_the_whole(line: Line | NamedFormula) -> Line | NamedFormula:
    return line.model_copy(update={"whole": True}) if isinstance(line, Line) else line


def _of_measures(kind: str) -> frozenset[str]:
    return words_of(" ".join(word_lists("measure_words")[kind]))


def _without_figure(line: Line | NamedFormula) -> Line | NamedFormula:
    """Return a line without the figure of another period that it was answered with."""
    return line.model_copy(update={"place": ""}) if getattr(line, "place", "").startswith("figure:") else line


def _days_last(period: Period) -> tuple[int, ...]:
    if period.opening:
        return (0, 0)
    return (1,) if period.end is not None else (0, period.fiscal_year or 0, period.quarter or _LAST_OF_A_YEAR)


def _place_in_time(period: Period) -> tuple[int, date, int]:
    end = period.end or date.min
    return period.fiscal_year or end.year, end, period.quarter or _LAST_OF_A_YEAR


def _last_digit(written: str, value: float) -> float:
    """Return half of the last digit of a number as written: five million for `$0.54 billion`."""
    found = re.search(r"\d[\d,]*(?:\.(\d+))?", written)
    number = float(found[0].replace(",", "")) if found else 0.0
    if found is None or not number:
        return 0.5
    return abs(value) / number * 0.5 * 10.0 ** -len(found[1] or "")


_OF_ALL_PARTS = words_of("total all combined reportable operating segment division region business")
_COMPONENTS, _SUMS = (words_of(" ".join(word_lists("part_words")[kind])) for kind in ("of any sum", "sums"))
_WORDS_BEFORE_A_KIND = 6
_LAST_OF_A_YEAR = 5
_MONTHS_OF_A_YEAR = 12
_MOVING = ("UP", "DOWN", "GROWTH", "CHANGE")
_MONEY = ("cash", "cash flow", "money")
_LISTED = ("PHRASE", "PART", "AND", "OR", "COMMA")
_RESULTS = frozenset({"income_before_taxes", "net_income", "operating_income"})
_BEFORE_TAXES = frozenset({"income_before_taxes", "operating_income"})
_EXTREMES = ("HIGHEST", "LOWEST", "FASTEST", "SLOWEST")
_SELECTING = (*_EXTREMES, "TOP", "WHICH", "RANK", "EACH", "BY", "WHO", "ORDINAL")
"""Frames with which a word for a kind of part means each of them."""
_RANKING = (*_EXTREMES, "RANK", "TOP", "ORDINAL")
_ENDS = (Combination.HIGHEST, Combination.LOWEST)
_POINTS = ("basis points", "percentage points")
