"""A conversation over filings: follow-up questions, memory by thread; by rules, or by an agent with the tools."""

from fin_agent.graphs.chat.context import ChatContext
from fin_agent.graphs.chat.graph import build_chat
from fin_agent.graphs.chat.state import ChatState, Turn

__all__ = ["ChatContext", "ChatState", "Turn", "build_chat"]
