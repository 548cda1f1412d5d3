"""The HTTP API: routes, the limit of concurrent calls, and problem responses."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Annotated, Literal, TypeVar, cast

import anyio
from anyio.to_thread import run_sync
from fastapi import Body, FastAPI, Header, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from sse_starlette import ServerSentEvent
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from fin_agent.analyst.events import Answered, Event
from fin_agent.answering.answer import Answer
from fin_agent.distribution import installed_version
from fin_agent.errors import FinAgentError
from fin_agent.graphs.answer.streaming import aanswer_question, astream_answer
from fin_agent.models.metering import Meter, current_meter, metered
from fin_agent.serving import openapi
from fin_agent.serving.event_stream import streamed
from fin_agent.serving.filing_resources import FilingShown, Json, filing_shown, page_of, record_of, with_page_numbers
from fin_agent.serving.http_server import INDEXES, REFUSED, Access, with_guards
from fin_agent.serving.page_images import USUAL_DPI, box_frames, figure_frames, page_picture
from fin_agent.serving.problem_details import STATUSES, BusyError, Problem, TooLongError
from fin_agent.tools import arguments as take
from fin_agent.tools.argument_resolution import filter_filings
from fin_agent.tools.artifacts import DocumentsFound, FilingsListed, PagesFound
from fin_agent.tools.context import ToolContext
from fin_agent.tools.errors import ToolInputError
from fin_agent.tools.tool_implementations import find_documents, find_pages, list_filings
from fin_agent.vocabulary.place import Box
from fin_agent.web import static_files
from fin_agent.web.routes import add_routes
from fin_agent.web.server_options import Offers, Storage

Result = TypeVar("Result")

OPEN_PATHS = ("/health", *static_files.OPEN_PATHS)
EVENTS = "text/event-stream"
_SECONDS_EARLY = 0.05
"""Timers of event loops can go off slightly early, since they round to milliseconds."""
_SECONDS_TO_COME_BACK = "5"
_PATIENCE = 30.0
_CALLER_GONE = 499
"""The status that servers log for a caller that has disconnected; nobody receives it."""
_MAX_BOXES = 50
_MAX_PROBLEMS = 5


@dataclass(frozen=True, slots=True)
class Limits:
    """How many calls run at once, how many wait, and how long a call may take."""

    at_once: int = 4
    waiting: int = 4
    seconds: float = 120.0
    """Seconds for one question."""


class AskRequest(take.FilterArguments):
    """A question, and the filings that may answer it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"question": "What was Harborlight's net income in FY2023?"},
                {"question": "What was the gross margin?", "doc_ids": ["harborlight_2023_10k"], "stream": True},
            ]
        }
    )

    question: Annotated[
        str,
        Field(min_length=1, max_length=2_000, description="The question with its company, measure and period."),
    ]
    id: Annotated[
        Annotated[str, Field(max_length=200)] | None,
        Field(description="Your own id; it is returned with the answer."),
    ] = None
    trace: Annotated[bool, Field(description="Whether the answer contains its trace: what each step did.")] = False
    stream: Annotated[
        bool, Field(description="Whether to send events during the run; Accept: text/event-stream does the same.")
    ] = False


class SearchRequest(take.PageSearchArguments):
    """A query, and the filings to search."""

    level: Annotated[Literal["page", "document"], Field(description="What to find: pages, or filings.")] = "page"


class Health(BaseModel):
    """The status of the server."""

    status: str = Field(examples=["ok"])
    filings: int = Field(description="Number of filings in the index.", examples=[15])


