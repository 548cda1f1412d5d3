"""The answer graph as a subgraph of a graph of your own: its state shares `question` and `answer`, your nodes the rest.

Run `make demo` first, then `.venv/bin/python examples/subgraph_in_your_graph.py`. FIN_AGENT_INDEX names another index.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph

from fin_agent import Answer, AnswerContext, Workspace, build_graph

INDEX = Path(os.environ.get("FIN_AGENT_INDEX", ".fin-agent/demo-index"))
REQUESTS = [
    "Hello! Could you look up what Tellurond's gross margin was in FY2024?",
    "Hello! Could you look up what Quillmark spent on research and development in fiscal 2024?",
]


class Memo(TypedDict, total=False):
    """The state of this application."""

    request: str
    question: str  # what the answer graph is asked: the name is the one that it knows
    answer: Answer  # what it leaves
    memo: str


def read_request(state: Memo) -> Memo:
    """A node of this application: the question without what is around it."""
    return {"question": state["request"].partition("look up ")[2]}


def write_memo(state: Memo) -> Memo:
    """From an answer."""
    answer = state["answer"]
    pages = ", ".join(dict.fromkeys(f"{cited.doc_id} p. {cited.page + 1}" for cited in answer.citations))
    return {"memo": f"{answer.answer.text} (Sources: {pages})"}


def ask_a_colleague(state: Memo) -> Memo:
    """From a refusal, which says what is missing."""
    return {"memo": f"Please find: {'; '.join(state['answer'].missing)}"}


def answered(state: Memo) -> Literal["write_memo", "ask_a_colleague"]:
    return "ask_a_colleague" if state["answer"].refused else "write_memo"


def application() -> StateGraph[Memo, AnswerContext, Memo, Memo]:
    """The context of the whole graph is that of the subgraph: index, analyst, settings."""
    builder = StateGraph(Memo, context_schema=AnswerContext)
    builder.add_node(read_request)
    builder.add_node("filings", build_graph())
    builder.add_node(write_memo)
    builder.add_node(ask_a_colleague)
    builder.add_edge(START, "read_request")
    builder.add_edge("read_request", "filings")
    builder.add_conditional_edges("filings", answered)
    builder.add_edge("write_memo", END)
    builder.add_edge("ask_a_colleague", END)
    return builder


if __name__ == "__main__":
    graph = application().compile()
    context = AnswerContext.by_rules(Workspace.open(INDEX))
    for request in REQUESTS:
        steps: Iterator[Any] = graph.stream(
            {"request": request}, context=context, stream_mode="updates", subgraphs=True
        )
        for namespace, update in steps:
            print(*("  " * len(namespace) + node for node in update), sep="\n")  # those of the subgraph are indented
            if memo := (update.get("write_memo") or update.get("ask_a_colleague") or {}).get("memo"):
                print(f"-> {memo}\n")
