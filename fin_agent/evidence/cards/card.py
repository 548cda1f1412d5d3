"""A card: one passage in the fields of FinCards' schema, so that a question can be held against it field by field."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import Statement, TableKind

_FROZEN = ConfigDict(frozen=True)


class Card(BaseModel):
    """What a passage is about, without its text (FinCards, Section 3: the card schema).

    Identity, metrics, time and scope are the core, by which questions are aligned; the other fields only screen.
    """

    model_config = _FROZEN

    identity: CardIdentity
    role: ClaimRole
    evidence_type: EvidenceType
    metrics: tuple[str, ...] = ()
    """Canonical metrics its facts state or its words name, those on more rows first."""
    answers: AnswerabilityProfile
    time: TemporalAnchor
    scope: ScopeSignature
    basis: MeasurementBasis
    verifiability: Verifiability
    risks: tuple[RiskSignal, ...] = ()
    sketch: str
    """What it is about on a line: its headings, then the words that set it apart."""
    spans: tuple[EvidenceSpan, ...] = ()
    """Where in the passage's text the evidence stands."""
    facts: tuple[CardFact, ...] = ()
    """Its figures. The index holds facts on their own: `with_facts` joins them to the cards that it kept."""


class CardIdentity(BaseModel):
    """Whose passage it is, and where it stands."""

    model_config = _FROZEN

    doc_id: str
    page: int
    """0-based."""
    ordinal: int
    company: str
    form: Form
    fiscal_year: int | None = None
    """Of the filing, by the filer's own naming."""
    quarter: int | None = None
    item: str | None = None
    statement: Statement | None = None
    table_kind: TableKind | None = None
    note: str | None = None
    """Number of the note to the financial statements."""
    heading: str = ""
    """The title over it: of its table, else of its page."""


class ClaimRole(StrEnum):
    """What the passage does."""

    REPORTS = "reports"
    """States figures."""
    EXPLAINS = "explains"
    """Says why figures changed."""
    FORECASTS = "forecasts"
    """Guidance, outlook, what is expected."""
    SETS_POLICY = "sets-policy"
    """Accounting policies, estimates, governance rules."""
    DEFINES = "defines"
    """Says what a term or a measure means."""
    WARNS = "warns"
    """Risk factors."""
    TELLS_EVENT = "tells-event"
    """An acquisition, a lawsuit, a vote, a change of officers."""
    DESCRIBES = "describes"
    """Business, products, people, properties."""
    FORMAL = "formal"
    """Cover, signatures, exhibits, tables of contents."""


class EvidenceType(StrEnum):
    """What kind of evidence a passage is."""

    STATEMENT = "statement"
    """A table of a primary statement."""
    TABLE = "table"
    NARRATIVE = "narrative"
    MIXED = "mixed"
    """Running text with figures in it."""


class Use(StrEnum):
    """What a question can want of a passage; the relations of an intent are the same."""

    LOOKUP = "lookup"
    TREND = "trend"
    COMPARISON = "comparison"
    AGGREGATION = "aggregation"
    EXPLANATION = "explanation"
    DEFINITION = "definition"
    POLICY = "policy"


class AnswerabilityProfile(BaseModel):
    """Which questions the passage can answer on its own."""

    model_config = _FROZEN

    uses: tuple[Use, ...] = ()
    numeric: bool = False
    """Whether it holds figures with a period."""


class TemporalAnchor(BaseModel):
    """The time a passage is about."""

    model_config = _FROZEN

    periods: tuple[str, ...] = ()
    """Fiscal periods of its facts and words, latest first: `FY2023`, `Q2 FY2023`."""
    dates: tuple[date, ...] = ()
    """Days it names, ascending."""
    forward: bool = False
    """Whether it speaks of what is to come."""


class ScopeSignature(BaseModel):
    """Of what its figures are."""

    model_config = _FROZEN

    consolidated: bool = False
    """Whether figures of the whole company stand in it."""
    parts: tuple[str, ...] = ()
    """Segments, products, regions, as printed."""


class MeasurementBasis(BaseModel):
    """How its figures are measured."""

    model_config = _FROZEN

    units: tuple[str, ...] = ()
    scales: tuple[int, ...] = ()
    per_share: bool = False
    adjusted: bool = False
    """Whether measures outside GAAP stand in it."""
    unaudited: bool = False


class TableSignature(BaseModel):
    """A table by what stands around its figures."""

    model_config = _FROZEN

    rows: int
    columns: tuple[str, ...]
    labels: tuple[str, ...]
    """The first labels, as printed."""


class Verifiability(BaseModel):
    """By what a reader can check it."""

    model_config = _FROZEN

    facts: int = 0
    """How many figures were read in it."""
    table: TableSignature | None = None
    cues: tuple[str, ...] = ()
    """Words of the text that give its role away: `primarily due to`."""


class RiskSignal(StrEnum):
    """Why its figures must be taken with care."""

    FORWARD_LOOKING = "forward-looking"
    NON_GAAP = "non-gaap"
    PRO_FORMA = "pro-forma"
    RESTATED = "restated"
    UNAUDITED = "unaudited"
    PARENT_ONLY = "parent-only"
    PART_ONLY = "part-only"
    """All its figures are of parts of the company."""
    UNCERTAIN_PERIOD = "uncertain-period"
    """Figures, and no period for any of them."""


class EvidenceSpan(BaseModel):
    """A stretch of the passage's text."""

    model_config = _FROZEN

    start: int
    end: int
    """Characters of the passage's text, the end not included."""
    shows: str
    """What stands there: a metric's id, or a role."""


class CardFact(BaseModel):
    """A figure of the passage."""

    model_config = _FROZEN

    label: str
    metric: str | None = None
    amount: Decimal
    """As printed, in units of `scale`."""
    scale: int
    unit: str
    period: str
    """`FY2023`, `Q2 FY2023`, `6 months FY2023`."""
    scope: str | None = None
    line: int
    box: tuple[float, float, float, float]


Card.model_rebuild()
