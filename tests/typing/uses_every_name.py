"""An application that uses every public name, as its author would write it: `make check` runs `mypy --strict` over it.

A test runs it over the sample index, and holds its imports against `fin_agent.__all__`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langgraph.graph import START, MessagesState, StateGraph

from fin_agent import (
    Answer,
    AnswerContext,
    Callers,
    ChatContext,
    FinAgentError,
    FinAgentRetriever,
    FinAgentToolkit,
    IngestReport,
    Kept,
    ModelSettings,
    Settings,
    SqliteIndex,
    ThreadStore,
    TournamentCompressor,
    Workspace,
    __version__,
    aanswer_question,
    answer_question,
    as_runnable,
    ask,
    astream_answer,
    build_chat,
    build_graph,
    ingest,
    ingest_documents,
    prepare,
    settings_from,
    stream_answer,
)
from fin_agent.graphs.answer.state import QuestionInput
from fin_agent.testing import ScriptedChatModel

QUESTION = "What was Harborlight's net income in FY2023?"


class Desk(MessagesState):
    """Of a graph of one's own, over the answer graph."""

    question: str
    answer: Annotated[Answer, Kept]


class Letters(BaseLoader):
    """A loader of one's own."""

    def lazy_load(self) -> Iterator[Document]:
        yield Document("To our shareholders: sales of pumps rose.", metadata={"source": "letter_2023.txt", "page": 0})


class Longest:
    """A scorer of one's own."""

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        return [float(len(text)) for text in texts]


def indexed(filing: Path, folder: Path) -> list[str]:
    """An index of one filing and one letter; what is in it."""
    assert prepare(filing).filing.doc_id == filing.stem
    with SqliteIndex.create(folder) as index:
        reports: list[IngestReport] = [ingest([filing], index, prepare, workers=0)]
        reports.append(ingest_documents(Letters().lazy_load(), index))
        assert not [file.reason for report in reports for file in report.failures]
        return [record.doc_id for record in index.filings()]


def asked_at_once(folder: Path) -> list[str]:
    """In a line each."""
    workspace = Workspace.open(str(folder))
    pages = workspace.search("suppliers", company="Harborlight", k=2)
    facts = workspace.facts("net income", company="HLGT", fiscal_year=2023)
    return [told(ask(QUESTION, index=workspace)), f"{len(str(pages)) > 0} {facts.facts[0].amount}"]


def contexts(folder: Path) -> list[AnswerContext]:
    """By rules, and by a chat model that is there already."""
    workspace = Workspace.open(folder)
    limited: Settings = settings_from(rounds=2)
    by_model = Settings(rounds=1, models=ModelSettings(model="mine:model"))
    callers = Callers.with_model(ScriptedChatModel([]), by_model.models, name="mine:model")
    return [
        AnswerContext.by_rules(workspace, limited),
        AnswerContext.from_settings(workspace, by_model, callers=callers),
    ]


def told(answer: Answer) -> str:
    value: float | None = answer.answer.value
    places = [f"{cited.doc_id} {cited.page + 1}" for cited in answer.citations]
    return f"{value} {answer.answer.unit} {places} {answer.missing}"


def asked(context: AnswerContext) -> list[str]:
    """The same question in every way there is."""
    chain: Runnable[str | QuestionInput, Answer] = as_runnable(context)
    state = build_graph().invoke({"question": QUESTION}, context=context)
    desk = StateGraph(Desk, context_schema=AnswerContext).add_node("filings", build_graph()).add_edge(START, "filings")
    application: Any = desk.compile()
    in_a_graph = application.invoke({"question": QUESTION}, context=context)["answer"]
    answers = [answer_question(QUESTION, context), chain.invoke(QUESTION), Answer.model_validate(state["answer"])]
    assert told(in_a_graph) == told(answers[0])
    answers += [event.answer for event in stream_answer(QUESTION, context) if event.kind == "answered"]
    return [told(answer) for answer in answers]


async def awaited(context: AnswerContext) -> list[str]:
    kinds = [event.kind async for event in astream_answer(QUESTION, context)]
    return [told(await aanswer_question(QUESTION, context)), kinds[-1]]


def chatted(folder: Path, threads: Path) -> list[str]:
    """A question and one that goes on from it, in a thread that is kept."""
    context = ChatContext.by_rules(Workspace.open(folder))
    with ThreadStore(threads) as store:
        chat = build_chat(store)
        for message in (QUESTION, "as a percentage of revenue?"):
            state = chat.invoke(
                {"messages": [HumanMessage(message)]}, {"configurable": {"thread_id": "1"}}, context=context
            )
        return [turn.said for turn in state["turns"]]


def found(folder: Path) -> list[Document]:
    retriever = FinAgentRetriever(index=folder, level="passage", k=4, company="Harborlight")
    documents = retriever.invoke(QUESTION)
    return list(TournamentCompressor(index=folder, k=2).compress_documents(documents, QUESTION))


def tools(folder: Path) -> list[BaseTool]:
    return FinAgentToolkit(index=folder, max_tokens=1_000, doc_ids=("harborlight_2023_10k",)).get_tools()


def why(error: FinAgentError) -> str:
    return f"{error.subject}: {error.what}. {error.remedy}"


def main(folder: Path, filing: Path) -> list[str]:
    try:
        Workspace.open(folder / "not-there")
    except FinAgentError as error:
        lines = [why(error)]
    lines += indexed(filing, folder / "index")
    context, _ = contexts(folder / "index")
    lines += asked(context)
    lines += asyncio.run(awaited(context))
    lines += chatted(folder / "index", folder / "threads.sqlite")
    lines += [str(document.id) for document in found(folder / "index")]
    lines += [tool.name for tool in tools(folder / "index")]
    return [*lines, *asked_at_once(folder / "index"), __version__]
