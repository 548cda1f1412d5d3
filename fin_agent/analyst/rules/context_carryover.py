"""Complete a follow-up message from the previous question: combine its Query with the previous one.

The lists of `follow_up_words.yaml` classify the phrases in a message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from fin_agent.analyst.rules.query_to_text import in_periods, join_names, possessive, query_to_question, shift_period
from fin_agent.answering.answer import Answer
from fin_agent.errors import FinAgentError
from fin_agent.evidence.intent import Intent
from fin_agent.lexicon.abbreviations import expand_abbreviations
from fin_agent.lexicon.periods import parse_periods
from fin_agent.lexicon.words import listed, word_lists
from fin_agent.query.binding import unit_fits
from fin_agent.query.editing import reword_question
from fin_agent.query.lexer import LexedQuestion, Token, lex
from fin_agent.query.question_to_intent import intent_of_question, known_names
from fin_agent.query.reading import read_question
from fin_agent.query.tree import (
    Axis,
    Combination,
    Company,
    Comparison,
    Kind,
    Line,
    Measure,
    Move,
    NamedFormula,
    Operation,
    Parts,
    Period,
    Query,
    lines_of,
)
from fin_agent.retrieval.search_terms import stopwords
from fin_agent.workspace import Workspace

_JOINING = frozenset({"AND", "OR", "COMMA", "STOP", "FROM_WORD", "TO", "DASH", "COLON"})
_MEASURES = frozenset({"METRIC", "FORMULA", "PHRASE"})
_COMPANIES = frozenset({"COMPANY", "UNKNOWN"})
_TIMES = frozenset({"PERIOD", "YEAR_BEFORE", "NEXT_YEAR", "QUARTER_BEFORE"})
_UNITS = frozenset({"PERCENT", "THOUSANDS", "MILLIONS", "BILLIONS", "BPS", "POINTS", "DAYS_UNIT"})
_AGAINST = frozenset({"VERSUS", "HIGHER", "LOWER", "THAN"})
_REPLACING = _MEASURES | _COMPANIES | _TIMES | _UNITS | _AGAINST | {"PART"}
_RANKING = frozenset({"HIGHEST", "LOWEST", "FASTEST", "SLOWEST", "RANK"})
_STEPS_IN_WORDS = {"earlier": (-1, 0), "later": (1, 0)}
_STEPS = {"YEAR_BEFORE": (-1, 0), "NEXT_YEAR": (1, 0), "QUARTER_BEFORE": (0, -1)}


@dataclass(frozen=True)
class PreviousQuestion:
    """A complete question of the conversation, parsed, with its answer."""

    question: str
    intent: Intent
    query: Query
    """Its companies have the names used in the question."""
    answer: Answer | None = None

    @classmethod
    def of(cls, question: str, workspace: Workspace, answer: Answer | None = None) -> PreviousQuestion:
        """Parse `question`. Raises QuestionError if it has no words, is too long or has no reading."""
        intent = intent_of_question(question, workspace)
        query = intent.query if intent.query is not None else read_question(question, known_names(workspace))
        called = company_names_in(question, workspace)
        companies = tuple(_names_by_company(one, called) for one in query.companies)
        return cls(question, intent, query.model_copy(update={"companies": companies}), answer)

    @property
    def names(self) -> tuple[str, ...]:
        """The companies by their names in the question, followed by those that are not indexed."""
        return (*(one.name for one in self.query.companies), *self.query.unknown_companies)

    @property
    def asks_figures(self) -> bool:
        """Whether figures answer it; unknown for companies that are not indexed."""
        return self.intent.numeric and bool(self.query.measures)

    @cached_property
    def periods(self) -> tuple[Period, ...]:
        """Its periods, else the last one for which its answer has a figure."""
        if self.query.periods or self.answer is None:
            return self.query.periods
        slots = [entry.slot for entry in self.answer.ledger if entry.figure is not None and entry.required]
        slots.sort(key=lambda slot: (slot.fiscal_year, slot.quarter or 5))
        return tuple(
            Period(fiscal_year=slot.fiscal_year, quarter=slot.quarter, months=3 if slot.quarter else 12)
            for slot in slots[-1:]
        )

    @property
    def period_count_words(self) -> str:
        """Its words for a number of periods: `over the last three years`."""
        return _period_count_words(self.question)


def company_names_in(text: str, workspace: Workspace) -> dict[str, str]:
    """Return the names by which `text` mentions companies, by company key."""
    found = workspace.directory.mentions(text)
    return {one.company.key: text[one.start : one.end] for one in reversed(found)}


def _names_by_company(company: Company, called: dict[str, str]) -> Company:
    return company.model_copy(update={"name": called.get(company.key, company.name)})


def _period_count_words(text: str) -> str:
    parsed = parse_periods(text)
    if parsed.trailing_years in _NUMBERS and not parsed.years:
        return f"over the last {_NUMBERS[parsed.trailing_years]} years"
    if parsed.since is not None:
        return f"since FY{parsed.since}"
    return f"in the latest {parsed.latest}" if parsed.latest else ""


_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 10: "ten"}


class FollowUp:
    """A message without its opening words, and the question that it may continue."""

    def __init__(self, text: str, before: PreviousQuestion | None, workspace: Workspace, *, opened: bool) -> None:
        """Parse the message; `opened` if it began with joining words (`and`, `what about`)."""
        self._set = next((kind for kind in _SETS if _leads_to_company(text, kind, workspace)), "")
        """How its companies change the previous ones: added, alone or removed."""
        self.text = text = without_opening(text, self._set) if self._set else text
        self._against = find_phrase(text, "comparing") is not None
        if self._against:
            self.text = text = without_opening(text, "comparing")
        self.opened = opened
        self._workspace = workspace
        self._names = known_names(workspace)
        self.is_clause = normalize_text(text).split(" ")[0].rstrip(",") in phrases("clause")
        self._refers = bool(find_phrase(text, "theirs") or find_phrase(text, "them"))
        about = [one.key for one in before.query.companies] if before is not None else []
        self._counted = "" if self._against else _period_count_words(text)
        self._lexed: LexedQuestion = lex(expand_abbreviations(text), self._names, (), about)
        quarters = parse_periods(text).loose_quarters
        self._quarters = () if any(one.type == "PERIOD" for one in self._lexed.tokens) else quarters
        self.tokens: Sequence[Token] = [
            one
            for one in self._lexed.tokens
            if one.type not in _JOINING
            and not (self._quarters and one.text.upper() in _QUARTERS)
            and not (self._counted and one.type in ("OVER", "YEAR_BEFORE"))
        ]
        self.kinds = {one.type for one in self.tokens}
        than = {"HIGHER", "LOWER"} & self.kinds and "THAN" in self.kinds
        told = "" if self.kinds & _TIMES else next((one for one in _STEPS_IN_WORDS if is_phrase(text, one)), "")
        self._step = _STEPS_IN_WORDS.get(told)
        """Shift in years and quarters given by words that the grammar does not know."""
        if self._step is not None:
            self.tokens, self.kinds = (), set()
        self._against = bool(self._against or "VERSUS" in self.kinds or than)
        self._has_before = before is not None
        nobody = Query(question="")
        before = before or PreviousQuestion("", Intent(question="", core=""), nobody)
        self.before = before

    @cached_property
    def companies(self) -> tuple[Company, ...]:
        """The indexed companies, by the names in the message."""
        called = company_names_in(self.text, self._workspace)
        named = {one.company.key: one.company for one in self._lexed.companies}
        return tuple(Company(key=key, name=called.get(key, one.name)) for key, one in named.items())

    @property
    def unknown(self) -> tuple[str, ...]:
        """The companies in the message that are not indexed."""
        return tuple(dict.fromkeys(self._lexed.unknown))

    @property
    def _is_yes_or_no(self) -> bool:
        return normalize_text(self.text).split(" ")[0] in _AUXILIARIES

    @property
    def names_company(self) -> bool:
        """Whether it names a company, indexed or not."""
        return bool(self.companies or self.unknown)

    @property
    def names_measure(self) -> bool:
        """Whether it has words that may name a measure or a topic."""
        return bool(self.kinds & _MEASURES)

    @property
    def names_topic(self) -> bool:
        """Whether it names a subject of filings other than companies and periods."""
        return self.names_measure or any(one == "PART" or one.startswith("KIND_") for one in self.kinds)

    @property
    def is_whole(self) -> bool:
        """Whether it needs no previous question: a clause that names its company."""
        if find_phrase(self.text, "any company") is not None and self.names_measure:
            return True
        refers = self._refers or find_phrase(self.text, "same time") is not None
        compares = self._against and not self.names_measure
        return self.is_clause and self.names_company and not refers and not compares

    @property
    def stands_alone(self) -> bool:
        """Whether it may be asked alone if it continues nothing."""
        if self.is_whole or (self.names_company and self.names_measure):
            return True
        if self._has_before:
            return False
        if self.opened and not self.is_clause and not self.names_company:
            return False
        return self.names_company or self.names_topic or (self.is_clause and not self.tokens)

    def question(self) -> str:
        """Return the complete question; empty if it cannot be determined."""
        if not self._has_before:
            return ""
        if self._against and not self.before.asks_figures:
            return ""
        try:
            if ("WHY" in self.kinds and "PHRASE" not in self.kinds) or is_phrase(self.text, "why"):
                return self._ask_reason()
            for made in (
                self._compare_companies,
                self._qualify_measure,
                self._replace_in_previous,
                self._apply_calculation,
                self._ask_in_words,
            ):
                question = made()
                if question:
                    return question
        except FinAgentError:
            return ""
        return ""

    # Replacing parts of the previous question.

    def _replace_in_previous(self) -> str:
        """Return the previous question with parts replaced by what the message names."""
        measures = self.kinds & _MEASURES
        if self.kinds - _REPLACING or not (self.kinds or self._quarters or self._step or self._counted):
            return ""
        if measures and (self.is_clause or "PHRASE" in measures or not self.before.asks_figures):
            return ""
        if self.kinds & {"HIGHER", "LOWER", "THAN"} and not self._against:
            return ""
        query = self._with_measure(self.before.query) if measures else self.before.query
        if query is None:
            return ""
        if self._against and self.names_company:
            query = self._compare_with_companies(query)
        elif self.names_company:
            query = self._with_companies(query)
        moves = self._against and not self.names_company and not measures
        query = self._movement_question(query) if moves else self._with_periods(query)
        if query is None:
            return ""
        unit = read_question(self.text, self._names, self.before.query).unit
        query = query.model_copy(update={"unit": unit or (None if measures else query.unit)})
        if "PART" in self.kinds:
            parts = tuple(str(one.value) for one in self.tokens if one.type == "PART")
            query = query.model_copy(update={"parts": Parts(names=parts)})
        return self._question_for(query)

    def _with_measure(self, query: Query) -> Query | None:
        """Replace the measure: plainly if alone, in the previous form after joining words (`and revenue?`)."""
        found = read_question(self.text, self._names, self.before.query).measures
        if not found or len(query.measures) > 1:
            return None
        old = query.measures[0] if query.measures else None
        if isinstance(old, Move) and self.opened and len(found) == 1:
            return query.model_copy(update={"measures": (old.model_copy(update={"of": found[0]}),)})
        if isinstance(old, Move):
            return query.model_copy(update={"measures": found, "kind": Kind.VALUE, "periods": query.periods[-1:]})
        return query.model_copy(update={"measures": found, "parts": None})

    def _with_companies(self, query: Query) -> Query:
        """Replace, add or remove companies, as the words before them say."""
        own, unknown = self.companies, self.unknown
        there = {one.key for one in query.companies}
        several = len(there) + len(query.unknown_companies) > 1
        joins = several and self.opened and not there & {one.key for one in own} and not self.kinds & _MEASURES
        if self._set == "without":
            leaving = {one.key for one in own}
            own = tuple(one for one in query.companies if one.key not in leaving)
        elif self._set == "adding" or (joins and not self._set):
            own = (*query.companies, *(one for one in own if one.key not in there))
            unknown = tuple(dict.fromkeys((*query.unknown_companies, *unknown)))
        update: dict[str, object] = {"companies": own, "unknown_companies": unknown}
        compared = query.comparison is not None and query.comparison.axis is Axis.COMPANIES
        if compared and len(own) + len(unknown) == 1:
            update |= {"comparison": None, "kind": Kind.VALUE}
        if query.parts is not None and query.parts.names:
            update["parts"] = None
        return query.model_copy(update=update)

    def _compare_with_companies(self, query: Query) -> Query:
        """Compare the previous figure with that of other companies."""
        there = {one.key for one in query.companies}
        companies = (*query.companies, *(one for one in self.companies if one.key not in there))
        compared = Comparison(axis=Axis.COMPANIES, how=Combination.EACH)
        unknown = tuple(dict.fromkeys((*query.unknown_companies, *self.unknown)))
        update = {"companies": companies, "unknown_companies": unknown, "comparison": compared}
        return query.model_copy(update=update)

    def _with_periods(self, query: Query) -> Query | None:
        """Replace the periods by those of the message, or shift the previous ones."""
        known = self.before.periods
        if self._counted:
            return query.model_copy(update={"periods": ()})
        if self._quarters:
            years = [one.fiscal_year for one in known]
            named = [Period(fiscal_year=year, quarter=one, months=3) for year in years[-1:] for one in self._quarters]
            return query.model_copy(update={"periods": tuple(named)}) if named else None
        step = next((_STEPS[one.type] for one in self.tokens if one.type in _STEPS), self._step)
        if step is None:
            return query.model_copy(update={"periods": self._named_periods(query)})
        if not known or (step[1] and not known[0].quarter):
            return None
        return query.model_copy(update={"periods": tuple(shift_period(one, *step) for one in known)})

    def _named_periods(self, query: Query) -> tuple[Period, ...]:
        if "PERIOD" not in self.kinds:
            return () if self._counted else query.periods
        named = read_question(self.text, self._names, self.before.query).periods
        moves = any(isinstance(one, Move) for one in query.measures)
        if len(named) == 1 and moves and len(query.periods) > 1:
            step = (named[0].fiscal_year or 0) - (query.periods[-1].fiscal_year or 0)
            return tuple(
                shift_period(one, step) for one in query.periods
            )  # `and in 2024?` of a change from year to year
        return named

    def _movement_question(self, query: Query) -> Query | None:
        """Ask for the change between the previous period and another: `vs 2022`."""
        other = self._with_periods(query)
        now, then = self.before.periods, other.periods if other is not None else ()
        if len(now) != 1 or len(then) != 1 or now == then or bool(now[0].quarter) != bool(then[0].quarter):
            return None
        span = sorted((*now, *then), key=lambda one: (one.fiscal_year or 0, one.quarter or 0))
        measure: Measure = query.measures[0]
        update = {"measures": (Move(of=measure, how="change"),), "kind": Kind.CHANGE, "periods": tuple(span)}
        return query.model_copy(update=update) if not isinstance(measure, Move) else None

    def _question_for(self, query: Query) -> str:
        """Return the wording of `query`: the previous question's, else a plain one; empty if neither parses as it."""
        counted = self._counted or ("" if self.kinds & _TIMES else self.before.period_count_words)
        plain = query_to_question(query, counted)
        old = self.before.query
        same = (
            len(query.companies + query.unknown_companies) == len(old.companies + old.unknown_companies)
            and len(query.periods) == len(old.periods)
            and query.measures == old.measures
            and (query.unit, query.comparison) == (old.unit, old.comparison)
            and not any(isinstance(one, Move) for one in query.measures)
        )
        edited = "" if self._counted else self._edit_previous_wording(query)
        for words in (edited, plain) if same else (plain, edited):
            if words and self._reads_as(words, query):
                return words
        return ""

    def _edit_previous_wording(self, query: Query) -> str:
        return reword_question(query.model_copy(update={"question": self.before.question}), self._workspace)

    def _reads_as(self, words: str, query: Query) -> bool:
        """Return whether `words` parse as `query`."""
        intent = intent_of_question(words, self._workspace)
        own = intent.query
        if own is None:
            own = read_question(words, self._names)
        if self.before.asks_figures and not (intent.numeric or query.unknown_companies):
            return False
        if query.unit and not self.before.query.unit and intent.numeric and not unit_fits(query.unit, intent):
            return False
        return _reading_key(own) == _reading_key(query)

    # Requests of the message itself.

    def _compare_companies(self) -> str:
        """Set the previous figures side by side: `compare the two`."""
        if not is_phrase(self.text, "compare them") or len(self.before.names) < 2:
            return ""
        compared = Comparison(axis=Axis.COMPANIES, how=Combination.EACH)
        update = {"comparison": compared, "kind": Kind.COMPARISON}
        return self._question_for(self.before.query.model_copy(update=update))

    def _qualify_measure(self) -> str:
        """Qualify the previous measure: `per share`, `diluted`, `basic`."""
        query, words = self.before.query, normalize_text(self.text)
        line = query.measures[0] if len(query.measures) == 1 else None
        if not isinstance(line, Line | NamedFormula) or self.names_company or self.kinds & (_TIMES | _UNITS):
            return ""
        first = words.split(" or ")[0]
        for phrase in (f"{first} {line.words}", f"{line.words} {first}"):
            known = self._workspace.lexicon.mentions(phrase)
            if len(known) == 1 and (known[0].start, known[0].end) == (0, len(phrase)):
                measures = read_question(phrase, self._names).measures
                return self._question_for(query.model_copy(update={"measures": measures}))
        return ""

    def _apply_calculation(self) -> str:
        """Apply the message's calculation, completed from the previous question."""
        if not (self.tokens or self._counted) or ("PHRASE" in self.kinds and self._is_yes_or_no):
            return ""
        before = self.before.intent.model_copy(update={"query": self.before.query})
        if self.before.periods and not self.before.period_count_words:
            filled = self.before.query.model_copy(update={"periods": self.before.periods})
            before = before.model_copy(update={"query": filled})
        intent = intent_of_question(self.text, self._workspace, before)
        query = intent.query
        if (
            query is None
            or not intent.numeric
            or intent.unsupported
            or query.unread
            or not self._is_new_question(query)
        ):
            return ""
        called = {one.key: one.name for one in (*self.before.query.companies, *self.companies)}
        companies = tuple(_names_by_company(one, called) for one in query.companies)
        query = query.model_copy(update={"companies": companies})
        query = query if self._counted else _year_over_year(query)
        counted = self._counted or ("" if "PERIOD" in self.kinds else self.before.period_count_words)
        words = query_to_question(query, counted)
        return words if words and self._reads_as(words, query) else ""

    def _is_new_question(self, query: Query) -> bool:
        """Return whether the message changed the previous question."""
        return _reading_key(query) != _reading_key(self.before.query)

    def _ask_reason(self) -> str:
        """Ask why the measure moved, or whether it did if the figures moved the other way."""
        before = self.before
        measures = read_question(self.text, self._names).measures if self.kinds & {"METRIC", "FORMULA"} else ()
        query = before.query.model_copy(update={"measures": measures or before.query.measures, "comparison": None})
        if not query.measures or not (before.asks_figures or query.kind is Kind.REASON):
            return ""
        measure = query.measures[0]
        line = measure.of if isinstance(measure, Move) else measure
        periods = before.periods[-1:] if isinstance(measure, Move) else before.periods
        kinds = set() if is_phrase(self.text, "why") else self.kinds
        said = "increase" if kinds & {"UP", "HIGHER"} else "decrease" if kinds & {"DOWN", "LOWER"} else ""
        metric = line.metric if isinstance(line, Line) else None
        went = ""
        if metric and len(query.companies) == len(periods) == 1:
            went = _direction_of(metric, query.companies[0].key, periods[0], self._workspace)
        asked = query.model_copy(
            update={"measures": (line,), "periods": periods, "kind": Kind.REASON, "claim": None, "unit": None}
        )
        if said and went and said != went:
            return query_to_question(asked, moved=said).replace("Why did", "Did", 1)
        return query_to_question(asked, moved=said or went or "change")

    def _ask_in_words(self) -> str:
        """Ask a clause in words about the same company."""
        owners = self.before.names
        if not owners or not self.is_clause or self.names_company or not self.names_topic or self.kinds & _RANKING:
            return ""
        when = in_periods(self.before.periods)
        text, told = self._with_pronouns_replaced(owners)
        figure = (self._is_yes_or_no or self.kinds & {"METRIC", "FORMULA"}) and not self.kinds & _TIMES
        behind = f"{'' if told else f' at {join_names(owners)}'} {when if figure else ''}".rstrip()
        return f"{text.rstrip(' ?.!')}{behind}?"

    def _with_pronouns_replaced(self, owners: Sequence[str]) -> tuple[str, bool]:
        """Return the message with pronouns replaced by the companies, and whether it had any."""
        text = self.text
        for kind, told in (("theirs", join_names([possessive(one) for one in owners])), ("them", join_names(owners))):
            for start, end in reversed(find_phrases(text, kind)[:1]):
                text = f"{text[:start]}{told}{text[end:]}"
        return text, text != self.text


