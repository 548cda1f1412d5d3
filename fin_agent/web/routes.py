"""What the workspace asks of the server beside the HTTP API: conversations, readings, statements, uploads, runs, files
to take away."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, cast

from anyio.to_thread import run_sync
from fastapi import Body, FastAPI, Query, Request
from fastapi import Path as InPath
from fastapi.responses import JSONResponse, Response
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
from sse_starlette import EventSourceResponse, ServerSentEvent

from fin_agent.analyst.events import Answered, StepEnded
from fin_agent.answering.answer import Answer
from fin_agent.config import Recording, Settings, recording_from_environment
from fin_agent.errors import FinAgentError
from fin_agent.evidence.preparing import prepare
from fin_agent.filings.reader import READABLE, is_doc_id, is_readable
from fin_agent.graphs.answer import answer_question
from fin_agent.graphs.answer.context import AnswerContext, having_read
from fin_agent.graphs.answer.streaming import astream_run
from fin_agent.graphs.chat.conversation import ChatThread
from fin_agent.graphs.chat.state import ChatContext, Turn
from fin_agent.graphs.chat.threads import FILE_NAME, ThreadStore, ThreadStoreError
from fin_agent.index.ingest import IngestedFile, Outcome, ingest
from fin_agent.index.ingest_lock import lock_owner
from fin_agent.index.protocol import PageKey
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.models.metering import Budget
from fin_agent.models.settings import Preset
from fin_agent.presentation import report, workbook
from fin_agent.presentation.plain import told_warnings
from fin_agent.query import tree
from fin_agent.query.editing import intent_of_edit
from fin_agent.query.parsing import NoReadingError
from fin_agent.runs.comparing import answer_differences, run_differences
from fin_agent.runs.run import StepTime, running_version
from fin_agent.runs.store import NoSuchRunError, Recorder, RunStore, store_file
from fin_agent.serving import openapi
from fin_agent.serving.filings import Json, record_of, with_page_numbers
from fin_agent.serving.pictures import box_frames, page_picture
from fin_agent.serving.problems import BusyError, NotThereError, Problem, names_only, require_extra
from fin_agent.tools.arguments import DocIds, PageSearchArguments
from fin_agent.tools.context import ToolContext
from fin_agent.tools.errors import ToolInputError
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box
from fin_agent.web import views
from fin_agent.web.series import SeriesAsked, series_shown
from fin_agent.written_file import write_whole

if TYPE_CHECKING:
    from fin_agent.serving.http_api import Calls

UPLOAD_FOLDER = "uploads"
_MOST_RUNS = 200
DocId = Annotated[str, InPath(max_length=500)]
_UNSAFE = re.compile(r"[^\w.()&, -]+")
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@dataclass(frozen=True, slots=True)
class Keeping:
    """What a server may write, and where: nothing without a folder."""

    folder: Path | None = None
    """Of the index; runs and threads are kept beside it."""
    uploads: bool = False
    """Whether filings may be added."""
    recording: Recording = field(default_factory=lambda: Recording(enabled=False))

    @property
    def name(self) -> str:
        """Of the index, for people."""
        return self.folder.name if self.folder is not None else "on a cluster"

    @classmethod
    def beside(cls, folder: Path | None, *, uploads: bool) -> Keeping:
        """In the folder of an index, as the environment says. Raises SettingsError."""
        return cls(folder, uploads and folder is not None, recording_from_environment())


@dataclass(frozen=True, slots=True)
class Offers:
    """What people may choose in the workspace beside what the server was started with."""

    models: tuple[str, ...] = ()
    """Chat models by name; the one of the settings is offered anyway, and so are rules alone."""
    indexes: tuple[tuple[str, str], ...] = ()
    """(name, what its paths begin with) of every index that is served; none where there is only one."""


_EDITED = {
    "anyOf": [{"type": "null"}, {"type": "object", "required": ["question"], "additionalProperties": False}],
    "description": "The `query` that `/reading` gives, with edits: it is asked in place of the message.",
}
"""Its tree nests without end, which generators of calls from a schema do not bear."""


class QuestionSettings(BaseModel):
    """What one question is answered with in place of what the server was started with, within its limits."""

    model_config = ConfigDict(extra="forbid")

    model: Annotated[
        str | None,
        Field(max_length=200, description="`rules`, or a model that `/workspace` lists.", examples=["rules"]),
    ] = None
    preset: Annotated[Preset | None, Field(description="How much is asked of the model.")] = None
    budget: Annotated[Budget, Field(description="Limits of the question, within those of the server.")] = Budget()


class ChatRequest(BaseModel):
    """A message, and the conversation that it goes on."""

    message: Annotated[str, Field(min_length=1, max_length=2_000, examples=["and the year before?"])]
    thread: Annotated[
        str | None,
        Field(
            pattern=r"^[\w.-]{1,80}$",
            description="Name of the conversation, which is begun where there is none of it; "
            "without one the message stands alone.",
            examples=["chat-1"],
        ),
    ] = None
    doc_ids: DocIds = None
    query: Annotated[tree.Query | None, WithJsonSchema(_EDITED)] = None
    settings: QuestionSettings = QuestionSettings()
    stream: Annotated[bool, Field(description="Whether events are sent; so does Accept: text/event-stream.")] = False


class TurnShown(BaseModel):
    """A message and what was replied."""

    asked: str
    kind: str = Field(description="`question`, `follow-up`, `greeting` ...: how the message was read.")
    question: str | None = Field(description="The whole question that was answered, where one was.")
    said: str
    answers: list[Any] = Field(description="As `/ask` gives them.")
    warnings: list[str]


class ThreadShown(BaseModel):
    """A conversation."""

    name: str
    title: str = Field(description="Its first message.")
    turns: int


class ThreadsListed(BaseModel):
    """The conversations that are kept, the last one that was used first."""

    threads: list[ThreadShown]


class TurnsShown(BaseModel):
    """What was said in a conversation."""

    turns: list[TurnShown]
    unanswered: str = Field(description="The last message, where it got no reply: the server was stopped.")


class FetchRequest(BaseModel):
    """Filings of a company that EDGAR has."""

    company: Annotated[str, Field(min_length=1, max_length=100, description="Ticker or CIK.")]
    form: Annotated[str, Field(max_length=20)] = "10-K"
    years: Annotated[str, Field(max_length=20, description="`2023` or `2022-2024`; the newest where empty.")] = ""


class RequestToExport(BaseModel):
    """Answers, as `/ask` or `/chat` gave them."""

    answers: Annotated[list[Answer], Field(min_length=1, max_length=50)]


class _Said(NamedTuple):
    turn: Turn
    turns: int
    """How many the conversation has by now: more than a page knows of, where it went on in another."""


class _Desk:
    """What the routes work with."""

    def __init__(self, context: ToolContext, keeping: Keeping, calls: Calls, offers: Offers) -> None:
        self.context, self.keeping, self.calls, self.offers = context, keeping, calls, offers
        self.chat = ChatContext.over(context.answering, doc_ids=context.within)
        self._memory = InMemorySaver()
        self._by_settings = lru_cache(maxsize=16)(self._made)

    @property
    def models(self) -> tuple[str, ...]:
        """The chat models that may answer."""
        settings = self.context.settings
        own = (settings.models.model,) if settings.by_model and settings.models.model else ()
        return tuple(dict.fromkeys((*own, *self.offers.models)))

    def settings(self, chosen: QuestionSettings) -> Settings:
        """The server's settings with what was chosen for a question. Raises ToolInputError for a model not offered."""
        settings, models = self.context.settings, self.context.settings.models
        if chosen.model is not None and chosen.model not in ("rules", *self.models):
            offered = ", ".join(("rules", *self.models))
            raise ToolInputError("this model is not offered here", subject=chosen.model, remedy=f"Choose: {offered}")
        update: dict[str, Any] = {"budget": models.budget.within(chosen.budget)}
        if chosen.preset is not None:
            update["preset"] = chosen.preset
        if chosen.model not in (None, "rules", models.model):
            update |= {"model": chosen.model, "small": None, "roles": {}}
        analyst = settings.analyst if chosen.model is None else "rules" if chosen.model == "rules" else "llm"
        return settings.model_copy(update={"models": models.model_copy(update=update), "analyst": analyst})

    def answering(self, settings: Settings) -> AnswerContext:
        """Who answers by these settings. Raises ModelSetupError."""
        if settings == self.context.settings:
            return self.context.answering
        return self._by_settings(settings.model_dump_json())

    def _made(self, settings: str) -> AnswerContext:
        return AnswerContext.from_settings(self.context.workspace, Settings.model_validate_json(settings))

    @contextmanager
    def threads(self) -> Iterator[ThreadStore | InMemorySaver]:
        """Where conversations are kept: beside the index, in memory where that cannot be."""
        folder = self.keeping.folder
        store: ThreadStore | None = None
        if folder is not None:
            with suppress(ThreadStoreError):
                store = ThreadStore(folder / FILE_NAME)
        with store or nullcontext():
            try:
                yield store or self._memory
            except ThreadStoreError as error:
                raise BusyError(error.what, remedy="Ask again, or begin a new conversation") from error

    @contextmanager
    def runs(self) -> Iterator[RunStore]:
        """The runs that are recorded. Raises NotThereError where none are."""
        if self.keeping.folder is None or not self.keeping.recording.enabled:
            raise NotThereError(
                "no runs are recorded here", remedy="Serve an index of a folder, without FIN_AGENT_RECORD=0"
            )
        with RunStore(store_file(self.keeping.folder, self.keeping.recording), self.keeping.recording) as store:
            try:
                yield store
            except NoSuchRunError as error:
                raise NotThereError(error.what, subject=error.subject, remedy="Runs lists those there are") from error

    def said(self, asked: ChatRequest, settings: Settings, on_step: Callable[[str], None]) -> _Said:
        """The turn that a message makes; a message that is left is taken out again."""
        message, chat, within = asked.message, self.chat, self._among(asked)
        if asked.query is not None:
            intent = intent_of_edit(asked.query, self.context.workspace)
            # An assistant would read the words once more: the reading is what is asked.
            answering, message = having_read(self.answering(settings), intent), intent.question
            chat = ChatContext(answering, doc_ids=within)
        elif asked.doc_ids or settings != self.context.settings:
            chat = ChatContext.over(self.answering(settings), doc_ids=within)
        with self.threads() as keeper:
            thread = ChatThread(chat, keeper if asked.thread else InMemorySaver(), asked.thread or "alone")
            return _Said(thread.say(message, on_step, keep_unanswered=False), len(thread.turns))

    def _among(self, asked: ChatRequest) -> tuple[str, ...] | None:
        if not asked.doc_ids:
            return self.context.within
        return tuple(record_of(self.context, doc_id).doc_id for doc_id in asked.doc_ids)

    def record(self, answer: Answer, started: datetime, steps: list[StepTime], asked: ChatRequest) -> str:
        """The id of the run that is recorded; empty where none is."""
        folder, recording = self.keeping.folder, self.keeping.recording
        if folder is None or not recording.enabled:
            return ""
        index, settings = self.context.workspace.index, self.settings(asked.settings)
        with Recorder(index, folder, settings, recording, notify=lambda text: None) as recorder:
            return recorder.record(answer, started=started, doc_ids=asked.doc_ids or (), steps=steps)

    async def events(self, asked: ChatRequest) -> AsyncGenerator[ServerSentEvent, None]:
        """Events of the turn, `replied` last, or `failed`; closing it leaves the turn."""
        async with self.calls.place():
            yield ServerSentEvent(comment="at work", sep="\n")
            started, before, steps, run = datetime.now(UTC), perf_counter(), list[StepTime](), ""
            happening = astream_run(lambda on_step: self.said(asked, self.settings(asked.settings), on_step))
            async with aclosing(happening):
                try:
                    async for event in self.calls.in_time(happening):
                        if isinstance(event, _Said):
                            told = {"kind": "replied", "thread": asked.thread, "run": run}
                            yield _sent("replied", told | {"turn": turn_shown(event.turn), "turns": event.turns})
                        elif isinstance(event, Answered):
                            run = await run_sync(self.record, event.answer, started, steps, asked)
                        else:
                            if isinstance(event, StepEnded):
                                steps.append(StepTime(node=event.node, seconds=round(perf_counter() - before, 4)))
                                before = perf_counter()
                            yield _sent(event.kind, event.model_dump(mode="json"))
                except Exception as error:
                    yield _sent("failed", Problem.of(error).model_dump())


