"""Tools over filings for an agent that you have: `create_agent` with tools of its own and those of the toolkit.

Run `make demo` first, and `.venv/bin/pip install -e ".[chat]"`; then `.venv/bin/python examples/tools_for_an_agent.py`.
FIN_AGENT_INDEX names another index.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import ModelCallLimitMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from fin_agent import FinAgentToolkit
from fin_agent.testing import ScriptedChatModel

INDEX = Path(os.environ.get("FIN_AGENT_INDEX", ".fin-agent/demo-index"))


@tool
def holdings() -> list[str]:
    """The companies in the person's portfolio."""
    return ["Harborlight", "Quillmark"]


def asking(*calls: tuple[str, dict[str, Any]]) -> AIMessage:
    """What a chat model says to have tools called, several at once."""
    return AIMessage(
        "", tool_calls=[{"name": name, "args": args, "id": str(at)} for at, (name, args) in enumerate(calls)]
    )


def chat_model() -> BaseChatModel:
    """A stand-in that needs no key: it says this script. Put your own here, as "openai:gpt-5.4" or an object."""
    question = "What was {}'s revenue in FY2024?"
    return ScriptedChatModel(
        [
            asking(("holdings", {})),
            asking(
                *(("answer_question", {"question": question.format(name)}) for name in ("Harborlight", "Quillmark"))
            ),
            "Harborlight's net sales were $3,763 million, Quillmark's $5,272 million.",
        ]
    )


if __name__ == "__main__":
    toolkit = FinAgentToolkit(index=INDEX, max_tokens=1_500)
    agent: Any = create_agent(
        chat_model(),
        [holdings, *toolkit.get_tools()],
        system_prompt="You help a person with their portfolio. Figures come from tools alone, with filing and page.",
        middleware=[ModelCallLimitMiddleware(run_limit=10)],
    )
    for message in agent.invoke({"messages": [("user", "How much do my companies sell?")]})["messages"]:
        if message.type == "tool" and message.artifact is not None:
            answer = message.artifact  # typed: of answer_question an Answer
            places = ", ".join(f"{each.doc_id} page {each.page + 1}" for each in answer.citations)
            print(f"{message.name}: {answer.answer.value:,} {answer.answer.unit} [{places}]")
        else:
            print(f"{message.type}: {message.text or [call['name'] for call in message.tool_calls]}")
