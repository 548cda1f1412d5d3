"""What a lexicon entry holds: metrics, formulas, statement names, Items, topics and units."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from fin_agent.vocabulary.page import Statement


def _phrases(entry: object) -> object:
    """`Net sales; Revenues` and a YAML list both give a tuple of phrases; blanks are dropped."""
    if isinstance(entry, str):
        entry = entry.split(";")
    if isinstance(entry, list | tuple):
        return tuple(str(phrase).strip() for phrase in entry if str(phrase).strip())
    return entry


def _statement(entry: object) -> object:
    return None if entry == "other" else entry


Phrases = Annotated[tuple[str, ...], BeforeValidator(_phrases)]
Unit = Literal["USD", "USD per share", "shares", "percent", "ratio", "count", "days"]
Sign = Literal["as printed", "outflow", "expense"]


class Entry(BaseModel):
    """Base of every entry: frozen, and an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")


class Metric(Entry):
    """A figure filers print: how it is labelled, asked for, and where it stands."""

    labels: Phrases = ()
    """Rows as printed. `per-share > Basic` holds only below a heading of that section."""
    words: Phrases = ()
    """Names that questions use and statements do not print: `top line`, `COGS`."""
    patterns: Phrases = ()
    """Regular expressions over the normal form of a label, tried when no label matches."""
    statement: Annotated[Statement | None, BeforeValidator(_statement)] = None
    """The primary statement it belongs to; None (`other`) for figures printed elsewhere."""
    also: Annotated[tuple[Statement, ...], BeforeValidator(_phrases)] = ()
    """Other statements that print the same figure."""
    period: Literal["instant", "duration"] = "duration"
    unit: Unit = "USD"
    sign: Sign = "as printed"
    """`outflow`: printed negative, asked for as a positive amount. `expense`: a cost, printed positive."""
    concepts: Phrases = ()
    """us-gaap element names."""
    derive: str = ""
    """Expression that gives the figure where it is not printed."""
    own_statement_only: bool = False
    """The labels count only on the metric's own statements (`Inventories` on a cash flow statement is a change)."""


class Formula(Entry):
    """A figure that is computed from metrics and other formulas."""

    words: Phrases
    expression: str
    unit: Unit
    meaning: str
    """The definition that the expression follows, in words."""


class StatementNames(Entry):
    """How filings and questions name one primary statement; `id` is the `Statement` value."""

    titles: Phrases
    bare_titles: Phrases = ()
    """Headings without the word statement: they count only where the statement's rows follow."""
    words: Phrases = ()
    rows: Phrases = ()
    """Regular expressions over a page's text in lower case."""
    at_least: int = 3
    """How many of `rows` a page of the statement shows."""

    @property
    def statement(self) -> Statement:
        return Statement(self.id)


class SectionGroup(Entry):
    """Headings that mean the same: `per-share` covers `Earnings per common share:` and its kin."""

    phrases: Phrases
    """A heading belongs to the group when it contains one of these ..."""
    without: Phrases = ()
    """... and none of these."""
    exclusive: bool = False
    """Below such a heading only labels that name the group are recognised."""


class Item(Entry):
    """An Item of a form; `id` is `10-K.1A`, `10-Q.II.1A` or `8-K.5.07`."""

    title: str
    aliases: Phrases = ()

    @property
    def form(self) -> str:
        return self.id.split(".", 1)[0].upper()

    @property
    def number(self) -> str:
        """`1A`, `5.07`; the part of a 10-Q is left out."""
        number = self.id.split(".", 1)[1].upper()
        return number.removeprefix("II.").removeprefix("I.")


class Topic(Entry):
    """A subject that filings tell in words: what asks for it, where it stands, what filings call it."""

    words: Phrases
    items: Phrases
    """Ids of Items, best first."""
    expand: Phrases
    """Terms that filings use for it."""
    tables: Phrases = ()
    """Kinds of tables (`TableKind` values) that show it."""


class Synonym(Entry):
    """Everyday words, and what filings write for them."""

    words: Phrases
    expand: Phrases


class UnitWords(Entry):
    """Words for a scale or a unit: `in millions`, `per share`, `percent`."""

    words: Phrases
    scale: int | None = None
    unit: Unit | None = None
