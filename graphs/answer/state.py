"""The state of a run, as it is seen and edited step by step; read back as the nodes' types where it was edited."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import asdict, fields, is_dataclass
from datetime import date
from enum import Enum
from functools import lru_cache
from operator import add
from typing import Annotated, Any, Literal, NotRequired, Required, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic, which writes the schemas, takes no other before Python 3.12

from fin_agent.analyst.protocol import Reasoning
from fin_agent.answering.answer import Answer, PagePlace
from fin_agent.errors import FinAgentError
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


class StateError(FinAgentError):
    """What was put into the state is not what stands there."""


def typed(state: Mapping[str, object], schema: Any = AnswerState) -> tuple[AnswerState, tuple[str, ...]]:
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
    whole = _whole(value)
    try:
        return adapter.validate_python(whole)
    except ValidationError as failure:
        try:
            return adapter.validate_python(_with_dates(whole, failure))
        except ValidationError as still:
            first = still.errors()[0]
            place = ".".join(map(str, (name, *first["loc"])))
            raise StateError(
                f"cannot be used: {first['msg'][:1].lower()}{first['msg'][1:]}",
                subject=f"`{place}` of the state",
                remedy="Put back what stood there, or change single values of it",
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


def _whole(value: object) -> object:
    """What a checkpoint gave back, to be read anew: our dataclasses hold tuples, of which serializers make lists."""
    if isinstance(value, list):
        return [_whole(each) for each in value]
    if not is_dataclass(value) or isinstance(value, type):
        return value
    read_back = any(isinstance(getattr(value, field.name), list) for field in fields(value))
    return asdict(value) if read_back else value


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


@lru_cache(maxsize=4)
def state_types(schema: Any = AnswerState) -> tuple[tuple[str, str], ...]:
    """(module, name) of every class of ours that a state may hold: for serializers that read no others."""
    found: dict[tuple[str, str], None] = {}
    seen: set[Any] = set()

    def visit(kind: Any) -> None:
        for part in get_args(kind):
            visit(part)
        origin = get_origin(kind) or kind
        if not isinstance(origin, type) or origin in seen or not origin.__module__.startswith("fin_agent"):
            return
        seen.add(origin)
        if issubclass(origin, (BaseModel, Enum, tuple)) or is_dataclass(origin):
            found[origin.__module__, origin.__qualname__] = None
            if not issubclass(origin, Enum):
                for part in get_type_hints(origin).values():
                    visit(part)

    for kind in get_type_hints(schema).values():
        visit(kind)
    return tuple(sorted(found))
