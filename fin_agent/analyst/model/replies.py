"""What a chat model replies in each role: few fields, read leniently, held to a strict schema where a server can."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from fin_agent.evidence.cards.card import ClaimRole, RiskSignal, Use
from fin_agent.evidence.intent import OutputUnit

_NUMBER = re.compile(r"\D*(\d{1,6})\D*")


def listed(written: object) -> object:
    """One alone is a list of one; null is an empty list."""
    if written is None:
        return ()
    return [written] if isinstance(written, str | int | dict) else written


def plain(written: object) -> object:
    """`Sets Policy`, `sets_policy` for `sets-policy`."""
    if not isinstance(written, str):
        return written
    return "-".join(written.lower().replace("_", " ").replace("-", " ").split())


def number(written: object) -> object:
    """3 for `3`, `"3"`, `"passage 3"`, `"[3]"`; anything else as it is."""
    found = _NUMBER.fullmatch(written) if isinstance(written, str) else None
    return written if found is None else int(found[1])


def blank_to_none(written: object) -> object:
    """None for what models write in place of null."""
    if isinstance(written, str) and written.strip().lower() in ("", "null", "none", "n/a", "unknown", "not stated"):
        return None
    return written


def text_of(written: object) -> object:
    """An empty text for null; lines joined where a list of them is given."""
    if written is None:
        return ""
    if isinstance(written, list) and all(isinstance(line, str) for line in written):
        return "\n".join(written)
    return written


Text = Annotated[str, BeforeValidator(text_of)]
Words = Annotated[tuple[str, ...], BeforeValidator(listed)]
Number = Annotated[int, Field(strict=True), BeforeValidator(number)]
Numbers = Annotated[tuple[Number, ...], BeforeValidator(listed)]
OptionalText = Annotated[str | None, BeforeValidator(blank_to_none)]
OptionalNumber = Annotated[Number | None, BeforeValidator(blank_to_none)]


class Reply(BaseModel):
    """A reply of a chat model. Fields stand in the order in which they are best written: reasons before verdicts.

    What a model adds is left out, and what it forgets is empty where that can be told from the rest.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")


class IntentReply(Reply):
    """A question in words that rules read."""

    questions: Words = ()
    """Together they ask what is asked."""
    search: Text = ""
    """Words that the page sought would print."""
    ask_back: OptionalText = None
    """What to ask the person, where the question can be meant in several ways."""


class QueryReply(Reply):
    """What to search for."""

    query: str
    """On one line, in the words that reports use."""
    terms: Words = ()
    """Line items, headings and phrases that the page sought would print."""


class SubQuestionsReply(Reply):
    """Questions that together answer the one asked, each for one figure or one fact."""

    questions: Words
    """The question itself where it cannot be taken apart."""


class CuratedPassage(Reply):
    """A passage that serves the answer."""

    passage: Number
    """From 1, as numbered in the prompt."""
    reason: Text = ""


class CurationReply(Reply):
    """Which passages are kept, whether they are enough, and what to ask next (HiREC, Algorithm 1)."""

    kept: Annotated[tuple[CuratedPassage, ...], BeforeValidator(listed)] = ()
    """The most useful first."""
    missing: Words = ()
    """What the answer still needs, in words."""
    answerable: bool
    complementary_question: OptionalText = None
    """Null where nothing is missing."""

    @field_validator("kept", mode="before")
    @classmethod
    def _bare_numbers(cls, written: object) -> object:
        """`[3, 1]` for `[{"passage": 3}, {"passage": 1}]`."""
        several = listed(written)
        if not isinstance(several, list):
            return several
        return [each if isinstance(each, dict) else {"passage": each} for each in several]


class QuotedSource(Reply):
    """Words of a passage that bear out a sentence."""

    passage: Number
    quote: Text
    """Letter by letter."""


class CitedSentence(Reply):
    """A step of the reasoning, and what it rests on."""

    text: str
    citations: Annotated[tuple[QuotedSource, ...], BeforeValidator(listed)] = ()


class QuotedFigure(Reply):
    """A number within words of a passage, by a name that calculations use."""

    name: Text
    passage: Number
    quote: Text
    """Letter by letter."""
    number: Text
    """As printed, below zero in brackets or behind a minus."""


class Calculation(Reply):
    """Arithmetic over named figures and results before it."""

    name: Text
    expression: Text
    unit: Annotated[OutputUnit | None, BeforeValidator(blank_to_none)] = None
    """Of the result."""


class YesOrNo(StrEnum):
    """The answer of a question that asks whether."""

    YES = "yes"
    NO = "no"
    NONE = "none"
    """The question asks for something else, or cannot be answered."""


class ReasoningReply(Reply):
    """An answer, step by step, with what it calculates; no answer where the passages do not hold one."""

    figures: Annotated[tuple[QuotedFigure, ...], BeforeValidator(listed)] = ()
    calculations: Annotated[tuple[Calculation, ...], BeforeValidator(listed)] = ()
    sentences: Annotated[tuple[CitedSentence, ...], BeforeValidator(listed)] = ()
    answer: OptionalText
    """Null where the passages hold none; a reply that says nothing of it is none."""
    verdict: Annotated[YesOrNo, BeforeValidator(plain)] = YesOrNo.NONE
    assumption: OptionalText = None
    """What was taken for granted where the question leaves open whom, when or what it means."""
    missing: Words = ()
    """What the answer still needs, in words, where there is none."""
    keep: Numbers = ()
    """Passages to be read again with what a further search brings, where there is no answer."""
    complementary_question: OptionalText = None

    @field_validator("verdict", mode="before")
    @classmethod
    def _parse_boolean(cls, written: object) -> object:
        """Null, and `true` or `false` as models write them."""
        if isinstance(written, bool):
            return "yes" if written else "no"
        return "none" if written is None else written


