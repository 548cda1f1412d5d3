"""The file of threads: what is kept, what is listed, what is refused."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict

pytest.importorskip("langgraph.checkpoint.sqlite", reason="needs the extra `chat`")

from fin_agent.analyst.events import Event, Warned, event_listener
from fin_agent.graphs.chat import ChatContext, Turn, build_chat
from fin_agent.graphs.chat.graph import ChatThread
from fin_agent.graphs.chat.threads import ThreadStore, ThreadStoreError, thread_turn_lock
from fin_agent.workspace import Workspace


def config(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "threads.sqlite"


def test_a_new_file_holds_nothing_and_is_for_its_owner_alone(file: Path) -> None:
    with ThreadStore(file) as store:
        assert store.listed() == [] and store.get_tuple(config("a")) is None
    assert sys.platform == "win32" or file.stat().st_mode & 0o077 == 0


def test_without_the_extra_it_says_what_to_install(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fin_agent.graphs.chat.threads._INSTALLED", False)
    with pytest.raises(ThreadStoreError, match=r"langgraph-checkpoint-sqlite.*\[chat\]"):
        ThreadStore(file)


def test_threads_are_listed_with_their_beginning_the_last_used_first(file: Path, workspace: Workspace) -> None:
    with ThreadStore(file) as store:
        graph, context = build_chat(store), ChatContext.by_rules(workspace)
        for name, message in (("a", "hello"), ("b", "thanks"), ("a", "what can you do?")):
            graph.invoke({"messages": [("user", message)]}, config(name), context=context)  # type: ignore[typeddict-item]
        assert [(each.name, each.title, each.turns) for each in store.listed()] == [
            ("a", "hello", 2),
            ("b", "thanks", 1),
        ]
        store.delete_thread("a")
        assert [each.name for each in store.listed()] == ["b"]
        assert store.get_tuple(config("a")) is None and store.get_tuple(config("b")) is not None


def test_what_is_kept_is_read_back_where_other_types_are_blocked(
    file: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("LANGGRAPH_STRICT_MSGPACK", "true")
    context = ChatContext.by_rules(workspace)
    for message in ("What was Harborlight's net income in FY2023?", "and in 2022?"):
        with ThreadStore(file) as store:
            given: Any = {"messages": [("user", message)]}
            out = build_chat(store).invoke(given, config("a"), context=context)
    assert out["turns"][1].question == "What was Harborlight's net income in FY2022?"
    assert isinstance(out["turns"][0], Turn) and not caplog.records


def test_only_the_last_checkpoint_of_a_thread_is_kept(file: Path, workspace: Workspace) -> None:
    with ThreadStore(file) as store:
        graph, context = build_chat(store), ChatContext.by_rules(workspace)
        given: Any = {"messages": [("user", "hello")]}
        for _ in range(3):
            graph.invoke(given, config("a"), context=context, durability="sync")
        assert len(list(store.list(config("a")))) == 1
        kept = store.get_tuple(config("a"))
    assert kept is not None and len(kept.checkpoint["channel_values"]["turns"]) == 3
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT count(*) FROM checkpoints").fetchone() == (1,)
        assert connection.execute("SELECT count(*) FROM writes").fetchone()[0] <= 8


def test_a_thread_that_went_on_elsewhere_is_not_written_over(file: Path, workspace: Workspace) -> None:
    context = ChatContext.by_rules(workspace)
    given: Any = {"messages": [("user", "hello")]}
    with ThreadStore(file) as here, ThreadStore(file) as there:
        ours, theirs = build_chat(here), build_chat(there)
        ours.invoke(given, config("a"), context=context)
        with pytest.raises(ThreadStoreError, match=r"continued elsewhere.*Ask again"):
            for _ in ours.stream(given, config("a"), context=context, durability="sync"):
                theirs.invoke({"messages": [("user", "thanks")]}, config("a"), context=context)  # type: ignore[typeddict-item]
        kept = [turn.asked for turn in theirs.get_state(config("a")).values["turns"]]
        assert kept == ["hello", "thanks"]
        assert len(ours.invoke(given, config("a"), context=context)["turns"]) == 3


def test_two_chats_in_one_thread_go_on_from_each_other(file: Path, workspace: Workspace) -> None:
    context = ChatContext.by_rules(workspace)
    with ThreadStore(file) as one, ThreadStore(file) as other:
        here, there = ChatThread(context, one, "a"), ChatThread(context, other, "a")
        here.send("What was Tellurond's revenue in FY2023?")
        there.send("What was Quillmark's revenue in FY2023?")
        assert "Quillmark" in here.send("and in 2022?").question
        assert len(here.turns) == len(there.turns) == 3


def test_a_turn_waits_for_that_of_another_process(file: Path) -> None:
    pytest.importorskip("fcntl", reason="locks of ranges of a file")
    holding = (
        "import sys; from pathlib import Path\n"
        "from fin_agent.graphs.chat.threads import ThreadStore, thread_turn_lock\n"
        "with ThreadStore(Path(sys.argv[1])) as store, thread_turn_lock(store, 'a'):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    entered, waited = threading.Event(), threading.Event()

    def enter() -> None:
        with ThreadStore(file) as store, thread_turn_lock(store, "a", waited.set):
            entered.set()

    with subprocess.Popen(
        [sys.executable, "-c", holding, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None and other.stdin is not None
        assert other.stdout.readline() == "held\n"
        with ThreadStore(file) as store, thread_turn_lock(store, "b"):
            pass
        waiting = threading.Thread(target=enter)
        waiting.start()
        assert waited.wait(10) and not entered.wait(0.3)
        other.stdin.close()
        waiting.join(10)
        assert entered.is_set()


@pytest.mark.parametrize("kept", [True, False])
def test_two_messages_at_once_are_answered_one_after_the_other(file: Path, workspace: Workspace, kept: bool) -> None:
    """As from two tabs of one server, which is one process: locks of files keep its threads from nothing."""
    context = ChatContext.by_rules(workspace)
    memory, told_of, failed = InMemorySaver(), list[str](), list[Exception]()

    def ask(question: str) -> None:
        with ThreadStore(file) if kept else nullcontext() as store, event_listener(heard):
            try:
                ChatThread(context, store or memory, "a").send(question)
            except Exception as error:
                failed.append(error)

    def heard(event: Event) -> None:
        if isinstance(event, Warned):
            told_of.append(event.text)

    questions = [f"What was {name}'s revenue in FY2023?" for name in ("Tellurond", "Quillmark", "Harborlight")]
    asking = [threading.Thread(target=ask, args=(question,)) for question in questions]
    for each in asking:
        each.start()
    for each in asking:
        each.join(60)
    assert not failed
    with ThreadStore(file) if kept else nullcontext() as store:
        turns = ChatThread(context, store or memory, "a").turns
    assert sorted(turn.asked for turn in turns) == sorted(questions)
    assert all(turn.asked[9:15] in turn.said for turn in turns)
    assert told_of and set(told_of) == {"waiting for another message of this conversation to be answered"}


class Counted(TypedDict):
    steps: list[str]


def test_it_serves_any_graph_that_stops_and_goes_on(file: Path) -> None:
    def asks(state: Counted) -> Counted:
        return {"steps": [*state["steps"], str(interrupt("go on?"))]}

    builder = StateGraph(Counted)
    builder.add_node("asks", asks)
    builder.add_edge(START, "asks")
    builder.add_edge("asks", END)
    with ThreadStore(file) as store:
        stopped = builder.compile(checkpointer=store).invoke({"steps": ["begun"]}, config("a"))
        assert stopped["__interrupt__"][0].value == "go on?"
    from langgraph.types import Command

    with ThreadStore(file) as store:
        ended = builder.compile(checkpointer=store).invoke(Command(resume="yes"), config("a"))
    assert ended["steps"] == ["begun", "yes"]


@pytest.mark.parametrize("content", [b"no database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 3000])
def test_a_damaged_file_is_named(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    with pytest.raises(ThreadStoreError, match=r"threads\.sqlite.*Move the file away"):
        ThreadStore(file)


def test_a_database_of_something_else_is_left_alone(file: Path) -> None:
    file.parent.mkdir()
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE threads (mine TEXT)")
    before = file.read_bytes()
    with pytest.raises(ThreadStoreError, match="of format 0;"):
        ThreadStore(file)
    assert file.read_bytes() == before


def test_another_format_is_refused(file: Path) -> None:
    ThreadStore(file).close()
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 1")
    with pytest.raises(ThreadStoreError, match="of format 1;"):
        ThreadStore(file)
