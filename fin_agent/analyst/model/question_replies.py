"""Replies on a question: what it asks, what to search for, what it is made of."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, field_validator

from fin_agent.analyst.model.lenient import PerhapsNumber, PerhapsText, Text, Words, nothing_if_blank, plain
from fin_agent.analyst.model.reply import Reply
from fin_agent.evidence.cards.card import Use
from fin_agent.evidence.intent import Comparison, OutputUnit, Relation


class IntentReply(Reply):
    """What a question asks, in the fields of an intent that a model may fill."""

    core: Text = ""
    """The question without its instructions on form and its definitions."""
    companies: Words = ()
    """As the question names them."""
    periods: Words = ()
    """`FY2023`, `Q2 FY2023`."""
    measure: Text = ""
    """In words."""
    expression: PerhapsText = None
    """Over ids of metrics, in the grammar of `evidence.expressions`; null where words are asked for."""
    relation: Annotated[Relation, BeforeValidator(plain)]
    comparison: Annotated[Comparison, BeforeValidator(plain)] = Comparison.NONE
    parts: Words = ()
    """Segments, products, regions that the figures are narrowed to."""
    use: Annotated[Use, BeforeValidator(plain)] = Use.LOOKUP
    unit: Annotated[OutputUnit | None, BeforeValidator(nothing_if_blank)] = None
    decimals: PerhapsNumber = None
    asks_figure: bool = False

    @field_validator("comparison", mode="before")
    @classmethod
    def _compared(cls, written: object) -> object:
        return "none" if written is None else written


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
