"""The OpenAPI document is valid and true: whatever a call made of it says, nothing breaks and answers are as said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from fin_agent.serving.http_server import Access
from fin_agent.tools.context import ToolContext

openapi_spec_validator = pytest.importorskip("openapi_spec_validator", reason="needs the extra `serving-tests`")
schemathesis = pytest.importorskip("schemathesis", reason="needs the extra `serving-tests`")
pytest.importorskip("fastapi", reason="needs the extra `serve`")

OPERATIONS = (
    "ask",
    "search",
    "list_filings",
    "show_filing",
    "page_picture",
    "health",
    "chat",
    "list_threads",
    "show_thread",
)
NEVER_WRONG = ("show_filing", "negative")
EXAMPLES = 25


@pytest.fixture(scope="module")
def app(context: ToolContext) -> Any:
    from fin_agent.serving.http_api import http_api

    return http_api(context, Access(names=("testserver",)))  # as the client calls it


@pytest.fixture(scope="module")
def schema(app: Any) -> Iterator[Any]:
    yield schemathesis.openapi.from_asgi("/openapi.json", app)


@pytest.fixture(scope="module")
def document(schema: Any) -> dict[str, Any]:
    raw = schema.raw_schema
    assert isinstance(raw, dict)
    return raw


def test_it_is_valid(document: dict[str, Any]) -> None:
    openapi_spec_validator.validate(document)


def test_it_names_every_path_and_says_what_each_does(document: dict[str, Any]) -> None:
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    assert tuple(operation["operationId"] for operation in operations) == OPERATIONS
    for operation in operations:
        assert operation["summary"]
        assert operation["description"]
    told = document["paths"]["/ask"]["post"]["responses"]["200"]["content"]
    assert set(told) == {"application/json", "text/event-stream"}
    assert list(document["paths"]["/pages/{doc_id}/{page_number}.png"]["get"]["responses"]["200"]["content"]) == [
        "image/png"
    ]


def test_its_types_say_how_pages_are_counted(document: dict[str, Any]) -> None:
    citation = document["components"]["schemas"]["Citation"]["properties"]
    assert "from 1" in citation["page_number"]["description"]
    assert citation["picture"]["type"] == "string"


def test_its_examples_fit(document: dict[str, Any]) -> None:
    from fin_agent.serving.http_api import AskRequest

    body = document["paths"]["/ask"]["post"]["requestBody"]["content"]["application/json"]
    examples = [each["value"] for each in body["examples"].values()]
    assert len(examples) == 3
    for example in examples:
        AskRequest.model_validate_json(json.dumps(example))


@pytest.mark.parametrize(
    ("name", "mode"),
    # Every id of a filing is one by its form.
    [(name, mode) for name in OPERATIONS for mode in ("positive", "negative") if (name, mode) != NEVER_WRONG],
)
def test_no_call_breaks_it(schema: Any, name: str, mode: str) -> None:
    operation = schema.find_operation_by_id(name)
    calls = operation.as_strategy(generation_mode=schemathesis.GenerationMode(mode))
    statuses: list[int] = []
    checks = told_checks()

    @given(call=calls)
    @settings(max_examples=EXAMPLES, derandomize=True, database=None, deadline=None,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    def called(call: Any) -> None:
        told = call.call()
        statuses.append(told.status_code)
        call.validate_response(told, checks=checks)

    called()
    assert statuses
    assert all(status < 500 for status in statuses), statuses


def told_checks() -> list[Any]:
    """Nothing breaks, and status, type and content are among those that the document says."""
    from schemathesis.specs.openapi import checks

    return [
        schemathesis.checks.not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
    ]
