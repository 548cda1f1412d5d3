"""What a checker has to object to: each line says what it is told. Never run.

`make check` runs `mypy --strict` over it, which fails where a mistake is not seen any more (an unused `type: ignore`).
"""

from __future__ import annotations

from pathlib import Path

from langchain_core.documents import Document

import fin_agent
from fin_agent import (
    Answer,
    AnswerContext,
    FinAgentRetriever,
    FinAgentToolkit,
    Settings,
    SqliteIndex,
    TournamentCompressor,
    Workspace,
    answer_question,
    as_runnable,
    build_graph,
    ingest,
    stream_answer,
)


def mistaken(workspace: Workspace, context: AnswerContext, answer: Answer, index: SqliteIndex) -> None:
    answer_question("What was net income?")  # type: ignore[call-arg]
    answer_question("What was net income?", workspace)  # type: ignore[arg-type]
    answer_question("What was net income?", context, docs=["a"])  # type: ignore[call-arg]
    words: str = answer_question("What was net income?", context)  # type: ignore[assignment]
    value: float = answer.answer.value  # type: ignore[assignment]
    answer.figure  # type: ignore[attr-defined] # noqa: B018
    Settings(rounds="three")  # type: ignore[arg-type]
    Settings(round=3)  # type: ignore[call-arg]
    FinAgentRetriever(index=Path("i"), level="chapter")  # type: ignore[arg-type]
    FinAgentToolkit(indices=Path("i"))  # type: ignore[call-arg]
    TournamentCompressor(k="three")  # type: ignore[arg-type]
    as_runnable(context).invoke(3)  # type: ignore[arg-type]
    ingest([Path("a.pdf")], index, worker=0)  # type: ignore[call-arg]
    build_graph().invoke({"question": "?"}, context=workspace)  # type: ignore[arg-type]
    build_graph().invoke({"question": "?"})  # type: ignore[call-arg]
    build_graph().stream({"question": "?"})  # type: ignore[call-arg]
    fin_agent.ask("What was net income?", filing="a")  # type: ignore[call-arg]
    document: Document = next(stream_answer("?", context))  # type: ignore[assignment]
    fin_agent.ask_question("What was net income?")  # type: ignore[attr-defined]
    print(words, value, document)
