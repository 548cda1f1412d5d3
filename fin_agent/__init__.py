"""Question answering over SEC filings: the right company, period and line, with the page to prove it.

The names below are the public interface; each is loaded when it is first used, so that importing this package is quick.

>>> from pathlib import Path
>>> from fin_agent import AnswerContext, Workspace, answer_question
>>> workspace = Workspace.open(Path("my-index"))  # doctest: +SKIP
>>> answer_question("What was Nike's revenue in FY2023?", AnswerContext.by_rules(workspace))  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fin_agent.answering.answer import Answer as Answer
    from fin_agent.config import Settings as Settings
    from fin_agent.errors import FinAgentError as FinAgentError
    from fin_agent.evidence.preparing import prepare as prepare
    from fin_agent.graphs.answer import AnswerContext as AnswerContext
    from fin_agent.graphs.answer import answer_question as answer_question
    from fin_agent.graphs.answer import as_runnable as as_runnable
    from fin_agent.graphs.answer import build_graph as build_graph
    from fin_agent.index.ingest import ingest as ingest
    from fin_agent.index.sqlite import SqliteIndex as SqliteIndex
    from fin_agent.integrations.compressors import CrossEncoderCompressor as CrossEncoderCompressor
    from fin_agent.integrations.compressors import TournamentCompressor as TournamentCompressor
    from fin_agent.integrations.loading import ingest_documents as ingest_documents
    from fin_agent.integrations.retriever import FinAgentRetriever as FinAgentRetriever
    from fin_agent.tools.toolkit import FinAgentToolkit as FinAgentToolkit
    from fin_agent.workspace import Workspace as Workspace

_HOMES = {
    "Answer": "fin_agent.answering.answer",
    "AnswerContext": "fin_agent.graphs.answer",
    "CrossEncoderCompressor": "fin_agent.integrations.compressors",
    "FinAgentError": "fin_agent.errors",
    "FinAgentRetriever": "fin_agent.integrations.retriever",
    "FinAgentToolkit": "fin_agent.tools.toolkit",
    "Settings": "fin_agent.config",
    "SqliteIndex": "fin_agent.index.sqlite",
    "TournamentCompressor": "fin_agent.integrations.compressors",
    "Workspace": "fin_agent.workspace",
    "answer_question": "fin_agent.graphs.answer",
    "as_runnable": "fin_agent.graphs.answer",
    "build_graph": "fin_agent.graphs.answer",
    "ingest": "fin_agent.index.ingest",
    "ingest_documents": "fin_agent.integrations.loading",
    "prepare": "fin_agent.evidence.preparing",
}

__all__ = [*sorted(_HOMES), "__version__"]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("fin-agent")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
