"""Routes of the workspace besides the HTTP API: readings, statements, charts, runs, exports."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from fastapi import Body, FastAPI, Query, Request
from fastapi import Path as InPath
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from fin_agent.answering.answer import Answer
from fin_agent.distribution import installed_version
from fin_agent.errors import FinAgentError
from fin_agent.filings.reader import READABLE
from fin_agent.graphs.answer import answer_question
from fin_agent.index.ingest_lock import lock_owner
from fin_agent.index.protocol import PageKey
from fin_agent.models.settings import Preset
from fin_agent.presentation import report, workbook
from fin_agent.query.parsing import NoReadingError
from fin_agent.runs.comparing import answer_differences, run_differences
from fin_agent.serving.filing_resources import Json, record_of, with_page_numbers
from fin_agent.serving.page_images import box_frames, page_picture
from fin_agent.tools.arguments import PageSearchArguments
from fin_agent.tools.context import ToolContext
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box
from fin_agent.web import views
from fin_agent.web.chart_series import SeriesRequest, series_shown
from fin_agent.web.conversations import add_conversations
from fin_agent.web.server_options import Offers, ServedWorkspace, Storage
from fin_agent.web.static_files import plain_name
from fin_agent.web.uploads import add_uploads

if TYPE_CHECKING:
    from fin_agent.serving.http_api import Calls

_MAX_RUNS = 200
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
DocId = Annotated[str, InPath(max_length=500)]


class RequestToExport(BaseModel):
    """Answers to export, as `/ask` or `/chat` returned them."""

    answers: Annotated[list[Answer], Field(min_length=1, max_length=50)]


def add_routes(app: FastAPI, context: ToolContext, storage: Storage, calls: Calls, offers: Offers) -> None:
    """Add the routes of conversations and uploads, and those that only the workspace calls."""
    served = ServedWorkspace(context, storage, calls, offers)
    add_conversations(app, served)
    add_uploads(app, served)

    def read(path: str, shown: Callable[..., Json]) -> None:
        """Serve a function of a filing at a path."""

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
                return JSONResponse(views.query_view(question, context.workspace))
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
    async def series(request: Request, asked: Annotated[SeriesRequest, Query()]) -> Response:
        return await calls.in_thread(lambda: JSONResponse(series_shown(context, asked)), request)

    @app.get("/workspace", include_in_schema=False)
    async def workspace(request: Request) -> Response:
        return await calls.in_thread(lambda: JSONResponse(_workspace_shown(served)), request)

    @app.get("/runs", include_in_schema=False)
    async def runs(request: Request) -> Response:
        def listed() -> Response:
            with served.runs() as store:
                return JSONResponse({"runs": [line.model_dump(mode="json") for line in store.listed(_MAX_RUNS)]})

        return await calls.in_thread(listed, request)

    @app.get("/runs/compare", include_in_schema=False)
    async def compare(request: Request, first: str, second: str) -> Response:
        def compared() -> Response:
            with served.runs() as store:
                one, other = store.run(first), store.run(second)
            shown = [_run_shown(each) for each in (one, other)]
            return JSONResponse({"runs": shown, "differences": _differences(run_differences(one, other))})

        return await calls.in_thread(compared, request)

    @app.get("/runs/{name}", include_in_schema=False)
    async def run(request: Request, name: str) -> Response:
        def shown() -> Response:
            with served.runs() as store:
                return JSONResponse(_run_shown(store.run(name), trace=True))

        return await calls.in_thread(shown, request)

    @app.post("/runs/{name}/replay", include_in_schema=False)
    async def replay(request: Request, name: str) -> Response:
        def replayed() -> Response:
            with served.runs() as store:
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


def _picture(context: ToolContext, doc_id: str, page: int, boxes: list[Box]) -> bytes | None:
    """Return a page (0-based) with frames as PNG; None if it cannot be drawn, so that a report leaves it out."""
    try:
        return page_picture(record_of(context, doc_id), page, box_frames(boxes)).png
    except FinAgentError:
        return None


def _file(content: bytes, name: str, kind: str) -> Response:
    # Browsers must download and never display the file, since its content comes from filings.
    headers = {
        "Content-Disposition": f'attachment; filename="{plain_name(name).encode("ascii", "replace").decode()}"',
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox",
    }
    return Response(content, media_type=kind, headers=headers)


def _workspace_shown(served: ServedWorkspace) -> Json:
    """Return the state of the workspace and what can be chosen in it, without keys and paths."""
    settings, folder = served.context.settings, served.storage.folder
    owner = lock_owner(folder) if folder is not None else None
    return {
        "version": installed_version(),
        "filings": len(served.context.workspace.index.entries()),
        "companies": len(served.context.workspace.directory.companies),
        "index": served.storage.name,
        "indexes": [{"name": name, "prefix": prefix} for name, prefix in served.offers.indexes],
        "written_for": None if owner is None else round((datetime.now(UTC) - owner.started).total_seconds()),
        "only_some": served.context.within is not None,
        "uploads": served.storage.uploads,
        "readable": list(READABLE),
        "runs": folder is not None and served.storage.recording.enabled,
        "model": settings.models.model if settings.by_model else "rules",
        "models": ["rules", *served.models],
        "preset": settings.models.preset.value,
        "presets": [each.value for each in Preset],
        "budget": settings.models.budget.model_dump(mode="json"),
        "strategy": settings.strategy,
        "rounds": settings.rounds,
        "example": views.example(served.context.workspace),
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
