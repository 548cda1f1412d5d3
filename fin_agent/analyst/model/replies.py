"""The replies of chat models by role: few fields, parsed leniently, with a strict schema where supported.

Fields are in writing order: reasons before verdicts. Additional fields are ignored, and missing ones are empty if the
rest determines them. Passages, cards and statements are numbered from 1, as in the prompts.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from fin_agent.evidence.cards.card import ClaimRole, RiskSignal, Use
from fin_agent.evidence.intent import OutputUnit

_NUMBER = re.compile(r"\D*(\d{1,6})\D*")
T = TypeVar("T")


def _listed(written: object) -> object:
    """Return a list as it is, a single value as a list, and null as an empty list."""
    if written is None:
        return ()
    return [written] if isinstance(written, str | int | dict) else written


def _plain(written: object) -> object:
    """Normalize `Sets Policy` and `sets_policy` to `sets-policy`, and yes, no and null."""
    if written is None or isinstance(written, bool):
        return {None: "none", True: "yes", False: "no"}[written]
    if not isinstance(written, str):
        return written
    return "-".join(written.lower().replace("_", " ").replace("-", " ").split())


def _number(written: object) -> object:
    """Return 3 for `3`, `"3"`, `"passage 3"`, `"[3]"`; anything else unchanged."""
    found = _NUMBER.fullmatch(written) if isinstance(written, str) else None
    return written if found is None else int(found[1])


def _blank_to_none(written: object) -> object:
    """Return None for what models write in place of null."""
    blanks = ("", "null", "none", "n/a", "unknown", "not stated")
    return None if isinstance(written, str) and written.strip().lower() in blanks else written


def _text(written: object) -> object:
    """Return an empty text for null, and a list of lines joined."""
    if isinstance(written, list) and all(isinstance(line, str) for line in written):
        return "\n".join(written)
    return "" if written is None else written


Many = Annotated[tuple[T, ...], BeforeValidator(_listed)]
Text = Annotated[str, BeforeValidator(_text)]
Words = Many[str]
Number = Annotated[int, Field(strict=True), BeforeValidator(_number)]
Numbers = Many[Number]
OptionalText = Annotated[str | None, BeforeValidator(_blank_to_none)]


class Reply(BaseModel):
    """A reply of a chat model."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _BareReply(Reply):
    @model_validator(mode="before")
    @classmethod
    def _bare(cls, written: object) -> object:
        """Accept the first field alone: `3` or `"card 3"` for `{"card": 3}`, a list for an object that contains it."""
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
    computed: Text = ""
    difference: OptionalText = None
    """How the computed answer differs from what is asked; null if it does not."""


class QueryReply(Reply):
    """What to search for, in the words of reports."""

    query: str
    terms: Words = ()
    """Line items, headings and phrases that the target page would contain."""


class SubQuestionsReply(Reply):
    """Questions that together answer the one asked, each for one figure or fact; the question if it cannot be split."""

    questions: Words


class CuratedPassage(_BareReply):
    """A passage that serves the answer."""

    passage: Number
    reason: Text = ""


class CurationReply(Reply):
    """The passages to keep, best first, whether they are sufficient, and the next question (HiREC, Algorithm 1)."""

    kept: Many[CuratedPassage] = ()
    missing: Words = ()
    answerable: bool
    complementary_question: OptionalText = None
    """Null if nothing is missing."""


class QuotedSource(Reply):
    """Words of a passage, verbatim, that support a sentence."""

    passage: Number
    quote: Text


class CitedSentence(Reply):
    """A step of the reasoning, with its quotes."""

    text: str
    citations: Many[QuotedSource] = ()


class QuotedFigure(Reply):
    """A number within words of a passage, by a name that calculations use."""

    name: Text
    passage: Number
    quote: Text
    number: Text
    """As printed; negative in brackets or after a minus."""


class Calculation(Reply):
    """Arithmetic over named figures and results before it, and the unit of its result."""

    name: Text
    expression: Text
    unit: Annotated[OutputUnit | None, BeforeValidator(_blank_to_none)] = None


class ReasoningReply(Reply):
    """An answer, step by step, with its calculations; no answer if the passages contain none."""

    figures: Many[QuotedFigure] = ()
    calculations: Many[Calculation] = ()
    sentences: Many[CitedSentence] = ()
    answer: OptionalText
    """Null if the passages contain none; a reply without content counts as null."""
    verdict: Annotated[Literal["yes", "no", "none"], BeforeValidator(_plain)] = "none"
    """The answer to a yes-or-no question; none if something else is asked, or it cannot be answered."""
    assumption: OptionalText = None
    """An assumption about the company, the period or the meaning that the question leaves open."""
    missing: Words = ()
    """What the answer still needs, if there is none."""
    keep: Numbers = ()
    """Passages to read again together with another search's, if there is no answer."""
    complementary_question: OptionalText = None


class Correctness(StrEnum):
    """The verdict on an answer, compared with the reference."""

    CORRECT = "correct"
    WRONG = "wrong"
    NO_ANSWER = "no-answer"
    """The answer states that it cannot tell."""


class TextJudgeReply(Reply):
    """Whether an answer in words agrees with the reference."""

    reason: Text = ""
    verdict: Annotated[Correctness, BeforeValidator(_plain)]


class PassagesReply(Reply):
    """The quality of passages and an answer, as in RAGAS."""

    useful: Numbers = ()
    """Passages that help to derive the reference."""
    supported: Numbers = ()
    """Statements of the reference that the passages support."""
    questions: Words = ()
    """Questions that the answer would answer."""
    noncommittal: bool = False


class RankedCard(_BareReply):
    """A card by its number in the prompt, and the fields of the question that it meets."""

    card: Number
    fields: Words = ()


class ScoredCard(RankedCard):
    """A card that is chosen from a group."""

    score: float | None = Field(default=None, ge=0, le=100)


class GroupReply(_BareReply):
    """The cards of a group that go on, best first (FinCards, Section 3.4.3)."""

    chosen: Many[ScoredCard]


class ListwiseReply(_BareReply):
    """All cards of a list, best first (FinCards, Section 3.4.4)."""

    ranking: Many[RankedCard]


class SummaryReply(Reply):
    """A filing's description by its cover, as printed (HiREC: documents are searched by such summaries)."""

    company: OptionalText = None
    also_named: Words = ()
    summary: Text
    """Two or three sentences to search by."""


class TreeNodeReply(Reply):
    """The subject of the chunks below a node of FinGEAR's trees, and questions that they answer."""

    title: Text
    summary: Text
    questions: Words


class Abstraction(Reply):
    """A model's description of a passage in the fields of a card; omitted fields stay as the rules set them."""

    role: Annotated[ClaimRole, BeforeValidator(_plain)]
    uses: Many[Annotated[Use, BeforeValidator(_plain)]] = ()
    metrics: Words = ()
    periods: Words = ()
    parts: Words = ()
    consolidated: bool | None = None
    adjusted: bool | None = None
    unaudited: bool | None = None
    risks: Many[Annotated[RiskSignal, BeforeValidator(_plain)]] = ()
    cues: Words = ()
    sketch: Text = ""
