"""Threads of any checkpointer: each question begins anew, states are plain data, and what cannot be is said."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from fin_agent import Answer, AnswerContext, Kept, Workspace, build_graph
from fin_agent.errors import QuestionError
from fin_agent.graphs.answer.graph import NODES, AnswerGraph, answer_builder
from fin_agent.graphs.channels import WRITTEN_BY, StateError

QUESTIONS: tuple[dict[str, Any], ...] = (
    {"question": "What was Harborlight's net income in FY2023?", "doc_ids": ["harborlight_2023_10k"], "id": "a"},
    {"question": "Which had the higher average inventory turnover over FY2022 - FY2024, Harborlight or Tellurond?"},
    {"question": "What was the revenue of Apple in FY2022?", "id": "c"},
    {"question": "What risks does Harborlight name about its suppliers?"},
)


def kept_graph(saver: Any = None, **stops: Any) -> AnswerGraph:
    return answer_builder(AnswerContext, lambda given: given).compile(checkpointer=saver, name="answer", **stops)


@pytest.fixture(scope="module")
def unkept(context: AnswerContext) -> list[dict[str, Any]]:
    """The answers to `QUESTIONS` of a graph that keeps nothing."""
    return [plain(build_graph().invoke(given, context=context)["answer"]) for given in QUESTIONS]  # type: ignore[call-overload]


def thread(name: str) -> RunnableConfig:
    return {"configurable": {"thread_id": name}}


def plain(answer: Answer) -> dict[str, Any]:
    return answer.model_copy(update={"seconds": 0.0}).model_dump(mode="json")


@pytest.fixture(params=["memory", "sqlite"])
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "memory":
        return InMemorySaver()
    sqlite = pytest.importorskip("langgraph.checkpoint.sqlite")
    return sqlite.SqliteSaver(sqlite3.connect(tmp_path / "t.sqlite", check_same_thread=False))


def test_questions_of_one_thread_are_answered_as_each_in_its_own(
    context: AnswerContext, saver: BaseCheckpointSaver[Any], unkept: list[dict[str, Any]]
) -> None:
    graph = kept_graph(saver)
    for number in (0, 1, 2, 3, 3, 2, 1, 0):
        together = graph.invoke(QUESTIONS[number], thread("one"), context=context)["answer"]  # type: ignore[call-overload]
        assert plain(together) == unkept[number]
        assert together.id == QUESTIONS[number].get("id")


def test_a_question_that_was_left_half_way_leaves_nothing_to_the_next(context: AnswerContext) -> None:
    graph = kept_graph(InMemorySaver(), interrupt_before=["verify_answer"])
    graph.invoke(QUESTIONS[0], thread("1"), context=context)  # type: ignore[call-overload]
    graph.invoke(QUESTIONS[2], thread("1"), context=context)  # type: ignore[call-overload]
    state = graph.get_state(thread("1")).values
    assert "answer" not in state and "ledger" not in state and "program" not in state
    answer = graph.invoke(None, thread("1"), context=context)["answer"]  # type: ignore[call-overload]
    assert (
        answer.refused
        and not answer.citations
        and [step.node for step in answer.trace]
        == [
            "rewrite_query",
            "verify_answer",
        ]
    )


def test_checkpoints_and_updates_hold_plain_data(context: AnswerContext) -> None:
    saver = InMemorySaver()
    graph = kept_graph(saver)
    *updates, _ = graph.stream(QUESTIONS[1], thread("1"), context=context, stream_mode="updates")  # type: ignore[call-overload]
    assert json.loads(json.dumps(updates)) == updates
    left = {name: value for update in updates for changes in update.values() for name, value in changes.items()}
    assert left["ledger"][WRITTEN_BY] == "filter_passages" and left["query"][WRITTEN_BY] == "ask_complementary_question"
    for kept in saver.list(thread("1")):
        json.dumps(kept.checkpoint["channel_values"])


def test_a_run_can_stop_before_every_node_and_go_on(context: AnswerContext, unkept: list[dict[str, Any]]) -> None:
    graph = kept_graph(InMemorySaver(), interrupt_before=[node.__name__ for node in NODES])
    given: Any = QUESTIONS[1]
    for _ in range(60):
        out = graph.invoke(given, thread("1"), context=context)
        given = None
        if not graph.get_state(thread("1")).next:
            break
    assert plain(out["answer"]) == unkept[1]


def test_time_travel_answers_as_before(context: AnswerContext) -> None:
    graph = kept_graph(InMemorySaver())
    first = graph.invoke(QUESTIONS[1], thread("1"), context=context)["answer"]  # type: ignore[call-overload]
    graph.invoke(QUESTIONS[0], thread("1"), context=context)  # type: ignore[call-overload]
    history = [each for each in graph.get_state_history(thread("1")) if each.values.get("question")]
    before_filter = [each for each in history if each.next == ("filter_passages",)][-1]
    again = graph.invoke(None, before_filter.config, context=context)["answer"]
    assert plain(again) == plain(first)
    assert all(newer.created_at >= older.created_at for newer, older in pairwise(history))  # type: ignore[operator]


class Application(MessagesState):
    """Of somebody's own graph."""

    question: str
    answer: Annotated[Answer, Kept]


