"""Question answering over SEC filings: the right company, period and line, with the page to prove it.

The names below are the public interface. Each is imported on first use, so that importing this package is fast.

>>> import fin_agent
>>> answer = fin_agent.ask("What was Harborlight's net income in FY2023?", index="my-index")
>>> answer.answer.value, answer.answer.unit
(544.0, 'USD millions')

docs/api.md, which is generated from the docstrings, documents each name.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from fin_agent.distribution import installed_version, refuse_other_distribution

if TYPE_CHECKING:
    from fin_agent.answering.answer import Answer
    from fin_agent.config import Settings, settings_from
    from fin_agent.errors import FinAgentError
    from fin_agent.evidence.filing_preparation import prepare
    from fin_agent.graphs.answer import (
        AnswerContext,
        aanswer_question,
        answer_question,
        as_runnable,
        astream_answer,
        build_graph,
        stream_answer,
    )
    from fin_agent.graphs.channels import Kept
    from fin_agent.graphs.chat import ChatContext, ThreadStore, build_chat
    from fin_agent.index.ingest import IngestReport, ingest
    from fin_agent.index.sqlite import SqliteIndex
    from fin_agent.integrations.document_ingest import ingest_documents
    from fin_agent.integrations.rerankers import TournamentCompressor
    from fin_agent.integrations.retriever import FinAgentRetriever
    from fin_agent.models.caller import Callers
    from fin_agent.models.settings import ModelSettings
    from fin_agent.tools.toolkit import FinAgentToolkit
    from fin_agent.workspace import Workspace, ask

    __version__: str

refuse_other_distribution()

__all__ = [
    "Answer", "AnswerContext", "Callers", "ChatContext", "FinAgentError", "FinAgentRetriever", "FinAgentToolkit",
    "IngestReport", "Kept", "ModelSettings", "Settings", "SqliteIndex", "ThreadStore", "TournamentCompressor",
    "Workspace", "__version__", "aanswer_question", "answer_question", "as_runnable", "ask", "astream_answer",
    "build_chat", "build_graph", "ingest", "ingest_documents", "prepare", "settings_from", "stream_answer",
]  # fmt: skip
_HOMES = {
    "answering.answer": ("Answer",),
    "config": ("Settings", "settings_from"),
    "errors": ("FinAgentError",),
    "evidence.filing_preparation": ("prepare",),
    "graphs.channels": ("Kept",),
    "graphs.chat": ("ChatContext", "ThreadStore", "build_chat"),
    "index.ingest": ("IngestReport", "ingest"),
    "index.sqlite": ("SqliteIndex",),
    "integrations.document_ingest": ("ingest_documents",),
    "integrations.rerankers": ("TournamentCompressor",),
    "integrations.retriever": ("FinAgentRetriever",),
    "models": ("Callers", "ModelSettings"),
    "tools.toolkit": ("FinAgentToolkit",),
    "workspace": ("Workspace", "ask"),
}
"""Module -> the names that it defines; the others are of `graphs.answer`."""


if not TYPE_CHECKING:  # a type checker that saw it would accept any name

    def __getattr__(name: str) -> object:
        if name == "__version__":
            return installed_version()
        if name in __all__:
            home = next((module for module, names in _HOMES.items() if name in names), "graphs.answer")
            return getattr(import_module(f"{__name__}.{home}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
