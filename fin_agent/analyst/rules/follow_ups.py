"""Read a message in a conversation: a complete question, a follow-up, which is completed, or neither.

A follow-up edits the Query of the previous question; the result is worded. The lists of `follow_up_words.yaml` classify
the phrases in a message.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from itertools import chain

from pydantic import BaseModel

from fin_agent.analyst.rules.period_resolution import requested_periods
from fin_agent.analyst.rules.query_to_text import in_periods, join_names, possessive, query_to_question, shift_period
from fin_agent.analyst.rules.words_to_intent import (
    MAX_QUESTION_LENGTH,
    form_spans,
    mask_with_possessive,
    period_spans,
    understood_spans,
)
from fin_agent.answering.answer import Answer
from fin_agent.errors import FinAgentError
from fin_agent.evidence.intent import Intent
from fin_agent.lexicon.abbreviations import expand_abbreviations
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.periods import parse_number, parse_periods
from fin_agent.lexicon.text_normalization import places_of, words_in
from fin_agent.lexicon.words import finds, listed, word_lists
from fin_agent.query.binding import unit_fits
from fin_agent.query.editing import query_for_question, reword_question
from fin_agent.query.lexer import lex
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
from fin_agent.vocabulary.identity import Identity
from fin_agent.workspace import Workspace


class MessageKind(StrEnum):
    """The kind of a message."""

    QUESTION = "question"
    """Complete by itself."""
    FOLLOW_UP = "follow-up"
    """Completed from the previous question."""
    WHERE = "where"
    """Asks for the source of the previous answer."""
    HOW = "how"
    """Asks how the previous answer was computed."""
    DOUBT = "doubt"
    """Doubts the previous answer."""
    GREETING = "greeting"
    THANKS = "thanks"
    FAREWELL = "farewell"
    HELP = "help"
    INDEX = "index"
    """Asks what is indexed: companies, filings, years."""
    UNCLEAR = "unclear"
    """Continues something that is missing, or cannot be understood."""


_TALK = (MessageKind.HELP, MessageKind.GREETING, MessageKind.FAREWELL, MessageKind.THANKS)
_MAX_LOOKBACK = 6
_MAX_NAMED = 6
"""Most indexed companies that are named in one question."""


@dataclass(frozen=True, slots=True)
class PreviousTurn:
    """A complete question of the conversation with its answer."""

    question: str
    answer: Answer | None = None
    whole: bool = True
    """Whether it was asked in full, not completed from the one before it."""


class Reading(BaseModel, frozen=True):
    """The interpretation of a message."""

    kind: MessageKind
    question: str = ""
    """The complete question to answer; empty if there is none."""

    @property
    def asks(self) -> bool:
        """Whether a question is to be answered from filings."""
        return self.kind in (MessageKind.QUESTION, MessageKind.FOLLOW_UP)


def read_message(message: str, earlier: Sequence[PreviousTurn], workspace: Workspace) -> Reading:
    """Interpret `message` after earlier questions, latest last. Deterministic, and never raises for its content."""
    text = " ".join(message.split())
    if len(text) > MAX_QUESTION_LENGTH:
        return Reading(kind=MessageKind.QUESTION, question=text)
    for kind in _TALK:
        if consists_of(text, kind) or (kind is MessageKind.HELP and mentions_kind(text, kind)):
            return Reading(kind=kind)
    beside_all = listed("follow_up_words", "everyone").sub("", without_opening(text, "leads", "polite", "discourse"))
    of_all = bool(earlier) and not any(map(str.isalnum, beside_all))
    if not of_all and parse_index_question(text, workspace) is not None:
        return Reading(kind=MessageKind.INDEX)
    bare = without_opening(_without_thanks(text), "greeting", "thanks", "discourse", "polite")
    asked = without_opening(bare, "leads", "polite", "discourse")
    for kind in (MessageKind.WHERE, MessageKind.HOW, MessageKind.DOUBT):
        if any(is_phrase(each, kind) or mentions_kind(each, kind) for each in (_of_filing(asked), bare)):
            return Reading(kind=kind if earlier else MessageKind.UNCLEAR)
    if any(map(str.isalnum, asked)):
        with suppress(FinAgentError):
            return _read(bare, asked, earlier, workspace)
    return Reading(kind=MessageKind.UNCLEAR)


def _read(bare: str, asked: str, earlier: Sequence[PreviousTurn], workspace: Workspace) -> Reading:
    opened = normalize_text(asked) != normalize_text(bare)
    recent = earlier[-_MAX_LOOKBACK:]
    usable = (_read_previous(each, workspace) for each in recent if _has_usable_question(each, workspace))
    conversation = [before for before in usable if before is not None]
    any_other = (_read_previous(each, workspace) for each in reversed(recent))
    last = next((before for before in chain(reversed(conversation), any_other) if before and before.names), None)
    choosing = find_phrase(asked, "choosing") is not None
    named = asked if choosing else _with_all_companies_named(asked, conversation, workspace)
    now = FollowUp(named or asked, last, workspace, opened=opened)
    if named is None and not now.is_clause:
        return Reading(kind=MessageKind.UNCLEAR)
    bare = bare if named in (None, asked) else named
    if not now.is_whole and (question := now.question()):
        whole = normalize_text(question) == normalize_text(bare)
        return Reading(kind=MessageKind.QUESTION if whole else MessageKind.FOLLOW_UP, question=question)
    return Reading(kind=MessageKind.QUESTION, question=bare) if now.stands_alone else Reading(kind=MessageKind.UNCLEAR)


def _without_thanks(text: str) -> str:
    """Return `text` without `please` or `thanks` at its end."""
    bare = text.rstrip(" .!?")
    said = next((phrase for phrase in phrases("afterwards") if bare.lower().endswith(f" {phrase}")), "")
    return f"{bare.removesuffix(bare[-len(said) :]).rstrip(' ,')}{text[len(bare) :]}" if said else text


def _of_filing(text: str) -> str:
    """Return `text` with `filing` in place of forms."""
    for start, end, _ in sorted(form_spans(text), reverse=True):
        text = f"{text[:start]}filing{text[end:]}"
    return text


@dataclass(frozen=True, slots=True)
class IndexQuestion:
    """A question about the index itself: `which 10-Qs of Acme do you have?`. Nothing named means all of it."""

    doc_ids: tuple[str, ...]
    """The filings that it is about, in index order."""
    unknown: tuple[str, ...]
    """Names of companies that are not indexed."""
    narrowed: bool
    """Whether it names companies, forms or years."""


def parse_index_question(text: str, workspace: Workspace) -> IndexQuestion | None:
    """Return what `text` asks about the index; None if it asks something else."""
    forms = form_spans(text)
    if not (forms or find_phrase(text, "index nouns") or find_phrase(text, "index verbs")):
        return None  # most messages, told quickly
    directory = workspace.directory
    mentions = directory.mentions(text)
    unknown = directory.unknown_names(text, understood_spans(text, directory, workspace.lexicon))
    spans = [(each.start, each.end) for each in mentions] + period_spans(text)
    spans += [span for name in unknown for span in places_of(name, text)]
    rest = mask_with_possessive(text, spans + [(start, end) for start, end, _ in forms])
    years = {period.fiscal_year for period in requested_periods(text, text)}
    if not _is_about_index(rest, forms=bool(forms), dated=bool(years)):
        return None
    keys = {each.company.key for each in mentions} | set(unknown)
    wanted: tuple[Collection[object], ...] = (keys, {form for _, _, form in forms}, years)

    def is_meant(doc_id: str, identity: Identity) -> bool:
        own = (directory.owners.get(doc_id), identity.form, identity.fiscal_year)
        return all(not named or each in named for named, each in zip(wanted, own, strict=True))

    doc_ids = tuple(doc_id for doc_id, identity in directory.identities.items() if is_meant(doc_id, identity))
    return IndexQuestion(doc_ids, tuple(unknown), any(wanted))


def _is_about_index(rest: str, *, forms: bool, dated: bool) -> bool:
    """Return whether the words beside names, forms and periods ask about the index alone."""
    about = find_phrase(rest, "index nouns")
    if about is None and find_phrase(rest, "pointing back") is None:
        if forms:
            about = find_phrase(rest, "clause") or find_phrase(rest, "index forms")
        elif not dated:
            about = find_phrase(rest, "index verbs")
    return about is not None and has_no_other_words(rest, "index words")


def last_full_question(earlier: Sequence[PreviousTurn], workspace: Workspace) -> PreviousTurn | None:
    """Return the question to which talk refers: the last one that was answered or asked in full; None if there is none.

    A refused question qualifies only if it named company and measure itself.
    """
    return next((each for each in reversed(earlier) if _has_usable_question(each, workspace)), None)


def _has_usable_question(each: PreviousTurn, workspace: Workspace) -> bool:
    if each.answer is None or not each.answer.refused:
        return True
    before = _read_previous(each, workspace) if each.whole else None
    return before is not None and bool(before.names and before.query.measures)


def _read_previous(each: PreviousTurn, workspace: Workspace) -> PreviousQuestion | None:
    """Return the parsed question; None if it has no words, is too long or has no reading."""
    question = each.question
    try:
        intent = intent_of_question(question, workspace)
        query = intent.query if intent.query is not None else query_for_question(question, workspace)
    except FinAgentError:
        return None
    periods = () if _counts_from_latest(question) else query.periods
    periods = periods or tuple(map(_as_period, intent.periods or _answered_period(each.answer)))
    query = _with_names(query.model_copy(update={"periods": periods}), question, workspace)
    return PreviousQuestion(question, intent.model_copy(update={"query": query}), query)


def _with_all_companies_named(text: str, conversation: Sequence[PreviousQuestion], workspace: Workspace) -> str | None:
    """Return the text with `all three`, `both` or `all companies` replaced by names; None if they are ambiguous.

    It is unchanged if it has no such words or names companies. `conversation` has the earlier questions, latest last.
    """
    found = find_phrase(text, "everyone")
    if found is None or workspace.directory.mentions(text):
        return text
    words = words_in(found[0].lower())
    count = 2 if "both" in words else sum(map(parse_number, words))
    spoken_of = _companies_discussed(conversation)
    of_them = not {"them", "these", "those"}.isdisjoint(words) and len(spoken_of) > 1
    last = [*conversation[-1].names] if conversation else []
    there = [min(company.names, key=len) for company in workspace.directory.companies]
    sets = (last, spoken_of[-count:], there) if count else (spoken_of if of_them else there,)
    named = next((names for names in sets if not count or len(names) == count), [])
    if not 1 < len(named) <= _MAX_NAMED:
        return None
    rest = text[found.end() :]
    owned = next((mark for mark in ("'s", "’s", "'", "’") if rest.startswith(mark)), "")
    told = join_names([f"{name}'s" if owned else name for name in named])
    preposition = f" {words[-1]}" if words[-1] in ("in", "for") else ""
    return f"{text[: found.start()]}{told}{preposition}{rest.removeprefix(owned)}"


def _companies_discussed(conversation: Sequence[PreviousQuestion]) -> list[str]:
    """Return the companies of the conversation, in the order of their last mention."""
    names: dict[str, str] = {}
    for before in conversation:
        for company in before.intent.companies:
            names.pop(company.key, None)
            spoken = next((name for name in before.names if name.lower() in company.name.lower()), company.name)
            names[company.key] = spoken
    return list(names.values())


_JOINING = frozenset({"AND", "OR", "COMMA", "STOP", "FROM_WORD", "TO", "DASH", "COLON"})
_MEASURES = frozenset({"METRIC", "FORMULA", "PHRASE"})
_TIMES = frozenset({"PERIOD", "YEAR_BEFORE", "NEXT_YEAR", "QUARTER_BEFORE"})
_UNITS = frozenset({"PERCENT", "THOUSANDS", "MILLIONS", "BILLIONS", "BPS", "POINTS", "DAYS_UNIT"})
_AGAINST = frozenset({"VERSUS", "HIGHER", "LOWER", "THAN"})
_REPLACING = _MEASURES | _TIMES | _UNITS | _AGAINST | {"COMPANY", "UNKNOWN", "PART"}
_RANKING = frozenset({"HIGHEST", "LOWEST", "FASTEST", "SLOWEST", "RANK"})
_STEPS = {"YEAR_BEFORE": (-1, 0), "NEXT_YEAR": (1, 0), "QUARTER_BEFORE": (0, -1)}
_CHANGES = ("adding", "only", "without")


@dataclass(frozen=True)
class PreviousQuestion:
    """A complete question of the conversation, parsed."""

    question: str
    intent: Intent
    query: Query
    """Its companies have the names used in the question; its periods are those of the answer if it names none."""

    @property
    def names(self) -> tuple[str, ...]:
        """The companies by their names in the question, followed by those that are not indexed."""
        return (*(one.name for one in self.query.companies), *self.query.unknown_companies)

    @property
    def asks_figures(self) -> bool:
        """Whether figures answer it; unknown for companies that are not indexed."""
        return self.intent.numeric and bool(self.query.measures)


def _counts_from_latest(text: str) -> bool:
    """Return whether periods are told from the latest ones: `over the last three years`, `since 2021`."""
    parsed = parse_periods(text)
    return bool(parsed.trailing_years or parsed.since is not None or parsed.latest)


def _as_period(period: FiscalPeriod) -> Period:
    months = period.months or (3 if period.quarter else 12)
    return Period(fiscal_year=period.fiscal_year, quarter=period.quarter, months=months)


def _answered_period(answer: Answer | None) -> tuple[FiscalPeriod, ...]:
    """Return the last period for which an answer has a figure."""
    entries = answer.ledger if answer is not None else ()
    found = (
        FiscalPeriod(fiscal_year=one.slot.fiscal_year, quarter=one.slot.quarter)
        for one in entries
        if one.figure and one.required
    )
    return tuple(sorted(found, key=lambda period: (period.fiscal_year, period.quarter or 5)))[-1:]


def _with_names(query: Query, text: str, workspace: Workspace) -> Query:
    """Return the query with its companies by the names that a text has for them."""
    called = {one.company.key: text[one.start : one.end] for one in reversed(workspace.directory.mentions(text))}
    companies = tuple(
        one.model_copy(update={"name": called[one.key]}) if one.key in called else one for one in query.companies
    )
    return query.model_copy(update={"companies": companies})


class FollowUp:
    """A message without its opening words, and the question that it may continue."""

    def __init__(self, text: str, before: PreviousQuestion | None, workspace: Workspace, *, opened: bool) -> None:
        """Parse the message; `opened` if it began with joining words (`and`, `what about`)."""
        self._workspace, self._names, self.before, self.opened = workspace, known_names(workspace), before, opened
        self._change = next((kind for kind in _CHANGES if _leads_to_company(text, kind, workspace)), "")
        """How its companies change the previous ones: added, alone or removed."""
        text = without_opening(text, self._change) if self._change else text
        compared = find_phrase(text, "comparing") is not None
        previous = before.query if before is not None else Query(question="")
        self.text = text = _with_year(without_opening(text, "comparing"), previous.periods[-1:])
        first = normalize_text(text).split(" ")[0]
        self.is_clause = first.rstrip(",") in phrases("clause")
        self._is_yes_or_no = finds(text, "yes or no")
        lexed = lex(expand_abbreviations(text), self._names, (), [one.key for one in previous.companies])
        self._counted = _counts_from_latest(text)
        passed = _JOINING | {"OVER", "YEAR_BEFORE"} if self._counted else _JOINING
        self.tokens = [one for one in lexed.tokens if one.type not in passed]
        self.kinds = {one.type for one in self.tokens}
        self.unknown = tuple(dict.fromkeys(lexed.unknown))
        """The companies in the message that are not indexed."""
        named = {one.company.key: Company(key=one.company.key, name=one.company.name) for one in lexed.companies}
        query = Query(question=text, companies=tuple(named.values()))
        self.companies = _with_names(query, text, workspace).companies
        than = self.kinds >= {"HIGHER", "THAN"} or self.kinds >= {"LOWER", "THAN"}
        self._against = compared or than or "VERSUS" in self.kinds
        self._names_company = bool(self.companies or self.unknown)
        self._names_topic = any(one in _MEASURES or one == "PART" or one.startswith("KIND_") for one in self.kinds)
        """Whether it names a subject of filings other than companies and periods."""

    @property
    def is_whole(self) -> bool:
        """Whether it needs no previous question: a clause that names its company."""
        names_measure = bool(self.kinds & _MEASURES)
        if names_measure and find_phrase(self.text, "any company") is not None:
            return True
        refers = any(find_phrase(self.text, kind) is not None for kind in ("theirs", "them", "same time"))
        compares = self._against and not names_measure
        return self.is_clause and self._names_company and not refers and not compares

    @property
    def stands_alone(self) -> bool:
        """Whether it may be asked alone if it continues nothing."""
        if self.is_whole or (self._names_company and self.kinds & _MEASURES):
            return True
        if self.before is not None or (self.opened and not self.is_clause and not self._names_company):
            return False
        return self._names_company or self._names_topic or (self.is_clause and not self.tokens)

    def question(self) -> str:
        """Return the complete question; empty if it cannot be determined."""
        before = self.before
        if before is None or (self._against and not before.asks_figures):
            return ""
        try:
            if ("WHY" in self.kinds and "PHRASE" not in self.kinds) or is_phrase(self.text, "why"):
                return self._ask_reason(before)
            for edited in (self._qualified, self._replaced, self._calculated):
                query = edited(before)
                if query is not None and (question := self._worded(query, before)):
                    return question
            return self._ask_in_words(before)
        except FinAgentError:
            return ""

    def _worded(self, query: Query, before: PreviousQuestion) -> str:
        """Return a wording of `query` that parses as it: a plain one, or that of the previous question, edited."""
        plain = query_to_question(query)
        edited = reword_question(query.model_copy(update={"question": before.question}), self._workspace)
        own_words = not before.asks_figures and query.measures == before.query.measures
        wordings = (edited, plain) if own_words else (plain, edited)
        return next((words for words in wordings if words and self._reads_as(words, query, before)), "")

    def _reads_as(self, words: str, query: Query, before: PreviousQuestion) -> bool:
        intent = intent_of_question(words, self._workspace)
        own = intent.query if intent.query is not None else read_question(words, self._names)
        if before.asks_figures and not (intent.numeric or query.unknown_companies):
            return False
        if query.unit and not before.query.unit and intent.numeric and not unit_fits(query.unit, intent):
            return False
        return _reading_key(own) == _reading_key(query)

    def _qualified(self, before: PreviousQuestion) -> Query | None:
        """Qualify the previous measure: `per share`, `diluted`."""
        line = before.query.measures[0] if len(before.query.measures) == 1 else None
        if not isinstance(line, Line | NamedFormula) or self._names_company or self.kinds & (_TIMES | _UNITS):
            return None
        first = normalize_text(self.text).split(" or ")[0]
        for phrase in (f"{first} {line.words}", f"{line.words} {first}"):
            known = self._workspace.lexicon.mentions(phrase)
            if len(known) == 1 and (known[0].start, known[0].end) == (0, len(phrase)):
                return before.query.model_copy(update={"measures": read_question(phrase, self._names).measures})
        return None

    def _replaced(self, before: PreviousQuestion) -> Query | None:
        """Replace companies, periods, parts, unit or measure of the previous question by those of the message.

        `compare the two` sets the previous figures side by side.
        """
        measures = self.kinds & _MEASURES
        if is_phrase(self.text, "compare them") and len(before.names) > 1:
            compared = {"comparison": Comparison(axis=Axis.COMPANIES), "kind": Kind.COMPARISON}
            return before.query.model_copy(update=compared)
        if not self._only_names(before):
            return None
        read = read_question(self.text, self._names, before.query)
        query = self._with_measures(before.query, read.measures) if measures else before.query
        query = self._with_companies(query) if query and self._names_company else query
        periods = self._periods(query, before) if query else None
        if query is None or periods is None:
            return None
        if self._against and not self._names_company and not measures:
            return _movement(query, periods)
        parts = tuple(str(one.value) for one in self.tokens if one.type == "PART")
        return query.model_copy(
            update={
                "periods": periods,
                "unit": read.unit or (None if measures else query.unit),
                "parts": Parts(names=parts) if parts else query.parts,
            }
        )

    def _only_names(self, before: PreviousQuestion) -> bool:
        """Return whether the message only names what takes the place of something in the previous question."""
        measures = self.kinds & _MEASURES
        if measures and (self.is_clause or "PHRASE" in measures or not before.asks_figures):
            return False
        compares = self.kinds & {"HIGHER", "LOWER", "THAN"} and not self._against
        return bool(self.kinds or self._counted) and not compares and self.kinds <= _REPLACING

    def _with_measures(self, query: Query, found: Sequence[Measure]) -> Query | None:
        """Replace the measure: plainly if alone, in the previous form after joining words (`and revenue?`)."""
        if not found or len(query.measures) > 1:
            return None
        old = query.measures[0] if query.measures else None
        update: dict[str, object] = {"measures": found}
        if isinstance(old, Move) and self.opened and len(found) == 1:
            update = {"measures": (old.model_copy(update={"of": found[0]}),)}
        elif isinstance(old, Move):
            update |= {"kind": Kind.VALUE, "periods": query.periods[-1:]}
        else:
            update["parts"] = None
        return query.model_copy(update=update)

    def _with_companies(self, query: Query) -> Query:
        """Replace, add, remove or compare companies, as the words before them say."""
        there, named = ({one.key: one for one in several} for several in (query.companies, self.companies))
        several = len(query.companies) + len(query.unknown_companies) > 1
        continues = several and self.opened and not there.keys() & named and not self.kinds & _MEASURES
        companies, unknown = self.companies, self.unknown
        if self._change == "without":
            companies = tuple(one for one in query.companies if one.key not in named)
        elif self._against or self._change == "adding" or (continues and not self._change):
            companies = tuple((there | named | there).values())
            unknown = tuple(dict.fromkeys((*query.unknown_companies, *unknown)))
        update: dict[str, object] = {"companies": companies, "unknown_companies": unknown}
        alone = len(companies) + len(unknown) == 1
        if self._against:
            return query.model_copy(update=update | {"comparison": Comparison(axis=Axis.COMPANIES)})
        if alone and query.comparison and query.comparison.axis is Axis.COMPANIES:
            update |= {"comparison": None, "kind": Kind.VALUE}
        parts = None if query.parts and query.parts.names else query.parts
        return query.model_copy(update=update | {"parts": parts})

    def _periods(self, query: Query, before: PreviousQuestion) -> tuple[Period, ...] | None:
        """Return the periods of the message, or the previous ones shifted; None if these do not exist."""
        known = query.periods
        if self._counted:
            undated = before.intent.model_copy(
                update={"periods": (), "dates": (), "query": query.model_copy(update={"periods": ()})}
            )
            counted = intent_of_question(self.text, self._workspace, undated).periods
            return tuple(map(_as_period, counted)) or None
        step = next((_STEPS[one.type] for one in self.tokens if one.type in _STEPS), None)
        if step is not None:
            exist = known and (known[0].quarter or not step[1])
            return tuple(shift_period(one, *step) for one in known) if exist else None
        if "PERIOD" not in self.kinds:
            return known
        named = read_question(self.text, self._names, before.query).periods
        if len(named) == 1 < len(known) and any(isinstance(one, Move) for one in query.measures):
            # `and in 2024?` of a change from year to year
            return tuple(shift_period(one, (named[0].fiscal_year or 0) - (known[-1].fiscal_year or 0)) for one in known)
        return named

    def _calculated(self, before: PreviousQuestion) -> Query | None:
        """Apply the message's own calculation to the previous figures."""
        if not (self.tokens or self._counted) or ("PHRASE" in self.kinds and self._is_yes_or_no):
            return None
        intent = intent_of_question(self.text, self._workspace, before.intent)
        query = intent.query
        if query is None or not intent.numeric or intent.unsupported or query.unread:
            return None
        if _reading_key(query) == _reading_key(before.query):
            return None
        return _with_names(_with_names(query, before.question, self._workspace), self.text, self._workspace)

    def _ask_reason(self, before: PreviousQuestion) -> str:
        """Ask why the measure moved, or whether it did if the figures moved the other way."""
        query = before.query
        own = read_question(self.text, self._names).measures if self.kinds & {"METRIC", "FORMULA"} else ()
        measures = own or query.measures
        if not measures or not (before.asks_figures or query.kind is Kind.REASON):
            return ""
        line = measures[0].of if isinstance(measures[0], Move) else measures[0]
        periods = query.periods[-1:] if isinstance(measures[0], Move) else query.periods
        kinds = set() if is_phrase(self.text, "why") else self.kinds
        said = "increase" if kinds & {"UP", "HIGHER"} else "decrease" if kinds & {"DOWN", "LOWER"} else ""
        went = ""
        if isinstance(line, Line) and line.metric and len(query.companies) == len(periods) == 1:
            went = _direction_of(line.metric, query.companies[0].key, periods[0], self._workspace)
        update = dict.fromkeys(("claim", "unit", "comparison")) | {"measures": (line,), "periods": periods}
        asked = query.model_copy(update=update | {"kind": Kind.REASON})
        question = query_to_question(asked, moved=said or went or "change")
        return question.replace("Why did", "Did", 1) if said and went and said != went else question

    def _ask_in_words(self, before: PreviousQuestion) -> str:
        """Ask a clause in words about the same company."""
        owners = before.names
        if not owners or not self.is_clause or self._names_company or not self._names_topic or self.kinds & _RANKING:
            return ""
        text = self.text
        for kind, told in (("theirs", join_names([possessive(one) for one in owners])), ("them", join_names(owners))):
            if (found := find_phrase(text, kind)) is not None:
                text = f"{text[: found.start()]}{told}{text[found.end() :]}"
        figure = (self._is_yes_or_no or self.kinds & {"METRIC", "FORMULA"}) and not self.kinds & _TIMES
        when = in_periods(before.query.periods) if figure else ""
        whose = f" at {join_names(owners)}" if text == self.text else ""
        return f"{text.rstrip(' ?.!')}{whose} {when}".rstrip() + "?"


