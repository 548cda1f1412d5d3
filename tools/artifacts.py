"""What tools hand to code beside what a model reads: typed, whole, and the same for the same call."""

from __future__ import annotations

from datetime import date

from pydantic import BaseModel, ConfigDict, computed_field

from fin_agent.answering.sandbox import ProgramValue
from fin_agent.evidence.cards.card import Card
from fin_agent.index.protocol import FilingEntry, FilingRecord
from fin_agent.vocabulary.filing import PassageKind
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import Statement

BoxSides = tuple[float, float, float, float]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class _OnPage(_Frozen):
    page: int
    """0-based, as in an Answer."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def page_number(self) -> int:
        """As a viewer counts, from 1."""
        return self.page + 1


class FilingListed(_Frozen):
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
        identity = record.identity
        return cls(
            doc_id=record.doc_id,
            company=identity.company,
            ticker=identity.ticker,
            form=identity.form,
            fiscal_year=identity.fiscal_year,
            quarter=identity.quarter,
            period_end=identity.period_end,
            filed=identity.filed,
            pages=record.page_count,
        )

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


class DocumentsFound(_Frozen):
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


class PagesFound(_Frozen):
    """Of `page_search`, best first."""

    query: str
    pages: tuple[PageFound, ...]
    notes: tuple[str, ...] = ()


class PageRead(_OnPage):
    """A page as read."""

    doc_id: str
    title: str
    item: str | None
    statement: Statement | None
    text: str


class PagesRead(_Frozen):
    """Of `read_page`: the pages asked for, in that order."""

    filing: FilingListed
    pages: tuple[PageRead, ...]


class CardsMade(_Frozen):
    """Of `card_extraction`, in the order of the pages."""

    filing: FilingListed
    cards: tuple[Card, ...]


class FilingsListed(_Frozen):
    """Of `list_filings`, by company, then time."""

    filings: tuple[FilingListed, ...]
    total: int
    """How many there are, listed or not."""


class NumberAccounted(_Frozen):
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


class ProgramRun(_Frozen):
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
