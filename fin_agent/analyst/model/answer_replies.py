"""Replies on evidence and answers: curation, programs, reasoning, and the judge of answers in words."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, field_validator

from fin_agent.analyst.model.lenient import (
    Number,
    Numbers,
    PerhapsText,
    Text,
    Words,
    listed,
    nothing_if_blank,
    plain,
    text_of,
)
from fin_agent.analyst.model.reply import Reply
from fin_agent.evidence.intent import OutputUnit


class KeptPassage(Reply):
    """A passage that serves the answer."""

    passage: Number
    """From 1, as numbered in the prompt."""
    reason: Text = ""


class CurationReply(Reply):
    """Which passages are kept, whether they are enough, and what to ask next (HiREC, Algorithm 1)."""

    kept: Annotated[tuple[KeptPassage, ...], BeforeValidator(listed)] = ()
    """The most useful first."""
    missing: Words = ()
    """What the answer still needs, in words."""
    answerable: bool
    complementary_question: PerhapsText = None
    """Null where nothing is missing."""

    @field_validator("kept", mode="before")
    @classmethod
    def _bare_numbers(cls, written: object) -> object:
        """`[3, 1]` for `[{"passage": 3}, {"passage": 1}]`."""
        several = listed(written)
        if not isinstance(several, list):
            return several
        return [each if isinstance(each, dict) else {"passage": each} for each in several]


_FENCED = re.compile(r"\A\s*```(?:python|py)?[ \t]*\n(?P<code>.*?)\n?```\s*\Z", re.S | re.I)


def _code(written: object) -> object:
    """A program without the marks that make it code in Markdown."""
    text = text_of(written)
    found = _FENCED.match(text) if isinstance(text, str) else None
    return text if found is None else found["code"]


class ProgramReply(Reply):
    """A program, or none where the figures do not give the answer."""

    inputs: Numbers = ()
    """Figures that the program uses, by their numbers in the prompt."""
    code: Annotated[str, BeforeValidator(_code)] = ""
    """Python that defines `solution()`; empty for none."""
    unit: Annotated[OutputUnit | None, BeforeValidator(nothing_if_blank)] = None
    """Of the result; null where it is none of the units, as for a text."""
    missing: PerhapsText = None
    """What is not among the figures, where no program is written."""


class QuotedSource(Reply):
    """Words of a passage that bear out a sentence."""

    passage: Number
    quote: Text
    """Letter by letter."""


class CitedSentence(Reply):
    """A step of the reasoning, and what it rests on."""

    text: str
    citations: Annotated[tuple[QuotedSource, ...], BeforeValidator(listed)] = ()


class YesOrNo(StrEnum):
    """The answer of a question that asks whether."""

    YES = "yes"
    NO = "no"
    NONE = "none"
    """The question asks for something else, or cannot be answered."""


class ReasoningReply(Reply):
    """An answer in words, step by step; no answer where the passages do not hold one."""

    sentences: Annotated[tuple[CitedSentence, ...], BeforeValidator(listed)] = ()
    answer: PerhapsText
    """Null where the passages hold none; a reply that says nothing of it is none."""
    verdict: Annotated[YesOrNo, BeforeValidator(plain)] = YesOrNo.NONE

    @field_validator("verdict", mode="before")
    @classmethod
    def _said(cls, written: object) -> object:
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
