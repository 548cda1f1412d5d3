"""The graphs as LangGraph's own server runs them, for Studio and for whoever calls its API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.studio.conftest import Server

LOOKUP = "What were Quillmark's merchandise inventories at the end of fiscal 2023?"
TWO_ROUNDS = "Which company had the higher average inventory turnover over FY2022 - FY2024, Harborlight or Tellurond?"
NODES = [
    "rewrite_query",
    "answer_each_ask", "search_documents", "search_pages", "search_passages", "extract_cards", "filter_passages",
    "check_answerability", "ask_complementary_question", "answer_with_program", "answer_with_reasoning",
    "verify_answer",
]  # fmt: skip
GROWING = {"trace", "found_documents", "found_pages", "found_passages", "calls", "warnings", "left_out"}
"""Parts of the state to which an update is added."""


@pytest.fixture
def thread(server: Server) -> Iterator[str]:
    made = server.client.threads.create()["thread_id"]
    yield made
    server.client.threads.delete(made)


class TestWhatIsThere:
    def test_every_graph_is_listed_with_what_it_does(self, server: Server) -> None:
        listed = {each["graph_id"]: each["description"] for each in server.client.assistants.search()}
        assert set(listed) >= {"answer", "search", "rerank", "chat"}
        assert "refuses" in listed["answer"]

    @pytest.mark.parametrize("graph", ["answer", "search", "rerank"])
    def test_every_graph_has_its_schemas(self, server: Server, graph: str) -> None:
        schemas = server.client.assistants.get_schemas(_assistant(server, graph))
        assert schemas["input_schema"]["properties"]["question"]["examples"]
        for name in ("output_schema", "state_schema", "context_schema"):
            assert schemas[name]["properties"], name  # type: ignore[literal-required]

    def test_controls_say_what_they_are_and_what_holds_where_nothing_is_set(self, server: Server) -> None:
        controls = server.client.assistants.get_schemas(_assistant(server, "answer"))["context_schema"]["properties"]
        assert set(controls) >= {"index", "strategy", "rounds", "passages", "analyst", "model", "preset", "stop_before"}
        assert all(control["description"] for control in controls.values())
        assert (controls["rounds"]["default"], controls["rounds"]["maximum"]) == (3, 3)
        assert controls["analyst"]["enum"] == ["auto", "rules", "llm"]

    def test_the_drawing_holds_every_node_with_its_description(self, server: Server) -> None:
        drawn = server.client.assistants.get_graph(_assistant(server, "answer"))
        described = {node["id"]: node.get("metadata", {}).get("description") for node in drawn["nodes"]}
        assert set(described) == {*NODES, "__start__", "__end__"}
        assert all(described[node] for node in NODES)
        edges = {(edge["source"], edge["target"]) for edge in drawn["edges"]}
        assert ("ask_complementary_question", "search_documents") in edges
        assert ("verify_answer", "__end__") in edges


class TestChat:
    def test_it_takes_messages_and_its_controls_are_described(self, server: Server) -> None:
        schemas = server.client.assistants.get_schemas(_assistant(server, "chat"))
        assert schemas["input_schema"]["properties"]["messages"]["examples"][0][0]["role"] == "user"
        controls = schemas["context_schema"]["properties"]
        assert set(controls) >= {"index", "doc_ids", "model", "analyst", "rounds", "model_calls", "tool_calls"}
        assert all(control["description"] for control in controls.values())
        drawn = server.client.assistants.get_graph(_assistant(server, "chat"))
        described = {node["id"]: node.get("metadata", {}).get("description") for node in drawn["nodes"]}
        assert all(
            described[node] for node in ("read_message", "answer_question", "reply", "converse", "check_figures")
        )

    def test_a_thread_remembers_what_was_asked(self, server: Server, sample_index: Path, thread: str) -> None:
        context = {"index": str(sample_index)}
        for message in ("What was Harborlight's net income in FY2023?", "and the year before?"):
            state = server.client.runs.wait(
                thread, "chat", input={"messages": [{"role": "user", "content": message}]}, context=context
            )
        turn = state["turns"][-1]  # type: ignore[call-overload]
        assert turn["question"] == "What was Harborlight's net income in FY2022?"
        assert turn["answers"][0]["answer"]["value"] == 474.0
        assert "[1] harborlight_2022_10k, page 9" in state["messages"][-1]["content"]  # type: ignore[call-overload]
        assert len(server.client.threads.get_state(thread)["values"]["turns"]) == 2

    def test_a_run_streams_its_nodes_and_the_steps_within(self, server: Server, thread: str) -> None:
        parts = list(
            server.client.runs.stream(
                thread,
                "chat",
                input={"messages": [{"role": "user", "content": "What was Quillmark's revenue in fiscal 2024?"}]},
                stream_mode=["updates", "custom"],
            )
        )
        updates = [node for part in parts if part.event == "updates" for node in part.data]
        assert updates == ["read_message", "answer_question"]
        begun = [part.data["node"] for part in parts if part.event == "custom" and part.data["kind"] == "step_begun"]
        assert begun[:3] == ["read_message", "answer_question", "rewrite_query"]
        warnings = next(part.data for part in parts if part.event == "updates" and "answer_question" in part.data)
        assert "sample filings" in warnings["answer_question"]["turns"][0]["warnings"][0]

    def test_a_model_that_cannot_be_set_up_fails_the_run_with_what_to_do(self, server: Server) -> None:
        failed = server.client.runs.wait(
            None,
            "chat",
            input={"messages": [{"role": "user", "content": "hello"}]},
            context={"model": "openai:gpt-5.4"},
            raise_error=False,
        )
        assert "OPENAI_API_KEY" in str(failed)


class TestRuns:
    def test_a_newcomer_without_an_index_is_answered_from_the_sample_filings_and_told_so(self, server: Server) -> None:
        answer = server.client.runs.wait(None, "answer", input={"question": LOOKUP})["answer"]  # type: ignore[call-overload]
        assert answer["answer"]["value"] == 945162
        assert "sample filings" in answer["warnings"][0]

    def test_an_assistant_keeps_its_context(self, server: Server, sample_index: Path) -> None:
        made = server.client.assistants.create(
            "answer", context={"index": str(sample_index), "rounds": 1}, name="one round"
        )
        answer = _run(server, None, made["assistant_id"], TWO_ROUNDS)["answer"]
        assert (answer["rounds"], answer["refused"]) == (1, True)
        assert not answer["warnings"]
        with_three = _run(server, None, "answer", TWO_ROUNDS, context={"index": str(sample_index)})["answer"]
        assert (with_three["rounds"], with_three["refused"]) == (2, False)

    def test_a_run_streams_what_each_node_leaves_and_says(
        self, server: Server, sample_index: Path, thread: str
    ) -> None:
        parts = list(
            server.client.runs.stream(
                thread,
                "answer",
                input={"question": LOOKUP},
                context={"index": str(sample_index)},
                stream_mode=["updates", "custom"],
            )
        )
        updates = [node for part in parts if part.event == "updates" for node in part.data]
        assert updates == [
            "rewrite_query", "search_documents", "search_pages", "search_passages", "extract_cards",
            "filter_passages", "check_answerability", "answer_with_program", "verify_answer",
        ]  # fmt: skip
        filtered = next(part.data for part in parts if part.event == "updates" and "filter_passages" in part.data)
        assert filtered["filter_passages"]["evidence"][0]["passage"]["doc_id"] == "quillmark_2023_10k"
        told = [part.data["node"] for part in parts if part.event == "custom" and part.data["kind"] == "step_ended"]
        assert told == updates

    def test_search_and_rerank_run_too(self, server: Server, sample_index: Path) -> None:
        found = _run(server, None, "search", LOOKUP, context={"index": str(sample_index), "passages": 4})
        assert found["pages"][0]["key"] == {"doc_id": "quillmark_2023_10k", "page": 9}
        assert len(found["passages"]) == 4
        given = [
            {name: passage[name] for name in ("doc_id", "page", "ordinal")} for passage in reversed(found["passages"])
        ]
        ranked = server.client.runs.wait(  # type: ignore[call-overload]
            None,
            "rerank",
            input={"question": LOOKUP, "candidates": given},
            context={"index": str(sample_index), "kept": 2},
        )["ranked"]
        assert ranked[0]["before"] == 4
        assert (ranked[0]["doc_id"], ranked[0]["page"], len(ranked)) == ("quillmark_2023_10k", 9, 2)

    def test_a_run_that_fails_is_reported_as_failing_and_says_what_to_do(
        self, server: Server, tmp_path: Path, thread: str
    ) -> None:
        nowhere = str(tmp_path / "nowhere")
        ended = _run(server, thread, "answer", LOOKUP, context={"index": nowhere}, raise_error=False)
        assert ended["__error__"]["message"].startswith(f"{nowhere}: there is no index here. Make one with")
        assert server.client.threads.get(thread)["status"] == "error"
        assert server.client.runs.list(thread)[0]["status"] == "error"

    def test_a_question_without_words_is_refused_with_a_sentence(self, server: Server, sample_index: Path) -> None:
        ended = _run(server, None, "answer", "  ", context={"index": str(sample_index)}, raise_error=False)
        assert "the question has no words" in ended["__error__"]["message"]

    def test_nothing_blocks_the_event_loop(self, server: Server, sample_index: Path) -> None:
        _run(server, None, "answer", LOOKUP, context={"index": str(sample_index)})
        assert "BlockingError" not in server.log.read_text(encoding="utf-8", errors="replace")


class TestStops:
    def test_before_a_round_the_words_are_shown_and_others_may_be_searched_for(
        self, server: Server, sample_index: Path, thread: str
    ) -> None:
        context = {"index": str(sample_index), "stop_before": ["round"]}
        first = _run(server, thread, "answer", TWO_ROUNDS, context=context)["__interrupt__"][0]["value"]
        assert (first["about_to"], first["query"]) == ("search, round 1", TWO_ROUNDS)
        second = _resume(server, thread, True, context)["__interrupt__"][0]["value"]
        assert second["about_to"] == "search, round 2"
        assert "inventories of Harborlight Instruments, Inc. for FY2022" in second["missing"]
        words = "Tellurond suppliers of raw materials"
        third = _resume(server, thread, {"query": words}, context)["__interrupt__"][0]["value"]
        assert third["about_to"] == "search, round 3"
        searched = [step["details"][0] for step in _values(server, thread)["trace"] if step["node"] == "search_pages"]
        assert [line.split("_")[0] for line in searched] == ["harborlight", "tellurond"]
        answer = _resume(server, thread, True, context)["answer"]
        assert answer["answer"]["text"].startswith("Tellurond Semiconductor Corporation has the higher")
        assert answer["warnings"] == ["edited from outside of the run: query"]

    def test_state_that_was_edited_over_the_api_is_what_the_next_node_takes(
        self, server: Server, sample_index: Path, thread: str
    ) -> None:
        context = {"index": str(sample_index)}
        _run(server, thread, "answer", TWO_ROUNDS, context=context, interrupt_before=["filter_passages"])
        values = _values(server, thread)
        assert len(values["passages"]) == 5
        server.client.threads.update_state(thread, {"passages": values["passages"][:1]})
        after = server.client.threads.get_state(thread)
        assert (after["next"], len(after["values"]["passages"])) == (["filter_passages"], 1)
        ended = server.client.runs.wait(thread, "answer", input=None, context=context)
        judged = next(step for step in ended["trace"] if step["node"] == "filter_passages")["judged"]
        assert len(judged) == 1
        assert ended["answer"]["warnings"] == ["edited from outside of the run: passages"]

    def test_the_whole_state_put_back_as_the_api_shows_it_changes_no_answer(
        self, server: Server, sample_index: Path, thread: str
    ) -> None:
        context = {"index": str(sample_index)}
        plain = _run(server, None, "answer", TWO_ROUNDS, context=context)["answer"]
        _run(server, thread, "answer", TWO_ROUNDS, context=context, interrupt_before=["ask_complementary_question"])
        shown = {name: value for name, value in _values(server, thread).items() if name not in GROWING}
        server.client.threads.update_state(thread, shown)
        ended = server.client.runs.wait(thread, "answer", input=None, context=context)["answer"]
        assert ended["answer"] == plain["answer"]
        assert (ended["ledger"], ended["program"], ended["citations"]) == (
            plain["ledger"],
            plain["program"],
            plain["citations"],
        )

    def test_what_cannot_be_used_as_state_fails_the_run_and_is_named(
        self, server: Server, sample_index: Path, thread: str
    ) -> None:
        context = {"index": str(sample_index)}
        _run(server, thread, "answer", LOOKUP, context=context, interrupt_before=["search_documents"])
        server.client.threads.update_state(thread, {"query": {"terms": ["inventories"]}})
        ended = server.client.runs.wait(thread, "answer", input=None, context=context, raise_error=False)
        assert "`query.text` of the state" in ended["__error__"]["message"]  # type: ignore[index,call-overload]

    def test_a_program_is_shown_before_it_runs_and_one_put_in_its_place_is_checked(
        self, server: Server, sample_index: Path, thread: str
    ) -> None:
        context = {"index": str(sample_index), "stop_before": ["program"]}
        shown = _run(server, thread, "answer", LOOKUP, context=context)["__interrupt__"][0]["value"]
        assert "return inventories_fy2023" in shown["program"]
        assert shown["figures"][0].endswith("(quillmark_2023_10k page 10)")
        invented = "def solution():\n    return 4711\n"
        answer = _resume(server, thread, {"program": invented}, context)["answer"]
        assert answer["refused"]
        assert any("4711" in missing for missing in answer["missing"])

    def test_a_ledger_edited_before_its_program_runs_is_computed_from_and_told(
        self, server: Server, sample_index: Path, thread: str
    ) -> None:
        context = {"index": str(sample_index), "stop_before": ["program"]}
        _run(server, thread, "answer", LOOKUP, context=context)
        ledger = _values(server, thread)["ledger"]
        ledger["entries"][0]["figure"] |= {"amount": "945163", "printed": "945163"}
        server.client.threads.update_state(thread, {"ledger": ledger})
        answer = _resume(server, thread, True, context)["answer"]
        assert answer["answer"]["value"] == 945163
        assert answer["warnings"] == [
            "edited from outside of the run: ledger",
            "945,163 for inventories of Quillmark Stores, Inc. for FY2023 was entered by hand: page 10 of"
            " quillmark_2023_10k does not print this figure",
        ]

    def test_a_thread_goes_on_after_the_server_was_started_anew(
        self, served: Callable[[Path], AbstractContextManager[Server]], sample_index: Path, tmp_path: Path
    ) -> None:
        context = {"index": str(sample_index)}
        with served(tmp_path) as before:
            thread = before.client.threads.create()["thread_id"]
            _run(before, thread, "answer", TWO_ROUNDS, context=context, interrupt_before=["search_documents"])
            before.client.runs.wait(
                thread, "answer", input=None, context=context, interrupt_before=["ask_complementary_question"]
            )
        with served(tmp_path) as after:
            ended: Any = after.client.runs.wait(thread, "answer", input=None, context=context)
            answer = ended["answer"]
        assert answer["answer"]["text"].startswith("Tellurond Semiconductor Corporation has the higher")
        assert not answer["warnings"]


def _assistant(server: Server, graph: str) -> str:
    return server.client.assistants.search(graph_id=graph)[0]["assistant_id"]


def _run(server: Server, thread: str | None, assistant: str, question: str, **options: Any) -> dict[str, Any]:
    ended: Any = server.client.runs.wait(thread, assistant, input={"question": question}, **options)  # type: ignore[call-overload]
    return dict(ended)


def _resume(server: Server, thread: str, answer: object, context: dict[str, Any]) -> dict[str, Any]:
    ended: Any = server.client.runs.wait(thread, "answer", command={"resume": answer}, context=context)
    return dict(ended)


def _values(server: Server, thread: str) -> dict[str, Any]:
    values: Any = server.client.threads.get_state(thread)["values"]
    return dict(values)