def turn_shown(turn: Turn) -> Json:
    """A turn with the page numbers and pictures of what it cites."""
    return with_page_numbers(cast(Json, turn.fields()), pictures=True)


def _sent(kind: str, told: object) -> ServerSentEvent:
    return ServerSentEvent(JSONResponse(told).body.decode(), event=kind, sep="\n")


def add_routes(app: FastAPI, context: ToolContext, keeping: Keeping, calls: Calls, offers: Offers) -> None:
    """The conversations of the API, and what only the workspace calls."""
    desk, problems = _Desk(context, keeping, calls, offers), openapi.problems

    @app.post(
        "/chat",
        response_model=TurnShown,
        response_class=JSONResponse,
        responses={**problems(403, 404, 409, 422, 503, 504), **openapi.CHAT_EVENTS},
        summary="Go on with a conversation",
        operation_id="chat",
    )
    async def chat(request: Request, asked: Annotated[ChatRequest, Body()]) -> Response:
        """One turn as JSON, or the events of `/ask` with `replied` as the last one."""
        if not asked.stream and "text/event-stream" not in request.headers.get("accept", ""):
            said = await calls.in_thread(
                lambda: desk.said(asked, desk.settings(asked.settings), lambda node: None), request
            )
            return JSONResponse(turn_shown(said.turn))
        events = desk.events(asked)
        begun = await anext(events)

        async def going_on() -> AsyncGenerator[ServerSentEvent, None]:
            async with aclosing(events):
                yield begun
                async for event in events:
                    yield event

        return EventSourceResponse(going_on(), ping=15, sep="\n")

    @app.get(
        "/threads",
        response_model=ThreadsListed,
        responses=problems(403, 422, 503),
        summary="List the conversations",
        operation_id="list_threads",
    )
    async def threads(request: Request) -> Response:
        """The last one that was used first."""

        def listed() -> Response:
            with desk.threads() as keeper:
                kept = keeper.listed() if isinstance(keeper, ThreadStore) else []
            return JSONResponse(
                {"threads": [{"name": each.name, "title": each.title, "turns": each.turns} for each in kept]}
            )

        return await calls.in_thread(listed, request)

    @app.get(
        "/threads/{name}",
        response_model=TurnsShown,
        responses=problems(403, 422, 503),
        summary="What was said in a conversation",
        operation_id="show_thread",
    )
    async def thread(request: Request, name: Annotated[str, InPath(pattern=r"^[\w.-]{1,80}$")]) -> Response:
        """Nothing, where none has this name."""

        def shown() -> Response:
            with desk.threads() as keeper:
                talked = ChatThread(desk.chat, keeper, name)
                turns: list[Json] = [turn_shown(turn) for turn in talked.turns]
                return JSONResponse({"turns": turns, "unanswered": talked.unanswered})

        return await calls.in_thread(shown, request)

    @app.delete("/threads/{name}", include_in_schema=False)
    async def forget(request: Request, name: Annotated[str, InPath(pattern=r"^[\w.-]{1,80}$")]) -> Response:
        def forgotten() -> Response:
            with desk.threads() as keeper:
                keeper.delete_thread(name)
            return JSONResponse({"forgotten": name})

        return await calls.in_thread(forgotten, request)

    def read(path: str, shown: Callable[..., Json]) -> None:
        """What a function of the filing named gives, at a path."""

        async def called(request: Request, doc_id: DocId) -> Response:
            return await calls.in_thread(lambda: JSONResponse(shown(context, doc_id)), request)

        app.get(path, include_in_schema=False)(called)

    read("/filings/{doc_id}/statements", views.statements_shown)
    read("/filings/{doc_id}/checks", views.checks_shown)

    @app.get("/filings/{doc_id}/statements/{statement}.xlsx", include_in_schema=False)
    async def statement_workbook(request: Request, doc_id: DocId, statement: Statement) -> Response:
        def made() -> Response:
            record = record_of(context, doc_id)
            tables = views.statement_tables(record, context.workspace, statement)
            return _file(
                workbook.statement_workbook(record, statement, tables), f"{doc_id}-{statement.value}.xlsx", _XLSX
            )

        return await calls.in_thread(made, request)

    @app.get("/pages/{doc_id}/{page_number}.json", include_in_schema=False)
    async def page(request: Request, doc_id: DocId, page_number: int) -> Response:
        return await calls.in_thread(lambda: JSONResponse(views.page_shown(context, doc_id, page_number)), request)

    @app.get("/reading", include_in_schema=False)
    async def reading(request: Request, question: Annotated[str, Query(min_length=1, max_length=2_000)]) -> Response:
        def shown() -> Response:
            try:
                return JSONResponse(views.reading_shown(question, context.workspace))
            except NoReadingError as error:
                return JSONResponse(views.unreadable(error))

        return await calls.in_thread(shown, request)

    @app.get("/choices", include_in_schema=False)
    async def choices(
        request: Request,
        company: Annotated[list[Annotated[str, Field(max_length=300)]] | None, Query(max_length=60)] = None,
    ) -> Response:
        return await calls.in_thread(lambda: JSONResponse(views.choices(context.workspace, company or ())), request)

    @app.get("/found", include_in_schema=False)
    async def found(request: Request, asked: Annotated[PageSearchArguments, Query()]) -> Response:
        return await calls.in_thread(lambda: JSONResponse(views.pages_shown(context, asked)), request)

    @app.get("/series", include_in_schema=False)
    async def series(request: Request, asked: Annotated[SeriesAsked, Query()]) -> Response:
        return await calls.in_thread(lambda: JSONResponse(series_shown(context, asked)), request)

    @app.get("/workspace", include_in_schema=False)
    async def workspace(request: Request) -> Response:
        return await calls.in_thread(lambda: JSONResponse(_workspace_shown(desk)), request)

    @app.put("/uploads/{name}", include_in_schema=False)
    async def upload(request: Request, name: Annotated[str, InPath(max_length=300)]) -> Response:
        _refuse_filings(keeping)
        sent = await request.body()
        async with calls.place():  # reading a long filing takes longer than an answer may: it ends under its own limits
            return JSONResponse(await run_sync(_added, desk, name, sent))

    @app.post("/fetched", include_in_schema=False)
    async def fetch(request: Request, asked: Annotated[FetchRequest, Body()]) -> Response:
        _refuse_filings(keeping)
        async with calls.place():
            return JSONResponse(await run_sync(_fetched, desk, asked))

    @app.get("/runs", include_in_schema=False)
    async def runs(request: Request) -> Response:
        def listed() -> Response:
            with desk.runs() as store:
                return JSONResponse({"runs": [line.model_dump(mode="json") for line in store.listed(_MOST_RUNS)]})

        return await calls.in_thread(listed, request)

    @app.get("/runs/compare", include_in_schema=False)
    async def compare(request: Request, first: str, second: str) -> Response:
        def compared() -> Response:
            with desk.runs() as store:
                one, other = store.run(first), store.run(second)
            shown = [_run_shown(each) for each in (one, other)]
            return JSONResponse({"runs": shown, "differences": _differences(run_differences(one, other))})

        return await calls.in_thread(compared, request)

    @app.get("/runs/{name}", include_in_schema=False)
    async def run(request: Request, name: str) -> Response:
        def shown() -> Response:
            with desk.runs() as store:
                return JSONResponse(_run_shown(store.run(name), trace=True))

        return await calls.in_thread(shown, request)

    @app.post("/runs/{name}/replay", include_in_schema=False)
    async def replay(request: Request, name: str) -> Response:
        def replayed() -> Response:
            with desk.runs() as store:
                run = store.run(name)
            pages = [PageKey(place.doc_id, place.page) for place in run.pages]
            again = answer_question(run.question, context.answering, doc_ids=run.doc_ids or None, pages=pages)
            return JSONResponse(
                {
                    "answer": with_page_numbers(
                        cast(Json, again.model_dump(mode="json", exclude={"trace"})), pictures=True
                    ),
                    "same_settings": run.settings == context.settings,
                    "differences": _differences(answer_differences(run.answer, again)),
                }
            )

        return await calls.in_thread(replayed, request)

    @app.post("/export/{kind}", include_in_schema=False)
    async def export(
        request: Request, kind: Literal["xlsx", "csv", "html"], asked: Annotated[RequestToExport, Body()]
    ) -> Response:
        def made() -> Response:
            answers = asked.answers
            if kind == "xlsx":
                return _file(workbook.answer_workbook(answers), "answer.xlsx", _XLSX)
            if kind == "csv":
                return _file(workbook.answer_csv(answers).encode("utf-8-sig"), "answer.csv", "text/csv")
            return _file(report.html_report(answers, partial(_picture, context)).encode(), "answer.html", "text/html")

        return await calls.in_thread(made, request)


