"""A conversation over filings with follow-up questions and memory per thread; by rules or by an agent with tools."""

from fin_agent.graphs.chat.graph import build_chat
from fin_agent.graphs.chat.state import ChatContext, ChatState, Turn
from fin_agent.graphs.chat.threads import ThreadStore

__all__ = ["ChatContext", "ChatState", "ThreadStore", "Turn", "build_chat"]