_SETS = ("adding", "only", "without")


def _leads_to_company(text: str, kind: str, workspace: Workspace) -> bool:
    rest = without_opening(text, kind)
    found = workspace.directory.mentions(rest)
    return normalize_text(rest) != normalize_text(text) and bool(found) and found[0].start == 0


_AUXILIARIES = ("is", "are", "was", "were", "did", "does", "do", "has", "have", "had", "can", "will")
_QUARTERS = ("Q1", "Q2", "Q3", "Q4")


def _year_over_year(query: Query) -> Query:
    """Return a change of one period as one from the year before, for its plain wording."""
    companies = query.comparison is not None and query.comparison.axis is Axis.COMPANIES
    moves = any(isinstance(one, Move) and (one.how == "change" or companies) for one in query.measures)
    if not moves or len(query.periods) != 1:
        return query
    return query.model_copy(update={"periods": (shift_period(query.periods[0], -1), *query.periods)})


def _reading_key(query: Query) -> object:
    """Return a key that equal readings of a question share, whatever their wording."""
    moves = any(isinstance(one, Move) for one in query.measures)
    periods = set(query.periods[:1] + query.periods[-1:] if moves else query.periods)
    lines = {getattr(one, "metric", None) or getattr(one, "formula", None) or one.words.lower()
             for measure in query.measures for one in lines_of(measure)}  # fmt: skip
    comparison = (
        query.comparison
        and query.comparison.how not in (Combination.EACH,)
        and (query.comparison.axis, query.comparison.how)
    )
    shares = any(isinstance(one, Operation) for one in query.measures)
    unit = query.unit if query.unit != "percent" or not shares else None
    parts = query.parts and (query.parts.names, query.parts.kind)
    return (
        {one.key for one in query.companies}, set(query.unknown_companies), periods, lines, moves,
        comparison or None, parts or None, query.claim and query.claim.way, unit, shares, query.kind is Kind.REASON,
    )  # fmt: skip


