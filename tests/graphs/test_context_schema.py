"""The schemas of the answer graph can be asked for, its context's too, which holds live objects; it has to be given."""

from __future__ import annotations

import json

import pytest

from fin_agent.config import Settings
from fin_agent.errors import QuestionError
from fin_agent.graphs.answer import build_graph
from fin_agent.graphs.chat import build_chat


def test_the_context_says_what_of_it_json_can_hold() -> None:
    schema = build_graph().get_context_jsonschema()
    assert schema is not None
    assert json.loads(json.dumps(schema)) == schema
    assert schema["required"] == ["workspace", "analyst", "executor"]
    assert "given in Python" in schema["properties"]["workspace"]["description"]
    settings = schema["properties"]["settings"]
    described = schema["$defs"][settings["$ref"].rpartition("/")[2]] if "$ref" in settings else settings
    assert set(described["properties"]) == set(Settings.model_fields)


def test_input_and_output_have_schemas() -> None:
    graph = build_graph()
    assert set(graph.get_input_jsonschema()["properties"]) == {"question", "doc_ids", "only_pages", "id"}
    assert set(graph.get_output_jsonschema()["properties"]) == {"answer"}


def test_a_context_that_was_forgotten_is_asked_for() -> None:
    with pytest.raises(QuestionError, match=r"no context\. Pass one: context=AnswerContext"):
        build_graph().invoke({"question": "What was net income?"})  # type: ignore[call-overload]
    with pytest.raises(QuestionError, match=r"no context\. Pass one: context=ChatContext"):
        build_chat().invoke({"messages": [("user", "hello")]})  # type: ignore[typeddict-item]
