"""The card: one passage in the fields of FinCards' schema, for matching with a question field by field."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from enum import StrEnum

from pydantic import BaseModel

from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import Statement, TableKind


class Card(BaseModel, frozen=True):
    """A passage's description without its text (FinCards, Section 3: the card schema).

    Identity, metrics, time and scope are the core fields, which are aligned with questions; the others are for
    screening.
    """

    identity: CardIdentity
    role: ClaimRole
    evidence_type: EvidenceType
    metrics: tuple[str, ...] = ()
    """Ids of metrics that its facts state or its text names, by number of rows."""
    answers: AnswerabilityProfile
    time: TemporalAnchor
    scope: ScopeSignature
    basis: MeasurementBasis
    verifiability: Verifiability
    risks: tuple[RiskSignal, ...] = ()
    sketch: str
    """A one-line summary: its headings, then its distinctive words."""
    spans: tuple[EvidenceSpan, ...] = ()
    """Spans of the passage's text with the evidence."""
    facts: tuple[CardFact, ...] = ()
    """Its figures. The index stores facts separately: `with_facts` adds them to stored cards."""


class CardIdentity(BaseModel, frozen=True):
    """The filing and location of a passage."""

    doc_id: str
    page: int
    """0-based."""
    ordinal: int
    company: str
    form: Form
    fiscal_year: int | None = None
    """Of the filing, in the filer's own numbering."""
    quarter: int | None = None
    item: str | None = None
    statement: Statement | None = None
    table_kind: TableKind | None = None
    note: str | None = None
    """Number of the note to the financial statements."""
    heading: str = ""
    """The title of its table, else of its page."""


class ClaimRole(StrEnum):
    """The function of a passage."""

    REPORTS = "reports"
    """States figures."""
    EXPLAINS = "explains"
    """Explains why figures changed."""
    FORECASTS = "forecasts"
    """Guidance, outlook, expectations."""
    SETS_POLICY = "sets-policy"
    """Accounting policies, estimates, governance rules."""
    DEFINES = "defines"
    """Defines a term or a measure."""
    WARNS = "warns"
    """Risk factors."""
    TELLS_EVENT = "tells-event"
    """An acquisition, lawsuit, vote or change of officers."""
    DESCRIBES = "describes"
    """Business, products, people, properties."""
    FORMAL = "formal"
    """Cover, signatures, exhibits, tables of contents."""


class EvidenceType(StrEnum):
    """The kind of evidence in a passage."""

    STATEMENT = "statement"
    """A table of a primary statement."""
    TABLE = "table"
    NARRATIVE = "narrative"
    MIXED = "mixed"
    """Running text with figures."""


class Use(StrEnum):
    """What a question can use a passage for; matches the relations of an intent."""

    LOOKUP = "lookup"
    TREND = "trend"
    COMPARISON = "comparison"
    AGGREGATION = "aggregation"
    EXPLANATION = "explanation"
    DEFINITION = "definition"
    POLICY = "policy"


class AnswerabilityProfile(BaseModel, frozen=True):
    """The questions that the passage can answer on its own."""

    uses: tuple[Use, ...] = ()
    numeric: bool = False
    """Whether it contains figures with a period."""


class TemporalAnchor(BaseModel, frozen=True):
    """The time that a passage is about."""

    periods: tuple[str, ...] = ()
    """Fiscal periods of its facts and words, latest first: `FY2023`, `Q2 FY2023`."""
    dates: tuple[date, ...] = ()
    """Days that it names, ascending."""
    forward: bool = False
    """Whether it is about the future."""


class ScopeSignature(BaseModel, frozen=True):
    """The entity that its figures are about."""

    consolidated: bool = False
    """Whether it contains figures of the whole company."""
    parts: tuple[str, ...] = ()
    """Segments, products, regions, as printed."""


class MeasurementBasis(BaseModel, frozen=True):
    """The units and basis of its figures."""

    units: tuple[str, ...] = ()
    scales: tuple[int, ...] = ()
    per_share: bool = False
    adjusted: bool = False
    """Whether it contains non-GAAP measures."""
    unaudited: bool = False


class TableSignature(BaseModel, frozen=True):
    """The outline of a table without its figures."""

    rows: int
    columns: tuple[str, ...]
    labels: tuple[str, ...]
    """The first row labels, as printed."""


class Verifiability(BaseModel, frozen=True):
    """What a reader can check the passage by."""

    facts: int = 0
    """Number of figures read from it."""
    table: TableSignature | None = None
    cues: tuple[str, ...] = ()
    """Phrases of the text that indicate its role: `primarily due to`."""


class RiskSignal(StrEnum):
    """A reason to treat its figures with caution."""

    FORWARD_LOOKING = "forward-looking"
    NON_GAAP = "non-gaap"
    PRO_FORMA = "pro-forma"
    RESTATED = "restated"
    UNAUDITED = "unaudited"
    PARENT_ONLY = "parent-only"
    PART_ONLY = "part-only"
    """All its figures are for parts of the company."""
    UNCERTAIN_PERIOD = "uncertain-period"
    """It has figures, none of which has a period."""


class EvidenceSpan(BaseModel, frozen=True):
    """A span of the passage's text."""

    start: int
    end: int
    """Character offsets in the passage's text; the end is exclusive."""
    shows: str
    """The evidence in the span: a metric's id or a role."""


class CardFact(BaseModel, frozen=True):
    """A figure of the passage."""

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
