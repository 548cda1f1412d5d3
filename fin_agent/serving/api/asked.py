"""What calls of the HTTP API say."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from fin_agent.tools.arguments import Narrowed, PageSearchArguments, Query


class AskRequest(Narrowed):
    """A question, and which filings may answer it."""

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
        Field(min_length=1, max_length=2_000, description="In words, with the company, the measure and the period."),
    ]
    id: Annotated[
        Annotated[str, Field(max_length=200)] | None,
        Field(description="Of your own; it comes back with the answer."),
    ] = None
    trace: Annotated[bool, Field(description="Whether the answer holds its trace: what each step saw and kept.")] = (
        False
    )
    stream: Annotated[
        bool, Field(description="Whether events are sent while it is answered; so does Accept: text/event-stream.")
    ] = False


class SearchRequest(PageSearchArguments):
    """What to look for, and in which filings."""

    query: Query
    level: Annotated[Literal["page", "document"], Field(description="What is found: pages, or filings.")] = "page"
