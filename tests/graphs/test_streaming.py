"""What is told while a question is answered: in which order, nothing unchecked as the answer, and the same answer."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

import pytest
from pydantic import TypeAdapter

from fin_agent.analyst.events import (
    Answered,
    AnswerPiece,
    CallBegun,
    CallEnded,
    Draft,
    DraftWithdrawn,
    Event,
    StepBegun,
    StepEnded,
    Warned,
    event_listener,
)
from fin_agent.answering.answer import Answer
from fin_agent.errors import FilingIndexError, QuestionError
from fin_agent.graphs.answer import (
    AnswerContext,
    aanswer_question,
    answer_question,
    astream_answer,
    build_graph,
    stream_answer,
)
from fin_agent.models import Budget, Meter, ModelSettings, metered
from fin_agent.testing import ModelCall, ScriptedChatModel
from fin_agent.workspace import Workspace
from tests.graphs.told_by_model import QUESTION, Reasons, context_of, invented, pausing, sound

Kind = TypeVar("Kind")
BY_RULES = (
    "What was Harborlight's revenue in FY2023?",
    QUESTION,
    "What was Apple's revenue in FY2023?",
)


def written(answer: Answer) -> str:
    """All of an answer but the time it took."""
    return answer.model_copy(update={"seconds": 0.0}).model_dump_json()


def answer_in(events: list[Event]) -> Answer:
    last = events[-1]
    assert isinstance(last, Answered)
    return last.answer


def of_kind(kind: type[Kind], events: Iterable[object]) -> list[Kind]:
    return [event for event in events if isinstance(event, kind)]


def pieces(events: Iterable[object], kind: type[Draft] | type[AnswerPiece] = AnswerPiece) -> str:
    return "".join(event.text for event in of_kind(kind, events))


@pytest.mark.parametrize("question", BY_RULES)
def test_rules_tell_their_steps_then_the_answer(context: AnswerContext, question: str) -> None:
    events = list(stream_answer(question, context, question_id="q7"))
    answer = answer_in(events)
    assert written(answer) == written(answer_question(question, context, question_id="q7"))
    steps = [event for event in events if isinstance(event, StepBegun | StepEnded)]
    assert [(step.kind, step.node, step.round) for step in steps] == [
        (kind, step.node, step.round) for step in answer.trace for kind in ("step_begun", "step_ended")
    ]
    assert [step.summary for step in steps if isinstance(step, StepEnded)] == [step.summary for step in answer.trace]
    rest = events[len(steps) :]
    assert pieces(rest[:-1]) == answer.answer.text and len(rest) >= 2
    assert {event.kind for event in rest[:-1]} == {"answer_piece"}


def test_a_model_tells_calls_and_drafts_within_their_steps_and_answers_the_same(workspace: Workspace) -> None:
    events = list(stream_answer(QUESTION, context_of(workspace, ScriptedChatModel(sound))))
    answer = answer_in(events)
    assert written(answer) == written(answer_question(QUESTION, context_of(workspace, ScriptedChatModel(sound))))
    assert answer.usage.model_calls == 2 and not answer.warnings
    assert pieces(events, Draft) == pieces(events) == answer.answer.text
    assert len(of_kind(Draft, events)) > 5 and len(of_kind(AnswerPiece, events)) == 2
    at_work = [event for event in events if isinstance(event, StepBegun | StepEnded)]
    order = [event.kind for event in events[events.index(at_work[-8]) :]]
    told = list(dict.fromkeys(order))
    assert told == ["step_begun", "call_begun", "draft", "call_ended", "step_ended", "answer_piece", "answered"]
    ended = of_kind(CallEnded, events)
    assert [(call.role, call.model) for call in ended] == [(role.role, role.model) for role in answer.usage.roles]
    assert sum(call.input_tokens for call in ended) == answer.usage.input_tokens > 0
    assert {call.dollars for call in ended} == {answer.usage.dollars}


def test_no_draft_ends_within_a_number(workspace: Workspace) -> None:
    events = list(stream_answer(QUESTION, context_of(workspace, ScriptedChatModel(Reasons(invented)))))
    drafts = of_kind(Draft, events)
    assert sum("987654" in draft.text for draft in drafts) == 2
    assert all(draft.text.endswith((" ", ".")) for draft in drafts)


def test_a_draft_that_does_not_hold_is_withdrawn_and_written_anew(workspace: Workspace) -> None:
    events = list(stream_answer(QUESTION, context_of(workspace, ScriptedChatModel(Reasons(invented, sound)))))
    (withdrawn,) = of_kind(DraftWithdrawn, events)
    assert "987654" in withdrawn.why
    before, after = events[: events.index(withdrawn)], events[events.index(withdrawn) :]
    assert "987654" in pieces(before, Draft) and not pieces(before)
    assert pieces(after, Draft) == pieces(after) == answer_in(events).answer.text
    assert "987654" not in answer_in(events).answer.text


def test_where_no_draft_holds_the_answer_is_what_is_quoted_with_a_warning(workspace: Workspace) -> None:
    asked = context_of(workspace, ScriptedChatModel(Reasons(invented)))
    events = list(stream_answer(QUESTION, asked))
    answer = answer_in(events)
    assert len(of_kind(DraftWithdrawn, events)) == 2 and isinstance(events[-1], Answered)
    assert tuple(event.text for event in of_kind(Warned, events)) == answer.warnings != ()
    assert pieces(events) == answer.answer.text == f"{answer.citations[0].text}." and "retire" in answer.answer.text
    assert "987654" not in pieces(events)


def test_a_model_that_finds_no_answer_drafts_none(workspace: Workspace) -> None:
    def nothing(call: ModelCall) -> Mapping[str, object]:
        return {"sentences": [{"text": "Nothing is said of it."}], "answer": "n/a", "verdict": "none"}

    events = list(stream_answer(QUESTION, context_of(workspace, ScriptedChatModel(Reasons(nothing)))))
    assert len(of_kind(DraftWithdrawn, events)) == bool(of_kind(Draft, events))
    assert pieces(events) == answer_in(events).answer.text


def test_a_kept_reply_is_told_at_once(workspace: Workspace, tmp_path: Path) -> None:
    models = ModelSettings(cache=tmp_path / "kept.sqlite")
    model = ScriptedChatModel(sound)
    first, second = (list(stream_answer(QUESTION, context_of(workspace, model, models))) for _ in range(2))
    assert len(model.calls) == 2 and not of_kind(CallBegun, second)
    assert [call.from_cache for call in of_kind(CallEnded, second)] == [True, True]
    assert pieces(second, Draft) == pieces(second) == pieces(first)


def test_a_call_that_the_budget_leaves_out_is_told(workspace: Workspace) -> None:
    models = ModelSettings(budget=Budget(calls=1))
    events = list(stream_answer(QUESTION, context_of(workspace, ScriptedChatModel(sound), models)))
    answer = answer_in(events)
    assert [call.role for call in of_kind(CallEnded, events)] == ["intent"] and not of_kind(Draft, events)
    assert answer.usage.left_out and any("left out" in event.text for event in of_kind(Warned, events))
    assert written(answer) == written(
        answer_question(QUESTION, context_of(workspace, ScriptedChatModel(sound), models))
    )


def test_the_meter_around_counts(workspace: Workspace) -> None:
    with metered(Meter()) as batch:
        answer = answer_in(list(stream_answer(QUESTION, context_of(workspace, ScriptedChatModel(sound)))))
        again = asyncio.run(aanswer_question(QUESTION, context_of(workspace, ScriptedChatModel(sound))))
    assert len(batch.records) == 4 and written(answer) == written(again)


def test_the_stream_of_langgraph_tells_the_same(workspace: Workspace) -> None:
    expected = list(stream_answer(QUESTION, context_of(workspace, ScriptedChatModel(sound))))[:-1]
    graph, given = build_graph(), {"question": QUESTION}
    told = list(graph.stream(given, context=context_of(workspace, ScriptedChatModel(sound)), stream_mode="custom"))  # type: ignore[arg-type]

    async def soon() -> list[object]:
        context = context_of(workspace, ScriptedChatModel(sound))
        return [event async for event in graph.astream(given, context=context, stream_mode="custom")]  # type: ignore[arg-type]

    assert told == expected == asyncio.run(soon())


def test_events_are_read_back_from_json(workspace: Workspace) -> None:
    events = list(stream_answer(QUESTION, context_of(workspace, ScriptedChatModel(Reasons(invented, sound)))))
    read: TypeAdapter[Event] = TypeAdapter(Event)
    assert [read.validate_python(json.loads(event.model_dump_json())) for event in events] == events


def test_drafts_are_streamed_for_those_who_listen_alone(workspace: Workspace) -> None:
    heard: list[Event] = []
    model, go_on = pausing("")
    go_on.set()
    answer_question(QUESTION, context_of(workspace, model))
    assert len(model.calls) == 2 and model.streams == 0
    with event_listener(heard.append):
        answer_question(QUESTION, context_of(workspace, model))
    assert len(model.calls) == 4 and model.streams == 1 and of_kind(Draft, heard)


@pytest.mark.parametrize(("question", "doc_ids"), [(" ", None), ("What was revenue?", ["nowhere"])])
def test_errors_are_those_of_the_plain_function(
    context: AnswerContext, question: str, doc_ids: list[str] | None
) -> None:
    kinds = (QuestionError, FilingIndexError)
    with pytest.raises(kinds) as plain:
        answer_question(question, context, doc_ids=doc_ids)
    with pytest.raises(kinds) as streamed:
        list(stream_answer(question, context, doc_ids=doc_ids))
    with pytest.raises(kinds) as awaited:
        asyncio.run(aanswer_question(question, context, doc_ids=doc_ids))
    assert str(plain.value) == str(streamed.value) == str(awaited.value)


def test_whoever_closes_while_a_model_writes_leaves_the_reply(workspace: Workspace) -> None:
    model, go_on = pausing("The filing tells it so:")
    with metered(Meter()) as meter:
        events = stream_answer(QUESTION, context_of(workspace, model, server="left"))
        while not isinstance(next(events), Draft):
            pass
        events.close()
        go_on.set()
        settled(lambda: len(meter.records) == 2)
    assert "left before its end" in meter.records[1].note and len(model.calls) == 2


def test_whoever_closes_while_a_model_is_asked_makes_no_further_call(workspace: Workspace) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def waits(call: ModelCall) -> Mapping[str, object]:
        begun.set()
        assert go_on.wait(30)
        return sound(call)

    model = ScriptedChatModel(waits)
    events = stream_answer(QUESTION, context_of(workspace, model, server="asked"))
    while not isinstance(next(events), CallBegun):
        pass
    assert begun.wait(30)
    events.close()
    go_on.set()
    settled(lambda: not of_runs())
    assert [call.role for call in model.calls] == ["intent"]


def test_a_task_that_is_cancelled_makes_no_further_call(workspace: Workspace) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def waits(call: ModelCall) -> Mapping[str, object]:
        begun.set()
        assert go_on.wait(30)
        return sound(call)

    model = ScriptedChatModel(waits)

    async def cancelled() -> None:
        task = asyncio.create_task(aanswer_question(QUESTION, context_of(workspace, model, server="cancelled")))
        await asyncio.to_thread(begun.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    go_on.set()
    settled(lambda: not of_runs())
    assert [call.role for call in model.calls] == ["intent"]


def test_eight_questions_at_once_over_one_context(workspace: Workspace) -> None:
    together = threading.Barrier(8, timeout=60)
    go_on = threading.Event()

    def waits(call: ModelCall) -> Mapping[str, object]:
        if call.role == "curation":
            together.wait()
            assert go_on.wait(60)
        return sound(call)

    model = ScriptedChatModel(waits)
    context = context_of(workspace, model, server="eight")
    begun: list[CallBegun] = []

    async def one(number: int) -> list[Event]:
        events: list[Event] = []
        async for event in astream_answer(QUESTION, context, question_id=str(number)):
            events.append(event)
            begun.extend(of_kind(CallBegun, [event]))
            if len(begun) == 8:
                go_on.set()  # by the event loop, while all eight threads wait for their model
        return events

    async def eight() -> list[list[Event]]:
        return await asyncio.gather(*map(one, range(8)))

    with metered(Meter()) as meter:
        streams = asyncio.run(eight())
    assert len(meter.records) == 16
    expected = answer_question(QUESTION, context_of(workspace, ScriptedChatModel(sound)))
    for number, events in enumerate(streams):
        assert written(answer_in(events)) == written(expected.model_copy(update={"id": str(number)}))
        assert pieces(events, Draft) == pieces(events) == expected.answer.text


def settled(done: Callable[[], bool]) -> None:
    """Wait for what happens in another thread; fails where it does not."""
    for _ in range(600):
        if done():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def of_runs() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "fin-agent-answer"]
