"""Evidence: the passages that the filter keeps, with reasons, and the result of curation."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import BaseModel

from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.slot_ledger import Ledger
from fin_agent.index.protocol import PageKey, StoredPassage
from fin_agent.vocabulary.filing import PassageKind
from fin_agent.vocabulary.ranked_group import RankedGroup


class TraceStep(BaseModel, frozen=True):
    """One step of a run."""

    node: str
    round: int
    summary: str
    """One line for people."""
    details: tuple[str, ...] = ()
    """Further input or decisions, a line each."""
    judged: tuple[JudgedPassage, ...] = ()
    """The passages of its input with the verdict on each, best first."""
    groups: tuple[RankedGroup, ...] = ()
    """The groups of a tournament with their rankings."""
    calls: tuple[str, ...] = ()
    """Calls of chat models, a line each: role, model, tokens, dollars."""
    warnings: tuple[str, ...] = ()
    """Requests to a model that rules handled in its place."""
    flags: tuple[str, ...] = ()
    """Signs of injection in the models' input, and text removed from it."""


class JudgedPassage(BaseModel, frozen=True):
    """A passage with a step's verdict."""

    doc_id: str
    page: int
    """0-based."""
    ordinal: int
    kept: bool
    why: str = ""
    fields: tuple[str, ...] = ()
    """Fields of its card that match the intent: `metrics: revenue`, `time: FY2023`."""
    score: float | None = None
    """Higher is better; comparable within the same step only."""


TraceStep.model_rebuild()


class RetrievedPassage(BaseModel, frozen=True):
    """A passage found by a round of search."""

    doc_id: str
    page: int
    ordinal: int
    kind: PassageKind
    text: str
    box: tuple[float, float, float, float] | None = None
    score: float
    round: int

    @classmethod
    def of(cls, stored: StoredPassage, score: float, round_number: int) -> RetrievedPassage:
        """Build from a passage of the index and the round that found it."""
        own = {name: getattr(stored.passage, name) for name in ("page", "ordinal", "kind", "text", "box")}
        return cls(doc_id=stored.doc_id, score=round(score, 6), round=round_number, **own)

    @property
    def key(self) -> tuple[str, int]:
        """(doc_id, ordinal): the passage's key in the index."""
        return self.doc_id, self.ordinal

    @property
    def on_page(self) -> PageKey:
        """The key of its page."""
        return PageKey(self.doc_id, self.page)

    @property
    def found(self) -> FoundPassage:
        """Its location, without the text."""
        return FoundPassage(self.doc_id, self.page, self.ordinal)


class FoundPassage(NamedTuple):
    """The location of a passage that was found; its text is in the index."""

    doc_id: str
    page: int
    """0-based."""
    ordinal: int


class Evidence(BaseModel, frozen=True):
    """A passage that the filter keeps."""

    passage: RetrievedPassage
    card: Card | None = None
    why: str
    fields: tuple[str, ...] = ()
    """Fields of its card that match the question: `metrics: revenue`, `time: FY2023`."""
    by_model: bool = False
    """Whether only a chat model keeps it; the rules ignore it if they have to answer."""


class Curation(BaseModel, frozen=True):
    """The decision of curation after a round (HiREC: filter, answerability, complementary question in one step)."""

    kept: tuple[Evidence, ...]
    ledger: Ledger
    answerable: bool
    missing: tuple[str, ...] = ()
    """Descriptions of what is still missing."""
    complementary_question: str = ""
    notes: tuple[str, ...] = ()
    """Notes for the reader of the answer, such as restated years."""
    to_read: tuple[PageKey, ...] = ()
    """Pages that state a figure on the basis of the others and were not retrieved; they are to be judged as well."""
    judged: tuple[JudgedPassage, ...] = ()
    """The verdict on every passage, in input order."""
    dropped: tuple[tuple[str, int], ...] = ()
    """Passages as (doc_id, ordinal) that are not judged again in this run, since a model's decision is final."""
    beyond_rules: tuple[str, ...] = ()
    """What a model misses in the answer that rules compute, which is then not given."""
