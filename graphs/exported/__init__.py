"""The graphs as LangGraph's server and Studio run them: what a person can fill in takes the place of live objects.

None has a checkpointer of its own: the server keeps threads.
"""

from fin_agent.graphs.exported.graphs import answer, chat, rerank, search

__all__ = ["answer", "chat", "rerank", "search"]
