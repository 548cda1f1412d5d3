"""The HTTP API as an application: its paths, its errors, and the guard before them."""

from __future__ import annotations

from importlib.metadata import version

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from fin_agent.answering.answer import Answer
from fin_agent.errors import FinAgentError
from fin_agent.serving.access import Access
from fin_agent.serving.api import described
from fin_agent.serving.api.answering import Answering, CallerGoneError, Limits
from fin_agent.serving.api.endpoints import Endpoints, Health
from fin_agent.serving.filings import FilingShown
from fin_agent.serving.guard import App, Guard
from fin_agent.serving.problems import Problem, status_of
from fin_agent.tools.artifacts import DocumentsFound, FilingsListed, PagesFound
from fin_agent.tools.context import ToolContext

OPEN_PATHS = ("/health",)
USUAL = Limits()
_SECONDS_TO_COME_BACK = "5"
_CALLER_GONE = 499
"""What servers log of a caller that has gone; nobody reads the answer."""
_MOST_PROBLEMS = 5
_NO_OBJECT = ("model_attributes_type", "dict_type")
_AS_JSON = "Send a JSON object with the header Content-Type: application/json; /openapi.json says what it holds"


def http_api(context: ToolContext, access: Access, limits: Limits = USUAL) -> App:
    """The API over the filings that `context` may read, behind the guard."""
    return Guard(unguarded(context, limits), access, open_paths=OPEN_PATHS)


def unguarded(context: ToolContext, limits: Limits = USUAL) -> FastAPI:
    """The API itself."""
    app = FastAPI(
        title="fin-agent",
        version=version("fin-agent"),
        summary="Questions over SEC filings, answered with the page behind every figure",
        description=described.DESCRIPTION,
        # Their pages load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        separate_input_output_schemas=True,
    )
    endpoints = Endpoints(context, Answering(context, limits))
    app.add_api_route(
        "/ask",
        endpoints.ask,
        methods=["POST"],
        response_model=Answer,
        response_class=JSONResponse,
        responses={**described.problems(403, 422, 503, 504), **described.EVENTS},
        summary="Answer a question, or refuse it and say what is missing",
        operation_id="ask",
    )
    app.add_api_route(
        "/search",
        endpoints.search,
        methods=["GET"],
        response_model=PagesFound | DocumentsFound,
        response_class=JSONResponse,
        responses=described.problems(403, 422, 503, 504),
        summary="Find the pages, or the filings, that hold something",
        operation_id="search",
    )
    app.add_api_route(
        "/filings",
        endpoints.filings,
        methods=["GET"],
        response_model=FilingsListed,
        response_class=JSONResponse,
        responses=described.problems(403, 422, 503, 504),
        summary="List the filings",
        operation_id="list_filings",
    )
    app.add_api_route(
        "/filings/{doc_id}",
        endpoints.filing,
        methods=["GET"],
        response_model=FilingShown,
        response_class=JSONResponse,
        responses=described.problems(403, 404, 422, 503, 504),
        summary="A filing at a glance",
        operation_id="show_filing",
    )
    app.add_api_route(
        "/pages/{doc_id}/{page_number}.png",
        endpoints.picture,
        methods=["GET"],
        response_class=Response,
        responses={**described.problems(403, 404, 409, 422, 503, 504), **described.PICTURE},
        summary="A page as a picture, as it is printed, with what is named framed in red",
        operation_id="page_picture",
    )
    app.add_api_route(
        "/health", endpoints.health, methods=["GET"], response_model=Health, summary="Whether it answers",
        operation_id="health", responses=described.problems(403),
    )  # fmt: skip
    for kind, handler in (
        (FinAgentError, _refused),
        (CallerGoneError, _gone),
        (RequestValidationError, _wrong),
        (HTTPException, _not_so),
        (Exception, _broken),
    ):
        app.add_exception_handler(kind, handler)
    described.complete(app)
    return app


async def _refused(request: Request, error: Exception) -> Response:
    return _problem(status_of(error), Problem.of(error))


async def _broken(request: Request, error: Exception) -> Response:
    return _problem(500, Problem.of(error))


async def _gone(request: Request, error: Exception) -> Response:
    return Response(status_code=_CALLER_GONE)


async def _wrong(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    if any(each["type"] == "json_invalid" for each in found):
        return await _not_so(request, HTTPException(400))
    places = [".".join(map(str, each["loc"][1:] or each["loc"])) for each in found]
    said = [f"{place}: {each['msg']}" for place, each in zip(places, found, strict=True)][:_MOST_PROBLEMS]
    return _problem(
        422,
        Problem(
            what=f"the call does not fit ({'; '.join(said)})",
            subject=", ".join(dict.fromkeys(places[:_MOST_PROBLEMS]))[:200],
            remedy=_AS_JSON
            if any(each["type"] in _NO_OBJECT for each in found)
            else "/openapi.json says what it takes",
        ),
    )


async def _not_so(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status, what, remedy = _NOT_SO.get(error.status_code, (error.status_code, str(error.detail)[:200], ""))
    subject = f"{request.method} {request.url.path}"[:200]
    return _problem(status, Problem(what=what, subject=subject, remedy=remedy), error.headers)


_NOT_SO = {
    400: (422, "the body cannot be read", "Send JSON in UTF-8"),
    404: (404, "there is nothing at this path", "/openapi.json says what there is"),
    405: (405, "this path is not called so", "/openapi.json says how it is called"),
}
"""Status -> the status, what happened and what to do, where the framework itself turned a call away."""


def _problem(status: int, problem: Problem, headers: dict[str, str] | None = None) -> Response:
    told = dict(headers or {})
    if status == 503:
        told["Retry-After"] = _SECONDS_TO_COME_BACK
    return JSONResponse(problem.model_dump(), status_code=status, headers=told)
