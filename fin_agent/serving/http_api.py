"""The HTTP API: its routes, and problems as responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal, cast

from anyio.to_thread import run_sync
from fastapi import Body, FastAPI, Header, Path, Query, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.models import Example
from fastapi.responses import JSONResponse, Response
from fastapi.security import HTTPBearer
from pydantic import BaseModel, Field
from sse_starlette import ServerSentEvent
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from fin_agent.analyst.events import Answered, Event
from fin_agent.answering.answer import Answer
from fin_agent.distribution import installed_version
from fin_agent.errors import FinAgentError
from fin_agent.graphs.answer import aanswer_question, astream_answer
from fin_agent.lexicon.words import load_yaml
from fin_agent.presentation.exports import USUAL_DPI
from fin_agent.serving import filing_resources as resources
from fin_agent.serving.calls import EVENTS, CallerGoneError, Calls, Limits, event, streamed
from fin_agent.serving.http_server import INDEXES, REFUSED, Access, with_guards
from fin_agent.serving.problem_details import STATUSES, Problem, problem_response
from fin_agent.tools import arguments as take
from fin_agent.tools.argument_resolution import filter_filings
from fin_agent.tools.artifacts import DocumentsFound, FilingsListed, PagesFound
from fin_agent.tools.context import ToolContext
from fin_agent.tools.errors import ToolInputError
from fin_agent.tools.tool_implementations import find_documents, find_pages
from fin_agent.tools.tool_implementations import list_filings as filings_listed
from fin_agent.vocabulary.place import Box
from fin_agent.web import routes
from fin_agent.web.server_options import Offers, ServedWorkspace, Storage

_TEXTS = load_yaml("texts", __package__)
_SAID = _TEXTS["fields"]
OPEN_PATHS = ("/health", *routes.OPEN_PATHS)
_TOKEN = HTTPBearer(auto_error=False, description="Required if the server has a token; `http_server` checks it.")
_CALLER_GONE = 499
"""The status that servers log for a caller that has disconnected; nobody receives it."""
_MAX_BOXES = 50
_MAX_PROBLEMS = 5


class AskRequest(take.AnswerQuestionArguments):
    """A question, and the filings that may answer it."""

    id: Annotated[Annotated[str, Field(max_length=200)] | None, Field(description=_SAID["id"])] = None
    trace: Annotated[bool, Field(description=_SAID["trace"])] = False
    stream: Annotated[bool, Field(description=_SAID["stream"])] = False


class SearchRequest(take.PageSearchArguments):
    """A query, and the filings to search."""

    level: Annotated[Literal["page", "document"], Field(description=_SAID["level"])] = "page"


class Health(BaseModel):
    """The status of the server."""

    status: str = Field(examples=["ok"])
    filings: int = Field(description="Number of filings in the index.", examples=[15])


QUESTIONS: dict[str, Example] = {name: {"value": asked} for name, asked in _TEXTS["questions"].items()}
DocId = Annotated[str, Path(max_length=500, description=_SAID["doc_id"], examples=["harborlight_2023_10k"])]


def http_api(
    context: ToolContext,
    access: Access,
    limits: Limits | None = None,
    storage: Storage | None = None,
    *,
    models: Sequence[str] = (),
    others: Mapping[str, tuple[ToolContext, Storage]] | None = None,
) -> ASGIApp:
    """Build the application: the API and the workspace over the filings that `context` may read, behind the guards.

    Without `storage`, nothing is stored and no filing can be added. `models` are those that users may choose for a
    question, `others` further indexes by name (letters, digits, `.`, `_`, `-`), served at `/indexes/NAME`.
    """
    limits, storage, others = limits or Limits(), storage or Storage(), others or {}
    named = [(name, f"{INDEXES}{name}") for name in others]
    offers = Offers(tuple(models), ((storage.name, ""), *named) if named else ())
    app = _application(context, limits, storage, offers)
    for name, (other, kept) in others.items():
        app.mount(f"{INDEXES}{name}", _application(other, limits, kept, offers))
    routes.serve_files(app)
    return with_guards(app, access, open_paths=OPEN_PATHS)


def _application(context: ToolContext, limits: Limits, storage: Storage, offers: Offers) -> FastAPI:
    app = FastAPI(
        title="fin-agent",
        version=installed_version(),
        summary="Questions over SEC filings, answered with the page behind every figure",
        description=_TEXTS["api"],
        # FastAPI's own pages load scripts from other hosts.
        docs_url=None,
        redoc_url=None,
        separate_input_output_schemas=True,
        dependencies=[Security(_TOKEN)],
        responses={"default": {"model": Problem, "description": "A problem: what happened, to what, and the remedy"}},
        generate_unique_id_function=lambda route: route.name,
        exception_handlers={
            FinAgentError: _refused,
            CallerGoneError: _gone,
            RequestValidationError: _wrong,
            HTTPException: _not_so,
            Exception: _refused,
        },
    )
    calls = Calls(limits)

    @app.post(
        "/ask",
        response_model=Answer,
        responses={200: {"description": "The answer, or events", "content": {EVENTS: {}}}},
    )
    async def ask(
        request: Request,
        asked: Annotated[AskRequest, Body(openapi_examples=QUESTIONS)],
        accept: Annotated[str, Header(include_in_schema=False)] = "",
    ) -> Response:
        """Answer a question, or refuse it and say what is missing.

        The response is one JSON document, or events: steps, drafts, pieces of the verified answer, and the answer last.
        """

        async def shown(each: Event) -> ServerSentEvent:
            if isinstance(each, Answered):
                return event(each.kind, {"kind": each.kind, "answer": _answer_json(each.answer, asked.trace)})
            return event(each.kind, each.model_dump(mode="json"))

        doc_ids = await run_sync(partial(filter_filings, context.workspace, asked, context.within))
        given: dict[str, Any] = {"doc_ids": doc_ids, "question_id": asked.id}
        if asked.stream or EVENTS in accept:
            return await streamed(calls.stream(astream_answer(asked.question, context.answering, **given), shown))
        # Not in a thread: that would answer on after the caller has left.
        answering = partial(aanswer_question, asked.question, context.answering, **given)
        return JSONResponse(_answer_json(await calls.run(answering, request), asked.trace))

    @app.get("/search", response_model=PagesFound | DocumentsFound)
    @calls.threaded
    def search(asked: Annotated[SearchRequest, Query()]) -> BaseModel:
        """Find pages, each with its best passage, or filings. Results are listed best first."""
        if asked.level == "page":
            return find_pages(context, asked)
        if asked.pages is not None:
            raise ToolInputError("level=document takes no pages", remedy="Leave pages out, or give level=page")
        return find_documents(context, asked)

    @app.get("/filings", response_model=FilingsListed)
    @calls.threaded
    def list_filings(asked: Annotated[take.ListFilingsArguments, Query()]) -> BaseModel:
        """List the filings, by company, then by time."""
        return filings_listed(context, asked)

    @app.get("/filings/{doc_id}", response_model=resources.FilingShown)
    @calls.threaded
    def show_filing(doc_id: DocId) -> BaseModel:
        """Describe a filing: company, form and period, and the pages of its Items, statements and notes."""
        return resources.filing_shown(context, doc_id)

    @app.get(
        "/pages/{doc_id}/{page_number}.png",
        response_class=Response,
        responses={200: {"description": "The page", "content": {"image/png": {}}}},
    )
    @calls.threaded
    def page_picture(
        doc_id: DocId,
        page_number: Annotated[int, Path(ge=1, le=1_000_000, description=_SAID["page_number"], examples=[9])],
        box: Annotated[
            list[Annotated[str, Field(max_length=120)]] | None,
            Query(max_length=_MAX_BOXES, description=_SAID["box"], examples=[["380,240,440,252"]]),
        ] = None,
        figure: Annotated[str | None, Query(max_length=300, description=_SAID["figure"])] = None,
        fiscal_year: Annotated[int | None, Query(ge=1900, le=2200, description=_SAID["fiscal_year"])] = None,
        dpi: Annotated[int, Query(ge=36, le=200, description=_SAID["dpi"])] = USUAL_DPI,
    ) -> Response:
        """Draw a page as it is printed, with boxes or a figure framed in red; at most 1,600 pixels high and wide."""
        record = resources.record_of(context, doc_id)
        page = resources.page_of(record, page_number)
        frames = resources.box_frames([_box(each) for each in box or ()])
        if figure is not None:
            frames += resources.figure_frames(context.workspace, record, page, figure, fiscal_year)
        drawn = resources.page_picture(record, page, frames, dpi)
        headers = {"Cache-Control": "private, max-age=60", "Picture-DPI": str(resources.dpi_of(drawn))}
        return Response(drawn, media_type="image/png", headers=headers)

    @app.get("/health", response_model=Health)
    async def health() -> Health:
        """Check that the server replies. This call needs no token."""
        return Health(status="ok", filings=len(context.workspace.index.entries()))

    routes.add_routes(app, ServedWorkspace(context, storage, calls, offers))
    described = app.openapi
    app.openapi = lambda: resources.with_page_number_schemas(described())
    return app


def _answer_json(answer: Answer, trace: bool) -> resources.Json:
    """Return the answer as JSON with the number and picture of each page, and the trace only on request."""
    document = answer.model_dump(mode="json", exclude=None if trace else {"trace"})
    return resources.with_page_numbers(cast(resources.Json, document), pictures=True)


def _box(given: str) -> Box:
    try:
        x0, y0, x1, y1 = map(float, given.split(","))
    except ValueError:
        raise ToolInputError(
            "a box must be four numbers separated by commas",
            remedy="Write it as 72,90.5,300,101 (left, top, right, bottom)",
        ) from None
    return Box(x0, y0, x1, y1)


async def _refused(request: Request, error: Exception) -> Response:
    status = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 500)
    return problem_response(status, Problem.of(error))


async def _gone(request: Request, error: Exception) -> Response:
    return Response(status_code=_CALLER_GONE)


async def _wrong(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    if any(each["type"] == "json_invalid" for each in found):
        return await _not_so(request, HTTPException(400))
    said = [f"{'.'.join(map(str, each['loc'][1:] or each['loc']))}: {each['msg']}" for each in found[:_MAX_PROBLEMS]]
    return problem_response(
        422,
        Problem(
            what=f"the call is not valid ({'; '.join(said)})",
            remedy="/openapi.json describes the call; a body is a JSON object with Content-Type: application/json",
        ),
    )


async def _not_so(request: Request, error: Exception) -> Response:
    """Respond to requests that the framework itself rejected."""
    assert isinstance(error, HTTPException)
    code = error.status_code
    told = _TEXTS["routes"].get(code) or (REFUSED.get(code) if code in (408, 413) else None)
    status, what, remedy = told or (code, str(error.detail)[:200], "")
    subject = f"{request.method} {request.url.path}"[:200]
    return problem_response(status, Problem(what=what, subject=subject, remedy=remedy), error.headers)