def _refuse_filings(keeping: Keeping) -> None:
    if not keeping.uploads:
        raise ToolInputError("this server takes no filings", remedy="Whoever runs it leaves out --read-only and --doc")


def _picture(context: ToolContext, doc_id: str, page: int, boxes: list[Box]) -> bytes | None:
    """A page (0-based) with what is framed on it; None where it cannot be drawn: a report goes without."""
    try:
        return page_picture(record_of(context, doc_id), page, box_frames(boxes)).png
    except FinAgentError:
        return None


def _file(content: bytes, name: str, kind: str) -> Response:
    # A browser keeps it and never shows it: what it holds comes from filings.
    headers = {
        "Content-Disposition": f'attachment; filename="{_UNSAFE.sub("_", name).encode("ascii", "replace").decode()}"',
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox",
    }
    return Response(content, media_type=kind, headers=headers)


def _workspace_shown(desk: _Desk) -> Json:
    """What the workspace is, and what of it can be chosen: never a key, nor where anything lies."""
    settings, folder = desk.context.settings, desk.keeping.folder
    owner = lock_owner(folder) if folder is not None else None
    return {
        "version": running_version(),
        "filings": len(desk.context.workspace.index.entries()),
        "companies": len(desk.context.workspace.directory.companies),
        "index": desk.keeping.name,
        "indexes": [{"name": name, "prefix": prefix} for name, prefix in desk.offers.indexes],
        "written_for": None if owner is None else round(owner.seconds),
        "only_some": desk.context.within is not None,
        "uploads": desk.keeping.uploads,
        "readable": list(READABLE),
        "runs": folder is not None and desk.keeping.recording.enabled,
        "model": settings.models.model if settings.by_model else "rules",
        "models": ["rules", *desk.models],
        "preset": settings.models.preset.value,
        "presets": [each.value for each in Preset],
        "budget": settings.models.budget.model_dump(mode="json"),
        "strategy": settings.strategy,
        "rounds": settings.rounds,
        "example": views.example(desk.context.workspace),
    }


