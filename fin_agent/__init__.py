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
    from fin_agent.answering.answer import Answer as Answer
    from fin_agent.config import Settings as Settings
    from fin_agent.config import settings_from as settings_from
    from fin_agent.errors import FinAgentError as FinAgentError
    from fin_agent.evidence.filing_preparation import prepare as prepare
    from fin_agent.graphs.answer import AnswerContext as AnswerContext
    from fin_agent.graphs.answer import aanswer_question as aanswer_question
    from fin_agent.graphs.answer import answer_question as answer_question
    from fin_agent.graphs.answer import as_runnable as as_runnable
    from fin_agent.graphs.answer import astream_answer as astream_answer
    from fin_agent.graphs.answer import build_graph as build_graph
    from fin_agent.graphs.answer import stream_answer as stream_answer
    from fin_agent.graphs.channels import Kept as Kept
    from fin_agent.graphs.chat import ChatContext as ChatContext
    from fin_agent.graphs.chat import ThreadStore as ThreadStore
    from fin_agent.graphs.chat import build_chat as build_chat
    from fin_agent.index.ingest import IngestReport as IngestReport
    from fin_agent.index.ingest import ingest as ingest
    from fin_agent.index.sqlite import SqliteIndex as SqliteIndex
    from fin_agent.integrations.document_ingest import ingest_documents as ingest_documents
    from fin_agent.integrations.rerankers import TournamentCompressor as TournamentCompressor
    from fin_agent.integrations.retriever import FinAgentRetriever as FinAgentRetriever
    from fin_agent.models.callers_by_role import Callers as Callers
    from fin_agent.models.settings import ModelSettings as ModelSettings
    from fin_agent.tools.toolkit import FinAgentToolkit as FinAgentToolkit
    from fin_agent.workspace import Workspace as Workspace
    from fin_agent.workspace import ask as ask

    __version__: str

refuse_other_distribution()

_HOMES = {
    "Answer": "fin_agent.answering.answer",
    "AnswerContext": "fin_agent.graphs.answer",
    "Callers": "fin_agent.models.callers_by_role",
    "ChatContext": "fin_agent.graphs.chat",
    "FinAgentError": "fin_agent.errors",
    "FinAgentRetriever": "fin_agent.integrations.retriever",
    "FinAgentToolkit": "fin_agent.tools.toolkit",
    "IngestReport": "fin_agent.index.ingest",
    "Kept": "fin_agent.graphs.channels",
    "ModelSettings": "fin_agent.models.settings",
    "Settings": "fin_agent.config",
    "SqliteIndex": "fin_agent.index.sqlite",
    "ThreadStore": "fin_agent.graphs.chat",
    "TournamentCompressor": "fin_agent.integrations.rerankers",
    "Workspace": "fin_agent.workspace",
    "aanswer_question": "fin_agent.graphs.answer",
    "answer_question": "fin_agent.graphs.answer",
    "ask": "fin_agent.workspace",
    "as_runnable": "fin_agent.graphs.answer",
    "astream_answer": "fin_agent.graphs.answer",
    "build_chat": "fin_agent.graphs.chat",
    "build_graph": "fin_agent.graphs.answer",
    "ingest": "fin_agent.index.ingest",
    "ingest_documents": "fin_agent.integrations.document_ingest",
    "prepare": "fin_agent.evidence.filing_preparation",
    "settings_from": "fin_agent.config",
    "stream_answer": "fin_agent.graphs.answer",
}

__all__ = [*sorted(_HOMES), "__version__"]


if not TYPE_CHECKING:  # a type checker that saw it would accept any name

    def __getattr__(name: str) -> object:
        if name == "__version__":
            return installed_version()
        if name in _HOMES:
            return getattr(import_module(_HOMES[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
