"""A conversation over filings: follow-up questions, memory by thread; by rules, or by an agent with the tools."""

from fin_agent.graphs.chat.graph import build_chat
from fin_agent.graphs.chat.state import ChatContext, ChatState, Turn
from fin_agent.graphs.chat.threads import ThreadStore

__all__ = ["ChatContext", "ChatState", "ThreadStore", "Turn", "build_chat"]
