"""A chat assistant that remembers: follow-up questions by rules, threads kept in a file and taken up again.

Run `make demo` first, then `.venv/bin/python examples/chat_with_memory.py`. FIN_AGENT_INDEX names another index.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from langchain_core.messages import HumanMessage

from fin_agent import ChatContext, ThreadStore, Workspace, build_chat
from fin_agent.graphs.chat import Turn

INDEX = Path(os.environ.get("FIN_AGENT_INDEX", ".fin-agent/demo-index"))


def talk(threads: Path, thread: str, *messages: str) -> None:
    """Say these messages in a thread, which is kept in the file `threads`, and print the replies."""
    # By a model (extra `chat`): ChatContext.from_settings(workspace, Settings(models={"model": "openai:gpt-5.4"}))
    context = ChatContext.by_rules(Workspace.open(INDEX))
    with ThreadStore(threads) as store:  # or any checkpointer of LangGraph
        chat = build_chat(store)
        config: Any = {"configurable": {"thread_id": thread}}
        for message in messages:
            state = chat.invoke({"messages": [HumanMessage(message)]}, config, context=context)
            print(shown(state["turns"][-1]))


def shown(turn: Turn) -> str:
    """The message, as what it was read, the reply, and the pages it stands on, which people count from 1."""
    read = f"\n    ({turn.question})" if turn.question not in ("", turn.asked) else ""
    cited = "".join(f" [{place.doc_id} page {place.page + 1}]" for place in turn.citations)
    return f"you: {turn.asked}{read}\n  {turn.said}{cited}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "threads.sqlite"
        talk(file, "ada", "What was Harborlight's net income in FY2023?", "and the year before?", "same for Tellurond")
        talk(file, "ben", "and in 2021?")  # another thread: nothing was said in it
        talk(file, "ada", "as a percentage of revenue?", "and Walmart?", "thanks")  # taken up again, from the file
