"""What tools hand to code beside what a model reads: typed, whole, and the same for the same call."""

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
        """As a viewer counts, from 1."""
        return self.page + 1


class FilingListed(Artifact):
    """Who, what and when a filing is."""

    doc_id: str
    company: str
    ticker: str | None
    form: Form
    fiscal_year: int | None
    """By the filer's own naming."""
    quarter: int | None
    period_end: date | None
    filed: date | None
    pages: int

    @classmethod
    def of(cls, record: FilingRecord | FilingEntry) -> FilingListed:
        """A filing of the index."""
        named = ("company", "ticker", "form", "fiscal_year", "quarter", "period_end", "filed")
        of_identity: dict[str, Any] = {name: getattr(record.identity, name) for name in named}
        return cls(doc_id=record.doc_id, pages=record.page_count, **of_identity)

    @property
    def described(self) -> str:
        """`Acme Corp. (ACM), 10-K, FY2023`."""
        period = f"FY{self.fiscal_year}" if self.fiscal_year else f"{self.period_end or 'no period'}"
        period = f"Q{self.quarter} {period}" if self.quarter else period
        ticker = f" ({self.ticker})" if self.ticker else ""
        return f"{self.company}{ticker}, {self.form.value}, {period}"


class FilingFound(FilingListed):
    """A filing found, and how well it fits; scores compare within one search only."""

    score: float


class DocumentsFound(Artifact):
    """Of `document_search`, best first."""

    query: str
    filings: tuple[FilingFound, ...]
    notes: tuple[str, ...] = ()
    """What is asked for and cannot be there."""


class PageFound(_OnPage):
    """A page found, and what on it fits best."""

    filing: FilingListed
    score: float
    title: str
    item: str | None
    statement: Statement | None
    text: str
    """Of the passage that fits best."""
    kind: PassageKind
    box: BoxSides | None
    """Of that passage, in points from the top left; of tables only."""


class PagesFound(Artifact):
    """Of `page_search`, best first."""

    query: str
    pages: tuple[PageFound, ...]
    notes: tuple[str, ...] = ()


class FactFound(_OnPage):
    """A figure of a table or a sentence, its address, and how far it is what was looked for."""

    doc_id: str
    company: str
    label: str
    section: tuple[str, ...]
    """Headings above the row, outermost first."""
    column: str
    part: str | None
    """The segment, product, region ... as printed or tagged; None for the whole company."""
    amount: Decimal
    """As printed, in units of `scale`."""
    scale: int
    unit: str
    source: str
    """`table`, `label`, `ixbrl` or `text`: an amount in a sentence, whose label is the clause."""
    fiscal_year: int
    """0 where the sentence names no time."""
    quarter: int | None
    months: int
    """0 for a balance."""
    statement: Statement | None
    concept: str | None
    """Of its tag in inline XBRL."""
    proved: bool
    """Whether a sum of its table bears it out."""
    score: float
    """About 1 where the line is called as the phrase says; compares within one search only."""
    missing: tuple[str, ...] = ()
    """Words of the phrase that nothing around the figure bears out."""
    extra: tuple[str, ...] = ()
    """Words of its line that the phrase does not have."""

    @classmethod
    def of(cls, hit: FactHit, company: str) -> FactFound:
        """A hit of fact search."""
        fact = hit.sourced.fact
        return cls(
            doc_id=hit.sourced.doc_id,
            company=company,
            page=fact.page,
            label=fact.label,
            section=fact.section,
            column=fact.column,
            part=fact.scope,
            amount=fact.amount,
            scale=fact.scale,
            unit=fact.unit,
            source=fact.source,
            fiscal_year=fact.period.fiscal_year,
            quarter=fact.period.quarter,
            months=fact.period.months,
            statement=fact.statement,
            concept=fact.tag.concept if fact.tag else None,
            proved=fact.proved,
            score=round(hit.score, 3),
            missing=hit.missing,
            extra=hit.extra,
        )


class FactsListed(Artifact):
    """Of `fact_search`, best first; of `each` part, in the order in which they are printed."""

    phrase: str
    facts: tuple[FactFound, ...]
    sure: bool
    """Whether the first is what was looked for: all words borne out, and nothing as near says something else."""
    rivals: int = 0
    """How many of the first ones fit alike and say different things."""
    kind: str | None = None
    """What the parts divide the company by, where each part was asked for."""
    total: FactFound | None = None
    """The whole that the parts are of."""
    dropped: tuple[tuple[str, str], ...] = ()
    """(name, why it is no part): totals, subtotals, eliminations."""

    def to_dataframe(self) -> pandas.DataFrame:
        """A figure a row, `value` in base units beside `amount` as printed (extra `pandas`). Raises QuestionError."""
        return data_frame(
            [
                {**fact.model_dump(), "amount": float(fact.amount), "value": float(fact.amount * fact.scale)}
                for fact in self.facts
            ]
        )


class PageRead(_OnPage):
    """A page as read."""

    doc_id: str
    title: str
    item: str | None
    statement: Statement | None
    text: str


class PagesRead(Artifact):
    """Of `read_page`: the pages asked for, in that order."""

    filing: FilingListed
    pages: tuple[PageRead, ...]


class CardsMade(Artifact):
    """Of `card_extraction`, in the order of the pages."""

    filing: FilingListed
    cards: tuple[Card, ...]


class FilingsListed(Artifact):
    """Of `list_filings`, by company, then time."""

    filings: tuple[FilingListed, ...]
    total: int
    """How many there are, listed or not."""


class NumberAccounted(Artifact):
    """A number of a program and where it comes from."""

    literal: str
    line: int
    variable: str | None
    source: str | None
    """`fact`, `question` or `constant`; None where nothing accounts for it."""
    said: str
    """Which figure it is, or why nothing accounts for it."""
    doc_id: str | None = None
    page: int | None = None
    """0-based."""


class ProgramRun(Artifact):
    """Of `python_execution`."""

    value: ProgramValue
    checked: bool
    """Whether its numbers were held against pages of filings."""
    numbers: tuple[NumberAccounted, ...] = ()

    @property
    def without_source(self) -> tuple[NumberAccounted, ...]:
        """Numbers that nothing accounts for."""
        return tuple(number for number in self.numbers if number.source is None)

    @property
    def sourced(self) -> bool:
        """Whether every number was checked and accounted for."""
        return self.checked and not self.without_source
