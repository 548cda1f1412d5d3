"""Search alone: the filings, pages and passages that a question finds, without an answer."""

from fin_agent.graphs.search.graph import SearchOutput, build_search_graph

__all__ = ["SearchOutput", "build_search_graph"]