@pytest.fixture
def application() -> Any:
    graph: Any = StateGraph(Application, context_schema=AnswerContext)
    return graph.add_node("filings", build_graph()).add_edge(START, "filings")


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_of_a_subgraph_every_step_is_told_as_plain_data(
    application: Any, context: AnswerContext, durability: str
) -> None:
    graph = application.compile(InMemorySaver())
    run = {"context": context, "durability": durability, "stream_mode": "updates", "subgraphs": True}
    *inside, (place, last) = graph.stream(QUESTIONS[1], thread("1"), **run)
    assert [step for place, update in inside for step in update if place][:2] == ["rewrite_query", "search_documents"]
    plain_data = [update for place, update in inside if place]
    assert json.loads(json.dumps(plain_data)) == plain_data and len(plain_data) == len(inside) >= 9
    assert place == () and isinstance(last["filings"]["answer"], Answer)
    assert graph.get_state(thread("1")).values["answer"] == last["filings"]["answer"]


def test_time_travel_of_the_graph_around_it_answers_as_before(application: Any, context: AnswerContext) -> None:
    graph = application.compile(InMemorySaver())
    answers = [graph.invoke(given, thread("1"), context=context)["answer"] for given in QUESTIONS[:3]]
    before = [each for each in graph.get_state_history(thread("1")) if each.next == ("filings",)][::-1]
    for state, answer in zip(before, answers, strict=True):
        assert plain(graph.invoke(None, state.config, context=context)["answer"]) == plain(answer)


def test_awaited_questions_of_one_thread_are_answered_as_each_in_its_own(
    application: Any, context: AnswerContext, tmp_path: Path
) -> None:
    sqlite = pytest.importorskip("langgraph.checkpoint.sqlite.aio")

    asked: list[Any] = [{"question": given["question"]} for given in QUESTIONS[:3]]

    async def told() -> list[Answer]:
        async with sqlite.AsyncSqliteSaver.from_conn_string(str(tmp_path / "t.sqlite")) as saver:
            graph = application.compile(saver)
            return [(await graph.ainvoke(given, thread("1"), context=context))["answer"] for given in asked]

    alone = [build_graph().invoke(given, context=context)["answer"] for given in asked]
    assert [plain(each) for each in asyncio.run(told())] == [plain(each) for each in alone]


@pytest.mark.parametrize("mode", ["strict", "warned of"])
def test_a_graph_of_somebody_elses_reads_it_back_without_a_warning(sample_index: Path, mode: str) -> None:
    pytest.importorskip("langgraph.checkpoint.sqlite")
    environment = {**os.environ, "LANGGRAPH_STRICT_MSGPACK": str(mode == "strict").lower()}
    program = Path(__file__).with_name("kept_by_a_parent.py")
    ran = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:langgraph", program, sample_index, mode],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    stops, text, *own, warned = ran.stdout.splitlines()
    assert stops == "16 Intent Ledger Plan list" and text.startswith("Answer Tellurond")
    assert own == (["{'Answer'} 9"] if mode == "strict" else [])
    assert warned == "[]"


@pytest.mark.parametrize(
    ("edit", "as_node", "said"),
    [
        (
            {"question": "What was Tellurond's revenue in FY2023?"},
            "search_pages",
            "`question` of the state: was changed",
        ),
        ({"doc_ids": ["harborlight_2023_10k"]}, "search_pages", "`doc_ids` of the state: was changed"),
        ({"next": "answer_with_magic"}, "check_answerability", "there is no node 'answer_with_magic'"),
        ({"next": "answer_with_magic"}, "search_pages", "`next` of the state: cannot be used"),
        ({"ledger": {"entries": 5}}, "search_pages", r"`ledger\.entries` of the state"),
    ],
)
def test_edits_that_cannot_be_are_typed_errors(
    context: AnswerContext, edit: dict[str, Any], as_node: str, said: str
) -> None:
    graph = kept_graph(InMemorySaver(), interrupt_before=["search_passages"])
    graph.invoke(QUESTIONS[0], thread("1"), context=context)  # type: ignore[call-overload]
    with pytest.raises(StateError) as raised:
        graph.update_state(thread("1"), edit, as_node=as_node)
        graph.invoke(None, thread("1"), context=context)
    assert said.replace("\\", "") in str(raised.value)


def test_a_run_that_was_given_something_else_says_what_to_give(context: AnswerContext, sample_index: Path) -> None:
    graph: Any = build_graph()
    with pytest.raises(QuestionError, match="there is no question"):
        graph.invoke({"doc_ids": ["harborlight_2023_10k"]}, context=context)
    for wrong in (Workspace.open(sample_index), str(sample_index)):
        with pytest.raises(QuestionError, match=r"the context is a \w+\. Pass one: context=AnswerContext\.by_rules"):
            graph.invoke({"question": "What was net income?"}, context=wrong)
