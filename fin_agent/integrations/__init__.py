"""Integrations with LangChain: a retriever, a document compressor, and ingestion of loaded documents.

The tools for agents are in `fin_agent.tools`, the answer graph and its runnable in `fin_agent.graphs.answer`. Each name
is imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fin_agent.integrations.document_ingest import ingest_documents as ingest_documents
    from fin_agent.integrations.rerankers import TournamentCompressor as TournamentCompressor
    from fin_agent.integrations.retriever import FinAgentRetriever as FinAgentRetriever

_HOMES = {
    "FinAgentRetriever": "fin_agent.integrations.retriever",
    "TournamentCompressor": "fin_agent.integrations.rerankers",
    "ingest_documents": "fin_agent.integrations.document_ingest",
}

__all__ = [*sorted(_HOMES)]


if not TYPE_CHECKING:  # a type checker that saw it would accept any name

    def __getattr__(name: str) -> object:
        if name in _HOMES:
            return getattr(import_module(_HOMES[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