def _added(desk: _Desk, name: str, sent: bytes) -> Json:
    """What became of a filing that was sent. Raises ToolInputError where its name is none, and what ingest raises."""
    folder = desk.keeping.folder
    assert folder is not None, "uploads need a folder"
    plain = _UNSAFE.sub("_", Path(name.replace("\\", "/")).name).strip(". ")[-200:]
    if not is_readable(Path(plain)) or not is_doc_id(plain):
        raise ToolInputError("this is no filing by its name", remedy=f"Give files that end in {', '.join(READABLE)}")
    file = folder / UPLOAD_FOLDER / plain
    file.parent.mkdir(exist_ok=True)
    here = file.read_bytes() if file.is_file() else None
    if here is not None and here != sent:
        raise ToolInputError(
            "another filing of this name is here already",
            subject=plain,
            remedy="Give yours another name, and add it again",
        )
    write_whole(file, sent)
    became = _ingested(folder, [file])[0]
    if here is None and isinstance(became, dict) and became["failed"]:
        file.unlink(missing_ok=True)  # what cannot be read takes no name from another
    return became


def _fetched(desk: _Desk, asked: FetchRequest) -> Json:
    """What became of filings that EDGAR has. Raises ToolInputError where they cannot be fetched."""
    folder = desk.keeping.folder
    assert folder is not None, "uploads need a folder"
    try:
        require_extra("edgar", ["httpx", "tenacity"])
        from fin_agent.downloads.choosing import years_in
        from fin_agent.downloads.connection import EdgarConnection
        from fin_agent.downloads.fetching import Edgar

        settings = desk.context.settings.edgar
        with EdgarConnection(settings) as connection:
            edgar = Edgar(connection, settings)
            found = edgar.find(asked.company, (asked.form,), years_in(asked.years) if asked.years else None)
            files = edgar.fetch(found, folder / UPLOAD_FOLDER)
    except FinAgentError as error:
        raise ToolInputError(error.what, subject=asked.company, remedy=error.remedy) from error
    lost: list[Json] = [
        _outcome(file.name, file.name, Outcome.FAILED, names_only(file.reason), names_only(file.remedy))
        for file in files
        if file.path is None
    ]
    return {"files": [*lost, *_ingested(folder, [file.path for file in files if file.path is not None])]}


