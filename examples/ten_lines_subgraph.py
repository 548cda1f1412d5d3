"""The answer graph in a graph of your own, kept by SqliteSaver, in ten lines (extra `chat`)."""

from typing import Annotated, Any

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph

from fin_agent import Answer, AnswerContext, Kept, Workspace, build_graph


class State(MessagesState):
    question: str
    answer: Annotated[Answer, Kept]  # kept as plain JSON, read back as an Answer


graph = StateGraph(State, context_schema=AnswerContext).add_node("filings", build_graph()).add_edge(START, "filings")
context, thread = AnswerContext.by_rules(Workspace.open("my-index")), {"configurable": {"thread_id": "1"}}
with SqliteSaver.from_conn_string("threads.sqlite") as saver:
    application: Any = graph.compile(checkpointer=saver)
    for question in ("What was Harborlight's net income in FY2023?", "What was Tellurond's revenue in FY2023?"):
        application.invoke({"question": question}, thread, context=context)
        print(application.get_state(thread).values["answer"].answer.text)
