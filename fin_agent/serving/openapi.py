"""Additions to the OpenAPI document: examples, events, pictures, problems."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, TypeAlias, cast

from fastapi import FastAPI
from pydantic import TypeAdapter

from fin_agent.analyst.events import Event
from fin_agent.serving.filing_resources import Json, schemas_with_page_numbers
from fin_agent.serving.problem_details import Problem

Example: TypeAlias = dict[str, Json]
Response: TypeAlias = dict[str, object]

DESCRIPTION = """\
Questions over indexed SEC filings. An answer contains the program that computed it, and the filing, page and line of
every figure. A question that cannot be answered is refused with what is missing.

**Pages.** In JSON `page` counts from 0, as in all JSON of fin-agent; `page_number` next to it counts from 1 as viewers
do. Addresses and arguments (`/pages/{doc_id}/{page_number}.png`, `pages=3-5`) count from 1.

**Problems** are JSON with `what` happened, to which `subject`, and the `remedy`. The status is 401 if a required token
is missing or wrong, 413 if too much is sent, and 421 if the server does not accept the host name.
"""
_SCHEMAS = "#/components/schemas/"
SAMPLE_FILING = "harborlight_2023_10k"
QUESTIONS: dict[str, Example] = {
    "a figure": {"value": {"question": "What was Harborlight's net income in FY2023?"}},
    "one filing": {"value": {"question": "What was the gross margin?", "doc_ids": [SAMPLE_FILING]}},
    "as events": {"value": {"question": "What was Harborlight's net income in FY2023?", "stream": True}},
}
PAGES: dict[str, Example] = {"the income statement": {"value": 9}}
BOXES: dict[str, Example] = {"a figure": {"value": ["380,240,440,252"]}}
EVENTS: dict[int | str, Response] = {
    200: {
        "description": "The answer; on request events, the last of which is `answered` or `failed`",
        "content": {
            "text/event-stream": {
                "schema": {
                    "type": "object",
                    "description": "One event.",
                    "required": ["event", "data"],
                    "properties": {
                        "event": {"type": "string", "description": "The `kind` of the data, or `failed`."},
                        "data": {
                            "type": "string",
                            "contentMediaType": "application/json",
                            "contentSchema": {"anyOf": [{"$ref": _SCHEMAS + "Event"}, {"$ref": _SCHEMAS + "Problem"}]},
                        },
                    },
                },
                "example": "event: step_begun\ndata: "
                '{"kind": "step_begun", "node": "rewrite_query", "round": 1}\n\nevent: answered\ndata: {...}\n\n',
            }
        },
    }
}
CHAT_EVENTS = deepcopy(EVENTS)
"""Events of `/chat`: those of an answer, then `replied` with the turn as the last one."""
_data = cast(Any, CHAT_EVENTS)[200]["content"]["text/event-stream"]["schema"]["properties"]["data"]
_data["contentSchema"]["anyOf"].append(
    {"type": "object", "required": ["kind", "turn", "thread", "run"], "properties": {"kind": {"const": "replied"}}}
)
PICTURE: dict[int | str, Response] = {
    200: {
        "description": "The page",
        "content": {"image/png": {"schema": {"type": "string", "format": "binary"}}},
        "headers": {"Picture-DPI": {"description": "Resolution in dots per inch", "schema": {"type": "integer"}}},
    },
    304: {"description": "The picture has the ETag that was sent in If-None-Match"},
}
_MEANINGS = {
    403: "Pages of other origins may not call",
    404: "No such filing, page or figure",
    409: "The filing's file is missing or has changed since it was read",
    422: "The call or the question is not valid",
    503: "The limit of concurrent calls is reached; Retry-After gives the seconds to wait",
    504: "It took too long",
}
_EVERYWHERE = {
    401: "The token is missing or wrong",
    408: "The call did not arrive in time",
    413: "The body is too large",
    421: "The server does not accept this host name",
    500: "An internal error",
}


def problems(*statuses: int) -> dict[int | str, Response]:
    """Return the responses for problems with these statuses."""
    told = {status: _MEANINGS[status] for status in statuses} | _EVERYWHERE
    return {status: {"model": Problem, "description": told[status]} for status in sorted(told)}


def complete(app: FastAPI) -> None:
    """Add the page numbers and the token to the OpenAPI document."""
    made = app.openapi

    def openapi() -> dict[str, Json]:
        if app.openapi_schema is None:
            document = cast(dict[str, Json], made())
            parts = cast(dict[str, dict[str, Json]], document["components"])
            parts["schemas"] = schemas_with_page_numbers({**_events(), **parts["schemas"]}, pictures=True)
            parts["securitySchemes"] = {
                "token": {"type": "http", "scheme": "bearer", "description": "Required if the server has a token."}
            }
            document["security"] = [{}, {"token": []}]
            app.openapi_schema = document
        return cast(dict[str, Json], app.openapi_schema)

    app.openapi = openapi


def _events() -> dict[str, Json]:
    """Return the schemas of events, by name."""
    event = TypeAdapter(Event).json_schema(mode="serialization", ref_template=_SCHEMAS + "{model}")
    return {**event.pop("$defs"), "Event": event}
