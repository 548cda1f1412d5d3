"""The schemas of the answer graph can be asked for, and its context has to be given."""

from __future__ import annotations

import pytest

from fin_agent.errors import QuestionError
from fin_agent.graphs.answer import build_graph
from fin_agent.graphs.chat import build_chat


def test_input_and_output_have_schemas() -> None:
    graph = build_graph()
    assert set(graph.get_input_jsonschema()["properties"]) == {"question", "doc_ids", "only_pages", "id"}
    assert set(graph.get_output_jsonschema()["properties"]) == {"answer"}


def test_a_context_that_was_forgotten_is_asked_for() -> None:
    with pytest.raises(QuestionError, match=r"no context\. Pass one: context=AnswerContext"):
        build_graph().invoke({"question": "What was net income?"})  # type: ignore[call-overload]
    with pytest.raises(QuestionError, match=r"no context\. Pass one: context=ChatContext"):
        build_chat().invoke({"messages": [("user", "hello")]})  # type: ignore[typeddict-item]
