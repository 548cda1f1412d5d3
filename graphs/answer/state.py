"""The state of a run, as it is seen and edited step by step; read back as the nodes' types where it was edited."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from datetime import date
from functools import lru_cache
from typing import Annotated, Any, Literal, NotRequired, Required, cast, get_args, get_origin, get_type_hints

from langgraph.channels import EphemeralValue
from langgraph.types import Overwrite
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic, which writes the schemas, takes no other before Python 3.12

from fin_agent.analyst.protocol import Reasoning
from fin_agent.answering.answer import Answer, PagePlace
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.evidence import Evidence, FoundPassage, RetrievedPassage
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.plan import Plan
from fin_agent.evidence.slot_ledger import Ledger
from fin_agent.evidence.trace import TraceStep
from fin_agent.graphs.channels import Kept, KeptList, StateError
from fin_agent.index.protocol import PageKey
from fin_agent.models.metering import CallRecord
from fin_agent.retrieval.search_query import Query, RankedFiling, RankedPage, Scope, SearchResult

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
    doc_ids: Annotated[list[str], Field(description="search these filings only"), EphemeralValue]
    only_pages: Annotated[list[PagePlace], Field(description="search these pages only; 0-based"), EphemeralValue]
    id: Annotated[str, Field(description="of the question, to find its answer by"), EphemeralValue]


class AskedQuestion(BaseModel):
    """What a run was started with: the nodes after the first go by this, so that no later edit splits a run in two."""

    model_config = ConfigDict(frozen=True)

    question: str
    id: str | None = None
    doc_ids: tuple[str, ...] | None = None
    pages: tuple[PagePlace, ...] | None = None

    @property
    def scope(self) -> Scope:
        """What may be retrieved."""
        pages = tuple(PageKey(place.doc_id, place.page) for place in self.pages or ())
        return Scope(self.doc_ids or None, pages or None)


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
    """Everything the nodes hand on. Lists that are `KeptList` grow over the rounds; the others are of this round.

    `rewrite_query` begins all of it anew: what stands here is of one question.
    """

    asked: Annotated[AskedQuestion, Kept]
    intent: Annotated[Intent, Kept]
    plan: Annotated[Plan, Kept]
    asks: Annotated[list[str], Kept]
    """What the question asks, one by one, where it is not answered as one."""
    query: Annotated[Query, Kept]
    round: Annotated[int, Kept]
    found_at_once: Annotated[SearchResult | None, Kept]
    curated: Annotated[bool, Kept]
    """Whether the strategy has curated evidence in rounds of its own."""
    """What a strategy other than the default found this round, until the nodes after it have handed out its parts."""
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
    """What whoever reads the answer should know: years that were restated."""
    drafted: Annotated[Reasoning | None, Kept]
    """What a model answered when it judged the passages; None where it judged, and did not answer."""
    next: Annotated[Next, Kept]
    """Where the run goes on: decided by the node that checks or computes, so that whoever edits the state sees it."""
    program: Annotated[str, Kept]
    reasoning: Annotated[Reasoning, Kept]
    answer: NotRequired[Annotated[Answer, Kept]]
    found_documents: Annotated[list[str], KeptList]
    found_pages: Annotated[list[PagePlace], KeptList]
    found_passages: Annotated[list[FoundPassage], KeptList]
    trace: Annotated[list[TraceStep], KeptList]
    calls: Annotated[list[CallRecord], KeptList]
    """Calls of chat models, what they took."""
    judged: Annotated[list[tuple[str, int]], KeptList]
    """Passages that were judged, by filing and place: a round that brings no other is not judged anew by a model."""
    dropped: Annotated[list[tuple[str, int]], KeptList]
    """Passages that a model dropped: no later round reads them."""
    warnings: Annotated[list[str], KeptList]
    left_out: Annotated[list[str], KeptList]
    """Calls that a budget did not allow."""


def reset_state(state: AnswerState, update: dict[str, Any]) -> dict[str, Any]:
    """`update` of the first node, by which nothing in the state is left of a question before."""
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
    """The state with every value of its type, and the names of those that were plain JSON. Raises StateError."""
    made: dict[str, object] = {}
    edited: list[str] = []
    for name, value in state.items():
        made[name] = typed_value(name, value, schema)
        if name not in QuestionInput.__annotations__ and _is_plain(value) and not _is_plain(made[name]):
            edited.append(name)
    return cast(AnswerState, made), tuple(edited)


def typed_value(name: str, value: object, schema: Any = AnswerState) -> object:
    """A value of the state as its type. Raises StateError."""
    adapter = _adapters(schema).get(name)
    if adapter is None:
        return value
    try:
        return adapter.validate_python(value)
    except ValidationError as failure:
        try:
            return adapter.validate_python(_with_dates(value, failure))
        except ValidationError as still:
            first = still.errors()[0]
            place = ".".join(map(str, (name, *first["loc"])))
            raise StateError(
                f"cannot be used: {first['msg'][:1].lower()}{first['msg'][1:]}",
                subject=f"`{place}` of the state",
                remedy="Restore the original value, or change single values in it",
            ) from None


def _with_dates(value: object, failure: ValidationError) -> object:
    """With dates where LangGraph's server hands them out as `[2024, 12, 31]`."""
    mended = deepcopy(value)
    for error in failure.errors():
        given = error["input"]
        if not (error["type"].startswith("date") and isinstance(given, list) and len(given) == 3):
            continue
        holder: Any = mended
        for step in error["loc"][:-1]:
            # Names of alternatives stand among the places, and lead nowhere.
            with suppress(LookupError, TypeError):
                holder = holder[step]
        with suppress(LookupError, TypeError, ValueError):
            if holder[error["loc"][-1]] == given:
                holder[error["loc"][-1]] = date(*given)
    return mended


def _is_plain(value: object) -> bool:
    """Whether it is JSON that stands for one of our values."""
    if isinstance(value, list):
        return bool(value) and _is_plain(value[0])
    # A place is a tuple, and a list in JSON.
    return isinstance(value, dict)


@lru_cache(maxsize=4)
def _adapters(schema: Any) -> dict[str, TypeAdapter[Any]]:
    return {name: TypeAdapter(_value_type(kind)) for name, kind in get_type_hints(schema).items()}


def _value_type(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) in (NotRequired, Required) else kind