def _leads_to_company(text: str, kind: str, workspace: Workspace) -> bool:
    rest = without_opening(text, kind)
    found = workspace.directory.mentions(rest)
    return normalize_text(rest) != normalize_text(text) and bool(found) and found[0].start == 0


def _with_year(text: str, known: Sequence[Period]) -> str:
    """Return a message with the year of the known period behind each quarter without one: `and in Q3?`."""
    parsed = parse_periods(text)
    for quarter in parsed.loose_quarters if known and not parsed.years else ():
        end = text.upper().find(f"Q{quarter}") + 2
        text = f"{text[:end]} FY{known[-1].fiscal_year}{text[end:]}" if end > 1 else text
    return text


def _movement(query: Query, then: tuple[Period, ...]) -> Query | None:
    """Return the change between the previous period and another: `vs 2022`."""
    span, measure = {*query.periods, *then}, query.measures[0]
    alike = len(query.periods) == len(then) == 1 and len({bool(one.quarter) for one in span}) == 1
    if not alike or len(span) < 2 or isinstance(measure, Move):
        return None
    ordered = tuple(sorted(span, key=lambda one: (one.fiscal_year or 0, one.quarter or 0)))
    update = {"measures": (Move(of=measure, how="change"),), "kind": Kind.CHANGE, "periods": ordered}
    return query.model_copy(update=update)


