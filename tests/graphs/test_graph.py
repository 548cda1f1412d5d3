"""The machine itself: its contract, its loop, its nodes, and that it always says the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.runtime import Runtime

from fin_agent.answering.answer import Answer
from fin_agent.config import Settings
from fin_agent.errors import FilingIndexError, QuestionError
from fin_agent.graphs.answer import AnswerContext, answer_question, answering_nodes, build_graph, search_nodes
from fin_agent.workspace import Workspace

Ask = Callable[..., Answer]
KINDS = (
    "What was Harborlight's revenue in FY2023?",
    "What was Quillmark's revenue growth in fiscal 2024?",
    "Which company had the higher average inventory turnover over FY2022 - FY2024, Harborlight or Tellurond?",
    "Who was appointed CEO of Tellurond in 2024?",
    "What did Quillmark spend on research and development in fiscal 2024?",
    "What was Apple's revenue in FY2023?",
)
KEYS = {
    "id", "question", "answer", "refused", "missing", "citations", "retrieved", "ledger", "program", "rounds",
    "seconds", "usage",
}  # fmt: skip


def written(answer: Answer) -> dict[str, Any]:
    return json.loads(answer.model_dump_json())  # type: ignore[no-any-return]


@pytest.mark.parametrize("question", KINDS)
def test_the_contract(ask: Ask, question: str) -> None:
    line = written(ask(question))
    assert set(line) >= KEYS
    assert line["question"] == question
    assert set(line["answer"]) == {"value", "unit", "text"}
    assert line["answer"]["text"]
    assert set(line["retrieved"]) == {"documents", "pages", "passages"}
    assert isinstance(line["refused"], bool)
    assert line["refused"] == bool(line["missing"])
    assert 0 <= line["rounds"] <= 3
    for citation in line["citations"]:
        assert set(citation) == {"doc_id", "page", "text", "box"}
        assert citation["box"] is None or len(citation["box"]) == 4
    for page in line["retrieved"]["pages"]:
        assert set(page) == {"doc_id", "page"}
    for passage in line["retrieved"]["passages"]:
        assert set(passage) == {"doc_id", "page", "text"}


@pytest.mark.parametrize("question", KINDS[:4])
def test_at_least_ten_pages_and_passages_are_listed_each_once(ask: Ask, question: str) -> None:
    retrieved = ask(question).retrieved
    assert len(retrieved.pages) >= 10
    assert len(retrieved.passages) >= 10
    assert len(set(retrieved.documents)) == len(retrieved.documents)
    assert len({(page.doc_id, page.page) for page in retrieved.pages}) == len(retrieved.pages)


@pytest.mark.parametrize("question", KINDS)
def test_the_pages_that_an_answer_cites_are_listed_first(ask: Ask, question: str) -> None:
    answer = ask(question)
    cited = list(dict.fromkeys((citation.doc_id, citation.page) for citation in answer.citations))
    assert [(page.doc_id, page.page) for page in answer.retrieved.pages[: len(cited)]] == cited


@pytest.mark.parametrize("question", KINDS)
def test_the_same_question_twice_gives_the_same_answer_but_for_the_time(workspace: Workspace, question: str) -> None:
    lines = []
    for _ in range(2):
        line = written(answer_question(question, AnswerContext.by_rules(workspace)))
        assert line.pop("seconds") >= 0
        lines.append(json.dumps(line))
    assert lines[0] == lines[1]


def test_the_id_given_comes_back(context: AnswerContext) -> None:
    assert answer_question(KINDS[0], context, question_id="q-17").id == "q-17"


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_no_more_rounds_than_allowed(workspace: Workspace, rounds: int) -> None:
    context = AnswerContext.by_rules(workspace, Settings(rounds=rounds))
    answer = answer_question(KINDS[4], context)
    assert answer.refused
    assert answer.rounds == rounds
    assert sum(step.node == "search_documents" for step in answer.trace) == rounds


def test_a_question_that_needs_a_second_round_is_refused_where_only_one_is_allowed(workspace: Workspace) -> None:
    answer = answer_question(KINDS[2], AnswerContext.by_rules(workspace, Settings(rounds=1)))
    assert answer.refused
    assert any("inventories" in what or "cost of revenue" in what for what in answer.missing)


def test_the_trace_names_every_step_in_order(ask: Ask) -> None:
    steps: list[str] = [step.node for step in ask(KINDS[0]).trace]
    assert steps == [
        "rewrite_query", "search_documents", "search_pages", "search_passages", "extract_cards", "filter_passages",
        "check_answerability", "answer_with_program", "verify_answer",
    ]  # fmt: skip


def test_progress_is_told_node_by_node(context: AnswerContext) -> None:
    told: list[str] = []
    answer = answer_question(KINDS[0], context, on_step=told.append)
    assert told == [step.node for step in answer.trace]


def test_a_restriction_to_filings_is_kept(ask: Ask) -> None:
    for question in KINDS[:4]:
        answer = ask(question, ["harborlight_2023_10k", "tellurond_2024_10k"])
        assert set(answer.retrieved.documents) <= {"harborlight_2023_10k", "tellurond_2024_10k"}
        assert {citation.doc_id for citation in answer.citations} <= {"harborlight_2023_10k", "tellurond_2024_10k"}
    answer = ask("What was Harborlight's revenue in FY2022?", ["harborlight_2023_10k"])
    assert [citation.doc_id for citation in answer.citations] == ["harborlight_2023_10k"]


def test_a_filing_that_is_not_indexed_is_an_error(ask: Ask) -> None:
    with pytest.raises(FilingIndexError, match="nowhere_2020_10k"):
        ask(KINDS[0], ["nowhere_2020_10k"])


def test_a_filing_that_is_nearly_named_is_offered(ask: Ask) -> None:
    with pytest.raises(FilingIndexError, match="Did you mean harborlight_2023_10k"):
        ask(KINDS[0], ["harborlight_2023"])


@pytest.mark.parametrize("question", ["", "  ", "?!"])
def test_no_question_is_an_error(ask: Ask, question: str) -> None:
    with pytest.raises(QuestionError):
        ask(question)


def test_the_graph_has_the_nodes_of_the_design() -> None:
    drawn = build_graph().get_graph()
    assert {
        "rewrite_query", "search_documents", "search_pages", "search_passages", "extract_cards", "filter_passages",
        "check_answerability", "ask_complementary_question", "answer_with_program", "answer_with_reasoning",
        "verify_answer", "answer_each_ask",
    } <= set(drawn.nodes)  # fmt: skip
    edges = {(edge.source, edge.target) for edge in drawn.edges}
    assert ("ask_complementary_question", "search_documents") in edges
    assert ("check_answerability", "ask_complementary_question") in edges


@pytest.fixture
def runtime(context: AnswerContext) -> Runtime[AnswerContext]:
    """What a node is called with, outside of a graph."""
    return Runtime(context=context)


def test_nodes_run_alone_one_after_the_other(runtime: Runtime[AnswerContext]) -> None:
    state: dict[str, Any] = {"question": KINDS[0], "trace": []}
    for node in (
        search_nodes.rewrite_query, search_nodes.search_documents, search_nodes.search_pages,
        search_nodes.search_passages, search_nodes.extract_cards, answering_nodes.filter_passages,
        answering_nodes.check_answerability,
    ):  # fmt: skip
        update = node(state, runtime)  # type: ignore[arg-type]
        assert [step.node for step in update["trace"]] == [node.__name__]
        state |= update
    assert state["answerable"]
    assert answering_nodes.after_checking(state, runtime) == "answer_with_program"  # type: ignore[arg-type]
    state |= answering_nodes.answer_with_program(state, runtime)  # type: ignore[arg-type]
    final = answering_nodes.verify_answer(state, runtime)["answer"]  # type: ignore[arg-type]
    assert final.answer.value == 3533
    assert not final.refused


def test_an_answer_that_cites_what_was_not_retrieved_is_refused(runtime: Runtime[AnswerContext], ask: Ask) -> None:
    drafted = ask(KINDS[0])
    state: dict[str, Any] = {"question": KINDS[0], "trace": []}
    state |= search_nodes.rewrite_query(state, runtime)  # type: ignore[arg-type]
    state |= {"answer": drafted, "found_passages": []}
    final = answering_nodes.verify_answer(state, runtime)["answer"]  # type: ignore[arg-type]
    assert final.refused
    assert "cited but was not retrieved" in final.missing[0]


def test_where_the_loop_goes(runtime: Runtime[AnswerContext]) -> None:
    asked: dict[str, Any] = {"question": KINDS[0], "trace": []}
    asked |= search_nodes.rewrite_query(asked, runtime)  # type: ignore[arg-type]
    words: dict[str, Any] = {"question": KINDS[3], "trace": []}
    words |= search_nodes.rewrite_query(words, runtime)  # type: ignore[arg-type]

    def after(state: dict[str, Any], **changes: Any) -> str:
        return answering_nodes.after_checking({**state, **changes}, runtime)  # type: ignore[typeddict-item]

    assert after(asked, answerable=False, round=1) == "ask_complementary_question"
    assert after(asked, answerable=False, round=3) == "verify_answer"
    assert after(asked, answerable=True, round=3) == "answer_with_program"
    assert after(words, answerable=False, round=2) == "ask_complementary_question"
    assert after(words, answerable=False, round=3, evidence=[]) == "verify_answer"
    assert after(words, answerable=True, round=1, evidence=["some"]) == "answer_with_reasoning"
