"""What each path of the HTTP API does."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator
from functools import partial
from typing import Annotated, cast

from fastapi import Body, Header, Path, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, Field

from fin_agent.serving.api import described
from fin_agent.serving.api.answering import Answering
from fin_agent.serving.api.asked import AskRequest, SearchRequest
from fin_agent.serving.filings import filing_shown, page_of, record_of
from fin_agent.serving.pictures import USUAL_DPI, box_frames, figure_frames, page_picture
from fin_agent.serving.places import Json, with_page_numbers
from fin_agent.tools.arguments import ListFilingsArguments
from fin_agent.tools.context import ToolContext
from fin_agent.tools.errors import ToolInputError
from fin_agent.tools.operations import documents_found, filings_listed, pages_found
from fin_agent.vocabulary.place import Box

EVENTS = "text/event-stream"
_MOST_BOXES = 50


class Health(BaseModel):
    """That the server answers."""

    status: str = Field(examples=["ok"])
    filings: int = Field(description="How many filings are indexed.", examples=[15])


DocId = Annotated[
    str,
    Path(
        max_length=500,
        description="The filing's id, as `/filings` lists it.",
        openapi_examples={"sample": {"value": described.SAMPLE_FILING}},
    ),
]


class Endpoints:
    """The paths, over one context."""

    def __init__(self, context: ToolContext, answering: Answering) -> None:
        self._context = context
        self._answering = answering

    async def ask(
        self,
        request: Request,
        asked: Annotated[AskRequest, Body(openapi_examples=described.QUESTIONS)],
        accept: Annotated[str, Header(include_in_schema=False)] = "",
    ) -> Response:
        """One JSON document, or events: steps, drafts, pieces of the verified answer, and the answer last."""
        if not asked.stream and EVENTS not in accept:
            return JSONResponse(await self._answering.answer(asked, partial(_until_gone, request)))
        events = self._answering.events(asked)
        first = await anext(events)
        return StreamingResponse(
            _going_on(first, events),
            media_type=EVENTS,
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    async def search(self, request: Request, asked: Annotated[SearchRequest, Query()]) -> Response:
        """Best first. Pages come with the passage that fits best."""

        def found() -> BaseModel:
            if asked.level == "document":
                if asked.pages is not None:
                    raise ToolInputError("filings are found whole", remedy="Leave pages out, or search level=page")
                return documents_found(self._context.searching, asked)
            return pages_found(self._context.searching, asked)

        return _told(await self._answering.found(found, partial(_until_gone, request)))

    async def filings(self, request: Request, asked: Annotated[ListFilingsArguments, Query()]) -> Response:
        """By company, then time."""
        listing = partial(filings_listed, self._context, asked)
        return _told(await self._answering.found(listing, partial(_until_gone, request)))

    async def filing(self, request: Request, doc_id: DocId) -> Response:
        """Who, what and when it is, and which Items, statements and notes stand on which pages."""
        showing = partial(filing_shown, self._context, doc_id)
        return _told(await self._answering.found(showing, partial(_until_gone, request)))

    async def picture(
        self,
        request: Request,
        doc_id: DocId,
        page_number: Annotated[
            int, Path(ge=1, le=1_000_000, description="As a viewer counts, from 1.", openapi_examples=described.PAGES)
        ],
        box: Annotated[
            list[Annotated[str, Field(max_length=120)]] | None,
            Query(
                max_length=_MOST_BOXES,
                description="Left, top, right, bottom in points, as `box` says in JSON; may be given several times.",
                openapi_examples=described.BOXES,
            ),
        ] = None,
        figure: Annotated[
            str | None, Query(max_length=300, description="A figure on the page: a metric, or words of its label.")
        ] = None,
        fiscal_year: Annotated[int | None, Query(ge=1900, le=2200, description="Of that figure.")] = None,
        dpi: Annotated[int, Query(ge=36, le=200, description="Dots an inch; fewer where it would be too large.")] = (
            USUAL_DPI
        ),
        if_none_match: Annotated[str, Header(include_in_schema=False)] = "",
    ) -> Response:
        """At most 1,600 pixels high and wide."""

        def drawn() -> Response:
            record = record_of(self._context, doc_id)
            page = page_of(record, page_number)
            frames = box_frames([_box(each) for each in box or ()])
            if figure is not None:
                frames += figure_frames(self._context.workspace, record, page, figure, fiscal_year)
            named = f"{record.content_hash} {page} {frames} {dpi}"
            headers = {
                "ETag": f'"{hashlib.sha256(named.encode("utf-8", "replace")).hexdigest()[:32]}"',
                "Cache-Control": "private, max-age=60",
            }
            if headers["ETag"] in if_none_match:
                return Response(status_code=304, headers=headers)
            return Response(page_picture(record, page, frames, dpi).png, media_type="image/png", headers=headers)

        return await self._answering.found(drawn, partial(_until_gone, request))

    async def health(self) -> Health:
        """Needs no token."""
        return Health(status="ok", filings=len(self._context.workspace.index.entries()))


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _going_on(first: bytes, events: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    try:
        yield first
        async for event in events:
            yield event
    finally:
        await events.aclose()


def _told(found: BaseModel) -> Response:
    return JSONResponse(with_page_numbers(cast(Json, found.model_dump(mode="json")), pictures=True))


def _box(given: str) -> Box:
    try:
        x0, y0, x1, y1 = map(float, given.split(","))
    except ValueError:
        raise ToolInputError(
            "a box is four numbers with commas between", remedy="Write it as 72,90.5,300,101 (left, top, right, bottom)"
        ) from None
    return Box(x0, y0, x1, y1)
