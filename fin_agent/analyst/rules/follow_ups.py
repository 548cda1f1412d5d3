"""Classify a message in a conversation: a complete question, a follow-up, or neither."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

from pydantic import BaseModel

from fin_agent.analyst.rules.context_carryover import (
    FollowUp,
    PreviousQuestion,
    consists_of,
    find_phrase,
    has_no_other_words,
    is_phrase,
    mentions_kind,
    normalize_text,
    phrases,
    without_opening,
)
from fin_agent.analyst.rules.period_resolution import requested_periods
from fin_agent.analyst.rules.query_to_text import join_names
from fin_agent.analyst.rules.words_to_intent import (
    MAX_QUESTION_LENGTH,
    form_spans,
    mask_with_possessive,
    period_spans,
    understood_spans,
)
from fin_agent.answering.answer import Answer
from fin_agent.errors import FinAgentError
from fin_agent.lexicon.periods import parse_number
from fin_agent.lexicon.text_normalization import places_of, words_in
from fin_agent.lexicon.words import listed
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
    """Return the parsed question; None if it has no reading."""
    try:
        return PreviousQuestion.of(each.question, workspace, each.answer)
    except FinAgentError:
        return None


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
