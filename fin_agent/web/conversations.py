"""Routes of conversations: messages with their events, and stored threads."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
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

from fin_agent.analyst.events import Answered, StepEnded
from fin_agent.answering.answer import Answer
from fin_agent.graphs.answer.context import with_intent
from fin_agent.graphs.answer.streaming import astream_run
from fin_agent.graphs.chat.conversation import ChatThread
from fin_agent.graphs.chat.state import ChatContext, Turn
from fin_agent.graphs.chat.threads import ThreadStore
from fin_agent.query import tree
from fin_agent.query.editing import intent_of_edit
from fin_agent.runs.run import StepTime
from fin_agent.runs.store import Recorder
from fin_agent.serving import openapi
from fin_agent.serving.event_stream import streamed
from fin_agent.serving.filing_resources import Json, record_of, with_page_numbers
from fin_agent.serving.problem_details import Problem
from fin_agent.tools.arguments import DocIds
from fin_agent.web.server_options import QuestionSettings, ServedWorkspace

_EDITED = {
    "anyOf": [{"type": "null"}, {"type": "object", "required": ["question"], "additionalProperties": False}],
    "description": "The `query` that `/reading` gives, with edits: it is asked in place of the message.",
}
"""A schema without the nested tree of a query, which generators of test calls cannot handle."""


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


class ThreadShown(BaseModel):
    """A conversation."""

    name: str
    title: str = Field(description="Its first message.")
    turns: int


class ThreadsListed(BaseModel):
    """The stored conversations, the most recently used first."""

    threads: list[ThreadShown]


class TurnsShown(BaseModel):
    """The turns of a conversation."""

    turns: list[TurnShown]
    unanswered: str = Field(description="The last message if it has no reply, since the server was stopped.")


class _Said(NamedTuple):
    turn: Turn
    turns: int
    """Number of turns in the conversation, which may be more than the page has seen."""


def add_conversations(app: FastAPI, served: ServedWorkspace) -> None:
    """Add the routes `/chat` and `/threads`."""
    calls, problems = served.calls, openapi.problems

    @app.post(
        "/chat",
        response_model=TurnShown,
        response_class=JSONResponse,
        responses={**problems(403, 404, 409, 422, 503, 504), **openapi.CHAT_EVENTS},
        summary="Send a message in a conversation",
        operation_id="chat",
    )
    async def chat(request: Request, asked: Annotated[ChatRequest, Body()]) -> Response:
        """Return one turn as JSON, or the events of `/ask` with `replied` as the last one."""
        if not asked.stream and "text/event-stream" not in request.headers.get("accept", ""):
            said = await calls.in_thread(lambda: _say(served, asked, lambda node: None), request)
            return JSONResponse(turn_shown(said.turn))
        return await streamed(_events(served, asked))

    @app.get(
        "/threads",
        response_model=ThreadsListed,
        responses=problems(403, 422, 503),
        summary="List the conversations",
        operation_id="list_threads",
    )
    async def threads(request: Request) -> Response:
        """The most recently used conversation is listed first."""

        def listed() -> Response:
            with served.threads() as keeper:
                kept = keeper.listed() if isinstance(keeper, ThreadStore) else []
            return JSONResponse(
                {"threads": [{"name": each.name, "title": each.title, "turns": each.turns} for each in kept]}
            )

        return await calls.in_thread(listed, request)

    @app.get(
        "/threads/{name}",
        response_model=TurnsShown,
        responses=problems(403, 422, 503),
        summary="List the turns of a conversation",
        operation_id="show_thread",
    )
    async def thread(request: Request, name: Annotated[str, InPath(pattern=r"^[\w.-]{1,80}$")]) -> Response:
        """The list is empty if there is no conversation with this name."""

        def shown() -> Response:
            with served.threads() as keeper:
                talked = ChatThread(served.chat, keeper, name)
                turns: list[Json] = [turn_shown(turn) for turn in talked.turns]
                return JSONResponse({"turns": turns, "unanswered": talked.unanswered})

        return await calls.in_thread(shown, request)

    @app.delete("/threads/{name}", include_in_schema=False)
    async def forget(request: Request, name: Annotated[str, InPath(pattern=r"^[\w.-]{1,80}$")]) -> Response:
        def forgotten() -> Response:
            with served.threads() as keeper:
                keeper.delete_thread(name)
            return JSONResponse({"forgotten": name})

        return await calls.in_thread(forgotten, request)


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


async def _events(served: ServedWorkspace, asked: ChatRequest) -> AsyncGenerator[ServerSentEvent, None]:
    """Yield the events of a turn, `replied` or `failed` last; closing the generator abandons the turn."""
    async with served.calls.place():
        yield ServerSentEvent(comment="at work", sep="\n")
        started, before, steps, run = datetime.now(UTC), perf_counter(), list[StepTime](), ""
        happening = astream_run(lambda on_step: _say(served, asked, on_step))
        async with aclosing(happening):
            try:
                async for event in served.calls.in_time(happening):
                    if isinstance(event, _Said):
                        told = {"kind": "replied", "thread": asked.thread, "run": run}
                        yield _sent("replied", told | {"turn": turn_shown(event.turn), "turns": event.turns})
                    elif isinstance(event, Answered):
                        run = await run_sync(_recorded, served, event.answer, started, steps, asked)
                    else:
                        if isinstance(event, StepEnded):
                            steps.append(StepTime(node=event.node, seconds=round(perf_counter() - before, 4)))
                            before = perf_counter()
                        yield _sent(event.kind, event.model_dump(mode="json"))
            except Exception as error:
                yield _sent("failed", Problem.of(error).model_dump())


def turn_shown(turn: Turn) -> Json:
    """Return a turn as JSON, with the page numbers and pictures of its citations."""
    return with_page_numbers(cast(Json, turn.fields()), pictures=True)


def _sent(kind: str, told: object) -> ServerSentEvent:
    return ServerSentEvent(JSONResponse(told).body.decode(), event=kind, sep="\n")
