"""What stood in the way of developers who embedded the package: fourteen stumbles, each held by a test.

All of it is done as an application does it, by public names alone.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import ValidationError

import fin_agent
from fin_agent import (
    Answer,
    AnswerContext,
    ChatContext,
    FinAgentRetriever,
    FinAgentToolkit,
    Kept,
    Settings,
    TournamentCompressor,
    Workspace,
    build_chat,
    build_graph,
)
from fin_agent.errors import QuestionError
from fin_agent.graphs.answer.graph import answer_builder
from fin_agent.graphs.channels import StateError

NET_INCOME = "What was Harborlight's net income in FY2023?"
REVENUE = "What was Tellurond's revenue in FY2023?"
THREAD: Any = {"configurable": {"thread_id": "1"}}


class State(MessagesState):
    """Of an application's own graph."""

    question: str
    answer: Annotated[Answer, Kept]


@pytest.fixture
def context(workspace: Workspace) -> AnswerContext:
    return AnswerContext.by_rules(workspace)


@pytest.fixture
def application() -> Any:
    """A graph of somebody's own, with the answer graph as a node, kept by a checkpointer."""
    graph: Any = StateGraph(State, context_schema=AnswerContext)
    return graph.add_node("filings", build_graph()).add_edge(START, "filings").compile(InMemorySaver())


@pytest.fixture
def stopped(context: AnswerContext) -> Any:
    """The answer graph, stopped half way."""
    graph: Any = answer_builder(AnswerContext, lambda given: given).compile(
        InMemorySaver(), interrupt_before=["search_passages"]
    )
    graph.invoke({"question": NET_INCOME}, THREAD, context=context)
    return graph