def _direction_of(metric: str, company: str, period: Period, workspace: Workspace) -> str:
    """Return `increase` or `decrease` from the year before, if one statement prints both years; else empty.

    Args:
        metric: Id in the lexicon.
        company: Key in the directory.
        period: A year or a quarter; the filing of the period itself comes first.
        workspace: The index.
    """
    year, identities = period.fiscal_year or 0, workspace.directory.identities
    doc_ids = workspace.directory.by_key[company].doc_ids
    for doc_id in sorted(doc_ids, key=lambda one: (abs((identities[one].fiscal_year or 0) - year), one)):
        stated = {
            fact.period.fiscal_year: abs(fact.value) if fact.inverted else fact.value
            for fact in reversed([each.fact for each in workspace.index.facts([doc_id], metrics={metric})])
            if fact.statement is not None
            and fact.scope is None
            and fact.period.quarter == period.quarter
            and fact.period.months in (0, 3 if period.quarter else 12)
        }
        now, before = stated.get(year), stated.get(year - 1)
        if now is not None and before is not None and now != before:
            return "increase" if now > before else "decrease"
    return ""


_LISTS = "follow_up_words"
_EDGES = " \t\n,.;:!?-–—…"


def phrases(kind: str) -> frozenset[str]:
    """Return the phrases of a kind in `follow_up_words.yaml`."""
    return word_lists(_LISTS)[kind]


