"""The graphs as run by LangGraph's server and Studio, with controls to fill in instead of live objects.

None has its own checkpointer: the server stores threads.
"""

from fin_agent.graphs.exported.graphs import answer, chat, rerank, search

__all__ = ["answer", "chat", "rerank", "search"]
