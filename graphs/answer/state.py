"""The state of a run, inspected and edited step by step; edited values are read back as the nodes' types."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import date
from functools import lru_cache
from typing import Annotated, Any, Literal, NotRequired, Required, cast, get_type_hints

from langgraph.channels import EphemeralValue
from langgraph.types import Overwrite
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic, which writes the schemas, takes no other before Python 3.12

from fin_agent.analyst.reasoning_result import Reasoning
from fin_agent.answering.answer import Answer, PagePlace
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.evidence import Evidence, FoundPassage, RetrievedPassage, TraceStep
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.plan import Plan
from fin_agent.evidence.slot_ledger import Ledger
from fin_agent.graphs.channels import Kept, KeptList, StateError
from fin_agent.index.protocol import PageKey
from fin_agent.models.metering import CallRecord
from fin_agent.retrieval.search_query import Query, RankedFiling, RankedPage, Scope, SearchResult

Next = Literal["ask_complementary_question", "answer_with_program", "answer_with_reasoning", "verify_answer"]

EDITED = "edited from outside of the run: "
"""Prefix of the warning that names parts of the state edited from outside."""


class QuestionInput(TypedDict, total=False):
    """Input of a run."""

    question: Required[
        Annotated[
            str,
            Field(
                description="in words",
                examples=["What were Quillmark's merchandise inventories at the end of fiscal 2023?"],
            ),
        ]
    ]
    doc_ids: Annotated[list[str], Field(description="search these filings only"), EphemeralValue]
    only_pages: Annotated[list[PagePlace], Field(description="search these pages only; 0-based"), EphemeralValue]
    id: Annotated[str, Field(description="of the question, to find its answer by"), EphemeralValue]


class AskedQuestion(BaseModel):
    """The validated input of a run: later nodes use it, so that an edit of the input cannot split a run."""

    model_config = ConfigDict(frozen=True)

    question: str
    id: str | None = None
    doc_ids: tuple[str, ...] | None = None
    pages: tuple[PagePlace, ...] | None = None

    @property
    def scope(self) -> Scope:
        """The filings and pages that may be retrieved."""
        pages = tuple(PageKey(place.doc_id, place.page) for place in self.pages or ())
        return Scope(self.doc_ids or None, pages or None)


class AnswerOutput(TypedDict):
    """Output of a run."""

    answer: Answer


class ShownOutput(AnswerOutput):
    """Output of a run in Studio: servers stream these parts of each node's update."""

    query: Query
    evidence: list[Evidence]
    ledger: Ledger
    missing: list[str]
    program: str
    trace: list[TraceStep]
    warnings: list[str]


class AnswerState(QuestionInput, total=False):
    """State passed between the nodes. `KeptList` fields grow over the rounds; the others are of the current round.

    `rewrite_query` resets all of it: the state is of one question.
    """

    asked: Annotated[AskedQuestion, Kept]
    intent: Annotated[Intent, Kept]
    plan: Annotated[Plan, Kept]
    asks: Annotated[list[str], Kept]
    """The separate asks of the question, if it is not answered as one."""
    query: Annotated[Query, Kept]
    round: Annotated[int, Kept]
    found_at_once: Annotated[SearchResult | None, Kept]
    """The result of a strategy other than the default, for the next nodes of the round."""
    curated: Annotated[bool, Kept]
    """Whether the strategy curated evidence in its own rounds."""
    documents: Annotated[list[RankedFiling], Kept]
    pages: Annotated[list[RankedPage], Kept]
    passages: Annotated[list[RetrievedPassage], Kept]
    cards: Annotated[list[Card], Kept]
    evidence: Annotated[list[Evidence], Kept]
    ledger: Annotated[Ledger, Kept]
    answerable: Annotated[bool, Kept]
    missing: Annotated[list[str], Kept]
    complementary_question: Annotated[str, Kept]
    notes: Annotated[list[str], Kept]
    """Notes for the reader of the answer, such as restated years."""
    drafted: Annotated[Reasoning | None, Kept]
    """The answer of a model that judged the passages; None if it did not answer."""
    next: Annotated[Next, Kept]
    """The next node, set by the node that checks or computes, so that it is visible when the state is edited."""
    program: Annotated[str, Kept]
    reasoning: Annotated[Reasoning, Kept]
    answer: NotRequired[Annotated[Answer, Kept]]
    found_documents: Annotated[list[str], KeptList]
    found_pages: Annotated[list[PagePlace], KeptList]
    found_passages: Annotated[list[FoundPassage], KeptList]
    trace: Annotated[list[TraceStep], KeptList]
    calls: Annotated[list[CallRecord], KeptList]
    """Calls of chat models with their usage."""
    judged: Annotated[list[tuple[str, int]], KeptList]
    """Passages judged so far as (doc_id, ordinal): a round without new ones is not judged again by a model."""
    dropped: Annotated[list[tuple[str, int]], KeptList]
    """Passages that a model dropped; later rounds do not read them."""
    warnings: Annotated[list[str], KeptList]
    left_out: Annotated[list[str], KeptList]
    """Calls that a budget did not allow."""