def normalize_text(text: str) -> str:
    """Return a text in the form of the lists: lower case, single spaces, no punctuation at the ends."""
    return " ".join(text.replace("’", "'").lower().split()).strip(_EDGES)


def is_phrase(text: str, kind: str) -> bool:
    """Return whether the whole text is a phrase of this kind."""
    return normalize_text(text) in phrases(kind)


def consists_of(text: str, kind: str) -> bool:
    """Return whether the text consists of phrases of this kind and filler: `Thanks a lot, that helps!`."""
    rest = " ".join(_words(text))
    said = False
    while rest:
        found = _opening(rest, kind)
        if found is None and said:
            found = _opening(rest, "filler")
        if found is None:
            return False
        said = True
        rest = rest[found.end() :].strip()
    return said


def mentions_kind(text: str, kind: str) -> bool:
    """Return whether the text names something of this kind, with no other content words than `KIND words`."""
    return find_phrase(text, kind) is not None and has_no_other_words(text, f"{kind} words")


def has_no_other_words(text: str, kind: str) -> bool:
    """Return whether every content word is of this kind."""
    known = stopwords() | phrases(kind)
    return all({word, word.removesuffix("n't"), word.split("'")[0]} & known for word in _words(text))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+(?:'\w+)?", normalize_text(text))


def without_opening(text: str, *kinds: str) -> str:
    """Return the text without leading phrases of these kinds: `And what about 2021?` becomes `2021?`."""
    rest = text.strip()
    while found := next(filter(None, (_opening(rest, kind) for kind in kinds)), None):
        rest = rest[found.end() :].lstrip(_EDGES)
    return rest


def _opening(text: str, kind: str) -> re.Match[str] | None:
    """Return the phrase of this kind that the text begins with."""
    found = find_phrase(text, kind)
    return None if found is None or any(map(str.isalnum, text[: found.start()])) else found


def find_phrase(text: str, kind: str) -> re.Match[str] | None:
    """Return the first phrase of this kind in the text, the longest at its position."""
    return next(_anywhere(text, kind), None)


def find_phrases(text: str, kind: str) -> list[tuple[int, int]]:
    """Return (start, end) of every phrase of this kind in the text."""
    return [found.span() for found in _anywhere(text, kind)]


def _anywhere(text: str, kind: str) -> Iterator[re.Match[str]]:
    """Yield the phrases of this kind; `what` is not in `what's`."""
    for found in listed(_LISTS, kind).finditer(text):
        if not {text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]} & {"'", "’"}:
            yield found
