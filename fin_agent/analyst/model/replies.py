"""The replies of chat models by role: few fields, parsed leniently, with a strict schema where supported."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from fin_agent.evidence.cards.card import ClaimRole, RiskSignal, Use
from fin_agent.evidence.intent import OutputUnit

_NUMBER = re.compile(r"\D*(\d{1,6})\D*")


def listed(written: object) -> object:
    """Return a list as it is, a single value as a list, and null as an empty list."""
    if written is None:
        return ()
    return [written] if isinstance(written, str | int | dict) else written


def plain(written: object) -> object:
    """Normalize `Sets Policy` and `sets_policy` to `sets-policy`."""
    if not isinstance(written, str):
        return written
    return "-".join(written.lower().replace("_", " ").replace("-", " ").split())


def number(written: object) -> object:
    """Return 3 for `3`, `"3"`, `"passage 3"`, `"[3]"`; anything else unchanged."""
    found = _NUMBER.fullmatch(written) if isinstance(written, str) else None
    return written if found is None else int(found[1])


def blank_to_none(written: object) -> object:
    """Return None for what models write in place of null."""
    if isinstance(written, str) and written.strip().lower() in ("", "null", "none", "n/a", "unknown", "not stated"):
        return None
    return written


def text_of(written: object) -> object:
    """Return an empty text for null, and a list of lines joined."""
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


class Reply(BaseModel):
    """A reply of a chat model. Fields are in writing order: reasons before verdicts.

    Additional fields are ignored, and missing ones are empty if the rest determines them.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")


class _Numbered(Reply):
    @model_validator(mode="before")
    @classmethod
    def _bare(cls, written: object) -> object:
        """Accept the first field alone: `3` or `"card 3"` for `{"card": 3}`."""
        return written if isinstance(written, dict | Reply) else {next(iter(cls.model_fields)): written}


class IntentReply(Reply):
    """A question reworded so that rules can parse it."""

    questions: Words = ()
    """Together they are equivalent to the question."""
    search: Text = ""
    """Words that the target page would contain."""
    ask_back: OptionalText = None
    """What to ask the user, if the question has several readings."""


class VerificationReply(Reply):
    """Whether a computed answer is what the question asks for."""

    asked: Text = ""
    """What the question asks for, in the model's words."""
    computed: Text = ""
    """What was computed."""
    difference: OptionalText = None
    """How the computed answer differs from what is asked; null if it does not."""


class QueryReply(Reply):
    """What to search for."""

    query: str
    """On one line, in the words of reports."""
    terms: Words = ()
    """Line items, headings and phrases that the target page would contain."""


class SubQuestionsReply(Reply):
    """Questions that together answer the one asked, each for one figure or one fact."""

    questions: Words
    """The question itself if it cannot be split."""


class CuratedPassage(_Numbered):
    """A passage that serves the answer."""

    passage: Number
    """From 1, as numbered in the prompt."""
    reason: Text = ""


class CurationReply(Reply):
    """The passages to keep, whether they are sufficient, and the next question (HiREC, Algorithm 1)."""

    kept: Annotated[tuple[CuratedPassage, ...], BeforeValidator(listed)] = ()
    """Most useful first."""
    missing: Words = ()
    """What the answer still needs."""
    answerable: bool
    complementary_question: OptionalText = None
    """Null if nothing is missing."""


class QuotedSource(Reply):
    """Words of a passage that support a sentence."""

    passage: Number
    quote: Text
    """Verbatim."""


class CitedSentence(Reply):
    """A step of the reasoning, with its quotes."""

    text: str
    citations: Annotated[tuple[QuotedSource, ...], BeforeValidator(listed)] = ()


class QuotedFigure(Reply):
    """A number within words of a passage, by a name that calculations use."""

    name: Text
    passage: Number
    quote: Text
    """Verbatim."""
    number: Text
    """As printed; negative in brackets or after a minus."""


class Calculation(Reply):
    """Arithmetic over named figures and results before it."""

    name: Text
    expression: Text
    unit: Annotated[OutputUnit | None, BeforeValidator(blank_to_none)] = None
    """Unit of the result."""


class YesOrNo(StrEnum):
    """The answer to a yes-or-no question."""

    YES = "yes"
    NO = "no"
    NONE = "none"
    """The question asks for something else, or cannot be answered."""


