"""The answer graph as one step of a chain: a question in, an Answer out."""

from __future__ import annotations

from collections.abc import Mapping

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from fin_agent.answering.answer import Answer
from fin_agent.errors import QuestionError
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.graph import unkept_config, unkept_graph
from fin_agent.graphs.answer.state import QuestionInput
from fin_agent.index.opening import chosen_filings


def as_runnable(context: AnswerContext) -> Runnable[str | QuestionInput, Answer]:
    """A runnable over `context`, for chains, batches and `assign`; callbacks and tracing reach the graph's nodes.

    It takes a question, or the graph's input: `{"question": ..., "doc_ids": [...]}`. Raises QuestionError where
    there is no question, FilingIndexError where a filing named is not indexed.

    >>> from pathlib import Path
    >>> from fin_agent import AnswerContext, Workspace, as_runnable
    >>> asking = as_runnable(AnswerContext.by_rules(Workspace.open(Path("my-index"))))
    >>> questions = ["What was Harborlight's net income in FY2023?", "And what was it in FY1999?"]
    >>> [answer.refused for answer in asking.batch(questions)]
    [False, True]
    """

    def answered(given: str | QuestionInput, config: RunnableConfig) -> Answer:
        graph, limited = unkept_graph(), unkept_config(context, config)
        answer: Answer = graph.invoke(_input(given, context), config=limited, context=context)["answer"]
        return answer

    async def answered_async(given: str | QuestionInput, config: RunnableConfig) -> Answer:
        graph, limited = unkept_graph(), unkept_config(context, config)
        answer: Answer = (await graph.ainvoke(_input(given, context), config=limited, context=context))["answer"]
        return answer

    runnable: RunnableLambda[str | QuestionInput, Answer] = RunnableLambda(answered, answered_async, name="answer")
    return runnable.with_types(input_type=str | QuestionInput, output_type=Answer)  # type: ignore[arg-type]


def _input(given: str | QuestionInput, context: AnswerContext) -> QuestionInput:
    if isinstance(given, str):
        return QuestionInput(question=given)
    if not isinstance(given, Mapping) or not isinstance(given.get("question"), str):
        raise QuestionError("there is no question", remedy='Give a text, or {"question": "..."}')
    known: QuestionInput = {"question": given["question"]}
    chosen = chosen_filings(given.get("doc_ids"), context.workspace.index)
    if chosen is not None:
        known["doc_ids"] = list(chosen)
    if given.get("only_pages"):
        known["only_pages"] = list(given["only_pages"])
    return known
