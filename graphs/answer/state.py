"""The state of a run, as it is seen and edited step by step."""

from __future__ import annotations

from operator import add
from typing import Annotated, NotRequired, Required, TypedDict

from fin_agent.analyst.protocol import Reasoning
from fin_agent.answering.answer import Answer, PagePlace
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.evidence import Evidence, RetrievedPassage
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.ledger import Ledger
from fin_agent.evidence.plan import Plan
from fin_agent.evidence.trace import TraceStep
from fin_agent.retrieval.query import Query, RankedFiling, RankedPage, SearchResult


class QuestionInput(TypedDict, total=False):
    """What a run is started with."""

    question: Required[str]
    doc_ids: list[str]
    """Restrict the search to these filings."""
    only_pages: list[PagePlace]
    """Restrict the search to these pages."""
    id: str


class AnswerOutput(TypedDict):
    """What a run ends with."""

    answer: Answer


class AnswerState(QuestionInput, total=False):
    """Everything the nodes hand on. Lists marked with `add` grow over the rounds; the others are of this round."""

    intent: Intent
    plan: Plan
    query: Query
    round: int
    found_at_once: SearchResult
    """What a strategy other than the default found this round; the nodes after it hand out its parts."""
    documents: list[RankedFiling]
    pages: list[RankedPage]
    passages: list[RetrievedPassage]
    cards: list[Card]
    evidence: list[Evidence]
    ledger: Ledger
    answerable: bool
    missing: list[str]
    complementary_question: str
    notes: list[str]
    """What whoever reads the answer should know: years that were restated."""
    program: str
    reasoning: Reasoning
    answer: NotRequired[Answer]
    found_documents: Annotated[list[str], add]
    found_pages: Annotated[list[PagePlace], add]
    found_passages: Annotated[list[RetrievedPassage], add]
    trace: Annotated[list[TraceStep], add]
