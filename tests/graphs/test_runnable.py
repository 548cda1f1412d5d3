"""The answer graph in chains: as it is compiled, and as a runnable over a context."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig, RunnableLambda, RunnablePassthrough
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from fin_agent import Answer, AnswerContext, answer_question, as_runnable, build_graph
from fin_agent.errors import FilingIndexError, QuestionError

QUESTIONS = (
    "What was Harborlight's net income in FY2023?",
    "What was Quillmark's revenue growth in fiscal 2024?",
    "Which company had the higher average inventory turnover over FY2022 - FY2024, Harborlight or Tellurond?",
    "Who was appointed CEO of Tellurond in 2024?",
    "What did Quillmark spend on research and development in fiscal 2024?",
)


def test_the_compiled_graph_says_what_it_takes_and_gives() -> None:
    graph = build_graph()
    taken, given = graph.get_input_jsonschema(), graph.get_output_jsonschema()
    assert set(taken["properties"]) == {"question", "doc_ids", "only_pages", "id"}
    assert taken["required"] == ["question"]
    assert set(given["properties"]) == {"answer"}
    assert "citations" in given["$defs"]["Answer"]["properties"]


def test_the_compiled_graph_in_batches(context: AnswerContext) -> None:
    inputs: list[Any] = [{"question": question} for question in QUESTIONS]
    alone = [build_graph().invoke(each, context=context)["answer"] for each in inputs]
    assert [each["answer"] for each in build_graph().batch(inputs, context=context)] == alone
    assert [each["answer"] for each in asyncio.run(build_graph().abatch(inputs, context=context))] == alone


def test_the_runnable_takes_a_question_or_the_graph_s_input(context: AnswerContext) -> None:
    runnable = as_runnable(context)
    answer = runnable.invoke(QUESTIONS[0])
    assert isinstance(answer, Answer)
    assert answer.answer.value == 544.0
    assert runnable.invoke({"question": QUESTIONS[0]}) == answer
    narrowed = runnable.invoke({"question": QUESTIONS[0], "doc_ids": ["harborlight_2024_10k"]})
    assert {cited.doc_id for cited in narrowed.citations} == {"harborlight_2024_10k"}


def test_the_runnable_says_what_it_takes_and_gives(context: AnswerContext) -> None:
    runnable = as_runnable(context)
    assert {each.get("type", each.get("$ref")) for each in runnable.get_input_jsonschema()["anyOf"]} == {
        "string",
        "#/$defs/QuestionInput",
    }
    assert runnable.get_output_jsonschema()["title"] == "Answer"
    assert runnable.get_name() == "answer"


def test_the_runnable_awaited_and_in_batches(context: AnswerContext) -> None:
    runnable = as_runnable(context)
    alone = [runnable.invoke(question) for question in QUESTIONS]
    assert runnable.batch([*QUESTIONS]) == alone
    assert asyncio.run(runnable.abatch([*QUESTIONS])) == alone
    assert asyncio.run(runnable.ainvoke(QUESTIONS[1])) == alone[1]
    assert list(runnable.stream(QUESTIONS[0])) == alone[:1]


def test_three_rounds_fit_into_the_steps_of_a_run(context: AnswerContext) -> None:
    assert as_runnable(context).invoke(QUESTIONS[4], {"recursion_limit": 3}).rounds == 3


def test_the_runnable_in_a_chain(context: AnswerContext) -> None:
    chain = RunnablePassthrough.assign(answer=as_runnable(context)) | RunnableLambda(
        lambda row: f"{row['asked_by']}: {row['answer'].answer.value}"
    )
    assert chain.invoke({"question": QUESTIONS[0], "asked_by": "Ada"}) == "Ada: 544.0"


def test_callbacks_see_the_nodes(context: AnswerContext) -> None:
    class Names(BaseCallbackHandler):
        def __init__(self) -> None:
            self.seen: list[str] = []

        def on_chain_start(self, *args: Any, name: str = "", **kwargs: Any) -> None:
            self.seen.append(name)

    names = Names()
    as_runnable(context).invoke(QUESTIONS[0], {"callbacks": [names]})
    assert "search_pages" in names.seen
    assert "verify_answer" in names.seen


@pytest.mark.parametrize("given", [{}, {"question": 5}, 5, {"query": "x"}, ["x"]])
def test_what_is_no_question_is_refused(context: AnswerContext, given: Any) -> None:
    with pytest.raises(QuestionError, match="Give a text"):
        as_runnable(context).invoke(given)


def test_a_filing_that_is_not_there_is_refused(context: AnswerContext) -> None:
    with pytest.raises(FilingIndexError, match="Did you mean"):
        as_runnable(context).invoke({"question": QUESTIONS[0], "doc_ids": ["harborlight_2023"]})


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_within_a_node_of_another_graph_its_steps_are_not_kept(
    context: AnswerContext, durability: Literal["sync", "async", "exit"]
) -> None:
    class Kept(TypedDict, total=False):
        question: str
        values: list[float | None]

    def asks(state: Kept) -> Kept:
        by_runnable = as_runnable(context).invoke(state["question"])
        by_function = answer_question(state["question"], context)
        return {"values": [by_runnable.answer.value, by_function.answer.value]}

    builder = StateGraph(Kept)
    builder.add_node("asks", asks)
    builder.add_edge(START, "asks")
    saver = InMemorySaver()
    outer = builder.compile(checkpointer=saver)
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    assert outer.invoke({"question": QUESTIONS[0]}, thread, durability=durability)["values"] == [544.0, 544.0]
    assert list(saver.storage["1"]) == [""], "checkpoints of the outer graph alone"


@pytest.mark.parametrize("none", [[], (), ""])
def test_no_filings_are_not_all_filings(context: AnswerContext, none: Any) -> None:
    from fin_agent import ChatContext, FinAgentRetriever, FinAgentToolkit

    asked = (
        lambda: answer_question(QUESTIONS[0], context, doc_ids=none),
        lambda: as_runnable(context).invoke({"question": QUESTIONS[0], "doc_ids": none}),
        lambda: ChatContext.by_rules(context.workspace, doc_ids=none),
        lambda: FinAgentToolkit(workspace=context.workspace, doc_ids=none),
        lambda: FinAgentRetriever(workspace=context.workspace, doc_ids=none),
    )
    for ask in asked:
        with pytest.raises((FilingIndexError, ValueError)):
            ask()
