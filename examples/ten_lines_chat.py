"""A conversation that is kept, in ten lines (extra `chat`)."""

from typing import Any

from fin_agent import ChatContext, ThreadStore, Workspace, build_chat

context, thread = ChatContext.by_rules(Workspace.open("my-index")), {"configurable": {"thread_id": "1"}}
with ThreadStore("chats.sqlite") as threads:
    chat: Any = build_chat(threads)
    for message in ("What was Harborlight's revenue in FY2024?", "and the year before?", "Which companies are there?"):
        state = chat.invoke({"messages": [("user", message)]}, thread, context=context)
        print(state["turns"][-1].said)
