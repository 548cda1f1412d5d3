"""Evidence: passages that the filter kept, with why; and what a curation decides."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.slot_ledger import Ledger
from fin_agent.evidence.trace import JudgedPassage
from fin_agent.index.protocol import PageKey, StoredPassage
from fin_agent.vocabulary.filing import PassageKind


class RetrievedPassage(BaseModel):
    """A passage as a round of search found it."""

    model_config = ConfigDict(frozen=True)

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
        """A passage of the index, as found in that round."""
        passage = stored.passage
        return cls(
            doc_id=stored.doc_id,
            page=passage.page,
            ordinal=passage.ordinal,
            kind=passage.kind,
            text=passage.text,
            box=passage.box,
            score=round(score, 6),
            round=round_number,
        )

    @property
    def key(self) -> tuple[str, int]:
        """The passage's place in the index."""
        return self.doc_id, self.ordinal

    @property
    def on_page(self) -> PageKey:
        """The page it stands on."""
        return PageKey(self.doc_id, self.page)

    @property
    def found(self) -> FoundPassage:
        """Where it stands, without its text."""
        return FoundPassage(self.doc_id, self.page, self.ordinal)


class FoundPassage(NamedTuple):
    """Where a passage stands that was found: its text is in the index."""

    doc_id: str
    page: int
    """0-based."""
    ordinal: int


class Evidence(BaseModel):
    """A passage kept by the filter."""

    model_config = ConfigDict(frozen=True)

    passage: RetrievedPassage
    card: Card | None = None
    why: str
    fields: tuple[str, ...] = ()
    """Fields of its card that the question asks for: `metrics: revenue`, `time: FY2023`."""
    by_model: bool = False
    """Whether only a chat model keeps it: rules, should they have to answer, do without it."""


class Curation(BaseModel):
    """What curation decides after a round (HiREC: filter, answerability, complementary question in one step)."""

    model_config = ConfigDict(frozen=True)

    kept: tuple[Evidence, ...]
    ledger: Ledger
    answerable: bool
    missing: tuple[str, ...] = ()
    """What is still to be found, in words."""
    complementary_question: str = ""
    notes: tuple[str, ...] = ()
    """What whoever reads the answer should know: years that were restated."""
    to_read: tuple[PageKey, ...] = ()
    """Pages that state a figure on the basis of the others, and were not retrieved: to be judged as well."""
    judged: tuple[JudgedPassage, ...] = ()
    """Every passage it was given, in the order given, with what became of it."""
    dropped: tuple[tuple[str, int], ...] = ()
    """Passages, by filing and place, that are not to be read again in this run: a model's decisions are final."""
