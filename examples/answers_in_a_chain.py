"""The answer graph as a step of a chain: several questions at once, the answer beside what it was asked with.

Run `make demo` first, then `.venv/bin/python examples/answers_in_a_chain.py`. FIN_AGENT_INDEX names another index.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from langchain_core.runnables import Runnable, RunnablePassthrough

from fin_agent import Answer, AnswerContext, Workspace, as_runnable

INDEX = Path(os.environ.get("FIN_AGENT_INDEX", ".fin-agent/demo-index"))
QUESTIONS: list[Any] = [
    {"question": "What was Harborlight's net income in FY2023?", "asked_by": "Ada"},
    {"question": "What was Quillmark's revenue growth in fiscal 2024?", "asked_by": "Ben"},
    {"question": "What did Quillmark spend on research and development in fiscal 2024?", "asked_by": "Cleo"},
]


def shown(answer: Answer) -> str:
    """The answer with the pages it stands on, which people count from 1, or what is missing."""
    if answer.refused:
        return f"not answered: {'; '.join(answer.missing)}"
    pages = dict.fromkeys(f"{cited.doc_id} page {cited.page + 1}" for cited in answer.citations)
    return f"{answer.answer.text} [{'; '.join(pages)}]"


if __name__ == "__main__":
    # By rules. With a chat model: AnswerContext.from_settings(workspace, Settings(models=ModelSettings(model=...)))
    context = AnswerContext.by_rules(Workspace.open(INDEX))
    asking: Runnable[Any, Answer] = as_runnable(context)  # takes a question, or whatever has one
    chain = RunnablePassthrough.assign(answer=asking)
    for row in chain.batch(QUESTIONS, config={"max_concurrency": 2}):
        print(f"{row['asked_by']}: {shown(row['answer'])}")