def _reading_key(query: Query) -> object:
    """Return a key that equal readings of a question share, whatever their wording."""
    moves = any(isinstance(one, Move) for one in query.measures)
    periods = set(query.periods[:1] + query.periods[-1:] if moves else query.periods)
    lines = {
        getattr(one, "metric", None) or getattr(one, "formula", None) or one.words.lower()
        for measure in query.measures
        for one in lines_of(measure)
    }
    comparison = query.comparison if query.comparison and query.comparison.how is not Combination.EACH else None
    shares = any(isinstance(one, Operation) for one in query.measures)
    return (
        {one.key for one in query.companies},
        set(query.unknown_companies),
        periods,
        lines,
        moves,
        (comparison.axis, comparison.how) if comparison else None,
        (query.parts.names, query.parts.kind) if query.parts else None,
        query.claim and query.claim.way,
        None if shares and query.unit == "percent" else query.unit,
        shares,
        query.kind is Kind.REASON,
    )


def _direction_of(metric: str, company: str, period: Period, workspace: Workspace) -> str:
    """Return `increase` or `decrease` from the year before, if one statement prints both years; else empty.

    The filing of the period itself comes first.
    """
    year, identities = period.fiscal_year or 0, workspace.directory.identities
    doc_ids = workspace.directory.by_key[company].doc_ids
    spans = [(period.quarter, 0), (period.quarter, 3 if period.quarter else 12)]
    for doc_id in sorted(doc_ids, key=lambda one: (abs((identities[one].fiscal_year or 0) - year), one)):
        stated: dict[int, Decimal] = {}
        for fact in (each.fact for each in workspace.index.facts([doc_id], metrics={metric})):
            whole = fact.statement is not None and fact.scope is None
            if whole and (fact.period.quarter, fact.period.months) in spans:
                stated.setdefault(fact.period.fiscal_year, abs(fact.value) if fact.inverted else fact.value)
        moved = stated[year] - stated[year - 1] if {year, year - 1} <= stated.keys() else 0
        if moved:
            return "increase" if moved > 0 else "decrease"
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
    rest = without_opening(text, kind)
    return rest != text.strip() and not any(map(str.isalnum, without_opening(rest, kind, "filler")))