def reset_state(state: AnswerState, update: dict[str, Any]) -> dict[str, Any]:
    """Return the first node's update, extended to clear the state of an earlier question."""
    hints = get_type_hints(AnswerState, include_extras=True)
    before: dict[str, Any] = {}
    for name in state.keys() - QuestionInput.__annotations__.keys() & hints.keys():
        grows = KeptList in getattr(hints[name], "__metadata__", ())
        if grows and state.get(name):
            before[name] = Overwrite(update.get(name, []))
        elif not grows and name not in update:
            before[name] = None
    return {**update, **before}


def typed_state(state: Mapping[str, object], schema: Any = AnswerState) -> tuple[AnswerState, tuple[str, ...]]:
    """Return the state as typed values, and the names of those that were plain JSON. Raises StateError."""
    made: dict[str, object] = {}
    edited: list[str] = []
    for name, value in state.items():
        made[name] = typed_value(name, value, schema)
        if name not in QuestionInput.__annotations__ and _is_plain(value) and not _is_plain(made[name]):
            edited.append(name)
    return cast(AnswerState, made), tuple(edited)


def typed_value(name: str, value: object, schema: Any = AnswerState) -> object:
    """Return a value of the state as its type. Raises StateError."""
    adapter = _adapters(schema).get(name)
    if adapter is None:
        return value
    try:
        return adapter.validate_python(value)
    except ValidationError:
        try:
            return adapter.validate_python(_with_dates(value))
        except ValidationError as failure:
            first = failure.errors()[0]
            place = ".".join(map(str, (name, *first["loc"])))
            raise StateError(
                f"cannot be used: {first['msg'][:1].lower()}{first['msg'][1:]}",
                subject=f"`{place}` of the state",
                remedy="Restore the original value, or change single values in it",
            ) from None


def _with_dates(value: Any) -> Any:
    """Convert dates, which LangGraph's server writes as `[2024, 12, 31]`."""
    if isinstance(value, dict):
        return {name: _with_dates(each) for name, each in value.items()}
    if not isinstance(value, list):
        return value
    with suppress(TypeError, ValueError):
        if len(value) == 3 and value[0] > 1900:
            return date(*value)
    return [_with_dates(each) for each in value]


def _is_plain(value: object) -> bool:
    """Return whether a value is JSON in place of a typed value."""
    if isinstance(value, list):
        return bool(value) and _is_plain(value[0])
    # A place is a tuple, which is a list in JSON.
    return isinstance(value, dict)


@lru_cache(maxsize=4)
def _adapters(schema: Any) -> dict[str, TypeAdapter[Any]]:
    return {name: TypeAdapter(kind) for name, kind in get_type_hints(schema).items()}