DocId = Annotated[
    str,
    Path(
        max_length=500,
        description="The filing's id, as `/filings` lists it.",
        openapi_examples={"sample": {"value": openapi.SAMPLE_FILING}},
    ),
]


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

    Args:
        context: The index, its lexicon and the filings that may be read.
        access: Who may call the server.
        limits: Limits of concurrent calls and of time.
        storage: What the server may write; by default nothing is stored and no filing can be added.
        models: Chat models that users may choose for a question.
        others: Further indexes by name (letters, digits, `.`, `_`, `-`), served at `/indexes/NAME`.
    """
    limits, storage, others = limits or Limits(), storage or Storage(), others or {}
    named = [(name, f"{INDEXES}{name}") for name in others]
    offers = Offers(tuple(models), ((storage.name, ""), *named) if named else ())
    app = _application(context, limits, storage, offers)
    for name, (other, kept) in others.items():
        app.mount(f"{INDEXES}{name}", _application(other, limits, kept, offers))
    static_files.serve_files(app)
    return with_guards(app, access, open_paths=OPEN_PATHS)


def _application(context: ToolContext, limits: Limits, storage: Storage, offers: Offers) -> FastAPI:
    app = FastAPI(
        title="fin-agent",
        version=installed_version(),
        summary="Questions over SEC filings, answered with the page behind every figure",
        description=openapi.DESCRIPTION,
        # FastAPI's own pages load scripts from other hosts.
        docs_url=None,
        redoc_url=None,
        separate_input_output_schemas=True,
        exception_handlers={
            FinAgentError: _refused,
            _CallerGoneError: _gone,
            RequestValidationError: _wrong,
            HTTPException: _not_so,
            Exception: _refused,
        },
    )
    calls = Calls(limits)
    problems = openapi.problems

    @app.post(
        "/ask",
        response_model=Answer,
        response_class=JSONResponse,
        responses={**problems(403, 422, 503, 504), **openapi.EVENTS},
        summary="Answer a question, or refuse it and say what is missing",
        operation_id="ask",
    )
    async def ask(
        request: Request,
        asked: Annotated[AskRequest, Body(openapi_examples=openapi.QUESTIONS)],
        accept: Annotated[str, Header(include_in_schema=False)] = "",
    ) -> Response:
        """Return one JSON document, or events: steps, drafts, pieces of the verified answer, and the answer last."""
        if not asked.stream and EVENTS not in accept:
            answer = await calls.run(_answered(context, asked), request)
            return JSONResponse(_answer_json(answer, trace=asked.trace))
        return await streamed(calls.events(context, asked))

    @app.get(
        "/search",
        response_model=PagesFound | DocumentsFound,
        response_class=JSONResponse,
        responses=problems(403, 422, 503, 504),
        summary="Find pages or filings",
        operation_id="search",
    )
    async def search(request: Request, asked: Annotated[SearchRequest, Query()]) -> Response:
        """Results are listed best first. Each page has its best passage."""
        if asked.level == "page":
            return await calls.json_in_thread(partial(find_pages, context, asked), request)
        if asked.pages is not None:
            raise ToolInputError("level=document takes no pages", remedy="Leave pages out, or give level=page")
        return await calls.json_in_thread(partial(find_documents, context, asked), request)

    @app.get(
        "/filings",
        response_model=FilingsListed,
        response_class=JSONResponse,
        responses=problems(403, 422, 503, 504),
        summary="List the filings",
        operation_id="list_filings",
    )
    async def filings(request: Request, asked: Annotated[take.ListFilingsArguments, Query()]) -> Response:
        """Filings are sorted by company, then by time."""
        return await calls.json_in_thread(partial(list_filings, context, asked), request)

    @app.get(
        "/filings/{doc_id}",
        response_model=FilingShown,
        response_class=JSONResponse,
        responses=problems(403, 404, 422, 503, 504),
        summary="Describe a filing",
        operation_id="show_filing",
    )
    async def filing(request: Request, doc_id: DocId) -> Response:
        """Return the company, form and period, and the pages of its Items, statements and notes."""
        return await calls.json_in_thread(partial(filing_shown, context, doc_id), request)

    @app.get(
        "/pages/{doc_id}/{page_number}.png",
        response_class=Response,
        responses={**problems(403, 404, 409, 422, 503, 504), **openapi.PICTURE},
        summary="Draw a page as it is printed, with boxes or a figure framed in red",
        operation_id="page_picture",
    )
    async def picture(
        request: Request,
        doc_id: DocId,
        page_number: Annotated[
            int, Path(ge=1, le=1_000_000, description="The page, counted from 1.", openapi_examples=openapi.PAGES)
        ],
        box: Annotated[
            list[Annotated[str, Field(max_length=120)]] | None,
            Query(
                max_length=_MAX_BOXES,
                description="Left, top, right, bottom in points, as `box` in JSON; can be repeated.",
                openapi_examples=openapi.BOXES,
            ),
        ] = None,
        figure: Annotated[
            str | None, Query(max_length=300, description="A figure on the page: a metric, or words of its label.")
        ] = None,
        fiscal_year: Annotated[int | None, Query(ge=1900, le=2200, description="Fiscal year of that figure.")] = None,
        dpi: Annotated[int, Query(ge=36, le=200, description="Dots per inch; fewer if it would be too large.")] = (
            USUAL_DPI
        ),
        if_none_match: Annotated[str, Header(include_in_schema=False)] = "",
    ) -> Response:
        """The picture is at most 1,600 pixels high and wide."""

        def shown() -> Response:
            record = record_of(context, doc_id)
            page = page_of(record, page_number)
            frames = box_frames([_box(each) for each in box or ()])
            if figure is not None:
                frames += figure_frames(context.workspace, record, page, figure, fiscal_year)
            named = f"{record.content_hash} {page} {frames} {dpi}"
            headers = {
                "ETag": f'"{hashlib.sha256(named.encode("utf-8", "replace")).hexdigest()[:32]}"',
                "Cache-Control": "private, max-age=60",
            }
            if headers["ETag"] in if_none_match:
                return Response(status_code=304, headers=headers)
            drawn = page_picture(record, page, frames, dpi)
            return Response(drawn.png, media_type="image/png", headers={**headers, "Picture-DPI": str(drawn.dpi)})

        return await calls.in_thread(shown, request)

    @app.get(
        "/health",
        response_model=Health,
        responses=problems(403),
        summary="Check that the server replies",
        operation_id="health",
    )
    async def health() -> Health:
        """This call needs no token."""
        return Health(status="ok", filings=len(context.workspace.index.entries()))

    add_routes(app, context, storage, calls, offers)
    openapi.complete(app)
    return app


class _CallerGoneError(Exception):
    """The caller has disconnected."""


class Calls:
    """Runs calls: a limited number at once, others waiting, each within its time and while the caller is connected."""

    def __init__(self, limits: Limits, patience: float = _PATIENCE) -> None:
        self._limits = limits
        self._patience = patience
        self._places = anyio.Semaphore(limits.at_once)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a slot while the block runs. Raises BusyError if none becomes free in time."""
        if not self._places.value and self._places.statistics().tasks_waiting >= self._limits.waiting:
            raise _busy()
        try:
            with anyio.fail_after(self._patience):
                await self._places.acquire()
        except TimeoutError:
            raise _busy() from None
        try:
            yield
        finally:
            self._places.release()

    async def run(self, work: Awaitable[Result], request: Request) -> Result:
        """Return the result of the work. Raises BusyError, TooLongError, _CallerGoneError, and what the work raises."""
        try:
            async with self.place():
                at_work, leaving = asyncio.ensure_future(work), asyncio.ensure_future(_until_gone(request))
                try:
                    await asyncio.wait({at_work, leaving}, timeout=self._limits.seconds, return_when="FIRST_COMPLETED")
                    if at_work.done():
                        return at_work.result()
                    raise _CallerGoneError if leaving.done() else self._too_long()
                finally:
                    for task in (at_work, leaving):
                        task.cancel()
                        with suppress(asyncio.CancelledError, Exception):
                            await task
        finally:
            if asyncio.iscoroutine(work):
                work.close()  # work that was never started

    async def in_thread(self, work: Callable[[], Result], request: Request) -> Result:
        """Run a search, or other work that reads the index, in a thread. Raises as `run` does."""
        meter = Meter(within=current_meter())

        def at_work() -> Result:
            with metered(meter):
                return work()

        try:
            return await self.run(run_sync(at_work, abandon_on_cancel=True), request)
        finally:
            meter.stop()  # abandoned work makes no further model calls

    async def json_in_thread(self, work: Callable[[], BaseModel], request: Request) -> Response:
        """Run a search in a thread, and return its result as JSON."""
        found = await self.in_thread(work, request)
        return JSONResponse(with_page_numbers(cast(Json, found.model_dump(mode="json")), pictures=True))

    async def events(self, context: ToolContext, asked: AskRequest) -> AsyncGenerator[ServerSentEvent, None]:
        """Yield a comment, then events, the last one `answered` or `failed`; closing the generator stops the run.

        Errors before the first event are raised.
        """
        async with self.place():
            doc_ids = await run_sync(partial(filter_filings, context.workspace, asked, context.within))
            yield ServerSentEvent(comment="at work", sep="\n")
            run = astream_answer(asked.question, context.answering, doc_ids=doc_ids, question_id=asked.id)
            async with aclosing(run):
                try:
                    async for event in self.in_time(run):
                        yield _sent(event, trace=asked.trace)
                except Exception as error:  # the response has begun, so that its status cannot change
                    yield ServerSentEvent(Problem.of(error).model_dump_json(), event="failed", sep="\n")

    async def in_time(self, events: AsyncGenerator[Result, None]) -> AsyncGenerator[Result, None]:
        """Yield the events that occur within the time limit. Raises TooLongError, and what the events raise."""
        deadline = monotonic() + self._limits.seconds
        while True:
            try:
                yield await asyncio.wait_for(anext(events), deadline - monotonic())
            except StopAsyncIteration:
                return
            except TimeoutError:
                if monotonic() < deadline - _SECONDS_EARLY:
                    raise
                raise self._too_long() from None

    def _too_long(self) -> TooLongError:
        return TooLongError(
            f"it took more than {self._limits.seconds:g} seconds",
            remedy="Ask a narrower question; the operator of the server can raise --time-limit",
        )


