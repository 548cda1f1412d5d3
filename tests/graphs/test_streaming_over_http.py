"""Streams of a server that speaks OpenAI's protocol over HTTP, and breaks off in the middle."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from fin_agent.analyst.events import Answered, AnswerPiece, CallEnded, Draft, DraftWithdrawn, Warned
from fin_agent.config import Settings
from fin_agent.graphs.answer import AnswerContext, answer_question, stream_answer
from fin_agent.models import Callers, ModelSettings
from fin_agent.testing import ModelCall
from fin_agent.workspace import Workspace
from tests.graphs.told_by_model import QUESTION, sound
from tests.prompt_roles import role_of

pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
serving = pytest.importorskip("tests.models.openai_server", reason="the test server is not there")


def answered(request: serving.ChatRequest) -> str:  # type: ignore[name-defined]
    """As `sound`, with the answer first: what breaks off has begun it."""
    from langchain_core.messages import convert_to_messages

    messages = convert_to_messages([(str(each["role"]), str(each["content"])) for each in request.messages])
    reply = sound(ModelCall(tuple(messages), role_of(request.text), {}))
    return json.dumps({name: reply[name] for name in sorted(reply)}, ensure_ascii=False)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[serving.OpenAIServer]:  # type: ignore[name-defined]
    monkeypatch.setenv("OPENAI_API_KEY", serving.KEY)
    monkeypatch.delenv("FIN_AGENT_API_KEY", raising=False)
    with serving.OpenAIServer(answered) as started:
        yield started


def context_of(workspace: Workspace, server: object, mode: str) -> AnswerContext:
    models = ModelSettings(
        model="openai:gpt-4o-mini",
        base_url=str(server.url),  # type: ignore[attr-defined]
        output=mode,  # type: ignore[arg-type]
        attempts=2,
    )
    return AnswerContext.from_settings(workspace, Settings(models=models), callers=Callers(models))


def unharmed(reply: object) -> object:
    return reply


@pytest.mark.parametrize("mode", ["schema", "json"])
def test_the_reasoning_alone_is_streamed_and_the_answer_is_the_same(
    workspace: Workspace,
    server: serving.OpenAIServer,  # type: ignore[name-defined]
    mode: str,
) -> None:
    *events, last = stream_answer(QUESTION, context_of(workspace, server, mode))
    assert isinstance(last, Answered) and not last.answer.warnings
    plain = answer_question(QUESTION, context_of(workspace, server, mode))
    assert last.answer.model_copy(update={"seconds": 0}) == plain.model_copy(update={"seconds": 0})
    assert [request.streams for request in server.requests] == [False, True, False, False]
    drafts = "".join(event.text for event in events if isinstance(event, Draft))
    assert drafts == "".join(event.text for event in events if isinstance(event, AnswerPiece)) == plain.answer.text


@pytest.mark.parametrize("mode", ["schema", "json"])
def test_a_stream_that_breaks_off_is_asked_for_again(
    workspace: Workspace,
    server: serving.OpenAIServer,  # type: ignore[name-defined]
    mode: str,
) -> None:
    server.fail_next(unharmed, "broken-stream")
    *events, last = stream_answer(QUESTION, context_of(workspace, server, mode))
    assert isinstance(last, Answered) and "its own words" in last.answer.answer.text and not last.answer.warnings
    (withdrawn,) = (event for event in events if isinstance(event, DraftWithdrawn))
    rest = events[events.index(withdrawn) :]
    assert "".join(event.text for event in rest if isinstance(event, Draft)) == last.answer.answer.text
    notes = [event.note for event in events if isinstance(event, CallEnded)]
    assert len(notes) == 3 and "broke off" in notes[1] and last.answer.usage.model_calls == 3


@pytest.mark.parametrize("failure", ["broken-stream", "cut"])
def test_one_that_breaks_off_twice_leaves_the_answer_to_rules_with_a_warning(
    workspace: Workspace,
    context: AnswerContext,
    server: serving.OpenAIServer,  # type: ignore[name-defined]
    failure: str,
) -> None:
    server.fail_next(unharmed, failure, failure)
    *events, last = stream_answer(QUESTION, context_of(workspace, server, "json"))
    assert isinstance(last, Answered)
    warnings = tuple(event.text for event in events if isinstance(event, Warned))
    assert warnings == last.answer.warnings and any("broke off" in warning for warning in warnings)
    assert sum(isinstance(event, DraftWithdrawn) for event in events) == 2
    pieces = "".join(event.text for event in events if isinstance(event, AnswerPiece))
    assert pieces == last.answer.answer.text == answer_question(QUESTION, context).answer.text
