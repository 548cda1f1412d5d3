"""Passages of a question put into order by a tournament over their cards (FinCards)."""

from fin_agent.graphs.rerank.graph import build_rerank_graph
from fin_agent.graphs.rerank.nodes import RerankContext
from fin_agent.graphs.rerank.state import RankedCandidate, RerankInput, RerankOutput

__all__ = ["RankedCandidate", "RerankContext", "RerankInput", "RerankOutput", "build_rerank_graph"]