def _busy() -> BusyError:
    return BusyError("the limit of calls at the same time is reached", remedy="Call again in a few seconds")


async def _answered(context: ToolContext, asked: AskRequest) -> Answer:
    doc_ids = await run_sync(partial(filter_filings, context.workspace, asked, context.within))
    return await aanswer_question(asked.question, context.answering, doc_ids=doc_ids, question_id=asked.id)


def _answer_json(answer: Answer, *, trace: bool) -> Json:
    """Return the answer as JSON with the number and picture of each page, and the trace only on request."""
    document = answer.model_dump(mode="json", exclude=None if trace else {"trace"})
    return with_page_numbers(cast(Json, document), pictures=True)


def _sent(event: Event, *, trace: bool) -> ServerSentEvent:
    data = event.model_dump_json()
    if isinstance(event, Answered):
        answered: Json = {"kind": event.kind, "answer": _answer_json(event.answer, trace=trace)}
        data = json.dumps(answered, ensure_ascii=False).encode("utf-8", "replace").decode()
    return ServerSentEvent(data, event=event.kind, sep="\n")


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


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
    return _problem(status, Problem.of(error))


async def _gone(request: Request, error: Exception) -> Response:
    return Response(status_code=_CALLER_GONE)


async def _wrong(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    if any(each["type"] == "json_invalid" for each in found):
        return await _not_so(request, HTTPException(400))
    places = [".".join(map(str, each["loc"][1:] or each["loc"])) for each in found]
    said = [f"{place}: {each['msg']}" for place, each in zip(places, found, strict=True)][:_MAX_PROBLEMS]
    no_object = any(each["type"] in ("model_attributes_type", "dict_type") for each in found)
    sent = "Send a JSON object with the header Content-Type: application/json; " if no_object else ""
    return _problem(
        422,
        Problem(
            what=f"the call is not valid ({'; '.join(said)})",
            subject=", ".join(dict.fromkeys(places[:_MAX_PROBLEMS]))[:200],
            remedy=f"{sent}/openapi.json describes the {'object' if no_object else 'call'}",
        ),
    )


async def _not_so(request: Request, error: Exception) -> Response:
    """Respond to requests that the framework itself rejected."""
    assert isinstance(error, HTTPException)
    told = _NOT_SO.get(error.status_code) or REFUSED.get(error.detail)
    status, what, remedy = told or (error.status_code, str(error.detail)[:200], "")
    subject = f"{request.method} {request.url.path}"[:200]
    return _problem(status, Problem(what=what, subject=subject, remedy=remedy), error.headers)


_NOT_SO = {
    400: (422, "the body cannot be read", "Send JSON in UTF-8"),
    404: (404, "there is nothing at this path", "/openapi.json lists the routes"),
    405: (405, "this path does not support this method", "/openapi.json describes the call"),
}
"""Status -> the status to send, what happened, and the remedy."""


def _problem(status: int, problem: Problem, headers: object = None) -> Response:
    told = dict(headers) if isinstance(headers, dict) else {}
    if status == 503:
        told["Retry-After"] = _SECONDS_TO_COME_BACK
    return JSONResponse(problem.model_dump(), status_code=status, headers=told)
