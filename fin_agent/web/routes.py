"""Routes of the workspace besides the HTTP API: conversations, readings, statements, charts, runs, added filings."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal, cast

from anyio.to_thread import run_sync
from fastapi import Body, FastAPI, Request
from fastapi import Path as InPath
from fastapi.responses import FileResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel, Field, WithJsonSchema
from sse_starlette import ServerSentEvent

from fin_agent.analyst.events import Answered, Event, StepEnded
from fin_agent.answering.answer import Answer
from fin_agent.atomic_write import atomic_write
from fin_agent.distribution import installed_version
from fin_agent.downloads.settings import EdgarSettings
from fin_agent.errors import FinAgentError, require_extra
from fin_agent.evidence.filing_preparation import prepare
from fin_agent.filings.reader import READABLE, is_doc_id, is_readable
from fin_agent.graphs.answer import answer_question
from fin_agent.graphs.answer.context import with_intent
from fin_agent.graphs.answer.streaming import astream_run
from fin_agent.graphs.chat.graph import ChatThread
from fin_agent.graphs.chat.state import ChatContext, Turn
from fin_agent.graphs.chat.threads import ThreadStore
from fin_agent.index.ingest import IngestedFile, Outcome, ingest
from fin_agent.index.ingest_lock import LOCK_NAME, lock_owner
from fin_agent.index.protocol import PageKey
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.lexicon.words import load_yaml
from fin_agent.models.settings import Preset
from fin_agent.presentation import exports
from fin_agent.presentation.filings import statement_parts
from fin_agent.presentation.json_fields import as_plain, fields_of
from fin_agent.presentation.pages import join_tables
from fin_agent.presentation.terminal_text import warning_lines_by_page
from fin_agent.query import tree
from fin_agent.query.editing import intent_of_edit
from fin_agent.runs.run import Run, StepTime, answer_differences, run_differences
from fin_agent.runs.store import Recorder
from fin_agent.serving.calls import EVENTS, event, streamed
from fin_agent.serving.filing_resources import Json, box_frames, page_picture, record_of, with_page_numbers
from fin_agent.serving.problem_details import names_only
from fin_agent.tools.arguments import DocIds
from fin_agent.tools.context import ToolContext
from fin_agent.tools.errors import ToolInputError
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box
from fin_agent.web import views
from fin_agent.web.server_options import QuestionSettings, ServedWorkspace

_MAX_RUNS = 200
_SAID = load_yaml("texts", "fin_agent.serving")["fields"]
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


OPEN_PATHS = ("/", "/docs", "/static/*")
"""Paths that need no token: they contain nothing of filings, and ask the user for the token."""
_STATIC = Path(__file__).parent / "static"
_HEADERS: dict[str, str] = load_yaml("headers", __package__)
_UNSAFE = re.compile(r"[^\w.()&, -]+")
"""Characters of a file name that have a meaning for a system or a browser."""


class _Files(StaticFiles):  # type: ignore[misc]
    def file_response(self, *given: Any, **named: Any) -> Response:
        response = super().file_response(*given, **named)
        response.headers.update(_HEADERS)
        return response


def serve_files(app: FastAPI) -> None:
    """Serve the workspace at `/`, the description of the API at `/docs`, and scripts and styles below `/static`.

    They load nothing from other hosts and send nothing to them.
    """
    app.mount("/static", _Files(directory=_STATIC), name="static")

    async def shown(request: Request) -> Response:
        page = "index.html" if request.url.path == "/" else "docs.html"
        return FileResponse(_STATIC / page, headers=_HEADERS)

    for path in ("/", "/docs"):
        app.get(path, include_in_schema=False)(shown)


def add_routes(app: FastAPI, served: ServedWorkspace) -> None:
    """Add the routes of conversations and uploads, and those that only the workspace calls."""
    context, calls = served.context, served.calls
    add_conversations(app, served)
    add_uploads(app, served)
    get = partial(app.get, include_in_schema=False)

    for path, shown in (
        ("/filings/{doc_id}/statements", views.statements_shown),
        ("/filings/{doc_id}/checks", views.checks_shown),
        ("/pages/{doc_id}/{page_number}.json", views.page_shown),
        ("/reading", views.query_view),
        ("/found", views.pages_shown),
        ("/series", views.series_shown),
    ):
        get(path)(calls.threaded(partial(shown, context)))
    get("/choices")(calls.threaded(partial(views.choices, context.workspace)))
    get("/workspace")(calls.threaded(partial(_workspace_shown, served)))

    @get("/filings/{doc_id}/statements/{statement}.xlsx")
    @calls.threaded
    def statement_workbook(doc_id: views.DocId, statement: Statement) -> Response:
        record = record_of(context, doc_id)
        tables = join_tables(statement_parts(context.workspace, doc_id, statement)[1])
        content = exports.statement_workbook(record, statement, tables)
        return _file(content, f"{doc_id}-{statement.value}.xlsx", _XLSX)

    @get("/runs")
    @calls.threaded
    def runs() -> Json:
        with served.runs() as store:
            return {"runs": [line.model_dump(mode="json") for line in store.listed(_MAX_RUNS)]}

    @get("/runs/compare")
    @calls.threaded
    def compare(first: str, second: str) -> Json:
        with served.runs() as store:
            one, other = store.run(first), store.run(second)
        shown = [_run_shown(each) for each in (one, other)]
        return {"runs": shown, "differences": as_plain(run_differences(one, other))}

    @get("/runs/{name}")
    @calls.threaded
    def run(name: str) -> Json:
        with served.runs() as store:
            return _run_shown(store.run(name), trace=True)

    @app.post("/runs/{name}/replay", include_in_schema=False)
    @calls.threaded
    def replay(name: str) -> Json:
        with served.runs() as store:
            run = store.run(name)
        pages = [PageKey(place.doc_id, place.page) for place in run.pages]
        again = answer_question(run.question, context.answering, doc_ids=run.doc_ids or None, pages=pages)
        return {
            "answer": with_page_numbers(again.model_dump(mode="json", exclude={"trace"}), pictures=True),
            "same_settings": run.settings == context.settings,
            "differences": as_plain(answer_differences(run.answer, again)),
        }

    @app.post("/export/{kind}", include_in_schema=False)
    @calls.threaded
    def export(
        kind: Literal["xlsx", "csv", "html"],
        answers: Annotated[list[Answer], Body(embed=True, min_length=1, max_length=50)],
    ) -> Response:
        content = exports.exported(kind, answers, partial(_picture, context))
        return _file(content, f"answer.{kind}", _XLSX if kind == "xlsx" else f"text/{kind}")


def _picture(context: ToolContext, doc_id: str, page: int, boxes: list[Box]) -> bytes | None:
    """Return a page (0-based) with frames as PNG; None if it cannot be drawn, so that a report leaves it out."""
    try:
        return page_picture(record_of(context, doc_id), page, box_frames(boxes))
    except FinAgentError:
        return None


def _file(content: bytes, name: str, kind: str) -> Response:
    # Browsers must download and never display the file, since its content comes from filings.
    headers = {
        "Content-Disposition": f'attachment; filename="{_UNSAFE.sub("_", name).encode("ascii", "replace").decode()}"',
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox",
    }
    return Response(content, media_type=kind, headers=headers)


def _workspace_shown(served: ServedWorkspace) -> Json:
    """Return the state of the workspace and what can be chosen in it, without keys and paths."""
    settings, folder = served.context.settings, served.storage.folder
    written_since = (folder / LOCK_NAME).stat().st_mtime if folder is not None and lock_owner(folder) else None
    return {
        "version": installed_version(),
        "filings": len(served.context.workspace.index.entries()),
        "companies": len(served.context.workspace.directory.companies),
        "index": served.storage.name,
        "indexes": [{"name": name, "prefix": prefix} for name, prefix in served.offers.indexes],
        "written_for": None if written_since is None else round(time.time() - written_since),
        "only_some": served.context.within is not None,
        "uploads": served.storage.uploads,
        "readable": list(READABLE),
        "runs": folder is not None and served.storage.recording.enabled,
        "model": settings.models.model if settings.by_model else "rules",
        "models": ["rules", *served.models],
        "presets": list(Preset),
        **fields_of(settings, "preset=models.preset budget=models.budget strategy rounds"),
        "example": views.example(served.context.workspace),
    }


def _run_shown(run: Run, *, trace: bool = False) -> Json:
    fields = {"id", "started", "question", "analyst", "version", "steps"}
    answer = run.answer.model_dump(mode="json", exclude=None if trace else {"trace"})
    return {
        **run.model_dump(mode="json", include=fields),
        "filings": run.index.filings,
        "answer": with_page_numbers(answer, pictures=True),
    }


UPLOAD_FOLDER = "uploads"


class FetchRequest(BaseModel):
    """A request to fetch filings of a company from EDGAR."""

    company: Annotated[str, Field(min_length=1, max_length=100, description="Ticker or CIK.")]
    form: Annotated[str, Field(max_length=20)] = "10-K"
    years: Annotated[str, Field(max_length=20, description="`2023` or `2022-2024`; the newest where empty.")] = ""


def add_uploads(app: FastAPI, served: ServedWorkspace) -> None:
    """Add the routes `/uploads` and `/fetched`."""

    @app.put("/uploads/{name}", include_in_schema=False)
    async def upload(request: Request, name: Annotated[str, InPath(max_length=300)]) -> Response:
        folder, sent = _folder_of_uploads(served), await request.body()
        async with served.calls.place():  # reading has its own time limit, which is longer than that of an answer
            return JSONResponse(await run_sync(_uploaded, folder, name, sent))

    @app.post("/fetched", include_in_schema=False)
    async def fetch(request: Request, asked: Annotated[FetchRequest, Body()]) -> Response:
        folder = _folder_of_uploads(served)
        async with served.calls.place():
            return JSONResponse(await run_sync(_fetched, folder, asked, served.context.settings.edgar))


def _folder_of_uploads(served: ServedWorkspace) -> Path:
    folder = served.storage.folder
    if folder is None or not served.storage.uploads:
        raise ToolInputError(
            "this server does not accept filings", remedy="Ask its operator to start it without --read-only and --doc"
        )
    return folder


def _uploaded(folder: Path, name: str, sent: bytes) -> Json:
    """Store and ingest an uploaded filing. Raises ToolInputError for an unusable name, and what ingest raises."""
    plain = _UNSAFE.sub("_", Path(name.replace("\\", "/")).name).strip(". ")[-200:]
    if not is_readable(Path(plain)) or not is_doc_id(plain):
        raise ToolInputError(
            "the name of this file is not that of a filing", remedy=f"Give files that end in {', '.join(READABLE)}"
        )
    file = folder / UPLOAD_FOLDER / plain
    file.parent.mkdir(exist_ok=True)
    here = file.read_bytes() if file.is_file() else None
    if here is not None and here != sent:
        raise ToolInputError(
            "the index already has another filing of this name",
            subject=plain,
            remedy="Give yours another name, and add it again",
        )
    atomic_write(file, sent)
    became = _ingested(folder, [file])[0]
    if here is None and isinstance(became, dict) and became["failed"]:
        file.unlink(missing_ok=True)  # a file that cannot be read must not occupy its name
    return became


def _fetched(folder: Path, asked: FetchRequest, settings: EdgarSettings) -> Json:
    """Fetch and ingest filings from EDGAR. Raises ToolInputError if they cannot be fetched."""
    try:
        require_extra("edgar", ["httpx", "tenacity"])
        from fin_agent.downloads.connection import EdgarConnection
        from fin_agent.downloads.fetching import Edgar, years_in

        with EdgarConnection(settings) as connection:
            edgar = Edgar(connection, settings)
            found = edgar.find(asked.company, (asked.form,), years_in(asked.years) if asked.years else None)
            files = edgar.fetch(found, folder / UPLOAD_FOLDER)
    except FinAgentError as error:
        raise ToolInputError(error.what, subject=asked.company, remedy=error.remedy) from error
    lost: list[Json] = [
        _shown(IngestedFile(Path(each.name), each.name, Outcome.FAILED, reason=each.reason, remedy=each.remedy))
        for each in files
        if each.path is None
    ]
    return {"files": [*lost, *_ingested(folder, [each.path for each in files if each.path is not None])]}


def _ingested(folder: Path, files: Sequence[Path]) -> list[Json]:
    with SqliteIndex(folder) as index:
        report = ingest(files, index, prepare, workers=1, wait=30)
        sources = {each.doc_id: Path(index.filing(each.doc_id).source) for each in index.entries()}
    return [_shown(each, sources.get(each.doc_id)) for each in report.files]


def _shown(became: IngestedFile, other: Path | None = None) -> Json:
    # The message may name the file of another filing, whose folder must not be revealed.
    paths = [became.path, *([other] if other is not None else [])]
    warnings = warning_lines_by_page(became.warnings)
    return {
        **fields_of(became, "name=path.name doc_id outcome pages"),
        "reason": names_only(became.reason, *paths),
        "remedy": names_only(became.remedy, *paths),
        "warnings": [names_only(each, *paths) for each in warnings],
        "failed": became.outcome is Outcome.FAILED,
    }


# --- Conversations

_EDITED = {
    "anyOf": [{"type": "null"}, {"type": "object", "required": ["question"], "additionalProperties": False}],
    "description": _SAID["query"],
}
"""A schema without the nested tree of a query, which generators of test calls cannot handle."""


ThreadName = Annotated[str, InPath(pattern=r"^[\w.-]{1,80}$")]


class ChatRequest(BaseModel):
    """A message, and the conversation it belongs to."""

    message: Annotated[str, Field(min_length=1, max_length=2_000, examples=["and the year before?"])]
    thread: Annotated[
        str | None, Field(pattern=r"^[\w.-]{1,80}$", description=_SAID["thread"], examples=["chat-1"])
    ] = None
    doc_ids: DocIds = None
    query: Annotated[tree.Query | None, WithJsonSchema(_EDITED)] = None
    settings: QuestionSettings = QuestionSettings()
    stream: Annotated[bool, Field(description=_SAID["chat_stream"])] = False


class TurnShown(BaseModel):
    """A message and its reply."""

    asked: str
    kind: str = Field(description="`question`, `follow-up`, `greeting` ...: how the message was read.")
    question: str | None = Field(description="The complete question that was answered, if any.")
    said: str
    answers: list[Any] = Field(description="Answers as `/ask` returns them.")
    warnings: list[str]


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
        turn, _ = await calls.in_thread(lambda: _say(served, asked), request)
        return JSONResponse(turn_shown(turn))

    @app.get("/threads")
    @calls.threaded
    def list_threads() -> Json:
        """List the conversations: their names, first messages and numbers of turns, the most recently used first."""
        with served.threads() as keeper:
            kept = keeper.listed() if isinstance(keeper, ThreadStore) else []
        return {"threads": [fields_of(each, "name title turns") for each in kept]}

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


def _say(served: ServedWorkspace, asked: ChatRequest) -> tuple[Turn, int]:
    """Make the turn of a message, and count those of its conversation, which may be more than the page has seen.

    If the caller leaves, the message is removed again.
    """
    message, chat, within = asked.message, served.chat, served.context.within
    if asked.doc_ids:
        within = tuple(record_of(served.context, doc_id).doc_id for doc_id in asked.doc_ids)
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
        return thread.send(message, keep_unanswered=False), len(thread.turns)


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

    async def shown(each: Event | tuple[Turn, int]) -> ServerSentEvent | None:
        nonlocal before, run
        if isinstance(each, tuple):
            turn, turns = each
            told = {"kind": "replied", "thread": asked.thread, "run": run}
            return event("replied", told | {"turn": turn_shown(turn), "turns": turns})
        if isinstance(each, Answered):
            run = await run_sync(_recorded, served, each.answer, started, steps, asked)
            return None
        if isinstance(each, StepEnded):
            steps.append(StepTime(node=each.node, seconds=round(perf_counter() - before, 4)))
            before = perf_counter()
        return event(each.kind, each.model_dump(mode="json"))

    return served.calls.stream(astream_run(lambda: _say(served, asked)), shown)


def turn_shown(turn: Turn) -> Json:
    """Return a turn as JSON, with the page numbers and pictures of its citations."""
    return with_page_numbers(cast(Json, turn.fields()), pictures=True)
