"""Typed results of the tools for code, complete and deterministic, next to the text for models."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pydantic import computed_field

from fin_agent.answering.answer import Artifact, data_frame
from fin_agent.answering.sandbox import ProgramValue
from fin_agent.evidence.cards.card import Card
from fin_agent.index.protocol import FilingEntry, FilingRecord
from fin_agent.retrieval.fact_search import FactHit
from fin_agent.vocabulary.filing import PassageKind
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import Statement

if TYPE_CHECKING:
    import pandas

BoxSides = tuple[float, float, float, float]


class _OnPage(Artifact):
    page: int
    """0-based, as in an Answer."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def page_number(self) -> int:
        """The page number that a viewer shows, from 1."""
        return self.page + 1


class FilingListed(Artifact):
    """A filing: company, form, period and size."""

    doc_id: str
    company: str
    ticker: str | None
    form: Form
    fiscal_year: int | None
    """In the filer's own numbering."""
    quarter: int | None
    period_end: date | None
    filed: date | None
    pages: int

    @classmethod
    def of(cls, record: FilingRecord | FilingEntry) -> FilingListed:
        """Return the description of a filing of the index."""
        named = ("company", "ticker", "form", "fiscal_year", "quarter", "period_end", "filed")
        of_identity: dict[str, Any] = {name: getattr(record.identity, name) for name in named}
        return cls(doc_id=record.doc_id, pages=record.page_count, **of_identity)

    @property
    def described(self) -> str:
        """One line such as `Acme Corp. (ACM), 10-K, FY2023`."""
        period = f"FY{self.fiscal_year}" if self.fiscal_year else f"{self.period_end or 'no period'}"
        period = f"Q{self.quarter} {period}" if self.quarter else period
        ticker = f" ({self.ticker})" if self.ticker else ""
        return f"{self.company}{ticker}, {self.form.value}, {period}"


class FilingFound(FilingListed):
    """A filing with its score; scores are comparable within one search only."""

    score: float


class DocumentsFound(Artifact):
    """Result of `document_search`, best first."""

    query: str
    filings: tuple[FilingFound, ...]
    notes: tuple[str, ...] = ()
    """Requirements of the query that no indexed filing can meet."""


class PageFound(_OnPage):
    """A page with its score and its best passage."""

    filing: FilingListed
    score: float
    title: str
    item: str | None
    statement: Statement | None
    text: str
    """Text of the best passage."""
    kind: PassageKind
    box: BoxSides | None
    """Box of that passage in points from the top left; tables only."""


class PagesFound(Artifact):
    """Result of `page_search`, best first."""

    query: str
    pages: tuple[PageFound, ...]
    notes: tuple[str, ...] = ()


class FactFound(_OnPage):
    """A figure of a table or sentence, with its location and its match with the phrase."""

    doc_id: str
    company: str
    label: str
    section: tuple[str, ...]
    """Headings above the row, outermost first."""
    column: str
    part: str | None
    """The segment, product or region as printed or tagged; None for the whole company."""
    amount: Decimal
    """As printed, in units of `scale`."""
    scale: int
    unit: str
    source: str
    """`table`, `label`, `ixbrl` or `text`; for `text`, an amount in a sentence, the label is its clause."""
    fiscal_year: int
    """0 if the sentence states no time."""
    quarter: int | None
    months: int
    """Duration in months; 0 for a balance."""
    statement: Statement | None
    concept: str | None
    """Its inline XBRL concept."""
    proved: bool
    """Whether the figure is confirmed by a sum in its table."""
    score: float
    """About 1 for an exact match of the line; comparable within one search only."""
    missing: tuple[str, ...] = ()
    """Words of the phrase that neither the figure nor its context contains."""
    extra: tuple[str, ...] = ()
    """Words of the line that the phrase lacks."""

    @classmethod
    def of(cls, hit: FactHit, company: str) -> FactFound:
        """Build from a hit of fact search."""
        fact = hit.sourced.fact
        named = ("page", "label", "section", "column", "amount", "scale", "unit", "source", "statement", "proved")
        of_fact: dict[str, Any] = {name: getattr(fact, name) for name in named}
        return cls(
            doc_id=hit.sourced.doc_id,
            company=company,
            part=fact.scope,
            fiscal_year=fact.period.fiscal_year,
            quarter=fact.period.quarter,
            months=fact.period.months,
            concept=fact.tag.concept if fact.tag else None,
            score=round(hit.score, 3),
            missing=hit.missing,
            extra=hit.extra,
            **of_fact,
        )


class FactsListed(Artifact):
    """Result of `fact_search`, best first; with `each`, the parts in printed order."""

    phrase: str
    facts: tuple[FactFound, ...]
    sure: bool
    """Whether the first figure is the one meant: all words match and no near match contradicts it."""
    rivals: int = 0
    """How many of the first figures match equally well but are different figures."""
    kind: str | None = None
    """The kind of the parts, if each part was requested."""
    total: FactFound | None = None
    """The total of the parts."""
    dropped: tuple[tuple[str, str], ...] = ()
    """(name, reason) of rows that are no parts: totals, subtotals, eliminations."""

    def to_dataframe(self) -> pandas.DataFrame:
        """Return the figures as a frame, one row each (extra `pandas`).

        Returns:
            Columns are the fields of `FactFound`; `amount` is as printed, `value` is in base units.

        Raises:
            QuestionError: pandas is not installed.
        """
        return data_frame(
            [
                {**fact.model_dump(), "amount": float(fact.amount), "value": float(fact.amount * fact.scale)}
                for fact in self.facts
            ]
        )


class PageRead(_OnPage):
    """The text of one page."""

    doc_id: str
    title: str
    item: str | None
    statement: Statement | None
    text: str


class PagesRead(Artifact):
    """Result of `read_page`: the requested pages in the requested order."""

    filing: FilingListed
    pages: tuple[PageRead, ...]


class CardsMade(Artifact):
    """Result of `card_extraction`, in page order."""

    filing: FilingListed
    cards: tuple[Card, ...]


class FilingsListed(Artifact):
    """Result of `list_filings`, by company, then time."""

    filings: tuple[FilingListed, ...]
    total: int
    """Number of matching filings, including those not listed."""


class NumberAccounted(Artifact):
    """A number of a program with its source."""

    literal: str
    line: int
    variable: str | None
    source: str | None
    """`fact`, `question` or `constant`; None if no source was found."""
    said: str
    """The figure it matches, or why no source was found."""
    doc_id: str | None = None
    page: int | None = None
    """0-based."""


class ProgramRun(Artifact):
    """Result of `python_execution`."""

    value: ProgramValue
    checked: bool
    """Whether its numbers were checked against pages or a question."""
    numbers: tuple[NumberAccounted, ...] = ()

    @property
    def without_source(self) -> tuple[NumberAccounted, ...]:
        """Numbers without a source."""
        return tuple(number for number in self.numbers if number.source is None)

    @property
    def sourced(self) -> bool:
        """Whether every number was checked and has a source."""
        return self.checked and not self.without_source