def mentions_kind(text: str, kind: str) -> bool:
    """Return whether the text names something of this kind, with no other content words than `KIND words`."""
    return find_phrase(text, kind) is not None and has_no_other_words(text, f"{kind} words")


def has_no_other_words(text: str, kind: str) -> bool:
    """Return whether every content word is of this kind."""
    known = stopwords() | phrases(kind) | {""}
    spaced = "".join(mark if mark.isalnum() or mark == "'" else " " for mark in normalize_text(text))
    words = (word.strip("'") for word in spaced.split())
    return all({word, word.removesuffix("n't"), word.split("'")[0]} & known for word in words)


def without_opening(text: str, *kinds: str) -> str:
    """Return the text without leading phrases of these kinds: `And what about 2021?` becomes `2021?`."""
    rest = text.strip()
    while True:
        openings = (found for kind in kinds if (found := find_phrase(rest, kind)) is not None)
        end = next((found.end() for found in openings if not any(map(str.isalnum, rest[: found.start()]))), None)
        if end is None:
            return rest
        rest = rest[end:].lstrip(_EDGES)


def find_phrase(text: str, kind: str) -> re.Match[str] | None:
    """Return the first phrase of this kind in the text, the longest at its position; `what` is not in `what's`."""
    for found in listed(_LISTS, kind).finditer(text):
        if not {text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]} & {"'", "’"}:
            return found
    return None