def run_alone(program: str, folder: Path, **variables: str) -> str:
    """What a script of one's own prints; it must print nothing on standard error."""
    (folder / "script.py").write_text(program, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "script.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "FIN_AGENT_RECORD": "0", **variables},
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_1_the_second_question_of_a_thread_carried_the_evidence_of_the_first(
    application: Any, context: AnswerContext
) -> None:
    application.invoke({"question": NET_INCOME}, THREAD, context=context)
    second = application.invoke({"question": REVENUE}, THREAD, context=context)["answer"]
    alone = fin_agent.ask(REVENUE, context.workspace)
    assert second.citations == alone.citations and second.retrieved == alone.retrieved
    assert [step.node for step in second.trace] == [step.node for step in alone.trace]


@pytest.mark.parametrize("strict", ["true", "false"])
def test_2_and_3_checkpoints_warned_and_lost_their_types(sample_index: Path, tmp_path: Path, strict: str) -> None:
    """Warned of thirty classes; under LANGGRAPH_STRICT_MSGPACK answers came back as dicts."""
    pytest.importorskip("langgraph.checkpoint.sqlite")
    told = run_alone(
        f"""
from typing import Annotated
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from fin_agent import Answer, AnswerContext, Kept, Workspace, build_graph

class State(MessagesState):
    question: str
    answer: Annotated[Answer, Kept]

graph = StateGraph(State, context_schema=AnswerContext).add_node("filings", build_graph()).add_edge(START, "filings")
context = AnswerContext.by_rules(Workspace.open({str(sample_index)!r}))
thread = {{"configurable": {{"thread_id": "1"}}}}
for _ in range(2):
    with SqliteSaver.from_conn_string("threads.sqlite") as saver:
        graph.compile(saver).invoke({{"question": {NET_INCOME!r}}}, thread, context=context)
with SqliteSaver.from_conn_string("threads.sqlite") as saver:
    print(type(graph.compile(saver).get_state(thread).values["answer"]).__name__)
""",
        tmp_path,
        LANGGRAPH_STRICT_MSGPACK=strict,
    )
    assert told == "Answer\n"


def test_4_a_forgotten_context_was_an_attribute_of_none(application: Any) -> None:
    for graph in (application, build_graph(), build_chat(InMemorySaver())):
        given = {"question": NET_INCOME, "messages": [("user", NET_INCOME)]}
        with pytest.raises(QuestionError, match=r"no context.*context=(AnswerContext|ChatContext)\.by_rules"):
            graph.invoke(given, THREAD)


def test_5_a_setting_that_is_misspelt_was_passed_over() -> None:
    with pytest.raises(ValidationError, match=r"round\n"):
        Settings(round=3)  # type: ignore[call-arg]


def test_6_a_node_that_is_not_there_could_be_chosen(stopped: Any, context: AnswerContext) -> None:
    with pytest.raises(StateError, match="there is no node 'answer_with_magic'"):
        stopped.update_state(THREAD, {"next": "answer_with_magic"}, as_node="check_answerability")
        stopped.invoke(None, THREAD, context=context)


def test_7_a_question_edited_too_late_was_answered_from_the_evidence_of_another(
    stopped: Any, context: AnswerContext
) -> None:
    with pytest.raises(StateError, match=r"`question` of the state: was changed"):
        stopped.update_state(THREAD, {"question": REVENUE}, as_node="search_pages")
        stopped.invoke(None, THREAD, context=context)


def test_8_paths_had_to_be_paths_and_objects_had_to_be_made_first(sample_html: Path, tmp_path: Path) -> None:
    file, folder = str(next(sample_html.glob("*8k*.htm"))), str(tmp_path / "index")
    assert [each.outcome.value for each in fin_agent.ingest(file, folder, workers=0).files] == ["added"]
    assert len(FinAgentToolkit(index=folder).get_tools()) == 8
    assert FinAgentRetriever(index=folder, k=1).invoke("officer")
    assert fin_agent.ask(REVENUE, folder).refused
    given = {"question": REVENUE}
    assert build_graph().invoke(given, context=AnswerContext.by_rules(folder))["answer"].refused  # type: ignore[call-overload]
    assert ChatContext.by_rules(folder).answering.workspace.index.entries()


def test_9_a_script_without_a_main_guard_started_itself_again(sample_html: Path, tmp_path: Path) -> None:
    file = str(next(sample_html.glob("*8k*.htm")))
    program = f"import fin_agent\nprint(len(fin_agent.ingest([{file!r}], 'my-index', workers=2).files))"
    assert run_alone(program, tmp_path) == "1\n"


def test_10_the_number_of_results_had_three_names(workspace: Workspace) -> None:
    schemas = {tool.name: tool.args for tool in FinAgentToolkit(workspace=workspace).get_tools()}
    counted = {name for name in schemas if name.endswith("_search") or name == "list_filings"}
    assert {name for name, schema in schemas.items() if "k" in schema} == counted
    assert not {"limit", "top_n", "top_k"} & {each for schema in schemas.values() for each in schema}
    assert "k" in FinAgentRetriever.model_fields and "k" in TournamentCompressor.model_fields
    assert "k" in signature(Workspace.search).parameters and "k" in signature(Workspace.facts).parameters


def test_11_tools_could_not_be_chosen_and_clashed_with_those_of_others(workspace: Workspace) -> None:
    toolkit = FinAgentToolkit(workspace=workspace)
    (tool,) = toolkit.get_tools(include=["page_search"], prefix="sec_")
    assert tool.name == "sec_page_search" and next(iter(tool.args)) == "query"
    assert tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": {"query": "x"}}).status == "success"
    with pytest.raises(fin_agent.FinAgentError, match=r"there is no tool 'pages_search'.*There are: list_filings"):
        toolkit.get_tools(include=["pages_search"])


def test_12_an_artifact_came_back_from_a_checkpoint_as_a_dict(workspace: Workspace) -> None:
    (tool,) = FinAgentToolkit(workspace=workspace).get_tools(include=["answer_question"])
    call = {"type": "tool_call", "id": "1", "name": tool.name, "args": {"question": NET_INCOME}}
    artifact = tool.invoke(call).artifact
    kept = json.loads(json.dumps(artifact.model_dump(mode="json")))
    read = Answer.from_artifact(kept)
    assert read.model_dump(mode="json") == kept and read.citations[0].page == artifact.citations[0].page
    assert Answer.from_artifact(artifact) is artifact


def test_13_an_index_of_another_version_was_a_dead_end(sample_html: Path, tmp_path: Path) -> None:
    fin_agent.ingest([next(sample_html.glob("*8k*.htm"))], tmp_path / "index", workers=0)
    with sqlite3.connect(tmp_path / "index" / "filings.sqlite") as connection:
        connection.execute("UPDATE meta SET value = '3' WHERE key = 'format'")
    with pytest.raises(fin_agent.FinAgentError, match=r"`fin-agent ingest --again` reads the 1 files? again"):
        Workspace.open(tmp_path / "index")
    command = [sys.executable, "-c", "from fin_agent.cli import main; main()", "ingest", "--again", "--workers", "0"]
    subprocess.run([*command, "--index", tmp_path / "index"], check=True, capture_output=True)
    assert len(Workspace.open(tmp_path / "index").index.entries()) == 1


def test_14_a_chat_searched_the_filings_for_what_it_was_asked_about_itself(workspace: Workspace) -> None:
    chat: Any = build_chat(InMemorySaver())
    context = ChatContext.by_rules(workspace)
    said = {}
    for message in ("Which companies are there?", "thanks", NET_INCOME, "where did you find that?"):
        state = chat.invoke({"messages": [("user", message)]}, THREAD, context=context)
        said[message] = state["turns"][-1].said
    assert "Quillmark Stores, Inc." in said["Which companies are there?"]
    assert "harborlight_2023_10k" in said["where did you find that?"]
    assert "cannot be answered" not in said["thanks"]
