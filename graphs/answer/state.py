"""The state of a run, as it is seen and edited step by step."""

from __future__ import annotations

from operator import add
from typing import Annotated, Literal, NotRequired, Required

from pydantic import Field
from typing_extensions import TypedDict  # pydantic, which writes the schemas, takes no other before Python 3.12

from fin_agent.analyst.protocol import Reasoning
from fin_agent.answering.answer import Answer, PagePlace
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.evidence import Evidence, FoundPassage, RetrievedPassage
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.ledger import Ledger
from fin_agent.evidence.plan import Plan
from fin_agent.evidence.trace import TraceStep
from fin_agent.models.metering import CallRecord
from fin_agent.retrieval.query import Query, RankedFiling, RankedPage, SearchResult

Next = Literal["ask_complementary_question", "answer_with_program", "answer_with_reasoning", "verify_answer"]

EDITED = "edited from outside of the run: "
"""How the warning begins that names parts of the state which no node has left."""


class QuestionInput(TypedDict, total=False):
    """What a run is started with."""

    question: Required[
        Annotated[
            str,
            Field(
                description="in words",
                examples=["What were Quillmark's merchandise inventories at the end of fiscal 2023?"],
            ),
        ]
    ]
    doc_ids: Annotated[list[str], Field(description="search these filings only")]
    only_pages: Annotated[list[PagePlace], Field(description="search these pages only; 0-based")]
    id: Annotated[str, Field(description="of the question, to find its answer by")]


class AnswerOutput(TypedDict):
    """What a run ends with."""

    answer: Answer


class ShownOutput(AnswerOutput):
    """What a run ends with where people follow it: servers stream of each node's update what stands here."""

    query: Query
    evidence: list[Evidence]
    ledger: Ledger
    missing: list[str]
    program: str
    trace: list[TraceStep]
    warnings: list[str]


class AnswerState(QuestionInput, total=False):
    """Everything the nodes hand on. Lists marked with `add` grow over the rounds; the others are of this round."""

    intent: Intent
    plan: Plan
    query: Query
    round: int
    found_at_once: SearchResult | None
    """What a strategy other than the default found this round, until the nodes after it have handed out its parts."""
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
    next: Next
    """Where the run goes on: decided by the node that checks or computes, so that whoever edits the state sees it."""
    program: str
    reasoning: Reasoning
    answer: NotRequired[Answer]
    found_documents: Annotated[list[str], add]
    found_pages: Annotated[list[PagePlace], add]
    found_passages: Annotated[list[FoundPassage], add]
    trace: Annotated[list[TraceStep], add]
    calls: Annotated[list[CallRecord], add]
    """Calls of chat models, what they took."""
    judged: Annotated[list[tuple[str, int]], add]
    """Passages that were judged, by filing and place: a round that brings no other is not judged anew by a model."""
    warnings: Annotated[list[str], add]
    left_out: Annotated[list[str], add]
    """Calls that a budget did not allow."""