class Correctness(StrEnum):
    """What an answer is worth beside the reference."""

    CORRECT = "correct"
    WRONG = "wrong"
    NO_ANSWER = "no-answer"
    """It says that it cannot tell."""


class TextJudgeReply(Reply):
    """Whether an answer in words says what the reference says."""

    reason: Text = ""
    verdict: Annotated[Correctness, BeforeValidator(plain)]


class PassagesReply(Reply):
    """What passages and an answer are worth, as RAGAS asks for it; numbers count from 1."""

    useful: Numbers = ()
    """Passages that help to arrive at the reference."""
    supported: Numbers = ()
    """Statements of the reference that the passages state."""
    questions: Words = ()
    """What the answer would answer."""
    noncommittal: bool = False


_NUMBERED = ("card", "number", "id")
_WRAPPED = ("ranking", "chosen", "cards", "order")


def _parse_names(written: object) -> object:
    """Words of a list, whatever else a model put into it."""
    several = listed(written)
    return [each for each in several if isinstance(each, str)] if isinstance(several, list) else ()


def _parse_score(written: object) -> object:
    """A score as far as it is a number; one out of bounds is what is nearest."""
    return max(0.0, min(100.0, float(written))) if isinstance(written, int | float) else None


class RankedCard(Reply):
    """A card by its number in the prompt, and the fields of the question that it meets."""

    card: Number
    fields: Annotated[tuple[str, ...], BeforeValidator(_parse_names)] = Field(default=())

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, written: object) -> object:
        """`3`, `"card 3"`, `{"number": "3"}` for `{"card": 3}`."""
        if not isinstance(written, dict):
            return written if isinstance(written, RankedCard) else {"card": written}
        number = next((written[name] for name in _NUMBERED if name in written), None)
        return {**written, "card": number}


class ScoredCard(RankedCard):
    """A card that is chosen from a group."""

    score: Annotated[float | None, BeforeValidator(_parse_score)] = None
    """0 to 100."""


CardT = TypeVar("CardT", bound=RankedCard)


def _deduplicate(cards: tuple[CardT, ...]) -> tuple[CardT, ...]:
    first: dict[int, CardT] = {}
    for card in cards:
        first.setdefault(card.card, card)
    return tuple(first.values())


Cards = Annotated[tuple[RankedCard, ...], BeforeValidator(listed), AfterValidator(_deduplicate)]
ScoredCards = Annotated[tuple[ScoredCard, ...], BeforeValidator(listed), AfterValidator(_deduplicate)]


def _unwrap_list(written: object, name: str) -> object:
    """A list alone, or under another of the names that models give it."""
    if isinstance(written, list):
        return {name: written}
    if isinstance(written, dict) and name not in written:
        return next(({**written, name: written[other]} for other in _WRAPPED if other in written), written)
    return written


class GroupReply(Reply):
    """The cards of a group that go on, best first (FinCards, Section 3.4.3)."""

    chosen: ScoredCards

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, written: object) -> object:
        return _unwrap_list(written, "chosen")


class ListwiseReply(Reply):
    """All cards of a list, best first (FinCards, Section 3.4.4)."""

    ranking: Cards

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, written: object) -> object:
        return _unwrap_list(written, "ranking")


class SummaryReply(Reply):
    """What a filing is, as its cover says it (HiREC: documents are searched by such summaries)."""

    company: OptionalText = None
    """As printed."""
    also_named: Words = ()
    form: OptionalText = None
    """`10-K`, `10-Q`, `8-K`, `earnings release`."""
    period: OptionalText = None
    """What it reports on: `fiscal 2023`, `second quarter of fiscal 2023`."""
    period_end: OptionalText = None
    """`2023-06-30`."""
    summary: Text
    """Two or three sentences to search by."""


class TreeNodeReply(Reply):
    """What the chunks below a node of FinGEAR's trees are about."""

    title: Text
    summary: Text
    questions: Words
    """That the chunks answer."""


def _all_plain(written: object) -> object:
    several = [written] if isinstance(written, str) else written
    return [plain(each) for each in several] if isinstance(several, list) else several


def _wrap_single(written: object) -> object:
    return [written] if isinstance(written, str) else written


OptionalWords = Annotated[tuple[str, ...] | None, BeforeValidator(_wrap_single)]


class Abstraction(Reply):
    """What a model says of a passage, in the fields of a card; what it leaves out stays as the rules have it."""

    role: Annotated[ClaimRole, BeforeValidator(plain)]
    uses: Annotated[tuple[Use, ...] | None, BeforeValidator(_all_plain)] = None
    metrics: OptionalWords = None
    """In words."""
    periods: OptionalWords = None
    parts: OptionalWords = None
    consolidated: bool | None = None
    adjusted: bool | None = None
    unaudited: bool | None = None
    risks: Annotated[tuple[RiskSignal, ...] | None, BeforeValidator(_all_plain)] = None
    cues: OptionalWords = None
    sketch: Text = ""


REPLIES: Mapping[str, type[BaseModel]] = {
    reply.__name__: reply
    for reply in (
        Abstraction,
        CurationReply,
        GroupReply,
        IntentReply,
        ListwiseReply,
        PassagesReply,
        QueryReply,
        ReasoningReply,
        SubQuestionsReply,
        SummaryReply,
        TextJudgeReply,
        TreeNodeReply,
    )
}
"""Name of an output, as the heads of prompts give it -> its type."""
