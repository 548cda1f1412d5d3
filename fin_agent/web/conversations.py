"""Routes of conversations: messages with their events, and stored threads."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime
from time import perf_counter
from typing import Annotated, Any, NamedTuple, cast

from anyio.to_thread import run_sync
from fastapi import Body, FastAPI, Request
from fastapi import Path as InPath
from fastapi.responses import JSONResponse, Response
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel, Field, WithJsonSchema
from sse_starlette import ServerSentEvent

from fin_agent.analyst.events import Answered, Event, StepEnded
from fin_agent.answering.answer import Answer
from fin_agent.graphs.answer.context import with_intent
from fin_agent.graphs.answer.streaming import astream_run
from fin_agent.graphs.chat.graph import ChatThread
from fin_agent.graphs.chat.state import ChatContext, Turn
from fin_agent.graphs.chat.threads import ThreadStore
from fin_agent.query import tree
from fin_agent.query.editing import intent_of_edit
from fin_agent.runs.run import StepTime
from fin_agent.runs.store import Recorder
from fin_agent.serving.calls import EVENTS, event, streamed
from fin_agent.serving.filing_resources import Json, record_of, with_page_numbers
from fin_agent.tools.arguments import DocIds
from fin_agent.web.server_options import QuestionSettings, ServedWorkspace

_EDITED = {
    "anyOf": [{"type": "null"}, {"type": "object", "required": ["question"], "additionalProperties": False}],
    "description": "The `query` that `/reading` gives, with edits: it is asked in place of the message.",
}
"""A schema without the nested tree of a query, which generators of test calls cannot handle."""


ThreadName = Annotated[str, InPath(pattern=r"^[\w.-]{1,80}$")]


class ChatRequest(BaseModel):
    """A message, and the conversation it belongs to."""

    message: Annotated[str, Field(min_length=1, max_length=2_000, examples=["and the year before?"])]
    thread: Annotated[
        str | None,
        Field(
            pattern=r"^[\w.-]{1,80}$",
            description="Name of the conversation, which is created if it does not exist; "
            "without a name the message has no context.",
            examples=["chat-1"],
        ),
    ] = None
    doc_ids: DocIds = None
    query: Annotated[tree.Query | None, WithJsonSchema(_EDITED)] = None
    settings: QuestionSettings = QuestionSettings()
    stream: Annotated[bool, Field(description="Whether to send events; Accept: text/event-stream does the same.")] = (
        False
    )


class TurnShown(BaseModel):
    """A message and its reply."""

    asked: str
    kind: str = Field(description="`question`, `follow-up`, `greeting` ...: how the message was read.")
    question: str | None = Field(description="The complete question that was answered, if any.")
    said: str
    answers: list[Any] = Field(description="Answers as `/ask` returns them.")
    warnings: list[str]


class _Said(NamedTuple):
    turn: Turn
    turns: int
    """Number of turns in the conversation, which may be more than the page has seen."""


def add_conversations(app: FastAPI, served: ServedWorkspace) -> None:
    """Add the routes `/chat` and `/threads`."""
    calls = served.calls

    @app.post(
        "/chat",
        response_model=TurnShown,
        responses={200: {"description": "The turn, or events", "content": {EVENTS: {}}}},
    )
    async def chat(request: Request, asked: Annotated[ChatRequest, Body()]) -> Response:
        """Send a message in a conversation, for one turn, or the events of `/ask` and `replied` at the end."""
        if asked.stream or EVENTS in request.headers.get("accept", ""):
            return await streamed(_events(served, asked))
        said = await calls.in_thread(lambda: _say(served, asked, lambda node: None), request)
        return JSONResponse(turn_shown(said.turn))

    @app.get("/threads")
    @calls.threaded
    def list_threads() -> Json:
        """List the conversations: their names, first messages and numbers of turns, the most recently used first."""
        with served.threads() as keeper:
            kept = keeper.listed() if isinstance(keeper, ThreadStore) else []
        return {"threads": [{"name": each.name, "title": each.title, "turns": each.turns} for each in kept]}

    @app.get("/threads/{name}")
    @calls.threaded
    def show_thread(name: ThreadName) -> Json:
        """List the turns of a conversation, and its last message if that has no reply; empty if there is none."""
        with served.threads() as keeper:
            talked = ChatThread(served.chat, keeper, name)
            return {"turns": [turn_shown(turn) for turn in talked.turns], "unanswered": talked.unanswered}

    @app.delete("/threads/{name}", include_in_schema=False)
    @calls.threaded
    def forget(name: ThreadName) -> Json:
        with served.threads() as keeper:
            keeper.delete_thread(name)
        return {"forgotten": name}


def _say(served: ServedWorkspace, asked: ChatRequest, on_step: Callable[[str], None]) -> _Said:
    """Make the turn of a message; if the caller leaves, the message is removed again."""
    message, chat, within = asked.message, served.chat, _among(served, asked)
    settings = served.settings(asked.settings)
    if asked.query is not None:
        intent = intent_of_edit(asked.query, served.context.workspace)
        # The edited reading is answered as it is; an assistant would read the words again.
        answering, message = with_intent(served.answering(settings), intent), intent.question
        chat = ChatContext(answering, doc_ids=within)
    elif asked.doc_ids or settings != served.context.settings:
        chat = ChatContext.over(served.answering(settings), doc_ids=within)
    with served.threads() as keeper:
        thread = ChatThread(chat, keeper if asked.thread else InMemorySaver(), asked.thread or "alone")
        return _Said(thread.send(message, on_step, keep_unanswered=False), len(thread.turns))


def _among(served: ServedWorkspace, asked: ChatRequest) -> tuple[str, ...] | None:
    if not asked.doc_ids:
        return served.context.within
    return tuple(record_of(served.context, doc_id).doc_id for doc_id in asked.doc_ids)


def _recorded(
    served: ServedWorkspace, answer: Answer, started: datetime, steps: list[StepTime], asked: ChatRequest
) -> str:
    """Record the run and return its id; empty if runs are not recorded."""
    folder, recording = served.storage.folder, served.storage.recording
    if folder is None or not recording.enabled:
        return ""
    index, settings = served.context.workspace.index, served.settings(asked.settings)
    with Recorder(index, folder, settings, recording, notify=lambda text: None) as recorder:
        return recorder.record(answer, started=started, doc_ids=asked.doc_ids or (), steps=steps)


def _events(served: ServedWorkspace, asked: ChatRequest) -> AsyncGenerator[ServerSentEvent, None]:
    """Return the events of a turn, `replied` or `failed` last; closing the generator abandons the turn."""
    started, before, steps, run = datetime.now(UTC), perf_counter(), list[StepTime](), ""

    async def shown(each: Event | _Said) -> ServerSentEvent | None:
        nonlocal before, run
        if isinstance(each, _Said):
            told = {"kind": "replied", "thread": asked.thread, "run": run}
            return event("replied", told | {"turn": turn_shown(each.turn), "turns": each.turns})
        if isinstance(each, Answered):
            run = await run_sync(_recorded, served, each.answer, started, steps, asked)
            return None
        if isinstance(each, StepEnded):
            steps.append(StepTime(node=each.node, seconds=round(perf_counter() - before, 4)))
            before = perf_counter()
        return event(each.kind, each.model_dump(mode="json"))

    return served.calls.stream(astream_run(lambda on_step: _say(served, asked, on_step)), shown)


def turn_shown(turn: Turn) -> Json:
    """Return a turn as JSON, with the page numbers and pictures of its citations."""
    return with_page_numbers(cast(Json, turn.fields()), pictures=True)