class ReasoningReply(Reply):
    """An answer, step by step, with its calculations; no answer if the passages contain none."""

    figures: Annotated[tuple[QuotedFigure, ...], BeforeValidator(listed)] = ()
    calculations: Annotated[tuple[Calculation, ...], BeforeValidator(listed)] = ()
    sentences: Annotated[tuple[CitedSentence, ...], BeforeValidator(listed)] = ()
    answer: OptionalText
    """Null if the passages contain none; a reply without content counts as null."""
    verdict: Annotated[YesOrNo, BeforeValidator(plain)] = YesOrNo.NONE
    assumption: OptionalText = None
    """An assumption about the company, the period or the meaning that the question leaves open."""
    missing: Words = ()
    """What the answer still needs, if there is none."""
    keep: Numbers = ()
    """Passages to read again together with another search's, if there is no answer."""
    complementary_question: OptionalText = None

    @field_validator("verdict", mode="before")
    @classmethod
    def _parse_boolean(cls, written: object) -> object:
        """Accept null, and `true` or `false`."""
        if isinstance(written, bool):
            return "yes" if written else "no"
        return "none" if written is None else written


class Correctness(StrEnum):
    """The verdict on an answer, compared with the reference."""

    CORRECT = "correct"
    WRONG = "wrong"
    NO_ANSWER = "no-answer"
    """The answer states that it cannot tell."""


class TextJudgeReply(Reply):
    """Whether an answer in words agrees with the reference."""

    reason: Text = ""
    verdict: Annotated[Correctness, BeforeValidator(plain)]


class PassagesReply(Reply):
    """The quality of passages and an answer, as in RAGAS; numbers count from 1."""

    useful: Numbers = ()
    """Passages that help to derive the reference."""
    supported: Numbers = ()
    """Statements of the reference that the passages support."""
    questions: Words = ()
    """Questions that the answer would answer."""
    noncommittal: bool = False


class RankedCard(_Numbered):
    """A card by its number in the prompt, and the fields of the question that it meets."""

    card: Number
    fields: Words = ()


class ScoredCard(RankedCard):
    """A card that is chosen from a group."""

    score: float | None = Field(default=None, ge=0, le=100)


class _CardsReply(Reply):
    @model_validator(mode="before")
    @classmethod
    def _bare(cls, written: object) -> object:
        """Accept the list for an object with it as its only field."""
        return dict.fromkeys(cls.model_fields, written) if isinstance(written, list) else written


class GroupReply(_CardsReply):
    """The cards of a group that go on, best first (FinCards, Section 3.4.3)."""

    chosen: Annotated[tuple[ScoredCard, ...], BeforeValidator(listed)]


class ListwiseReply(_CardsReply):
    """All cards of a list, best first (FinCards, Section 3.4.4)."""

    ranking: Annotated[tuple[RankedCard, ...], BeforeValidator(listed)]


class SummaryReply(Reply):
    """A filing's description by its cover (HiREC: documents are searched by such summaries)."""

    company: OptionalText = None
    """As printed."""
    also_named: Words = ()
    form: OptionalText = None
    """`10-K`, `10-Q`, `8-K`, `earnings release`."""
    period: OptionalText = None
    """The reporting period: `fiscal 2023`, `second quarter of fiscal 2023`."""
    period_end: OptionalText = None
    """`2023-06-30`."""
    summary: Text
    """Two or three sentences to search by."""


class TreeNodeReply(Reply):
    """The subject of the chunks below a node of FinGEAR's trees."""

    title: Text
    summary: Text
    questions: Words
    """Questions that the chunks answer."""


class Abstraction(Reply):
    """A model's description of a passage in the fields of a card; omitted fields stay as the rules set them."""

    role: Annotated[ClaimRole, BeforeValidator(plain)]
    uses: Annotated[tuple[Annotated[Use, BeforeValidator(plain)], ...], BeforeValidator(listed)] = ()
    metrics: Words = ()
    """In words."""
    periods: Words = ()
    parts: Words = ()
    consolidated: bool | None = None
    adjusted: bool | None = None
    unaudited: bool | None = None
    risks: Annotated[tuple[Annotated[RiskSignal, BeforeValidator(plain)], ...], BeforeValidator(listed)] = ()
    cues: Words = ()
    sketch: Text = ""
