"""The answer graph inside a graph of somebody else's, kept by SQLite: printed are the types that come back.

Run as a program: whether LangGraph reads plain data alone is decided when it is imported.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

from fin_agent import Answer, AnswerContext, Kept, Workspace, build_graph
from fin_agent.graphs.answer.graph import answer_builder

QUESTION = "Which company had the higher average inventory turnover over FY2022 - FY2024, Harborlight or Tellurond?"
SECOND = "What was Quillmark's revenue in FY2024?"


class Memo(TypedDict, total=False):
    question: str
    answer: Annotated[Answer, Kept]
    memo: str


def parent(asking: Any) -> StateGraph[Memo, AnswerContext, Memo, Memo]:
    builder = StateGraph(Memo, context_schema=AnswerContext)
    builder.add_node("filings", asking)
    builder.add_node("memo", lambda state: {"memo": state["answer"].answer.text})
    builder.add_edge(START, "filings")
    builder.add_edge("filings", "memo")
    builder.add_edge("memo", END)
    return builder


def main(index: str, own_answer: bool) -> None:
    warned: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: warned.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger().addHandler(handler)
    context = AnswerContext.by_rules(Workspace.open(index))
    with SqliteSaver.from_conn_string(":memory:") as saver:
        # Stopped before each node, and read at every stop with all that is inside.
        stopping = parent(answer_builder(AnswerContext, lambda given: given).compile(interrupt_before="*"))
        graph, thread = stopping.compile(checkpointer=saver), {"configurable": {"thread_id": "stopping"}}
        out: Any = graph.invoke({"question": QUESTION}, thread, context=context, durability="sync")  # type: ignore[arg-type]
        stops = 0
        while graph.get_state(thread).next and "filings" in graph.get_state(thread).next:  # type: ignore[arg-type]
            inside: Any = graph.get_state(thread, subgraphs=True).tasks[0].state  # type: ignore[arg-type]
            types = {name: type(value).__name__ for name, value in inside.values.items()}
            history = [each.values.get("intent") for each in graph.get_state_history(inside.config)]
            assert {type(each).__name__ for each in history if each is not None} <= {"Intent"}
            out, stops = graph.invoke(None, thread, context=context, durability="sync"), stops + 1  # type: ignore[arg-type]
        print(stops, types["intent"], types["ledger"], types["plan"], types["evidence"])
        print(type(out["answer"]).__name__, out["memo"])
        if own_answer:
            graph, thread = parent(build_graph()).compile(checkpointer=saver), {"configurable": {"thread_id": "2"}}
            for question in (QUESTION, SECOND):
                out = graph.invoke({"question": question}, thread, context=context)  # type: ignore[arg-type]
            kept = [each.values.get("answer") for each in graph.get_state_history(thread)]  # type: ignore[arg-type]
            print({type(each).__name__ for each in kept if each is not None}, len(out["answer"].trace))
    print(warned)


if __name__ == "__main__":
    main(str(Path(sys.argv[1])), sys.argv[2] == "strict")