def _ingested(folder: Path, files: Sequence[Path]) -> list[Json]:
    with SqliteIndex(folder) as index:
        report = ingest(files, index, prepare, workers=1, wait=30)
        sources = {each.doc_id: Path(index.filing(each.doc_id).source) for each in index.entries()}
    return [_became(each, sources) for each in report.files]


def _became(became: IngestedFile, sources: Mapping[str, Path]) -> Json:
    # Another filing may hold the id, read from a folder that is nobody's business.
    paths = (became.path, *(sources[each] for each in (became.doc_id,) if each in sources))
    reason, remedy = names_only(became.reason, *paths), names_only(became.remedy, *paths)
    warnings = [names_only(each, *paths) for each in told_warnings(became.warnings)]
    return _outcome(became.path.name, became.doc_id, became.outcome, reason, remedy, became.pages, warnings)


def _outcome(
    name: str, doc_id: str, outcome: Outcome, reason: str, remedy: str, pages: int = 0, warnings: Sequence[str] = ()
) -> Json:
    return {
        "name": name,
        "doc_id": doc_id,
        "outcome": outcome.value,
        "reason": reason,
        "remedy": remedy,
        "pages": pages,
        "warnings": list(warnings),
        "failed": outcome is Outcome.FAILED,
    }


def _run_shown(run: Any, *, trace: bool = False) -> Json:
    answer = run.answer.model_dump(mode="json", exclude=None if trace else {"trace"})
    return {
        "id": run.id,
        "started": run.started.isoformat(),
        "question": run.question,
        "analyst": run.analyst,
        "version": run.version,
        "filings": run.index.filings,
        "steps": [step.model_dump() for step in run.steps],
        "answer": with_page_numbers(answer, pictures=True),
    }


def _differences(found: Any) -> Json:
    return [
        {"part": each.part, "first": list(each.first), "second": list(each.second), "note": each.note} for each in found
    ]
